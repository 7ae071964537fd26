//! Python literals as JSON: some agents log a call's arguments as `str(dict)`.
//!
//! Reads Python's notation of dicts, lists, tuples, sets, texts, numbers, `True`, `False` and `None`, and evaluates
//! nothing.

/// The JSON text of a Python literal; `None` if it is not one, or has no form in JSON (complex numbers, bytes beyond
/// ASCII).
pub fn to_json(text: &str) -> Option<String> {
    let mut literal = Literal { rest: text, json: String::with_capacity(text.len() + 16), depth: 0 };
    literal.blanks();
    literal.value()?;
    literal.blanks();
    literal.rest.is_empty().then_some(literal.json)
}

mod texts;

/// Deeper than any arguments are, and shallow enough for the stack and for JSON readers.
const DEEPEST: u32 = 100;

struct Literal<'a> {
    rest: &'a str,
    json: String,
    depth: u32,
}

impl<'a> Literal<'a> {
    fn value(&mut self) -> Option<()> {
        match self.rest.chars().next()? {
            '{' => self.nested(Self::dict_or_set),
            '[' => self.nested(|literal| literal.sequence(']')),
            '(' => self.nested(Self::tuple),
            '\'' | '"' => self.texts(),
            '+' | '-' | '.' | '0'..='9' => self.number(),
            _ => self.word(),
        }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        self.skip(1);
        read(self)?;
        self.depth -= 1;
        Some(())
    }

    /// After `{`. A set is written as a list.
    fn dict_or_set(&mut self) -> Option<()> {
        let begin = self.json.len();
        self.json.push('{');
        self.blanks();
        if self.take('}') {
            self.json.push('}');
            return Some(());
        }
        let key = self.json.len();
        self.value()?;
        self.blanks();
        if !self.rest.starts_with(':') {
            self.json.replace_range(begin..=begin, "[");
            return self.items_after_first(']', '}');
        }
        self.as_key(key)?;
        loop {
            if !self.take(':') {
                return None;
            }
            self.json.push(':');
            self.blanks();
            self.value()?;
            self.blanks();
            let comma = self.take(',');
            self.blanks();
            if self.take('}') {
                self.json.push('}');
                return Some(());
            }
            if !comma {
                return None;
            }
            self.json.push(',');
            let key = self.json.len();
            self.value()?;
            self.as_key(key)?;
            self.blanks();
        }
    }

    /// Turns the value written from `start` on into a key: numbers, truth values and `None` as their text.
    fn as_key(&mut self, start: usize) -> Option<()> {
        match self.json.as_bytes().get(start)? {
            b'"' => {}
            b'{' | b'[' => return None,
            _ => {
                self.json.insert(start, '"');
                self.json.push('"');
            }
        }
        Some(())
    }

    /// After `[`, up to `close`.
    fn sequence(&mut self, close: char) -> Option<()> {
        self.json.push('[');
        self.blanks();
        if self.take(close) {
            self.json.push(']');
            return Some(());
        }
        self.value()?;
        self.blanks();
        self.items_after_first(']', close)
    }

    fn items_after_first(&mut self, json_close: char, close: char) -> Option<()> {
        loop {
            let comma = self.take(',');
            self.blanks();
            if self.take(close) {
                self.json.push(json_close);
                return Some(());
            }
            if !comma {
                return None;
            }
            self.json.push(',');
            self.value()?;
            self.blanks();
        }
    }

    /// After `(`: a tuple, or a value in parentheses.
    fn tuple(&mut self) -> Option<()> {
        let begin = self.json.len();
        self.json.push('[');
        self.blanks();
        if self.take(')') {
            self.json.push(']');
            return Some(());
        }
        self.value()?;
        self.blanks();
        if self.take(')') {
            self.json.remove(begin);
            return Some(());
        }
        self.items_after_first(']', ')')
    }

    fn number(&mut self) -> Option<()> {
        let negative = match self.rest.chars().next()? {
            '-' => true,
            '+' => false,
            _ => return self.unsigned(false),
        };
        self.skip(1);
        self.blanks();
        self.unsigned(negative)
    }

    fn unsigned(&mut self, negative: bool) -> Option<()> {
        let mut end = 0;
        let bytes = self.rest.as_bytes();
        while let Some(byte) = bytes.get(end) {
            let after_exponent = end > 0 && matches!(bytes.get(end - 1), Some(b'e' | b'E'));
            let sign = matches!(byte, b'+' | b'-') && after_exponent;
            if !(sign || byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_')) {
                break;
            }
            end += 1;
        }
        let written = self.rest.get(..end)?;
        if written.starts_with('_') || written.ends_with('_') || written.contains("__") {
            return None;
        }
        let digits = written.replace('_', "").to_ascii_lowercase();
        let json = match digits.get(..2) {
            Some("0x") => u128::from_str_radix(digits.get(2..)?, 16).ok()?.to_string(),
            Some("0o") => u128::from_str_radix(digits.get(2..)?, 8).ok()?.to_string(),
            Some("0b") => u128::from_str_radix(digits.get(2..)?, 2).ok()?.to_string(),
            _ => decimal(&digits)?,
        };
        if negative {
            self.json.push('-');
        }
        self.json.push_str(&json);
        self.skip(end);
        Some(())
    }

    fn word(&mut self) -> Option<()> {
        for (python, json) in [("True", "true"), ("False", "false"), ("None", "null")] {
            let Some(rest) = self.rest.strip_prefix(python) else { continue };
            if !rest.starts_with(|c: char| c == '_' || c.is_alphanumeric()) {
                self.rest = rest;
                self.json.push_str(json);
                return Some(());
            }
        }
        // The notation of an empty set.
        if let Some(rest) = self.rest.strip_prefix("set()") {
            self.rest = rest;
            self.json.push_str("[]");
            return Some(());
        }
        self.rest.find(['\'', '"']).filter(|length| *length <= 2)?;
        let before = self.rest.len();
        self.texts()?;
        (self.rest.len() < before).then_some(())
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{c}']);
    }

    fn take(&mut self, wanted: char) -> bool {
        let taken = self.rest.strip_prefix(wanted);
        self.rest = taken.unwrap_or(self.rest);
        taken.is_some()
    }

    /// Passes over this many bytes.
    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }
}

/// A decimal number of Python as JSON writes it.
fn decimal(digits: &str) -> Option<String> {
    let (mantissa, exponent) = digits.split_once('e').map_or((digits, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(whole) || !fraction.is_none_or(all_digits) {
        return None;
    }
    if whole.is_empty() && fraction.is_none_or(str::is_empty) {
        return None;
    }
    let is_integer = fraction.is_none() && exponent.is_none();
    let stripped = whole.trim_start_matches('0');
    if is_integer && stripped.len() < whole.len() && !stripped.is_empty() {
        return None;
    }
    let mut json = String::from(if stripped.is_empty() { "0" } else { stripped });
    if let Some(fraction) = fraction {
        json.push('.');
        json.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    if let Some(exponent) = exponent {
        let power = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if power.is_empty() || !all_digits(power) {
            return None;
        }
        json.push('e');
        json.push_str(exponent);
    }
    Some(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rulestep_base::session::value::equal;
    use serde_json::{Value, json};

    #[test]
    fn literals_become_json() {
        for (python, json) in [
            ("{}", json!({})),
            ("{'a': 1}", json!({"a": 1})),
            (" { 'a' : 1 , } \n", json!({"a": 1})),
            (r#"{'a': "it's", "b": 'say "x"'}"#, json!({"a": "it's", "b": "say \"x\""})),
            ("[1, -3, +4, 0x1F, 1_000, 00]", json!([1, -3, 4, 31, 1000, 0])),
            ("[2.5, .5, 5.0, -1.5e-3]", json!([2.5, 0.5, 5.0, -1.5e-3])),
            ("(1, 2)", json!([1, 2])),
            ("(1,)", json!([1])),
            ("(1)", json!(1)),
            ("()", json!([])),
            ("{1, 2}", json!([1, 2])),
            ("set()", json!([])),
            ("{'a': True, 'b': False, 'c': None}", json!({"a": true, "b": false, "c": null})),
            ("{1: 'x', True: 2, None: 3, -1.5: 4}", json!({"1": "x", "true": 2, "null": 3, "-1.5": 4})),
            (r"'a\n\t\\\'\x41\u00e9\U0001F600\101\0'", json!("a\n\t\\'A\u{e9}\u{1F600}A\0")),
            (r"'\ud83d\ude00'", json!("\u{1F600}")),
            (r"'\ud83d!'", json!("\u{FFFD}!")),
            (r"'\d\é'", json!("\\d\\é")),
            ("'a\\\nb'", json!("ab")),
            (r"r'\d\''", json!("\\d\\'")),
            ("u'x' b'y' 'z'", json!("xyz")),
            ("('a'\n 'b')", json!("ab")),
            ("'''a'b''c\n'''", json!("a'b''c\n")),
            ("''", json!("")),
            ("{'a': [{'b': ('x', [])}]}", json!({"a": [{"b": ["x", []]}]})),
        ] {
            let read = to_json(python).map(|text| serde_json::from_str::<Value>(&text).unwrap());
            assert!(read.as_ref().is_some_and(|read| equal(read, &json)), "{python}: {read:?}");
        }
        assert_eq!(to_json("99999999999999999999999999").as_deref(), Some("99999999999999999999999999"));
    }

    #[test]
    fn what_is_no_literal_is_refused() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        for python in [
            "",
            "a",
            "{'a': b}",
            "{'a' 1}",
            "{'a': 1",
            "'a",
            "'a\nb'",
            "f'x'",
            "1j",
            "012",
            "1__0",
            "_1",
            "1_",
            "1e",
            "True1",
            "nan",
            "{[1]: 2}",
            "[1 2]",
            "[,]",
            "{,}",
            "print('x')",
            "1 + 2",
            "'a' 1",
            r"'\N{DASH}'",
            r"'\x4'",
            r"'\U00110000'",
            r"b'\xff'",
            "__import__('os')",
            "{'a': 1}}",
            "-",
            "- -1",
            "0x",
            ".",
            "'\\",
            &deep,
        ] {
            assert_eq!(to_json(python), None, "{python}");
        }
    }
}
