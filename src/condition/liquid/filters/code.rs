//! JSON, Base64, digests, and the filters that choose or pass on.

use hmac_digest::hmac;
use sha2::{Digest, Sha256};

use super::{argument, made, text, text_argument};
use crate::condition::liquid::Outcome;
use crate::condition::liquid::js;
use crate::condition::liquid::render::Render;
use crate::condition::liquid::text::{is, lossy, units};
use crate::condition::liquid::tree::Filter;
use crate::condition::liquid::value::Value;

pub(super) const TABLE: &[(&str, Filter)] = &[
    ("default", default),
    ("raw", |_, value, _| Ok(value)),
    ("json", json),
    ("jsonify", json),
    ("inspect", json),
    ("base64_encode", base64_encode),
    ("base64_decode", base64_decode),
    ("sha256", |run, value, _| {
        let text = text(run, &value)?;
        Ok(hex(&Sha256::digest(lossy(&text).as_bytes())))
    }),
    ("hmac_sha256", |run, value, given| {
        let text = text(run, &value)?;
        let key = text_argument(run, given, 0)?;
        Ok(hex(&hmac(lossy(&key).as_bytes(), lossy(&text).as_bytes())))
    }),
];

/// The value, or the argument where the value is nil, `false` or empty.
fn default(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let fallback = argument(given, 0).clone();
    let value = value.plain(&mut run.meter)?;
    let is_kept = match &value {
        Value::List(list) => !list.items().is_empty(),
        Value::Text(text) => !text.is_empty(),
        Value::Bool(false) => allows_false(given.get(1..).unwrap_or_default())?,
        other => !js::is_falsy(other),
    };
    Ok(if is_kept { value } else { fallback })
}

/// Whether `allow_false` is the last of its name among the options and says yes.
fn allows_false(options: &[Value]) -> Outcome<bool> {
    let mut allowed = false;
    for option in options {
        let (name, value) = match option {
            Value::List(list) => (list.items().first().cloned(), list.items().get(1).cloned()),
            Value::Object(object) => (object.get(&units("0")).cloned(), object.get(&units("1")).cloned()),
            Value::Nil | Value::Empty | Value::Blank | Value::Loop(_) => (None, None),
            _ => return Err(js::failed("an option of `default` is neither a named argument nor a list")),
        };
        if matches!(name, Some(Value::Text(name)) if is(&name, "allow_false")) {
            allowed = value.is_some_and(|value| js::is_truthy(&value));
        }
    }
    Ok(allowed)
}

fn json(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let indent = match argument(given, 0) {
        Value::Number(spaces) => {
            let spaces = js::integer(*spaces).clamp(0.0, 10.0);
            units(&" ".repeat(js::whole(spaces).unwrap_or(0)))
        }
        Value::Text(text) => text.get(..text.len().min(10)).unwrap_or_default().into(),
        _ => units(""),
    };
    Ok(js::json(&value, &indent, &mut run.meter)?.map_or(Value::Undefined, Value::Text))
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64_encode(run: &mut Render<'_>, value: Value, _: &[Value]) -> Outcome<Value> {
    let text = text(run, &value)?;
    let bytes = lossy(&text).into_bytes();
    run.meter.text(bytes.len().saturating_mul(2))?;
    let mut out = Vec::with_capacity(bytes.len() * 2);
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, at| bits << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        for place in 0..4 {
            let digit = BASE64.get((bits >> (18 - 6 * place) & 63) as usize).copied().unwrap_or(b'=');
            out.push(u16::from(if place > chunk.len() { b'=' } else { digit }));
        }
    }
    Ok(Value::Text(out.into()))
}

/// Blanks between digits are allowed, padding is optional.
fn base64_decode(run: &mut Render<'_>, value: Value, _: &[Value]) -> Outcome<Value> {
    let text = text(run, &value)?;
    let digits: Vec<u16> =
        text.iter().copied().filter(|unit| !matches!(unit, 9 | 10 | 12 | 13 | 32)).collect();
    let mut digits = digits.as_slice();
    if digits.len().is_multiple_of(4) {
        digits = digits.strip_suffix(&[61, 61]).or_else(|| digits.strip_suffix(&[61])).unwrap_or(digits);
    }
    let invalid = || js::failed("not Base64");
    if digits.len() % 4 == 1 {
        return Err(invalid());
    }
    let mut bytes = Vec::with_capacity(digits.len());
    for chunk in digits.chunks(4) {
        let mut bits = 0usize;
        for at in 0..4 {
            let value = match chunk.get(at) {
                Some(&digit) => {
                    BASE64.iter().position(|&known| u16::from(known) == digit).ok_or_else(invalid)?
                }
                None => 0,
            };
            bits = bits << 6 | value;
        }
        bytes.extend(
            [bits >> 16, bits >> 8, bits].iter().take(chunk.len() - 1).map(|byte| (byte & 255) as u8),
        );
    }
    made(run, units(&String::from_utf8_lossy(&bytes)))
}

fn hex(bytes: &[u8]) -> Value {
    Value::text(&bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// The keyed digest over SHA-256 (RFC 2104).
mod hmac_digest {
    use sha2::{Digest, Sha256};

    const BLOCK: usize = 64;

    pub(super) fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
        let key = if key.len() > BLOCK { Sha256::digest(key).to_vec() } else { key.to_vec() };
        let padded =
            |with: u8| -> Vec<u8> { (0..BLOCK).map(|at| key.get(at).copied().unwrap_or(0) ^ with).collect() };
        let inner = Sha256::digest([&*padded(0x36), message].concat());
        Sha256::digest([&*padded(0x5c), &*inner].concat()).to_vec()
    }
}
