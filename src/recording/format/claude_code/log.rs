//! One session of a log: its lines while they are read, and the session that they come to.

use std::collections::{HashMap, HashSet};

use super::branch;
use super::branch::{Branch, Settled};
use super::entry::{Entry, Follows, Kind};
use super::marks::Marks;
use crate::diagnostic::{Diagnostic, Loss};
use crate::recording::contract::out::Out;
use crate::recording::input::digest::digest;
use crate::recording::input::shallow::Members;
use crate::recording::input::shallow::Node;
use crate::session::Millis;
use crate::session::build::Builder;

/// A session whose lines are being read.
pub struct Log {
    /// What is known of it.
    pub builder: Builder,
    /// Whose lines they are.
    pub key: Key,
    entries: Vec<Entry>,
    /// Digests and places of the lines, by hashes of their names.
    names: HashMap<u64, (u64, usize)>,
    /// Bytes of the entries.
    bytes: usize,
    /// Bytes of entries that are to be held before it is tried again to settle some.
    patience: usize,
    settled: Settled,
    /// Hashes of the ids of calls whose results are settled, and were taken for anything but refused.
    answered: HashSet<u64>,
    left: Left,
    /// What was told of the beginning and of lines that are settled.
    told: [Vec<Diagnostic>; 2],
}

/// Whose lines they are.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    /// The session.
    pub session: Box<str>,
    /// The subagent.
    pub agent: Option<Box<str>>,
}

/// Lines that are no part of the conversation as it went on.
#[derive(Default)]
struct Left {
    /// Those that follow one that is not there: how many, and the line of the first.
    adrift: Option<(usize, u32)>,
    /// Those on a branch that was left.
    lines: Option<(usize, u32)>,
    calls: usize,
}

impl Log {
    /// Of a session without lines.
    pub fn new(builder: Builder, key: Key) -> Log {
        Log {
            builder,
            key,
            entries: Vec::new(),
            names: HashMap::new(),
            bytes: 0,
            patience: 0,
            settled: Settled::default(),
            answered: HashSet::new(),
            left: Left::default(),
            told: Default::default(),
        }
    }

    /// Bytes of the lines that are held, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Hash of what the line of this name says, where there is one.
    pub fn digest(&self, uuid: &str) -> Option<u64> {
        self.names.get(&digest(uuid)).map(|(digest, _)| *digest)
    }

    /// Adds a line.
    pub fn push(&mut self, mut entry: Entry) {
        let place = self.settled.len() + self.entries.len();
        entry.follows = match entry.parent.take() {
            None => Follows::Nothing,
            Some(parent) => {
                self.names.get(&digest(&parent)).map_or(Follows::Missing, |(_, at)| Follows::Line(*at))
            }
        };
        if let Some(uuid) = entry.uuid.take() {
            self.names.insert(digest(&uuid), (entry.digest, place));
        }
        self.bytes += entry.size();
        self.entries.push(entry);
    }

    /// What the lines say of where the session runs.
    pub fn surroundings(&mut self, members: &Members<'_>) {
        for key in ["cwd", "gitBranch", "version"] {
            if let Some(value) = members.get(key).and_then(Node::value) {
                self.builder.context_once(key, value);
            }
        }
    }

    /// It is said that this call was denied.
    pub fn deny(&mut self, id: &str) {
        if self.answered.contains(&digest(id)) {
            self.builder.spoil();
        }
    }

    /// Takes the oldest lines for what they are by now, where more than so many bytes are held: a quarter of that is left.
    pub fn settle(&mut self, most: usize, marks: &Marks) {
        if self.bytes <= self.patience {
            return;
        }
        let Some(branch) = branch::follow(&self.entries, &self.settled) else { return self.builder.spoil() };
        let Some(count) = self.whole(most / 4) else {
            self.patience = 2 * self.bytes;
            return;
        };
        let leans = self.settled.leans_on_later(&self.entries, &branch, count);
        if leans || self.comes_late(&branch.live, count) {
            return self.builder.spoil();
        }
        let held = self.builder.take_diagnostics();
        if self.settled.len() == 0 {
            self.beginning(&branch);
        }
        let beginning = self.builder.take_diagnostics();
        self.count_left(&branch, count);
        self.settled.add(&self.entries, &branch, count);
        self.note_answers(&branch.live, count, marks);
        self.add(&branch.live, count, marks);
        let added = self.builder.take_diagnostics();
        for (told, more) in self.told.iter_mut().zip([beginning, added]) {
            told.extend(more);
        }
        held.into_iter().for_each(|told| self.builder.diagnostic(told));
    }

    /// How many of the oldest lines can go: with the next one begins a response, all others are whole on either side, and
    /// at least so many bytes are left.
    fn whole(&self, left: usize) -> Option<usize> {
        let mut last: HashMap<&str, usize> = HashMap::new();
        for (at, entry) in self.entries.iter().enumerate() {
            last.extend(entry.response().map(|key| (key, at)));
        }
        let (mut open_until, mut bytes, mut best) = (0, self.bytes, None);
        for (at, entry) in self.entries.iter().enumerate() {
            let begins = matches!(entry.kind, Kind::Response { .. }) && open_until < at;
            if begins && at > 0 && bytes >= left {
                best = Some(at);
            }
            bytes -= entry.size();
            let ends = entry.response().and_then(|key| last.get(key));
            open_until = open_until.max(ends.copied().unwrap_or(0));
        }
        best
    }

    /// The session is whole.
    pub fn close(mut self, marks: &Marks, out: &mut Out) {
        let count = self.entries.len();
        let branch = branch::follow(&self.entries, &self.settled);
        let Some(branch) = branch.filter(|branch| !self.comes_late(&branch.live, count)) else {
            self.builder.spoil();
            return out.session(self.builder);
        };
        if self.settled.len() == 0 {
            self.beginning(&branch);
        }
        self.count_left(&branch, count);
        let [beginning, added] = std::mem::take(&mut self.told);
        beginning.into_iter().for_each(|told| self.builder.diagnostic(told));
        self.left_behind();
        added.into_iter().for_each(|told| self.builder.diagnostic(told));
        self.add(&branch.live, count, marks);
        marks.settle(&self.key.session, &mut self.builder);
        out.session(self.builder);
    }

    /// Whether one of the first entries belongs to a response that is settled.
    fn comes_late(&self, live: &[bool], count: usize) -> bool {
        let live = self.entries.iter().zip(live).take(count).filter(|(_, live)| **live);
        live.filter_map(|(entry, _)| entry.response()).any(|key| self.settled.has_response(key))
    }

    /// Adds the first entries to the session, as far as they are the conversation.
    fn add(&mut self, live: &[bool], count: usize, marks: &Marks) {
        let gone = self.entries.drain(..count).zip(live);
        let mut entries: Vec<_> = gone.map(|(entry, live)| (entry, *live)).collect();
        self.bytes -= entries.iter().map(|(entry, _)| entry.size()).sum::<usize>();
        entries.retain(|(_, live)| *live);
        let mut responses: HashMap<Box<str>, Vec<usize>> = HashMap::new();
        for (at, (entry, _)) in entries.iter().enumerate() {
            if let Some(key) = entry.response() {
                responses.entry(key.into()).or_default().push(at);
            }
        }
        let mut entries: Vec<_> = entries.into_iter().map(|(entry, _)| Some(entry)).collect();
        let (builder, session) = (&mut self.builder, &*self.key.session);
        for at in 0..entries.len() {
            let Some(entry) = entries.get_mut(at).and_then(Option::take) else { continue };
            let others = entry.response().and_then(|key| responses.remove(key)).unwrap_or_default();
            let mut calls = HashSet::new();
            add(builder, marks, session, entry, &mut calls);
            // One response is one turn, though results of its first calls may be written before its last line.
            for other in others {
                if let Some(entry) = entries.get_mut(other).and_then(Option::take) {
                    add(builder, marks, session, entry, &mut calls);
                }
            }
        }
    }

    /// Keeps in mind whose results are about to be settled, and may turn out to have been refusals.
    fn note_answers(&mut self, live: &[bool], count: usize, marks: &Marks) {
        for (entry, _) in self.entries.iter().zip(live).take(count).filter(|(_, live)| **live) {
            let answers = entry.blocks().map_or(&[][..], |blocks| &blocks.answers);
            let rejected = matches!(entry.kind, Kind::Answer { rejected: true, .. });
            let refused = |answer: &_| marks.of(&self.key.session, answer, rejected).refused.is_some();
            let open = answers.iter().filter(|answer| !refused(answer));
            self.answered.extend(open.filter_map(|answer| answer.id.as_deref()).map(digest));
        }
    }

    /// Whether what came before is not in the file.
    fn beginning(&mut self, branch: &Branch) {
        let first = self.entries.iter().find(|entry| !matches!(entry.kind, Kind::Link | Kind::Offer(_)));
        let line = first.map_or(self.builder.origin().line, |entry| entry.line);
        let compacted = self
            .entries
            .iter()
            .take_while(|entry| entry.line < line)
            .chain(first)
            .any(|entry| entry.compacts);
        let why = if compacted {
            "the log begins with a summary of what came before"
        } else if branch.continues {
            "the log's first line follows one that is not in it"
        } else {
            return;
        };
        self.builder.at_line(line).starts_in_the_middle(why);
    }

    /// Counts what of the first entries is no part of the conversation as it went on.
    fn count_left(&mut self, branch: &Branch, count: usize) {
        for entry in branch.adrift.iter().filter(|at| **at < count).filter_map(|at| self.entries.get(*at)) {
            self.left.adrift.get_or_insert((0, entry.line)).0 += 1;
        }
        for (entry, _) in self.entries.iter().zip(&branch.live).take(count).filter(|(_, live)| !**live) {
            if let Some(blocks) = entry.blocks() {
                self.left.lines.get_or_insert((0, entry.line)).0 += 1;
                self.left.calls += blocks.calls.len();
            }
        }
    }

    /// Says what of the log is no part of the conversation as it went on.
    fn left_behind(&mut self) {
        if let Some((lines, line)) = self.left.adrift {
            let lines = number(lines, "line follows", "lines follow");
            let message = format!(
                "{lines} one that is not in the file, and is read as following the line before it; the first stands here"
            );
            self.builder.at_line(line).damaged(message);
        }
        let Some((lines, line)) = self.left.lines else { return };
        let message = format!(
            "{} with {} on a branch that was left; the first stands here",
            number(lines, "line", "lines"),
            number(self.left.calls, "call", "calls"),
        );
        self.builder.at_line(line).passed_by(message);
    }
}

impl Entry {
    /// Key of the response that it is a line of.
    fn response(&self) -> Option<&str> {
        match &self.kind {
            Kind::Response { key, .. } => key.as_deref(),
            _ => None,
        }
    }
}

/// Adds what a line says. `calls` are those of the response so far, to tell one that is there twice.
fn add(builder: &mut Builder, marks: &Marks, session: &str, entry: Entry, calls: &mut HashSet<Box<str>>) {
    builder.at_line(entry.line);
    entry.odd.into_iter().for_each(|odd| builder.damaged(odd));
    let at: Option<Millis> = entry.at;
    let answers = entry.kind.blocks().map_or(&[][..], |blocks| &blocks.answers);
    let contradictions = answers.iter().filter_map(|answer| marks.contradiction(session, answer));
    contradictions.for_each(|odd| builder.damaged(odd));
    let mark = |rejected| move |answer: &_| marks.of(session, answer, rejected);
    match entry.kind {
        Kind::Link => {}
        Kind::Offer(tools) => {
            let turn = builder.next_turn();
            builder.offered(turn, tools);
        }
        Kind::Prompt { blocks, .. } => blocks.reply(builder, "user", at, mark(false)),
        Kind::Answer { blocks, rejected } => blocks.reply(builder, "user", at, mark(rejected)),
        Kind::Failure(blocks) => blocks.reply(builder, "system", at, mark(false)),
        Kind::Response { key, mut blocks } => {
            let before = blocks.calls.len();
            blocks.calls.retain(|call| call.id.as_ref().is_none_or(|id| calls.insert(id.clone())));
            if blocks.calls.len() < before {
                builder.lost(
                    Loss::MayHoldCalls,
                    "a call is there twice in one response, and is left out the second time",
                );
            }
            // A line that only thinks is no message.
            if !blocks.is_empty() || !blocks.odd.is_empty() {
                blocks.respond(builder, key.as_deref(), at, mark(false));
            }
        }
    }
}

fn number(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
