//! Trajectories of SWE-agent (`.traj`): an object with `trajectory`, the steps that were taken, and `history`, the
//! messages that the model saw.
//!
//! Newer runs propose calls in the messages, and those are read. In older ones a step is a command line: it is a call
//! of the command's first word. Demonstrations in the history did not happen in this run, and are no part of it.
//! Failures are not marked.

use std::collections::{HashMap, HashSet};

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::chat::{Chat, Rules};
use crate::shape::status::Status;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::Body;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::source::quoted;

pub(crate) const FORMAT: Format = Format {
    name: "swe-agent",
    title: "trajectories of SWE-agent",
    source: "`trajectories/**/*.traj`",
    absent_without_results: false,
    marks_failures: false,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let Some(steps) = value.get("trajectory").filter(|steps| steps.kind() == Kind::List) else {
            return !value.has("trajectory") && is_history(value);
        };
        let first = steps.first_item().and_then(Node::members);
        match first {
            Some(step) => step.has("action") && step.any(&["observation", "response", "thought"]).is_some(),
            None => value.has("history") && value.has("info"),
        }
    })
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    let rules = Rules { python: false, ended: |_| Status::Unknown, error: setting.error.clone() };
    Box::new(SweAgent { setting: setting.clone(), rules })
}

struct SweAgent {
    setting: Setting,
    rules: Rules,
}

/// A message of the history, with its text.
type Told<'a> = (Node<'a>, Members<'a>);

impl Reader for SweAgent {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let steps = members.get("trajectory");
        if steps.is_none() && !members.has("history") {
            return out.diagnostics(self.setting.foreign(unit, "no trajectory"));
        }
        let id = members.any(&["instance_id", "id"]).and_then(Node::id).unwrap_or_default();
        let mut builder = self.setting.session(&id, unit, out);
        if let Some(environment) = members.get("environment").and_then(Node::value) {
            builder.context("environment", environment);
        }
        let info = members.get("info").and_then(Node::members).unwrap_or_default();
        if let Some(status) = info.get("exit_status").and_then(Node::value) {
            builder.context("exit_status", status);
        }
        let history = self.history(members, unit, &mut builder);
        let alone = steps.is_none();
        let steps = steps.map_or_else(Vec::new, |steps| {
            steps.items().unwrap_or_else(|| {
                let message = format!("the trajectory is {}, not a list", steps.said_kind());
                builder.lost(Loss::MayHoldCalls, message);
                Vec::new()
            })
        });
        if alone && !history.iter().any(|(_, message)| calls(message)) {
            self.actions(&history, unit, &mut builder);
        } else if history.iter().any(|(_, message)| calls(message)) {
            self.messages(&history, &steps, unit, &mut builder);
        } else {
            self.steps(&history, &steps, unit, &mut builder);
        }
        out.session(builder);
    }
}

impl SweAgent {
    /// The messages of the run itself.
    fn history<'a>(&self, members: &Members<'a>, unit: &Unit<'a>, builder: &mut Builder) -> Vec<Told<'a>> {
        let Some(history) = members.get("history") else { return Vec::new() };
        let Some(items) = history.items() else {
            builder.lost(Loss::MayHoldCalls, format!("the history is {}, not a list", history.said_kind()));
            return Vec::new();
        };
        let mut lines = Lines::new(unit.node, unit.line);
        let (mut kept, mut shown, mut first) = (Vec::new(), 0, None);
        for item in items {
            match item.members() {
                Some(message) if is_demonstration(&message) => {
                    shown += 1;
                    first.get_or_insert_with(|| lines.of(item));
                }
                Some(message) => kept.push((item, message)),
                None => {
                    builder.at_line(lines.of(item));
                    let word = item.said_kind();
                    builder.lost(
                        Loss::MayHoldCalls,
                        format!("a message is {word}, not an object; it is left out"),
                    );
                }
            }
        }
        if let Some(line) = first {
            let message = match shown {
                1 => "1 message is a demonstration, not part of the run".to_owned(),
                shown => format!("{shown} messages are demonstrations, not part of the run"),
            };
            builder.diagnostic(self.setting.passed_by(line, message));
        }
        builder.at_line(unit.line);
        kept
    }

    /// A run whose messages hold its calls.
    fn messages(&self, history: &[Told<'_>], steps: &[Node<'_>], unit: &Unit<'_>, builder: &mut Builder) {
        let mut chat = Chat::new(unit.node, unit.line, &self.rules);
        let mut lines = Lines::new(unit.node, unit.line);
        for (node, message) in history {
            builder.at_line(lines.of(*node));
            let ids = message.get("tool_call_ids").and_then(Node::items).unwrap_or_default();
            if ids.is_empty() {
                chat.message(builder, message);
                continue;
            }
            // One message answers every call that it names.
            let content = message.get("content").map_or(Body::MISSING, |node| Body::json(node.json()));
            for id in ids {
                let mark = Mark { error: self.setting.failed(None, &content), refused: None };
                builder.result(id.id().as_deref(), content.clone(), mark, None);
            }
        }
        self.untold(history, steps, unit, builder);
    }

    /// Steps that are in no message of the history. Some versions end a run before they write its last step there, so
    /// what follows the last recorded one is read as it is, except for the `submit` that ends a run: it hands in the
    /// work, and runs nothing. The position of any other step among the messages is unknown.
    fn untold(&self, history: &[Told<'_>], steps: &[Node<'_>], unit: &Unit<'_>, builder: &mut Builder) {
        let mut told: HashMap<String, usize> = HashMap::new();
        let (mut nameless, mut tools) = (0_usize, HashSet::new());
        for (_, message) in history.iter().filter(|(_, message)| is_response(message)) {
            match message.get("action").and_then(Node::text) {
                Some(action) => *told.entry(action.trim().to_owned()).or_default() += 1,
                None => nameless += 1,
            }
            let calls = message.get("tool_calls").and_then(Node::objects).unwrap_or_default();
            let functions = calls.iter().filter_map(|call| call.get("function")?.members());
            tools.extend(functions.filter_map(|named| Some(named.get("name")?.text()?.into_owned())));
        }
        let mut is_told = |step: &Node<'_>| {
            let action = step.members().and_then(|step| step.get("action")?.text()).unwrap_or_default();
            let left = told.get_mut(action.trim()).filter(|left| **left > 0).unwrap_or(&mut nameless);
            let found = *left > 0;
            *left = left.saturating_sub(1);
            found
        };
        let found: Vec<bool> = steps.iter().map(&mut is_told).collect();
        let end = found.iter().rposition(|told| *told).map_or(0, |last| last + 1);
        let mut lines = Lines::new(unit.node, unit.line);
        // A command line of the shell is a call of the tool that these runs have for it.
        let tool = |word: &str| match tools.contains("bash") && !tools.contains(word) {
            true => "bash".to_owned(),
            false => word.to_owned(),
        };
        for (place, (step, told)) in steps.iter().zip(found).enumerate() {
            builder.at_line(lines.of(*step));
            let action = step.members().and_then(|step| step.get("action")?.text()).unwrap_or_default();
            let (loss, why) = match place >= end {
                true if place + 1 == steps.len() && action.trim() == "submit" => {
                    (Loss::Harmless, "ends the run, and is in no message of the history")
                }
                true => {
                    self.step(*step, tool, builder);
                    continue;
                }
                false if told => continue,
                false => (Loss::MayHoldCalls, "is in no message of the history"),
            };
            let line = quoted(action.lines().next().unwrap_or_default());
            builder.lost(loss, format!("the step {line} {why}; it is left out"));
        }
    }

    /// A run of which only the messages were kept: each message of the model names its command line beside it, and the
    /// message that follows is the result.
    fn actions(&self, history: &[Told<'_>], unit: &Unit<'_>, builder: &mut Builder) {
        let mut chat = Chat::new(unit.node, unit.line, &self.rules);
        let mut lines = Lines::new(unit.node, unit.line);
        let mut waits = false;
        for (node, message) in history {
            builder.at_line(lines.of(*node));
            if is_response(message) {
                chat.message(builder, message);
                waits = message.get("action").is_some_and(|action| self.action(action, builder));
            } else if std::mem::take(&mut waits) {
                let content = message.get("content").map_or(Body::MISSING, |node| Body::json(node.json()));
                let mark = Mark { error: self.setting.failed(None, &content), refused: None };
                builder.result(None, content, mark, None);
            } else {
                chat.message(builder, message);
            }
        }
    }

    /// A command line as a call; whether it is one.
    fn action(&self, action: Node<'_>, builder: &mut Builder) -> bool {
        let Some(line) = action.text() else { return false };
        // A response without a command is not a call.
        let Some(command) = line.split_whitespace().next() else { return false };
        let arguments = Body::json(&format!("{{\"command\": {}}}", action.json()));
        builder.call(None, command, arguments, None);
        true
    }

    /// A run whose calls are command lines: the messages before the first of them, and the steps.
    fn steps(&self, history: &[Told<'_>], steps: &[Node<'_>], unit: &Unit<'_>, builder: &mut Builder) {
        let mut chat = Chat::new(unit.node, unit.line, &self.rules);
        let mut lines = Lines::new(unit.node, unit.line);
        for (node, message) in history.iter().take_while(|(_, message)| !is_response(message)) {
            builder.at_line(lines.of(*node));
            chat.message(builder, message);
        }
        let mut lines = Lines::new(unit.node, unit.line);
        for node in steps {
            builder.at_line(lines.of(*node));
            self.step(*node, str::to_owned, builder);
        }
    }

    /// A step: the model's text, its command line as a call of the tool named by its first word, and the result.
    fn step(&self, node: Node<'_>, tool: impl Fn(&str) -> String, builder: &mut Builder) {
        let Some(step) = node.members() else {
            let word = node.said_kind();
            let message = format!("a step is {word}, not an object; it is left out");
            return builder.lost(Loss::MayHoldCalls, message);
        };
        let body = |keys: &[&str]| step.any(keys).map_or(Body::MISSING, |node| Body::json(node.json()));
        builder.response(None, body(&["response", "thought"]), None);
        let Some(action) = step.get("action") else { return };
        let Some(line) = action.text() else {
            let word = action.said_kind();
            let message = format!("the action of a step is {word}, not a text; it is left out");
            return builder.lost(Loss::MayHoldCalls, message);
        };
        // A response without a command is not a call.
        let Some(command) = line.split_whitespace().next() else { return };
        let arguments = Body::json(&format!("{{\"command\": {}}}", action.json()));
        builder.call(None, &tool(command), arguments, None);
        if step.get("observation").is_some() {
            let content = body(&["observation"]);
            let mark = Mark { error: self.setting.failed(None, &content), refused: None };
            builder.result(None, content, mark, None);
        }
    }
}

fn is_demonstration(message: &Members<'_>) -> bool {
    let marked = message.get("is_demo").is_some_and(|mark| mark.bool() != Some(false));
    let kind = message.get("message_type").and_then(Node::text);
    let agent = message.get("agent").and_then(Node::text);
    marked
        || kind.is_some_and(|kind| matches!(&*kind, "demonstration" | "demo"))
        || agent.is_some_and(|agent| matches!(&*agent, "demonstration" | "demo"))
}

/// Whether a value without steps holds the messages of a run: only these say which agent wrote a message, or which
/// action it led to.
fn is_history(value: &Members<'_>) -> bool {
    let messages = value.get("history").filter(|history| history.kind() == Kind::List);
    let own = |message: Members<'_>| {
        message.has("role")
            && message.any(&["agent", "message_type", "action", "is_demo", "tool_call_ids"]).is_some()
    };
    messages.and_then(Node::items).into_iter().flatten().filter_map(Node::members).any(own)
        || messages.is_some() && value.has("info") && value.any(&["environment", "replay_config"]).is_some()
}

fn is_response(message: &Members<'_>) -> bool {
    message.get("role").and_then(Node::text).is_some_and(|role| role == "assistant")
}

fn calls(message: &Members<'_>) -> bool {
    message.get("tool_calls").is_some_and(|calls| calls.first_item().is_some())
}
