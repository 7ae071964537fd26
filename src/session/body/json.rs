//! The text of JSON values: what may be parsed, and what a text in it stands for.

use std::borrow::Cow;

use memchr::memmem;
use serde_json::Value;

/// What a JSON text literal stands for; `None` where it is none. Reserves memory once, as serde_json does not.
pub fn unescaped(literal: &str) -> Option<Cow<'_, str>> {
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    let Some(first) = memchr::memchr(b'\\', inner.as_bytes()) else { return Some(Cow::Borrowed(inner)) };
    let inner = inner.as_bytes();
    let mut text = Vec::with_capacity(inner.len());
    text.extend_from_slice(inner.get(..first)?);
    let mut rest = inner.get(first..)?;
    while let [b'\\', escape, after @ ..] = rest {
        text.push(match escape {
            b'n' => b'\n',
            b'"' | b'\\' | b'/' => *escape,
            b'b' => 0x8,
            b'f' => 0xC,
            b'r' => b'\r',
            b't' => b'\t',
            // Rare, and with rules of its own.
            b'u' => return serde_json::from_str::<String>(literal).ok().map(Cow::Owned),
            _ => return None,
        });
        // Escapes mostly stand close together: a search that begins wide costs more than those few bytes.
        let near = after
            .iter()
            .take(16)
            .take_while(|byte| **byte != b'\\')
            .inspect(|byte| text.push(**byte))
            .count();
        rest = after.get(near..)?;
        if near == 16 {
            let next = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
            text.extend_from_slice(rest.get(..next)?);
            rest = rest.get(next..)?;
        }
    }
    // A backslash by itself at the end escapes nothing.
    let text = rest.is_empty().then_some(text)?;
    String::from_utf8(text).ok().map(Cow::Owned)
}

/// JSON text as a value. Text with a key that serde_json reserves is not JSON: recorded text must not be able to forge a
/// number or a raw value.
pub fn parse(text: &str) -> Option<Value> {
    if reserved_key(text) { None } else { serde_json::from_str(text).ok() }
}

/// Whether a text parses if passing over it does, which looks at neither depth nor halves of surrogate pairs.
pub fn is_plain(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"\\u").is_none() && !reserved_key(text) && !is_deep(text)
}

/// Whether lists and objects may be more than a hundred levels deep.
fn is_deep(text: &str) -> bool {
    let bytes = text.as_bytes();
    if memchr::memchr2_iter(b'[', b'{', bytes).nth(100).is_none() {
        return false;
    }
    let (mut at, mut depth) = (0, 0_u32);
    while let Some(byte) = bytes.get(at) {
        match byte {
            // What a tool printed is mostly one long text, which is passed over quickly.
            b'"' => match end_of_text(bytes, at + 1) {
                Some(end) => at = end,
                None => return false,
            },
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > 100 {
            return true;
        }
        at += 1;
    }
    false
}

/// Where the quote is that ends a text from here on.
fn end_of_text(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// Whether some object key begins with serde_json's private mark, however it is escaped.
pub fn reserved_key(text: &str) -> bool {
    const MARK: &str = "$serde_json::";
    let bytes = text.as_bytes();
    let begins = memchr::memchr2(b'$', b'\\', bytes).and_then(|first| bytes.get(first..));
    let may =
        |begins| memmem::find(begins, MARK.as_bytes()).is_some() || memmem::find(begins, b"\\u00").is_some();
    if !begins.is_some_and(may) {
        return false;
    }
    let mut at = 0;
    while let Some(open) = find(bytes, at, b'"') {
        let mut end = open + 1;
        while let Some(byte) = bytes.get(end) {
            match byte {
                b'\\' => end += 2,
                b'"' => break,
                _ => end += 1,
            }
        }
        let Some(literal) = text.get(open..=end) else { return false };
        let is_key = bytes.iter().skip(end + 1).find(|b| !b.is_ascii_whitespace()) == Some(&b':');
        if is_key && serde_json::from_str::<String>(literal).is_ok_and(|key| key.starts_with(MARK)) {
            return true;
        }
        at = end + 1;
    }
    false
}

fn find(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    bytes.get(from..)?.iter().position(|b| *b == wanted).map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_that_of_brackets_outside_of_texts() {
        let nested = |levels: usize, inner: &str| "[".repeat(levels) + inner + &"]".repeat(levels);
        assert!(!is_deep(&nested(100, "1")) && is_deep(&nested(101, "1")));
        let brackets = format!("\"{}\"", "[{\\\"\\\\".repeat(500));
        assert!(!is_deep(&brackets) && !is_deep(&nested(99, &brackets)));
        assert!(!is_deep(&format!("[{brackets},{}]", nested(99, "1"))));
        assert!(is_deep(&format!("[{brackets},{}]", nested(100, "1"))));
        assert!(!is_deep(&"[],".repeat(500)) && !is_deep(&("[\"".to_owned() + &"[".repeat(500))));
    }

    #[test]
    fn a_literal_stands_for_what_serde_json_says_of_it() {
        let parts = [
            "a",
            "\\n",
            "\\\"",
            "\\\\",
            "\\/",
            "\\b\\f\\r\\t",
            "\\u00e9",
            "é",
            "\\x",
            "\\é",
            "a long run without any escape",
        ];
        for first in parts {
            for second in parts {
                for third in parts.into_iter().chain(["\\"]) {
                    let literal = format!("\"{first}{second}{third}\"");
                    let serde = serde_json::from_str::<String>(&literal).ok();
                    assert_eq!(unescaped(&literal).map(Cow::into_owned), serde, "{literal}");
                }
            }
        }
    }
}
