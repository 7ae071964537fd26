//! The text of JSON values: what may be parsed, and how texts are unescaped.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem;
use memchr::memmem::Finder;
use serde_json::Value;

use crate::source::tape::{Tape, before_slash};

/// The unescaped text of a JSON string literal; `None` if it is not one. Reserves memory once, as serde_json does not.
pub fn unescaped(literal: &str) -> Option<Cow<'_, str>> {
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    let Some(first) = memchr::memchr(b'\\', inner.as_bytes()) else { return Some(Cow::Borrowed(inner)) };
    let inner = inner.as_bytes();
    // It is never longer than its literal.
    let mut text = vec![0; inner.len()];
    text.get_mut(..first)?.copy_from_slice(inner.get(..first)?);
    let (mut from, mut to) = (first, first);
    // Escapes mostly come close together: sixteen bytes are copied at once, and those from an escape on are
    // overwritten.
    while let Some(sixteen) = inner.get(from..).and_then(|rest| rest.first_chunk::<16>()) {
        *text.get_mut(to..)?.first_chunk_mut::<16>()? = *sixteen;
        let before = before_slash(*sixteen);
        (from, to) = (from + before, to + before);
        if before < 16 {
            *text.get_mut(to)? = match meant(*inner.get(from + 1)?) {
                Some(byte) => byte,
                None => return rare(literal),
            };
            (from, to) = (from + 2, to + 1);
        }
    }
    while let Some(byte) = inner.get(from) {
        *text.get_mut(to)? = match byte {
            b'\\' => {
                from += 1;
                // A backslash by itself at the end escapes nothing.
                match meant(*inner.get(from)?) {
                    Some(byte) => byte,
                    None => return rare(literal),
                }
            }
            byte => *byte,
        };
        (from, to) = (from + 1, to + 1);
    }
    text.truncate(to);
    String::from_utf8(text).ok().map(Cow::Owned)
}

/// The byte that this one means after a backslash, if any.
fn meant(escape: u8) -> Option<u8> {
    Some(match escape {
        b'n' => b'\n',
        b'"' | b'\\' | b'/' => escape,
        b'b' => 0x8,
        b'f' => 0xC,
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    })
}

/// The text of a literal with `\u…` escapes.
#[cold]
fn rare(literal: &str) -> Option<Cow<'_, str>> {
    serde_json::from_str::<String>(literal).ok().map(Cow::Owned)
}

/// Whether something may be written as `\u…`.
pub fn has_unicode(json: &str) -> bool {
    static MARK: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\\u"));
    MARK.find(json.as_bytes()).is_some()
}

/// JSON text as a value. Text with a key that serde_json reserves is not JSON: recorded text must not be able to forge a
/// number or a raw value.
pub fn parse(text: &str) -> Option<Value> {
    if reserved_key(text) { None } else { serde_json::from_str(text).ok() }
}

/// Whether a JSON text is certainly read by `serde_json` exactly as written.
pub fn is_plain(text: &str) -> bool {
    Tape::plain(text.trim_matches([' ', '\n', '\t', '\r']))
}

/// The parts of a JSON text, down to this many levels; `None` if only the whole value can tell.
pub fn plain_tape(text: &str, levels: u32) -> Option<Tape<'_>> {
    let text = text.trim_matches([' ', '\n', '\t', '\r']);
    Tape::down_to(text, levels).filter(Tape::is_plain)
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
        assert!(is_plain(&nested(100, "1")) && !is_plain(&nested(101, "1")));
        let brackets = format!("\"{}\"", "[{\\\"\\\\".repeat(500));
        assert!(is_plain(&brackets) && is_plain(&nested(99, &brackets)));
        assert!(is_plain(&format!("[{brackets},{}]", nested(99, "1"))));
        assert!(!is_plain(&format!("[{brackets},{}]", nested(100, "1"))));
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
