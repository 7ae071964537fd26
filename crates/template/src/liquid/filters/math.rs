//! Arithmetic. Any value that is not a number counts as 0; a missing argument is not a number.

use super::arguments::argument;
use crate::liquid::js;
use crate::liquid::render::Render;
use crate::liquid::tree::Filter;
use crate::liquid::unevaluable::Outcome;
use crate::liquid::value::Value;

pub(super) const TABLE: &[(&str, Filter)] = &[
    ("abs", |run, value, _| unary(run, &value, f64::abs)),
    ("ceil", |run, value, _| unary(run, &value, f64::ceil)),
    ("floor", |run, value, _| unary(run, &value, f64::floor)),
    ("plus", |run, value, given| binary(run, &value, given, |a, b| a + b)),
    ("minus", |run, value, given| binary(run, &value, given, |a, b| a - b)),
    ("times", |run, value, given| binary(run, &value, given, |a, b| a * b)),
    ("modulo", |run, value, given| binary(run, &value, given, |a, b| ((a % b) + b) % b)),
    ("at_least", |run, value, given| extreme(run, &value, given, true)),
    ("at_most", |run, value, given| extreme(run, &value, given, false)),
    ("divided_by", divided_by),
    ("round", round),
    ("to_integer", |run, value, _| Ok(Value::Number(js::number(&value, &mut run.meter)?))),
];

/// The number of a value as arithmetic takes it.
fn number(run: &mut Render<'_>, value: &Value) -> Outcome<f64> {
    let number = js::number(value, &mut run.meter)?;
    Ok(if number.is_nan() { 0.0 } else { number + 0.0 })
}

/// The number of an argument; NaN if it is not given.
fn operand(run: &mut Render<'_>, given: &[Value], place: usize) -> Outcome<f64> {
    given.get(place).map_or(Ok(f64::NAN), |value| number(run, value))
}

fn unary(run: &mut Render<'_>, value: &Value, by: fn(f64) -> f64) -> Outcome<Value> {
    Ok(Value::Number(by(number(run, value)?)))
}

fn binary(run: &mut Render<'_>, value: &Value, given: &[Value], by: fn(f64, f64) -> f64) -> Outcome<Value> {
    let left = number(run, value)?;
    Ok(Value::Number(by(left, operand(run, given, 0)?)))
}

fn extreme(run: &mut Render<'_>, value: &Value, given: &[Value], largest: bool) -> Outcome<Value> {
    let mut chosen = number(run, value)?;
    for value in given {
        let next = number(run, value)?;
        chosen = if largest { chosen.max(next) } else { chosen.min(next) };
    }
    Ok(Value::Number(chosen))
}

/// With a second argument that is not 0, the result is rounded down.
fn divided_by(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let quotient = number(run, &value)? / operand(run, given, 0)?;
    let down = operand(run, given, 1)?;
    Ok(Value::Number(if down != 0.0 && !down.is_nan() { quotient.floor() } else { quotient }))
}

fn round(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let value = number(run, &value)?;
    let places = number(run, argument(given, 0))?;
    let scaled = shift(value.abs(), places);
    if scaled.is_nan() || scaled > 9_007_199_254_740_991.0 {
        return Ok(Value::Number(value));
    }
    let rounded = shift(half_up(scaled), -places);
    Ok(Value::Number(if value < 0.0 { -rounded } else { rounded }))
}

/// The nearest whole number, halves up. Adding a half first would raise a number just below one.
fn half_up(value: f64) -> f64 {
    let below = value.floor();
    if value - below >= 0.5 { below + 1.0 } else { below }
}

/// Moves the decimal point in the written number, so that nothing is lost to a multiplication.
fn shift(value: f64, by: f64) -> f64 {
    let written = js::number_text(value);
    let (mantissa, power) = written.split_once('e').unwrap_or((&written, "0"));
    let power = power.parse::<f64>().unwrap_or(f64::NAN) + by;
    let moved = format!("{mantissa}e{}", js::number_text(power));
    js::parse_number(&moved.encode_utf16().collect::<Vec<u16>>())
}
