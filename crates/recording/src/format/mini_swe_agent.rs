//! Trajectories of mini-swe-agent: its messages as a bare list, or in an object with `trajectory_format`.
//!
//! The model proposes a shell command as a fenced block in its text, and the message after it is the result; newer
//! versions keep what was run beside each message (`extra.actions`), or propose calls in the form of an API. Every call
//! is one of `bash`. Its outcome is the exit code, which is kept beside the message, or in it as the agent's templates
//! write it; a command that the agent could not run, or stopped, failed as well.

use crate::contract::out::Out;
use crate::contract::setting::{IDS, Setting};
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::input::time;
use crate::shape::bare::{Bare, Open};
use crate::shape::chat;
use crate::shape::chat::{Chat, Rules};
use crate::shape::status::Status;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis};
use rulestep_base::source::quoted;

pub(crate) const FORMAT: Format = Format {
    name: "mini-swe-agent",
    title: "trajectories of mini-swe-agent",
    source: "`*.traj.json`; `mini --output FILE` says where one is written",
    absent_without_results: false,
    marks_failures: false,
    recognise,
    reader,
};

/// The info string of a command's fence, now and in older versions, where it may also be on any other fence.
const FENCE: &str = "mswea_bash_command";
const OLDER_FENCE: &str = "bash";
/// The one tool.
const TOOL: &str = "bash";

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let format = value.get("trajectory_format").and_then(Node::text);
        format.is_some_and(|format| format.starts_with("mini-swe-agent"))
            || is_own(value)
            || value.get("messages").is_some_and(any_own)
    }) || sample.lists().any(any_own)
}

fn any_own(list: Node<'_>) -> bool {
    list.items()
        .is_some_and(|items| items.into_iter().filter_map(Node::members).any(|message| is_own(&message)))
}

/// Whether no other agent would write this message.
fn is_own(message: &Members<'_>) -> bool {
    let (role, content) = (message.get("role").and_then(Node::text), text(message));
    match role.as_deref() {
        Some("assistant") => !fenced(content.shown(), FENCE).is_empty(),
        Some("user") => content.shown().trim_start().starts_with("<returncode>"),
        _ => false,
    }
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    let rules = Rules { python: false, ended: |_| Status::Unknown, error: setting.error.clone() };
    Box::new(MiniSweAgent { setting: setting.clone(), rules, open: Bare::default() })
}

struct MiniSweAgent {
    setting: Setting,
    rules: Rules,
    /// The session that bare messages add up to, and the list they are in.
    open: Bare<Run>,
}

struct Run {
    builder: Builder,
    /// Calls in text that wait for the message after them.
    waiting: u32,
    /// Whether commands are after the fence of their own.
    own_fence: bool,
}

impl Open for Run {
    fn builder(&mut self) -> &mut Builder {
        &mut self.builder
    }
}

fn is_message(members: &Members<'_>) -> bool {
    members.has("role") || is_response_object(members) || is_output(members)
}

impl Reader for MiniSweAgent {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let messages = if unit.node.kind() == Kind::List { Some(unit.node) } else { members.get("messages") };
        if let Some(messages) = messages {
            self.close(out);
            return self.session(messages, unit, out);
        }
        if !is_message(members) {
            return out.diagnostics(self.setting.foreign(unit, "neither a trajectory nor a message"));
        }
        if self.open.is_of_another(unit.list) {
            self.close(out);
        }
        let mut run = self.open.begin(&self.setting, unit, out, Run::new);
        run.message(self, unit.node, members, unit.line);
        self.open.put(run, unit);
    }

    fn damaged(&mut self, diagnostic: rulestep_base::diagnostic::Diagnostic, out: &mut Out) {
        self.open.damaged(diagnostic, out);
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
    }
}

impl MiniSweAgent {
    fn close(&mut self, out: &mut Out) {
        self.open.take().into_iter().for_each(|run| out.session(run.builder));
    }

    fn session(&self, messages: Node<'_>, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let id =
            members.get("instance_id").or_else(|| members.any(&IDS)).and_then(Node::id).unwrap_or_default();
        let mut run = Run::new(self.setting.session(&id, unit, out));
        let info = members.get("info").and_then(Node::members).unwrap_or_default();
        for key in ["exit_status", "mini_version"] {
            if let Some(value) = info.get(key).and_then(Node::value) {
                run.builder.context(key, value);
            }
        }
        let mut lines = Lines::new(unit.node, unit.line);
        let items = messages.items().unwrap_or_else(|| {
            run.builder
                .lost(Loss::MayHoldCalls, format!("the messages are {}, not a list", messages.said_kind()));
            Vec::new()
        });
        for item in items {
            let line = lines.of(item);
            match item.members() {
                Some(message) if !is_message(&message) => {
                    out.diagnostic(self.setting.stray(item, line, "an object that is no message"));
                }
                Some(message) => run.message(self, item, &message, line),
                None => {
                    let word = item.said_kind();
                    let odd = format!("a message is {word}, not an object; it is left out");
                    run.builder.at_line(line).lost(Loss::MayHoldCalls, odd);
                }
            }
        }
        out.session(run.builder);
    }
}

impl Run {
    fn new(builder: Builder) -> Run {
        Run { builder, waiting: 0, own_fence: false }
    }

    fn message(&mut self, reader: &MiniSweAgent, node: Node<'_>, message: &Members<'_>, line: u32) {
        self.builder.at_line(line);
        let extra = message.get("extra").and_then(Node::members).unwrap_or_default();
        let at = self.at(message).or_else(|| self.at(&extra));
        if is_output(message) {
            let content = message.get("output").map_or(Body::MISSING, |node| Body::json(node.json()));
            let id = message.get("call_id").and_then(Node::id);
            return self.answer(reader, id.as_deref(), &extra, content, at);
        }
        let role = message.get("role").and_then(Node::text).unwrap_or_default();
        let content = text(message);
        if let Some(odd) = message.get("content").filter(|_| !message.has("tool_calls")).and_then(unsaid) {
            self.builder.lost(Loss::MayHoldCalls, odd);
        }
        self.own_fence |= content.shown().contains(&format!("```{FENCE}"));
        if role == "assistant" || is_response_object(message) {
            return self.response(reader, node, message, &extra, at);
        }
        if role == "tool" {
            let id = message.get("tool_call_id").and_then(Node::id);
            self.answer(reader, id.as_deref(), &extra, content, at);
        } else if self.waiting > 0 && role == "user" {
            self.waiting -= 1;
            self.answer(reader, None, &extra, content, at);
        } else {
            let known = matches!(&*role, "system" | "developer" | "user" | "exit" | "");
            if !known && content.shown().contains("```") {
                let odd = format!("commands of the role {} are left out", quoted(&role));
                self.builder.lost(Loss::MayHoldCalls, odd);
            }
            self.builder.said(&role, content, at);
        }
    }

    fn response(
        &mut self,
        reader: &MiniSweAgent,
        node: Node<'_>,
        message: &Members<'_>,
        extra: &Members<'_>,
        at: Option<Millis>,
    ) {
        self.waiting = 0;
        // The agent takes the first.
        let choices = extra.get("response").and_then(Node::members).map(|response| chat::choices(&response));
        let further = (2..).zip(choices.iter().flatten().skip(1));
        if message.get("tool_calls").is_some_and(|calls| calls.first_item().is_some()) {
            let mut chat = Chat::new(node, self.builder.line(), &reader.rules);
            chat.otherwise_at(at);
            chat.message(&mut self.builder, message);
            return further.for_each(|(number, choice)| {
                choice.beside(&mut self.builder, number, &reader.rules, at);
            });
        }
        let content = text(message);
        self.builder.response(None, content.clone(), at);
        let further = further.count();
        if further > 0 {
            let choices = if further == 1 {
                "a further choice".to_owned()
            } else {
                format!("{further} further choices")
            };
            let message =
                format!("{choices} of the response may name commands in their text; they are left out");
            self.builder.lost(Loss::MayHoldCalls, message);
        }
        if let Some(actions) = extra.get("actions").and_then(Node::items) {
            return actions.into_iter().for_each(|action| self.action(action, at));
        }
        let mut commands = fenced(content.shown(), FENCE);
        if commands.is_empty() && !self.own_fence {
            commands = fenced(content.shown(), OLDER_FENCE);
        }
        match commands.as_slice() {
            [] => {}
            [command] => {
                let arguments = serde_json::json!({"command": command}).to_string();
                self.builder.call(None, TOOL, Body::json(&arguments), at);
                self.waiting = 1;
            }
            several => {
                let count = several.len();
                self.builder.lost(Loss::Harmless, format!(
                    "a response has {count} commands; the agent runs none unless there is one, so they are left out"
                ));
            }
        }
    }

    /// A command that was run, as newer versions keep it beside the message.
    fn action(&mut self, action: Node<'_>, at: Option<Millis>) {
        let Some(members) = action.members() else {
            let word = action.said_kind();
            return self
                .builder
                .lost(Loss::MayHoldCalls, format!("an action is {word}, not an object; it is left out"));
        };
        let id = members.get("tool_call_id").and_then(Node::id);
        let command = members.any(&["command", "action"]);
        let command = command.map_or("null", Node::json);
        self.builder.call(id.as_deref(), TOOL, Body::json(&format!("{{\"command\": {command}}}")), at);
        self.waiting += u32::from(id.is_none());
    }

    /// The result of a call.
    fn answer(
        &mut self,
        reader: &MiniSweAgent,
        id: Option<&str>,
        extra: &Members<'_>,
        content: Body,
        at: Option<Millis>,
    ) {
        let ended = ended(extra, content.shown());
        if ended != Status::Unknown {
            self.builder.mark_errors();
        }
        let error = reader.setting.failed(ended.failed(), &content);
        if ended == Status::Open && !error {
            let why = "the return code of a command is no number; its call counts as one without a result";
            return self.builder.unsure(id, content, Some(why.to_owned()), at);
        }
        self.builder.result(id, content, Mark { error, refused: None }, at);
    }

    fn at(&mut self, members: &Members<'_>) -> Option<Millis> {
        time::of(members, &["timestamp"]).unwrap_or_else(|odd| {
            self.builder.damaged(odd);
            None
        })
    }
}

/// How a command ended: by the data beside its result, and by the text that the agent made of it for the model. Either
/// is enough for a failure.
fn ended(extra: &Members<'_>, shown: &str) -> Status {
    let says = |node: Node<'_>| !matches!(node.json(), "\"\"" | "{}");
    let shown = shown.trim_start();
    let stopped = shown.starts_with("The last command <command>") && shown.contains("timed out");
    if extra.get("exception_info").is_some_and(says) || stopped || shown.starts_with("<exception>") {
        return Status::Failed;
    }
    let written = match shown.strip_prefix("<returncode>") {
        Some(rest) => Some(rest.split_once("</returncode>").map_or(Status::Open, |(code, _)| by_code(code))),
        None => shown.starts_with('{').then(|| in_json(shown)).flatten(),
    };
    // A code that is not a number cannot be 0.
    let kept = extra.get("returncode").map(|code| match code.number::<f64>() {
        Some(0.0) => Status::Succeeded,
        Some(_) => Status::Failed,
        None => Status::Open,
    });
    let said = [written, kept];
    let any = |status| said.contains(&Some(status));
    let order = [Status::Failed, Status::Open, Status::Succeeded];
    order.into_iter().find(|status| any(*status)).unwrap_or(Status::Unknown)
}

/// How a command ended whose result is an object: the exit code beside its output.
fn in_json(shown: &str) -> Option<Status> {
    let object = Node::parse(shown).ok()?.tried().members()?;
    let output = ["output", "output_head", "exception_info"].into_iter().any(|key| object.has(key));
    let code = object.try_get("returncode").filter(|_| output)?;
    let exception = object.try_get("exception_info").is_some_and(|said| said.json() != "\"\"");
    Some(if exception { Status::Failed } else { by_code(code.json()) })
}

fn by_code(code: &str) -> Status {
    match code.trim().parse::<i64>() {
        Ok(0) => Status::Succeeded,
        Ok(_) => Status::Failed,
        Err(_) => Status::Open,
    }
}

/// The text of a message. A response in the form of the Responses API has it in its output.
fn text(message: &Members<'_>) -> Body {
    if let Some(content) = message.get("content") {
        return Body::json(content.json());
    }
    let output = message.get("output").and_then(Node::objects).unwrap_or_default();
    let said = output.iter().find_map(|item| item.get("content"));
    said.map_or(Body::MISSING, |said| Body::json(said.json()))
}

/// Damage of a content that is neither a text nor parts: commands might be in it.
fn unsaid(content: Node<'_>) -> Option<String> {
    let parts = || {
        content
            .items()
            .is_some_and(|parts| !parts.is_empty() && parts.iter().all(|part| part.kind() == Kind::Object))
    };
    let said = content.kind() == Kind::Text || content.kind() == Kind::List && parts();
    (!said).then(|| match content.kind() {
        Kind::List => "the content of a message is a list of other things than parts".to_owned(),
        _ => format!("the content of a message is {}, not a text", content.said_kind()),
    })
}

fn is_response_object(message: &Members<'_>) -> bool {
    message.get("object").and_then(Node::text).is_some_and(|object| object == "response")
}

fn is_output(message: &Members<'_>) -> bool {
    message.get("type").and_then(Node::text).is_some_and(|kind| kind == "function_call_output")
}

/// The blocks of fences with this info string, as the agent finds them: up to the next line that begins with a fence.
fn fenced<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut rest = text;
    let fence = format!("```{word}");
    while let Some((_, behind)) = rest.split_once(&*fence) {
        let Some(block) = behind.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n') else {
            rest = behind;
            continue;
        };
        // If one block has no end, none after it has.
        let Some((command, after)) = block.split_once("\n```") else { break };
        found.push(command.trim());
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_behind_their_fence() {
        for (text, expected) in [
            ("THOUGHT: look\n\n```bash\nls -la\n```", &["ls -la"][..]),
            (
                "```bash\ncat <<'E' > a\n# x\nE\n```\nand\n```bash \r\npwd\n```",
                &["cat <<'E' > a\n# x\nE", "pwd"],
            ),
            ("```bash\nopen", &[]),
            ("```bashful\nls\n```", &[]),
            ("``` bash\nls\n```", &[]),
            ("```bash ls\n```", &[]),
            ("", &[]),
        ] {
            assert_eq!(fenced(text, "bash"), expected, "{text}");
        }
    }
}
