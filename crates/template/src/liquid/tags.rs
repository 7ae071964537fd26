//! Renders the nodes of a template.

use std::sync::Arc;

use super::expression::equal;
use super::js;
use super::render::{Frame, Render};
use super::text::{self, Text};
use super::tree::{For, Node};
use super::unevaluable::Outcome;
use super::value::{List, Loop, Value};

impl Render<'_> {
    /// Renders `nodes` in order, up to a `break` or `continue`.
    pub(super) fn nodes(&mut self, nodes: &[Node], out: &mut Vec<u16>) -> Outcome<()> {
        for node in nodes {
            self.meter.step(1)?;
            self.node(node, out)?;
            if self.broken || self.continued {
                break;
            }
        }
        Ok(())
    }

    fn node(&mut self, node: &Node, out: &mut Vec<u16>) -> Outcome<()> {
        match node {
            Node::Text(text) => self.write(text, out),
            Node::Output(expression) => {
                let value = self.expression(expression)?;
                self.write_value(&value, out)
            }
            Node::Assign { name, value } => {
                let value = self.expression(value)?;
                self.assigned.insert(Arc::clone(name), value);
                Ok(())
            }
            Node::Capture { name, body } => {
                let mut captured = Vec::new();
                self.nodes(body, &mut captured)?;
                self.assigned.insert(Arc::clone(name), Value::Text(captured.into()));
                Ok(())
            }
            Node::If { branches, otherwise } => {
                for branch in branches {
                    let value = self.expression(&branch.test)?;
                    if js::is_falsy(&value) == branch.negated {
                        return self.nodes(&branch.body, out);
                    }
                }
                self.nodes(otherwise, out)
            }
            Node::Case { subject, branches, otherwise } => {
                let subject = self.expression(subject)?.plain(&mut self.meter)?;
                let mut hit = false;
                for (choices, body) in branches {
                    // Every branch with a fitting value is rendered, not only the first.
                    for choice in choices {
                        let choice = self.operand(choice)?;
                        if equal(&subject, &choice, &mut self.meter)? {
                            self.nodes(body, out)?;
                            hit = true;
                            break;
                        }
                    }
                }
                if hit { Ok(()) } else { self.nodes(otherwise, out) }
            }
            Node::For(tag) => self.for_loop(tag, out),
            Node::Table(tag) => self.table(tag, out),
            Node::Cycle { group, choices, label } => {
                let group = group.as_ref().map_or(Ok(Value::Undefined), |group| self.operand(group))?;
                let group = js::string(&group, &mut self.meter)?;
                self.meter.text(group.len() + label.len())?;
                let key: Text = [&*group, &[58], &**label].concat().into();
                let place = self.cycles.get(&key).copied().unwrap_or(0);
                self.cycles.insert(key, (place + 1) % choices.len().max(1));
                let Some(choice) = choices.get(place) else { return Ok(()) };
                let value = self.expression(choice)?.plain(&mut self.meter)?;
                if js::is_truthy(&value) { self.write_value(&value, out) } else { Ok(()) }
            }
            Node::Count { name, down } => self.count(name, *down, out),
            Node::Block(nodes) => self.nodes(nodes, out),
            Node::Break => {
                self.broken = true;
                Ok(())
            }
            Node::Continue => {
                self.continued = true;
                Ok(())
            }
        }
    }

    fn write(&mut self, text: &[u16], out: &mut Vec<u16>) -> Outcome<()> {
        self.meter.text(text.len())?;
        out.extend_from_slice(text);
        Ok(())
    }

    fn write_value(&mut self, value: &Value, out: &mut Vec<u16>) -> Outcome<()> {
        let text = js::stringify(value, &mut self.meter)?;
        self.write(&text, out)
    }

    /// Counts in the variables of the session, not in the assigned ones, which hide them.
    fn count(&mut self, name: &Text, down: bool, out: &mut Vec<u16>) -> Outcome<()> {
        let global = self.global(name);
        let before = if let Some(Value::Number(number)) = global { *number } else { 0.0 };
        let after = if down { before - 1.0 } else { before + 1.0 };
        *global = Some(Value::Number(after));
        let shown = js::number_text(if down { after } else { before });
        self.write(&text::units(&shown), out)
    }

    fn settings(&mut self, tag: &For) -> Outcome<Vec<(Text, Value)>> {
        let settings = tag.settings.iter();
        settings
            .map(|(name, operand)| {
                let value =
                    operand.as_ref().map_or(Ok(Value::Bool(true)), |operand| self.operand(operand))?;
                Ok((Arc::clone(name), value))
            })
            .collect()
    }

    fn for_loop(&mut self, tag: &For, out: &mut Vec<u16>) -> Outcome<()> {
        let collection = self.operand(&tag.collection)?;
        let mut items = self.enumerable(collection)?;
        if items.items().is_empty() {
            return self.nodes(&tag.otherwise, out);
        }
        let key: Text = [&*tag.variable, &[45], &*tag.spelling].concat().into();
        let start = match self.continues.get(&key) {
            Some(start) if js::is_truthy(start) => start.clone(),
            _ => Value::object(Vec::new())?,
        };
        self.frames.push(Frame::new(vec![(text::units("continue"), start)]));
        let settings = self.settings(tag)?;
        self.frames.pop();
        let offset = setting(&settings, "offset");
        if !matches!(offset, Value::Undefined) {
            items = self.slice(&items, offset, &Value::Undefined)?;
        }
        let limit = setting(&settings, "limit");
        if !matches!(limit, Value::Undefined) {
            items = self.slice(&items, &Value::Number(0.0), limit)?;
        }
        if !matches!(setting(&settings, "reversed"), Value::Undefined) {
            let reversed = Value::made(items.items().iter().rev().cloned().collect(), &mut self.meter)?;
            items = self.enumerable(reversed)?;
        }
        let skipped = if js::is_truthy(offset) { offset.clone() } else { Value::Number(0.0) };
        let length = Value::Number(js::count(items.items().len()));
        let next = js::add(&skipped, &length, &mut self.meter)?;
        self.continues.insert(key, next);

        let forloop = text::units("forloop");
        let state = Loop::new(items.items().len(), loop_name(tag), None)?;
        self.frames.push(Frame::new(vec![(Arc::clone(&forloop), Value::Loop(state))]));
        for item in items.items() {
            self.meter.step(1)?;
            if let Some(frame) = self.frames.last_mut() {
                frame.set(&tag.variable, item.clone());
            }
            (self.broken, self.continued) = (false, false);
            self.nodes(&tag.body, out)?;
            if self.broken {
                break;
            }
            match self.frames.last().and_then(|frame| frame.get(&forloop)) {
                Some(Value::Loop(state)) => state.next(),
                _ => return Err(js::failed("the loop variable `forloop` hides the state of the loop")),
            }
        }
        (self.broken, self.continued) = (false, false);
        self.frames.pop();
        Ok(())
    }

    fn table(&mut self, tag: &For, out: &mut Vec<u16>) -> Outcome<()> {
        let collection = self.operand(&tag.collection)?;
        let items = self.enumerable(collection)?;
        let settings = self.settings(tag)?;
        let zero = Value::Number(0.0);
        let offset =
            Some(setting(&settings, "offset")).filter(|offset| js::is_truthy(offset)).unwrap_or(&zero);
        let length = Value::Number(js::count(items.items().len()));
        let limit = match setting(&settings, "limit") {
            Value::Undefined => &length,
            limit => limit,
        };
        let end = js::add(offset, limit, &mut self.meter)?;
        let items = self.slice(&items, offset, &end)?;
        let columns = match setting(&settings, "cols") {
            columns if js::is_truthy(columns) => columns.clone(),
            _ => Value::Number(js::count(items.items().len())),
        };
        let state = Loop::new(items.items().len(), loop_name(tag), Some(columns))?;
        let name = text::units("tablerowloop");
        self.frames.push(Frame::new(vec![(name, Value::Loop(Arc::clone(&state)))]));
        for item in items.items() {
            self.meter.step(1)?;
            if let Some(frame) = self.frames.last_mut() {
                frame.set(&tag.variable, item.clone());
            }
            let column = state.column(&mut self.meter)?;
            if column == 0.0 {
                let row = state.row(&mut self.meter)?;
                let end = if row == 1.0 { "" } else { "</tr>" };
                let begin = format!("{end}<tr class=\"row{}\">", js::number_text(row));
                self.write(&text::units(&begin), out)?;
            }
            let begin = format!("<td class=\"col{}\">", js::number_text(column + 1.0));
            self.write(&text::units(&begin), out)?;
            self.nodes(&tag.body, out)?;
            self.write(&text::units("</td>"), out)?;
            state.next();
        }
        if !items.items().is_empty() {
            self.write(&text::units("</tr>"), out)?;
        }
        self.frames.pop();
        Ok(())
    }

    /// The items of a loop: a list, the one text, or pairs of key and value.
    pub(super) fn enumerable(&mut self, value: Value) -> Outcome<Arc<List>> {
        let items = match value.plain(&mut self.meter)? {
            Value::List(list) => return Ok(list),
            Value::Text(text) if !text.is_empty() => vec![Value::Text(text)],
            Value::Object(object) => {
                let pairs = object.entries().iter();
                let meter = &mut self.meter;
                pairs
                    .map(|(key, value)| Value::made(vec![Value::Text(Arc::clone(key)), value.clone()], meter))
                    .collect::<Outcome<_>>()?
            }
            _ => Vec::new(),
        };
        self.listed(items)
    }

    fn listed(&mut self, items: Vec<Value>) -> Outcome<Arc<List>> {
        match Value::made(items, &mut self.meter)? {
            Value::List(list) => Ok(list),
            _ => Err(js::failed("a list was expected")),
        }
    }

    /// `array.slice(start, end)`.
    pub(super) fn slice(&mut self, items: &Arc<List>, start: &Value, end: &Value) -> Outcome<Arc<List>> {
        let (from, to) = span(items.items().len(), start, end, &mut self.meter)?;
        if from == 0 && to == items.items().len() {
            return Ok(Arc::clone(items));
        }
        let taken = items.items().get(from..to).unwrap_or_default().to_vec();
        self.listed(taken)
    }
}

/// The range of a row of `length` items that `slice(start, end)` takes: negative ends count from the end.
pub(super) fn span(
    length: usize,
    start: &Value,
    end: &Value,
    meter: &mut super::meter::Meter,
) -> Outcome<(usize, usize)> {
    let place = |value: f64| {
        let length = js::count(length);
        let place = js::integer(value);
        js::whole(if place < 0.0 { (length + place).max(0.0) } else { place.min(length) }).unwrap_or(0)
    };
    let from = place(js::number(start, meter)?);
    let to = match end {
        Value::Undefined => length,
        end => place(js::number(end, meter)?),
    };
    Ok((from, to.max(from)))
}

fn setting<'v>(settings: &'v [(Text, Value)], name: &str) -> &'v Value {
    settings.iter().find(|(known, _)| text::is(known, name)).map_or(&Value::Undefined, |(_, value)| value)
}

fn loop_name(tag: &For) -> Text {
    [&*tag.variable, &[45], &*tag.spelling].concat().into()
}
