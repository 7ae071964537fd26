//! One session of a log: its lines while they are read, and the session made of them.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::branch;
use super::branch::Branch;
use super::entry::{Entry, Kind, Predecessor};
use super::marks::Marks;
use super::response;
use super::titles::Titles;
use crate::contract::out::Out;
use crate::input::digest::digest;
use crate::input::shallow::Members;
use crate::input::shallow::Node;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::Builder;
use rulestep_base::session::{AGENT_VERSION, Body, Millis, PERMISSION_MODE};

/// A session whose lines are being read.
pub struct Log {
    /// The session so far.
    pub builder: Builder,
    /// The session and subagent of its lines.
    pub key: Key,
    entries: Vec<Entry>,
    /// Digests and places of the lines, by hashes of their names.
    names: HashMap<u64, (u64, usize)>,
    /// Which facts of its environment are known.
    located: [bool; PLACES.len()],
    /// Names of lines that others follow, and that have not come yet.
    awaited: HashSet<u64>,
    /// Number of lines that came after the lines that follow them.
    early: u32,
    /// The folder that the last line named.
    folder: Option<Arc<str>>,
    /// The permission mode and the version that the last lines named.
    agent: [Option<Arc<str>>; 2],
}

/// Keys of the agent's permission mode and of its version, in a log and in a stream.
pub const MODE: &[&str] = &["permissionMode"];
const VERSION: &[&str] = &["version", "claude_code_version"];

/// Entries of the context, with the keys of lines that say them.
const PLACES: [(&str, &[&str]); 5] = [
    ("cwd", &["cwd"]),
    ("gitBranch", &["gitBranch"]),
    ("version", VERSION),
    (AGENT_VERSION, VERSION),
    (PERMISSION_MODE, MODE),
];

/// The session and subagent that lines belong to.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    /// The session.
    pub session: Box<str>,
    /// The subagent.
    pub agent: Option<Box<str>>,
}

impl Log {
    /// For a session without lines.
    pub fn new(mut builder: Builder, key: Key) -> Log {
        builder.marks_refusals(true);
        Log {
            builder,
            key,
            entries: Vec::new(),
            names: HashMap::new(),
            located: [false; PLACES.len()],
            awaited: HashSet::new(),
            early: 0,
            folder: None,
            agent: [None, None],
        }
    }

    /// Hash of the content of the line of this name, if there is one.
    pub fn digest(&self, uuid: &str) -> Option<u64> {
        self.names.get(&digest(uuid)).map(|(digest, _)| *digest)
    }

    /// The index of the line with this id.
    pub fn place_of(&self, uuid: &str) -> Option<usize> {
        self.names.get(&digest(uuid)).map(|(_, place)| *place)
    }

    /// Adds a line.
    pub fn push(&mut self, mut entry: Entry) {
        entry.follows = match entry.parent.take().map(|parent| digest(&parent)) {
            None => Predecessor::Nothing,
            Some(parent) => match self.names.get(&parent) {
                Some((_, at)) => Predecessor::Line(*at),
                None => {
                    self.awaited.insert(parent);
                    Predecessor::Missing
                }
            },
        };
        if let Some(uuid) = entry.uuid.take().map(|uuid| digest(&uuid)) {
            self.early += u32::from(self.awaited.remove(&uuid));
            self.names.insert(uuid, (entry.digest, self.entries.len()));
        }
        self.entries.push(entry);
    }

    /// The folder that a line names as the current one: the agent's shell changes folders.
    pub fn folder(&mut self, members: &Members<'_>) -> Option<Arc<str>> {
        if let Some(folder) = members.get("cwd").and_then(Node::text)
            && self.folder.as_deref() != Some(&*folder)
        {
            self.folder = Some(folder.as_ref().into());
        }
        self.folder.clone()
    }

    /// The permission mode and the version that the line, or one before it, says.
    pub fn agent(&mut self, members: &Members<'_>) -> [Option<Arc<str>>; 2] {
        for (own, keys) in self.agent.iter_mut().zip([MODE, VERSION]) {
            if let Some(said) = members.any(keys).and_then(Node::text)
                && own.as_deref() != Some(&*said)
            {
                *own = Some(said.as_ref().into());
            }
        }
        self.agent.clone()
    }

    /// The environment that the lines name. Nearly every line names it, and the first one counts.
    pub fn surroundings(&mut self, members: &Members<'_>) {
        let Log { builder, located, .. } = self;
        for ((key, keys), known) in PLACES.into_iter().zip(located) {
            if !*known && let Some(value) = members.any(keys).and_then(Node::value) {
                builder.context_once(key, value);
                *known = true;
            }
        }
    }

    /// The session is whole.
    pub fn close(mut self, marks: &Marks, titles: &Titles, out: &mut Out) {
        // A subagent's lines are no part of what the user called the session.
        if let Some(title) =
            titles.of(&self.key.session, |uuid| self.place_of(uuid)).filter(|_| self.key.agent.is_none())
        {
            self.builder.title(title);
        }
        let branch = branch::follow(&self.entries);
        self.beginning(&branch);
        self.left_behind(&branch);
        self.add(&branch.live, marks);
        marks.settle(&self.key.session, &mut self.builder);
        out.session(self.builder);
    }

    /// Adds the lines to the session that are the conversation.
    fn add(&mut self, live: &[bool], marks: &Marks) {
        let live = std::mem::take(&mut self.entries).into_iter().zip(live).filter(|(_, live)| **live);
        let mut entries: Vec<_> = live.map(|(entry, _)| Some(entry)).collect();
        let mut responses = response::group(&entries);
        self.unclear(&entries, &responses.unclear);
        let (builder, session) = (&mut self.builder, &*self.key.session);
        for at in 0..entries.len() {
            let Some(entry) = entries.get_mut(at).and_then(Option::take) else { continue };
            let mut calls = CallsById::new();
            if matches!(entry.kind, Kind::Response { .. }) {
                builder.end_response();
            }
            add(builder, marks, session, entry, &mut calls);
            // One response is one turn, though results of its first calls may be written before its last line.
            for other in responses.later.remove(&at).unwrap_or_default() {
                if let Some(entry) = entries.get_mut(other).and_then(Option::take) {
                    add(builder, marks, session, entry, &mut calls);
                }
            }
        }
    }

    /// Says that lines are read as one response and may be several.
    fn unclear(&mut self, entries: &[Option<Entry>], lines: &[usize]) {
        let Some(first) = lines.first().and_then(|at| entries.get(*at)?.as_ref()) else { return };
        let goes_on = number(lines.len(), "line of the model has", "lines of the model have");
        let message = format!(
            "{goes_on} the id of a response of which results are already there, and nothing says if it goes on or another \
             one has its id; it is read as one response; the first is here"
        );
        self.builder.at_line(first.line).ambiguous(message);
    }

    /// Whether the beginning is not in the file.
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

    /// Reports lines that do not belong to the conversation as it continued.
    fn left_behind(&mut self, branch: &Branch) {
        let mut adrift = branch.adrift.iter().filter_map(|at| self.entries.get(*at));
        if let Some(first) = adrift.next() {
            let lines = number(1 + adrift.count(), "line follows", "lines follow");
            let message = format!(
                "{lines} one that is not in the file, and is read as following the line before it; the first is here"
            );
            self.builder.at_line(first.line).damaged(message);
        }
        let left = self.entries.iter().zip(&branch.live).filter(|(_, live)| !**live);
        let left: Vec<_> =
            left.filter_map(|(entry, _)| Some((entry.line, entry.blocks()?.calls.len()))).collect();
        let Some((line, _)) = left.first() else { return };
        let count = left.iter().map(|(_, calls)| calls).sum();
        let lines = number(left.len(), "line", "lines");
        let what = format!("{lines} with {}", number(count, "call", "calls"));
        let builder = self.builder.at_line(*line);
        if self.early > 0 && count > 0 {
            let message = format!(
                "the log is not in the order in which it was written: {} before the line that {}. {what} are left out; \
                 the first is here",
                number(self.early as usize, "line is", "lines are"),
                if self.early == 1 { "it follows" } else { "they follow" },
            );
            return builder.lost(Loss::MayHoldCalls, message);
        }
        builder.passed_by(format!("{what} on an abandoned branch; the first is here"));
    }
}

/// The tools and arguments of the calls of one response.
type CallsById = HashMap<Box<str>, (Box<str>, Body)>;

/// Adds a line. `calls` are those of the response so far, to recognise repeated ones.
fn add(builder: &mut Builder, marks: &Marks, session: &str, entry: Entry, calls: &mut CallsById) {
    builder.at_line(entry.line);
    builder.in_folder(entry.folder.as_deref());
    let [mode, version] = &entry.agent;
    builder.by_agent(mode.as_deref(), version.as_deref());
    builder.copied(entry.copied);
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
        Kind::Prompt { blocks, .. } => blocks.reply(builder, "user", at, mark(None)),
        Kind::Answer { blocks, rejected } => blocks.reply(builder, "user", at, mark(rejected)),
        Kind::Failure(blocks) => blocks.reply(builder, "system", at, mark(None)),
        Kind::Response { key, mut blocks, .. } => {
            // A line that grew is written again, with the calls that it had.
            let mut other = false;
            blocks.calls.retain(|call| {
                let Some(id) = &call.id else { return true };
                let own = (call.tool.clone(), call.input.clone());
                let Some(before) = calls.insert(id.clone(), own.clone()) else { return true };
                other |= (before.0, before.1.raw()) != (own.0, own.1.raw());
                false
            });
            if other {
                builder.lost(
                    Loss::MayHoldCalls,
                    "another call has the id of one before it in its response, and is left out",
                );
            }
            // A line that only thinks is no message.
            if !blocks.is_empty() || !blocks.odd.is_empty() {
                blocks.respond(builder, key.as_deref(), at, mark(None));
            }
        }
    }
}

fn number(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
