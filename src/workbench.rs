//! The terminal program: sessions, what the model could call, why a call was stopped.

pub mod document;
pub mod keys;
pub mod layout;
pub mod list;
pub mod text;
#[cfg(test)]
mod testing;
pub mod theme;
pub mod transcript;
pub mod view;
