//! The part of a record that a journal's index keeps: everything about the event, and the places of long bodies.
//!
//! An outline is text, so that names and short bodies are read as they are: a letter for the kind of record, the bytes
//! of its line, the bytes of its fields, and these. A number is written in digits of six bits, the lowest first, each
//! but the last with the bit 0x40; a text is its length and itself.

use std::borrow::Cow;

use rulestep_base::checksum::Checksum;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::members::Members;
use rulestep_base::session::body::unescaped;
use rulestep_base::session::{Body, Form, Millis};
use rulestep_recording::known::{has_half, instant, outcome};

/// A body of this many bytes takes more room than its place.
const LONG: usize = 256;
/// Longer lines are left to the reader of the journal, which reports those that are too long.
const LONGEST: usize = (64 << 20) - 1;

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The journal begins; kept as its line.
    Opened,
    /// The model answers again.
    Turn,
    /// A message.
    Said,
    /// A call.
    Proposed,
    /// The outcome of a call.
    Resolved,
    /// The agent ended the session.
    Closed,
    /// A line that was cut off when its writer was stopped, or the mark that follows it.
    Skipped,
}

impl Kind {
    const ALL: [(Kind, char); 7] = [
        (Kind::Opened, 'o'),
        (Kind::Turn, 't'),
        (Kind::Said, 's'),
        (Kind::Proposed, 'p'),
        (Kind::Resolved, 'r'),
        (Kind::Closed, 'c'),
        (Kind::Skipped, 'x'),
    ];

    /// The kind of this letter.
    pub fn of(letter: char) -> Option<Kind> {
        Kind::ALL.iter().find(|(_, own)| *own == letter).map(|(kind, _)| *kind)
    }

    fn letter(self) -> char {
        Kind::ALL.iter().find(|(kind, _)| *kind == self).map_or('o', |(_, letter)| *letter)
    }
}

/// Which bodies are kept whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// All: their lines are in no journal yet.
    All,
    /// Short ones; of the others their places in the line.
    Short,
}

/// The outlines of whole lines of a journal; `first`: they are at its beginning. `None` if one is not in the form of
/// records: then only the journal itself has its meaning.
pub fn outlines(lines: &[u8], first: bool, keep: Keep) -> Option<String> {
    let (mut outlines, mut fields) = (String::new(), String::new());
    let (mut lines, mut begins) = (std::str::from_utf8(lines).ok()?.split_inclusive('\n').peekable(), first);
    let mut skips = false;
    while let Some(line) = lines.next() {
        let record = line.strip_suffix('\n')?;
        fields.clear();
        let marked = lines.peek().is_some_and(|next| next.strip_suffix('\n') == Some(REPAIRED));
        let kind = if std::mem::take(&mut skips) {
            Kind::Skipped
        } else if marked && !begins && is_cut_off(record) {
            skips = true;
            Kind::Skipped
        } else {
            outline(record, begins, keep, &mut fields)?
        };
        begins = false;
        outlines.push(kind.letter());
        number(line.len() as u64, &mut outlines);
        text(&fields, &mut outlines);
    }
    Some(outlines)
}

/// The mark after a line that is cut off.
const REPAIRED: &str = r#"{"record":"repaired"}"#;

/// Whether a line is the beginning of a record and no record.
fn is_cut_off(line: &str) -> bool {
    line.len() <= LONGEST && line.starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_err()
}

/// Writes the fields of a record's outline; returns its kind.
fn outline(line: &str, begins: bool, keep: Keep, out: &mut String) -> Option<Kind> {
    if line.len() > LONGEST {
        return None;
    }
    let Members(members): Members<'_, &str> = serde_json::from_str(line).ok()?;
    let record = Line { line, members: &members, keep };
    let kind = record.text("record")?;
    if begins != (kind == "opened") {
        return None;
    }
    let at = record.at()?;
    // Halves of surrogate pairs are corrected, and reported, wherever they are.
    if has_half(line) {
        return None;
    }
    if begins {
        text(line, out);
        return Some(Kind::Opened);
    }
    match &*kind {
        "turn" => {
            number(record.get("transcript").map_or(Some(0), |bytes| bytes.get().parse().ok())?, out);
            instant_or_none(at, out);
            Some(Kind::Turn)
        }
        "said" => {
            text(&record.text("role")?, out);
            instant_or_none(at, out);
            record.body("content", out);
            Some(Kind::Said)
        }
        "proposed" => {
            text(&record.text("id")?, out);
            text(&record.text("tool")?, out);
            instant_or_none(at, out);
            record.body("arguments", out);
            let runs = record.get("runs").map(RawValue::get);
            if !matches!(runs, None | Some("true" | "false")) {
                return None;
            }
            number(u64::from(runs == Some("false")), out);
            if runs == Some("false") {
                record.body("told", out);
            }
            match record.get("cwd") {
                None => text("", out),
                Some(_) => text(&record.text("cwd")?, out),
            }
            Some(Kind::Proposed)
        }
        "resolved" => {
            text(&record.text("id")?, out);
            let outcome = outcome(&record.text("outcome")?)?;
            text(outcome.word(), out);
            instant_or_none(at, out);
            record.body("output", out);
            Some(Kind::Resolved)
        }
        "closed" => {
            instant_or_none(at, out);
            Some(Kind::Closed)
        }
        _ => None,
    }
}

/// A line that is a record.
struct Line<'a> {
    line: &'a str,
    members: &'a [(&'a str, &'a RawValue)],
    keep: Keep,
}

impl<'a> Line<'a> {
    /// A member that is not null.
    fn get(&self, name: &str) -> Option<&'a RawValue> {
        let member = self.members.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
        member.filter(|value| value.get() != "null")
    }

    fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        unescaped(self.get(name)?.get())
    }

    /// When it was; `None`: that cannot be read.
    fn at(&self) -> Option<Option<Millis>> {
        self.get("at").map_or(Some(None), |at| instant(at.get()).map(Some))
    }

    fn body(&self, name: &str, out: &mut String) {
        let Some(value) = self.get(name).map(RawValue::get) else { return out.push('n') };
        let form = if self.keep == Keep::All { None } else { kept_form(name, value) };
        let Some(form) = form else {
            out.push('w');
            return text(value, out);
        };
        out.push(if form == Form::Text { 't' } else { 'j' });
        number((value.as_ptr() as usize - self.line.as_ptr() as usize) as u64, out);
        number(value.len() as u64, out);
        number(Checksum::oneshot(value.as_bytes()), out);
    }
}

/// The form of a body that its place is kept of: nothing about it shows before a rule looks at it.
fn kept_form(name: &str, value: &str) -> Option<Form> {
    if value.len() < LONG {
        return None;
    }
    let body = Body::json(value);
    let shows = name == "arguments"
        && (body.undecidable().is_some() || body.fault().is_some() || body.not_arguments().is_some());
    body.form().filter(|_| !shows)
}

fn number(mut number: u64, out: &mut String) {
    loop {
        let digit = (number & 0x3f) as u8;
        number >>= 6;
        let more = if number > 0 { 0x40 } else { 0 };
        out.push(char::from(digit | more));
        if number == 0 {
            return;
        }
    }
}

fn text(text: &str, out: &mut String) {
    number(text.len() as u64, out);
    out.push_str(text);
}

fn instant_or_none(at: Option<Millis>, out: &mut String) {
    match at {
        None => out.push('n'),
        Some(at) => {
            out.push(if at < 0 { '-' } else { '+' });
            number(at.unsigned_abs(), out);
        }
    }
}
