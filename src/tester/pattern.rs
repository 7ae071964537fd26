//! Regular expressions, tried on the texts that rules search.

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::answer::{Answer, LONGEST, MOST, Part, State, Subject, beginning};
use rulestep_base::source::floor_boundary;
use rulestep_base::wording::{count, thousands};
use rulestep_template::js_regex;

/// A text to be searched, and its name.
type Searched = (String, String);

/// As rejection plans search a message.
pub fn javascript(expression: &str, subject: &Subject) -> Answer {
    let regex = match js_regex::compile(expression) {
        Ok(regex) => regex,
        Err(error) => {
            use js_regex::BadPattern::{Syntax, TooLarge, Unsupported};
            let at = match &error {
                Syntax { offset, .. } | Unsupported { offset, .. } => Some(*offset),
                TooLarge { .. } => None,
            };
            return Answer::refused(error.to_string(), at);
        }
    };
    let Some(text) = subject.body.said() else {
        return Answer::refused("this is neither text nor a list of parts".to_owned(), None);
    };
    match regex.find_all(text, js_regex::DEFAULT_BUDGET, MOST) {
        Ok(found) => {
            let found = byte_ranges(text, &found);
            let all = found.len();
            listed(all, false, lines(&(String::new(), text.to_owned()), &found))
        }
        Err(_) => {
            let steps = thousands(js_regex::DEFAULT_BUDGET);
            let sentence =
                format!("the search was given up after {steps} steps; a rule would take it for a match");
            Answer::new(State::Unsure, sentence, Vec::new())
        }
    }
}

/// The same ranges in bytes, in one pass: they are in order.
fn byte_ranges(text: &str, found: &[Range<usize>]) -> Vec<Range<usize>> {
    let (mut at, mut bytes) = (0, 0);
    let ranges = found.iter().map(|units| {
        let rest = text.get(bytes..).unwrap_or_default();
        let one = js_regex::byte_range(rest, units.start.saturating_sub(at)..units.end.saturating_sub(at));
        let one = bytes + one.start..bytes + one.end;
        at += rest.get(..one.start - bytes).unwrap_or_default().encode_utf16().count();
        bytes = one.start;
        one
    });
    ranges.collect()
}

/// Bytes that the search may go through with a pattern that compiles to this many bytes at the most: the worst case is
/// their product.
const COSTS: [(usize, usize); 3] = [(1 << 16, 4_000_000), (1 << 20, 200_000), (usize::MAX, 10_000)];

/// As sequence rules search arguments; for other bodies, the whole text.
pub fn rust(expression: &str, subject: &Subject) -> Answer {
    let regex = match Regex::new(expression) {
        Ok(regex) => regex,
        Err(error) => return refused(expression, &error),
    };
    let fits = |size: usize| RegexBuilder::new(expression).size_limit(size).build().is_ok();
    let cost = COSTS.into_iter().find(|(size, _)| *size == usize::MAX || fits(*size));
    let mut left = cost.map_or(0, |(_, bytes)| bytes);
    let (mut all, mut cut, mut parts) = (0, false, Vec::new());
    for searched in texts(subject) {
        let text = searched.1.as_str();
        let searchable = text.get(..floor_boundary(text, left)).unwrap_or_default();
        cut |= searchable.len() < text.len();
        let mut found = Vec::new();
        let mut places = regex.find_iter(searchable);
        while all < MOST {
            let from = found.last().map_or(0, |range: &Range<usize>| range.end);
            let Some(place) = places.next() else { break };
            found.push(place.range());
            all += 1;
            // Each match may have been looked for to the end of the text.
            left = left.saturating_sub(searchable.len() - from);
            if left == 0 {
                cut = true;
                break;
            }
        }
        left = left.saturating_sub(searchable.len());
        parts.extend(lines(&searched, &found));
    }
    listed(all, cut, parts)
}

/// The parser gives the position; errors of the compiler alone have none.
fn refused(expression: &str, error: &regex::Error) -> Answer {
    let (why, at) = match regex_syntax::Parser::new().parse(expression) {
        Err(regex_syntax::Error::Parse(error)) => (error.kind().to_string(), Some(error.span().start.offset)),
        Err(regex_syntax::Error::Translate(error)) => {
            (error.kind().to_string(), Some(error.span().start.offset))
        }
        _ => (error.to_string().lines().last().unwrap_or_default().to_owned(), None),
    };
    Answer::refused(format!("not a regular expression: {why}"), at)
}

/// The texts that `args_match` compares: text as it is, any other argument as compact JSON.
fn texts(subject: &Subject) -> Vec<Searched> {
    match subject.body.parsed() {
        Some(Value::Object(members)) if subject.is_arguments => {
            let text = |value: &Value| match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            members.iter().map(|(name, value)| (name.clone(), text(value))).collect()
        }
        _ => vec![(String::new(), subject.body.shown().to_owned())],
    }
}

fn listed(all: usize, cut: bool, parts: Vec<Part>) -> Answer {
    let found = count(all as u64, "match");
    match (all, cut) {
        (0, false) => Answer::new(State::NoMatch, "no match", parts),
        (0, true) => Answer::new(
            State::Unsure,
            "no match in the beginning; the rest is too long to be searched here",
            parts,
        ),
        (_, true) => Answer::new(
            State::Unsure,
            format!("{found} in the beginning; the rest is too long to be searched here"),
            parts,
        ),
        (MOST, false) => Answer::new(State::Match, format!("the first {found}"), parts),
        (_, false) => Answer::new(State::Match, found, parts),
    }
}

/// The lines of a text that hold a match, or a part of one.
fn lines((name, text): &Searched, found: &[Range<usize>]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let (mut start, mut next) = (0, 0);
    for (number, line) in (1..).zip(text.split('\n')) {
        let end = start + line.len();
        let mut here = Vec::new();
        while let Some(range) = found.get(next).filter(|range| range.start <= end) {
            here.push(range.start.max(start) - start..range.end.min(end) - start);
            if range.end > end {
                break;
            }
            next += 1;
        }
        if !here.is_empty() && parts.len() < MOST {
            parts.push(part(name, number, line, here));
        }
        start = end + 1;
    }
    parts
}

/// A line, from shortly before its first match on.
fn part(name: &str, number: usize, line: &str, mut found: Vec<Range<usize>>) -> Part {
    const BEFORE: usize = 200;
    let label = if name.is_empty() { number.to_string() } else { format!("{name}:{number}") };
    let first = found.first().map_or(0, |range| range.start);
    let from = floor_boundary(line, if first > LONGEST / 2 { first - BEFORE } else { 0 });
    let text = beginning(line.get(from..).unwrap_or_default()).to_owned();
    found
        .iter_mut()
        .for_each(|range| *range = range.start.saturating_sub(from)..range.end.saturating_sub(from));
    found.retain(|range| range.start <= text.len());
    found.iter_mut().for_each(|range| range.end = range.end.min(text.len()));
    Part { label, text, found }
}
