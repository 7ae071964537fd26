//! From bytes to values: split, resynchronised after damage, read without building trees.

pub mod calls;
pub mod digest;
pub mod kind;
pub mod lines;
pub mod looks;
pub mod shallow;
pub mod text;
pub mod time;
pub mod units;
pub mod wrong;
