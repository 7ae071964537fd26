//! Conditions on names and values that several dialects share: globs and paths.
//!
//! Pure functions of their input; whatever could run long has a step budget.

pub mod glob;
pub mod path;
