//! Text as in JavaScript: a row of UTF-16 units, possibly with half a surrogate pair.

use std::sync::Arc;

/// Text of a template or of its data.
pub type Text = Arc<[u16]>;

/// The UTF-16 units of `text`.
pub(super) fn units(text: &str) -> Text {
    text.encode_utf16().collect()
}

/// The text as a Rust string, if it holds no lone surrogate.
pub(super) fn utf8(text: &[u16]) -> Option<String> {
    String::from_utf16(text).ok()
}

/// For messages only: lone surrogates become U+FFFD.
pub(super) fn lossy(text: &[u16]) -> String {
    String::from_utf16_lossy(text)
}

/// Whether `text` is exactly `expected`.
pub(super) fn is(text: &[u16], expected: &str) -> bool {
    text.iter().copied().eq(expected.encode_utf16())
}

/// White space and line ends of JavaScript: what `trim` removes and `\s` matches.
pub(super) fn is_space(unit: u16) -> bool {
    matches!(
        unit,
        9..=13 | 0x20 | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f | 0x3000 | 0xfeff
    )
}

/// `text` without leading white space.
pub(super) fn trim_start(text: &[u16]) -> &[u16] {
    let from = text.iter().position(|&unit| !is_space(unit)).unwrap_or(text.len());
    text.get(from..).unwrap_or_default()
}

/// `text` without trailing white space.
pub(super) fn trim_end(text: &[u16]) -> &[u16] {
    let to = text.iter().rposition(|&unit| !is_space(unit)).map_or(0, |last| last + 1);
    text.get(..to).unwrap_or_default()
}

/// `text` without white space at either end.
pub(super) fn trim(text: &[u16]) -> &[u16] {
    trim_end(trim_start(text))
}

/// The length in units of the code point that begins at `at` (1 past the end).
pub(super) fn width_at(text: &[u16], at: usize) -> usize {
    match (text.get(at), text.get(at + 1)) {
        (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 2,
        _ => 1,
    }
}

/// The code points of `text` as slices; a lone surrogate is one of its own.
pub(super) fn points(text: &[u16]) -> impl Iterator<Item = &[u16]> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let next = text.get(at..at + width_at(text, at))?;
        at += next.len();
        Some(next)
    })
}

/// The number of a code point given as a slice of one or two units.
pub(super) fn scalar(point: &[u16]) -> u32 {
    match point {
        [high, low] => 0x10000 + ((u32::from(*high) & 0x3ff) << 10) + (u32::from(*low) & 0x3ff),
        [unit, ..] => u32::from(*unit),
        [] => 0,
    }
}

/// The text in upper case, by the full mapping (`ß` becomes `SS`).
pub(super) fn upper(text: &[u16]) -> Text {
    map_case(text, |run| run.to_uppercase())
}

/// The text in lower case, by the full mapping (with the final sigma).
pub(super) fn lower(text: &[u16]) -> Text {
    map_case(text, |run| run.to_lowercase())
}

/// Lone surrogates have no case and end the surroundings that a final sigma looks at, so the runs between
/// them are mapped one by one.
fn map_case(text: &[u16], map: impl Fn(&str) -> String) -> Text {
    if let Ok(whole) = String::from_utf16(text) {
        return units(&map(&whole));
    }
    let mut out = Vec::with_capacity(text.len());
    let mut run = String::new();
    for decoded in char::decode_utf16(text.iter().copied()) {
        match decoded {
            Ok(letter) => run.push(letter),
            Err(lone) => {
                out.extend(map(&run).encode_utf16());
                run.clear();
                out.push(lone.unpaired_surrogate());
            }
        }
    }
    out.extend(map(&run).encode_utf16());
    out.into()
}

/// The positions of `needle` (not empty) in `hay`, without overlaps, from the left; linear in both lengths.
pub(super) fn occurrences(hay: &[u16], needle: &[u16]) -> Vec<usize> {
    let mut found = Vec::new();
    scan(hay, needle, false, |at| {
        found.push(at);
        true
    });
    found
}

/// The first place of `needle` in `hay`.
pub(super) fn find(hay: &[u16], needle: &[u16]) -> Option<usize> {
    let mut found = None;
    if needle.is_empty() {
        return Some(0);
    }
    scan(hay, needle, false, |at| {
        found = Some(at);
        false
    });
    found
}

/// The last place of `needle` in `hay`.
pub(super) fn rfind(hay: &[u16], needle: &[u16]) -> Option<usize> {
    let mut found = None;
    if needle.is_empty() {
        return Some(hay.len());
    }
    scan(hay, needle, true, |at| {
        found = Some(at);
        true
    });
    found
}

/// Calls `visit` for each place of `needle` until it returns false (search by a table of borders).
fn scan(hay: &[u16], needle: &[u16], overlapping: bool, mut visit: impl FnMut(usize) -> bool) {
    if needle.is_empty() || needle.len() > hay.len() {
        return;
    }
    let borders = borders(needle);
    let border =
        |matched: usize| matched.checked_sub(1).and_then(|last| borders.get(last)).copied().unwrap_or(0);
    let mut matched = 0;
    for (at, &unit) in hay.iter().enumerate() {
        while matched > 0 && needle.get(matched) != Some(&unit) {
            matched = border(matched);
        }
        if needle.get(matched) == Some(&unit) {
            matched += 1;
        }
        if matched == needle.len() {
            if !visit(at + 1 - matched) {
                return;
            }
            matched = if overlapping { border(matched) } else { 0 };
        }
    }
}

/// For each prefix of `needle`: the length of its longest proper prefix that is also its suffix.
fn borders(needle: &[u16]) -> Vec<usize> {
    let mut borders: Vec<usize> = Vec::with_capacity(needle.len());
    let mut length = 0;
    for (at, unit) in needle.iter().enumerate() {
        if at > 0 {
            while length > 0 && needle.get(length) != Some(unit) {
                length = borders.get(length - 1).copied().unwrap_or(0);
            }
            if needle.get(length) == Some(unit) {
                length += 1;
            }
        }
        borders.push(length);
    }
    borders
}
