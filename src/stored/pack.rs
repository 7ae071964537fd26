//! A session as bytes: its content and nothing else, so that it can leave memory and be restored as an equal one.
//!
//! The bytes live as long as the program that wrote them: there is no version, and no other program reads them.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::address::AddressHasher;
use rulestep_base::session::{
    Alternative, Body, Call, Facts, Message, MessageKind, OfferedFrom, Operation, Results, Session, Tool,
    ToolCall, TreeSight, Turn,
};

mod call;

/// How a session was refused, by the reader that recognised it: a few texts of the program itself.
pub type Refusals = Vec<&'static str>;

/// The parts of a session that its bytes hold: all but what its handle keeps.
pub struct Parts {
    pub facts: Facts,
    pub offered: Vec<OfferedFrom>,
    pub messages: Vec<Message>,
    pub turns: Vec<Turn>,
    pub calls: Vec<Call>,
    pub alternatives: Vec<Alternative>,
}

/// The bytes of a session, written into `bytes`, which may come with room for them; and the marks of refusals that they name by number.
pub fn pack(session: &Session, bytes: Vec<u8>) -> (Vec<u8>, Refusals) {
    let mut out = Writer { bytes, ..Writer::default() };
    out.facts(&session.facts);
    out.list(&session.offered, |out, from| {
        out.number(u64::from(from.turn));
        out.list(&from.tools, Writer::tool);
    });
    out.list(&session.messages, Writer::message);
    out.list(&session.turns, |out, turn| {
        out.number(u64::from(turn.number));
        let (messages, calls) = (&turn.messages, &turn.calls);
        for at in [messages.start, messages.end, calls.start, calls.end] {
            out.size(at);
        }
        out.list(&turn.late, |out, late| out.number(u64::from(*late)));
    });
    out.list(&session.calls, Writer::call);
    out.list(&session.alternatives, |out, other| {
        out.number(u64::from(other.turn));
        out.number(u64::from(other.choice));
        out.message(&other.message);
    });
    (out.bytes, out.refusals)
}

/// The parts of a session; `None` if [`pack`] did not write these bytes.
pub fn unpack(bytes: &[u8], refusals: &[&'static str]) -> Option<Parts> {
    let mut read = Reader { bytes, refusals, bodies: Vec::new(), proposed: Vec::new(), names: Vec::new() };
    let facts = read.facts()?;
    let offered =
        read.list(|read| Some(OfferedFrom { turn: read.small()?, tools: read.list(Reader::tool)?.into() }))?;
    let messages = read.list(Reader::message)?;
    let turns = read.list(|read| {
        let number = read.small()?;
        let messages = read.size()?..read.size()?;
        let calls = read.size()?..read.size()?;
        Some(Turn { number, messages, calls, late: read.list(Reader::small)? })
    })?;
    let calls = read.list(Reader::call)?;
    let alternatives = read.list(|read| {
        Some(Alternative { turn: read.small()?, choice: read.small()?, message: read.message()? })
    })?;
    read.bytes.is_empty().then_some(Parts { facts, offered, messages, turns, calls, alternatives })
}

/// The form of a body.
mod body {
    pub const MISSING: u8 = 0;
    pub const TEXT: u8 = 1;
    /// A text, as the JSON literal that it was recorded as: its escapes are resolved when something first looks.
    pub const LITERAL: u8 = 2;
    pub const JSON: u8 = 3;
    /// One that was written before, shared.
    pub const SHARED: u8 = 4;
}

/// The numbers of written values, by their address in memory.
type Places = HashMap<usize, usize, BuildHasherDefault<AddressHasher>>;

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    refusals: Refusals,
    /// Written bodies, by their address in memory: a call shares those of its messages.
    bodies: Places,
    /// Calls as they were proposed, which a message shares with the session.
    proposed: Places,
}

impl Writer {
    fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// Seven bits a byte, the lowest first.
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    fn size(&mut self, size: usize) {
        self.number(size as u64);
    }

    fn signed(&mut self, number: i64) {
        self.bytes.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.size(text.len());
        self.bytes.extend(text.as_bytes());
    }

    fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.byte(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.size(items.len());
        items.iter().for_each(|item| write(self, item));
    }

    /// Numbers of a value are written digit by digit, and its keys in order.
    fn value(&mut self, value: &Value) {
        self.text(&value.to_string());
    }

    fn facts(&mut self, facts: &Facts) {
        let Facts { context, variables, files, now, results, from_the_middle, subagent, tree: _ } = facts;
        self.maybe(context.as_ref(), Self::value);
        let variables = variables.as_ref();
        self.size(variables.map_or(0, |variables| variables.len() + 1));
        for (name, value) in variables.into_iter().flatten() {
            self.text(name);
            self.value(value);
        }
        self.maybe(files.as_ref(), |out, files| out.list(files, |out, file| out.text(file)));
        self.maybe(*now, Self::signed);
        let absent = *results == Results::Absent;
        for flag in [absent, *from_the_middle, *subagent] {
            self.byte(u8::from(flag));
        }
    }

    fn tool(&mut self, tool: &Tool) {
        self.text(&tool.name);
        self.maybe(tool.description.as_deref(), Self::text);
        self.maybe(tool.parameters.as_ref(), Self::value);
    }

    fn body(&mut self, body: &Body) {
        let Some(address) = body.address() else { return self.byte(body::MISSING) };
        if let Some(number) = self.bodies.get(&address) {
            let number = *number;
            self.byte(body::SHARED);
            return self.size(number);
        }
        self.bodies.insert(address, self.bodies.len());
        let (how, text) = match (body.literal(), body.form()) {
            (Some(literal), _) => (body::LITERAL, literal),
            (None, Some(rulestep_base::session::Form::Json)) => (body::JSON, body.raw()),
            (None, _) => (body::TEXT, body.raw()),
        };
        self.byte(how);
        self.text(text);
    }

    fn message(&mut self, message: &Message) {
        let Message { role, content, at, kind, calls, line } = message;
        self.text(role);
        self.body(content);
        self.maybe(*at, Self::signed);
        match kind {
            MessageKind::Said => self.byte(0),
            MessageKind::Response(turn) => {
                self.byte(1);
                self.number(u64::from(*turn));
            }
            MessageKind::Result(call, id) => {
                self.byte(2);
                self.maybe(*call, |out, call| out.number(u64::from(call)));
                self.maybe(id.as_deref(), Self::text);
            }
            MessageKind::Operation(operation) => {
                let (number, text) = match operation {
                    Operation::Snapshot(name) => (3, name.as_ref()),
                    Operation::Restore(name) => (4, name.as_ref()),
                    Operation::Reset => (5, ""),
                    Operation::Unknown(text) => (6, text.as_ref()),
                };
                self.byte(number);
                self.text(text);
            }
        }
        self.list(calls, Self::proposed);
        self.number(u64::from(*line));
    }

    /// A call as it was proposed: its number from 1 if it was written before, else 0 and what it is.
    fn proposed(&mut self, call: &Arc<ToolCall>) {
        let address = Arc::as_ptr(call).addr();
        let known = self.proposed.get(&address).copied();
        self.size(known.map_or(0, |number| number + 1));
        if known.is_none() {
            self.proposed.insert(address, self.proposed.len());
            self.maybe(call.id.as_deref(), Self::text);
            self.text(&call.tool);
            self.body(&call.arguments);
        }
    }
}

fn place<T: PartialEq>(all: &[T], one: T) -> u8 {
    all.iter().position(|known| *known == one).map_or(u8::MAX, |at| at as u8)
}

struct Reader<'b> {
    bytes: &'b [u8],
    refusals: &'b [&'static str],
    bodies: Vec<Body>,
    proposed: Vec<Arc<ToolCall>>,
    /// Short texts that were read, most of which are repeated: roles and tools.
    names: Vec<Arc<str>>,
}

/// Texts that are kept to be shared.
const NAMES: usize = 24;

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    fn signed(&mut self) -> Option<i64> {
        Some(i64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<&'b str> {
        let length = self.size()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    fn shared(&mut self) -> Option<Arc<str>> {
        Some(self.text()?.into())
    }

    /// A text that probably was read before.
    fn name(&mut self) -> Option<Arc<str>> {
        let text = self.text()?;
        if let Some(known) = self.names.iter().find(|known| ***known == *text) {
            return Some(Arc::clone(known));
        }
        let name: Arc<str> = text.into();
        if self.names.len() < NAMES {
            self.names.push(Arc::clone(&name));
        }
        Some(name)
    }

    fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { read(self).map(Some) } else { Some(None) }
    }

    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.size()?;
        // No item is smaller than a byte, so the remaining bytes bound the reserved memory.
        let mut items = Vec::with_capacity(count.min(self.bytes.len()));
        for _ in 0..count {
            items.push(read(self)?);
        }
        Some(items)
    }

    fn value(&mut self) -> Option<Value> {
        serde_json::from_str(self.text()?).ok()
    }

    fn facts(&mut self) -> Option<Facts> {
        let context = self.maybe(Self::value)?;
        let variables = match self.size()?.checked_sub(1) {
            None => None,
            Some(count) => {
                let mut variables = Map::new();
                for _ in 0..count {
                    variables.insert(self.text()?.to_owned(), self.value()?);
                }
                Some(variables)
            }
        };
        let files = self.maybe(|read| read.list(|read| read.text().map(str::to_owned)))?;
        let now = self.maybe(Self::signed)?;
        let results = if self.flag()? { Results::Absent } else { Results::Recorded };
        let (from_the_middle, subagent) = (self.flag()?, self.flag()?);
        // Facts about other sessions stay with the handle.
        let tree = TreeSight::default();
        Some(Facts { context, variables, files, now, results, from_the_middle, subagent, tree })
    }

    fn tool(&mut self) -> Option<Tool> {
        let name = self.shared()?;
        Some(Tool { name, description: self.maybe(Self::shared)?, parameters: self.maybe(Self::value)? })
    }

    fn body(&mut self) -> Option<Body> {
        let body = match self.byte()? {
            body::MISSING => return Some(Body::MISSING),
            body::TEXT => Body::text(self.text()?),
            body::LITERAL | body::JSON => Body::json(self.text()?),
            body::SHARED => {
                let number = self.size()?;
                return self.bodies.get(number).cloned();
            }
            _ => return None,
        };
        self.bodies.push(body.clone());
        Some(body)
    }

    fn message(&mut self) -> Option<Message> {
        let (role, content, at) = (self.name()?, self.body()?, self.maybe(Self::signed)?);
        let kind = match self.byte()? {
            0 => MessageKind::Said,
            1 => MessageKind::Response(self.small()?),
            2 => MessageKind::Result(self.maybe(Self::small)?, self.maybe(Self::shared)?),
            number => {
                let text = self.shared()?;
                MessageKind::Operation(match number {
                    3 => Operation::Snapshot(text),
                    4 => Operation::Restore(text),
                    5 => Operation::Reset,
                    6 => Operation::Unknown(text),
                    _ => return None,
                })
            }
        };
        let calls = self.list(Self::proposed)?;
        Some(Message { role, content, at, kind, calls, line: self.small()? })
    }

    fn proposed(&mut self) -> Option<Arc<ToolCall>> {
        if let Some(known) = self.size()?.checked_sub(1) {
            return self.proposed.get(known).cloned();
        }
        let id = self.maybe(Self::shared)?;
        let call = Arc::new(ToolCall { id, tool: self.name()?, arguments: self.body()? });
        self.proposed.push(Arc::clone(&call));
        Some(call)
    }
}
