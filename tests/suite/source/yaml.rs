//! The YAML reader: values as a second opinion reads them, exact places, problems, bounds.

use proptest::prelude::*;
use rulestep_base::source::{Source, parse};
use serde_json::{Value, json};

use super::{check_spans, problems_of, read_well, slices, told};

#[test]
fn values_of_the_core_schema() {
    let cases = [
        ("a: 1\nb: [x, 'y', \"z\\n\"]\n", json!({"a": 1, "b": ["x", "y", "z\n"]})),
        ("yes: no\non: off\n", json!({"yes": "no", "on": "off"})),
        ("- ~\n- null\n-\n- ''\n", json!([null, null, null, ""])),
        ("a: !!str 1\nb: !!str\nc: ! 2\n", json!({"a": "1", "b": "", "c": "2"})),
        (
            "a: !!int \"7\"\nb: !!float 1\nc: !!null ''\nd: !!bool true",
            json!({"a": 7, "b": 1, "c": null, "d": true}),
        ),
        ("a: !!map {b: !!seq [1]}", json!({"a": {"b": [1]}})),
        (
            "a: &x {b: [1, 2]}\nc: *x\nd: [*x]",
            json!({"a": {"b": [1, 2]}, "c": {"b": [1, 2]}, "d": [{"b": [1, 2]}]}),
        ),
        ("&k key: 1\nother: {*k : 2}", json!({"key": 1, "other": {"key": 2}})),
        ("a: &x 1\nb: &x 2\nc: *x", json!({"a": 1, "b": 2, "c": 2})),
        ("base: &b {a: 1}\nx:\n  <<: *b\n  c: 2\n", json!({"base": {"a": 1}, "x": {"<<": {"a": 1}, "c": 2}})),
        ("a: |\n  one\n  two\nb: >-\n  one\n  two\n", json!({"a": "one\ntwo\n", "b": "one two"})),
        ("a: |\n  no line end", json!({"a": "no line end"})),
        ("a: >+\n  x\n  y", json!({"a": "x y"})),
        ("a: |+\n  x\n  ", json!({"a": "x\n"})),
        ("a: |\n  x\n# tail", json!({"a": "x\n"})),
        ("a: |\n  x\nb: 1", json!({"a": "x\n", "b": 1})),
        ("a: one\n  two\nb: 'it''s'\n", json!({"a": "one two", "b": "it's"})),
        ("a:\n- 1\n- 2\nb: 3\n", json!({"a": [1, 2], "b": 3})),
        ("? a\n: 1\n? b\n", json!({"a": 1, "b": null})),
        ("{a, b: , c: 1}", json!({"a": null, "b": null, "c": 1})),
        ("[a: 1, {b: 2}]", json!([{"a": 1}, {"b": 2}])),
        ("\"a\": \"\\b\\u00e9\\U0001F600\\x41\"", json!({"a": "\u{8}é😀A"})),
        ("%YAML 1.2\n---\na: 1\n...\n", json!({"a": 1})),
        ("just text", json!("just text")),
        ("a: 1 # why\n# b: 2\n", json!({"a": 1})),
        (
            "a: x#y\nb: a:b\nc: -1x\nd: http://x/y?z=[1]\n",
            json!({"a": "x#y", "b": "a:b", "c": "-1x", "d": "http://x/y?z=[1]"}),
        ),
        ("a: 2026-05-04\nb: 12:30\nc: 1_000\n", json!({"a": "2026-05-04", "b": "12:30", "c": "1_000"})),
        ("{\"a\":1,\"b\":[\"\\/\"]}", json!({"a": 1, "b": ["/"]})),
    ];
    for (text, expected) in cases {
        let (source, documents) = read_well("a.yaml", text);
        assert_eq!(documents.iter().map(|d| d.to_json()).collect::<Vec<_>>(), [expected], "{text}");
        if !text.contains('*') {
            check_spans(&source, &documents[0]);
        }
    }
}

#[test]
fn numbers_keep_their_digits() {
    let (_, documents) =
        read_well("a.yaml", "[9007199254740993, 0.10, 1.000, 123456789012345678901234567890.5]");
    assert_eq!(
        documents[0].to_json().to_string(),
        "[9007199254740993,0.10,1.000,123456789012345678901234567890.5]"
    );
}

#[test]
fn documents_of_a_file() {
    let values = |text: &str| read_well("a.yaml", text).1.iter().map(|d| d.to_json()).collect::<Vec<_>>();
    assert_eq!(
        values("a: 1\n---\nb: 2\n--- c\n...\n---\n"),
        [json!({"a": 1}), json!({"b": 2}), json!("c"), json!(null)]
    );
    for nothing in ["", "\n\n", "# only this\n", "  \n", "\u{feff}"] {
        assert_eq!(values(nothing), Vec::<Value>::new(), "{nothing:?}");
    }
    assert_eq!(values("\u{feff}a: 1\r\nb: 2\r\n"), [json!({"a": 1, "b": 2})]);
}

#[test]
fn spans_are_exact() {
    let text = "# head\ntool: 'refund'   # why\nlist:\n  - {a: \"é\", b: }\n  -   x y\n  - k: |\n      one\n      two\n\nempty:\nlast: &n\n  deep: >-\n    t\n\n# tail\n";
    let (source, documents) = read_well("a.yaml", text);
    assert_eq!(
        slices(&source, &documents[0]),
        [
            " = \"tool: 'refund'   # why\\nlist:\\n  - {a: \\\"é\\\", b: }\\n  -   x y\\n  - k: |\\n      one\\n      two\\n\\nempty:\\nlast: &n\\n  deep: >-\\n    t\"",
            "/tool : \"tool\"",
            "/tool = \"'refund'\"",
            "/list : \"list\"",
            "/list = \"- {a: \\\"é\\\", b: }\\n  -   x y\\n  - k: |\\n      one\\n      two\"",
            "/list/0 = \"{a: \\\"é\\\", b: }\"",
            "/list/0/a : \"a\"",
            "/list/0/a = \"\\\"é\\\"\"",
            "/list/0/b : \"b\"",
            "/list/0/b = \"\"",
            "/list/1 = \"x y\"",
            "/list/2 = \"k: |\\n      one\\n      two\"",
            "/list/2/k : \"k\"",
            "/list/2/k = \"one\\n      two\"",
            "/empty : \"empty\"",
            "/empty = \"\"",
            "/last : \"last\"",
            "/last = \"deep: >-\\n    t\"",
            "/last/deep : \"deep\"",
            "/last/deep = \"t\"",
        ]
    );
    let empty = documents[0].get("empty").unwrap().span;
    assert_eq!(source.position(empty.start).to_string(), "10:7", "right behind the colon");
}

#[test]
fn an_alias_stands_where_it_is_and_its_parts_where_they_were_written() {
    let (source, documents) = read_well("a.yaml", "a: &x\n  k: 1\nb: *x\n");
    let at = |pointer: &str| source.slice(documents[0].at(pointer).unwrap().span);
    assert_eq!((at("/b"), at("/b/k")), ("*x", "1"));
    let (key, _) = documents[0].span_of("/b/k").unwrap();
    assert_eq!(source.position(key.unwrap().start).to_string(), "2:3");
}

#[test]
fn problems_say_what_stands_where() {
    let cases = [
        ("a: 1\nb: 2\na: 3\n", "3:1-2 DuplicateKey: the key `a` is given twice (1:1-2: given here first)"),
        ("{a: 1, 'a': 2}", "1:8-11 DuplicateKey: the key `a` is given twice (1:2-3: given here first)"),
        ("404: x", "1:1-4 KeyNotText: a key must be text, found a number"),
        ("true: x", "1:1-5 KeyNotText: a key must be text, found a boolean"),
        ("? [a, b]\n: x", "1:3-9 KeyNotText: a key must be text, found a list"),
        ("? {a: b}\n: x", "1:3-9 KeyNotText: a key must be text, found a mapping"),
        ("~: x", "1:1-2 KeyNotText: a key must be text, found nothing"),
        ("a: .inf", "1:4-8 BadNumber: the number `.inf` is infinite"),
        ("a: .nan", "1:4-8 BadNumber: the number `.nan` is not a number"),
        ("a: !!int x", "1:4-9 BadTag: `x` is not what its tag `!!int` says"),
        ("a: !!int 1.5", "1:4-9 BadTag: `1.5` is not what its tag `!!int` says"),
        ("a: !!seq {}", "1:4-9 BadTag: a mapping is not what its tag `!!seq` says"),
        ("a: !secret x", "1:4-11 BadTag: unknown tag `!secret`"),
        ("a: !!binary aGk=", "1:4-12 BadTag: unknown tag `!!binary`"),
        ("a: *x", "1:4-6 BadAlias: no anchor `&x` comes before this alias"),
        ("a: &x [*x]", "1:8-10 BadAlias: this alias is inside the value that it repeats"),
        ("a: &x 1\n---\nb: *x", "3:4-6 BadAlias: no anchor `&x` comes before this alias"),
        ("a:\n\tb: 1", "2:1-2 Syntax: a tab is used for indentation"),
        ("a: [1, 2", "1:4-5 Syntax: `[` is not closed"),
        ("a: {b: 1", "1:4-5 Syntax: `{` is not closed"),
        ("a: \"x", "1:4-5 Syntax: the quoted text is not closed"),
        ("a: b: c", "1:5-6 Syntax: a `: ` is not allowed here"),
        ("a: - b", "1:4-5 Syntax: a list's `- ` is not allowed here"),
        ("a: @x", "1:4-5 Syntax: no value begins with `@`"),
        ("a: [1, 2}", "1:4-5 Syntax: `[` is closed by `}`"),
        ("a: \"\\q\"", "1:5-6 Syntax: unknown escape in quoted text"),
        ("a:\n  - b\n c: 1\n", "3:2-3 Syntax: expected a key, or less indentation"),
        ("a: 1\nb\nc: 2", "2:1-2 Syntax: expected `:` after this key"),
    ];
    let read: Vec<_> = cases.iter().map(|(text, _)| problems_of("a.yaml", text)).collect();
    let expected: Vec<_> = cases.iter().map(|(_, expected)| vec![(*expected).to_owned()]).collect();
    assert!(read == expected, "{}", differences(&cases, &read));
}

#[test]
fn what_was_read_before_an_error_is_kept_and_later_documents_are_read() {
    let text = "tool: deploy\nlist: [1, {a: 2, b\n---\ntool: [\n---\n---\ntool: test\n";
    let source = Source::new("a.yaml", text);
    let parsed = parse(&source);
    let read: Vec<Value> = parsed.documents.iter().map(|d| d.to_json()).collect();
    assert_eq!(read[0].get("tool"), Some(&json!("deploy")));
    assert_eq!(read[1..], [json!({"tool": []}), json!(null), json!({"tool": "test"})]);
    assert_eq!(parsed.problems.len(), 2, "{:#?}", told(&source, &parsed.problems));
}

#[test]
fn deep_texts_are_refused_without_overflow() {
    let deep = |open: &str, n: usize| open.repeat(n);
    for open in ["[", "{a: ", "- ", "? ", "[{a: ", "- ? ", "&a [", "!!seq ["] {
        let told = problems_of("a.yaml", &deep(open, 10_000));
        assert!(
            told.iter().any(|line| line.contains("TooDeep") || line.contains("Syntax")),
            "{open}: {told:?}"
        );
    }
    let nested: String = (0..3_000).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    assert!(problems_of("a.yaml", &nested)[0].contains("TooDeep: nested deeper than 128 levels"));
    let fits = format!("{}{}", "[".repeat(128), "]".repeat(128));
    assert_eq!(problems_of("a.yaml", &fits), Vec::<String>::new());
    for beyond in [
        "[".repeat(129),
        "- ".repeat(129),
        "? ".repeat(129),
        format!("{}{}{}", "- ".repeat(64), "[".repeat(65), "]".repeat(65)),
    ] {
        let told = problems_of("a.yaml", &beyond);
        assert!(told[0].contains("TooDeep"), "{beyond}: {told:?}");
    }
}

#[test]
fn aliases_count_with_what_they_stand_for() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let previous = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{previous}]\n"));
    }
    assert!(problems_of("a.yaml", &bomb)[0].contains("TooLarge: more than 1000000 values in one file"));

    let mut tower = "a0: &a0 [x]\n".to_owned();
    for level in 1..200 {
        tower.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    assert!(problems_of("a.yaml", &tower)[0].contains("TooDeep"));

    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 100].join(", "));
    assert!(problems_of("a.yaml", &long)[0].contains("TooLarge: aliases repeat more than 64 MB of text"));
}

#[test]
fn messages_stay_short_however_long_the_text() {
    let key = "k".repeat(100_000);
    let told = problems_of("a.yaml", &format!("? {key}\n: 1\n? {key}\n: 2\n"));
    assert!(told[0].len() < 200, "{}", told[0].len());
}

fn differences(cases: &[(&str, &str)], read: &[Vec<String>]) -> String {
    let differ = cases.iter().zip(read).filter(|((_, expected), read)| *read != &[*expected]);
    differ
        .map(|((text, expected), read)| format!("\n{text}\n  wanted {expected}\n  read   {read:#?}"))
        .collect()
}

/// Texts that the second opinion reads in the core schema too: it knows `0b1` as a number, and `007` as text.
fn agreed(text: &str) -> bool {
    let text = text.trim_start_matches(['+', '-']);
    let odd_number = text.starts_with('0') && text.len() > 1 && !text.starts_with("0.");
    !odd_number
}

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>(),
        "[ -~]{0,12}",
        "[a-z]{1,8}",
        "(yes|no|on|off|null|~|true|True|TRUE|<<|=|-|--|---|\\.\\.\\.|#|: |- |\\? |\\.inf|0x1F|1e3|\\* |& |!x|%a|@|`|\\||>|\"|')",
        "[a-z]{1,4}(\n[ a-z]{0,5}){1,3}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        (-1000i32..1000).prop_map(|n| Value::from(f64::from(n) / 8.0)),
        text.clone().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(text.clone(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Its own values: numbers of `serde_json` with exact digits would be written as mappings.
fn second_opinion(value: &Value) -> serde_yaml::Value {
    match value {
        Value::Null => serde_yaml::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().unwrap().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => serde_yaml::Value::Sequence(items.iter().map(second_opinion).collect()),
        Value::Object(map) => serde_yaml::Value::Mapping(
            map.iter().map(|(key, value)| (key.as_str().into(), second_opinion(value))).collect(),
        ),
    }
}

/// Numbers of the second opinion pass through `f64`, so they are compared so.
fn through_f64(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(0.0) => json!(0.0),
            Some(float) if number.as_i64().is_none_or(|whole| whole.unsigned_abs() < 1 << 53) => json!(float),
            _ => Value::Number(number),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(through_f64).collect()),
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(key, value)| (key, through_f64(value))).collect())
        }
        other => other,
    }
}

proptest! {
    #[test]
    fn generated_documents_are_read_back(value in value()) {
        let text = serde_yaml::to_string(&second_opinion(&value)).unwrap();
        // Line ends in YAML 1.1, which it writes, and characters in 1.2.
        prop_assume!(!text.contains(['\u{85}', '\u{2028}', '\u{2029}']));
        let source = Source::new("a.yaml", text.as_str());
        let parsed = parse(&source);
        prop_assert!(parsed.problems.is_empty(), "{}\n{:#?}", text, told(&source, &parsed.problems));
        prop_assert_eq!(parsed.documents.len(), 1);
        check_spans(&source, &parsed.documents[0]);
        let read = through_f64(parsed.documents[0].to_json());
        prop_assert_eq!(&read, &through_f64(value.clone()), "{}", text);
    }

    #[test]
    fn json_is_yaml(value in value()) {
        // The longest key that YAML allows on one line has 1,024 characters.
        let text = serde_json::to_string(&value).unwrap();
        let (_, documents) = read_well("a.yaml", &text);
        prop_assert_eq!(documents[0].to_json(), value);
    }

    #[test]
    fn plain_scalars_are_read_as_the_second_opinion_does(text in "[-+.0-9a-zA-Z_~]{1,8}|[-+]?[0-9]{1,5}(\\.[0-9]{1,3})?|0[xob][0-9a-f]{1,4}") {
        if !agreed(&text) {
            return Ok(());
        }
        let source = Source::new("a.yaml", format!("- {text}\n"));
        let parsed = parse(&source);
        prop_assume!(parsed.problems.is_empty());
        let expected: Value = serde_yaml::from_str(source.text()).unwrap();
        prop_assert_eq!(through_f64(parsed.documents[0].to_json()), through_f64(expected));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[-?:,\\[\\]{}#&*!|>'\"%@`a-c1 \n\té~<.]{0,60}") {
        let source = Source::new("a.yaml", text.as_str());
        let parsed = parse(&source);
        for problem in &parsed.problems {
            prop_assert!(text.get(problem.span.start..problem.span.end).is_some());
            prop_assert!(!problem.message.is_empty());
        }
        if !text.contains('*') {
            parsed.documents.iter().for_each(|document| check_spans(&source, document));
        }
        let first_letter = parsed.problems.iter().filter_map(|p| p.message.chars().next());
        prop_assert!(first_letter.clone().all(|letter| !letter.is_uppercase()), "{:?}", parsed.problems);
        // What both read, they read alike; but in YAML 1.2 alone anchors may have a colon in their name, and a
        // block scalar that is the whole document may begin in the first column, be it with a `#`, and a text
        // between brackets may begin with a question mark.
        let differs = text.contains('&')
            || (text.contains('#') && text.contains(['|', '>']))
            || (text.contains('?') && text.contains(['[', '{']));
        if parsed.problems.is_empty() && parsed.documents.len() == 1 && !differs
            && let Ok(expected) = serde_yaml::from_str::<Value>(&text)
        {
            prop_assert_eq!(through_f64(parsed.documents[0].to_json()), through_f64(expected));
        }
    }
}
