//! Lists.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::arguments::{argument, items, list, text, text_argument};
use super::string::advance;
use crate::liquid::js;
use crate::liquid::render::Render;
use crate::liquid::tags::span;
use crate::liquid::text::{Text, lower, points, units};
use crate::liquid::tree::Filter;
use crate::liquid::unevaluable::{Outcome, Unevaluable};
use crate::liquid::value::{self, Value};

pub(super) const TABLE: &[(&str, Filter)] = &[
    ("join", join),
    ("first", |run, value, _| end(run, value, 0.0)),
    (
        "last",
        |run, value, given| if given.is_empty() { end(run, value, -1.0) } else { newest(run, value, given) },
    ),
    ("reverse", |run, value, _| {
        let mut items = items(run, &value)?;
        items.reverse();
        list(run, items)
    }),
    ("size", size),
    ("sort", |run, value, given| sort(run, &value, given, false)),
    ("sort_natural", |run, value, given| sort(run, &value, given, true)),
    ("map", map),
    ("sum", sum),
    ("compact", |run, value, _| {
        let mut items = items(run, &value)?;
        items.retain(|item| !item.is_nil() && !matches!(item, Value::Nil));
        list(run, items)
    }),
    ("concat", |run, value, given| {
        let mut all = items(run, &value)?;
        all.extend(items(run, argument(given, 0))?);
        list(run, all)
    }),
    ("push", |run, value, given| {
        let mut items = items(run, &value)?;
        items.push(argument(given, 0).clone());
        list(run, items)
    }),
    ("unshift", |run, value, given| {
        let mut items = items(run, &value)?;
        items.insert(0, argument(given, 0).clone());
        list(run, items)
    }),
    ("pop", |run, value, _| {
        let mut items = items(run, &value)?;
        items.pop();
        list(run, items)
    }),
    ("shift", |run, value, _| {
        let items = items(run, &value)?;
        list(run, items.into_iter().skip(1).collect())
    }),
    ("slice", slice),
    ("uniq", |run, value, _| {
        let mut seen = HashSet::new();
        let mut kept = Vec::new();
        for item in items(run, &value)? {
            if seen.insert(js::identity(&item, &mut run.meter)?) {
                kept.push(item);
            }
        }
        list(run, kept)
    }),
];

fn join(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let items = items(run, &value)?;
    let separator = match argument(given, 0) {
        Value::Undefined | Value::Null | Value::Nil => units(" "),
        separator => text(run, separator)?,
    };
    Ok(Value::Text(js::join(&items, &separator, &mut run.meter)?))
}

/// The element at one end; nothing for what has no length.
fn end(run: &mut Render<'_>, value: Value, place: f64) -> Outcome<Value> {
    Ok(match value.plain(&mut run.meter)? {
        Value::List(list) => value::element(list.items(), place),
        Value::Text(text) => {
            let unit = if place < 0.0 { text.last() } else { text.first() };
            unit.map_or_else(|| Value::text(""), |&unit| Value::Text([unit].into()))
        }
        Value::Object(object) => match object.get(&units("length")) {
            Some(Value::Number(length)) => {
                let place = Value::Number(if place < 0.0 { length + place } else { place });
                let key = js::key(&place, &mut run.meter)?;
                object.get(&key).cloned().unwrap_or(Value::Undefined)
            }
            _ => Value::text(""),
        },
        _ => Value::text(""),
    })
}

/// The newest items in order: the one departure from LiquidJS, which takes the argument for nothing.
fn newest(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let count = match argument(given, 0) {
        Value::Number(count) => js::whole(*count),
        Value::Text(text) if !text.is_empty() => js::whole(js::parse_number(text)),
        _ => None,
    };
    let is_list = matches!(value, Value::List(_) | Value::Undefined | Value::Null | Value::Nil);
    let Some(count) = count.filter(|_| is_list) else {
        return Err(Unevaluable::Unsupported {
            what: "`last` with an argument, unless it asks for the newest of a list".to_owned(),
        });
    };
    let items = items(run, &value)?;
    let skipped = items.len().saturating_sub(count);
    list(run, items.into_iter().skip(skipped).collect())
}

fn size(run: &mut Render<'_>, value: Value, _: &[Value]) -> Outcome<Value> {
    let size = match &value {
        Value::Undefined | Value::Null => Value::Undefined,
        other => value::property(other, &Value::text("length"), &mut run.meter)?,
    };
    Ok(if js::is_truthy(&size) { size } else { Value::Number(0.0) })
}

/// Reads a dotted path from an item; each part is a plain key.
fn dotted(run: &mut Render<'_>, item: &Value, path: &[u16]) -> Outcome<Value> {
    let mut value = item.clone();
    for key in path.split(|&unit| unit == 46) {
        run.meter.step(key.len())?;
        value = value::property(&value, &Value::Text(key.into()), &mut run.meter)?;
    }
    Ok(value)
}

fn map(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let path = text_argument(run, given, 0)?;
    let items = items(run, &value)?;
    let mapped = items.iter().map(|item| dotted(run, item, &path)).collect::<Outcome<_>>()?;
    list(run, mapped)
}

fn sum(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let path = optional_path(run, given)?;
    let mut sum = 0.0;
    for item in items(run, &value)? {
        let item = path.as_ref().map_or_else(|| Ok(item.clone()), |path| dotted(run, &item, path))?;
        let number = js::number(&item, &mut run.meter)?;
        sum += if number.is_nan() { 0.0 } else { number };
    }
    Ok(Value::Number(sum))
}

fn optional_path(run: &mut Render<'_>, given: &[Value]) -> Outcome<Option<Text>> {
    if js::is_truthy(argument(given, 0)) { text_argument(run, given, 0).map(Some) } else { Ok(None) }
}

fn slice(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let value = value.plain(&mut run.meter)?;
    if value.is_nil() {
        return list(run, Vec::new());
    }
    let one = Value::Number(1.0);
    let length = match argument(given, 1) {
        Value::Undefined => &one,
        length => length,
    };
    let zero = Value::Number(0.0);
    let is_negative =
        |run: &mut Render<'_>, value: &Value| Ok(js::less(value, &zero, &mut run.meter)?.unwrap_or(false));
    let text = if matches!(value, Value::List(_)) { None } else { Some(text(run, &value)?) };
    let mut begin = argument(given, 0).clone();
    if is_negative(run, &begin)? {
        let total = match (&value, &text) {
            (_, Some(text)) => points(text).count(),
            (Value::List(list), None) => list.items().len(),
            _ => 0,
        };
        begin = js::add(&Value::Number(js::count(total)), &begin, &mut run.meter)?;
    }
    let is_nothing = is_negative(run, &begin)? || is_negative(run, length)?;
    match (&value, text) {
        (Value::List(_), None) if is_nothing => list(run, Vec::new()),
        (Value::List(items), _) => {
            let end = js::add(&begin, length, &mut run.meter)?;
            let (from, to) = span(items.items().len(), &begin, &end, &mut run.meter)?;
            list(run, items.items().get(from..to).unwrap_or_default().to_vec())
        }
        (_, Some(_)) if is_nothing => Ok(Value::text("")),
        (_, text) => {
            let text = text.unwrap_or_else(|| units(""));
            let from = advance(&text, 0, js::number(&begin, &mut run.meter)?);
            let to = advance(&text, from, js::number(length, &mut run.meter)?);
            run.meter.text(to - from)?;
            Ok(Value::Text(text.get(from..to).unwrap_or_default().into()))
        }
    }
}

/// Sorts by value or by a dotted path. Nil comes last.
fn sort(run: &mut Render<'_>, value: &Value, given: &[Value], natural: bool) -> Outcome<Value> {
    let path = optional_path(run, given)?;
    let mut rows = Vec::new();
    for item in items(run, value)? {
        let key = path.as_ref().map_or_else(|| Ok(item.clone()), |path| dotted(run, &item, path))?;
        rows.push((item, if key.is_nil() { None } else { Some(key) }));
    }
    // A single one is compared with nothing, and so never converted.
    if rows.iter().filter(|(_, key)| key.is_some()).count() > 1 {
        for key in rows.iter_mut().filter_map(|(_, key)| key.as_mut()) {
            *key = if natural {
                let text = js::string(key, &mut run.meter)?;
                run.meter.text(text.len())?;
                Value::Text(lower(&text))
            } else {
                js::primitive(key, &mut run.meter)?
            };
        }
    }
    // Rough, but not below what a comparison sort takes.
    let length: usize =
        rows.iter().map(|(_, key)| if let Some(Value::Text(text)) = key { text.len() } else { 1 }).sum();
    let rounds = usize::try_from(rows.len().max(1).ilog2()).unwrap_or(usize::MAX) + 1;
    run.meter.step(length.saturating_mul(rounds))?;

    let all = |kind: fn(&Value) -> bool| rows.iter().filter_map(|(_, key)| key.as_ref()).all(kind);
    let is_ordered = all(|key| matches!(key, Value::Text(_)))
        || all(|key| {
            matches!(key, Value::Bool(_)) || matches!(key, Value::Number(number) if !number.is_nan())
        });
    if is_ordered {
        rows.sort_by(|(_, a), (_, b)| order(a, b));
    } else if rows.len() < 64 {
        run.meter.step(rows.len() * rows.len())?;
        insertion_sort(&mut rows, |(_, a), (_, b)| order(a, b));
    } else {
        // The result depends on the inner workings of the engine's merge sort.
        return Err(Unevaluable::Unsupported {
            what: "sorting 64 or more values that have no common order".to_owned(),
        });
    }
    list(run, rows.into_iter().map(|(item, _)| item).collect())
}

fn order(a: &Option<Value>, b: &Option<Value>) -> Ordering {
    match (a, b) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(Value::Text(a)), Some(Value::Text(b))) => a.cmp(b),
        (Some(a), Some(b)) => number(a).partial_cmp(&number(b)).unwrap_or(Ordering::Equal),
    }
}

/// The number of a primitive.
fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => *number,
        Value::Bool(truth) => f64::from(u8::from(*truth)),
        Value::Text(text) => js::parse_number(text),
        Value::Null => 0.0,
        _ => f64::NAN,
    }
}

/// How JavaScript engines sort fewer than 64 items: the run at the beginning (reversed if it falls) stays, every
/// further item is inserted by bisection. With an inconsistent order the result depends on exactly these comparisons.
fn insertion_sort<T>(rows: &mut [T], order: impl Fn(&T, &T) -> Ordering) {
    let falls = |rows: &[T], at: usize| match (rows.get(at - 1), rows.get(at)) {
        (Some(before), Some(after)) => order(after, before).is_lt(),
        _ => false,
    };
    if rows.len() < 2 {
        return;
    }
    let falling = falls(rows, 1);
    let mut sorted = 2;
    while sorted < rows.len() && falls(rows, sorted) == falling {
        sorted += 1;
    }
    if falling && let Some(run) = rows.get_mut(..sorted) {
        run.reverse();
    }
    for at in sorted..rows.len() {
        let (mut left, mut right) = (0, at);
        while left < right {
            let middle = left + (right - left) / 2;
            match (rows.get(at), rows.get(middle)) {
                (Some(pivot), Some(other)) if order(pivot, other).is_lt() => right = middle,
                _ => left = middle + 1,
            }
        }
        if let Some(part) = rows.get_mut(left..=at) {
            part.rotate_right(1);
        }
    }
}
