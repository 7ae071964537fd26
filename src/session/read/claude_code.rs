//! Logs of Claude Code, JSON Lines, and the stream that it prints with `--output-format stream-json`.
//!
//! One log is one session, and each subagent whose lines stand in it is a session of its own. Which lines are the
//! conversation is known when the last one was read, so a session's lines are held until then; of what is not
//! said to anybody (progress, hooks, snapshots of files) only its place in the tree is kept.

mod branch;
mod entry;

use std::collections::{HashMap, HashSet};

use super::open::Open;
use super::setting::Setting;
use super::shallow::{Members, Node};
use super::unknown::Unknown;
use super::{Format, Out, Reader, Sample, Unit};
use crate::diagnostic::{Diagnostic, code};
use crate::session::Millis;
use crate::session::build::Builder;
use crate::source::quoted;
use branch::Branch;
use entry::{Entry, Kind, entry, mark};

pub(super) const FORMAT: Format = Format {
    name: "claude-code",
    title: "Claude Code logs and streams",
    absent_without_results: false,
    recognise,
    reader,
};

/// Types of lines that are about the session and not a part of what is said in it.
const ASIDE: [&str; 20] = [
    "agent-name",
    "ai-title",
    "attachment",
    "control_request",
    "control_response",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "rate_limit_event",
    "result",
    "stream_event",
    "summary",
    "system",
    "tag",
    "worktree-state",
];

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|line| {
        let text = |key| line.get(key).and_then(Node::text).unwrap_or_default();
        let of_session = line.any(&SESSION).is_some();
        match &*text("type") {
            "user" | "assistant" => of_session && line.has("message"),
            "summary" => line.has("leafUuid"),
            "file-history-snapshot" => line.has("snapshot") && line.has("messageId"),
            "queue-operation" => of_session && line.has("operation"),
            "system" => of_session && (line.has("uuid") || text("subtype") == "init"),
            "progress" | "attachment" => of_session && line.has("uuid"),
            _ => false,
        }
    })
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(ClaudeCode { setting: setting.clone(), ..ClaudeCode::default() })
}

/// Keys of a session's id, in a log and in a stream.
const SESSION: [&str; 2] = ["sessionId", "session_id"];

#[derive(Default)]
struct ClaudeCode {
    setting: Setting,
    open: Open<Log>,
    /// The sessions of subagents that lines are known to belong to, by the names of the lines.
    sidechains: HashMap<Box<str>, Box<str>>,
    /// What the last summary says it leads to, where no session has begun since.
    summary: Option<Box<str>>,
    unknown: Unknown,
}

/// A session whose lines are being read.
struct Log {
    builder: Builder,
    key: Key,
    entries: Vec<Entry>,
    /// Digests of the lines, by their names.
    names: HashMap<Box<str>, u64>,
    /// A summary stood before the first line, and leads here.
    summary: Option<Box<str>>,
}

/// Whose lines they are.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    session: Box<str>,
    /// The subagent.
    agent: Option<Box<str>>,
}

impl Reader for ClaudeCode {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let Some(kind) = members.get("type").and_then(Node::text) else {
            return out.diagnostics(self.setting.foreign(unit, "no line of a log"));
        };
        let said = matches!(&*kind, "user" | "assistant");
        if !said && !ASIDE.contains(&&*kind) {
            self.unknown.note(&kind, unit.line);
            return out.diagnostics(unit.diagnostics.iter().cloned());
        }
        if kind == "summary" {
            self.summary = members.get("leafUuid").and_then(Node::text).map(|leaf| leaf.as_ref().into());
        }
        // What is about no line of the conversation has no place in it.
        if !said && (members.any(&SESSION).is_none() || !members.has("uuid") && kind != "system") {
            return out.diagnostics(unit.diagnostics.iter().cloned());
        }
        match entry(&kind, unit) {
            Ok(entry) => self.add(entry, unit, out),
            Err(why) => out.diagnostics(self.setting.left_out(unit, &why)),
        }
    }

    fn end(&mut self, out: &mut Out) {
        for log in self.open.close() {
            log.close(&self.setting, out);
        }
        self.unknown.tell(&self.setting, out);
    }
}

impl ClaudeCode {
    fn add(&mut self, entry: Entry, unit: &Unit<'_>, out: &mut Out) {
        let at = self.place(&entry, unit, out);
        let setting = &self.setting;
        let Some(log) = self.open.add_to(at, entry.size()) else { return };
        unit.diagnostics.iter().cloned().for_each(|diagnostic| log.builder.diagnostic(diagnostic));
        log.surroundings(&unit.members);
        if let Some(uuid) = &entry.uuid {
            if log.key.agent.is_some() {
                self.sidechains.insert(uuid.clone(), log.key.agent.clone().unwrap_or_default());
            }
            match log.names.insert(uuid.clone(), entry.digest) {
                Some(digest) if digest == entry.digest => {
                    let message = "the line is there already, and is left out this time";
                    return log.builder.diagnostic(setting.damaged_line(unit.line, message));
                }
                Some(_) => {
                    let message = format!("another line has the uuid {} as well", quoted(uuid));
                    log.builder.at_line(unit.line).damaged(message);
                }
                None => {}
            }
        }
        log.entries.push(entry);
        let session = log.key.session.clone();
        while let Some(log) = self.open.too_much(|log| log.key.session == session) {
            if let Some(agent) = &log.key.agent {
                self.sidechains.retain(|_, of| of != agent);
            }
            log.close(&self.setting, out);
        }
    }

    /// The session that a line belongs to, begun if it must be.
    fn place(&mut self, entry: &Entry, unit: &Unit<'_>, out: &Out) -> usize {
        let members = &unit.members;
        let named = members.any(&SESSION).and_then(Node::id);
        let agent = self.agent(entry, members);
        let latest = self.open.latest(|log| log.key.agent.is_none());
        let latest = latest.and_then(|at| Some((at, &self.open.get(at)?.key.session)));
        let session: Box<str> = match (&named, latest) {
            (Some(named), _) => named.as_ref().into(),
            (None, Some((_, session))) => session.clone(),
            (None, None) => Box::default(),
        };
        let key = Key { session, agent };
        if let Some(at) = self.open.position(|log| log.key == key) {
            return at;
        }
        // A line of another session that follows one of this is this one's: a session that was taken up again.
        if key.agent.is_none()
            && entry.parent.is_some()
            && let Some((at, _)) = latest
        {
            return at;
        }
        let id = key.agent.as_deref().unwrap_or(&key.session);
        let mut builder = self.setting.session_at(id, unit.line, out);
        // The format marks every failure.
        builder.mark_errors();
        let summary = if key.agent.is_some() {
            builder.parent(&*key.session);
            None
        } else {
            self.summary.take()
        };
        let log = Log { builder, key, entries: Vec::new(), names: HashMap::new(), summary };
        self.open.put(usize::MAX, log, 0)
    }

    /// The subagent that wrote a line: by its name, by the call that started it, or by the line before.
    fn agent(&self, entry: &Entry, members: &Members<'_>) -> Option<Box<str>> {
        let name = |key| members.get(key).and_then(Node::id).map(|name| name.as_ref().into());
        if let Some(call) = name("parent_tool_use_id") {
            return Some(call);
        }
        if members.get("isSidechain").and_then(Node::bool) != Some(true) {
            return None;
        }
        let before = || self.sidechains.get(entry.parent.as_deref()?).cloned();
        name("agentId").or_else(before).or_else(|| entry.uuid.clone()).or_else(|| Some("sidechain".into()))
    }
}

impl Log {
    /// What the lines say of where the session runs.
    fn surroundings(&mut self, members: &Members<'_>) {
        for key in ["cwd", "gitBranch", "version"] {
            if let Some(value) = members.get(key).and_then(Node::value) {
                self.builder.context_once(key, value);
            }
        }
    }

    fn close(mut self, setting: &Setting, out: &mut Out) {
        let branch = branch::follow(&self.entries);
        self.beginning(&branch);
        self.left_behind(&branch);
        let mut responses: HashMap<Box<str>, Vec<usize>> = HashMap::new();
        for (at, entry) in self.entries.iter().enumerate() {
            if let Kind::Response { key: Some(key), .. } = &entry.kind
                && branch.live.get(at) == Some(&true)
            {
                responses.entry(key.clone()).or_default().push(at);
            }
        }
        let mut entries: Vec<_> = self
            .entries
            .into_iter()
            .zip(branch.live)
            .map(|(entry, live)| if live { Some(entry) } else { None })
            .collect();
        let builder = &mut self.builder;
        for at in 0..entries.len() {
            let Some(entry) = entries.get_mut(at).and_then(Option::take) else { continue };
            let key = match &entry.kind {
                Kind::Response { key, .. } => key.clone(),
                _ => None,
            };
            let mut calls = HashSet::new();
            add(builder, setting, entry, &mut calls);
            // One response is one turn, though results of its first calls may be written before its last line.
            let others = key.and_then(|key| responses.remove(&key)).unwrap_or_default();
            for other in others {
                if let Some(entry) = entries.get_mut(other).and_then(Option::take) {
                    add(builder, setting, entry, &mut calls);
                }
            }
        }
        out.session(self.builder);
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
        let summarised = self.summary.as_ref().is_some_and(|leaf| !self.names.contains_key(leaf));
        let why = if compacted {
            "the log begins with a summary of what came before"
        } else if branch.continues {
            "the log's first line follows one that is not in it"
        } else if summarised {
            "the log begins with the summary of a conversation that is not in it"
        } else {
            return;
        };
        self.builder.at_line(line).starts_in_the_middle(why);
    }

    /// Says what of the log is no part of the conversation as it went on.
    fn left_behind(&mut self, branch: &Branch) {
        let first_adrift = branch.adrift.first().and_then(|at| self.entries.get(*at));
        if let Some(line) = first_adrift.map(|entry| entry.line) {
            let lines = count(branch.adrift.len(), "line follows", "lines follow");
            let message = format!(
                "{lines} one that is not in the file, and is read as following the line before it; the first stands here"
            );
            self.builder.at_line(line).damaged(message);
        }
        let left = self.entries.iter().zip(&branch.live).filter(|(_, live)| !**live);
        let left: Vec<_> = left.map(|(entry, _)| entry).filter(|entry| entry.blocks().is_some()).collect();
        let Some(first) = left.first() else { return };
        let calls = left.iter().filter_map(|entry| entry.blocks()).map(|blocks| blocks.calls.len()).sum();
        let message = format!(
            "{} with {} on a branch that was left; the first stands here",
            count(left.len(), "line", "lines"),
            count(calls, "call", "calls"),
        );
        let origin = self.builder.origin();
        let place = (origin.file.clone(), u64::from(first.line));
        let notice = Diagnostic::notice(code::DAMAGED_LINE, message).on_line(place.0, place.1);
        self.builder.diagnostic(notice);
    }
}

/// Adds what a line says. `calls` are those of the response so far, to tell one that is there twice.
fn add(builder: &mut Builder, setting: &Setting, entry: Entry, calls: &mut HashSet<Box<str>>) {
    builder.at_line(entry.line);
    entry.odd.into_iter().for_each(|odd| builder.damaged(odd));
    let at: Option<Millis> = entry.at;
    let mark = |rejected| move |answer: &_| mark(answer, rejected, setting);
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
                builder.damaged("a call is there twice in one response, and is left out the second time");
            }
            // A line that only thinks is no message.
            if !blocks.is_empty() || !blocks.odd.is_empty() {
                blocks.respond(builder, key.as_deref(), at, mark(false));
            }
        }
    }
}

fn count(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
