//! Messages in the OpenAI chat form, with the variations of recordings: keys padded with `null`, the older
//! `function_call`, missing ids, arguments as an object.
//!
//! Shared by every format whose messages look like this; the differences are in [`Rules`].

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use crate::contract::ErrorTest;
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::input::time;
use crate::shape::blocks::{self, Blocks, Side};
use crate::shape::status::Status;
use crate::shape::{live, python, suspicion, tags};
use rulestep_base::diagnostic::{Code, code};
use rulestep_base::session::body::Fault;
use rulestep_base::session::build::Builder;
use rulestep_base::session::{
    AGENT_VERSION, Body, Damage, Form, Millis, OLD_OPERATION_ROLE, OPERATION_ROLE, Operation, PERMISSION_MODE,
};
use rulestep_base::source::quoted;

mod choices;
mod ended;
mod further;
mod written;

pub use choices::{Choice, beside, choices};

/// The differences of a format from the chat form.
pub struct Rules {
    /// Arguments may be in Python notation.
    pub python: bool,
    /// How a call ended, by the text of its result in this format. [`Status::Unknown`]: the text does not say.
    pub ended: fn(&Body) -> Status,
    /// For results that bear no mark.
    pub error: Option<ErrorTest>,
}

/// Reads the messages of one value of the file.
pub struct Chat<'a> {
    lines: Lines<'a>,
    rules: &'a Rules,
    /// Calls whose arguments were in Python notation.
    in_python: u32,
    /// Names under which recorded state was kept.
    snapshots: HashSet<Arc<str>>,
    /// The time of messages that bear none.
    at: Option<Millis>,
    /// Calls are written in texts here, and so are their results.
    written: bool,
    /// Calls that were read in the text of the latest response and wait for their results.
    waiting: u32,
}

impl<'a> Chat<'a> {
    /// For the messages of `whole`, a value that begins on `line`.
    pub fn new(whole: Node<'a>, line: u32, rules: &'a Rules) -> Chat<'a> {
        Chat::of(Lines::new(whole, line), rules)
    }

    /// For one message, with this line for all of it.
    pub fn at_line(line: u32, rules: &'a Rules) -> Chat<'a> {
        Chat::of(Lines::new("", line), rules)
    }

    fn of(lines: Lines<'a>, rules: &'a Rules) -> Chat<'a> {
        let snapshots = HashSet::new();
        Chat { lines, rules, in_python: 0, snapshots, at: None, written: false, waiting: 0 }
    }

    /// From now on messages that bear no time are of this one.
    pub fn otherwise_at(&mut self, at: Option<Millis>) {
        self.at = at;
    }

    /// Adds all messages of a list. Anything but a list is reported.
    pub fn messages(&mut self, builder: &mut Builder, list: Node<'a>) {
        let Some(items) = list.each_item() else {
            self.lines.of(list);
            return self.lost(builder, format!("the messages are {}, not a list", list.said_kind()));
        };
        builder.expect_messages(items.len());
        self.written = tags::are_openhands(list);
        for item in items {
            match item.as_object() {
                Some(message) => self.message(builder, &message),
                None => {
                    self.lines.of(item);
                    let word = item.said_kind();
                    self.lost(builder, format!("a message is {word}, not an object; it is left out"));
                }
            }
        }
    }

    /// Adds one message.
    pub fn message(&mut self, builder: &mut Builder, members: &Members<'a>) {
        builder.at_line(members.first().map_or(self.lines.line(), |first| self.lines.of_object(first)));
        let at = self.at(builder, members);
        let role = self.role(builder, members);
        match &*role {
            "assistant" | "model" | "ai" => self.response(builder, members, at),
            "tool" | "function" => self.result(builder, members, at),
            OLD_OPERATION_ROLE => self.operation(builder, members),
            // Other programs may give a speaker this name; its messages are no operations.
            OPERATION_ROLE if members.get("op").is_some() || members.get("content").is_none() => {
                self.operation(builder, members);
            }
            said => {
                if members.any(&["tool_calls", "function_call"]).is_some_and(|calls| calls.json() != "[]") {
                    self.lost(builder, format!("calls of the role {} are left out", quoted(said)));
                }
                self.said(builder, said, members, at);
            }
        }
    }

    /// A message of anyone but the model, with results among its blocks.
    fn said(&mut self, builder: &mut Builder, role: &str, members: &Members<'a>, at: Option<Millis>) {
        if let Some(what) = suspicion::of_role(role).or_else(|| suspicion::unread(members, &suspicion::CHAT))
        {
            self.lost(builder, suspicion::left_out(&what));
        }
        let content = self.content(builder, members);
        if let Some(blocks) = acting(members, &content, Side::Other) {
            builder.at_line(self.lines.line());
            return blocks.reply(builder, role, at, |answer| self.mark(answer));
        }
        if self.take_written(builder, role, &content, at) {
            return;
        }
        builder.said(role, content, at);
    }

    /// How many calls had arguments in Python notation.
    pub fn in_python(&self) -> u32 {
        self.in_python
    }

    fn role(&mut self, builder: &mut Builder, members: &Members<'a>) -> Cow<'a, str> {
        if let Some(role) = members.get("role").and_then(Node::text) {
            return role;
        }
        let guess = if members.any(&["tool_calls", "function_call"]).is_some() {
            "assistant"
        } else if members.get("tool_call_id").is_some() {
            "tool"
        } else {
            "unknown"
        };
        let message = format!("a message has no role; it is read as one of the role `{guess}`");
        match guess {
            "unknown" => self.lost(builder, message),
            _ => self.damaged(builder, message),
        }
        Cow::Borrowed(guess)
    }

    fn response(&mut self, builder: &mut Builder, members: &Members<'a>, at: Option<Millis>) {
        let id = members.get("id").and_then(Node::id);
        let content = self.content(builder, members);
        let blocks = acting(members, &content, Side::Model);
        builder.response(id.as_deref(), content.clone(), at);
        let before = builder.call_count();
        let calls = members.get("tool_calls").filter(|calls| calls.json() != "[]");
        let function = members.get("function_call").filter(|call| !is_padding(*call));
        match (calls, function) {
            (Some(calls), _) => match (calls.items(), calls.kind()) {
                (Some(items), _) => items.into_iter().for_each(|call| self.call(builder, call, at)),
                (None, Kind::Object) => self.call(builder, calls, at),
                (None, _) => {
                    self.lost(
                        builder,
                        format!("`tool_calls` is {}, not a list; it is left out", calls.said_kind()),
                    );
                }
            },
            (None, Some(call)) => self.call(builder, call, at),
            (None, None) => {}
        }
        if let Some(call) = function.filter(|_| calls.is_some()) {
            self.unless_known(builder, call, before, at);
        }
        self.further(builder, members, blocks, before, at);
        if self.written && builder.call_count() == before {
            self.written(builder, &content, at);
        }
        if builder.call_count() == before
            && let Some(odd) = suspicion::promised(suspicion::reason(members))
        {
            self.damaged(builder, odd);
        }
        if let Some(alternatives) = members.get("alternatives") {
            self.alternatives(builder, alternatives, at);
        }
    }

    /// Alternatives in the form that `convert` writes: `{choice, content, tool_calls}`.
    fn alternatives(&mut self, builder: &mut Builder, list: Node<'a>, at: Option<Millis>) {
        let Some(items) = list.items() else {
            let word = list.kind().word();
            return self.lost(builder, format!("`alternatives` is {word}, not a list; it is left out"));
        };
        for (place, item) in items.into_iter().enumerate() {
            let Some(members) = item.members() else {
                let word = item.kind().word();
                self.lost(builder, format!("an alternative is {word}, not an object; it is left out"));
                continue;
            };
            // The choice that was taken is the first, unless the recording says something else.
            let choice = members.get("choice").and_then(|choice| choice.json().parse().ok());
            let mut aside = builder.aside();
            self.response(&mut aside, &members, at);
            builder.beside(choice.unwrap_or(place as u32 + 2), aside);
        }
    }

    /// `{id, function: {name, arguments}}`, `{id, name, arguments}` or `{id, function: NAME, args}`.
    fn call(&mut self, builder: &mut Builder, call: Node<'a>, at: Option<Millis>) {
        let Some(members) = call.members() else {
            return self
                .lost(builder, format!("a call is {}, not an object; it is left out", call.said_kind()));
        };
        let id = members.get("id").and_then(Node::id);
        let inner = members.any(&["function", "custom"]).and_then(Node::members);
        let flat_name =
            members.get("function").filter(|named| named.kind() != Kind::Object).and_then(Node::text);
        let bare = flat_name.is_some();
        let from = inner.as_ref().unwrap_or(&members);
        let name = from.get("name").and_then(Node::text).or(flat_name).filter(|name| !name.is_empty());
        let arguments = from.any(&["arguments", "args", "input", "parameters"]);
        if arguments.is_none() {
            if bare {
                self.lost(builder, "a call has only a name, and its arguments cannot be found".to_owned());
            } else if let Some(other) = from.names().find(|name| !IN_A_CALL.contains(name)) {
                let message =
                    format!("a call has no arguments under a known key; {} is not read", quoted(other));
                self.lost(builder, message);
            }
        }
        let at = if members.has("at") { self.at(builder, &members) } else { at };
        let arguments = arguments.map_or(Body::MISSING, Node::body);
        let arguments = self.arguments(arguments);
        let folder = members.get("cwd").and_then(Node::text);
        let own = |key| members.get(key).and_then(Node::text);
        let (mode, version) = (own(PERMISSION_MODE), own(AGENT_VERSION));
        builder.in_folder(folder.as_deref());
        builder.by_agent(mode.as_deref(), version.as_deref());
        builder.copied(members.get("copied").and_then(Node::bool) == Some(true));
        builder.call(id.as_deref(), &name.unwrap_or_default(), arguments, at);
        builder.in_folder(None);
        builder.by_agent(None, None);
        builder.copied(false);
        live::beside_call(builder, &members);
    }

    /// Arguments in Python notation as JSON, if the format may have them.
    fn arguments(&mut self, recorded: Body) -> Body {
        if self.rules.python
            && recorded.form() == Some(Form::Text)
            && recorded.fault().is_some()
            && let Some(json) = python::to_json(recorded.raw())
        {
            self.in_python += 1;
            return Body::text(json);
        }
        recorded
    }

    fn operation(&mut self, builder: &mut Builder, members: &Members<'a>) {
        let op = members.get("op").and_then(Node::text).unwrap_or_default();
        let name = members.get("name").and_then(Node::text);
        let operation = match (&*op, name) {
            ("snapshot", Some(name)) => {
                let name: Arc<str> = name.as_ref().into();
                self.snapshots.insert(Arc::clone(&name));
                Operation::Snapshot(name)
            }
            ("restore", Some(name)) => {
                if !self.snapshots.contains(&*name) {
                    let name = quoted(&name);
                    let message = format!("no snapshot {name} was taken, so the recorded state is emptied");
                    self.tell(builder, code::UNKNOWN_OPERATION, message);
                }
                Operation::Restore(name.as_ref().into())
            }
            ("reset", _) => Operation::Reset,
            (op @ ("snapshot" | "restore"), None) => {
                let message = format!("`{op}` names no snapshot, so the recorded state is emptied");
                self.tell(builder, code::UNKNOWN_OPERATION, message);
                Operation::Unknown(op.into())
            }
            (op, _) => {
                let message = format!("{} is not an operation, so the recorded state is emptied", quoted(op));
                self.tell(builder, code::UNKNOWN_OPERATION, message);
                Operation::Unknown(op.into())
            }
        };
        builder.operation(operation);
    }

    fn content(&mut self, builder: &mut Builder, members: &Members<'a>) -> Body {
        let Some(content) = members.get("content") else { return Body::MISSING };
        let body = content.body();
        if body.form() == Some(Form::Json)
            && let Some(fault) = body.fault()
        {
            let reason = match fault {
                Fault::TooDeep => "nests deeper than 127 levels",
                _ => "has a key that JSON readers reserve (`$serde_json::…`)",
            };
            self.damaged(builder, format!("the content of a message {reason}, and is kept as text"));
        }
        body
    }

    fn at(&mut self, builder: &mut Builder, members: &Members<'a>) -> Option<Millis> {
        let at = time::of(members, &TIMES).unwrap_or_else(|message| {
            self.damaged(builder, message);
            None
        });
        at.or(self.at)
    }

    fn damaged(&mut self, builder: &mut Builder, damage: impl Into<Damage>) {
        builder.at_line(self.lines.line()).damaged(damage);
    }

    fn lost(&mut self, builder: &mut Builder, message: String) {
        self.damaged(builder, Damage::calls(message));
    }

    fn tell(&mut self, builder: &mut Builder, code: Code, message: String) {
        builder.at_line(self.lines.line()).tell(code, message);
    }
}

/// Whether a call is padding: without a name and without arguments.
fn is_padding(call: Node<'_>) -> bool {
    let empty = |value: Node<'_>| value.json() == "\"\"";
    let members = call.tried().members().filter(|call| call.has("name"));
    members.is_some_and(|call| call.iter().all(|(_, value)| empty(value)))
}

/// The blocks of a content, if some of them are calls or results, or may be.
fn acting(members: &Members<'_>, content: &Body, side: Side) -> Option<Blocks> {
    let is_list = content.form() == Some(Form::Json) && content.raw().starts_with('[');
    let listed = if is_list { members.try_get("content") } else { None };
    listed.and_then(|content| blocks::acting(content, side))
}

/// Keys of a call that hold no arguments.
const IN_A_CALL: [&str; 16] = [
    "cwd",
    "copied",
    "id",
    "call_id",
    "type",
    "index",
    "name",
    "function",
    "custom",
    "description",
    "strict",
    "status",
    "at",
    "live",
    "arguments",
    "thought_signature",
];

/// Keys under which recordings keep a message's time.
pub const TIMES: [&str; 6] = ["at", "timestamp", "created_at", "createdAt", "created", "time"];
