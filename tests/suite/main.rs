//! The tests that are too large to stand beside the code, as modules of one binary.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may end in a panic")]

#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod files;
mod layering;
#[cfg(feature = "cli")]
mod report;
mod samples;
mod sequence_rules;
mod sessions;
mod source;
#[cfg(feature = "cli")]
mod tau_bench;
#[cfg(feature = "cli")]
mod words;
