//! Toolgate: which tool call may happen when, decided, replayed and compared.
//!
//! ```text
//! policy text ──► dialect::NAME ──► Unit ─────┐
//!                                             ├─► engine ──► replay ──► report | cli | workbench
//! recording ───► session::read::FORMAT ──► Session
//! ```

#[cfg(feature = "cli")]
pub mod cli;
pub mod condition;
pub mod diagnostic;
pub mod dialect;
pub mod engine;
#[cfg(feature = "cli")]
pub mod files;
pub mod monitor;
pub mod policy;
pub mod replay;
#[cfg(feature = "cli")]
pub mod report;
pub mod session;
pub mod source;
#[cfg(feature = "tui")]
pub mod workbench;
