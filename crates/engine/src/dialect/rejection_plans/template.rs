//! The variables that a template of a plan may use, and the meaning of its output.

use std::cell::Cell;
use std::sync::Arc;

use super::facts::Cause;
use crate::monitor::collections::Blocks;
use crate::monitor::{Cx, History};
use rulestep_base::session::{Facts, Message, MessageKind, ToolCall};
use rulestep_template::liquid::{Scope, Template, Text, Unevaluable, Value};

/// Most steps of one rendering.
pub(super) const BUDGET: u64 = 2_000_000;

/// The result of a template.
#[derive(Debug)]
pub(super) struct Rendering {
    pub value: bool,
    pub printed: Option<Arc<str>>,
    pub cause: Option<Cause>,
}

/// The history as templates see it. Messages are turned into values once, when a template first asks.
#[derive(Clone, Default)]
pub(super) struct Messages {
    made: Blocks<Value>,
}

impl Messages {
    /// All messages of the history, and those of the turn's own response.
    pub fn list(&mut self, history: &History, own: &[&Message]) -> Result<Value, Unevaluable> {
        for message in history.from(self.made.len()) {
            self.made.push(seen(message)?);
        }
        let mut items: Vec<Value> = self.made.iter().cloned().collect();
        for message in own {
            items.push(seen(message)?);
        }
        Value::list(items)
    }
}

/// Renders a template; `messages` makes their list.
pub(super) fn render(
    template: &Template,
    cx: &Cx<'_>,
    messages: &mut dyn FnMut() -> Result<Value, Unevaluable>,
) -> Rendering {
    let messages = std::cell::RefCell::new(messages);
    // A missing value is only known here: the template sees nothing in its place, and its output is not used.
    let missing: Cell<Option<Cause>> = Cell::new(None);
    let give = |made: Result<Value, Unevaluable>| match made {
        Ok(value) => Some(value),
        Err(error) => {
            missing.set(Some(failed(&error)));
            None
        }
    };
    let globals = |name: &str| match name {
        "messages" => give((messages.borrow_mut())()),
        "now" if cx.now.is_none() => {
            missing.set(Some(Cause::NoInstant));
            None
        }
        // Milliseconds of any year that can be written are exact in a double.
        "now" => cx.now.map(|now| Value::Number(now as f64)),
        name => variable(cx.facts, name).and_then(|value| give(Value::from_json(value))),
    };
    let rendered = template.render(&Scope { globals: &globals, now: cx.now }, BUDGET);
    let (printed, failure) = match rendered {
        Ok(printed) => (Some(trim(&printed).into()), None),
        Err(error) => (None, Some(failed(&error))),
    };
    let printed: Option<Arc<str>> = printed;
    let cause = missing.into_inner().or(failure);
    match (cause, printed.as_deref()) {
        (Some(cause), _) => Rendering { value: true, printed: None, cause: Some(cause) },
        (None, Some("true")) => Rendering { value: true, printed, cause: None },
        (None, Some("false")) => Rendering { value: false, printed, cause: None },
        (None, _) => Rendering { value: true, printed, cause: Some(Cause::Printed) },
    }
}

fn failed(error: &Unevaluable) -> Cause {
    match error {
        Unevaluable::Budget => Cause::Budget(BUDGET),
        Unevaluable::NoClock => Cause::NoInstant,
        other => Cause::Template(other.to_string().into()),
    }
}

/// A variable of the session, or of its context if it has no variables.
fn variable<'a>(facts: &'a Facts, name: &str) -> Option<&'a serde_json::Value> {
    match &facts.variables {
        Some(variables) => variables.get(name),
        None => facts.context.as_ref()?.as_object()?.get(name),
    }
}

/// A message as the chat form writes it.
fn seen(message: &Message) -> Result<Value, Unevaluable> {
    let content = match message.content.said() {
        _ if message.content.is_missing() => Value::Null,
        Some(text) => Value::text(text),
        None => Value::from_json(message.content.value().unwrap_or(&serde_json::Value::Null))?,
    };
    let mut entries = vec![(key("role"), Value::text(&message.role)), (key("content"), content)];
    if !message.calls.is_empty() {
        let calls = message.calls.iter().map(|proposed| call(proposed)).collect::<Result<_, _>>()?;
        entries.push((key("tool_calls"), Value::list(calls)?));
    }
    if let MessageKind::Result(_, Some(id)) = &message.kind {
        entries.push((key("tool_call_id"), Value::text(id)));
    }
    Value::object(entries)
}

fn call(call: &ToolCall) -> Result<Value, Unevaluable> {
    let function =
        vec![(key("name"), Value::text(&call.tool)), (key("arguments"), Value::text(call.arguments.raw()))];
    let mut entries = Vec::with_capacity(3);
    if let Some(id) = &call.id {
        entries.push((key("id"), Value::text(id)));
    }
    entries.push((key("type"), Value::text("function")));
    entries.push((key("function"), Value::object(function)?));
    Value::object(entries)
}

fn key(name: &str) -> Text {
    name.encode_utf16().collect()
}

/// Trims as JavaScript does.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Whether JavaScript's `trim` removes it.
fn is_space(letter: char) -> bool {
    matches!(
        letter,
        '\t'..='\r'
            | ' '
            | '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
            | '\u{feff}'
    )
}
