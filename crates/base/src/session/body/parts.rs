//! Content that is a list of parts, some of them texts.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem;
use serde_json::Value;

use super::json::{parse, plain_tape, unescaped};

/// The text parts of a list, joined by line feeds, if it has any: objects whose `type` says text. A list of bare strings is
/// just a list.
pub fn joined(list: &str) -> Option<Box<str>> {
    // Results are long, so no tree is built of them if that can be avoided.
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

/// The text of a part.
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

/// The texts of a list; `None` if only the whole value can tell.
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

/// Members that may be a second type or text of a part; anything may be written as `\u…`.
static OTHERS: LazyLock<[memmem::Finder<'static>; 3]> =
    LazyLock::new(|| ["\"type\"", "\"text\"", "\\u"].map(memmem::Finder::new));

/// The first byte of the joined text parts of a list that begins with one as programs write them. `None` if only the
/// whole list can tell. A list that serde_json cannot read is shown as it is written, and begins with two brackets.
pub fn first(list: &str) -> Option<u8> {
    let type_first = ["[", "{", "\"type\"", ":", "\"text\"", ",", "\"text\"", ":", "\""];
    let rest = begins(list, type_first).or_else(|| {
        let rest = begins(list, ["[", "{", "\"text\"", ":", "\""])?;
        let rest = ends(rest, ["]", "}", "\"text\"", ":", "\"type\"", ",", "\""])?;
        // No other part begins so, and this is its type.
        let begins_part =
            |at| rest.get(at + 1..).is_some_and(|rest| rest.trim_ascii_start().starts_with('"'));
        (!memchr::memchr_iter(b'{', rest.as_bytes()).any(begins_part)).then_some(rest)
    })?;
    let first = rest.as_bytes().first().copied().filter(|first| !matches!(first, b'"' | b'\\'))?;
    // Of two members of one name the last one counts.
    (!OTHERS.iter().any(|other| other.find(rest.as_bytes()).is_some())).then_some(first)
}

/// The text after these tokens, with blanks allowed between them.
fn begins<'t, const N: usize>(text: &'t str, signs: [&str; N]) -> Option<&'t str> {
    signs.into_iter().try_fold(text, |rest, sign| rest.trim_ascii_start().strip_prefix(sign))
}

/// The text before these tokens, the last one first.
fn ends<'t, const N: usize>(text: &'t str, signs: [&str; N]) -> Option<&'t str> {
    signs.into_iter().try_fold(text, |rest, sign| rest.trim_ascii_end().strip_suffix(sign))
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

    #[test]
    fn the_first_byte_is_known_only_where_it_is_certain() {
        for (list, byte) in [
            (r#"[{"type": "text", "text": "Tool"}]"#, Some(b'T')),
            (r#"[ {"type":"text","text":"a \"text\" of a \"type\""}, {"x": 1}]"#, Some(b'a')),
            (r#"[{"type":"text","text":"é"}]"#, Some(0xC3)),
            (r#"[{"text":"Tool","type":"text"}]"#, Some(b'T')),
            (r#" [ { "text" : "a \"text\" of a \"type\"" , "type" : "text" } ] "#, Some(b'a')),
            (r#"[{"text":"a","type":"image"},{"text":"Tool","type":"text"}]"#, None),
            (r#"[{"text":"a","type":"image"},{"content":"Tool","type":"text"}]"#, None),
            (r#"[{"text":"a"},{"content":"Tool","type":"text"}]"#, None),
            (r#"[{"text":"a"}, { "x":"Tool","type":"text"}]"#, None),
            (r#"[{"text":"{\"a\": {}}","x":"b","type":"text"}]"#, Some(b'{')),
            (r#"[{"text":"a","type":"image"}]"#, None),
            (r#"[{"text":"a","te\u0078t":"Tool","type":"text"}]"#, None),
            (r#"[{"text":"\n","type":"text"}]"#, None),
            (r#"[{"text":"a\",\"type\":\"text\"}]"#, None),
            (r#"[{"type":"text","text":"a","text":"Tool"}]"#, None),
            (r#"[{"type":"text","text":"a","type":"image"}]"#, None),
            (r#"[{"type":"text","text":"a","te\u0078t":"Tool"}]"#, None),
            (r#"[{"type":"text","text":""},{"type":"text","text":"b"}]"#, None),
            (r#"[{"type":"text","text":"\u0054ool"}]"#, None),
            (r#"[{"type":"image","text":"a"}]"#, None),
            (r#"["a"]"#, None),
            ("[", None),
        ] {
            assert_eq!(first(list), byte, "{list}");
            if let (Some(byte), Some(joined)) = (byte, joined(list)) {
                assert_eq!(joined.as_bytes().first(), Some(&byte), "{list}");
            }
        }
    }
}
