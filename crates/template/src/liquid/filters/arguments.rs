//! Inputs and outputs of filters: arguments, texts and lists, each counted.

use crate::liquid::js;
use crate::liquid::render::Render;
use crate::liquid::text::Text;
use crate::liquid::unevaluable::Outcome;
use crate::liquid::value::Value;

/// The argument at `place`; undefined if it is not given.
pub(super) fn argument(arguments: &[Value], place: usize) -> &Value {
    arguments.get(place).unwrap_or(&Value::Undefined)
}

/// The text that a value prints as, counted as read once.
pub(super) fn text(run: &mut Render<'_>, value: &Value) -> Outcome<Text> {
    let text = js::stringify(value, &mut run.meter)?;
    run.meter.step(text.len())?;
    Ok(text)
}

/// The text of the argument at `place`.
pub(super) fn text_argument(run: &mut Render<'_>, arguments: &[Value], place: usize) -> Outcome<Text> {
    text(run, argument(arguments, place))
}

/// New text as a value, counted.
pub(super) fn made(run: &mut Render<'_>, text: impl Into<Text>) -> Outcome<Value> {
    let text = text.into();
    run.meter.text(text.len())?;
    Ok(Value::Text(text))
}

/// The items a filter for lists works on: none for nil, and a value that is no list as the only item.
pub(super) fn items(run: &mut Render<'_>, value: &Value) -> Outcome<Vec<Value>> {
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
pub(super) fn list(run: &mut Render<'_>, items: Vec<Value>) -> Outcome<Value> {
    Value::made(items, &mut run.meter)
}
