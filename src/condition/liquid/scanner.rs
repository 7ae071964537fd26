//! Reads words, literals, values and filters from a part of a template.
//!
//! LiquidJS reads leniently: it stops at the first thing that does not continue a value and ignores what
//! follows a comma or a closing parenthesis. What it accepts has a meaning, so the same is accepted here,
//! with the same meaning, and the same is refused.

use super::text::{self, Text};
use super::tree::{Argument, Call, Expression, Operand, Operator, Step};
use super::value::Value;
use super::{Outcome, Unevaluable, filters};

/// How deep brackets and parentheses may nest.
const NESTING: usize = 60;

const LITERALS: [(&str, Value); 6] = [
    ("true", Value::Bool(true)),
    ("false", Value::Bool(false)),
    ("nil", Value::Nil),
    ("null", Value::Nil),
    ("empty", Value::Empty),
    ("blank", Value::Blank),
];

/// Longer spellings before their beginnings.
const OPERATORS: [(&str, Operator); 10] = [
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("contains", Operator::Contains),
    ("not", Operator::Not),
    ("and", Operator::And),
    ("or", Operator::Or),
];

const NOTHING: &[u16] = &[];

/// Blank to the tokenizer, which is not quite what is white space to `strip`.
pub(super) fn is_blank(unit: u16) -> bool {
    matches!(
        unit,
        9..=13 | 32 | 0xa0 | 0x1680 | 0x180e | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f | 0x3000
    )
}

fn is_word(unit: u16) -> bool {
    match unit {
        45 | 48..=57 | 63 | 65..=90 | 95 | 97..=122 => true,
        0..=127 | 0x201c | 0x201d => false,
        other => !is_blank(other),
    }
}

/// A place in a template, and the end of the part it may read.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'a> {
    pub(super) input: &'a [u16],
    pub(super) at: usize,
    pub(super) end: usize,
    nesting: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(input: &'a [u16], at: usize, end: usize) -> Self {
        Self { input, at, end, nesting: 0 }
    }

    pub(super) fn over(input: &'a [u16]) -> Self {
        Self::new(input, 0, input.len())
    }

    pub(super) fn done(&self) -> bool {
        self.at >= self.end
    }

    pub(super) fn peek(&self) -> Option<u16> {
        self.ahead(0)
    }

    fn ahead(&self, by: usize) -> Option<u16> {
        let at = self.at + by;
        (at < self.end).then(|| self.input.get(at).copied()).flatten()
    }

    pub(super) fn is_at(&self, unit: char) -> bool {
        self.peek().map(u32::from) == Some(u32::from(unit))
    }

    fn ahead_is(&self, by: usize, unit: char) -> bool {
        self.ahead(by).map(u32::from) == Some(u32::from(unit))
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &'a [u16] {
        self.input.get(from..to).unwrap_or(NOTHING)
    }

    pub(super) fn error(&self, message: impl Into<String>) -> Unevaluable {
        Unevaluable::Syntax { message: message.into(), offset: self.at }
    }

    pub(super) fn skip_blank(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    /// Whether `pattern` (ASCII) stands right before the place.
    pub(super) fn follows(&self, pattern: &str) -> bool {
        let Some(from) = self.at.checked_sub(pattern.len()) else { return false };
        self.input.get(from..self.at).is_some_and(|before| text::is(before, pattern))
    }

    /// Whether `pattern` stands at the place.
    pub(super) fn meets(&self, pattern: &str) -> bool {
        pattern.encode_utf16().enumerate().all(|(by, unit)| self.input.get(self.at + by) == Some(&unit))
    }

    /// Goes behind the next `pattern`; to the end, and false, where there is none.
    pub(super) fn read_to(&mut self, pattern: &str) -> bool {
        while self.at < self.end {
            self.at += 1;
            if self.follows(pattern) {
                return true;
            }
        }
        false
    }

    /// Like [`Self::read_to`] from the next character that is not blank, if wanted over quoted text.
    pub(super) fn read_to_delimiter(&mut self, delimiter: &str, over_quotes: bool) -> bool {
        self.skip_blank();
        while self.at < self.end {
            if over_quotes && self.at_quote() {
                self.read_quote_span();
                continue;
            }
            self.at += 1;
            if self.follows(delimiter) {
                return true;
            }
        }
        false
    }

    pub(super) fn identifier(&mut self) -> &'a [u16] {
        self.skip_blank();
        let from = self.at;
        while self.peek().is_some_and(is_word) {
            self.at += 1;
        }
        self.slice(from, self.at)
    }

    /// The name of a tag, or the `#` of an inline comment.
    pub(super) fn tag_name(&mut self) -> &'a [u16] {
        self.skip_blank();
        if self.input.get(self.at) == Some(&35) {
            self.at += 1;
            return self.slice(self.at - 1, self.at);
        }
        self.identifier()
    }

    fn at_quote(&self) -> bool {
        matches!(self.peek(), Some(34 | 39))
    }

    /// Goes behind quoted text; to the end where it is not closed.
    fn read_quote_span(&mut self) {
        let quote = self.peek();
        self.at += 1;
        let mut escaped = false;
        while self.at < self.end {
            let unit = self.peek();
            self.at += 1;
            if unit == quote && !escaped {
                break;
            }
            escaped = !escaped && unit == Some(92);
        }
    }

    pub(super) fn quoted(&mut self) -> Outcome<Option<Text>> {
        self.skip_blank();
        if !self.at_quote() {
            return Ok(None);
        }
        let from = self.at;
        self.read_quote_span();
        let spelled = self.slice(from, self.at);
        unescape(spelled).map(Some).ok_or_else(|| self.error("`\\u` at the end of text that is not closed"))
    }

    /// The word of `table` that stands here as a whole.
    fn keyword<T: Clone>(&self, table: &[(&str, T)]) -> Option<(usize, T)> {
        let (word, meaning) =
            table.iter().find(|(word, _)| self.at + word.len() <= self.end && self.meets(word))?;
        let ends_in_letter = word.ends_with(|last: char| last.is_ascii_alphabetic());
        if ends_in_letter && self.ahead(word.len()).is_some_and(is_word) {
            return None;
        }
        Some((word.len(), meaning.clone()))
    }

    fn number(&mut self) -> Option<f64> {
        self.skip_blank();
        let mut by = usize::from(matches!(self.peek(), Some(43 | 45)));
        let (mut digits, mut point) = (false, false);
        loop {
            match self.ahead(by) {
                Some(48..=57) => digits = true,
                Some(46) if !self.ahead_is(by + 1, '.') => {
                    if point || !digits {
                        return None;
                    }
                    point = true;
                }
                _ => break,
            }
            by += 1;
        }
        if !digits || self.ahead(by).is_some_and(is_word) {
            return None;
        }
        let spelled = text::lossy(self.slice(self.at, self.at + by));
        self.at += by;
        Some(spelled.parse().unwrap_or(f64::NAN))
    }

    /// A value without operators and filters, and where it stands.
    pub(super) fn value(&mut self) -> Outcome<Option<(Operand, &'a [u16])>> {
        self.skip_blank();
        if self.nesting >= NESTING {
            return Err(Unevaluable::TooDeep);
        }
        self.nesting += 1;
        let value = self.value_inside();
        self.nesting -= 1;
        value
    }

    fn value_inside(&mut self) -> Outcome<Option<(Operand, &'a [u16])>> {
        let from = self.at;
        let root = if let Some((length, literal)) = self.keyword(&LITERALS) {
            self.at += length;
            Some(Operand::Constant(literal))
        } else if let Some(quoted) = self.quoted()? {
            Some(Operand::Constant(Value::Text(quoted)))
        } else if let Some(number) = self.number() {
            Some(Operand::Constant(Value::Number(number)))
        } else if self.is_at('(') {
            Some(self.range()?)
        } else {
            None
        };
        let root_end = self.at;
        let keys = self.keys(root.is_none())?;
        if keys.is_empty() {
            return Ok(root.map(|root| (root, self.slice(from, root_end))));
        }
        let path = Operand::Path { root: root.map(Box::new), keys };
        Ok(Some((path, self.slice(from, self.at))))
    }

    fn required_value(&mut self) -> Outcome<Operand> {
        match self.value()? {
            Some((value, _)) => Ok(value),
            None => Err(self.error("a value was expected")),
        }
    }

    /// A value of a `when`.
    pub(super) fn choice(&mut self) -> Outcome<Operand> {
        self.required_value()
    }

    fn range(&mut self) -> Outcome<Operand> {
        self.at += 1;
        let low = self.required_value()?;
        self.skip_blank();
        if !(self.is_at('.') && self.ahead_is(1, '.')) {
            return Err(self.error("parentheses may only hold a range such as `(1..5)`"));
        }
        self.at += 2;
        let high = self.required_value()?;
        self.skip_blank();
        if !self.is_at(')') {
            return Err(self.error("the range is not closed"));
        }
        self.at += 1;
        Ok(Operand::Range(Box::new((low, high))))
    }

    fn keys(&mut self, begins: bool) -> Outcome<Vec<Operand>> {
        let mut keys = Vec::new();
        loop {
            if self.is_at('[') {
                self.at += 1;
                let key = self.value()?.map_or_else(|| Operand::Constant(Value::text("")), |(key, _)| key);
                if !self.read_to("]") {
                    return Err(self.error("`[` is not closed"));
                }
                keys.push(key);
                continue;
            }
            if begins && keys.is_empty() {
                let name = self.identifier();
                if !name.is_empty() {
                    keys.push(Operand::Constant(Value::Text(name.into())));
                    continue;
                }
            }
            if self.is_at('.') && !self.ahead_is(1, '.') {
                self.at += 1;
                let name = self.identifier();
                if !name.is_empty() {
                    keys.push(Operand::Constant(Value::Text(name.into())));
                    continue;
                }
            }
            return Ok(keys);
        }
    }

    /// A path from the variables, as the filters that take a property read it.
    pub(super) fn path(&mut self) -> Outcome<Option<Operand>> {
        self.skip_blank();
        let keys = self.keys(true)?;
        Ok((!keys.is_empty()).then_some(Operand::Path { root: None, keys }))
    }

    /// A value with operators and filters, and how it is spelled.
    pub(super) fn expression(&mut self) -> Outcome<(Expression, &'a [u16])> {
        let from = self.at;
        let mut steps = Vec::new();
        let mut waiting: Vec<Operator> = Vec::new();
        while self.at < self.end {
            self.skip_blank();
            if let Some((length, operator)) = self.keyword(&OPERATORS) {
                self.at += length;
                while let Some(last) = waiting.pop_if(|last| last.strength() > operator.strength()) {
                    steps.push(Step::Apply(last));
                }
                waiting.push(operator);
            } else if let Some((value, _)) = self.value()? {
                steps.push(Step::Push(value));
            } else {
                break;
            }
        }
        steps.extend(waiting.into_iter().rev().map(Step::Apply));
        if steps.is_empty() {
            return Err(self.error("a value was expected"));
        }
        let filters = self.filters()?;
        Ok((Expression { steps, filters }, self.slice(from, self.at)))
    }

    fn filters(&mut self) -> Outcome<Vec<Call>> {
        let mut calls = Vec::new();
        loop {
            self.skip_blank();
            if self.done() || self.is_at(')') || self.is_at(',') {
                return Ok(calls);
            }
            if !self.is_at('|') {
                return Err(self.error("`|` was expected before a filter"));
            }
            self.at += 1;
            self.skip_blank();
            let offset = self.at;
            let name = self.identifier();
            if name.is_empty() {
                if self.done() {
                    return Ok(calls);
                }
                return Err(self.error("a filter name was expected"));
            }
            let arguments = self.arguments()?;
            let spelled = text::lossy(name);
            if spelled == "sample" {
                return Err(Unevaluable::unsupported("filter", &spelled));
            }
            let Some((name, run)) = filters::find(&spelled) else {
                return Err(Unevaluable::UnknownFilter { name: spelled, offset });
            };
            calls.push(Call { name, run, arguments });
        }
    }

    fn arguments(&mut self) -> Outcome<Vec<Argument>> {
        let mut arguments = Vec::new();
        self.skip_blank();
        if !self.is_at(':') {
            if self.done() || self.is_at('|') || self.is_at(')') || self.is_at(',') {
                return Ok(arguments);
            }
            return Err(self.error("`:` was expected after the filter name"));
        }
        loop {
            self.at += 1;
            if let Some((value, spelled)) = self.value()? {
                self.skip_blank();
                if self.is_at(':') {
                    self.at += 1;
                    let named = self.value()?.map(|(value, _)| value);
                    arguments.push(Argument::Named(spelled.into(), named));
                } else {
                    arguments.push(Argument::Plain(value));
                }
            }
            self.skip_blank();
            if !(self.done() || self.is_at(',') || self.is_at('|') || self.is_at(')')) {
                return Err(self.error("unexpected character after an argument"));
            }
            if !self.is_at(',') {
                return Ok(arguments);
            }
        }
    }

    /// The `name: value` settings of a loop.
    pub(super) fn settings(&mut self) -> Outcome<Vec<(Text, Option<Operand>)>> {
        let mut settings: Vec<(Text, Option<Operand>)> = Vec::new();
        loop {
            self.skip_blank();
            if self.is_at(',') {
                self.at += 1;
            }
            let name = self.identifier();
            if name.is_empty() {
                return Ok(settings);
            }
            self.skip_blank();
            let mut value = None;
            if self.is_at(':') {
                self.at += 1;
                value = self.value()?.map(|(value, _)| value);
            }
            // JavaScript keeps a field of this name where nobody looks for it.
            if text::is(name, "__proto__") {
                continue;
            }
            match settings.iter_mut().find(|(known, _)| **known == *name) {
                Some(known) => known.1 = value,
                None => settings.push((name.into(), value)),
            }
        }
    }
}

/// The text between the first and the last character (where the closing quote is missing, the last
/// character stands for it), escapes resolved. `None` where LiquidJS stumbles: over `\u` whose digits run
/// into the end of open text.
fn unescape(spelled: &[u16]) -> Option<Text> {
    let last = spelled.len().saturating_sub(1);
    if !spelled.contains(&92) {
        return Some(spelled.get(1..last).unwrap_or(NOTHING).into());
    }
    let digit =
        |at: usize, base: u32| char::from_u32(u32::from(*spelled.get(at)?)).and_then(|c| c.to_digit(base));
    let mut out = Vec::with_capacity(spelled.len());
    let mut at = 1;
    while at < last {
        let unit = spelled.get(at).copied().unwrap_or(0);
        at += 1;
        if unit != 92 {
            out.push(unit);
            continue;
        }
        let escaped = spelled.get(at).copied().unwrap_or(0);
        match escaped {
            98 => out.push(8),
            102 => out.push(12),
            110 => out.push(10),
            114 => out.push(13),
            116 => out.push(9),
            118 => out.push(11),
            48..=55 => {
                let value = (0..3).map_while(|by| digit(at + by, 8));
                let (value, count) = value.fold((0, 0), |(sum, count), digit| (sum * 8 + digit, count + 1));
                out.push(value as u16);
                at += count;
                continue;
            }
            117 => {
                let value = (1..5).map_while(|by| digit(at + by, 16));
                let (value, count) = value.fold((0, 0), |(sum, count), digit| (sum * 16 + digit, count + 1));
                if count < 4 && at + count >= last {
                    return None;
                }
                out.push(value as u16);
                at += count;
            }
            other => out.push(other),
        }
        at += 1;
    }
    Some(out.into())
}
