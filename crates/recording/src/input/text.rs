//! The bytes of one value as text: faults of encoding are fixed and reported, so that they cost a character and not a
//! record.

use std::borrow::Cow;
use std::sync::Arc;

use crate::input::units::Kind;
use memchr::memmem;

use rulestep_base::diagnostic::{Diagnostic, Place, code};
use rulestep_base::source::quoted;

/// Text that may have been fixed.
pub struct Decoded<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// Faults that were fixed.
    pub diagnostics: Vec<Diagnostic>,
    /// The diagnostic that the end is missing, if it is.
    pub cut_off: Option<Diagnostic>,
}

/// The text of a value that begins on `line` of `file`. Bytes that are no UTF-8 become U+FFFD; line feeds stay where they are.
/// Halves of surrogate pairs are [fixed](fixed) once it is known that there may be some.
pub fn decode<'a>(bytes: &'a [u8], file: &Arc<str>, line: u64) -> Decoded<'a> {
    let mut diagnostics = Vec::new();
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) => {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let breaks = before.iter().filter(|byte| **byte == b'\n').count() as u64;
            let in_line = before.iter().rev().take_while(|byte| **byte != b'\n').count() as u64 + 1;
            let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
            let message = format!("the byte 0x{byte:02x} is not UTF-8; such bytes are read as U+FFFD");
            let place = Place::Line { file: Arc::clone(file), line: line + breaks, byte: Some(in_line) };
            diagnostics.push(Diagnostic::warning(code::DAMAGED_RECORD, message).primary(place));
            String::from_utf8_lossy(bytes)
        }
    };
    Decoded { text, diagnostics, cut_off: None }
}

/// The text of such a value in which halves of surrogate pairs are U+FFFD, and the diagnostic; `None` if there are
/// none.
pub fn fixed(text: &str, file: &Arc<str>, line: u64) -> Option<(String, Diagnostic)> {
    let (fixed, at) = without_halves(text)?;
    let breaks = text.bytes().take(at).filter(|byte| *byte == b'\n').count() as u64;
    let message = "half of a surrogate pair is read as U+FFFD";
    let place = Place::Line { file: Arc::clone(file), line: line + breaks, byte: None };
    Some((fixed, Diagnostic::warning(code::DAMAGED_RECORD, message).primary(place)))
}

/// Whether some escaped surrogate is without its other half.
pub fn has_half(text: &str) -> bool {
    without_halves(text).is_some()
}

/// JSON text in which each escaped surrogate without its other half is `\ufffd`, and the position of the first one.
/// `None` if there is none, which is found without a copy.
fn without_halves(text: &str) -> Option<(String, usize)> {
    let bytes = text.as_bytes();
    let begins = |at: usize| matches!(bytes.get(at + 2), Some(b'd' | b'D'));
    if !memmem::find_iter(bytes, b"\\u").any(begins) {
        return None;
    }
    let mut mended: Option<(String, usize)> = None;
    let (mut at, mut copied) = (0, 0);
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..)?) {
        let escape = at + found;
        let Some(unit) = surrogate(bytes, escape) else {
            at = escape + 2;
            continue;
        };
        let paired = unit < 0xDC00 && surrogate(bytes, escape + 6).is_some_and(|low| low >= 0xDC00);
        at = escape + if paired { 12 } else { 6 };
        if !paired {
            let (into, _) = mended.get_or_insert_with(|| (String::with_capacity(text.len()), escape));
            into.push_str(text.get(copied..escape)?);
            into.push_str("\\ufffd");
            copied = at;
        }
    }
    let (mut into, first) = mended?;
    into.push_str(text.get(copied..)?);
    Some((into, first))
}

/// The surrogate that is escaped here.
fn surrogate(bytes: &[u8], at: usize) -> Option<u16> {
    let rest = bytes.get(at..at + 6)?;
    let digits = rest.strip_prefix(b"\\u")?;
    if !digits.first().is_some_and(|first| first.eq_ignore_ascii_case(&b'd')) {
        return None;
    }
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xD800..=0xDFFF).contains(&unit).then_some(unit)
}

/// The complete part of a cut-off object, closed: up to the last complete member, or item of a list that is a member.
/// Anything deeper is left out with the item that it belongs to: half a message is useless. `None` if nothing is
/// complete.
pub fn closed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut open: Vec<u8> = Vec::new();
    let (mut in_text, mut escaped) = (false, false);
    let mut whole = None;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                if open.pop() != Some(*byte) {
                    return None;
                }
                if matches!(open.len(), 1 | 2) {
                    whole = Some((at + 1, open.clone()));
                }
            }
            b',' if open.len() == 1 => whole = Some((at, open.clone())),
            _ => {}
        }
    }
    let (end, open) = whole?;
    let mut closed = bytes.get(..end)?.to_vec();
    closed.extend(open.iter().rev());
    Some(closed)
}

/// Why a value is not JSON, with its beginning.
pub fn not_json(text: &str, error: &serde_json::Error) -> String {
    let reason = error.to_string();
    let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason);
    format!("{} is not JSON: {reason}; it is left out", beginning(text))
}

/// The message for a file of UTF-16 text.
pub const UTF16: &str = "the file is UTF-16 text: convert it with `iconv -f utf-16 -t utf-8`";

/// Whether a file is UTF-16 text: it says so, or begins like JSON in it.
pub fn is_utf16(bytes: &[u8]) -> bool {
    let begins = |letter: u8, next: u8| matches!(letter, b'{' | b'[') && next != 0;
    match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => true,
        [letter, 0, next, 0, ..] | [0, letter, 0, next, ..] => begins(*letter, *next),
        _ => false,
    }
}

/// The kind of a file that is not text, by its first bytes.
pub fn not_text(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [b'P', b'K', 3, 4, ..] if is_inspect_archive(bytes) => Some(
            "the file is an Inspect log in its archive form: convert it with `inspect log convert --to json --output-dir DIR FILE`",
        ),
        [b'P', b'K', 3, 4, ..] => Some("the file is a zip archive: unpack it, and open what is in it"),
        [0x1F, 0x8B, ..] => Some("the file is compressed with gzip: unpack it with `gunzip`"),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Some("the file is compressed with zstd: unpack it with `unzstd`"),
        _ if is_utf16(bytes) => Some(UTF16),
        _ if bytes.starts_with(b"SQLite format 3") => Some(
            "the file is a SQLite database, not a recording: export the session with the program that keeps it",
        ),
        // No text has a zero byte, and JSON least of all.
        _ if bytes.iter().take(64).any(|byte| *byte == 0) => Some("the file is binary, not text"),
        _ => None,
    }
}

/// Whether a zip archive begins with an entry that logs of Inspect evaluations have.
fn is_inspect_archive(bytes: &[u8]) -> bool {
    // The first entry's name is after a header of thirty bytes.
    let name = bytes.get(30..).unwrap_or_default();
    let names: [&[u8]; 4] = [b"_journal/", b"samples/", b"header.json", b"summaries.json"];
    names.iter().any(|start| name.starts_with(start))
}

/// Why a file without a single value is no recording.
pub fn no_value(bytes: &[u8], kind: Kind) -> String {
    match kind {
        Kind::TooLarge(size) => {
            format!("the file's first value has {size} bytes, more than can be read at once")
        }
        Kind::CutOff => "the file ends within its first value".to_owned(),
        _ => {
            let text = String::from_utf8_lossy(bytes);
            let error = serde_json::from_str::<serde::de::IgnoredAny>(&text).err();
            let why = error.map_or(String::new(), |error| format!(" (parser: {error})"));
            format!("the file is not JSON: it begins with {}{why}", beginning(&text))
        }
    }
}

/// Whether a text that is not JSON begins as an object, or a list of objects, as recordings do.
pub fn begins_as_json(bytes: &[u8]) -> bool {
    let mut bytes = bytes.iter().filter(|byte| !byte.is_ascii_whitespace());
    let mut next = || bytes.next().copied();
    match (next(), next()) {
        (Some(b'{'), Some(b'"')) => true,
        (Some(b'['), Some(b'{')) => next() == Some(b'"'),
        _ => false,
    }
}

/// The first words of a text, on one line.
fn beginning(text: &str) -> String {
    let shown: String = text.chars().take(61).map(|c| if c.is_control() { ' ' } else { c }).collect();
    quoted(shown.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_surrogate_pairs_are_mended() {
        for (text, mended) in [
            (r#""\ud83d\ude00""#, None),
            (r#""plain \n \\ud800""#, None),
            (r#""\ud800""#, Some(r#""\ufffd""#)),
            (r#""a\uDC00b\ud83d\ude00\uD83D c""#, Some(r#""a\ufffdb\ud83d\ude00\ufffd c""#)),
            (r#""\ud800\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\ud8""#, None),
            ("\\", None),
        ] {
            assert_eq!(without_halves(text).map(|(text, _)| text).as_deref(), mended, "{text}");
        }
    }

    #[test]
    fn what_is_whole_of_a_cut_off_object_is_closed() {
        for (cut, whole) in [
            (r#"{"a": 1, "b"#, Some(r#"{"a": 1}"#)),
            (r#"{"a": [{"b": [1]}, {"b": [2"#, Some(r#"{"a": [{"b": [1]}]}"#)),
            (r#"{"a": [{"b": "}]"}, {"b": {"c": 1}, "#, Some(r#"{"a": [{"b": "}]"}]}"#)),
            (r#"{"a": [], "b": "\"#, Some(r#"{"a": []}"#)),
            (r#"{"a": "x"#, None),
            (r#"{"a": [{"b": 1"#, None),
            (r#"{"a": [}"#, None),
            ("{", None),
        ] {
            assert_eq!(closed(cut.as_bytes()).as_deref(), whole.map(str::as_bytes), "{cut}");
        }
    }

    #[test]
    fn a_bad_byte_is_placed_and_replaced() {
        let decoded = decode(b"{\n \"a\": \"x\xffy\"}", &"f".into(), 7);
        assert_eq!(decoded.text, "{\n \"a\": \"x\u{FFFD}y\"}");
        let place = decoded.diagnostics[0].place().unwrap();
        assert_eq!(place, &Place::Line { file: "f".into(), line: 8, byte: Some(9) });
    }
}
