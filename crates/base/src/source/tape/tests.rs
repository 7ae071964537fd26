//! Against serde_json.

use proptest::prelude::*;
use serde::de::IgnoredAny;

use super::*;

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Every part of a value, level by level, by serde_json.
fn parts(text: &str) -> Vec<String> {
    use serde_json::value::RawValue;
    let mut found = vec![text.trim_matches([' ', '\n', '\t', '\r']).to_owned()];
    let Some(whole) = found.first().cloned() else { return found };
    if whole.starts_with('[') {
        for item in serde_json::from_str::<Vec<&RawValue>>(&whole).unwrap() {
            found.extend(parts(item.get()));
        }
    } else if whole.starts_with('{') {
        struct Pairs<'a>(Vec<(&'a RawValue, &'a RawValue)>);
        impl<'de: 'a, 'a> serde::Deserialize<'de> for Pairs<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Reader;
                impl<'de> serde::de::Visitor<'de> for Reader {
                    type Value = Pairs<'de>;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<Self::Value, A::Error> {
                        let mut pairs = Vec::new();
                        while let Some(pair) = map.next_entry()? {
                            pairs.push(pair);
                        }
                        Ok(Pairs(pairs))
                    }
                }
                deserializer.deserialize_map(Reader)
            }
        }
        for (name, value) in serde_json::from_str::<Pairs<'_>>(&whole).unwrap().0 {
            found.push(name.get().to_owned());
            found.extend(parts(value.get()));
        }
    }
    found
}

fn check(text: &str) {
    let tape = Tape::of(text);
    assert_eq!(tape.is_some(), is_json(text), "{text:?}");
    assert_eq!(Tape::flat(text).is_some(), is_json(text), "{text:?}");
    let Some(tape) = tape else { return };
    let found: Vec<_> = tape.parts.iter().map(|part| tape.text_of(*part).to_owned()).collect();
    assert_eq!(found, parts(text), "{text:?}");
    let flat = Tape::flat(text).unwrap();
    let mut next = 1;
    for part in flat.parts.iter().skip(1) {
        let whole = tape.part(next).unwrap();
        assert_eq!((part.start, part.end), (whole.start, whole.end), "{text:?}");
        next = whole.next;
    }
    assert_eq!(next, tape.part(0).unwrap().next);
}

#[test]
fn json_is_what_serde_json_says() {
    for text in [
        "",
        " ",
        "{}",
        "[]",
        "{",
        "}",
        "[}",
        "{]",
        "null",
        "nul",
        "nulll",
        "true",
        "tru",
        "false ",
        "0",
        "-0",
        "00",
        "01",
        "-",
        "1.",
        "1.5",
        ".5",
        "1e5",
        "1E+5",
        "1e",
        "1e+",
        "-1.0e-10",
        "1 2",
        "1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\":1}",
        "{\"a\":1,}",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "{,}",
        "\"a\"",
        "\"a",
        "\"\\\"",
        "\"\\\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\u1234\"",
        "\"\\ud800\"",
        "\"a\nb\"",
        "\"a\u{0}b\"",
        "\"a\u{1f}b\"",
        "\"a\u{7f}b\"",
        "\u{feff}{}",
        "\u{0}",
        "{}\u{0}",
        "{}\u{c}",
        "{}{}",
        "[1]2",
        "[\"a\"\"b\"]",
        "[1\"a\"]",
        "[\"a\"1]",
        "\\\"a\"",
        "[\\\"a\"]",
        "[null true]",
        "[nulltrue]",
        "[-]",
        "{\"a\":[{\"b\":[]},{}],\"\\u0061\":\"\\\\\\\"\"}",
        "[[[[]]]]",
        "[1\t,\r\n2 ]",
        "{\"é\":\"ü\"}",
        "[é]",
        "1é",
        "123456789012345678901234567890e400",
        "[1]\"",
        "\"\"\"",
        "{\"a\":1}}",
        "[]]",
        ":",
        ",",
        "[:]",
        "{\"a\"::1}",
    ] {
        check(text);
        // Wherever blocks of bytes end.
        for before in [1, 30, 57, 60, 61, 62, 63, 64, 65, 127] {
            check(&format!("{}{text}", " ".repeat(before)));
            check(&format!("[\"{}\",{text}]", "x".repeat(before)));
            check(&format!("[\"{}\",{text}]", "\\".repeat(before)));
        }
    }
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(Tape::of(&deep).unwrap().parts.len(), 10_000);
}

proptest! {
    #[test]
    fn any_text_is_json_as_serde_json_says(text in r#"[{}\[\]",: \\a1en\n\-.u0d\u{1}é]{0,100}"#) {
        check(&text);
    }

    #[test]
    fn changed_json_is_json_as_serde_json_says(
        value in values(),
        at in any::<prop::sample::Index>(),
        byte in prop::sample::select(b"{}[]\",:\\ \n1ntux\x01-.e".to_vec()),
        how in 0..4u8,
    ) {
        let text = if how == 3 { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        check(&text);
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        match how {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            2 => { bytes.remove(at); }
            _ => bytes.truncate(at),
        }
        check(&String::from_utf8_lossy(&bytes));
    }
}

fn values() -> impl Strategy<Value = serde_json::Value> {
    let text = r#"[a-z"\\\n\t/é😀 {}\[\]:,]{0,80}"#;
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        text.prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Into::into),
            prop::collection::vec((text, inner), 0..8)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}
