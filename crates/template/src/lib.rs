//! The two languages in rejection plans, each evaluated as by its published engine: templates of [`liquid`], and
//! regular expressions of JavaScript ([`js_regex`]).
//!
//! Both are bounded: work is counted in steps, and exceeding the budget is an error. They know nothing of the rest of
//! Rulestep.

pub mod js_regex;
pub mod liquid;
