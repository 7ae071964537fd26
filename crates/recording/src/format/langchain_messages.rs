//! Messages of LangChain as it writes them to a file: wrapped with their type (`messages_to_dict`), with their class
//! (`dumps`), or plain; as a list, one per line, or under `messages` of a state. The states of a thread are one
//! session.

mod history;

use crate::contract::out::Out;
use crate::contract::setting::IDS;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::shallow::{Kind, Members, Node};
use crate::input::wrong::read_again;
use crate::shape::bare::Bare;
use crate::shape::chat::{Chat, Rules};
use crate::shape::langchain;
use crate::shape::offer;
use crate::shape::status::Status;
use history::{Histories, History};
use rulestep_base::diagnostic::{Diagnostic, Loss};
use rulestep_base::session::Damage;
use rulestep_base::session::build::Builder;

pub(crate) const FORMAT: Format = Format {
    name: "langchain",
    title: "messages of LangChain: with their type or class, or plain; states and histories of LangGraph",
    source: "write `messages_to_dict(messages)` or `dumps(messages)` to a file",
    absent_without_results: true,
    marks_failures: true,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| is_message(value) || messages(value).is_some_and(any_is_message))
        || sample.lists().any(|list| any_is_message(list) || any_is_state(list))
}

fn any_is_message(list: Node<'_>) -> bool {
    list.items().into_iter().flatten().filter_map(Node::members).any(|item| is_message(&item))
}

/// Whether it is a snapshot whose messages are of this format.
fn any_is_state(list: Node<'_>) -> bool {
    let snapshot = history::listed(list);
    let node = snapshot.as_deref().and_then(|json| Node::parse(json).ok());
    node.and_then(Node::members).and_then(|members| messages(&members)).is_some_and(any_is_message)
}

/// Whether it is a message in a form that no other format has.
fn is_message(value: &Members<'_>) -> bool {
    let inner = |key| value.get(key).and_then(Node::members);
    let kind = value.get("type").and_then(Node::text).unwrap_or_default();
    let has_content = |inner: Option<Members<'_>>| inner.is_some_and(|inner| inner.has("content"));
    if value.has("role") {
        return false;
    }
    match &*kind {
        "constructor" => value.has("lc") && has_content(inner("kwargs")),
        "human" | "ai" | "HumanMessageChunk" | "AIMessageChunk" => {
            value.has("content") || has_content(inner("data"))
        }
        kind => langchain::role(kind).is_some() && has_content(inner("data")),
    }
}

/// The messages of a state, or of the values of one.
fn messages<'a>(value: &Members<'a>) -> Option<Node<'a>> {
    let list = |members: &Members<'a>| members.get("messages").filter(|list| list.kind() == Kind::List);
    list(value).or_else(|| history::messages(value))
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    let rules = Rules { python: false, ended: |_| Status::Unknown, error: setting.error.clone() };
    Box::new(LangChain {
        setting: setting.clone(),
        rules,
        open: Bare::default(),
        histories: Histories::default(),
    })
}

struct LangChain {
    setting: Setting,
    rules: Rules,
    /// The session of messages that are not in an envelope.
    open: Bare<Builder>,
    /// States of threads; each thread is a session.
    histories: Histories,
}

impl Reader for LangChain {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        if history::is_snapshot(members) {
            out.diagnostics(unit.diagnostics.iter().cloned());
            return self.histories.add(members, unit.line);
        }
        let snapshot = unit.list.and_then(|_| history::listed(unit.node));
        let snapshot = snapshot.as_deref().and_then(|json| Node::parse(json).ok()).and_then(Node::members);
        if let Some(members) = snapshot {
            return self.histories.add(&members, unit.line);
        }
        let list = if unit.node.kind() == Kind::List { Some(unit.node) } else { messages(members) };
        if let Some(list) = list {
            self.close(out);
            let id = members.any(&IDS).and_then(Node::id).unwrap_or_default();
            let mut builder = self.setting.session(&id, unit, out);
            if let Some(offer) = offer::offered(members).and_then(offer::tools) {
                builder.offered(1, offer.tools);
            }
            for message in list.items().unwrap_or_default() {
                self.message(message, unit.line, &mut builder);
            }
            return out.session(builder);
        }
        if members.any(&["type", "lc", "role"]).is_none() {
            return out.diagnostics(self.setting.foreign(unit, "neither a message nor a list of them"));
        }
        if self.open.is_of_another(unit.list) {
            self.close(out);
        }
        let mut builder = self.open.begin(&self.setting, unit, out, |builder| builder);
        self.message(unit.node, unit.line, &mut builder);
        self.open.put(builder, unit);
    }

    fn damaged(&mut self, diagnostic: Diagnostic, out: &mut Out) {
        self.open.damaged(diagnostic, out);
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
        for history in self.histories.take() {
            self.history(&history, out);
        }
    }
}

impl LangChain {
    /// The session of the states of a thread.
    fn history(&self, history: &History, out: &mut Out) {
        let mut builder = self.setting.session_at(&history.id(), history.line, out);
        let conversation = history.conversation();
        for message in conversation.messages.iter().filter_map(|place| history.message(*place)) {
            match Node::parse(&message.json) {
                Ok(node) => self.message(node, message.line, &mut builder),
                Err(_) => {
                    builder.at_line(message.line).lost(Loss::MayHoldCalls, "a message cannot be read again")
                }
            }
        }
        let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        if let Some((removed, line)) = conversation.removed {
            let said = count(removed, "message");
            let message = match removed {
                1 => format!("{said} of this state is not in the newest one; it is read where it was"),
                _ => format!(
                    "{said} of earlier states are not in the newest one; they are read where they were"
                ),
            };
            builder.at_line(line).passed_by(message);
        }
        if let Some((edited, line)) = conversation.edited {
            let said = count(edited.len(), "message");
            builder
                .at_line(line)
                .passed_by(format!("{said} of this state changed later; the newest form is read"));
        }
        if let Some((messages, calls, line)) = conversation.aside {
            let (messages, calls) = (count(messages, "message"), count(calls, "call"));
            let message = format!(
                "{messages} with {calls} on a branch that the newest state does not follow from; the first is here"
            );
            builder.at_line(line).passed_by(message);
        }
        out.session(builder);
    }

    fn close(&mut self, out: &mut Out) {
        self.open.take().into_iter().for_each(|builder| out.session(builder));
    }

    /// A message of a value that begins on this line.
    fn message(&self, message: Node<'_>, line: u32, builder: &mut Builder) {
        builder.at_line(line);
        if message.kind() != Kind::Object {
            let word = message.said_kind();
            return builder
                .lost(Loss::MayHoldCalls, format!("a message is {word}, not an object; it is left out"));
        }
        let Some(value) = message.value() else {
            return builder.lost(
                Loss::MayHoldCalls,
                "a message nests too deeply or has a reserved key; it is left out",
            );
        };
        look(message).into_iter().for_each(|odd| builder.damaged(odd));
        let plain = langchain::message(&value).to_string();
        read_again(&plain, line, builder, |builder, node, members| {
            Chat::new(node, line, &self.rules).message(builder, members);
        });
    }
}

/// Looks into the wrapper of a message, so that a wrong type there is noticed before the wrapper is removed. Returns
/// damage if calls are recorded only as the model sent them.
fn look(message: Node<'_>) -> Option<Damage> {
    let outer = message.members()?;
    let wrapped = outer.any(&["kwargs", "data"]).map(Node::members);
    let inner = wrapped.flatten().unwrap_or(outer);
    let count = |calls: Option<Vec<_>>| calls.map_or(0, |calls| calls.len());
    let listed =
        ["tool_calls", "invalid_tool_calls"].map(|key| count(inner.get(key).and_then(Node::objects)));
    let listed = listed.iter().sum::<usize>();
    let more = inner.get("additional_kwargs").and_then(Node::members);
    let sent = count(more.and_then(|more| more.get("tool_calls")?.objects()));
    // If none is listed, those that were sent are read.
    (listed > 0 && listed < sent).then(|| {
        Damage::calls(format!(
            "the model sent {sent} calls, of which {listed} are listed; the others are left out"
        ))
    })
}
