//! Events of sessions of Claude Managed Agents: JSON Lines of them, or pages of the API with the events in `data`.
//!
//! Every call and every result is an event. Consecutive calls belong to one response. Each other thread of a session is
//! a session of its own.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::contract::{Format, Sample};
use crate::input::shallow::{Members, Node};
use crate::shape::scribe::{Scribe, body, words};
use crate::shape::status::Status;
use crate::shape::transcript::{self, Conversation};
use rulestep_base::session::Body;

pub(crate) const FORMAT: Format = Format {
    name: "managed-agents",
    title: "events of sessions of Claude Managed Agents, a line each or as pages of the API",
    source: "`GET /v1/sessions/ID/events` of the Anthropic API",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader: transcript::reader::<Managed>,
};

fn recognise(sample: &Sample<'_>) -> bool {
    let own = |event: &Members<'_>| {
        let kind = event.try_get("type").and_then(Node::text).unwrap_or_default();
        let called =
            kind.starts_with("agent.") && (kind.ends_with("tool_use") || kind.ends_with("tool_result"));
        called
            || matches!(&*kind, "agent.message" | "user.message")
                && event.has("content")
                && !event.has("data")
            || kind == "user.custom_tool_result"
    };
    sample.objects().any(|value| {
        let first = value.get("data").and_then(|data| data.tried().first_item()).and_then(Node::members);
        own(value) || first.is_some_and(|first| own(&first))
    })
}

#[derive(Default)]
struct Managed {
    /// How refusals are known, by call id.
    denied: HashMap<Box<str>, &'static str>,
}

impl Conversation for Managed {
    const EXPECTED: &'static str = "not an event of a session";
    const SUBAGENTS: bool = true;

    fn entries<'a>(whole: &Members<'a>) -> Option<Node<'a>> {
        whole.get("data")
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("type")
    }

    fn key<'a>(event: &Members<'a>) -> Option<Cow<'a, str>> {
        event.get("session_thread_id").and_then(Node::id)
    }

    fn entry(&mut self, event: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        const ROW: &str = "row";
        let kind = event.get("type").and_then(Node::text).unwrap_or_default();
        scribe.at(event, &["processed_at", "created_at"]);
        let said = event.get("content").map_or(Body::MISSING, words);
        match &*kind {
            "user.message" => scribe.said("user", said),
            "agent.message" => scribe.response(Some(ROW), said),
            "agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use" => {
                scribe.ensure_response(ROW);
                let id = event.get("id").and_then(Node::id);
                let tool = event.get("name").and_then(Node::text).unwrap_or_default();
                scribe.call(id.as_deref(), &tool, body(event, &["input"]));
                let judged = event.get("evaluated_permission").and_then(Node::text);
                if let Some(id) = id.filter(|_| judged.is_some_and(|judged| judged == "deny")) {
                    self.denied.insert(id.as_ref().into(), "the event says that a policy denied the call");
                }
            }
            "user.tool_confirmation" => {
                let id = event.get("tool_use_id").and_then(Node::id);
                let result = event.get("result").and_then(Node::text);
                if let Some(id) = id.filter(|_| result.is_none_or(|result| result != "allow")) {
                    self.denied.insert(id.as_ref().into(), "the user denied the call");
                }
            }
            "agent.tool_result"
            | "agent.mcp_tool_result"
            | "user.custom_tool_result"
            | "user.tool_result" => {
                let id =
                    event.any(&["tool_use_id", "mcp_tool_use_id", "custom_tool_use_id"]).and_then(Node::id);
                let denied = id.as_ref().and_then(|id| self.denied.remove(&**id));
                let failed = event.get("is_error").is_some_and(|error| error.bool().unwrap_or(true));
                let ended = match denied {
                    Some(how) => Status::Refused(how),
                    None if failed => Status::Failed,
                    None => Status::Succeeded,
                };
                scribe.result(id.as_deref(), said, ended);
            }
            "span.model_request_start" | "span.model_request_end" => scribe.end_response(),
            "session.error" => scribe.said("system", body(event, &["error"])),
            kind if kind.starts_with("session.")
                || kind.starts_with("span.")
                || kind.starts_with("system.")
                || kind.starts_with("agent.thread_")
                || matches!(kind, "agent.thinking" | "user.interrupt" | "user.define_outcome") => {}
            kind => return Err(kind.to_owned()),
        }
        Ok(())
    }

    /// A call that was denied may have no result.
    fn end(&mut self, scribe: &mut Scribe) {
        for (id, how) in std::mem::take(&mut self.denied) {
            if scribe.builder.waits_for(&id) {
                scribe.result(Some(&id), Body::MISSING, Status::Refused(how));
            }
        }
    }
}
