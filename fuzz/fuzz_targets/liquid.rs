//! Any template: parsing and rendering end within their budgets.

#![no_main]

use serde_json::json;
use rulestep_template::liquid::{Scope, Value, parse};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(template) = parse(text) else { return };
    let globals = |name: &str| {
        let value = match name {
            "messages" => json!([{"role": "user", "content": "yes, do it"}, {"role": "assistant", "content": "ok"}]),
            "user" => json!({"name": "Ann", "age": 41, "tags": ["a", "B", "c"], "balance": 12.5}),
            "text" => json!("The quick brown fox"),
            _ => return None,
        };
        Value::from_json(&value).ok()
    };
    for now in [None, Some(1_777_888_999_000)] {
        let _ = template.render(&Scope { globals: &globals, now }, 100_000);
    }
});
