//! Draws the model; changes nothing.

pub mod paint;
