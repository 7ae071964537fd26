//! Changes to YAML in place: what is written, what is kept, what is refused.

use proptest::prelude::*;
use rstest::rstest;
use rulestep_base::source::edit::{Edits, Refused};
use rulestep_base::source::{Entry, Node, NodeValue, Source, parse};
use serde_json::{Value, json};

/// Changes of the value at a pointer.
#[derive(Debug, Clone)]
enum Change {
    Set(Value),
    Rename(&'static str),
    Remove,
    /// Other items in the place of one.
    Replace(Vec<Value>),
    /// An item before one, or after all of a list.
    Insert(usize, Value),
    InsertKey(&'static str, Value),
}

/// The text with one change, and the value that it should have.
fn changed(name: &str, text: &str, pointer: &str, change: &Change) -> (Result<String, Refused>, Value) {
    let source = Source::new(name, text);
    let parsed = parse(&source);
    assert!(parsed.problems.is_empty(), "{:?}\n{text}", parsed.problems);
    let document = &parsed.documents[0];
    let mut meant = document.to_json();
    let mut edits = Edits::new(&source, &parsed.documents);
    let node = document.at(pointer).unwrap();
    let above = pointer.rsplit_once('/').map(|(above, last)| (document.at(above).unwrap(), above, last));
    let result = match change {
        Change::Set(value) => {
            *meant.pointer_mut(pointer).unwrap() = value.clone();
            let (above, _, key) = above.unwrap();
            edits.set(above.entry(key).unwrap(), value.clone())
        }
        Change::Rename(key) => {
            let (map, at, old) = above.unwrap();
            edits.rename(map.entry(old).unwrap(), key);
            let map = meant.pointer_mut(at).unwrap().as_object_mut().unwrap();
            let renamed = std::mem::take(map).into_iter();
            *map = renamed
                .map(|(known, value)| (if known == old { (*key).to_owned() } else { known }, value))
                .collect();
            Ok(())
        }
        Change::Remove | Change::Replace(_) => {
            let others = if let Change::Replace(others) = change { others.clone() } else { Vec::new() };
            let (collection, at, last) = above.unwrap();
            match meant.pointer_mut(at).unwrap() {
                Value::Array(items) => {
                    let place: usize = last.parse().unwrap();
                    items.splice(place..=place, others.clone());
                    edits.replace(collection, place, others);
                }
                Value::Object(map) => {
                    map.shift_remove(last);
                    edits.remove_key(collection, last);
                }
                other => panic!("{other}"),
            }
            Ok(())
        }
        Change::Insert(place, value) => {
            meant.pointer_mut(pointer).unwrap().as_array_mut().unwrap().insert(*place, value.clone());
            edits.insert(node, *place, Vec::new(), value.clone());
            Ok(())
        }
        Change::InsertKey(key, value) => {
            let map = meant.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
            map.insert((*key).to_owned(), value.clone());
            edits.insert_key(node, key, value.clone());
            Ok(())
        }
    };
    (result.and_then(|()| edits.finish()), meant)
}

#[rstest]
#[case::scalar("a: 1 # x\nb: 2\n", "/a", Change::Set(json!("one")), "a: one # x\nb: 2\n")]
#[case::quoted("a: 'x # y'  # z", "/a", Change::Set(json!("no")), "a: \"no\"  # z")]
#[case::nothing("a:\nb: 2", "/a", Change::Set(json!([1, "x y"])), "a: [1, \"x y\"]\nb: 2")]
#[case::literal("a: |\n  x\n  y\nb: 2\n", "/a", Change::Set(json!(null)), "a: null\nb: 2\n")]
#[case::block_to_line("a:\n  - x\n  - y # z\nb: 2\n", "/a", Change::Set(json!({"k": true})), "a: {k: true} # z\nb: 2\n")]
#[case::windows("a:\r\n  - x\r\nb: 2\r\n", "/a/0", Change::Replace(vec![json!({"k": 1, "l": 2}), json!("z")]), "a:\r\n  - k: 1\r\n    l: 2\r\n  - z\r\nb: 2\r\n")]
#[case::flow("{a: [1, 2, 3], b: 2}", "/a/1", Change::Remove, "{a: [1, 3], b: 2}")]
#[case::flow_last("{a: [1, 2], b: 2}", "/a/1", Change::Remove, "{a: [1], b: 2}")]
#[case::flow_only("a: [ 1 ] # x\n", "/a/0", Change::Remove, "a: [] # x\n")]
#[case::flow_key("a: {b: 1, c: 2}\n", "/a/b", Change::Remove, "a: {c: 2}\n")]
#[case::item("a:\n- 1 # x\n# y\n- 2\n", "/a/0", Change::Remove, "a:\n# y\n- 2\n")]
#[case::only_item("a:\n- 1\nb: 2\n", "/a/0", Change::Remove, "a: []\nb: 2\n")]
#[case::only_key("a:\n  b: 1\nc: 2\n", "/a/b", Change::Remove, "a: {}\nc: 2\n")]
#[case::key_at_the_dash("- a: 1 # x\n  b: 2\n", "/0/a", Change::Remove, "- b: 2\n")]
#[case::item_at_the_dash("- - 1\n  - 2\n", "/0/0", Change::Remove, "- - 2\n")]
#[case::first("# x\n- 1\n- 2\n", "", Change::Insert(0, json!({"k": 1, "l": []})), "# x\n- k: 1\n  l: []\n- 1\n- 2\n")]
#[case::between("- 1 # x\n# y\n- 2\n", "", Change::Insert(1, json!(7)), "- 1 # x\n- 7\n# y\n- 2\n")]
#[case::last("a:\n  - 1 # x\n\n# y\n", "/a", Change::Insert(1, json!("b: c")), "a:\n  - 1 # x\n  - \"b: c\"\n\n# y\n")]
#[case::no_line_end("- 1", "", Change::Insert(1, json!(2)), "- 1\n- 2")]
#[case::into_nothing("a: [ ]", "/a", Change::Insert(0, json!(2)), "a: [2 ]")]
#[case::into_flow("a: [1, # x\n 2]", "/a", Change::Insert(0, json!({"k": 0})), "a: [{k: 0}, 1, # x\n 2]")]
#[case::new_key("a:\n  b: 1 # x\n# y\nc: 2\n", "/a", Change::InsertKey("d e", json!([1])), "a:\n  b: 1 # x\n  \"d e\": [1]\n# y\nc: 2\n")]
#[case::new_key_in_flow("a: {b: 1}\n", "/a", Change::InsertKey("d", json!("x")), "a: {b: 1, d: x}\n")]
#[case::renamed("'a': 1\nb: 2\n", "/a", Change::Rename("c"), "\"c\": 1\nb: 2\n")]
#[case::comments_within("- - a # x\n  - b\n", "/0", Change::Replace(vec![json!(1), json!(2)]), "# x\n- 1\n- 2\n")]
fn what_changes_is_rewritten_and_the_rest_is_kept(
    #[case] text: &str,
    #[case] pointer: &str,
    #[case] change: Change,
    #[case] after: &str,
) {
    let (made, _) = changed("a.yaml", text, pointer, &change);
    assert_eq!(made.as_deref(), Ok(after));
}

#[rstest]
#[case::comment("a: # why\n  - x\n", "/a", Change::Set(json!(1)))]
#[case::comment_within("a: [x, # why\n  y]\n", "/a", Change::Set(json!(1)))]
#[case::repeated("a: &x 1\nb: *x\n", "/a", Change::Set(json!(2)))]
#[case::anchor("a:\n  - &x [1]\n", "/a/0", Change::Replace(vec![json!({"k": 1})]))]
#[case::explicit_key("? a\n: - x\n", "/a", Change::Set(json!(1)))]
#[case::comment_above_what_moves_up("- a: 1\n  # why\n  b: 2\n", "/0/a", Change::Remove)]
fn what_would_be_lost_is_refused(#[case] text: &str, #[case] pointer: &str, #[case] change: Change) {
    assert_eq!(changed("a.yaml", text, pointer, &change).0, Err(Refused));
}

/// Writes values as YAML in every style, with comments: which one, a number says.
struct Writer {
    choices: u64,
    comments: u32,
}

impl Writer {
    fn chance(&mut self, of: u64) -> bool {
        self.choices =
            self.choices.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.choices >> 33).is_multiple_of(of)
    }

    fn comment(&mut self, before: &str) -> String {
        if !self.chance(4) {
            return String::new();
        }
        self.comments += 1;
        format!("{before}# c{}: - [", self.comments)
    }

    /// After a key or a dash that is indented so far, with the line end.
    fn value(&mut self, value: &Value, indent: usize, after_dash: bool) -> String {
        let is_block = value.as_array().is_some_and(|items| !items.is_empty())
            || value.as_object().is_some_and(|map| !map.is_empty());
        if !is_block || self.chance(3) {
            let text = match value {
                Value::Null if self.chance(2) => String::new(),
                Value::String(text) if self.chance(3) => format!(" '{text}'"),
                Value::String(text) if self.chance(4) => format!(" |\n{}{text}", " ".repeat(indent + 2)),
                value => format!(" {value}"),
            };
            let comment = if text.contains('|') { String::new() } else { self.comment("  ") };
            return format!("{text}{comment}\n");
        }
        if after_dash && self.chance(2) {
            let block = self.block(value, indent + 2);
            return format!(" {}", block.trim_start());
        }
        let deeper = if value.is_array() && !after_dash && self.chance(2) { 0 } else { 2 };
        format!("{}\n{}", self.comment(" "), self.block(value, indent + deeper))
    }

    fn block(&mut self, value: &Value, indent: usize) -> String {
        let lead = " ".repeat(indent);
        let mut text = String::new();
        let parts: Vec<(String, &Value)> = match value {
            Value::Array(items) => items.iter().map(|item| ("-".to_owned(), item)).collect(),
            Value::Object(map) => map.iter().map(|(key, value)| (format!("{key}:"), value)).collect(),
            other => panic!("{other}"),
        };
        for (start, part) in parts {
            let comment = self.comment(&lead);
            if !comment.is_empty() {
                text.push_str(&format!("{comment}\n"));
            }
            text.push_str(&format!("{lead}{start}{}", self.value(part, indent, value.is_array())));
        }
        text
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<u8>().prop_map(Value::from),
        Just(json!("word")),
        Just(json!("a # b")),
        Just(json!("- x: [y")),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
        let map = prop::collection::vec(inner, 0..4).prop_map(|values| {
            values.into_iter().enumerate().map(|(key, value)| (format!("k{key}"), value)).collect()
        });
        prop_oneof![list, map]
    })
}

/// Every place of a document with a change that fits it.
fn changes(node: &Node, pointer: &str, new: &Value, out: &mut Vec<(String, Change)>) {
    match &node.value {
        NodeValue::Seq(items) => {
            out.extend(
                (0..=items.len()).map(|place| (pointer.to_owned(), Change::Insert(place, new.clone()))),
            );
            for (place, item) in items.iter().enumerate() {
                let below = format!("{pointer}/{place}");
                out.push((below.clone(), Change::Remove));
                out.push((below.clone(), Change::Replace(vec![new.clone(), json!({"x": 1, "y": "z w"})])));
                changes(item, &below, new, out);
            }
        }
        NodeValue::Map(entries) => {
            out.push((pointer.to_owned(), Change::InsertKey("new", new.clone())));
            for Entry { key, value, .. } in entries.iter() {
                let below = format!("{pointer}/{key}");
                out.push((below.clone(), Change::Remove));
                out.push((below.clone(), Change::Set(new.clone())));
                out.push((below.clone(), Change::Rename("other")));
                changes(value, &below, new, out);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Every change of every place is refused, or gives the value that is meant and keeps the bytes around it.
    #[test]
    fn a_changed_text_has_the_changed_value(value in values(), new in values(), choices in any::<u64>(), windows in any::<bool>()) {
        prop_assume!(value.is_array() || value.is_object());
        prop_assume!(value.as_array().is_none_or(|items| !items.is_empty()) && value.as_object().is_none_or(|map| !map.is_empty()));
        let mut text = Writer { choices, comments: 0 }.block(&value, 0);
        if windows {
            text = text.replace('\n', "\r\n");
        }
        let source = Source::new("a.yaml", text.as_str());
        let document = &parse(&source).documents[0];
        let mut all = Vec::new();
        changes(document, "", &new, &mut all);
        for (pointer, change) in all {
            let (made, meant) = changed("a.yaml", &text, &pointer, &change);
            let Ok(made) = made else {
                // A new item or key, or another name for one, costs nothing that is there.
                let collection = document.at(&pointer).unwrap();
                let adds = matches!(change, Change::Insert(..) | Change::InsertKey(..) | Change::Rename(_));
                prop_assert!(!adds, "{change:?} {pointer:?} {:?}\n{text}", collection.span);
                continue;
            };
            let again = parse(&Source::new("a.yaml", made.as_str()));
            prop_assert!(again.problems.is_empty());
            prop_assert_eq!(again.documents[0].to_json(), meant, "{:?} {}\n{}\n{}", change, pointer, text, made);
            // What is before and after the value, its key or dash, and the lines that they are on.
            let above = pointer.rsplit_once('/').map_or("", |(above, _)| above);
            let span = match &change {
                Change::Insert(..) | Change::InsertKey(..) => document.at(&pointer).unwrap().span,
                _ => document.at(above).unwrap().span,
            };
            let key = text[..span.start].rfind('\n').map_or(0, |end| end + 1);
            let start = text[..key.saturating_sub(1)].rfind('\n').map_or(0, |end| end + 1);
            let rest = text[span.end..].find('\n').map_or(text.len(), |end| span.end + end + 1);
            prop_assert!(made.starts_with(&text[..start]), "{change:?} {pointer}\n{text}\n{made}");
            prop_assert!(made.ends_with(&text[rest..]), "{change:?} {pointer}\n{text}\n{made}");
            if !matches!(change, Change::Remove) {
                for comment in text.split('\n').filter_map(|line| line.split_once("# c")).map(|(_, comment)| comment.trim_end()) {
                    prop_assert!(made.contains(&format!("# c{comment}")), "{change:?} {pointer} {comment}\n{text}\n{made}");
                }
            }
            prop_assert_eq!(made.contains("\r\n") && made.replace("\r\n", "").contains('\n'), false, "{}", made);
        }
    }
}
