//! The value of a plain YAML scalar in the core schema of YAML 1.2 (section 10.3.2).
//!
//! `yes`, `on`, `12:30` and `1_000` are text there, like everything else that is not listed below.

use serde_json::Number;

use super::NodeValue;

/// A plain scalar resolved.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    /// A value that JSON has too.
    Value(NodeValue),
    /// A number that JSON does not have, and why.
    Unrepresentable(&'static str),
}

/// Resolves a plain scalar.
pub(super) fn resolve(text: &str) -> Scalar {
    let value = match text {
        "" | "~" | "null" | "Null" | "NULL" => NodeValue::Null,
        "true" | "True" | "TRUE" => NodeValue::Bool(true),
        "false" | "False" | "FALSE" => NodeValue::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Scalar::Unrepresentable("is not a number"),
        _ => match number(text) {
            Some(number) => return number,
            None => NodeValue::String(text.to_owned()),
        },
    };
    Scalar::Value(value)
}

fn number(text: &str) -> Option<Scalar> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        // Numbers begin only with these, and most scalars are text.
        b'.' | b'0'..=b'9' => (false, text),
        _ => return None,
    };
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(Scalar::Unrepresentable("is infinite"));
    }
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return in_radix(digits, radix);
        }
    }
    let json = as_json_number(negative, unsigned)?;
    Some(Scalar::Value(NodeValue::Number(json.parse().ok()?)))
}

/// `[0-7]+` and `[0-9a-fA-F]+`; the core schema has no sign here.
fn in_radix(digits: &str, radix: u32) -> Option<Scalar> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    Some(match u128::from_str_radix(digits, radix).ok().and_then(Number::from_u128) {
        Some(number) => Scalar::Value(NodeValue::Number(number)),
        None => Scalar::Unrepresentable("is larger than 128 bits"),
    })
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?` with the digits as they are, and the rest in the form
/// of JSON.
fn as_json_number(negative: bool, unsigned: &str) -> Option<String> {
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => unsigned.split_at(at),
        None => (unsigned, ""),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    if !exponent.is_empty() {
        let power = exponent.get(1..)?;
        let power = power.strip_prefix(['-', '+']).unwrap_or(power);
        if power.is_empty() || !digits(power) {
            return None;
        }
    }
    let sign = if negative { "-" } else { "" };
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{sign}{whole}{point}{fraction}{exponent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match resolve(text) {
            Scalar::Value(NodeValue::Null) => "null".to_owned(),
            Scalar::Value(NodeValue::Bool(value)) => format!("bool {value}"),
            Scalar::Value(NodeValue::Number(number)) => format!("number {number}"),
            Scalar::Value(NodeValue::String(_)) => "text".to_owned(),
            Scalar::Value(other) => format!("{other:?}"),
            Scalar::Unrepresentable(why) => why.to_owned(),
        }
    }

    #[test]
    fn plain_scalars_of_the_core_schema() {
        let cases = [
            ("null", "~ null Null NULL"),
            ("bool true", "true True TRUE"),
            ("bool false", "false False FALSE"),
            (
                "text",
                "yes no on off y n Yes nUll tRUE 1_000 12:30 0b1 0x 0o8 -0x1 +0o7 1e . .e1 1.2.3 - + +. -a 1a .infx \
                 .iNF --1 ++1 1e+ 1e1.5 0xg e5 .NAn 2026-05-04 <<",
            ),
            ("is not a number", ".nan .NaN .NAN"),
            ("is infinite", ".inf +.inf -.Inf .INF"),
            ("number 7", "7 +7 007 0x7 0o7 0x07 7."),
            ("number 0", "0 00 +0 0x0 0."),
            ("number -0", "-0 -00"),
            ("number 31", "0x1F 0x1f 0o37"),
            ("number 0.5", ".5 +.5 0.5 00.5"),
            ("number -1.50", "-1.50"),
            ("number 1e+5", "1e5 1.e5 01e5"),
            ("number 1.0e+05", "1.0E+05"),
            ("number 9007199254740993", "9007199254740993 0x20000000000001"),
            ("number 340282366920938463463374607431768211455", "0xffffffffffffffffffffffffffffffff"),
            (
                "number 340282366920938463463374607431768211456.10",
                "340282366920938463463374607431768211456.10",
            ),
            ("is larger than 128 bits", "0x100000000000000000000000000000000"),
        ];
        for (expected, texts) in cases {
            for text in texts.split_whitespace() {
                assert_eq!(shown(text), expected, "{text:?}");
            }
        }
        assert_eq!(shown(""), "null");
    }
}
