//! What is told to people and programs: one file an output. Nothing here decides anything, prints, or reads
//! files; each output gives text back.

pub mod diagnostic;
