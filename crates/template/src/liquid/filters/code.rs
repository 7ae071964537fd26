//! JSON, Base64, digests, and the filters that choose or pass on.

use base64::alphabet;
use base64::engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::arguments::{argument, made, text, text_argument};
use crate::liquid::js;
use crate::liquid::render::Render;
use crate::liquid::text::{is, lossy, units};
use crate::liquid::tree::Filter;
use crate::liquid::unevaluable::Outcome;
use crate::liquid::value::Value;

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
        // A key may have any length.
        let digest = Hmac::<Sha256>::new_from_slice(lossy(&key).as_bytes());
        let digest = digest.map_err(|_| js::failed("not a key"))?.chain_update(lossy(&text));
        Ok(hex(&digest.finalize().into_bytes()))
    }),
];

/// The value, or the argument if the value is nil, `false` or empty.
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

/// Padding is optional, and so are the bits that fill the last digit.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

fn base64_encode(run: &mut Render<'_>, value: Value, _: &[Value]) -> Outcome<Value> {
    let text = text(run, &value)?;
    let bytes = lossy(&text).into_bytes();
    run.meter.text(bytes.len().saturating_mul(2))?;
    Ok(Value::text(&BASE64.encode(bytes)))
}

/// Blanks between digits are allowed.
fn base64_decode(run: &mut Render<'_>, value: Value, _: &[Value]) -> Outcome<Value> {
    let text = text(run, &value)?;
    let invalid = || js::failed("not Base64");
    let digits = text.iter().filter(|unit| !matches!(unit, 9 | 10 | 12 | 13 | 32));
    let digits = digits.map(|unit| u8::try_from(*unit)).collect::<Result<Vec<u8>, _>>();
    let digits = digits.map_err(|_| invalid())?;
    let mut digits = digits.as_slice();
    if digits.len().is_multiple_of(4) {
        digits = digits.strip_suffix(b"==").or_else(|| digits.strip_suffix(b"=")).unwrap_or(digits);
    }
    let bytes = BASE64.decode(digits).map_err(|_| invalid())?;
    made(run, units(&String::from_utf8_lossy(&bytes)))
}

fn hex(bytes: &[u8]) -> Value {
    Value::text(&bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}
