//! Rollout files of the Codex CLI, JSON Lines of `{timestamp, type, payload}`; in the oldest ones the items are not
//! wrapped.
//!
//! The conversation is in `response_item` lines. `event_msg` lines repeat it for the screen, so only marks of failure,
//! turns that were taken back, and calls made by a script (which no other line has) are read from them. Since these
//! come later, a session's items are held until the file's next session, or its end.

use std::collections::HashMap;
use std::sync::Arc;

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::shallow::{Members, Node};
use crate::input::time;
use crate::shape::items;
use crate::shape::items::{Answer, Call, Item, Row};
use crate::shape::status::Status;
use crate::shape::unknown::Unknown;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{AGENT_VERSION, Millis, PERMISSION_MODE};

mod fork;
mod output;
mod running;
mod script;

use fork::Fork;
use running::Running;
use script::Once;

pub use output::ended;
pub use script::CALL as SCRIPT_CALL;

pub(crate) const FORMAT: Format = Format {
    name: "codex-rollout",
    title: "sessions (rollouts) of the Codex CLI, also the oldest ones",
    source: "`~/.codex/sessions/YEAR/MONTH/DAY/rollout-*.jsonl`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

/// Types of lines that hold something.
const LINES: [&str; 5] = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|line| {
        let text = |key| line.get(key).and_then(Node::text).unwrap_or_default();
        let wrapped = LINES.contains(&&*text("type")) && line.has("payload");
        let state = text("record_type") == "state";
        let meta = !line.has("type") && line.has("id") && line.has("timestamp") && line.has("instructions");
        wrapped || state || meta && !line.has("messages")
    })
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(Codex { setting: setting.clone(), open: None, unknown: Unknown::default() })
}

struct Codex {
    setting: Setting,
    open: Option<Rollout>,
    unknown: Unknown,
}

/// A session whose items are being read.
struct Rollout {
    builder: Builder,
    items: Vec<Step>,
    /// Calls that did not succeed, as events say.
    failed: HashMap<Box<str>, Status>,
    /// The copied beginning from another session.
    fork: Option<Fork>,
    /// The session that started this one, which may be the same.
    spawned: Option<Box<str>>,
    /// The folder of the turn, and when the agent asks in it.
    folder: Option<Arc<str>>,
    mode: Option<Arc<str>>,
    /// A script ran commands.
    commands: bool,
}

struct Step {
    line: u32,
    at: Option<Millis>,
    /// Why its time cannot be read.
    odd: Option<String>,
    item: Item,
    /// Something that the user asked.
    prompt: bool,
    /// The folder of a call, and when the agent asks for permission.
    folder: Option<Arc<str>>,
    mode: Option<Arc<str>>,
}

impl Reader for Codex {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let text = |key| members.get(key).and_then(Node::text).unwrap_or_default();
        let kind = text("type");
        let payload = members.get("payload").and_then(Node::members);
        match (&*kind, payload) {
            ("session_meta", Some(payload)) => self.begin(&payload, unit, out),
            ("response_item", Some(payload)) => self.item(&payload, unit, out),
            ("event_msg", Some(payload)) => self.event(&payload, unit, out),
            ("turn_context", Some(payload)) => {
                let rollout = self.rollout(unit, out);
                surroundings(&mut rollout.builder, &payload, &["cwd", "model", "approval_policy"]);
                named(&mut rollout.builder, PERMISSION_MODE, payload.get("approval_policy"));
                let sandbox = payload.any(&["sandbox_policy", "sandbox"]);
                let inner = sandbox.and_then(|sandbox| sandbox.tried().members()?.any(&["type", "mode"]));
                named(&mut rollout.builder, "sandbox", inner.or(sandbox));
                rollout.mode =
                    payload.get("approval_policy").and_then(Node::text).map(|mode| mode.as_ref().into());
                rollout.folder = payload.get("cwd").and_then(Node::text).map(|folder| folder.as_ref().into());
                rollout.enter(&payload);
            }
            ("compacted", Some(_)) => {
                let rollout = self.rollout(unit, out);
                if rollout.items.is_empty() {
                    let how = "the rollout begins with a summary of what came before";
                    rollout.builder.at_line(unit.line).starts_in_the_middle(how);
                }
            }
            ("", None) if text("record_type") == "state" => {}
            ("", None) if members.has("id") && members.has("timestamp") => self.begin(members, unit, out),
            (kind, None) if items::is_item(kind) => self.item(members, unit, out),
            ("", _) => out.diagnostics(self.setting.foreign(unit, "not a line of a rollout")),
            (kind, _) if LINES.contains(&kind) => {
                out.diagnostics(self.setting.foreign(unit, "a line without a `payload`"));
            }
            (kind, _) => {
                self.unknown.note(kind, unit.node, unit.line);
                out.diagnostics(unit.diagnostics.iter().cloned());
            }
        }
    }

    fn end(&mut self, out: &mut Out) {
        if let Some(rollout) = self.open.take() {
            rollout.close(&self.setting, out);
        }
        self.unknown.tell(&self.setting, out);
    }
}

impl Codex {
    fn begin(&mut self, meta: &Members<'_>, unit: &Unit<'_>, out: &mut Out) {
        let id = meta.get("id").and_then(Node::id).unwrap_or_default();
        if let Some(open) = &mut self.open
            && (**open.builder.session_id() == *id || open.is_copy(&id, meta))
        {
            return;
        }
        if let Some(rollout) = self.open.take() {
            rollout.close(&self.setting, out);
        }
        let mut builder = self.setting.session(&id, unit, out);
        surroundings(&mut builder, meta, &["cwd", "originator", "cli_version", "model_provider"]);
        builder.context_once("agent", "codex".into());
        named(&mut builder, AGENT_VERSION, meta.get("cli_version"));
        let git = meta.get("git").and_then(Node::members);
        if let Some(branch) = git.and_then(|git| git.get("branch")?.value()) {
            builder.context("branch", branch);
        }
        let parent = ["source", "subagent", "thread_spawn"]
            .iter()
            .try_fold(meta.clone(), |inner, key| inner.try_get(key).and_then(Node::members));
        let spawned = parent.and_then(|spawn| Some(Box::from(&*spawn.get("parent_thread_id")?.id()?)));
        if let Some(parent) = spawned.as_deref() {
            builder.parent(parent);
        }
        let from = meta.get("forked_from_id").and_then(Node::id).filter(|from| !from.is_empty());
        let fork = from.map(|from| Fork::new(&from, &id, meta));
        self.open = Some(Rollout { fork, spawned, ..Rollout::new(builder) });
    }

    /// The session that a line belongs to. Without the line that begins one, it begins in the middle.
    fn rollout(&mut self, unit: &Unit<'_>, out: &Out) -> &mut Rollout {
        let rollout = self.open.get_or_insert_with(|| {
            let mut builder = self.setting.session_at("", unit.line, out);
            builder.starts_in_the_middle("the rollout has no `session_meta` line at its beginning");
            Rollout::new(builder)
        });
        unit.diagnostics.iter().cloned().for_each(|diagnostic| rollout.builder.diagnostic(diagnostic));
        rollout
    }

    fn item(&mut self, payload: &Members<'_>, unit: &Unit<'_>, out: &mut Out) {
        let Some(mut item) = items::item(payload) else {
            let kind = payload.get("type").and_then(Node::text).unwrap_or_default();
            self.unknown.note_action(&kind, unit.line);
            return out.diagnostics(unit.diagnostics.iter().cloned());
        };
        if let Item::Call(call) = &mut item {
            script::recorded(call);
        }
        let rollout = self.rollout(unit, out);
        if let Some(odd) = items::odd(payload) {
            rollout.builder.at_line(unit.line).damaged(odd);
        }
        rollout.step(item, unit);
    }

    fn event(&mut self, payload: &Members<'_>, unit: &Unit<'_>, out: &Out) {
        let rollout = self.rollout(unit, out);
        let text = |key| payload.get(key).and_then(Node::text).unwrap_or_default();
        match &*text("type") {
            "user_message" => rollout.prompted(),
            "task_started" | "turn_started" => rollout.enter(payload),
            // Newer logs have these instead of an event of each kind.
            "item_completed" => {
                if let Some(item) = payload.get("item").and_then(Node::members) {
                    rollout.completed(&item, unit);
                }
            }
            "thread_name_updated" => rollout.builder.title(&text("thread_name")),
            "thread_rolled_back" => {
                let turns = payload.get("num_turns").and_then(Node::number).unwrap_or(1);
                rollout.roll_back(turns, unit.line);
            }
            kind @ ("exec_command_end" | "patch_apply_end" | "mcp_tool_call_end") => {
                rollout.ended(&text("call_id"), kind, payload, unit);
            }
            _ => {}
        }
    }
}

impl Rollout {
    fn new(mut builder: Builder) -> Rollout {
        builder.marks_refusals(true);
        let (items, failed) = (Vec::new(), HashMap::new());
        Rollout {
            builder,
            items,
            failed,
            fork: None,
            spawned: None,
            folder: None,
            mode: None,
            commands: false,
        }
    }

    /// Whether the first line of another session is part of the copy: the copied session may be a copy itself, with the
    /// first lines of its origins.
    fn is_copy(&mut self, id: &str, meta: &Members<'_>) -> bool {
        if self.fork.is_none() && self.spawned.as_deref() == Some(id) {
            let own = Arc::clone(self.builder.session_id());
            self.fork = Some(Fork::new(id, &own, meta));
        }
        self.fork.as_ref().is_some_and(|fork| self.items.is_empty() || *fork.from == *id)
    }

    /// A turn begins.
    fn enter(&mut self, turn: &Members<'_>) {
        if let Some(fork) = &mut self.fork {
            fork.enter(turn, self.items.len());
        }
    }

    fn step(&mut self, item: Item, unit: &Unit<'_>) {
        let (at, odd) = match time::of(&unit.members, &["timestamp"]) {
            Ok(at) => (at, None),
            Err(odd) => (None, Some(odd)),
        };
        let (folder, mode) = (self.folder.clone(), self.mode.clone());
        self.items.push(Step { line: unit.line, at, odd, item, prompt: false, folder, mode });
    }

    /// Marks the latest message as a question of the user.
    fn prompted(&mut self) {
        let said = self.items.iter_mut().rev().find(|step| matches!(step.item, Item::Said { .. }));
        if let Some(said) = said {
            said.prompt = true;
        }
    }

    /// An item of the screen is complete.
    fn completed(&mut self, item: &Members<'_>, unit: &Unit<'_>) {
        let text = |key| item.get(key).and_then(Node::text).unwrap_or_default();
        let (kind, id) = (text("type"), text("id"));
        match &*kind {
            "UserMessage" => self.prompted(),
            "CommandExecution" | "FileChange" | "McpToolCall" => self.ended(&id, &kind, item, unit),
            // A script called something else.
            _ if id.starts_with(script::CALL) => self.left_out(&kind, unit),
            _ => {}
        }
    }

    /// The end of a call, as an event of this kind has it.
    fn ended(&mut self, id: &str, kind: &str, event: &Members<'_>, unit: &Unit<'_>) {
        let status = output::by_event(event);
        if status != Status::Unknown {
            self.failed.insert(id.into(), status);
        }
        if id.starts_with(script::CALL) {
            match script::called(id, kind, event) {
                Some(item) => {
                    if script::COMMANDS.contains(&kind) && !std::mem::replace(&mut self.commands, true) {
                        let notice = "commands that a script ran are recorded with their text and folder; their \
                                      other arguments are not in the log";
                        self.builder.at_line(unit.line).passed_by(notice);
                    }
                    self.step(item, unit);
                }
                None => self.left_out(kind, unit),
            }
        }
    }

    /// An event is of a call that a script made, and does not say which call that was.
    fn left_out(&mut self, kind: &str, unit: &Unit<'_>) {
        let odd = format!("a `{kind}` event is of a call that a script made; the call is left out");
        self.builder.at_line(unit.line).lost(Loss::MayHoldCalls, odd);
    }

    /// The user took the last questions back, with everything that followed them.
    fn roll_back(&mut self, turns: usize, line: u32) {
        let mut prompts = self.items.iter().enumerate().filter(|(_, step)| step.prompt).map(|(at, _)| at);
        let Some(at) = turns.checked_sub(1).and_then(|behind| prompts.by_ref().rev().nth(behind)) else {
            return self.builder.at_line(line).damaged("more turns are taken back here than there are");
        };
        let gone = self.items.split_off(at);
        self.fork.iter_mut().for_each(|fork| fork.take_back(at));
        let calls = gone.iter().filter(|step| matches!(step.item, Item::Call(_) | Item::Ran(..))).count();
        let calls = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
        let message =
            format!("the conversation was taken back to before this line; {calls} made since are left out");
        let first = gone.first().map_or(line, |step| step.line);
        self.builder.at_line(first).passed_by(message);
    }

    fn close(mut self, setting: &Setting, out: &mut Out) {
        self.builder.mark_errors();
        // The meaning of a text depends on the tool of the result.
        let mut tools: HashMap<Box<str>, Box<str>> = HashMap::new();
        let (mut row, mut running, mut once) = (Row::default(), Running::default(), Once::default());
        for (number, Step { line, at, odd, item, folder, mode, .. }) in self.items.into_iter().enumerate() {
            let Some(item) = once.take(item) else { continue };
            self.builder.copied(self.fork.as_ref().is_some_and(|fork| fork.is_copied(number, at)));
            self.builder.in_folder(folder.as_deref());
            self.builder.by_agent(mode.as_deref(), None);
            if let Some(odd) = odd {
                self.builder.at_line(line).damaged(odd);
            }
            if let Item::Call(call) = &item {
                running.called(call);
            }
            if let Item::Call(Call { id: Some(id), tool, .. })
            | Item::Ran(Call { id: Some(id), tool, .. }, _) = &item
            {
                tools.insert(id.clone(), tool.clone());
            }
            let mark = |answer: &Answer| mark(tool_of(answer, &tools), answer, &self.failed, setting);
            if let Item::Answer(answer) = &item
                && !setting.marks_alone
                && tool_of(answer, &tools) == script::TOOL
                && let Some(item) = script::denied(answer)
            {
                row.add(&mut self.builder, line, item, at, &mark);
            }
            let ended = match &item {
                Item::Answer(answer) => running.answered(tool_of(answer, &tools), answer),
                _ => None,
            };
            row.add(&mut self.builder, line, item, at, &mark);
            if let Some((id, content)) = ended {
                let answer = Answer { id: Some(id), content, error: None, refused: None };
                row.add(&mut self.builder, line, Item::Answer(answer), at, &mark);
            }
        }
        let mark = |answer: &Answer| mark(tool_of(answer, &tools), answer, &self.failed, setting);
        row.end(&mut self.builder, &mark);
        if let Some(fork) = &self.fork {
            self.builder.forked_from(&fork.from, fork.is_open());
        }
        out.session(self.builder);
    }
}

/// The tool of a result; empty if it is unknown.
fn tool_of<'t>(answer: &Answer, tools: &'t HashMap<Box<str>, Box<str>>) -> &'t str {
    answer.id.as_ref().and_then(|id| tools.get(id)).map_or("", |tool| tool)
}

/// The mark of a result: its own, an event's, or the exit code in its text. `None`: its command is still running.
fn mark(tool: &str, answer: &Answer, failed: &HashMap<Box<str>, Status>, setting: &Setting) -> Option<Mark> {
    let text = answer.content.shown();
    let by_event = answer.id.as_ref().and_then(|id| failed.get(id)).copied().unwrap_or(Status::Unknown);
    let ended = output::ended(tool, text);
    let marked = match (answer.error.or(by_event.failed()), ended) {
        (Some(marked), _) => Some(marked),
        (None, Status::Open) => return None,
        (None, Status::Unknown) => None,
        (None, status) => Some(status != Status::Succeeded),
    };
    let by_text = || output::refused(tool, text).filter(|_| !setting.marks_alone);
    let refused = answer.refused.or(by_event.refused()).or_else(by_text);
    Some(Mark { error: setting.failed(marked, &answer.content), refused })
}

/// A context entry whose name is the same for all agents.
fn named(builder: &mut Builder, key: &str, value: Option<Node<'_>>) {
    if let Some(text) = value.and_then(Node::text) {
        builder.context_once(key, text.as_ref().into());
    }
}

fn surroundings(builder: &mut Builder, members: &Members<'_>, keys: &[&str]) {
    for key in keys {
        if let Some(value) = members.get(key).and_then(Node::value) {
            builder.context_once(key, value);
        }
    }
}
