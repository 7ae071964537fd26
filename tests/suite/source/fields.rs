//! Reading mappings key by key: the problems that people see.

use rulestep_base::source::{Field, Fields, Problem, Source, parse};

use super::told;

/// Reads a document by `read` and tells the problems.
fn problems(text: &str, read: impl FnOnce(&mut Fields<'_>, &mut Vec<Problem>)) -> Vec<String> {
    let source = Source::new("a.yaml", text);
    let parsed = parse(&source);
    assert!(parsed.problems.is_empty());
    let mut out = Vec::new();
    if let Some(mut fields) = Field::document(&parsed.documents[0]).fields(&mut out) {
        read(&mut fields, &mut out);
        fields.finish(&mut out);
    }
    told(&source, &out)
}

#[test]
fn a_value_of_another_type_is_told_at_the_value() {
    let text = "a: 1\nb: yes\nc: [x]\nd:\ne: {f: 1}\ng: 1.5\nh: -1\ni: true\n";
    let told = problems(text, |fields, out| {
        assert_eq!(fields.text("a", out), None);
        assert_eq!(fields.boolean("b", out), None);
        assert_eq!(fields.number("c", out), None);
        assert!(fields.mapping("d", out).is_none());
        assert!(fields.list("e", out, |item, out| item.text(out)).is_none());
        assert_eq!(fields.optional("g").unwrap().count(out), None);
        assert_eq!(fields.optional("h").unwrap().count(out), None);
        assert_eq!(fields.text("i", out), None);
    });
    assert_eq!(
        told,
        [
            "1:4-5 WrongType: expected text for `a`, found a number",
            "2:4-7 WrongType: expected `true` or `false` for `b`, found text",
            "3:4-7 WrongType: expected a number for `c`, found a list",
            "4:1-2 WrongType: expected a mapping for `d`, found nothing",
            "5:4-10 WrongType: expected a list for `e`, found a mapping",
            "6:4-7 BadValue: expected a whole number from 0 for `g`, found `1.5`",
            "7:4-6 BadValue: expected a whole number from 0 for `h`, found `-1`",
            "8:4-8 WrongType: expected text for `i`, found a boolean",
        ]
    );
}

#[test]
fn right_values_are_read() {
    let text = "a: x\nb: true\nc: 9007199254740993\nd: {e: [y, z]}\ng: halt\nn: ~\n";
    let told = problems(text, |fields, out| {
        assert_eq!(fields.text("a", out), Some("x"));
        assert_eq!(fields.boolean("b", out), Some(true));
        assert_eq!(fields.number("c", out).unwrap().as_str(), "9007199254740993");
        assert_eq!(fields.optional("c").unwrap().count(out), Some(9_007_199_254_740_993));
        let mut inner = fields.mapping("d", out).unwrap();
        let items = inner.list("e", out, |item, out| Some((item.pointer.clone(), item.text(out)?))).unwrap();
        assert_eq!(items, [("/d/e/0".to_owned(), "y"), ("/d/e/1".to_owned(), "z")]);
        inner.finish(out);
        let action = fields.optional("g").unwrap();
        assert_eq!(action.one_of(&[("deny", 1), ("halt", 2)], out), Some(2));
        assert!(fields.optional("n").is_some());
        let mut lenient = fields.clone().null_is_absent();
        assert!(lenient.optional("n").is_none() && !lenient.has("n") && fields.has("n"));
    });
    assert_eq!(told, Vec::<String>::new());
}

#[test]
fn items_that_cannot_be_read_do_not_hide_the_others() {
    let told = problems("names: [a, 1, b, {c: d}, '']\n", |fields, out| {
        let names = fields.list("names", out, |item, out| item.name(out)).unwrap();
        assert_eq!(names, ["a", "b"]);
    });
    assert_eq!(
        told,
        [
            "1:12-13 WrongType: expected text, found a number",
            "1:18-24 WrongType: expected text, found a mapping",
            "1:26-28 BadValue: expected text that is not empty",
        ]
    );
}

#[test]
fn a_missing_key_is_told_at_the_head_of_its_mapping() {
    let text = "outer:\n  x: 1\nlist:\n  - y: 1\n    z: 2\nempty: {}\n";
    let told = problems(text, |fields, out| {
        let mut outer = fields.mapping("outer", out).unwrap();
        outer.required("path", out);
        outer.take("x");
        outer.finish(out);
        fields.list("list", out, |item, out| {
            let mut item = item.fields(out)?;
            item.required("path", out);
            item.take("y");
            item.take("z");
            item.finish(out);
            Some(())
        });
        fields.mapping("empty", out).unwrap().required("path", out);
        fields.required("tool", out);
    });
    assert_eq!(
        told,
        [
            "1:1-6 MissingKey: the key `path` is missing",
            "4:5-6 MissingKey: the key `path` is missing",
            "6:1-6 MissingKey: the key `path` is missing",
            "1:1-6 MissingKey: the key `tool` is missing",
        ]
    );
}

#[test]
fn unknown_keys_name_the_nearest_known_one() {
    let told = problems("toll: x\nforbidsAfter: []\ncolour: red\n", |fields, _| {
        for key in ["tool", "preconditions", "forbids_after"] {
            fields.take(key);
        }
    });
    assert_eq!(
        told,
        [
            "1:1-5 UnknownKey: unknown key `toll`, did you mean `tool`?",
            "2:1-13 UnknownKey: unknown key `forbidsAfter`, did you mean `forbids_after`?",
            "3:1-7 UnknownKey: unknown key `colour`",
        ]
    );
}

#[test]
fn a_word_that_is_none_of_the_wanted_names_the_nearest() {
    let source = Source::new("a.yaml", "action: hault\n");
    let parsed = parse(&source);
    let mut out = Vec::new();
    let mut fields = Field::document(&parsed.documents[0]).fields(&mut out).unwrap();
    let action = fields.required("action", &mut out).unwrap();
    assert_eq!(action.one_of(&[("deny", ()), ("halt", ())], &mut out), None);
    assert_eq!(told(&source, &out), ["1:9-14 BadValue: `action`: expected `deny` or `halt`, found `hault`"]);
    assert_eq!(out[0].help.as_deref(), Some("did you mean `halt`?"));
}

#[test]
fn entries_give_keys_that_are_not_fixed() {
    let source = Source::new("a.yaml", "deploy/prod: [test]\nbuild: 1\n");
    let parsed = parse(&source);
    let mut out = Vec::new();
    let entries: Vec<_> = Field::document(&parsed.documents[0]).entries(&mut out).unwrap().collect();
    assert_eq!(entries[0].0, "deploy/prod");
    assert_eq!(entries[0].1.pointer, "/deploy~1prod");
    assert!(entries[1].1.items(&mut out).is_none());
    assert_eq!(told(&source, &out), ["2:8-9 WrongType: expected a list for `build`, found a number"]);
}
