//! The filters by name, and what their implementations share.
//!
//! `sample` is missing on purpose: it draws by chance, so no two evaluations of a guard would agree.

mod array;
mod code;
mod date;
mod html;
mod math;
mod select;
mod string;
mod url;

use super::Outcome;
use super::js;
use super::render::Render;
use super::text::Text;
use super::tree::Filter;
use super::value::Value;

const TABLES: [&[(&str, Filter)]; 8] = [
    array::TABLE,
    code::TABLE,
    date::TABLE,
    html::TABLE,
    math::TABLE,
    select::TABLE,
    string::TABLE,
    url::TABLE,
];

/// The filter called `name`.
pub(super) fn find(name: &str) -> Option<(&'static str, Filter)> {
    TABLES.iter().flat_map(|table| table.iter()).find(|(known, _)| *known == name).copied()
}

/// The argument at `place`; undefined where it is not given.
fn argument(arguments: &[Value], place: usize) -> &Value {
    arguments.get(place).unwrap_or(&Value::Undefined)
}

/// The text that a value prints as, counted as read once.
fn text(run: &mut Render<'_>, value: &Value) -> Outcome<Text> {
    let text = js::stringify(value, &mut run.meter)?;
    run.meter.step(text.len())?;
    Ok(text)
}

/// The text of the argument at `place`.
fn text_argument(run: &mut Render<'_>, arguments: &[Value], place: usize) -> Outcome<Text> {
    text(run, argument(arguments, place))
}

/// New text as a value, counted.
fn made(run: &mut Render<'_>, text: impl Into<Text>) -> Outcome<Value> {
    let text = text.into();
    run.meter.text(text.len())?;
    Ok(Value::Text(text))
}

/// The items a filter for lists works on: none for nil, and a value that is no list as the only item.
fn items(run: &mut Render<'_>, value: &Value) -> Outcome<Vec<Value>> {
    let items = match value.clone().plain(&mut run.meter)? {
        Value::Undefined | Value::Null => Vec::new(),
        Value::List(list) => {
            run.meter.entries(list.items().len())?;
            list.items().to_vec()
        }
        other => vec![other],
    };
    run.meter.step(items.len())?;
    Ok(items)
}

/// New list, counted.
fn list(run: &mut Render<'_>, items: Vec<Value>) -> Outcome<Value> {
    Value::made(items, &mut run.meter)
}
