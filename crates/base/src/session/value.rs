//! JSON values as policies compare them: numbers by exact decimal value, everything else by kind and content.
//!
//! `1` equals `1.0` and `10e-1`; `7` is not `"7"`; `9007199254740993` is not `9007199254740992`. serde_json's own
//! `==` compares the digits as written, so it is never used for a verdict.

use std::cmp::Ordering;
use std::hash::{BuildHasher, Hash, Hasher};

use serde_json::{Number, Value};

/// Whether two values are the same JSON value.
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => compare(a, b) == Ordering::Equal,
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => false,
    }
}

/// The value of a context at a key: the member of this name, else the one at the end of its dotted path.
pub fn dotted<'v>(context: &'v Value, key: &str) -> Option<&'v Value> {
    let nested = || key.split('.').try_fold(context, |value, key| value.get(key));
    context.get(key).or_else(nested)
}

/// Merges two values that do not contradict each other: members and items side by side. An item that is `null` gives
/// way to the other's.
pub fn join(a: &Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let mut joined = a.clone();
            for (key, other) in b {
                let member = match a.get(key) {
                    Some(own) => join(own, other)?,
                    None => other.clone(),
                };
                joined.insert(key.clone(), member);
            }
            Some(Value::Object(joined))
        }
        (Value::Array(a), Value::Array(b)) => {
            let items = (0..a.len().max(b.len())).map(|place| match (a.get(place), b.get(place)) {
                (None | Some(Value::Null), Some(item)) | (Some(item), None | Some(Value::Null)) => {
                    Some(item.clone())
                }
                (Some(own), Some(other)) => join(own, other),
                (None, None) => None,
            });
            items.collect::<Option<_>>().map(Value::Array)
        }
        (a, b) => equal(a, b).then(|| a.clone()),
    }
}

/// A value with the members of another on top of its own.
pub fn overlay(under: &Value, over: &Value) -> Value {
    let (Value::Object(a), Value::Object(b)) = (under, over) else { return over.clone() };
    let mut laid = a.clone();
    for (key, over) in b {
        let member = a.get(key).map_or_else(|| over.clone(), |own| overlay(own, over));
        laid.insert(key.clone(), member);
    }
    Value::Object(laid)
}

/// The order of two numbers by exact decimal value.
pub fn compare(a: &Number, b: &Number) -> Ordering {
    Numeral::of(a).compare(Numeral::of(b))
}

/// A number, parsed so far that comparing it with others is cheap.
#[derive(Debug, Clone, Copy)]
pub struct Numeral<'a> {
    text: &'a str,
    short: Option<SmallDecimal>,
}

impl<'a> Numeral<'a> {
    /// Reads a number.
    pub fn of(number: &'a Number) -> Numeral<'a> {
        let text = number.as_str();
        Numeral { text, short: SmallDecimal::of(text) }
    }

    /// The order of two numbers by exact decimal value.
    pub fn compare(self, other: Numeral<'_>) -> Ordering {
        let short = self.short.zip(other.short).and_then(|(a, b)| a.compare(b));
        short.unwrap_or_else(|| match self.text == other.text {
            true => Ordering::Equal,
            false => Decimal::of(self.text).compare(Decimal::of(other.text)),
        })
    }
}

/// A number to compare others with, parsed once.
#[derive(Debug, Clone)]
pub struct Bound {
    number: Number,
    short: Option<SmallDecimal>,
}

impl Bound {
    /// Reads a number.
    pub fn new(number: Number) -> Bound {
        Bound { short: SmallDecimal::of(number.as_str()), number }
    }

    /// The number as written.
    pub fn number(&self) -> &Number {
        &self.number
    }

    /// The parsed number.
    pub fn numeral(&self) -> Numeral<'_> {
        Numeral { text: self.number.as_str(), short: self.short }
    }
}

/// Two bounds are the same if they are written the same.
impl PartialEq for Bound {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

/// `coefficient` / 10^`places`: nearly every number that is in a recording.
#[derive(Debug, Clone, Copy)]
struct SmallDecimal {
    coefficient: i64,
    places: i16,
}

impl SmallDecimal {
    /// Digits that fit 64 bits whatever they are, and with as many zeros after them 128.
    const DIGITS: usize = 18;

    fn of(text: &str) -> Option<SmallDecimal> {
        let bytes = text.as_bytes();
        let (negative, bytes) = match bytes.split_first()? {
            (b'-', rest) => (true, rest),
            _ => (false, bytes),
        };
        if bytes.len() > SmallDecimal::DIGITS {
            return None;
        }
        let (mut coefficient, mut places, mut behind) = (0i64, 0i16, false);
        let mut rest = bytes.iter();
        for byte in rest.by_ref() {
            match byte {
                b'0'..=b'9' => {
                    coefficient = coefficient * 10 + i64::from(byte - b'0');
                    places += i16::from(behind);
                }
                b'.' if !behind => behind = true,
                b'e' | b'E' => {
                    places -= exponent(rest.as_slice())?;
                    break;
                }
                _ => return None,
            }
        }
        Some(SmallDecimal { coefficient: if negative { -coefficient } else { coefficient }, places })
    }

    /// `None` if the numbers are of too different sizes to be compared in 128 bits.
    fn compare(self, other: SmallDecimal) -> Option<Ordering> {
        match self.places.cmp(&other.places) {
            Ordering::Equal => Some(self.coefficient.cmp(&other.coefficient)),
            Ordering::Less => self.scaled_to(other.places).map(|own| own.cmp(&i128::from(other.coefficient))),
            Ordering::Greater => {
                other.scaled_to(self.places).map(|other| i128::from(self.coefficient).cmp(&other))
            }
        }
    }

    fn scaled_to(self, places: i16) -> Option<i128> {
        let zeros = u32::try_from(places - self.places).ok()?;
        Some(i128::from(self.coefficient) * i128::from(10i64.checked_pow(zeros)?))
    }
}

/// A small exponent; two digits are enough.
fn exponent(text: &[u8]) -> Option<i16> {
    let (negative, digits) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        (b'+', digits) => (false, digits),
        _ => (false, text),
    };
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| i16::from(byte - b'0'));
    let size = match digits {
        [ones] => digit(ones)?,
        [tens, ones] => digit(tens)? * 10 + digit(ones)?,
        _ => return None,
    };
    Some(if negative { -size } else { size })
}

/// A canonical text: two values have the same one exactly if they are [`equal`].
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    spell(value, &mut out);
    out
}

fn spell(value: &Value, out: &mut String) {
    match value {
        Value::Number(number) => {
            let Decimal { negative, magnitude, .. } = Decimal::of(number.as_str());
            out.push_str(if negative { "-0." } else { "0." });
            out.extend(Decimal::of(number.as_str()).digits().map(char::from));
            out.push('e');
            out.push_str(&magnitude.to_string());
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                spell(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (key, member) in members {
                spell(&Value::String(key.clone()), out);
                out.push(':');
                spell(member, out);
                out.push(',');
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// A hash that agrees with [`equal`]: equal values have equal hashes.
pub fn hash(value: &Value, with: &impl BuildHasher) -> u64 {
    match value {
        // The common key, without a detour.
        Value::String(text) => with.hash_one((4u8, text.as_str())),
        other => {
            let mut hasher = with.build_hasher();
            feed(other, with, &mut hasher);
            hasher.finish()
        }
    }
}

fn feed(value: &Value, with: &impl BuildHasher, into: &mut impl Hasher) {
    match value {
        Value::Null => 0u8.hash(into),
        Value::Bool(value) => (1u8, value).hash(into),
        Value::Number(number) => (2u8, Decimal::of(number.as_str())).hash(into),
        Value::Array(items) => {
            (3u8, items.len()).hash(into);
            for item in items {
                feed(item, with, into);
            }
        }
        Value::String(text) => (4u8, text.as_str()).hash(into),
        Value::Object(map) => {
            // Members have no order, so their hashes are added up.
            let members = map.iter().fold(0u64, |sum, (key, value)| {
                sum.wrapping_add(with.hash_one((key.as_str(), hash(value, with))))
            });
            (5u8, map.len(), members).hash(into);
        }
    }
}

/// A JSON number as sign, significant digits and magnitude. Borrowed: comparing allocates nothing. Zero has no digits
/// and no sign.
#[derive(Debug, Clone, Copy)]
struct Decimal<'a> {
    negative: bool,
    /// The significant digits: those before the point, then those after it, without zeros at either end.
    whole: &'a [u8],
    fraction: &'a [u8],
    /// The power of ten above the first digit: 3 for 120, 0 for 0.12. Saturating: exponents beyond 128 bits are beyond
    /// comparing.
    magnitude: i128,
}

impl<'a> Decimal<'a> {
    fn of(text: &'a str) -> Decimal<'a> {
        let text = text.as_bytes();
        let (negative, text) = match text.split_first() {
            Some((b'-', rest)) => (true, rest),
            _ => (false, text),
        };
        let (mantissa, exponent) = match split_at(text, |byte| matches!(byte, b'e' | b'E')) {
            Some((mantissa, exponent)) => (mantissa, saturating(exponent)),
            None => (text, 0),
        };
        let (whole, fraction) = split_at(mantissa, |byte| byte == b'.').unwrap_or((mantissa, &[]));
        let (whole, mut fraction) = (without_leading(whole), without_trailing(fraction));
        let mut magnitude = exponent.saturating_add(whole.len() as i128);
        if whole.is_empty() {
            let digits = without_leading(fraction);
            magnitude = magnitude.saturating_sub((fraction.len() - digits.len()) as i128);
            fraction = digits;
        }
        let whole = if fraction.is_empty() { without_trailing(whole) } else { whole };
        if whole.is_empty() && fraction.is_empty() {
            return Decimal { negative: false, whole, fraction, magnitude: 0 };
        }
        Decimal { negative, whole, fraction, magnitude }
    }

    fn digits(self) -> impl Iterator<Item = u8> + 'a {
        self.whole.iter().chain(self.fraction).copied()
    }

    fn sign(self) -> i8 {
        match (self.whole.is_empty() && self.fraction.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn compare(self, other: Decimal<'_>) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        let by_size = || self.magnitude.cmp(&other.magnitude).then_with(|| self.digits().cmp(other.digits()));
        by_sign.then_with(|| match self.sign() {
            0 => Ordering::Equal,
            1 => by_size(),
            _ => by_size().reverse(),
        })
    }
}

impl Hash for Decimal<'_> {
    fn hash<H: Hasher>(&self, into: &mut H) {
        (self.negative, self.magnitude).hash(into);
        // Digit by digit: the position of the point is in the magnitude.
        self.digits().for_each(|digit| into.write_u8(digit));
    }
}

fn split_at(text: &[u8], at: impl Fn(u8) -> bool) -> Option<(&[u8], &[u8])> {
    let (before, rest) = text.split_at(text.iter().position(|byte| at(*byte))?);
    Some((before, rest.get(1..)?))
}

fn without_leading(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    digits.get(zeros..).unwrap_or_default()
}

fn without_trailing(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().rev().take_while(|digit| **digit == b'0').count();
    digits.get(..digits.len() - zeros).unwrap_or_default()
}

fn saturating(exponent: &[u8]) -> i128 {
    let (negative, digits) = match exponent.split_first() {
        Some((b'-', digits)) => (true, digits),
        Some((b'+', digits)) => (false, digits),
        _ => (false, exponent),
    };
    let size = digits
        .iter()
        .fold(0i128, |n, digit| n.saturating_mul(10).saturating_add(i128::from(digit.wrapping_sub(b'0'))));
    if negative { size.saturating_neg() } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::RandomState;

    fn value(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_are_equal_by_decimal_value() {
        let state = RandomState::new();
        for (a, b, same) in [
            ("1", "1.0", true),
            ("10e-1", "1", true),
            ("-0", "0.00", true),
            ("1E+2", "100", true),
            ("9007199254740993", "9007199254740992", false),
            ("0.1", "0.10000000000000001", false),
            ("-1", "1", false),
            ("7", "\"7\"", false),
            ("1", "true", false),
            ("null", "false", false),
            ("[1, {\"a\": 2.0, \"b\": 1}]", "[1.0, {\"b\": 1, \"a\": 2}]", true),
            ("{\"a\": null}", "{}", false),
            ("1e99999999999999999999999999999999999999999999", "1", false),
            ("1e-18", "0.000000000000000001", true),
            ("999999999999999999", "999999999999999999e0", true),
            ("999999999999999999", "99999999999999999.9e1", true),
            ("123456789012345678e-99", "123456789012345678e99", false),
            ("0e5", "0.000", true),
        ] {
            assert_eq!(equal(&value(a), &value(b)), same, "{a} and {b}");
            if same {
                assert_eq!(hash(&value(a), &state), hash(&value(b), &state), "{a} and {b}");
            }
        }
    }

    #[test]
    fn numbers_are_ordered_by_decimal_value() {
        let order = [
            "-1e400",
            "-1e18",
            "-999999999999999999",
            "-999999999999999998",
            "-1e3",
            "-12",
            "-0.5",
            "0",
            "1e-300",
            "1e-99",
            "1e-17",
            "0.05",
            "0.051",
            "3",
            "3.0001",
            "20",
            "1e3",
            "999999999999999998",
            "999999999999999999",
            "1e18",
            "1e99",
            "1e400",
        ];
        for (i, a) in order.iter().enumerate() {
            for (j, b) in order.iter().enumerate() {
                let (Value::Number(x), Value::Number(y)) = (value(a), value(b)) else { panic!() };
                assert_eq!(compare(&x, &y), i.cmp(&j), "{a} and {b}");
            }
        }
    }
}
