//! Any pattern on any text: compiling and matching end within their budgets.

#![no_main]

use rulestep_template::js_regex::{DEFAULT_BUDGET, compile};

libfuzzer_sys::fuzz_target!(|input: (&str, &str)| {
    let (pattern, text) = input;
    let Ok(regex) = compile(pattern) else { return };
    // Where both come to an end, they agree.
    if let (Ok(matched), Ok(found)) = (regex.is_match(text, DEFAULT_BUDGET), regex.find(text, DEFAULT_BUDGET)) {
        assert_eq!(matched, found.is_some(), "{pattern:?} on {text:?}");
    }
});
