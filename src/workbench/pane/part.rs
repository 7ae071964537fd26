//! Parts of several panes: evidence, counters, session rules, what-ifs, times.

pub mod command;
pub mod counters;
pub mod evidence;
pub mod session_rules;
pub mod supposed;
pub mod times;
