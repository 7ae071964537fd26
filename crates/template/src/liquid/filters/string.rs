//! Text. Lengths and positions count UTF-16 units, or code points where LiquidJS counts those.

use std::collections::HashSet;

use super::arguments::{argument, items, list, made, text, text_argument};
use crate::liquid::js;
use crate::liquid::render::Render;
use crate::liquid::tags::span;
use crate::liquid::text::{self as unit, Text, is_space, points};
use crate::liquid::tree::Filter;
use crate::liquid::unevaluable::Outcome;
use crate::liquid::value::Value;

pub(super) const TABLE: &[(&str, Filter)] = &[
    ("append", |run, value, given| joined(run, &value, given, false)),
    ("prepend", |run, value, given| joined(run, &value, given, true)),
    ("downcase", |run, value, _| {
        let text = text(run, &value)?;
        made(run, unit::lower(&text))
    }),
    ("upcase", |run, value, _| {
        let text = text(run, &value)?;
        made(run, unit::upper(&text))
    }),
    ("capitalize", capitalize),
    ("strip", |run, value, given| strip(run, &value, given, true, true)),
    ("lstrip", |run, value, given| strip(run, &value, given, true, false)),
    ("rstrip", |run, value, given| strip(run, &value, given, false, true)),
    ("squish", |run, value, _| {
        let text = text(run, &value)?;
        let single = single_spaces(&text);
        made(run, unit::trim(&single))
    }),
    ("normalize_whitespace", |run, value, _| {
        let text = text(run, &value)?;
        made(run, single_spaces(&text))
    }),
    ("split", split),
    ("remove", |run, value, given| replace_all(run, &value, given, false)),
    ("replace", |run, value, given| replace_all(run, &value, given, true)),
    ("remove_first", |run, value, given| replace_one(run, &value, given, false, unit::find)),
    ("replace_first", |run, value, given| replace_one(run, &value, given, true, unit::find)),
    ("remove_last", |run, value, given| replace_one(run, &value, given, false, unit::rfind)),
    ("replace_last", |run, value, given| replace_one(run, &value, given, true, unit::rfind)),
    ("truncate", truncate),
    ("truncatewords", truncatewords),
    ("number_of_words", number_of_words),
    ("array_to_sentence_string", sentence),
];

fn joined(run: &mut Render<'_>, value: &Value, given: &[Value], before: bool) -> Outcome<Value> {
    let [other] = given else {
        return Err(js::failed("`append` and `prepend` take exactly one argument"));
    };
    let (text, other) = (text(run, value)?, text(run, other)?);
    run.meter.text(text.len() + other.len())?;
    let joined = if before { [&*other, &*text].concat() } else { [&*text, &*other].concat() };
    Ok(Value::Text(joined.into()))
}

/// The first unit in upper case, the rest in lower case.
fn capitalize(run: &mut Render<'_>, value: Value, _: &[Value]) -> Outcome<Value> {
    let text = text(run, &value)?;
    let (first, rest) = text.split_at(text.len().min(1));
    made(run, [&*unit::upper(first), &*unit::lower(rest)].concat())
}

/// Takes white space off, or the characters that the argument holds.
fn strip(run: &mut Render<'_>, value: &Value, given: &[Value], start: bool, end: bool) -> Outcome<Value> {
    let text = text(run, value)?;
    let chars = argument(given, 0);
    if !js::is_truthy(chars) {
        let mut rest = &*text;
        if start {
            rest = unit::trim_start(rest);
        }
        if end {
            rest = unit::trim_end(rest);
        }
        return made(run, rest);
    }
    let chars = text_argument(run, given, 0)?;
    let chars: HashSet<&[u16]> = points(&chars).collect();
    let mut rest = &*text;
    if start {
        let from: usize = points(rest).take_while(|point| chars.contains(point)).map(<[u16]>::len).sum();
        rest = rest.get(from..).unwrap_or_default();
    }
    while end && !rest.is_empty() {
        let pair = rest.len().checked_sub(2).is_some_and(|at| unit::width_at(rest, at) == 2);
        let at = rest.len() - if pair { 2 } else { 1 };
        let (before, last) = rest.split_at(at);
        if !chars.contains(last) {
            break;
        }
        rest = before;
    }
    made(run, rest)
}

/// Each run of white space as one space.
fn single_spaces(text: &[u16]) -> Vec<u16> {
    let mut out: Vec<u16> = Vec::with_capacity(text.len());
    let mut in_space = false;
    for &unit in text {
        if !is_space(unit) {
            out.push(unit);
        } else if !in_space {
            out.push(32);
        }
        in_space = is_space(unit);
    }
    out
}

/// The parts between the separators; between all units if the separator is empty. Empty parts at the end are left out.
fn split(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let text = text(run, &value)?;
    let separator = text_argument(run, given, 0)?;
    let mut parts: Vec<&[u16]> = parts(&text, &separator);
    while parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    run.meter.text(text.len())?;
    run.meter.entries(parts.len())?;
    list(run, parts.into_iter().map(|part| Value::Text(part.into())).collect())
}

fn parts<'t>(text: &'t [u16], separator: &[u16]) -> Vec<&'t [u16]> {
    if separator.is_empty() {
        return text.chunks(1).collect();
    }
    let mut parts = Vec::new();
    let mut from = 0;
    for at in unit::occurrences(text, separator) {
        parts.push(text.get(from..at).unwrap_or_default());
        from = at + separator.len();
    }
    parts.push(text.get(from..).unwrap_or_default());
    parts
}

fn replace_all(run: &mut Render<'_>, value: &Value, given: &[Value], with: bool) -> Outcome<Value> {
    let text = text(run, value)?;
    let pattern = text_argument(run, given, 0)?;
    let replacement = if with { text_argument(run, given, 1)? } else { unit::units("") };
    let parts = parts(&text, &pattern);
    let gaps = parts.len().saturating_sub(1);
    run.meter.text(text.len() - gaps * pattern.len() + gaps.saturating_mul(replacement.len()))?;
    Ok(Value::Text(parts.join(&*replacement).into()))
}

type Search = fn(&[u16], &[u16]) -> Option<usize>;

fn replace_one(
    run: &mut Render<'_>,
    value: &Value,
    given: &[Value],
    with: bool,
    search: Search,
) -> Outcome<Value> {
    let text = text(run, value)?;
    let pattern = text_argument(run, given, 0)?;
    let replacement = if with { text_argument(run, given, 1)? } else { unit::units("") };
    let Some(at) = search(&text, &pattern) else { return Ok(Value::Text(text)) };
    let (before, rest) = text.split_at(at);
    let after = rest.get(pattern.len()..).unwrap_or_default();
    run.meter.text(text.len() + replacement.len())?;
    Ok(Value::Text([before, &replacement, after].concat().into()))
}

/// Cuts to this many code points, those of the ending included. What is short enough stays as it is.
fn truncate(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let text = text(run, &value)?;
    let length = js::number(or(argument(given, 0), &Value::Number(50.0)), &mut run.meter)?;
    let ending = ending(run, given)?;
    if js::count(text.len()) <= length || advance(&text, 0, length) >= text.len() {
        return Ok(value);
    }
    let room = length - js::count(points(&ending).count());
    let kept = text.get(..advance(&text, 0, room)).unwrap_or_default();
    made(run, [kept, &ending].concat())
}

/// Cuts to this many words; the ending comes already at exactly that many.
fn truncatewords(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let text = text(run, &value)?;
    let wanted = or(argument(given, 0), &Value::Number(15.0)).clone();
    let ending = ending(run, given)?;
    let words = words(unit::trim_start(&text));
    let wanted_number = js::number(&wanted, &mut run.meter)?;
    let (wanted, wanted_number) =
        if wanted_number <= 0.0 { (Value::Number(1.0), 1.0) } else { (wanted, wanted_number) };
    let (_, to) = span(words.len(), &Value::Number(0.0), &wanted, &mut run.meter)?;
    let mut out = words.get(..to).unwrap_or_default().join(&32);
    if js::count(words.len()) >= wanted_number {
        out.extend_from_slice(&ending);
    }
    made(run, out)
}

/// The parts between runs of white space.
fn words(text: &[u16]) -> Vec<&[u16]> {
    let mut words = Vec::new();
    let (mut from, mut in_space) = (0, false);
    for (at, &unit) in text.iter().enumerate() {
        if is_space(unit) {
            if !in_space {
                words.push(text.get(from..at).unwrap_or_default());
            }
            from = at + 1;
        }
        in_space = is_space(unit);
    }
    words.push(text.get(from..).unwrap_or_default());
    words
}

fn ending(run: &mut Render<'_>, given: &[Value]) -> Outcome<Text> {
    match argument(given, 1) {
        Value::Undefined => Ok(unit::units("...")),
        ending => text(run, ending),
    }
}

fn or<'v>(value: &'v Value, default: &'v Value) -> &'v Value {
    if matches!(value, Value::Undefined) { default } else { value }
}

/// The place `count` code points after `from` (a fraction counts as one more).
pub(super) fn advance(text: &[u16], from: usize, count: f64) -> usize {
    let mut at = from;
    let mut gone = 0.0;
    while gone < count && at < text.len() {
        at += unit::width_at(text, at);
        gone += 1.0;
    }
    at
}

fn number_of_words(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let text = text(run, &value)?;
    let text = unit::trim(&text);
    if text.is_empty() {
        return Ok(Value::Number(0.0));
    }
    let mode = argument(given, 0);
    let mode_is = |name: &str| matches!(mode, Value::Text(mode) if unit::is(mode, name));
    let ideographs = text.iter().filter(|unit| is_ideograph(**unit)).count();
    let count = if mode_is("cjk") || (mode_is("auto") && ideographs > 0) {
        let breaks = |unit: &u16| is_ideograph(*unit) || is_space(*unit);
        ideographs + text.split(breaks).filter(|run| !run.is_empty()).count()
    } else {
        words(text).len()
    };
    Ok(Value::Number(js::count(count)))
}

/// Han, kana and Hangul of the basic plane: each counts as a word.
fn is_ideograph(unit: u16) -> bool {
    matches!(unit, 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x3400..=0x4dbf | 0x3040..=0x30ff | 0xac00..=0xd7af)
}

/// `a`, `a and b`, `a, b, and c`.
fn sentence(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let items = items(run, &value)?;
    let connector = match argument(given, 0) {
        Value::Undefined => unit::units("and"),
        connector => text(run, connector)?,
    };
    let space: &[u16] = &[32];
    match items.as_slice() {
        [] => Ok(Value::text("")),
        [only] => js::stringify(only, &mut run.meter).map(|_| only.clone()),
        [first, last] => {
            let (first, last) = (js::string(first, &mut run.meter)?, js::string(last, &mut run.meter)?);
            made(run, [&*first, space, &connector, space, &last].concat())
        }
        [before @ .., last] => {
            let before = js::join(before, &[44, 32], &mut run.meter)?;
            let last = js::string(last, &mut run.meter)?;
            made(run, [&*before, &[44, 32], &connector, space, &last].concat())
        }
    }
}
