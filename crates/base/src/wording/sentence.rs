//! Sentences whose values are cut once all of them are known, so that what differs between two of them stays visible.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::clean::{self, Marks};

/// A sentence with its values in full. Displayed, long values are cut in their middle, or where they differ from
/// another one of the sentence.
///
/// Until then each value is between two control characters. Cleaned text holds no control characters, so no value can
/// end itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Sentence(String);

/// Before a value, of which [`VALUE`] columns are shown.
const VALUE_BEGINS: char = '\u{1}';
/// Before a name, of which [`NAME`] columns are shown.
const NAME_BEGINS: char = '\u{2}';
/// Before a pattern, of which [`PATTERN`] columns are shown.
const PATTERN_BEGINS: char = '\u{5}';
const ENDS: char = '\u{3}';
/// Within a value: the relevant part begins here.
const FOUND: char = '\u{4}';
const SIGNS: [char; 5] = [VALUE_BEGINS, NAME_BEGINS, PATTERN_BEGINS, ENDS, FOUND];
/// Letters shown before what was found.
const BEFORE: usize = 16;
/// Columns that a value takes.
const VALUE: usize = 48;
/// Columns that a name takes.
const NAME: usize = 64;
/// Columns that a pattern takes: the rule shows it in full, and a long one would hide the rest of the sentence.
const PATTERN: usize = 24;
/// Letters of a value that a sentence keeps at each of its ends, so that it never holds a whole message or file.
const KEPT: usize = 8192;

impl Sentence {
    /// Whether it quotes a pattern.
    pub fn has_pattern(&self) -> bool {
        self.0.contains(PATTERN_BEGINS)
    }

    /// From text whose values were made with `value` and `name`.
    pub fn new(text: impl Into<String>) -> Sentence {
        Sentence(text.into())
    }

    /// The sentence after the beginning of another one.
    pub fn after(mut self, beginning: &str) -> Sentence {
        self.0.insert_str(0, beginning);
        self
    }

    /// With its values uncut.
    #[must_use]
    pub fn whole(&self) -> String {
        self.0.replace(SIGNS, "")
    }

    /// The parts between values, and the values with the columns they may take.
    fn parts(&self) -> impl Iterator<Item = (&str, Option<usize>)> {
        let mut rest = self.0.as_str();
        let mut width = None;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let end = rest.find([VALUE_BEGINS, NAME_BEGINS, PATTERN_BEGINS, ENDS]);
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            let mut after = after.chars();
            let own = width;
            width = match after.next() {
                Some(VALUE_BEGINS) => Some(VALUE),
                Some(NAME_BEGINS) => Some(NAME),
                Some(PATTERN_BEGINS) => Some(PATTERN),
                _ => None,
            };
            rest = after.as_str();
            Some((part, own))
        })
    }
}

impl Serialize for Sentence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<(&str, usize)> =
            self.parts().filter_map(|(part, width)| Some((part, width?))).collect();
        self.parts().try_for_each(|(part, width)| match width {
            Some(width) => f.write_str(&cut(part, width, &values)),
            None => f.write_str(part),
        })
    }
}

/// A recorded value as compact JSON.
pub fn value(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let text = Value::String(kept(text).into_owned()).to_string();
            let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&text);
            format!("\"{}\"", held(VALUE_BEGINS, inside))
        }
        other => held(VALUE_BEGINS, &kept(&other.to_string())),
    }
}

/// A text with a relevant part, in bytes of it: cut, it begins shortly before that part.
pub fn excerpt(text: &str, found: Option<&Range<usize>>) -> String {
    let json = |text: &str| {
        let json = Value::String(text.to_owned()).to_string();
        let inside = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or(&json);
        clean::show(inside, Marks::Unicode).text()
    };
    let (before, after) = found.and_then(|found| text.split_at_checked(found.start)).unwrap_or(("", text));
    format!("\"{VALUE_BEGINS}{}{FOUND}{}{ENDS}\"", json(&kept(before)), json(&kept(after)))
}

/// A name or a path from a recording or a policy.
pub fn name(name: &str) -> Cow<'_, str> {
    if is_plain(name, NAME) { name.into() } else { held(NAME_BEGINS, &kept(name)).into() }
}

/// A regular expression of a policy. It is marked even if it is shown in full: see [`Sentence::has_pattern`].
pub fn pattern(pattern: &str) -> String {
    held(PATTERN_BEGINS, &kept(pattern))
}

fn is_plain(text: &str, width: usize) -> bool {
    text.len() <= width && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// A path as a field's name if possible: `$.order_id` is `order_id`.
pub fn field(path: &str) -> Cow<'_, str> {
    name(path.strip_prefix("$.").unwrap_or(path))
}

fn held(begins: char, text: &str) -> String {
    format!("{begins}{}{ENDS}", clean::show(text, Marks::Unicode).text())
}

/// Both ends of a text that is very long.
fn kept(text: &str) -> Cow<'_, str> {
    if text.len() <= 2 * KEPT {
        return text.into();
    }
    let head = text.char_indices().nth(KEPT).and_then(|(at, _)| text.get(..at));
    let tail = text.char_indices().nth_back(KEPT - 1).and_then(|(at, _)| text.get(at..));
    match (head, tail) {
        (Some(head), Some(tail)) if head.len() + tail.len() < text.len() => format!("{head}…{tail}").into(),
        _ => text.into(),
    }
}

/// A value in at most `width` columns: its ends, or if another value has the same ends, the part that differs.
fn cut(text: &str, width: usize, values: &[(&str, usize)]) -> String {
    if let Some((before, after)) = text.split_once(FOUND) {
        let skipped = before.char_indices().nth_back(BEFORE - 1).map_or(0, |(at, _)| at);
        let mark = if skipped > 0 { "…" } else { "" };
        let shown = format!("{mark}{}{after}", before.get(skipped..).unwrap_or_default());
        return clean::fit(&shown, width, Marks::Unicode).text();
    }
    let ends = |text: &str| clean::ends(text, width, Marks::Unicode).text();
    let own = ends(text);
    if own == text {
        return own;
    }
    let alike = values.iter().filter(|(other, _)| *other != text && ends(other) == own);
    let common = |other: &str| text.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let Some(differs) = alike.map(|(other, _)| common(other)).min() else { return own };
    // A few letters before the first that differs, and as many after it as fit.
    let from = text.char_indices().nth(differs.saturating_sub(width / 3)).map_or(0, |(at, _)| at);
    let behind = text.get(from..).unwrap_or_default();
    format!("…{}", clean::fit(behind, width.saturating_sub(1), Marks::Unicode).text())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn two(a: &str, b: &str) -> String {
        let value = |text: &str| value(&Value::String(text.to_owned()));
        Sentence::new(format!("read {}, not {}", value(a), value(b))).to_string()
    }

    #[test]
    fn two_long_values_are_cut_so_that_they_differ() {
        let path = |file: &str| format!("/home/someone/projects/agents/spotter-deployment/lib/live/{file}");
        assert_eq!(
            two(&path("index.ex"), &path("show.ex")),
            r#"read "/home/someone/projects/…oyment/lib/live/index.ex", not "/home/someone/projects/…loyment/lib/live/show.ex""#
        );
        let middle = |word: &str| format!("{}{word}{}", "a".repeat(90), "z".repeat(90));
        assert_eq!(
            two(&middle("one"), &middle("two")),
            r#"read "…aaaaaaaaaaaaaaaaonezzzzzzzzzzzzzzzzzzzzzzzzzzz…", not "…aaaaaaaaaaaaaaaatwozzzzzzzzzzzzzzzzzzzzzzzzzzz…""#
        );
        assert_eq!(two("short", "other"), r#"read "short", not "other""#);
    }

    #[test]
    fn a_whole_sentence_has_its_values_uncut_and_clean() {
        let long = format!("{}\u{1}\u{3}\u{202e}", "x".repeat(500));
        let sentence = Sentence::new(format!("{} and {}", name(&long), value(&Value::String(long.clone()))));
        let shown = "x".repeat(500);
        assert_eq!(sentence.whole(), format!(r#"{shown}␁␃⟨U+202E⟩ and "{shown}\u0001\u0003⟨U+202E⟩""#));
        assert!(!sentence.to_string().chars().any(char::is_control));
    }

    proptest! {
        #[test]
        fn what_differs_stays_different(head in "[a-c]{0,150}", tail in "[a-c]{0,150}", a in "[d-f]{1,3}", b in "[g-i]{1,3}") {
            let said = two(&format!("{head}{a}{tail}"), &format!("{head}{b}{tail}"));
            let (first, second) = said.strip_prefix("read ").unwrap().split_once(", not ").unwrap();
            prop_assert_ne!(first, second);
            prop_assert!(first.chars().count() <= VALUE + 2 && second.chars().count() <= VALUE + 2);
        }

        #[test]
        fn nothing_hidden_is_displayed(a in any::<String>(), b in "[\u{1}\u{2}\u{3}a-z\"]{0,80}") {
            let sentence = Sentence::new(format!("{} {} {}", name(&a), name(&b), value(&Value::String(b.clone()))));
            prop_assert!(!sentence.to_string().chars().any(char::is_control));
            prop_assert!(!sentence.whole().chars().any(char::is_control));
        }
    }
}
