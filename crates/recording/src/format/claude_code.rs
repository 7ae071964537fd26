//! Logs of Claude Code, JSON Lines, and the stream that it prints with `--output-format stream-json`; logs of Qwen
//! Code.
//!
//! One log is one session, and each subagent with lines in it is a session of its own. Which lines are the conversation
//! is known only after the last one, so a session's lines are held until then; of lines that are no messages (progress,
//! hooks, snapshots of files) only their position in the tree is kept.

mod branch;
mod entry;
mod log;
mod marks;
mod offer;
mod parts;
mod response;
mod titles;

use hashbrown::HashMap;

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::shallow::{Members, Node};
use crate::shape::open::Open;
use crate::shape::unknown::Unknown;
use entry::{Entry, entry};
use log::{Key, Log};
use marks::{Marks, denied_by};
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::Damage;
use rulestep_base::source::quoted;
use titles::Titles;

pub(crate) const FORMAT: Format = Format {
    name: "claude-code",
    title: "sessions of Claude Code; a subagent's lines are a session of its own",
    source: "`~/.claude/projects/*/*.jsonl`, or `claude -p PROMPT --output-format stream-json --verbose`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

/// Types of lines that are about the session and not part of the conversation.
const ASIDE: [&str; 23] = [
    "api-request",
    "api-request-blob",
    offer::SHAPE,
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

/// Logs of Qwen Code are trees like those of Claude Code, of messages in the form of the Gemini API.
pub(crate) const QWEN: Format = Format {
    name: "qwen-code",
    title: "sessions of Qwen Code",
    source: "`~/.qwen/projects/*/chats/*.jsonl`",
    absent_without_results: false,
    marks_failures: true,
    recognise: |sample| sample.objects().any(parts::is_line),
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().filter(|line| !parts::is_line(line)).any(|line| {
        let text = |key| line.get(key).and_then(Node::text).unwrap_or_default();
        let of_session = line.any(&SESSION).is_some();
        match &*text("type") {
            "user" | "assistant" => of_session && line.has("message") && !line.has("messageId"),
            "summary" => line.has("leafUuid"),
            "file-history-snapshot" => line.has("snapshot") && line.has("messageId"),
            "queue-operation" => of_session && line.has("operation"),
            "system" => of_session && (line.has("uuid") || text("subtype") == "init" && line.has("tools")),
            "progress" | "attachment" => of_session && line.has("uuid"),
            _ => false,
        }
    })
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(ClaudeCode { marks: Marks::new(setting.clone()), ..ClaudeCode::default() })
}

/// Keys of a session's id, in a log and in a stream.
const SESSION: [&str; 2] = ["sessionId", "session_id"];

/// Subagents of one session that are read in parallel. Each line is searched for among them.
const MOST_AGENTS: usize = 1024;

#[derive(Default)]
struct ClaudeCode {
    marks: Marks,
    open: Open<Log>,
    /// The sessions of subagents that lines are known to belong to, by the names of the lines.
    sidechains: HashMap<Box<str>, Box<str>>,
    titles: Titles,
    unknown: Unknown,
}

impl Reader for ClaudeCode {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let Some(kind) = members.get("type").and_then(Node::text) else {
            return out.diagnostics(self.marks.setting.foreign(unit, "not a line of a log"));
        };
        let said = matches!(&*kind, "user" | "assistant" | "tool_result");
        if !said && !ASIDE.contains(&&*kind) {
            self.unknown.note(&kind, unit.node, unit.line);
            return out.diagnostics(unit.diagnostics.iter().cloned());
        }
        self.deny(unit);
        self.marks.note(members);
        self.titles.note(&kind, members.any(&SESSION), members);
        if kind == "permission-mode" {
            self.changed_mode(members);
        }
        // A line that is about no line of the conversation has no position in it.
        let by_itself = kind == "system" || kind == offer::SHAPE;
        if !said && (members.any(&SESSION).is_none() || !members.has("uuid") && !by_itself) {
            return out.diagnostics(unit.diagnostics.iter().cloned());
        }
        match entry(&kind, unit) {
            Ok(entry) => self.add(entry, unit, out),
            Err(why) => out.diagnostics(self.marks.setting.left_out(unit, &why)),
        }
    }

    fn end(&mut self, out: &mut Out) {
        for log in self.open.close() {
            log.close(&self.marks, &self.titles, out);
        }
        self.unknown.tell(&self.marks.setting, out);
    }
}

impl ClaudeCode {
    /// The lines of a session that follow are written in another permission mode.
    fn changed_mode(&mut self, members: &Members<'_>) {
        let session = members.any(&SESSION).and_then(Node::id).unwrap_or_default();
        let is_own = |log: &Log| *log.key.session == *session && log.key.agent.is_none();
        if let Some(log) = self.open.position(is_own).and_then(|at| self.open.add_to(at, 0)) {
            log.agent(members);
        }
    }

    fn add(&mut self, mut entry: Entry, unit: &Unit<'_>, out: &mut Out) {
        let at = self.place(&entry, unit, out);
        let setting = &self.marks.setting;
        let Some(log) = self.open.add_to(at, entry.size()) else { return };
        unit.diagnostics.iter().cloned().for_each(|diagnostic| log.builder.diagnostic(diagnostic));
        log.surroundings(&unit.members);
        entry.folder = log.folder(&unit.members);
        entry.agent = log.agent(&unit.members);
        if let Some(uuid) = &entry.uuid {
            if log.key.agent.is_some() {
                self.sidechains.insert(uuid.clone(), log.key.agent.clone().unwrap_or_default());
            }
            match log.digest(uuid) {
                Some(digest) if digest == entry.digest => {
                    let message = Damage::lost(Loss::Harmless, "the line is repeated, and is read once");
                    return log.builder.diagnostic(setting.damaged_line(unit.line, message));
                }
                Some(_) => {
                    let message = format!("another line has the same uuid {}", quoted(uuid));
                    log.builder.at_line(unit.line).damaged(message);
                }
                None => {}
            }
        }
        log.push(entry);
        let session = log.key.session.clone();
        loop {
            let crowded = self.open.len() > MOST_AGENTS;
            let needed = |log: &Log| log.key.session == session && !(crowded && log.key.agent.is_some());
            let Some(log) = self.open.too_much(needed) else { break };
            if let Some(agent) = &log.key.agent {
                self.sidechains.retain(|_, of| of != agent);
            }
            log.close(&self.marks, &self.titles, out);
        }
    }

    /// The session that a line belongs to, begun if it must be.
    fn place(&mut self, entry: &Entry, unit: &Unit<'_>, out: &Out) -> usize {
        let members = &unit.members;
        let named = members.any(&SESSION).and_then(Node::id);
        let agent = self.agent(entry, members);
        let latest = self.latest();
        let session: Box<str> = match (&named, latest) {
            (Some(named), _) => named.as_ref().into(),
            (None, Some((_, session))) => session.into(),
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
        let mut builder = self.marks.setting.session_at(id, unit.line, out);
        // The format marks every failure.
        builder.mark_errors();
        builder.context("agent", self.marks.setting.format.into());
        if key.agent.is_some() {
            builder.parent(&*key.session);
        }
        self.open.put(usize::MAX, Log::new(builder, key), 0)
    }

    /// The session that was added to last, which is no subagent's.
    fn latest(&self) -> Option<(usize, &str)> {
        let at = self.open.latest(|log| log.key.agent.is_none())?;
        Some((at, &*self.open.get(at)?.key.session))
    }

    /// Records for which calls a line says that they were not allowed.
    fn deny(&mut self, unit: &Unit<'_>) {
        let denied = denied_by(&unit.members);
        if denied.is_empty() {
            return;
        }
        let named = unit.members.any(&SESSION).and_then(Node::id);
        let named = named.filter(|named| self.open.position(|log| *log.key.session == **named).is_some());
        let latest = || self.latest().map(|(_, session)| session.into());
        let session: Option<Box<str>> = named.map(|named| named.as_ref().into()).or_else(latest);
        let Some(session) = session else { return };
        for id in denied {
            self.marks.deny(&session, &id, unit.line);
        }
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
