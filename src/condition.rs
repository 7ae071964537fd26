//! What dialects ask of values: paths, patterns and templates.
//!
//! Pure functions of their input; whatever could run long does so on a counted budget.

pub mod glob;
pub mod js_regex;
pub mod liquid;
pub mod path;
