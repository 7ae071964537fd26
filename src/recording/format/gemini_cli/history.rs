//! The messages of a session while it is read, since a later line may say one of them anew or take some back.
//!
//! Of a session that is too long for that, the latest ones are held, and the others taken for what they are by then.

use std::collections::HashMap;

use super::message::message;
use crate::diagnostic::{Diagnostic, Loss};
use crate::recording::contract::out::Out;
use crate::recording::contract::setting::Setting;
use crate::recording::input::digest::digest;
use crate::recording::input::looks::read_again;
use crate::recording::input::shallow::{Members, Node};
use crate::recording::shape::chat::Lines;
use crate::session::build::Builder;

/// A session whose messages are being read.
pub struct History {
    /// What is known of it.
    pub builder: Builder,
    messages: Vec<Message>,
    /// Places of the messages, those that are settled counted too, and hashes of what they say; by hashes of their ids.
    known: HashMap<u64, (usize, u64)>,
    /// How many are settled.
    settled: usize,
    /// Bytes of the messages that are held.
    bytes: usize,
    /// What was told of those that are settled.
    told: Vec<Diagnostic>,
}

/// A message as it stands in the file.
struct Message {
    id: Option<u64>,
    line: u32,
    json: Box<str>,
}

impl History {
    /// Of a session without messages.
    pub fn new(builder: Builder) -> History {
        History {
            builder,
            messages: Vec::new(),
            known: HashMap::new(),
            settled: 0,
            bytes: 0,
            told: Vec::new(),
        }
    }

    /// Adds a message, or takes it in the place of the one that has its id.
    pub fn push(&mut self, node: Node<'_>, members: &Members<'_>, line: u32) {
        let id = members.get("id").and_then(Node::id).map(|id| digest(&*id));
        let message = Message { id, line, json: node.json().into() };
        let says = digest(&*message.json);
        let known = id.and_then(|id| self.known.get(&id).copied());
        let Some((at, said)) = known else {
            let place = self.settled + self.messages.len();
            self.known.extend(id.map(|id| (id, (place, says))));
            self.bytes += message.json.len();
            return self.messages.push(message);
        };
        if said == says {
            return;
        }
        match at.checked_sub(self.settled).and_then(|at| self.messages.get_mut(at)) {
            Some(place) => {
                self.bytes = self.bytes + message.json.len() - place.json.len();
                *place = message;
                self.known.extend(id.map(|id| (id, (at, says))));
            }
            None => self.builder.spoil(),
        }
    }

    /// The program changed what it tells the model of what happened: outputs were masked, or what came before was
    /// summarised. It happened all the same, so only messages that are new are added.
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
        let place = known.map_or(Some(0), |(place, _)| place.checked_sub(self.settled));
        let Some(at) = place.filter(|_| known.is_some() || self.settled == 0) else {
            return self.builder.spoil();
        };
        if known.is_none() {
            let odd = "the conversation was taken back to a message that is not in the file, so all before is left out";
            self.builder.at_line(line).lost(Loss::MayHoldCalls, odd);
        }
        let gone = self.messages.split_off(at.min(self.messages.len()));
        let Some(first) = gone.first() else { return };
        let calls: usize = gone.iter().map(Message::calls).sum();
        let message = format!(
            "the conversation was taken back to before this line; {} with {} behind it {} left out",
            number(gone.len(), "message"),
            number(calls, "call"),
            if gone.len() == 1 { "is" } else { "are" },
        );
        self.builder.at_line(first.line).passed_by(message);
        for message in gone {
            self.bytes -= message.json.len();
            if let Some(id) = message.id {
                self.known.remove(&id);
            }
        }
    }

    /// Takes the oldest messages for what they are by now, where more than so many bytes are held: a quarter of that is
    /// left.
    pub fn settle(&mut self, most: usize, setting: &Setting) {
        if self.bytes <= most {
            return;
        }
        let held = self.builder.take_diagnostics();
        let mut left = self.bytes;
        let count = self.messages.iter().take_while(|message| {
            let more = left > most / 4;
            left -= message.json.len();
            more
        });
        self.add(count.count(), setting);
        self.told.extend(self.builder.take_diagnostics());
        held.into_iter().for_each(|told| self.builder.diagnostic(told));
    }

    /// The session is whole.
    pub fn close(mut self, setting: &Setting, out: &mut Out) {
        std::mem::take(&mut self.told).into_iter().for_each(|told| self.builder.diagnostic(told));
        self.add(self.messages.len(), setting);
        self.builder.mark_errors();
        out.session(self.builder);
    }

    fn add(&mut self, count: usize, setting: &Setting) {
        for held in self.messages.drain(..count) {
            self.settled += 1;
            self.bytes -= held.json.len();
            read_again(&held.json, held.line, &mut self.builder, |builder, _, members| {
                message(setting, builder.at_line(held.line), members);
            });
        }
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
