//! JavaScript's conversions and comparisons, as far as the values of templates need them.
//!
//! A conversion that JavaScript refuses (an object that hides `toString`) is [`Unevaluable::Failed`].

use std::sync::Arc;

use super::meter::Meter;
use super::text::{self, Text};
use super::unevaluable::{Outcome, Unevaluable};
use super::value::Value;

/// A length as a number.
pub(super) fn count(length: usize) -> f64 {
    length as f64
}

/// The number as an index, if it is one.
pub(super) fn whole(number: f64) -> Option<usize> {
    (number >= 0.0 && number.fract() == 0.0 && number < 9e15).then_some(number as usize)
}

/// The number without its fraction; NaN is 0.
pub(super) fn integer(number: f64) -> f64 {
    if number.is_nan() { 0.0 } else { number.trunc() }
}

/// Falsy as templates have it: `false`, `null` and `undefined` alone.
pub(super) fn is_falsy(value: &Value) -> bool {
    matches!(value, Value::Bool(false) | Value::Undefined | Value::Null | Value::Nil)
}

/// Truthy as JavaScript has it.
pub(super) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Undefined | Value::Null | Value::Bool(false) => false,
        Value::Number(number) => *number != 0.0 && !number.is_nan(),
        Value::Text(text) => !text.is_empty(),
        _ => true,
    }
}

/// The text of a value in a template's output: nothing for nil, lists without separators.
pub(super) fn stringify(value: &Value, meter: &mut Meter) -> Outcome<Text> {
    match value {
        Value::Text(text) => Ok(Arc::clone(text)),
        Value::Undefined | Value::Null | Value::Nil => Ok(text::units("")),
        Value::List(_) => {
            let mut out = Vec::new();
            write_list(value, &mut out, meter)?;
            Ok(out.into())
        }
        Value::Empty | Value::Blank | Value::Loop(_) => stringify(&value.clone().plain(meter)?, meter),
        other => string(other, meter),
    }
}

fn write_list(value: &Value, out: &mut Vec<u16>, meter: &mut Meter) -> Outcome<()> {
    meter.step(1)?;
    if let Value::List(list) = value {
        return list.items().iter().try_for_each(|item| write_list(item, out, meter));
    }
    let part = stringify(value, meter)?;
    meter.text(part.len())?;
    out.extend_from_slice(&part);
    Ok(())
}

/// `String(value)`: a special value is an object here.
pub(super) fn string(value: &Value, meter: &mut Meter) -> Outcome<Text> {
    Ok(match value {
        Value::Text(text) => Arc::clone(text),
        Value::Undefined => text::units("undefined"),
        Value::Null => text::units("null"),
        Value::Bool(true) => text::units("true"),
        Value::Bool(false) => text::units("false"),
        Value::Number(number) => text::units(&number_text(*number)),
        Value::List(list) => join(list.items(), &[44], meter)?,
        Value::Object(object) if object.get(&text::units("toString")).is_some() => {
            return Err(failed("cannot convert an object with a field `toString` to text"));
        }
        Value::Object(_) | Value::Nil | Value::Empty | Value::Blank | Value::Loop(_) => {
            text::units("[object Object]")
        }
    })
}

/// `array.join(separator)`: nil items are empty, lists inside are joined by commas.
pub(super) fn join(items: &[Value], separator: &[u16], meter: &mut Meter) -> Outcome<Text> {
    let mut out: Vec<u16> = Vec::new();
    for (place, item) in items.iter().enumerate() {
        meter.step(1)?;
        if place > 0 {
            meter.text(separator.len())?;
            out.extend_from_slice(separator);
        }
        if !item.is_nil() {
            let part = string(item, meter)?;
            meter.text(part.len())?;
            out.extend_from_slice(&part);
        }
    }
    Ok(out.into())
}

/// The property key a value names.
pub(super) fn key(value: &Value, meter: &mut Meter) -> Outcome<Text> {
    string(value, meter)
}

/// The primitive that arithmetic and comparisons see.
pub(super) fn primitive(value: &Value, meter: &mut Meter) -> Outcome<Value> {
    match value {
        Value::List(_) | Value::Object(_) => Ok(Value::Text(string(value, meter)?)),
        other => other.clone().plain(meter),
    }
}

/// `+value`.
pub(super) fn number(value: &Value, meter: &mut Meter) -> Outcome<f64> {
    Ok(match primitive(value, meter)? {
        Value::Null | Value::Bool(false) => 0.0,
        Value::Bool(true) => 1.0,
        Value::Number(number) => number,
        Value::Text(text) => {
            meter.step(text.len())?;
            parse_number(&text)
        }
        _ => f64::NAN,
    })
}

/// `a + b`.
pub(super) fn add(a: &Value, b: &Value, meter: &mut Meter) -> Outcome<Value> {
    let (a, b) = (primitive(a, meter)?, primitive(b, meter)?);
    if matches!(a, Value::Text(_)) || matches!(b, Value::Text(_)) {
        let (a, b) = (string(&a, meter)?, string(&b, meter)?);
        meter.text(a.len() + b.len())?;
        return Ok(Value::Text([&*a, &*b].concat().into()));
    }
    Ok(Value::Number(number(&a, meter)? + number(&b, meter)?))
}

/// `a < b`; `None` if one of them is not a number.
pub(super) fn less(a: &Value, b: &Value, meter: &mut Meter) -> Outcome<Option<bool>> {
    Ok(compare(a, b, meter)?.map(std::cmp::Ordering::is_lt))
}

/// The order of two values by JavaScript's `<` and `>`; `None` if neither holds and they are not equal.
pub(super) fn compare(a: &Value, b: &Value, meter: &mut Meter) -> Outcome<Option<std::cmp::Ordering>> {
    let (a, b) = (primitive(a, meter)?, primitive(b, meter)?);
    if let (Value::Text(a), Value::Text(b)) = (&a, &b) {
        meter.step(a.len().min(b.len()))?;
        return Ok(Some(a.cmp(b)));
    }
    Ok(number(&a, meter)?.partial_cmp(&number(&b, meter)?))
}

/// `a === b`.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Undefined, Value::Undefined)
        | (Value::Null, Value::Null)
        | (Value::Nil, Value::Nil)
        | (Value::Empty, Value::Empty)
        | (Value::Blank, Value::Blank) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a == b,
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::List(a), Value::List(b)) => Arc::ptr_eq(a, b),
        (Value::Object(a), Value::Object(b)) => Arc::ptr_eq(a, b),
        (Value::Loop(a), Value::Loop(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

/// The identity of a value as a key of a JavaScript `Map` or `Set`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Identity {
    Kind(u8),
    Number(u64),
    Text(Text),
    Shared(usize),
}

/// The identity of a value.
pub(super) fn identity(value: &Value, meter: &mut Meter) -> Outcome<Identity> {
    Ok(match value {
        Value::Undefined => Identity::Kind(0),
        Value::Null => Identity::Kind(1),
        Value::Bool(truth) => Identity::Kind(2 + u8::from(*truth)),
        Value::Nil => Identity::Kind(4),
        Value::Empty => Identity::Kind(5),
        Value::Blank => Identity::Kind(6),
        Value::Number(number) if number.is_nan() => Identity::Kind(7),
        // Adding 0 makes -0 and 0 one.
        Value::Number(number) => Identity::Number((number + 0.0).to_bits()),
        Value::Text(text) => {
            meter.step(text.len())?;
            Identity::Text(Arc::clone(text))
        }
        Value::List(list) => Identity::Shared(Arc::as_ptr(list).addr()),
        Value::Object(object) => Identity::Shared(Arc::as_ptr(object).addr()),
        Value::Loop(state) => Identity::Shared(Arc::as_ptr(state).addr()),
    })
}

/// A number as JavaScript writes it.
pub(super) fn number_text(number: f64) -> String {
    ryu_js::Buffer::new().format(number).to_owned()
}

/// `Number(text)`.
pub(super) fn parse_number(text: &[u16]) -> f64 {
    let Some(text) = text::utf8(text::trim(text)) else { return f64::NAN };
    if text.is_empty() {
        return 0.0;
    }
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o").or_else(|| text.strip_prefix("0O")) {
        return radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0b").or_else(|| text.strip_prefix("0B")) {
        return radix(digits, 2);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(&text);
    if unsigned == "Infinity" {
        return if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    // Rust reads the same decimal forms, and beyond them only words.
    if unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        text.parse().unwrap_or(f64::NAN)
    } else {
        f64::NAN
    }
}

/// Whole numbers in another base, rounded once to the nearest double.
fn radix(digits: &str, base: u32) -> f64 {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(base)) {
        return f64::NAN;
    }
    let bits = base.trailing_zeros();
    let (mut head, mut dropped, mut sticky) = (0u64, 0i32, false);
    for digit in digits.chars().filter_map(|digit| digit.to_digit(base)) {
        for bit in (0..bits).rev() {
            let bit = digit >> bit & 1;
            if head >> 62 == 0 {
                head = head << 1 | u64::from(bit);
            } else {
                dropped = dropped.saturating_add(1);
                sticky |= bit == 1;
            }
        }
    }
    (head | u64::from(sticky)) as f64 * 2f64.powi(dropped)
}

/// `JSON.stringify(value, null, indent)`; nothing for `undefined`.
pub(super) fn json(value: &Value, indent: &[u16], meter: &mut Meter) -> Outcome<Option<Text>> {
    if matches!(value, Value::Undefined) {
        return Ok(None);
    }
    let mut out = Vec::new();
    write_json(value, indent, 0, &mut out, meter)?;
    Ok(Some(out.into()))
}

/// The JSON of an object with these fields.
pub(super) fn object_json(fields: &[(Text, Value)], meter: &mut Meter) -> Outcome<Text> {
    let mut out = Vec::new();
    write_object(fields, &[], 0, &mut out, meter)?;
    Ok(out.into())
}

fn write_json(
    value: &Value,
    indent: &[u16],
    level: usize,
    out: &mut Vec<u16>,
    meter: &mut Meter,
) -> Outcome<()> {
    meter.step(1)?;
    match value {
        Value::Undefined | Value::Null => put(out, "null", meter),
        Value::Bool(truth) => put(out, if *truth { "true" } else { "false" }, meter),
        Value::Number(number) if number.is_finite() => put(out, &number_text(*number), meter),
        Value::Number(_) => put(out, "null", meter),
        Value::Text(text) => write_quoted(text, out, meter),
        Value::Nil | Value::Empty | Value::Blank => put(out, "{}", meter),
        Value::Loop(state) => write_object(&state.fields(), indent, level, out, meter),
        Value::Object(object) => write_object(object.entries(), indent, level, out, meter),
        Value::List(list) => {
            put(out, "[", meter)?;
            for (place, item) in list.items().iter().enumerate() {
                if place > 0 {
                    put(out, ",", meter)?;
                }
                line(indent, level + 1, out, meter)?;
                write_json(item, indent, level + 1, out, meter)?;
            }
            if !list.items().is_empty() {
                line(indent, level, out, meter)?;
            }
            put(out, "]", meter)
        }
    }
}

fn write_object(
    fields: &[(Text, Value)],
    indent: &[u16],
    level: usize,
    out: &mut Vec<u16>,
    meter: &mut Meter,
) -> Outcome<()> {
    put(out, "{", meter)?;
    let mut written = false;
    for (key, value) in fields.iter().filter(|(_, value)| !matches!(value, Value::Undefined)) {
        if written {
            put(out, ",", meter)?;
        }
        written = true;
        line(indent, level + 1, out, meter)?;
        write_quoted(key, out, meter)?;
        put(out, if indent.is_empty() { ":" } else { ": " }, meter)?;
        write_json(value, indent, level + 1, out, meter)?;
    }
    if written {
        line(indent, level, out, meter)?;
    }
    put(out, "}", meter)
}

fn line(indent: &[u16], level: usize, out: &mut Vec<u16>, meter: &mut Meter) -> Outcome<()> {
    if indent.is_empty() {
        return Ok(());
    }
    meter.text(1 + indent.len() * level)?;
    out.push(10);
    (0..level).for_each(|_| out.extend_from_slice(indent));
    Ok(())
}

fn put(out: &mut Vec<u16>, text: &str, meter: &mut Meter) -> Outcome<()> {
    meter.text(text.len())?;
    out.extend(text.encode_utf16());
    Ok(())
}

fn write_quoted(text: &[u16], out: &mut Vec<u16>, meter: &mut Meter) -> Outcome<()> {
    meter.text(text.len() + 2)?;
    out.push(34);
    let mut at = 0;
    while let Some(&unit) = text.get(at) {
        let width = text::width_at(text, at);
        match unit {
            34 | 92 => out.extend([92, unit]),
            8 => put(out, "\\b", meter)?,
            9 => put(out, "\\t", meter)?,
            10 => put(out, "\\n", meter)?,
            12 => put(out, "\\f", meter)?,
            13 => put(out, "\\r", meter)?,
            0..=31 => put(out, &format!("\\u{unit:04x}"), meter)?,
            0xd800..=0xdfff if width == 1 => put(out, &format!("\\u{unit:04x}"), meter)?,
            _ => out.extend_from_slice(text.get(at..at + width).unwrap_or_default()),
        }
        at += width;
    }
    out.push(34);
    Ok(())
}

/// A failure of the evaluation itself.
pub(super) fn failed(message: impl Into<String>) -> Unevaluable {
    Unevaluable::Failed { message: message.into() }
}
