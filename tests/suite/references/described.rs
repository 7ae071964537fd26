//! The schemas in `schemas/` say what the pages say: the meaning of every key, whether it may be missing, and its words.
//!
//! The pages are the source. `UPDATE_SCHEMAS=1` writes the descriptions anew, after a change of a page.

use rulestep_engine::dialect::lookup::{Match, Presence, Reference, Step, TOP_LIST, Values};

use super::*;

/// Goes through a schema along the way that a document takes.
struct Walk<'p> {
    page: &'p Reference,
    root: Value,
    seen: BTreeSet<String>,
    /// By the path of a key: the words that its value may be, and whether it is required in each schema that has it.
    words: BTreeMap<String, BTreeSet<String>>,
    required: BTreeMap<String, BTreeSet<bool>>,
}

impl Walk<'_> {
    fn entry(&self, way: &[Step], key: &str) -> Match<'_> {
        // A plan may be in any object of a configuration.
        let found =
            self.page.keys_at(way, key).into_iter().next().or_else(|| self.page.keys_at(&[], key).pop());
        found.unwrap_or_else(|| panic!("{}: {way:?} {key} is in the schema alone", self.page.dialect.name))
    }

    fn describe(&mut self, schema: &mut Value, way: &mut Vec<Step>) {
        let Value::Object(keywords) = schema else { return };
        if let Some(target) =
            keywords.get("$ref").and_then(Value::as_str).map(|target| target[1..].to_owned())
        {
            let mut inner = self.root.pointer(&target).unwrap().clone();
            // What has a comment is a question of the schema, and describes nothing.
            if inner.get("$comment").is_none() && self.seen.insert(target.clone()) {
                self.describe(&mut inner, way);
                *self.root.pointer_mut(&target).unwrap() = inner;
            }
        }
        let required: BTreeSet<String> = keywords
            .get("required")
            .and_then(Value::as_array)
            .map(|keys| keys.iter().map(|key| key.as_str().unwrap().to_owned()).collect())
            .unwrap_or_default();
        let word = |at: &str| schema.pointer(at).and_then(Value::as_str).map(str::to_owned);
        let kind = word("/properties/type/const").or_else(|| word("/properties/type/enum/0"));
        if let Some(last) = way.last_mut() {
            last.kind = kind;
        }
        let Value::Object(keywords) = schema else { return };
        if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
            for (key, property) in properties {
                let Value::Object(inner) = property else { continue };
                let (path, meaning) = {
                    let found = self.entry(way, key);
                    (found.path(), found.key.meaning.clone())
                };
                inner.insert("description".to_owned(), json!(meaning));
                // What is meant, where anything else loads with a warning.
                let meant = inner.get("anyOf").map_or(&*inner, |any| any[0].as_object().unwrap());
                let words = match (meant.get("const"), meant.get("enum"), meant.get("type")) {
                    (Some(word), ..) => vec![word.clone()],
                    (_, Some(Value::Array(words)), _) => words.clone(),
                    (.., Some(form)) if form == "boolean" || form == &json!(["boolean", "null"]) => {
                        vec![json!("true"), json!("false")]
                    }
                    _ => Vec::new(),
                };
                let words = words.iter().filter_map(Value::as_str).map(str::to_owned);
                self.words.entry(path.clone()).or_default().extend(words);
                self.required.entry(path).or_default().insert(required.contains(key));
                way.push(Step { key: key.clone(), kind: None });
                self.describe(property, way);
                way.pop();
            }
        }
        for keyword in ["items", "then", "else"] {
            if let Some(inner) = keywords.get_mut(keyword) {
                // A list of rules may be all of a document.
                let top = keyword == "items" && way.is_empty();
                way.extend(top.then(|| Step { key: TOP_LIST.to_owned(), kind: None }));
                self.describe(inner, way);
                way.truncate(if top { 0 } else { way.len() });
            }
        }
        // What the condition of a branch requires is there in the branch.
        let asked = keywords.get("if").and_then(|condition| condition["required"].as_array().cloned());
        for key in asked.iter().flatten() {
            let path = self.entry(way, key.as_str().unwrap()).path();
            self.required.insert(path, BTreeSet::from([true]));
        }
        if let Some(inner) = keywords.get_mut("additionalProperties") {
            way.push(Step { key: "*".to_owned(), kind: None });
            self.describe(inner, way);
            way.pop();
        }
        if let Some(names) = keywords.get_mut("propertyNames").filter(|names| !names["anyOf"].is_null()) {
            let known = names["anyOf"][0]["enum"].as_array().unwrap().iter().map(|key| key.as_str().unwrap());
            names["anyOf"][1]["not"]["pattern"] = json!(slips(known));
        }
        for keyword in ["anyOf", "allOf"] {
            for inner in keywords.get_mut(keyword).and_then(Value::as_array_mut).into_iter().flatten() {
                self.describe(inner, way);
            }
        }
    }
}

/// A pattern of names that are nearly one of these: up to two letters next to each other are missing, added or others.
fn slips<'k>(known: impl Iterator<Item = &'k str>) -> String {
    let mut forms: Vec<String> = Vec::new();
    for key in known {
        for (at, len) in (0..=key.len()).flat_map(|at| [(at, 0), (at, 1), (at, 2)]) {
            if at + len <= key.len() {
                forms.push(format!("{}.{{0,2}}{}", &key[..at], &key[at + len..]));
            }
        }
    }
    format!("^({})$", forms.join("|"))
}

fn walked(page: &Reference) -> Walk<'_> {
    let root: Value = serde_json::from_str(page.dialect.schema).unwrap();
    let mut walk = Walk {
        page,
        root: root.clone(),
        seen: BTreeSet::new(),
        words: BTreeMap::new(),
        required: BTreeMap::new(),
    };
    let mut top = root;
    let definitions = top.as_object_mut().unwrap().remove("$defs");
    walk.describe(&mut top, &mut Vec::new());
    if definitions.is_some() {
        top["$defs"] = walk.root["$defs"].clone();
    }
    walk.root = top;
    walk
}

fn pages() -> impl Iterator<Item = &'static Reference> {
    DIALECTS.iter().map(|dialect| Reference::of(dialect).unwrap())
}

#[test]
fn descriptions_are_those_of_the_pages() {
    for page in pages() {
        let described = serde_json::to_string_pretty(&walked(page).root).unwrap() + "\n";
        let file = format!("schemas/{}.schema.json", page.dialect.name);
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            std::fs::write(&file, &described).unwrap();
        }
        let written = std::fs::read_to_string(&file).unwrap();
        assert!(written == described, "{file} is not what the page says: UPDATE_SCHEMAS=1 writes it anew");
        assert!(written == page.dialect.schema || std::env::var_os("UPDATE_SCHEMAS").is_some(), "{file}");
    }
}

/// The schemas name themselves, and are of one draft.
#[test]
fn every_schema_has_its_id() {
    let mut files: Vec<String> = std::fs::read_dir("schemas")
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut names: Vec<String> =
        DIALECTS.iter().map(|dialect| format!("{}.schema.json", dialect.name)).collect();
    names.sort();
    assert_eq!(files, names);
    for dialect in DIALECTS {
        let schema: Value = serde_json::from_str(dialect.schema).unwrap();
        assert_eq!(schema["$id"], format!("urn:rulestep:schema:{}", dialect.name));
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
}

/// Every key of a page is in the schema, with the same words, and required where the page says so.
#[test]
fn schemas_and_pages_have_the_same_keys_and_words() {
    for page in pages() {
        let walk = walked(page);
        for found in page.keys() {
            let path = found.path();
            let required = walk.required.get(&path).unwrap_or_else(|| panic!("{path} is not in the schema"));
            let says = found.key.presence == Presence::Required;
            // A condition of a plan that lacks something loads, and counts as matched.
            let loads = path.starts_with("rejection_plan.conditions.");
            assert!(
                loads || required.iter().all(|is| *is == says),
                "{path}: required in the schema: {required:?}"
            );
            let words: BTreeSet<String> = match found.key.values() {
                Values::Words(words) => words.into_iter().map(str::to_owned).collect(),
                _ => BTreeSet::new(),
            };
            // The old name of `max_calls`.
            let written = walk.words[&path].iter().filter(|word| *word != "count").cloned().collect();
            assert_eq!(words, written, "{path}: left, of the page; right, of the schema");
        }
    }
}
