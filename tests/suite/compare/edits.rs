//! What an edit does to rules: tables of cases, each also turned around, and the keys that have no direction.

use std::collections::{BTreeMap, BTreeSet};

use rulestep::compare::{Base, Comparison, Kind, RuleChange, Side, Subject};
use rulestep_base::source::{Node, Source, parse};
use rulestep_engine::dialect::{DIALECTS, edits};

use super::version;

/// `rule_weakened #/rules/0 tools weakened, max tightened`.
fn short(change: &RuleChange, comparison: &Comparison) -> String {
    let subject = match &change.subject {
        Subject::Rule(at) => {
            let id = &comparison.side(at.side).unwrap().rules().get(at.rule).unwrap().id;
            assert_eq!(at.side == Side::Base, change.kind == Kind::RuleRemoved);
            id.trim_start_matches("p.yaml").to_owned()
        }
        Subject::Document { file, key } => format!("{file} {key}"),
    };
    let word = |kind: &Kind| kind.word().trim_start_matches("rule_");
    let keys: Vec<String> = change.keys.iter().map(|(key, kind)| format!("{key} {}", word(kind))).collect();
    format!("{} {subject} {}", change.kind.word(), keys.join(", ")).trim_end().to_owned()
}

fn edits(base: &str, new: &str) -> Vec<String> {
    let comparison = Comparison::new(Base::Version(version(base)), version(new));
    comparison.edits().iter().map(|change| short(change, &comparison)).collect()
}

/// The same changes from the other side, in the order of the kinds.
fn turned(change: &str) -> String {
    let mut words: Vec<&str> = change.split(' ').collect();
    for word in &mut words {
        *word = match *word {
            "rule_weakened" => "rule_tightened",
            "rule_tightened" => "rule_weakened",
            "rule_added" => "rule_removed",
            "rule_removed" => "rule_added",
            "weakened" => "tightened",
            "tightened" => "weakened",
            "weakened," => "tightened,",
            "tightened," => "weakened,",
            other => other,
        };
    }
    words.join(" ")
}

#[test]
fn an_edit_is_what_its_keys_say() {
    for dialect in ["contracts", "rejection_plans", "sequence_policies", "sequence_rules", "tool_policies"] {
        let name = format!("tests/cases/edits/{dialect}.yaml");
        let parsed = parse(&Source::new(&*name, std::fs::read_to_string(&name).unwrap()));
        let [list] = parsed.documents.as_slice() else { panic!("{name}") };
        let list = list.as_seq().unwrap();
        assert!(list.len() > 4, "{name}");
        for case in list {
            let text = |key: &str| case.get(key).and_then(Node::as_str).unwrap();
            let lines = |key: &str| {
                let lines = case.get(key)?.as_seq()?.iter();
                Some(lines.map(|line| line.as_str().unwrap().to_owned()).collect::<Vec<_>>())
            };
            let (base, new, want) = (text("base"), text("new"), lines("changes").unwrap());
            assert_eq!(edits(base, new), want, "{name}: {}", text("about"));
            let sorted = |list: Vec<String>| list.into_iter().collect::<BTreeSet<_>>();
            let back = lines("back").unwrap_or_else(|| want.iter().map(|line| turned(line)).collect());
            let strip = |list: BTreeSet<String>| list;
            assert_eq!(strip(sorted(edits(new, base))), sorted(back), "{name}, back: {}", text("about"));
            assert_eq!(edits(base, base), [""; 0]);
        }
    }
}

/// Every key that the pages describe has a row, or is listed here: an edit of it is `rule_edited`.
#[test]
fn keys_without_a_direction_are_known() {
    let mut without: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for dialect in DIALECTS {
        let mut rows = BTreeSet::new();
        for (kind, _) in dialect.edits.kinds {
            collect(dialect.edits.rows(kind), &mut rows);
        }
        let idle = dialect.edits.idle.unwrap_or_default();
        let schema: serde_json::Value = serde_json::from_str(dialect.schema).unwrap();
        let mut keys = BTreeSet::new();
        properties(&schema, &mut keys);
        let missing =
            keys.into_iter().filter(|key| !rows.contains(key.as_str()) && !idle.contains(&key.as_str()));
        without.insert(dialect.name, missing.collect());
    }
    insta::assert_debug_snapshot!(without);
}

fn collect(rows: Vec<&'static edits::Row>, keys: &mut BTreeSet<&'static str>) {
    for row in rows {
        if !matches!(row.shape, edits::Shape::Exact) {
            keys.insert(row.key);
        }
        let mut shape = row.shape;
        while let edits::Shape::Any(inner) | edits::Shape::All(inner) = shape {
            shape = *inner;
        }
        if let edits::Shape::Keys(inner, _) = shape {
            collect(inner.iter().copied().flatten().collect(), keys);
        }
    }
}

fn properties(schema: &serde_json::Value, keys: &mut BTreeSet<String>) {
    match schema {
        serde_json::Value::Object(map) => {
            let own = map.get("properties").and_then(|own| own.as_object());
            keys.extend(own.into_iter().flat_map(|own| own.keys().cloned()));
            let facts = ["fact", "fact_level"];
            map.iter()
                .filter(|(key, _)| !facts.contains(&key.as_str()))
                .for_each(|(_, value)| properties(value, keys));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| properties(item, keys)),
        _ => {}
    }
}
