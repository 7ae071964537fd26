//! The messages of a session while it is read, since a later line may repeat or take back some of them.

use std::collections::HashMap;

use super::message::message;
use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::input::digest::digest;
use crate::input::lines::Lines;
use crate::input::shallow::{Members, Node};
use crate::input::wrong::read_again;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::Builder;

/// A session whose messages are being read.
pub struct History {
    /// The session so far.
    pub builder: Builder,
    messages: Vec<Message>,
    /// Places of the messages, and hashes of what they say; by hashes of their ids.
    known: HashMap<u64, (usize, u64)>,
}

/// A message as it is in the file.
struct Message {
    id: Option<u64>,
    line: u32,
    json: Box<str>,
}

impl History {
    /// For a session without messages.
    pub fn new(mut builder: Builder) -> History {
        builder.marks_refusals(true);
        History { builder, messages: Vec::new(), known: HashMap::new() }
    }

    /// Adds a message, or takes it in the place of the one that has its id.
    pub fn push(&mut self, node: Node<'_>, members: &Members<'_>, line: u32) {
        let id = members.get("id").and_then(Node::id).map(|id| digest(&*id));
        let message = Message { id, line, json: node.json().into() };
        let says = digest(&*message.json);
        let known = id.and_then(|id| self.known.get(&id).copied());
        let Some((at, said)) = known else {
            self.known.extend(id.map(|id| (id, (self.messages.len(), says))));
            return self.messages.push(message);
        };
        if said == says {
            return;
        }
        if let Some(place) = self.messages.get_mut(at) {
            *place = message;
            self.known.extend(id.map(|id| (id, (at, says))));
        }
    }

    /// The program changed what the model sees of the past: outputs were masked, or earlier messages summarised. The
    /// calls happened all the same, so only new messages are added.
    pub fn keep_up(&mut self, messages: Node<'_>, line: u32) {
        let mut lines = Lines::new(messages, line);
        let Some(items) = messages.items() else {
            let word = messages.said_kind();
            return self
                .builder
                .at_line(line)
                .lost(Loss::MayHoldCalls, format!("the messages are {word}, not a list"));
        };
        for item in items {
            let line = lines.of(item);
            let Some(members) = item.members() else {
                let odd = format!("a message is {}, not an object; it is left out", item.said_kind());
                self.builder.at_line(line).lost(Loss::MayHoldCalls, odd);
                continue;
            };
            let id = members.get("id").and_then(Node::id).map(|id| digest(&*id));
            if id.is_none_or(|id| !self.known.contains_key(&id)) {
                self.push(item, &members, line);
            }
        }
    }

    /// The user went back to before this message. Of one that is not there nothing is left, as the program has it.
    pub fn take_back(&mut self, id: &str, line: u32) {
        let known = self.known.get(&digest(id)).copied();
        if known.is_none() {
            let odd = "the conversation was taken back to a message that is not in the file, so all before is left out";
            self.builder.at_line(line).lost(Loss::MayHoldCalls, odd);
        }
        let gone = self.messages.split_off(known.map_or(0, |(place, _)| place).min(self.messages.len()));
        let Some(first) = gone.first() else { return };
        let calls: usize = gone.iter().map(Message::calls).sum();
        let message = format!(
            "the conversation was taken back to before this line; {} with {} after it {} left out",
            number(gone.len(), "message"),
            number(calls, "call"),
            if gone.len() == 1 { "is" } else { "are" },
        );
        self.builder.at_line(first.line).passed_by(message);
        for message in gone {
            if let Some(id) = message.id {
                self.known.remove(&id);
            }
        }
    }

    /// The session is whole.
    pub fn close(mut self, setting: &Setting, out: &mut Out) {
        for held in self.messages {
            read_again(&held.json, held.line, &mut self.builder, |builder, _, members| {
                message(setting, builder.at_line(held.line), members);
            });
        }
        self.builder.mark_errors();
        out.session(self.builder);
    }
}

impl Message {
    fn members(&self) -> Option<Members<'_>> {
        Node::parse(&self.json).ok()?.members()
    }

    /// How many calls it has.
    fn calls(&self) -> usize {
        let calls = self.members().and_then(|members| members.get("toolCalls")?.items());
        calls.map_or(0, |calls| calls.len())
    }
}

fn number(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
