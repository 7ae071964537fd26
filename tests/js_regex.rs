//! Regular expressions against what Node's `RegExp` says of them (`tests/oracles/regex/`), and within their budget.

use std::ops::Range;
use std::path::Path;

use serde_json::Value;
use toolgate::condition::js_regex::{BadPattern, DEFAULT_BUDGET, JsRegex, byte_range, compile};

fn lines(path: &Path) -> Option<Vec<Value>> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn at(line: &Value, key: &str) -> usize {
    usize::try_from(line[key].as_u64().unwrap()).unwrap()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What disagrees with a recorded verdict, in words.
fn disagreement(line: &Value) -> Option<String> {
    let compiled = compile(line["pattern"].as_str().unwrap());
    let regex = match (&compiled, line["error"].as_str()) {
        (Ok(regex), None) => regex,
        (Err(BadPattern::Syntax { .. } | BadPattern::Unsupported { .. }), Some("syntax"))
        | (Err(BadPattern::Unsupported { .. }), Some("unsupported")) => return None,
        _ => return Some(format!("compiles to {:?}", compiled.map(|_| ()))),
    };
    let text = line["text"].as_str().unwrap();
    let expected: Option<Range<usize>> =
        line["match"].as_bool().unwrap().then(|| at(line, "index")..at(line, "end"));
    let found = regex.find(text, DEFAULT_BUDGET);
    let matched = regex.is_match(text, DEFAULT_BUDGET);
    (found != Ok(expected.clone()) || matched != Ok(expected.is_some()))
        .then(|| format!("finds {found:?}, matches {matched:?}"))
}

#[test]
fn agrees_with_node() {
    let path = std::env::var_os("TOOLGATE_REGEX_CASES")
        .map_or_else(|| root().join("tests/conformance/js_regex.jsonl"), Into::into);
    let lines = lines(&path).unwrap();
    assert!(lines.len() >= 2000);
    let wrong: Vec<String> = lines
        .iter()
        .filter_map(|line| disagreement(line).map(|wrong| format!("{line}\n    {wrong}")))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        lines.len(),
        wrong.iter().take(40).cloned().collect::<Vec<_>>().join("\n")
    );
}
