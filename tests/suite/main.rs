//! The tests that are too large to stand beside the code, as modules of one binary.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may end in a panic")]

mod alternatives;
#[cfg(feature = "cli")]
mod bounds;
mod cases;
#[cfg(feature = "cli")]
mod cli;
mod coding;
mod compare;
mod conformance;
mod dependencies;
mod documents;
mod edit;
mod embedding;
#[cfg(feature = "cli")]
mod english;
#[cfg(feature = "cli")]
mod evidence;
#[cfg(feature = "cli")]
mod explore;
#[cfg(feature = "cli")]
mod export;
#[cfg(feature = "cli")]
mod facts;
mod faults;
#[cfg(feature = "cli")]
mod files;
mod gate;
#[cfg(feature = "cli")]
mod hostile;
mod layering;
#[cfg(feature = "cli")]
mod lint;
#[cfg(feature = "cli")]
mod live;
#[cfg(feature = "lsp")]
mod lsp;
#[cfg(feature = "cli")]
mod marks;
mod plans;
mod policies;
#[cfg(feature = "cli")]
mod readme;
mod references;
mod refused_late;
#[cfg(feature = "cli")]
mod report;
mod samples;
mod sequence_policies;
mod sequence_rules;
mod sessions;
mod shell;
#[cfg(test)]
#[path = "../shared/skipped.rs"]
mod skipped;
mod source;
#[cfg(feature = "cli")]
mod suggest;
mod tau_bench;
#[cfg(feature = "tui")]
mod tester;
mod tool_policies;
mod traces;
#[cfg(feature = "cli")]
mod trees;
mod versions;
#[cfg(all(feature = "tui", target_os = "linux"))]
mod watch;
#[cfg(feature = "cli")]
mod words;
#[cfg(all(feature = "tui", unix))]
mod workbench;
