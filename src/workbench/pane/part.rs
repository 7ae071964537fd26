//! What several panes show: evidence, counters, rules about the session, what is supposed, times.

pub mod command;
pub mod counters;
pub mod evidence;
pub mod session_rules;
pub mod supposed;
pub mod times;
