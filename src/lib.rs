//! Toolgate: which tool call may happen when, decided, replayed and compared.

pub mod diagnostic;
pub mod source;
