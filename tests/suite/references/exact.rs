//! Every document that loads is accepted by the schema of its dialect, and every document with a mistake that a schema can
//! express is refused: all documents of the conformance cases and of the other tests, and many of them with mistakes.

use std::path::Path;

use rulestep_base::diagnostic::{Code, Severity};
use rulestep_base::source::{Node, NodeValue};
use rulestep_engine::policy::is_case;

use super::schemas::{accepts, schema};
use super::*;

/// Mistakes that a schema can express.
const OF_SCHEMAS: [Code; 4] = [code::UNKNOWN_KEY, code::MISSING_KEY, code::WRONG_TYPE, code::BAD_VALUE];

fn is_of_schemas(told: &Diagnostic) -> bool {
    // An object is a tool by where it is and what is around it.
    OF_SCHEMAS.contains(&told.code) && !told.message.contains("the plan's tool has no name")
}

/// The policies of a case of the conformance files.
fn policies(case: &Value) -> Vec<Value> {
    let member = |key: &str| case.get(key).cloned();
    let mut found: Vec<Value> =
        member("contracts").and_then(|all| all.as_array().cloned()).unwrap_or_default();
    found.extend(member("policy").filter(Value::is_object));
    found.extend(member("rejection_plan").map(|plan| json!({"tool": "act", "rejectionPlan": plan})));
    let mut keys = serde_json::Map::new();
    for (key, written) in [
        ("rules", "rules"),
        ("aliases", "aliases"),
        ("policies", "policies"),
        ("prompt_policies", "policies"),
        ("sections", "sections"),
        ("existing_files", "existing_files"),
    ] {
        keys.extend(member(key).map(|value| (written.to_owned(), value)));
    }
    let is_policy = ["rules", "policies"].iter().any(|key| keys.contains_key(*key));
    found.extend(is_policy.then_some(Value::Object(keys)));
    found
}

/// Policies, and the policies in cases.
fn written(node: &Node) -> Vec<Value> {
    if !is_case(node) {
        return vec![node.to_json()];
    }
    let policy = node.get("policy");
    let all = policy.map_or(Vec::new(), |policy| match &policy.value {
        NodeValue::Seq(items) => items.iter().collect(),
        _ => vec![policy],
    });
    all.into_iter().filter(|node| node.as_str().is_none()).map(Node::to_json).collect()
}

/// Every document at hand, once, with the file it is from.
fn documents() -> BTreeMap<String, (String, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeMap::new();
    let mut add = |name: &str, all: Vec<Value>| {
        found.extend(all.into_iter().map(|value| (value.to_string(), (name.to_owned(), value))));
    };
    for folder in ["tests/conformance", "../shared/conformance"] {
        let folder = root.join(folder);
        // The shared ones are the same, or more.
        for file in if folder.exists() { crate::traces::files(&folder) } else { Vec::new() } {
            let name = file.to_str().unwrap();
            let text = std::fs::read_to_string(&file).unwrap();
            let cases: Vec<Value> = match name {
                name if name.ends_with(".jsonl") => {
                    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
                }
                name if name.ends_with(".json") => serde_json::from_str(&text).unwrap(),
                _ => Vec::new(),
            };
            cases.iter().for_each(|case| add(name, policies(case)));
        }
    }
    let mut texts: Vec<(String, String)> = DIALECTS
        .iter()
        .flat_map(|dialect| examples(dialect.reference))
        .map(|example| (example.name, example.text))
        .collect();
    for folder in ["contracts", "tests/cases"] {
        for file in crate::traces::files(&root.join(folder)) {
            texts.push((file.to_str().unwrap().to_owned(), std::fs::read_to_string(&file).unwrap()));
        }
    }
    for (name, text) in texts {
        let parsed = parse(&Source::new(name.as_str(), text.as_str()));
        parsed.documents.iter().for_each(|node| add(&name, written(node)));
    }
    found
}

/// What is wrong with what reader and schema say of a document; `None` where they agree, or no dialect reads it.
pub fn disagreement(document: &Value) -> Option<String> {
    let text = document.to_string();
    let source = Source::new("named.json", text.as_str());
    let parsed = parse(&source);
    let dialect = dialect::of(parsed.documents.first()?)?;
    let loaded = load("named.json", &text, &[]);
    let errors: Vec<&Diagnostic> =
        loaded.diagnostics.iter().filter(|told| told.severity == Severity::Error).collect();
    let of_schema: Vec<String> =
        errors.iter().filter(|told| is_of_schemas(told)).map(|told| told.to_string()).collect();
    let schema = schema(dialect);
    match accepts(&schema, document, &schema) {
        true if !of_schema.is_empty() => Some(format!("accepted, though {of_schema:?}: {text}")),
        false if errors.is_empty() => Some(format!("refused, though it loads: {text}")),
        _ => None,
    }
}

#[test]
fn every_document_is_judged_alike() {
    let documents = documents();
    assert!(documents.len() > 1400, "{}", documents.len());
    let wrong: Vec<String> = documents
        .values()
        .filter_map(|(name, document)| Some(format!("{name}: {}", disagreement(document)?)))
        .collect();
    assert!(wrong.is_empty(), "{} of {}: {:#?}", wrong.len(), documents.len(), &wrong[..wrong.len().min(40)]);
}

/// The document with one thing changed: every key left out once, every scalar once of another type or value.
fn mistakes(document: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    mappings(document, String::new(), &mut found);
    let mut changed = Vec::new();
    let mut change = |edit: &dyn Fn(&mut Value)| {
        let mut edited = document.clone();
        edit(&mut edited);
        changed.push(edited);
    };
    for (pointer, mapping) in found {
        let members = mapping.as_object().unwrap();
        for (key, value) in members {
            change(&|edited| {
                edited.pointer_mut(&pointer).unwrap().as_object_mut().unwrap().shift_remove(key);
            });
            change(&|edited| {
                let members = edited.pointer_mut(&pointer).unwrap().as_object_mut().unwrap();
                let value = members.shift_remove(key).unwrap();
                members.insert(format!("{key}s"), value);
            });
            let others = [
                json!(null),
                json!(""),
                json!("$.a"),
                json!(-1),
                json!(1.5),
                json!(true),
                json!([]),
                json!([""]),
                json!([7]),
                json!({}),
            ];
            let others: Vec<Value> = others.into_iter().filter(|other| other != value).collect();
            for other in others {
                change(&|edited| edited.pointer_mut(&pointer).unwrap()[key] = other.clone());
            }
        }
    }
    changed
}

#[test]
fn mistakes_are_judged_alike() {
    let documents = documents();
    let of_pages = documents.values().filter(|(name, _)| !name.contains("conformance"));
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for (name, document) in of_pages {
        for edited in mistakes(document).into_iter().step_by(2) {
            if seen.insert(edited.to_string()) {
                wrong.extend(disagreement(&edited).map(|wrong| format!("{name}: {wrong}")));
            }
        }
    }
    assert!(seen.len() > 5000, "{}", seen.len());
    let of_kind =
        |text: &String| text.split("error[").nth(1).unwrap_or(text).chars().take(60).collect::<String>();
    let kinds: BTreeMap<String, &String> = wrong.iter().map(|text| (of_kind(text), text)).collect();
    assert!(wrong.is_empty(), "{} of {}, such as: {:#?}", wrong.len(), seen.len(), kinds.values());
}
