use super::*;
use serde_json::json;

#[test]
fn text_that_is_json_is_that_value_and_other_text_is_itself() {
    assert_eq!(Body::text("{\"a\": 1}").value(), Some(&json!({"a": 1})));
    assert_eq!(Body::text("plain").value(), Some(&json!("plain")));
    assert_eq!(Body::text("plain").parsed(), None);
    assert_eq!(Body::json("null").value(), None);
    assert_eq!(Body::json("\"[1]\"").value(), Some(&json!([1])));
    assert_eq!(Body::json("{\"a\": [1]}").value(), Some(&json!({"a": [1]})));
}

#[test]
fn text_parts_are_joined_and_read_again() {
    let body =
        Body::json(r#"[{"type":"text","text":"{\"a\":"},{"type":"image"},{"type":"text","text":"2}"}]"#);
    assert_eq!(body.shown(), "{\"a\":\n2}");
    assert_eq!(body.value(), Some(&json!({"a": 2})));
    let list = Body::json("[1, 2]");
    assert_eq!(list.value(), Some(&json!([1, 2])));
    assert_eq!(list.shown(), "[1, 2]");
}

#[test]
fn what_is_shown_begins_as_it_does_when_it_is_read_as_a_whole() {
    let bodies = [
        r#"[{"type":"text","text":"Tool 'a' is"}]"#,
        r#"[{"type":"text","text":"\u0054ool 'a'"}]"#,
        r#"[{"type":"image","text":"Tool 'a'"},{"type":"text","text":"no"}]"#,
        r#"[{"type":"text","text":"no"},{"type":"text","text":"Tool 'a'"}]"#,
        r#"[{"type":"text","text":"OBSERVATION:"},{"type":"text","text":"ERROR: x"}]"#,
        r#"[{"type":"text","text":"OBSERVATION:\nERROR:"}]"#,
        r#"[{"type":"text","text":""},{"type":"text","text":"Tool"}]"#,
        r#"["Tool 'a'"]"#,
        r#"[permission denied: x]"#,
        r#"[1, "#,
        r#""Tool 'a'""#,
        r#""\u0054ool 'a'""#,
        r#""OBSERVATION:\nERROR:""#,
        r#"{"text":"Tool 'a'"}"#,
        "null",
    ];
    for body in bodies {
        for beginning in ["Tool '", "OBSERVATION:\nERROR:", "\n", "[permission denied:", "[", "", "\"Tool"] {
            let whole = Body::json(body).shown().starts_with(beginning);
            assert_eq!(Body::json(body).shows(beginning), whole, "{body} {beginning:?}");
        }
        for word in ["Tool", "ERROR", "isError"] {
            let holds = Body::json(body).shown().contains(word);
            assert!(Body::json(body).may_hold(word) || !holds, "{body} {word}");
        }
    }
}

#[test]
fn what_was_said_is_text_or_nothing() {
    let cases = [
        ("null", Some("")),
        ("\"[1]\"", Some("[1]")),
        (r#"[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]"#, Some("a\nb")),
        (r#"[{"type":"text","text":"[1]"}]"#, Some("[1]")),
        (r#"[{"type":"image"}]"#, Some("")),
        ("[]", Some("")),
        ("42", None),
        (r#"{"text": "a"}"#, None),
    ];
    for (content, said) in cases {
        assert_eq!(Body::json(content).said(), said, "{content}");
    }
}

#[test]
fn reserved_keys_make_a_body_text() {
    for forged in [
        r#"{"$serde_json::private::Number": "1"}"#,
        r#"{"a": [{"\u0024serde_json::private::RawValue": "1"}]}"#,
    ] {
        assert_eq!(Body::text(forged).parsed(), None, "{forged}");
        assert_eq!(Body::text(forged).value(), Some(&json!(forged)));
    }
    let harmless = r#"{"a": "$serde_json::private::Number"}"#;
    assert!(Body::text(harmless).parsed().is_some());
}

#[test]
fn deep_nesting_is_text() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    assert_eq!(Body::text(deep.clone()).parsed(), None);
    assert_eq!(Body::text(deep.clone()).value(), Some(&json!(deep)));
}
