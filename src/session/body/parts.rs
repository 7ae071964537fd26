//! Content that is a list of parts, some of them texts.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::json::{is_plain, parse, unescaped};

/// The text parts of a list, joined by line feeds, if it has any: objects whose `type` says text. A list of bare strings is
/// just a list.
pub fn joined(list: &str) -> Option<Box<str>> {
    // Results are long, so no tree is built of them where that can be avoided.
    if is_plain(list)
        && let Some(texts) = texts(list)
    {
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

/// A part, as far as it may be a text. A name that is there twice is an error.
#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default, rename = "type", deserialize_with = "also_null")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "also_null")]
    text: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "also_null")]
    content: Option<&'a RawValue>,
}

/// A member that is `null` is there.
fn also_null<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// The texts of a list; `None` where only the whole value can tell.
fn texts(list: &str) -> Option<Vec<String>> {
    let items: Vec<&RawValue> = serde_json::from_str(list).ok()?;
    let mut texts = Vec::new();
    for item in items.into_iter().filter(|item| item.get().starts_with('{')) {
        let part: Part<'_> = serde_json::from_str(item.get()).ok()?;
        let kind = part.kind.and_then(|kind| unescaped(kind.get()));
        if kind.is_some_and(|kind| is_text(&kind)) {
            texts.extend(
                part.text.or(part.content).and_then(|text| Some(unescaped(text.get())?.into_owned())),
            );
        }
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
