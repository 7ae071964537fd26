//! Values as text on one line, which YAML and JSON read as the same value.

use serde_json::Value;

/// A value on one line, with its text plain where YAML leaves no doubt, or as JSON.
pub fn inline(value: &Value, is_json: bool) -> String {
    match value {
        Value::String(text) => scalar(text, is_json),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| inline(item, is_json)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entries) => {
            let entry = |(key, value): (&String, &Value)| {
                format!("{}: {}", scalar(key, is_json), inline(value, is_json))
            };
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// A text as a scalar: plain where YAML leaves no doubt, in JSON's quotes elsewhere.
pub fn scalar(text: &str, is_json: bool) -> String {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(letter);
    let means_else = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if plain && !is_json && !means_else.contains(&text.to_ascii_lowercase().as_str()) {
        return text.to_owned();
    }
    printable(&Value::from(text).to_string())
}

/// JSON in which every character that YAML does not take unescaped is escaped.
pub fn printable(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            _ => text.push(c),
        }
    }
    text
}
