//! Evaluates expressions: operands, operators, filters.

use std::sync::Arc;

use super::js;
use super::meter::Meter;
use super::render::{Frame, Render};
use super::text::{self, Text};
use super::tree::{Argument, Expression, Operand, Operator, Step};
use super::unevaluable::{Outcome, Unevaluable};
use super::value::{self, Value};

/// Deepest nesting of expressions given as text (one may name itself).
const NESTING: usize = 10;

impl Render<'_> {
    pub(super) fn expression(&mut self, expression: &Expression) -> Outcome<Value> {
        let mut operands: Vec<Value> = Vec::new();
        for step in &expression.steps {
            let value = match step {
                Step::Push(operand) => self.operand(operand)?,
                Step::Apply(operator) => {
                    let right = operands.pop().unwrap_or(Value::Undefined);
                    if *operator == Operator::Not {
                        Value::Bool(js::is_falsy(&right))
                    } else {
                        let left = operands.pop().unwrap_or(Value::Undefined);
                        Value::Bool(apply(*operator, &left, &right, &mut self.meter)?)
                    }
                }
            };
            operands.push(value);
        }
        // Of several adjacent values the first counts.
        let mut value = operands.into_iter().next().unwrap_or(Value::Undefined);
        for call in &expression.filters {
            self.meter.step(1)?;
            let mut arguments = Vec::with_capacity(call.arguments.len());
            for argument in &call.arguments {
                arguments.push(match argument {
                    Argument::Plain(operand) => self.operand(operand)?,
                    Argument::Named(name, operand) => {
                        let named =
                            operand.as_ref().map_or(Ok(Value::Undefined), |operand| self.operand(operand))?;
                        Value::made(vec![Value::Text(Arc::clone(name)), named], &mut self.meter)?
                    }
                });
            }
            value = (call.run)(self, value, &arguments)?;
        }
        Ok(value)
    }

    pub(super) fn operand(&mut self, operand: &Operand) -> Outcome<Value> {
        self.meter.step(1)?;
        match operand {
            Operand::Constant(value) => Ok(value.clone()),
            Operand::Range(ends) => {
                let low = self.operand(&ends.0)?.plain(&mut self.meter)?;
                let high = self.operand(&ends.1)?.plain(&mut self.meter)?;
                let low = js::number(&low, &mut self.meter)?;
                let beyond = js::number(&high, &mut self.meter)? + 1.0;
                let mut numbers = Vec::new();
                let mut next = low;
                while next < beyond {
                    self.meter.entries(1)?;
                    numbers.push(Value::Number(next));
                    next += 1.0;
                }
                Value::list(numbers)
            }
            Operand::Path { root, keys } => {
                let keys = keys
                    .iter()
                    .map(|key| {
                        let key = self.operand(key)?;
                        key.plain(&mut self.meter)
                    })
                    .collect::<Outcome<Vec<Value>>>()?;
                let mut keys = keys.iter();
                let mut value = match (root, keys.len()) {
                    (Some(root), _) => self.operand(root)?,
                    (None, 0) => return Ok(Value::Undefined),
                    (None, _) => self.variable(keys.next().unwrap_or(&Value::Undefined))?,
                };
                for key in keys {
                    value = value::property(&value, key, &mut self.meter)?;
                }
                Ok(value)
            }
        }
    }

    /// Reads `path` from each of `items` as if their fields were the variables, and hands each result to `visit` until
    /// it returns stop.
    pub(super) fn read_each(
        &mut self,
        items: &[Value],
        path: Option<&Operand>,
        mut visit: impl FnMut(&mut Self, usize, Value) -> Outcome<bool>,
    ) -> Outcome<()> {
        let frames = std::mem::take(&mut self.frames);
        let assigned = std::mem::take(&mut self.assigned);
        for (place, item) in items.iter().enumerate() {
            self.item = Some(item.clone());
            let value = path.map_or(Ok(Value::Undefined), |path| self.operand(path))?;
            if !visit(self, place, value)? {
                break;
            }
        }
        self.item = None;
        self.frames = frames;
        self.assigned = assigned;
        Ok(())
    }

    /// Evaluates `expression` for each of `items`, each under `name`, and hands the values to `visit` until
    /// it says stop.
    pub(super) fn evaluate_each(
        &mut self,
        items: &[Value],
        name: &Text,
        expression: &Expression,
        mut visit: impl FnMut(&mut Self, usize, Value) -> Outcome<bool>,
    ) -> Outcome<()> {
        if self.nesting >= NESTING {
            return Err(Unevaluable::TooDeep);
        }
        self.nesting += 1;
        for (place, item) in items.iter().enumerate() {
            self.frames.push(Frame { names: vec![(Arc::clone(name), item.clone())], inherits: true });
            let value = self.expression(expression)?;
            self.frames.pop();
            if !visit(self, place, value)? {
                break;
            }
        }
        self.nesting -= 1;
        Ok(())
    }
}

fn apply(operator: Operator, left: &Value, right: &Value, meter: &mut Meter) -> Outcome<bool> {
    meter.step(1)?;
    let ordered = |meter: &mut Meter, holds: fn(std::cmp::Ordering) -> bool| {
        let never = |value: &Value| matches!(value, Value::Nil | Value::Empty | Value::Blank);
        if never(left) || never(right) {
            return Ok(false);
        }
        Ok(js::compare(left, right, meter)?.is_some_and(holds))
    };
    match operator {
        Operator::Equal => equal(left, right, meter),
        Operator::Unequal => Ok(!equal(left, right, meter)?),
        Operator::Greater => ordered(meter, std::cmp::Ordering::is_gt),
        Operator::Less => ordered(meter, std::cmp::Ordering::is_lt),
        Operator::GreaterOrEqual => ordered(meter, std::cmp::Ordering::is_ge),
        Operator::LessOrEqual => ordered(meter, std::cmp::Ordering::is_le),
        Operator::Contains => contains(left, right, meter),
        Operator::Not => Ok(js::is_falsy(right)),
        Operator::And => Ok(!js::is_falsy(left) && !js::is_falsy(right)),
        Operator::Or => Ok(!js::is_falsy(left) || !js::is_falsy(right)),
    }
}

fn contains(left: &Value, right: &Value, meter: &mut Meter) -> Outcome<bool> {
    match left.clone().plain(meter)? {
        Value::List(list) => {
            for item in list.items() {
                if equal(item, right, meter)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Value::Text(text) => {
            let right = right.clone().plain(meter)?;
            let needle = js::string(&right, meter)?;
            meter.step(text.len() + needle.len())?;
            Ok(text::find(&text, &needle).is_some())
        }
        _ => Ok(false),
    }
}

/// `==` of templates: special values decide for themselves, lists are equal by their items, objects only
/// to themselves.
pub(super) fn equal(left: &Value, right: &Value, meter: &mut Meter) -> Outcome<bool> {
    meter.step(1)?;
    let (special, other) = match (left, right) {
        (Value::Nil | Value::Empty | Value::Blank, _) => (left, right),
        (_, Value::Nil | Value::Empty | Value::Blank) => (right, left),
        _ => {
            let (left, right) = (left.clone().plain(meter)?, right.clone().plain(meter)?);
            return match (&left, &right) {
                (Value::List(left), Value::List(right)) => {
                    if left.items().len() != right.items().len() {
                        return Ok(false);
                    }
                    for (left, right) in left.items().iter().zip(right.items()) {
                        if !equal(left, right, meter)? {
                            return Ok(false);
                        }
                    }
                    Ok(true)
                }
                (Value::Text(text), _) => {
                    meter.step(text.len())?;
                    Ok(js::same(&left, &right))
                }
                _ => Ok(js::same(&left, &right)),
            };
        }
    };
    let is_nil = other.is_nil() || matches!(other, Value::Nil);
    let is_empty = match other {
        Value::Text(text) => text.is_empty(),
        Value::List(list) => list.items().is_empty(),
        Value::Object(object) => object.entries().is_empty(),
        _ => false,
    };
    Ok(match (special, other) {
        (Value::Nil, _) => is_nil,
        (Value::Blank, Value::Bool(false)) => true,
        (Value::Blank, Value::Text(text)) => {
            meter.step(text.len())?;
            text::trim(text).is_empty()
        }
        (Value::Blank, _) => is_nil || is_empty,
        _ => is_empty,
    })
}
