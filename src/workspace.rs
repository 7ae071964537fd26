//! What was opened: recordings, a version, a base to compare with. One for the command line and the workbench.
//!
//! Only here are files opened for them, and only here is it decided whether a version decides. What is read is handed on as
//! values: this room knows no screen and no message of one.

pub mod cases;
mod followed;
pub mod opener;
pub mod others;
pub mod recordings;
pub mod samples;
pub mod version;

pub use followed::Workspace;
pub use version::{LoadedVersion, NoPolicy, Version};
