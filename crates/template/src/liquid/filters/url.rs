//! Addresses and slugs.

use std::borrow::Cow;

use super::arguments::{argument, made, text};
use crate::liquid::js;
use crate::liquid::letters;
use crate::liquid::render::Render;
use crate::liquid::text::{is_space, lower, points, scalar, units, utf8};
use crate::liquid::tree::Filter;
use crate::liquid::unevaluable::Outcome;
use crate::liquid::value::{self, Value};

pub(super) const TABLE: &[(&str, Filter)] = &[
    ("url_decode", url_decode),
    ("url_encode", |run, value, _| encode(run, &value, Style::Form)),
    ("cgi_escape", |run, value, _| encode(run, &value, Style::Cgi)),
    ("uri_escape", |run, value, _| encode(run, &value, Style::Address)),
    ("slugify", slugify),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Form,
    Cgi,
    Address,
}

fn encode(run: &mut Render<'_>, value: &Value, style: Style) -> Outcome<Value> {
    let text = text(run, value)?;
    let text =
        utf8(&text).ok_or_else(|| js::failed("half a surrogate pair cannot be written into an address"))?;
    run.meter.text(text.len().saturating_mul(3))?;
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        let kept = match (style, letter) {
            (_, letter) if letter.is_ascii_alphanumeric() => true,
            (_, '-' | '_' | '.' | '~') => true,
            (Style::Cgi, _) => false,
            (_, '!' | '*' | '\'' | '(' | ')') => true,
            (Style::Address, ';' | ',' | '/' | '?' | ':' | '@' | '&' | '=' | '+' | '$' | '#' | '[' | ']') => {
                true
            }
            _ => false,
        };
        if kept {
            out.push(letter);
        } else if letter == ' ' && style != Style::Address {
            out.push('+');
        } else {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    Ok(Value::text(&out))
}

fn url_decode(run: &mut Render<'_>, value: Value, _: &[Value]) -> Outcome<Value> {
    let text = text(run, &value)?;
    let malformed = || js::failed("malformed percent encoding");
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&unit) = text.get(at) {
        at += 1;
        if unit != 37 {
            out.push(if unit == 43 { 32 } else { unit });
            continue;
        }
        let hex = |at: usize| {
            let digit = |at: usize| char::from_u32(u32::from(*text.get(at)?)).and_then(|c| c.to_digit(16));
            u8::try_from(digit(at)? * 16 + digit(at + 1)?).ok()
        };
        let first = hex(at).ok_or_else(malformed)?;
        at += 2;
        let more = match first {
            0..=0x7f => 0,
            0xc0..=0xdf => 1,
            0xe0..=0xef => 2,
            0xf0..=0xf7 => 3,
            _ => return Err(malformed()),
        };
        let mut bytes = vec![first];
        for _ in 0..more {
            let escaped = text.get(at) == Some(&37);
            bytes.push(hex(at + 1).filter(|_| escaped).ok_or_else(malformed)?);
            at += 3;
        }
        out.extend(std::str::from_utf8(&bytes).map_err(|_| malformed())?.encode_utf16());
    }
    made(run, out)
}

fn slugify(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let text = text(run, &value)?;
    let mode = match argument(given, 0) {
        Value::Undefined => units("default"),
        mode => js::key(mode, &mut run.meter)?,
    };
    run.meter.step(mode.len())?;
    if value::is_inherited(&mode) {
        return Err(js::failed("not a mode of `slugify`"));
    }
    let cased = js::is_truthy(argument(given, 1));
    let mode = utf8(&mode).unwrap_or_default();
    let kept: Option<fn(&[u16]) -> bool> = match mode.as_str() {
        "raw" => Some(|point| !point.first().is_some_and(|&unit| is_space(unit))),
        "default" | "latin" => Some(|point| letters::is_letter(scalar(point))),
        "pretty" => Some(|point| letters::is_letter(scalar(point)) || is_one_of(point, "._~!$&'()+,;=@")),
        "ascii" => Some(
            |point| matches!(point, [unit] if char::from_u32(u32::from(*unit)).is_some_and(|c| c.is_ascii_alphanumeric())),
        ),
        _ => None,
    };
    let Some(kept) = kept else {
        return if cased { Ok(Value::Text(text)) } else { made(run, lower(&text)) };
    };
    let text: Cow<'_, [u16]> = if mode == "latin" { without_accents(&text).into() } else { (&*text).into() };
    let mut out: Vec<u16> = Vec::with_capacity(text.len());
    let mut in_gap = false;
    for point in points(&text) {
        if kept(point) {
            out.extend_from_slice(point);
        } else if !in_gap {
            out.push(45);
        }
        in_gap = !kept(point);
    }
    let slug: &[u16] = &out;
    let slug = slug.strip_prefix(&[45]).unwrap_or(slug);
    let slug = slug.strip_suffix(&[45]).unwrap_or(slug);
    if cased { made(run, slug) } else { made(run, lower(slug)) }
}

fn is_one_of(point: &[u16], set: &str) -> bool {
    matches!(point, [unit] if set.encode_utf16().any(|known| known == *unit))
}

fn without_accents(text: &[u16]) -> Vec<u16> {
    let mut out = Vec::with_capacity(text.len());
    for &unit in text {
        let plain = match char::from_u32(u32::from(unit)) {
            Some('à' | 'á' | 'â' | 'ã' | 'ä' | 'å') => "a",
            Some('æ') => "ae",
            Some('ç') => "c",
            Some('è' | 'é' | 'ê' | 'ë') => "e",
            Some('ì' | 'í' | 'î' | 'ï') => "i",
            Some('ð') => "d",
            Some('ñ') => "n",
            Some('ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø') => "o",
            Some('ù' | 'ú' | 'û' | 'ü') => "u",
            Some('ý' | 'ÿ') => "y",
            Some('ß') => "ss",
            Some('œ') => "oe",
            Some('þ') => "th",
            Some('ẞ') => "SS",
            Some('Œ') => "OE",
            Some('Þ') => "TH",
            _ => {
                out.push(unit);
                continue;
            }
        };
        out.extend(plain.encode_utf16());
    }
    out
}
