//! What several dialects ask of names and values: globs and paths.
//!
//! Pure functions of their input; whatever could run long does so on a counted budget.

pub mod glob;
pub mod path;
