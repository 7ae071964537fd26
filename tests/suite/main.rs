//! The tests that are too large to stand beside the code, as modules of one binary.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may end in a panic")]

mod alternatives;
mod bounds;
mod cases;
mod cli;
mod coding;
mod compare;
mod conformance;
mod counters;
mod dependencies;
mod documents;
mod edit;
mod embedding;
mod english;
mod evidence;
mod explore;
mod export;
mod facts;
mod faults;
mod files;
mod gate;
mod hostile;
mod layering;
mod lint;
mod live;
mod lsp;
mod marks;
mod plans;
mod policies;
mod readme;
mod references;
mod refused_late;
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
mod suggest;
mod tau_bench;
mod tester;
mod tool_policies;
mod traces;
mod trees;
mod versions;
#[cfg(target_os = "linux")]
mod watch;
mod words;
#[cfg(unix)]
mod workbench;
