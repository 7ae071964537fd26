//! Content that is a list of parts, some of them texts.

use std::borrow::Cow;

use serde_json::Value;

use super::json::{parse, plain_tape, unescaped};

/// The text parts of a list, joined by line feeds, if it has any: objects whose `type` says text. A list of bare strings is
/// just a list.
pub fn joined(list: &str) -> Option<Box<str>> {
    // Results are long, so no tree is built of them where that can be avoided.
    if let Some(texts) = texts(list) {
        return join(&texts);
    }
    let Some(Value::Array(parts)) = parse(list) else { return None };
    let texts: Vec<&str> = parts.iter().filter_map(text).collect();
    join(&texts)
}

fn join<T: AsRef<str>>(texts: &[T]) -> Option<Box<str>> {
    let mut texts = texts.iter().map(T::as_ref);
    let mut joined = texts.next()?.to_owned();
    texts.for_each(|text| {
        joined.push('\n');
        joined.push_str(text);
    });
    Some(joined.into())
}

/// The text that a part is.
fn text(part: &Value) -> Option<&str> {
    if !is_text(part.get("type")?.as_str()?) {
        return None;
    }
    part.get("text").or_else(|| part.get("content"))?.as_str()
}

/// Whether a part of this type is a text.
fn is_text(kind: &str) -> bool {
    matches!(kind, "text" | "input_text" | "output_text")
}

/// The texts of a list; `None` where only the whole value can tell.
fn texts(list: &str) -> Option<Vec<Cow<'_, str>>> {
    let tape = plain_tape(list, 2).filter(|tape| !tape.has_escaped_names())?;
    let (mut next, end) = (1, tape.part(0)?.next);
    let mut texts = Vec::new();
    while next < end {
        let item = tape.part(next)?;
        if tape.text_of(item).starts_with('{') {
            let member =
                |name: &str| Some(tape.text_of(tape.part(tape.member(tape.within(next), name.as_bytes())?)?));
            let kind = member("type").and_then(unescaped);
            if kind.is_some_and(|kind| is_text(&kind)) {
                texts.extend(member("text").or_else(|| member("content")).and_then(unescaped));
            }
        }
        next = item.next;
    }
    Some(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_the_whole_value() {
        for list in [
            r#"[{"type": "text", "text": "a\n\"b\""}, {"type": "input_text", "content": "c"}, "d", [1]]"#,
            r#"[{"type": "text", "text": null, "content": "c"}, {"type": "output_text"}]"#,
            r#"[{"type": "text", "text": 7}, {"type": 7, "text": "a"}, {"text": "b"}]"#,
            r#"[{"type": "image"}, {"type": "te\u0078t", "text": "a"}]"#,
            r#"[{"type": "image", "type": "text", "text": "a", "text": "b"}]"#,
            r#"[{"type": "text", "text": ""}]"#,
            r#"[{"t\/ype": "image", "type": "t\/ext", "text": "x"}, {"type": "text", "te\\xt": 1, "text": "\/"}]"#,
            "[]",
            r#"["text"]"#,
            r#"[{"type": "text", "text": "a"}"#,
            r#"[{"type": "text", "text": "a"}] x"#,
            r#"[{"type": "text", "text": "a", "$serde_json::private::RawValue": "1"}]"#,
        ] {
            let whole = parse(list).and_then(|value| {
                let texts: Vec<&str> = value.as_array()?.iter().filter_map(text).collect();
                join(&texts)
            });
            assert_eq!(joined(list), whole, "{list}");
        }
    }
}
