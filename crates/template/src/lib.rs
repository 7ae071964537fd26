//! The two languages that rejection plans bring along, each as its published engine evaluates it: templates of [`liquid`], and
//! regular expressions of JavaScript ([`js_regex`]).
//!
//! Both are bounded: work is counted in steps, and who exceeds them gets an error. They know nothing of the rest of Rulestep.

pub mod js_regex;
pub mod liquid;
