//! Spans as tracing systems record them, whatever wrote them: the part of each span in an agent's run, and the
//! attributes that define it.
//!
//! Knows the names of several conventions: OpenTelemetry's for generative AI, OpenInference, OpenLLMetry, those of
//! Google's agent kit and of the Vercel AI SDK. The formats only take spans apart; their meaning is decided here, once.

pub mod ancestry;
pub mod attributes;
mod attribution;
pub mod conversation;
pub mod message;
mod mlflow;
mod pairing;
pub mod record;
mod tools;
mod traceloop;
pub mod traces;
pub mod turns;

use std::borrow::Cow;

pub use attributes::Attributes;
use attributes::OPERATION;

use crate::input::digest::digest;
use crate::input::shallow::{Members, Node};
use crate::input::time;
use crate::shape::langchain;
use crate::shape::status::{Status, status};
use rulestep_base::session::{Body, Millis};

/// One span.
pub struct Span {
    /// Its trace; empty if it names none.
    pub trace: Box<str>,
    /// Its own id.
    pub id: Box<str>,
    /// The span that it is part of.
    pub parent: Option<Box<str>>,
    /// Its name.
    pub name: Box<str>,
    /// Nanoseconds since 1970.
    pub start: Option<i64>,
    /// Nanoseconds since 1970; missing if it had not ended.
    pub end: Option<i64>,
    /// Whether its status is an error.
    pub failed: bool,
    /// The message of its status.
    pub message: Option<Box<str>>,
    /// Line in the file, from 1.
    pub line: u32,
    /// Its attributes, as far as they are read.
    pub attributes: Attributes,
    /// Its events.
    pub events: Vec<Event>,
}

/// An event at an instant of a span.
pub struct Event {
    /// Its name.
    pub name: Box<str>,
    /// Its attributes.
    pub attributes: Attributes,
}

/// The part of a span in the run of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A request to a model and its response.
    Model,
    /// A call of a tool.
    Tool,
    /// The run of an agent.
    Agent,
    /// Anything else.
    Other,
}

/// Attributes that hold a tool's name.
const TOOL: [&str; 5] =
    ["gen_ai.tool.name", "tool.name", "mcp.tool.name", "ai.toolCall.name", "traceloop.entity.name"];
const CALL_ID: [&str; 4] = ["gen_ai.tool.call.id", "tool_call.id", "tool.call.id", "ai.toolCall.id"];
const ARGUMENTS: [&str; 12] = [
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.args",
    "gen_ai.tool.arguments",
    "gen_ai.tool.input",
    "gcp.vertex.agent.tool_call_args",
    "langfuse.observation.input",
    "mcp.tool.arguments",
    "mcp.request.arguments",
    "ai.toolCall.args",
    "tool_arguments",
    "tool.arguments",
    "input.value",
];
const RESULT: [&str; 12] = [
    "gen_ai.tool.call.result",
    "gen_ai.tool.result",
    "gen_ai.tool.response",
    "gen_ai.tool.output",
    "gcp.vertex.agent.tool_response",
    "langfuse.observation.output",
    "mcp.tool.result",
    "mcp.response.value",
    "ai.toolCall.result",
    "tool_response",
    "tool.result",
    "output.value",
];
/// Attributes that hold a call's outcome.
const STATUS: [&str; 2] = ["gen_ai.tool.status", "tool.status"];
const CONVERSATION: [&str; 5] = [
    "gen_ai.conversation.id",
    "gcp.vertex.agent.session_id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
];

impl Span {
    /// The span's part in the run.
    pub fn part(&self) -> Part {
        let text = |name| self.attributes.text(name).unwrap_or_default();
        let has = |name| self.attributes.get(name).is_some();
        let operation = text(OPERATION).to_ascii_lowercase();
        let kind = text("openinference.span.kind").to_ascii_uppercase();
        let observed = text("langfuse.observation.type").to_ascii_lowercase();
        let workflow = text("traceloop.span.kind");
        let method = text("mcp.method.name");
        match &*operation {
            "execute_tool" => return Part::Tool,
            "chat" | "text_completion" | "generate_content" | "completion" => return Part::Model,
            "invoke_agent" | "create_agent" | "invoke_workflow" => return Part::Agent,
            _ => {}
        }
        let tool = kind == "TOOL"
            || observed == "tool"
            || workflow == "tool"
            || method == "tools/call"
            || has("ai.toolCall.name")
            || operation.is_empty() && (has("gen_ai.tool.name") || has("gen_ai.tool.call.id"));
        if tool {
            return Part::Tool;
        }
        if kind == "AGENT" || workflow == "agent" || observed == "agent" {
            return Part::Agent;
        }
        let asked = has("gen_ai.request.model") && (has("gen_ai.system") || has("gen_ai.provider.name"));
        let model = kind == "LLM"
            || observed == "generation"
            || matches!(&*text("llm.request.type"), "chat" | "completion")
            || operation.is_empty()
                && !matches!(&*kind, "EMBEDDING" | "RERANKER")
                && (asked || self.indexed("gen_ai.prompt.") || self.indexed("gen_ai.completion."));
        if model && !matches!(&*text("llm.request.type"), "embedding" | "rerank") {
            return Part::Model;
        }
        Part::Other
    }

    fn indexed(&self, prefix: &str) -> bool {
        self.attributes.iter().any(|(name, _)| name.starts_with(prefix))
    }

    /// The tool's name, from an attribute or the span's own name.
    pub fn tool(&self) -> Cow<'_, str> {
        self.attributes.any_text(&TOOL).unwrap_or_else(|| {
            let name = &*self.name;
            let short = ["execute_tool ", "tools/call ", "running tool: "]
                .iter()
                .find_map(|prefix| name.strip_prefix(prefix));
            Cow::Borrowed(short.unwrap_or(name).trim())
        })
    }

    /// Whether it represents several calls that have spans of their own.
    pub fn is_merged(&self) -> bool {
        self.tool() == "(merged tools)" || &*self.name == "execute_tool (merged)"
    }

    /// The call's id.
    pub fn call_id(&self) -> Option<Cow<'_, str>> {
        self.attributes.any_text(&CALL_ID)
    }

    /// The call's arguments.
    pub fn arguments(&self) -> Option<Body> {
        if let Some(json) = self.attributes.any(&ARGUMENTS) {
            return Some(Body::json(json));
        }
        if let Some(json) = self.attributes.get(traceloop::INPUT) {
            return Some(traceloop::input(json));
        }
        // As LangSmith exports the inputs of a tool.
        if let Some(inputs) = self.attributes.tree("gen_ai.prompt") {
            return Some(Body::from(langchain::arguments(inputs)));
        }
        let asked = self.events.iter().find(|event| &*event.name == "gen_ai.tool.message")?;
        Some(Body::json(asked.attributes.any(&["content", "body"])?))
    }

    /// The result of the call.
    pub fn result(&self) -> Option<Body> {
        if let Some(json) = self.attributes.any(&RESULT) {
            return Some(Body::json(json));
        }
        if let Some(json) = self.attributes.get(traceloop::OUTPUT) {
            return Some(traceloop::output(json));
        }
        if let Some(outputs) = self.attributes.tree("gen_ai.completion") {
            return Some(Body::from(langchain::given(outputs).content));
        }
        let answer = self.events.iter().find(|event| &*event.name == "gen_ai.choice")?;
        Some(Body::json(answer.attributes.any(&["message", "content", "body"])?))
    }

    /// Whether it is marked as failed, by its status, by that of its call or by the kind of error that it names.
    pub fn is_error(&self) -> bool {
        let status = self.attributes.any_text(&STATUS).map(|word| status(&word));
        self.failed
            || self.attributes.text("error.type").is_some()
            || matches!(status, Some(Status::Failed | Status::Refused(_)))
    }

    /// Its error.
    pub fn error(&self) -> Body {
        let exception = self.events.iter().find(|event| &*event.name == "exception");
        let said = exception.and_then(|event| event.attributes.text("exception.message"));
        let said = said.or_else(|| self.message.as_deref().map(Cow::Borrowed));
        let said = said.or_else(|| self.attributes.text("error.type"));
        said.map_or(Body::MISSING, |said| Body::text(said.into_owned()))
    }

    /// The conversation that it belongs to.
    pub fn conversation(&self) -> Option<Cow<'_, str>> {
        self.attributes.any_text(&CONVERSATION)
    }

    /// The same span at its end; its position, and what only its beginning has, are kept.
    pub fn ends_as(&mut self, end: Span) {
        let begun = std::mem::replace(self, end);
        self.line = begun.line;
        self.start = begun.start.or(self.start);
        self.parent = self.parent.take().or(begun.parent);
        self.attributes.fill(begun.attributes);
        if self.events.is_empty() {
            self.events = begun.events;
        }
    }

    /// Bytes that it holds, about.
    pub fn size(&self) -> usize {
        let events: usize = self.events.iter().map(|event| event.attributes.size() + 64).sum();
        self.attributes.size() + events + self.name.len() + 256
    }
}

/// The objects of a list; what else is in it says nothing.
pub fn objects(list: Option<Node<'_>>) -> Vec<Members<'_>> {
    let items = list.and_then(Node::items).unwrap_or_default();
    items.into_iter().filter_map(Node::members).collect()
}

/// Milliseconds of an instant in nanoseconds.
pub fn millis(nanos: i64) -> Millis {
    nanos.div_euclid(1_000_000)
}

/// An instant in nanoseconds: a number since 1970 in seconds, milliseconds, microseconds or nanoseconds, distinguished
/// by its size, or a text as recordings write it. Zero is none.
pub fn instant(node: Node<'_>) -> Option<i64> {
    let text = node.id()?;
    let text = text.trim();
    if let Ok(whole) = text.parse::<i64>() {
        let scale = match whole.unsigned_abs() {
            0 => return None,
            1..100_000_000_000 => 1_000_000_000,
            100_000_000_000..100_000_000_000_000 => 1_000_000,
            100_000_000_000_000..100_000_000_000_000_000 => 1000,
            _ => 1,
        };
        return whole.checked_mul(scale);
    }
    if let Ok(instant) = text.parse::<jiff::Timestamp>() {
        return i64::try_from(instant.as_nanosecond()).ok();
    }
    time::instant(node)?.checked_mul(1_000_000)
}
