//! The terminal program: sessions, what the model could call, why a call was stopped.

pub mod document;
pub mod keys;
pub mod layout;
pub mod list;
pub mod text;
pub mod theme;
pub mod view;
