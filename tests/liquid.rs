//! Templates rendered here print what liquidjs printed, or are refused aloud and counted.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;
use toolgate::condition::liquid::{Scope, Unevaluable, Value, parse};

const STEPS: u64 = 1_000_000;

/// Refusals where liquidjs has an output, by kind; each kind is allowed for the reason beside it.
const ALLOWED: [(&str, &str); 4] = [
    ("half a surrogate pair", "no UTF-8 text holds it, and it is neither `true` nor `false`"),
    ("sorting 64 or more values", "the order contradicts itself: the result is the engine's merge sort"),
    ("the JavaScript property", "names of JavaScript's own methods on `forloop`, `nil`, `empty`, `blank`"),
    ("a named time zone in a year", "Node reads years before 100 back as others"),
];

fn globals(case: &Json) -> BTreeMap<String, Value> {
    let mut globals = BTreeMap::new();
    for (name, value) in case.get("variables").and_then(Json::as_object).into_iter().flatten() {
        globals.insert(name.clone(), Value::from_json(value).unwrap());
    }
    if let Some(now) = case.get("now") {
        globals.insert("now".to_owned(), Value::from_json(now).unwrap());
    }
    if let Some(messages) = case.get("messages") {
        globals.insert("messages".to_owned(), Value::from_json(messages).unwrap());
    }
    globals
}

fn render(template: &str, case: &Json) -> Result<String, Unevaluable> {
    let globals = globals(case);
    let scope = Scope { globals: &|name| globals.get(name).cloned(), now: case.get("now").and_then(Json::as_i64) };
    parse(template)?.render(&scope, STEPS)
}

#[test]
fn agrees_with_liquidjs() {
    let path = std::env::var("LIQUID_ORACLE")
        .unwrap_or_else(|_| format!("{}/tests/conformance/liquid.jsonl", env!("CARGO_MANIFEST_DIR")));
    let (mut same, mut failing, mut wrong) = (0, 0, Vec::new());
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let template = case["template"].as_str().unwrap();
        let ours = render(template, &case);
        match (case.get("output").and_then(Json::as_str), ours) {
            (Some(theirs), Ok(ours)) if ours == theirs => same += 1,
            (None, Err(_)) if case.get("error").is_some() => failing += 1,
            (None, Err(Unevaluable::NotText)) => *refused.entry("half a surrogate pair").or_default() += 1,
            (Some(_), Err(error)) => {
                let kind = ALLOWED.iter().find(|(kind, _)| error.to_string().contains(kind));
                match kind {
                    Some((kind, _)) => *refused.entry(kind).or_default() += 1,
                    None => wrong.push(format!("{line}\n  refused: {error}")),
                }
            }
            (_, Ok(ours)) => wrong.push(format!("{line}\n  ours: {ours:?}")),
            (None, Err(error)) => wrong.push(format!("{line}\n  refused: {error}")),
        }
    }
    println!("{same} print the same, {failing} fail in both, refused: {refused:?}");
    let shown: Vec<&str> = wrong.iter().take(12).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), shown.join("\n"));
    assert!(same > 2_000);
}

/// All Liquid conditions under `condition`.
fn liquid_leaves<'c>(condition: &'c Json, found: &mut Vec<&'c str>) {
    if condition["type"] == "liquid" {
        found.extend(condition["liquid"].as_str());
    }
    for inner in condition["conditions"].as_array().into_iter().flatten() {
        liquid_leaves(inner, found);
    }
}

#[test]
fn evaluates_every_template_of_the_rejection_plans() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance/vapi.jsonl");
    let Ok(cases) = std::fs::read_to_string(path) else {
        println!("skipped: the shared conformance cases are not here");
        return;
    };
    let (mut rendered, mut compared) = (0, 0);
    for line in cases.lines() {
        let mut case: Json = serde_json::from_str(line).unwrap();
        if let Some(now) = case["now"].as_str() {
            let now: jiff::Timestamp = now.parse().unwrap();
            case["now"] = now.as_millisecond().into();
        } else {
            case.as_object_mut().unwrap().remove("now");
        }
        let conditions = case["rejection_plan"]["conditions"].as_array().cloned().unwrap_or_default();
        for (place, condition) in conditions.iter().enumerate() {
            let mut leaves = Vec::new();
            liquid_leaves(condition, &mut leaves);
            for template in leaves {
                let printed = render(template, &case).unwrap();
                assert!(printed.trim() == "true" || printed.trim() == "false", "{template}: {printed:?}");
                rendered += 1;
                if condition["type"] == "liquid" && condition.get("negate").is_none() {
                    let expected = case["expect"]["matched"][place].as_bool().unwrap();
                    assert_eq!(printed.trim() == "true", expected, "{}: {template}", case["id"]);
                    compared += 1;
                }
            }
        }
    }
    println!("{rendered} templates rendered, {compared} compared with the verdict");
    assert!(compared > 50);
}
