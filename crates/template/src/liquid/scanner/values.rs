//! Literals, paths, ranges, operators, filters and their arguments.

use super::super::filters;
use super::super::text::{self, Text};
use super::super::tree::{Argument, Call, Expression, Operand, Operator, Step};
use super::super::unevaluable::{Outcome, Unevaluable};
use super::super::value::Value;
use super::{Scanner, is_word};

/// Deepest nesting of brackets and parentheses.
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

impl<'a> Scanner<'a> {
    /// The word of `table` that is here as a whole.
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

    /// A value without operators and filters, and its place.
    pub(in super::super) fn value(&mut self) -> Outcome<Option<(Operand, &'a [u16])>> {
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
    pub(in super::super) fn choice(&mut self) -> Outcome<Operand> {
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
    pub(in super::super) fn path(&mut self) -> Outcome<Option<Operand>> {
        self.skip_blank();
        let keys = self.keys(true)?;
        Ok((!keys.is_empty()).then_some(Operand::Path { root: None, keys }))
    }

    /// A value with operators and filters, and how it is spelled.
    pub(in super::super) fn expression(&mut self) -> Outcome<(Expression, &'a [u16])> {
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
    pub(in super::super) fn settings(&mut self) -> Outcome<Vec<(Text, Option<Operand>)>> {
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
            // JavaScript does not store a field of this name as a property.
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
