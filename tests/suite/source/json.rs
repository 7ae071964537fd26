//! The JSON reader: what `serde_json` reads, and where it stands.

use proptest::prelude::*;
use rulestep_base::source::{Source, parse};
use serde_json::Value;

use super::{check_spans, problems_of, read_well, slices};

#[test]
fn texts_that_both_read_alike_or_both_refuse() {
    let texts = [
        "null",
        " true ",
        "[]",
        "{}",
        "[1]",
        "[ 1 , 2 ]",
        r#"{"a":{"b":[{}]}}"#,
        "-0",
        "0.10",
        "1E5",
        "1e-7",
        "12345678901234567890123",
        "9007199254740993",
        r#""\b\f\n\r\t\/\\\"""#,
        r#""\u00e9\ud83d\ude00""#,
        r#""é😀""#,
        "\"\u{7f}\u{2028}\"",
        r#""\ud83d""#,
        r#""\ude00""#,
        r#""\ud83d\u0041""#,
        r#""\x""#,
        r#""\u12""#,
        r#""\u12g4""#,
        "\"\t\"",
        "\"a\nb\"",
        r#"""#,
        r#""\"#,
        r#""\""#,
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "--1",
        "0x10",
        "NaN",
        "Infinity",
        "-Infinity",
        "nul",
        "nulls",
        "True",
        "'a'",
        "a",
        "1 2",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[",
        "[1",
        "[1,",
        "]",
        "[}",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\" 1}",
        "{\"a\":}",
        "{1:2}",
        "{\"a\":1 \"b\":2}",
        "{]",
        "[1] // x",
        "/* */ 1",
        "\u{a0}1",
        "\u{b}1",
        "1\u{0}",
        "{} {}",
        "-",
        "é",
    ];
    for text in texts {
        compare(text);
    }
}

#[test]
fn every_prefix_of_a_document_is_refused_or_read_as_serde_json_does() {
    let text = r#" {"a": [1, -2.5e3, "x\ud83d\ude00\"", {"b": null}], "é": true, "c": {}} "#;
    for (at, _) in text.char_indices() {
        compare(&text[..at]);
        compare(&text[at..]);
    }
}

fn compare(text: &str) {
    let source = Source::new("a.json", text);
    let parsed = parse(&source);
    parsed.documents.iter().for_each(|document| check_spans(&source, document));
    match serde_json::from_str::<Value>(text) {
        Ok(expected) => {
            assert!(parsed.problems.is_empty(), "{text}: {:?}", parsed.problems);
            let read: Vec<Value> = parsed.documents.iter().map(|document| document.to_json()).collect();
            assert_eq!(read, [expected], "{text}");
        }
        Err(_) if text.trim_matches([' ', '\t', '\n', '\r']).is_empty() => {
            assert!(parsed.documents.is_empty())
        }
        Err(error) => assert!(!parsed.problems.is_empty(), "{text}: serde_json says {error}"),
    }
}

#[test]
fn a_backspace_escape_is_a_backspace() {
    let (_, documents) = read_well("a.json", r#"{"pattern": "\bdeploy\b"}"#);
    assert_eq!(documents[0].get("pattern").unwrap().as_str(), Some("\u{8}deploy\u{8}"));
}

#[test]
fn spans_are_exact() {
    let (source, documents) = read_well("a.json", "\n{ \"a\" : [ 1 , \"é\\n\" ] ,\"b\":{} }\n");
    assert_eq!(
        slices(&source, &documents[0]),
        [
            r#" = "{ \"a\" : [ 1 , \"é\\n\" ] ,\"b\":{} }""#,
            r#"/a : "\"a\"""#,
            r#"/a = "[ 1 , \"é\\n\" ]""#,
            r#"/a/0 = "1""#,
            r#"/a/1 = "\"é\\n\"""#,
            r#"/b : "\"b\"""#,
            r#"/b = "{}""#,
        ]
    );
}

#[test]
fn problems_say_what_stands_where() {
    let cases = [
        (
            "{\"a\": 1, \"a\": 2}",
            "1:10-13 DuplicateKey: the key `a` is given twice (1:2-5: given here first)",
        ),
        ("{\"a\": 1,}", "1:8-9 Syntax: a comma is not allowed before the closing bracket"),
        ("[1 2]", "1:4-5 Syntax: expected `,` or `]`, found `2`"),
        ("{\"a\": [1}", "1:9-10 Syntax: expected `,` or `]`, found `}`"),
        ("{\"a\" 1}", "1:6-7 Syntax: expected `:` after the key, found `1`"),
        ("{a: 1}", "1:2-3 Syntax: expected a key in double quotes, found `a`"),
        ("{\"a\": yes}", "1:7-10 Syntax: expected a value, found `yes`"),
        ("[01]", "1:2-4 Syntax: this is not a JSON number"),
        ("// x", "1:1-2 Syntax: expected a value, found a comment"),
        ("['a']", "1:2-3 Syntax: expected a value, found `'`"),
        ("[\"a\\x\"]", "1:4-6 Syntax: unknown escape in text"),
        ("[\"é\\ud800\"]", "1:4-10 Syntax: this escape is no Unicode character"),
        ("[\"\\u12\"]", "1:3-7 Syntax: this escape is no Unicode character"),
        ("[\"a\tb\"]", "1:4-5 Syntax: a control character is not allowed in text"),
        ("[\"abc", "1:2-3 Syntax: the text that begins here is not closed"),
        ("1 2", "1:3-4 Syntax: expected the end of the file, found `2`"),
        ("{\"a\": [1,", "1:10-10 Syntax: expected a value, found the end of the file (1:7-8: opened here)"),
        ("{\"a\": 1", "1:8-8 Syntax: expected `,` or `}`, found the end of the file (1:1-2: opened here)"),
    ];
    for (text, expected) in cases {
        assert_eq!(problems_of("a.json", text), [expected], "{text}");
    }
}

#[test]
fn what_was_read_before_an_error_is_kept() {
    let source = Source::new("a.json", r#"{"tool": "deploy", "list": [1, 2, {"a": !}], "never": 1}"#);
    let parsed = parse(&source);
    assert_eq!(parsed.problems.len(), 1);
    assert_eq!(parsed.documents[0].to_json(), serde_json::json!({"tool": "deploy", "list": [1, 2, {}]}));
}

#[test]
fn deep_and_large_texts_are_refused_within_bounds() {
    for open in ["[", "{\"a\":", "[{\"a\":"] {
        let told = problems_of("a.json", &open.repeat(100_000));
        assert_eq!(told.len(), 1);
        assert!(told[0].ends_with("TooDeep: nested deeper than 128 levels"), "{told:?}");
    }
    let fits = format!("{}{}", "[".repeat(128), "]".repeat(128));
    assert_eq!(problems_of("a.json", &fits), Vec::<String>::new());
    let many = format!("[{}0]", "0,".repeat(1_000_000));
    assert!(problems_of("a.json", &many)[0].ends_with("TooLarge: more than 1000000 values in one file"));
}

fn value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| format!("{n:e}")),
        "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,30})?([eE][-+]?[0-9]{1,4})?",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number.prop_map(|digits| serde_json::from_str(&digits).unwrap()),
        any::<String>().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn generated_documents_are_read_as_serde_json_does(value in value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        compare(&text);
    }

    #[test]
    fn any_text_is_read_or_refused_as_serde_json_does(text in r#"[\[\]{}:,"0-9a-z \\.+é\n-]{0,40}"#) {
        // Keys given twice are ours alone to refuse.
        let source = Source::new("a.json", text.as_str());
        let twice = parse(&source).problems.iter().any(|p| p.kind == rulestep_base::source::ProblemKind::DuplicateKey);
        if !twice {
            compare(&text);
        }
    }
}
