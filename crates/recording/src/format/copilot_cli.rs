//! Logs of the GitHub Copilot CLI, and events of its SDK: JSON Lines of `{type, data, id, timestamp, parentId}`.
//!
//! A message of the model has the calls that it proposes; the outcome of each is a separate event. Events of subagents
//! are among the events of the session, and each subagent is a session of its own.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::contract::{Format, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::scribe::{Scribe, body};
use crate::shape::status::{Status, status};
use crate::shape::transcript::{self, Conversation};
use crate::shape::{offer, suspicion};
use rulestep_base::session::Body;

pub(crate) const FORMAT: Format = Format {
    name: "copilot-cli",
    title: "sessions of the GitHub Copilot CLI, and events of its SDK; a subagent's events are a session of its own",
    source: "`~/.copilot/session-state/*/events.jsonl`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader: transcript::reader::<Copilot>,
};

/// Families of events that are about the session and not part of the conversation.
const ASIDE: [&str; 25] = [
    "abort",
    "assistant.",
    "auto_mode_switch.",
    "capabilities.",
    "command.",
    "commands.",
    "elicitation.",
    "exit_plan_mode.",
    "external_tool.",
    "factory.",
    "hook.",
    "mcp.",
    "mcp_app.",
    "model.",
    "pending_messages.",
    "permission.",
    "sampling.",
    "session.",
    "session_limits_exhausted.",
    "skill.",
    "subagent.",
    "system.",
    "tool_search.",
    "ui.",
    "user_input.",
];

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|event| {
        let kind = event.get("type").and_then(Node::text).unwrap_or_default();
        let data = event.get("data").and_then(Node::members).unwrap_or_default();
        match &*kind {
            "session.start" => data.has("sessionId"),
            "user.message" => data.has("content") && event.has("parentId"),
            "assistant.message" => data.any(&["messageId", "toolRequests"]).is_some(),
            "tool.execution_start" => data.has("toolCallId") && data.has("toolName"),
            "tool.execution_complete" => data.has("toolCallId") && data.has("success"),
            _ => false,
        }
    })
}

#[derive(Default)]
struct Copilot {
    /// Ids of the calls of the model.
    called: HashSet<Box<str>>,
    /// Ids of what the user ran.
    own: HashSet<Box<str>>,
    /// How denied permission is known, by call id.
    denied: HashMap<Box<str>, &'static str>,
}

impl Conversation for Copilot {
    const EXPECTED: &'static str = "not an event of a session";
    const SUBAGENTS: bool = true;

    fn entries<'a>(whole: &Members<'a>) -> Option<Node<'a>> {
        whole.get("events").filter(|events| events.kind() == Kind::List)
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("type")
    }

    fn key<'a>(event: &Members<'a>) -> Option<Cow<'a, str>> {
        let data = || event.try_get("data").and_then(Node::members);
        event.get("agentId").or_else(|| data()?.get("parentToolCallId")).and_then(Node::id)
    }

    fn begins(event: &Members<'_>) -> bool {
        event.try_get("type").and_then(Node::text).is_some_and(|kind| kind == "session.start")
    }

    fn entry(&mut self, event: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        let kind = event.get("type").and_then(Node::text).unwrap_or_default();
        let data = event.get("data").and_then(Node::members).unwrap_or_default();
        scribe.at(event, &["timestamp"]);
        match &*kind {
            "session.start" => {
                if let Some(id) = data.get("sessionId").and_then(Node::id) {
                    scribe.builder.id(id.as_ref());
                }
                scribe.about_as("agent", data.get("producer"));
                scribe.about_as("version", data.get("copilotVersion"));
                surroundings(&data, scribe);
            }
            "session.resume" | "session.context_changed" => surroundings(&data, scribe),
            "session.title_changed" => {
                if let Some(title) = data.try_get("title").and_then(Node::text) {
                    scribe.builder.title(&title);
                }
            }
            "session.permissions_changed" => scribe.about_as("permissionMode", data.get("previousMode")),
            "session.tools_updated" => {
                if let Some(offer) = data.get("tools").and_then(offer::tools) {
                    scribe.builder.offered(scribe.builder.next_turn(), offer.tools);
                }
            }
            "system.message" => {
                let role = data.get("role").and_then(Node::text).filter(|role| role == "developer");
                scribe.said(role.as_deref().unwrap_or("system"), body(&data, &["content"]));
            }
            "user.message" => scribe.said("user", body(&data, &["content"])),
            "assistant.message" => self.message(&data, scribe),
            "tool.user_requested" => {
                let id = data.get("toolCallId").and_then(Node::id);
                self.own.extend(id.map(|id| id.as_ref().into()));
            }
            "tool.execution_start" | "external_tool.requested" => self.started(&data, scribe),
            "tool.execution_complete" => self.completed(&data, scribe),
            "permission.completed" => self.decided(&data),
            kind if kind.starts_with("tool.execution_")
                || ASIDE.iter().any(|aside| kind.starts_with(aside)) => {}
            kind => return Err(kind.to_owned()),
        }
        Ok(())
    }
}

/// The folder of the agent.
fn surroundings(data: &Members<'_>, scribe: &mut Scribe) {
    let context = data.get("context").and_then(Node::members);
    scribe.about(context.as_ref().unwrap_or(data), &["cwd", "branch", "repository"]);
    scribe.about_as("model", data.get("selectedModel"));
}

impl Copilot {
    fn message(&mut self, data: &Members<'_>, scribe: &mut Scribe) {
        // A response that is sent in pieces names its request in each of them.
        let key = data.any(&["apiCallId", "messageId"]).and_then(Node::id);
        scribe.response(key.as_deref(), body(data, &["content"]));
        for call in data.get("toolRequests").and_then(Node::objects).unwrap_or_default() {
            self.call(&call, &["name"], scribe);
        }
        let tools = data.get("serverTools").and_then(Node::members).unwrap_or_default();
        let held = ["items", "rawContentBlocks"].iter().find_map(|key| tools.get(key)?.first_item());
        if let Some(what) = held.and_then(suspicion::part) {
            scribe.builder.damaged(suspicion::lost(&what));
        }
        if let Some(what) = suspicion::unread(data, &["toolRequests", "serverTools"]) {
            scribe.builder.damaged(suspicion::lost(&what));
        }
    }

    fn call(&mut self, call: &Members<'_>, names: &[&str], scribe: &mut Scribe) {
        let id = call.get("toolCallId").and_then(Node::id);
        self.called.extend(id.as_ref().map(|id| id.as_ref().into()));
        let tool = call.any(names).and_then(Node::text).unwrap_or_default();
        scribe.call(id.as_deref(), &tool, body(call, &["arguments"]));
    }

    /// A call starts. If no message proposed it, this event is its only record.
    fn started(&mut self, data: &Members<'_>, scribe: &mut Scribe) {
        let id = data.get("toolCallId").and_then(Node::id).unwrap_or_default();
        if !self.called.contains(&*id) && !self.own.contains(&*id) {
            self.call(data, &["toolName"], scribe);
        }
    }

    fn decided(&mut self, data: &Members<'_>) {
        let kind = data.get("result").and_then(Node::members).and_then(|result| result.get("kind")?.text());
        let id = data.get("toolCallId").and_then(Node::id);
        if let (Some(id), Some(kind)) = (id, kind)
            && kind.starts_with("denied")
        {
            self.denied.insert(id.as_ref().into(), "the log says that permission was denied");
        }
    }

    fn completed(&mut self, data: &Members<'_>, scribe: &mut Scribe) {
        let id = data.get("toolCallId").and_then(Node::id);
        let is_own = data.get("isUserRequested").and_then(Node::bool) == Some(true);
        if is_own || id.as_ref().is_some_and(|id| self.own.contains(&**id)) {
            return;
        }
        let error = data.get("error").and_then(Node::members);
        let code = error.as_ref().and_then(|error| error.get("code")?.text()).unwrap_or_default();
        let result = data.get("result").and_then(Node::members).unwrap_or_default();
        let content = match &error {
            Some(error) => body(error, &["message"]),
            None => body(&result, &["content", "contents", "structuredContent"]),
        };
        let denied = id.as_ref().and_then(|id| self.denied.remove(&**id));
        let ended =
            match (data.get("success").map(|success| success.bool().unwrap_or(false)), error.is_some()) {
                (Some(true), false) => Status::Succeeded,
                (None, false) => Status::Open,
                _ => failed(denied, &code, &content),
            };
        scribe.result(id.as_deref(), content, ended);
    }
}

/// The outcome of a failed call: refused, or an error.
fn failed(denied: Option<&'static str>, code: &str, content: &Body) -> Status {
    let by_hook =
        content.shows("Denied by preToolUse hook").then_some("the result says that a hook denied the call");
    match (denied.or(by_hook), status(code)) {
        (Some(how), _) => Status::Refused(how),
        (None, Status::Refused(how)) => Status::Refused(how),
        _ => Status::Failed,
    }
}
