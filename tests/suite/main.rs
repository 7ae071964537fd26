//! The tests that are too large to stand beside the code, as modules of one binary.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may end in a panic")]

#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod files;
mod layering;
mod plans;
#[cfg(feature = "cli")]
mod readme;
#[cfg(feature = "cli")]
mod report;
mod samples;
mod sessions;
mod source;
#[cfg(feature = "cli")]
mod tau_bench;
#[cfg(feature = "cli")]
mod words;
#[cfg(all(feature = "tui", unix))]
mod workbench;
