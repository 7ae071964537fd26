//! The JSON Schemas of the dialects say what their readers do: they accept the same documents, and know the same keys.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use regex::Regex;
use rulestep_base::diagnostic::Severity;
use rulestep_base::source::NodeValue;

use super::*;

/// Whether a schema accepts a value: the part of JSON Schema that the schemas here use.
pub fn accepts(schema: &Value, value: &Value, root: &Value) -> bool {
    let Value::Object(keywords) = schema else { return *schema != json!(false) };
    keywords.iter().all(|(keyword, wanted)| match keyword.as_str() {
        "$schema" | "$id" | "$comment" | "$defs" | "title" | "description" | "default" | "then" | "else"
        | "patternProperties" => true,
        "$ref" => {
            accepts(root.pointer(wanted.as_str().unwrap().strip_prefix('#').unwrap()).unwrap(), value, root)
        }
        "type" => match wanted {
            Value::Array(types) => types.iter().any(|wanted| is_of(value, wanted)),
            wanted => is_of(value, wanted),
        },
        "const" => value == wanted,
        "enum" => wanted.as_array().unwrap().contains(value),
        "minLength" => {
            value.as_str().is_none_or(|text| text.chars().count() as u64 >= wanted.as_u64().unwrap())
        }
        "pattern" => value.as_str().is_none_or(|text| matches(wanted.as_str().unwrap(), text)),
        "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
        "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= wanted.as_u64().unwrap()),
        "contains" => {
            value.as_array().is_none_or(|items| items.iter().any(|item| accepts(wanted, item, root)))
        }
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| accepts(wanted, item, root))),
        "required" => value.as_object().is_none_or(|members| {
            wanted.as_array().unwrap().iter().all(|key| members.contains_key(key.as_str().unwrap()))
        }),
        "properties" => value.as_object().is_none_or(|members| {
            members
                .iter()
                .all(|(key, member)| wanted.get(key).is_none_or(|wanted| accepts(wanted, member, root)))
        }),
        "propertyNames" => value
            .as_object()
            .is_none_or(|members| members.keys().all(|key| accepts(wanted, &json!(key), root))),
        "additionalProperties" => value.as_object().is_none_or(|members| {
            let patterns = schema.get("patternProperties").and_then(Value::as_object);
            members.iter().all(|(key, member)| {
                schema["properties"].get(key).is_some()
                    || patterns.into_iter().flatten().any(|(named, _)| matches(named, key))
                    || accepts(wanted, member, root)
            })
        }),
        "allOf" => wanted.as_array().unwrap().iter().all(|schema| accepts(schema, value, root)),
        "anyOf" => wanted.as_array().unwrap().iter().any(|schema| accepts(schema, value, root)),
        "not" => !accepts(wanted, value, root),
        "if" => {
            let branch = if accepts(wanted, value, root) { "then" } else { "else" };
            schema.get(branch).is_none_or(|schema| accepts(schema, value, root))
        }
        other => panic!("the keyword {other} is not read here"),
    })
}

/// Patterns are compiled once: the tests ask them many thousands of times.
fn matches(pattern: &str, text: &str) -> bool {
    thread_local! { static KNOWN: RefCell<HashMap<String, Regex>> = RefCell::default(); }
    KNOWN.with_borrow_mut(|known| {
        let regex = known.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).unwrap());
        regex.is_match(text)
    })
}

fn is_of(value: &Value, wanted: &Value) -> bool {
    match wanted.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_number().is_some_and(|number| number.is_i64() || number.is_u64()),
        other => panic!("the type {other} is not read here"),
    }
}

pub fn schema(dialect: &Dialect) -> Rc<Value> {
    thread_local! { static KNOWN: RefCell<HashMap<&'static str, Rc<Value>>> = RefCell::default(); }
    let read = || Rc::new(serde_json::from_str(dialect.schema).unwrap());
    KNOWN.with_borrow_mut(|known| Rc::clone(known.entry(dialect.name).or_insert_with(read)))
}

/// Documents of a dialect that load without a warning: the examples of the page, the policies of the cases, and the
/// sample policies.
fn documents(dialect: &Dialect) -> Vec<(String, Value)> {
    let mut texts: Vec<(String, String)> =
        examples(dialect.reference).into_iter().map(|example| (example.name, example.text)).collect();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["contracts", "tests/cases"] {
        for file in crate::traces::files(&root.join(folder)) {
            let text = std::fs::read_to_string(&file).unwrap();
            texts.push((file.to_str().unwrap().to_owned(), text));
        }
    }
    let mut found = Vec::new();
    for (name, text) in texts {
        for node in parse(&Source::new(name.as_str(), text.as_str())).documents {
            let inner = match node.get("policy").map(|policy| (&policy.value, policy)) {
                None => vec![&node],
                Some((NodeValue::Seq(items), _)) => items.iter().collect(),
                Some((_, policy)) => vec![policy],
            };
            for node in inner.into_iter().filter(|node| node.as_str().is_none()) {
                let document = node.to_json();
                let ours = rulestep_engine::dialect::of(node).is_some_and(|of| of.name == dialect.name);
                let loaded = load("named.json", &document.to_string(), &[]);
                let well = loaded.diagnostics.iter().all(|told| told.severity == Severity::Notice);
                if ours && well {
                    found.push((name.clone(), document));
                }
            }
        }
    }
    found
}

#[test]
fn documents_that_load_are_accepted() {
    for dialect in DIALECTS {
        let (schema, documents) = (schema(dialect), documents(dialect));
        assert!(documents.len() > 5, "{}: {}", dialect.name, documents.len());
        for (name, document) in documents {
            assert!(accepts(&schema, &document, &schema), "{name}: {document:#}");
        }
    }
}

/// A key that the reader refuses is refused by the schema, and the other way round; so is a key whose value is of
/// another type.
#[test]
fn the_keys_of_schemas_and_readers_are_the_same() {
    for dialect in DIALECTS {
        let schema = schema(dialect);
        let mut refused = 0;
        for (name, document) in documents(dialect) {
            let mut found = Vec::new();
            mappings(&document, String::new(), &mut found);
            for (pointer, mapping) in found {
                let mut edits = vec![(STRANGER.to_owned(), json!(1))];
                // Text instead of a list or a mapping, and the other way round.
                edits.extend(mapping.as_object().unwrap().iter().map(|(key, value)| {
                    (key.clone(), if value.is_string() { json!([]) } else { json!("text") })
                }));
                for (key, value) in edits {
                    let mut edited = document.clone();
                    edited.pointer_mut(&pointer).unwrap()[&key] = value;
                    let loaded = load("named.json", &edited.to_string(), &[]);
                    let of_keys = [code::UNKNOWN_KEY, code::WRONG_TYPE, code::BAD_VALUE];
                    // What an unreadable condition gives is a warning: the plan loads, and the condition counts as matched.
                    let errors = loaded.diagnostics.iter().filter(|told| told.severity == Severity::Error);
                    let read = errors.clone().all(|told| !of_keys.contains(&told.code));
                    // Text where another text belongs, or a value that is wrong for another reason, is no matter of types.
                    if key != STRANGER && read {
                        continue;
                    }
                    refused += usize::from(!read);
                    assert_eq!(
                        accepts(&schema, &edited, &schema),
                        read,
                        "{name}: {pointer}/{key}: {edited:#}"
                    );
                }
            }
        }
        assert!(refused > 20, "{}: {refused}", dialect.name);
    }
}
