//! Filters over the items of a list: by a path and an expected value, or by an expression given as text.

use std::collections::HashMap;

use super::arguments::{argument, items, list, text_argument};
use crate::liquid::expression::equal;
use crate::liquid::js;
use crate::liquid::render::Render;
use crate::liquid::scanner::Scanner;
use crate::liquid::text::{Text, units};
use crate::liquid::tree::{Expression, Filter, Operand};
use crate::liquid::unevaluable::{Outcome, Unevaluable};
use crate::liquid::value::Value;

pub(super) const TABLE: &[(&str, Filter)] = &[
    ("where", |run, value, given| keep(run, &value, given, true)),
    ("reject", |run, value, given| keep(run, &value, given, false)),
    ("where_exp", |run, value, given| keep_by_expression(run, &value, given, true)),
    ("reject_exp", |run, value, given| keep_by_expression(run, &value, given, false)),
    ("group_by", group_by),
    ("group_by_exp", group_by_expression),
    ("find", |run, value, given| Ok(search(run, &value, given)?.map_or(Value::Undefined, |(_, item)| item))),
    ("find_exp", |run, value, given| {
        Ok(search_by_expression(run, &value, given)?.map_or(Value::Undefined, |(_, item)| item))
    }),
    ("find_index", |run, value, given| {
        Ok(search(run, &value, given)?.map_or(Value::Undefined, |(place, _)| Value::Number(js::count(place))))
    }),
    ("find_index_exp", |run, value, given| {
        let found = search_by_expression(run, &value, given)?;
        Ok(found.map_or(Value::Undefined, |(place, _)| Value::Number(js::count(place))))
    }),
    ("has", |run, value, given| Ok(Value::Bool(search(run, &value, given)?.is_some()))),
    ("has_exp", |run, value, given| Ok(Value::Bool(search_by_expression(run, &value, given)?.is_some()))),
];

/// The path that a property argument spells; empty if it spells none.
fn path(run: &mut Render<'_>, given: &[Value]) -> Outcome<Option<Operand>> {
    let spelled = text_argument(run, given, 0)?;
    Scanner::over(&spelled).path().map_err(inner)
}

/// The variable and the expression that the arguments spell.
fn expression(run: &mut Render<'_>, given: &[Value]) -> Outcome<(Text, Expression)> {
    let spelled = text_argument(run, given, 1)?;
    let (expression, _) = Scanner::over(&spelled).expression().map_err(inner)?;
    Ok((js::key(argument(given, 0), &mut run.meter)?, expression))
}

/// A mistake in a path or an expression that was only found while rendering: its place is not one in the
/// template.
fn inner(error: Unevaluable) -> Unevaluable {
    match error {
        Unevaluable::Syntax { message, .. } => js::failed(format!("in the argument of a filter: {message}")),
        Unevaluable::UnknownFilter { name, .. } => {
            js::failed(format!("in the argument of a filter: unknown filter `{name}`"))
        }
        other => other,
    }
}

/// Whether a value that was read is the expected one; truthy, where none is expected.
fn matches(run: &mut Render<'_>, value: &Value, given: &[Value]) -> Outcome<bool> {
    match argument(given, 1) {
        Value::Undefined => Ok(!js::is_falsy(value)),
        expected => equal(value, expected, &mut run.meter),
    }
}

fn keep(run: &mut Render<'_>, value: &Value, given: &[Value], wanted: bool) -> Outcome<Value> {
    let items = items(run, value)?;
    let path = path(run, given)?;
    let mut kept = Vec::new();
    run.read_each(&items, path.as_ref(), |run, place, value| {
        if matches(run, &value, given)? == wanted {
            kept.extend(items.get(place).cloned());
        }
        Ok(true)
    })?;
    list(run, kept)
}

/// Only a value that is exactly `true` (or `false`) keeps an item.
fn keep_by_expression(run: &mut Render<'_>, value: &Value, given: &[Value], wanted: bool) -> Outcome<Value> {
    let (name, expression) = expression(run, given)?;
    let items = items(run, value)?;
    let mut kept = Vec::new();
    run.evaluate_each(&items, &name, &expression, |_, place, value| {
        if matches!(value, Value::Bool(truth) if truth == wanted) {
            kept.extend(items.get(place).cloned());
        }
        Ok(true)
    })?;
    list(run, kept)
}

fn search(run: &mut Render<'_>, value: &Value, given: &[Value]) -> Outcome<Option<(usize, Value)>> {
    let path = path(run, given)?;
    let items = items(run, value)?;
    let mut found = None;
    run.read_each(&items, path.as_ref(), |run, place, value| {
        if matches(run, &value, given)? {
            found = items.get(place).map(|item| (place, item.clone()));
        }
        Ok(found.is_none())
    })?;
    Ok(found)
}

fn search_by_expression(
    run: &mut Render<'_>,
    value: &Value,
    given: &[Value],
) -> Outcome<Option<(usize, Value)>> {
    let (name, expression) = expression(run, given)?;
    let items = items(run, value)?;
    let mut found = None;
    run.evaluate_each(&items, &name, &expression, |_, place, value| {
        if js::is_truthy(&value) {
            found = items.get(place).map(|item| (place, item.clone()));
        }
        Ok(found.is_none())
    })?;
    Ok(found)
}

/// Groups in the order of their first items.
#[derive(Default)]
struct Groups {
    places: HashMap<js::Identity, usize>,
    groups: Vec<(Value, Vec<Value>)>,
}

impl Groups {
    fn add(&mut self, run: &mut Render<'_>, name: Value, item: Value) -> Outcome<()> {
        run.meter.entries(1)?;
        let place = *self.places.entry(js::identity(&name, &mut run.meter)?).or_insert(self.groups.len());
        match self.groups.get_mut(place) {
            Some((_, items)) => items.push(item),
            None => self.groups.push((name, vec![item])),
        }
        Ok(())
    }

    fn finish(self, run: &mut Render<'_>) -> Outcome<Value> {
        let mut objects = Vec::with_capacity(self.groups.len());
        for (name, items) in self.groups {
            // A group is named by zero, not by minus zero.
            let name = if let Value::Number(number) = name { Value::Number(number + 0.0) } else { name };
            let items = list(run, items)?;
            run.meter.entries(2)?;
            objects.push(Value::object(vec![(units("name"), name), (units("items"), items)])?);
        }
        list(run, objects)
    }
}

fn group_by(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let items = run.enumerable(value)?;
    let path = path(run, given)?;
    let mut groups = Groups::default();
    run.read_each(items.items(), path.as_ref(), |run, place, value| {
        groups.add(run, value, items.items().get(place).cloned().unwrap_or(Value::Undefined))?;
        Ok(true)
    })?;
    groups.finish(run)
}

fn group_by_expression(run: &mut Render<'_>, value: Value, given: &[Value]) -> Outcome<Value> {
    let (name, expression) = expression(run, given)?;
    let items = run.enumerable(value)?;
    let mut groups = Groups::default();
    run.evaluate_each(items.items(), &name, &expression, |run, place, value| {
        groups.add(run, value, items.items().get(place).cloned().unwrap_or(Value::Undefined))?;
        Ok(true)
    })?;
    groups.finish(run)
}
