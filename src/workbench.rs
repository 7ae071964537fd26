//! The terminal program: sessions, what the model could call, why a call was stopped.
//!
//! A closed [`message::Msg`] goes into [`update::update`], which changes the [`model::Model`] and returns
//! [`effect::Effect`]s as data; [`draw::draw`] draws the model and changes nothing.

pub mod config;
pub mod document;
pub mod draw;
pub mod effect;
pub mod keys;
pub mod layout;
pub mod line;
pub mod list;
pub mod message;
pub mod model;
pub mod paint;
pub mod pane;
pub mod popup;
pub mod rows;
pub mod run;
pub mod svg;
#[cfg(test)]
pub(crate) mod testing;
pub mod theme;
pub mod update;

/// The only way for recorded text to reach the screen, shared with the command line.
pub use rulestep_base::wording::clean as text;

/// The rows of a session, shared with the documents that leave the program.
pub use crate::report::transcript;
