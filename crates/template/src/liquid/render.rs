//! One rendering: its variables, and its remaining budget.

use std::collections::HashMap;
use std::sync::Arc;

use super::js;
use super::meter::Meter;
use super::text::{self, Text};
use super::unevaluable::{Outcome, Unevaluable};
use super::value::{self, Value};

/// The context of a rendering.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The variables by name. Each is requested at most once, when a template first reads it.
    pub globals: &'a dyn Fn(&str) -> Option<Value>,
    /// The instant that `'now' | date` means, in milliseconds since 1970.
    pub now: Option<i64>,
}

/// One rendering under way.
pub(super) struct Render<'a> {
    scope: &'a Scope<'a>,
    pub(super) meter: Meter,
    /// Assigned and captured variables.
    pub(super) assigned: HashMap<Text, Value>,
    /// The variables of the loops around, innermost last.
    pub(super) frames: Vec<Frame>,
    /// Variables requested from the caller or changed by `increment` and `decrement`.
    globals: HashMap<Text, Option<Value>>,
    /// Replaces the caller's variables while a filter reads a property of this item.
    pub(super) item: Option<Value>,
    /// Where loops with `offset: continue` resume.
    pub(super) continues: HashMap<Text, Value>,
    pub(super) cycles: HashMap<Text, usize>,
    pub(super) broken: bool,
    pub(super) continued: bool,
    /// Number of nested filters with an expression that are being evaluated.
    pub(super) nesting: usize,
}

/// Variables of one loop, or the one of a filter that takes an expression.
pub(super) struct Frame {
    pub(super) names: Vec<(Text, Value)>,
    /// Made from a JavaScript object, which answers to more names than it has.
    pub(super) inherits: bool,
}

impl Frame {
    pub(super) fn new(names: Vec<(Text, Value)>) -> Self {
        Self { names, inherits: false }
    }

    pub(super) fn set(&mut self, name: &Text, value: Value) {
        match self.names.iter_mut().find(|(known, _)| known == name) {
            Some(known) => known.1 = value,
            None => self.names.push((Arc::clone(name), value)),
        }
    }

    pub(super) fn get(&self, name: &[u16]) -> Option<&Value> {
        self.names.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }
}

impl<'a> Render<'a> {
    pub(super) fn new(scope: &'a Scope<'a>, steps: u64) -> Self {
        Self {
            scope,
            meter: Meter::new(steps),
            assigned: HashMap::new(),
            frames: Vec::new(),
            globals: HashMap::new(),
            item: None,
            continues: HashMap::new(),
            cycles: HashMap::new(),
            broken: false,
            continued: false,
            nesting: 0,
        }
    }

    /// The instant of `'now'`, in milliseconds.
    pub(super) fn now(&self) -> Outcome<i64> {
        self.scope.now.ok_or(Unevaluable::NoClock)
    }

    /// Reads a variable: of a loop, assigned, or of the caller.
    pub(super) fn variable(&mut self, name: &Value) -> Outcome<Value> {
        let name = js::key(name, &mut self.meter)?;
        self.meter.step(name.len())?;
        for frame in self.frames.iter().rev() {
            if let Some(value) = frame.get(&name) {
                return Ok(value.clone());
            }
            if frame.inherits && value::is_inherited(&name) {
                return Ok(Value::Undefined);
            }
        }
        if let Some(value) = self.assigned.get(&name) {
            return Ok(value.clone());
        }
        let found = match &self.item {
            Some(item @ (Value::Nil | Value::Empty | Value::Blank | Value::Loop(_))) => {
                let item = item.clone();
                value::special(&item, &name, &mut self.meter)?
            }
            Some(item) => value::own(item, &name),
            None => self.global(&name).clone(),
        };
        // An unknown name is looked up in an empty object, whose size is 0.
        let unknown = if text::is(&name, "size") { Value::Number(0.0) } else { Value::Undefined };
        Ok(found.unwrap_or(unknown))
    }

    /// The caller's variable of this name.
    pub(super) fn global(&mut self, name: &Text) -> &mut Option<Value> {
        let scope = self.scope;
        self.globals
            .entry(Arc::clone(name))
            .or_insert_with(|| text::utf8(name).and_then(|name| (scope.globals)(&name)))
    }
}
