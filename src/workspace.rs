//! The opened recordings, the version, and the base to compare with; shared by the command line and the workbench.
//!
//! Only this room opens files for them and decides whether a version may decide. It returns values: it knows no screen
//! and no texts for one.

pub mod cases;
mod followed;
pub mod opener;
pub mod others;
pub mod recordings;
pub mod samples;
pub mod version;

pub use followed::Workspace;
pub use version::{LoadedVersion, NoPolicy, Version};
