//! Sessions of Google's Agent Development Kit: an object with `events`, whose contents are messages of the Gemini API.
//! Keys are spelt as in the API or as in Python.
//!
//! Calls to `adk_request_…` are made by the kit to ask the user, and are not calls of the model.

use crate::contract::{Format, Sample};
use crate::input::shallow::{Members, Node};
use crate::shape::gemini::{self, Part};
use crate::shape::scribe::{Scribe, body};
use crate::shape::status::Status;
use crate::shape::transcript::{self, Conversation};
use rulestep_base::session::Body;

pub(crate) const FORMAT: Format = Format {
    name: "adk",
    title: "sessions of Google's Agent Development Kit",
    source: "`adk run --save_session` writes `*.session.json`; `adk web` exports a session",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader: transcript::reader::<Adk>,
};

const INVOCATION: [&str; 2] = ["invocationId", "invocation_id"];

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let first = value.get("events").and_then(Node::first_item).and_then(Node::members);
        let named = value.any(&["appName", "app_name"]).is_some();
        named && value.has("events") || first.is_some_and(|first| is_event(&first)) || is_event(value)
    })
}

fn is_event(value: &Members<'_>) -> bool {
    value.has("author") && value.any(&INVOCATION).is_some()
}

#[derive(Default)]
struct Adk;

/// Prefix of tools with which the kit asks the user.
const OWN: &str = "adk_request_";

impl Conversation for Adk {
    const EXPECTED: &'static str = "neither a session nor an event";

    fn entries<'a>(whole: &Members<'a>) -> Option<Node<'a>> {
        whole.get("events")
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("author") || value.has("content")
    }

    fn about(&mut self, whole: &Members<'_>, scribe: &mut Scribe) {
        scribe.about_as("agent", whole.any(&["appName", "app_name"]));
    }

    fn entry(&mut self, event: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        scribe.at(event, &["timestamp"]);
        let author = event.get("author").and_then(Node::text).unwrap_or_default();
        let content = event.get("content").and_then(Node::members).unwrap_or_default();
        let role = content.get("role").and_then(Node::text).unwrap_or_default();
        let error = event.any(&["errorMessage", "error_message", "errorCode", "error_code"]);
        scribe.end_response();
        const KEY: &str = "event";
        let parts = content.get("parts");
        for part in parts.map(|parts| scribe.parts(parts)).unwrap_or_default() {
            let Some(members) = part.members() else {
                scribe.odd_part(part);
                continue;
            };
            match gemini::part(&members) {
                Part::Call(call) => {
                    let tool = call.get("name").and_then(Node::text).unwrap_or_default();
                    if tool.starts_with(OWN) {
                        continue;
                    }
                    scribe.ensure_response(KEY);
                    let id = call.get("id").and_then(Node::id);
                    scribe.call(id.as_deref(), &tool, body(&call, &["args"]));
                }
                Part::Result(result) => answer(&result, scribe),
                Part::Thought => {}
                Part::Said(odd) => {
                    odd.into_iter().for_each(|odd| scribe.builder.damaged(odd));
                    let said = body(&members, &["text"]);
                    match author == "user" || role == "user" && author.is_empty() {
                        true => scribe.said("user", said),
                        false => scribe.response(Some(KEY), said),
                    }
                }
            }
        }
        if let Some(error) = error {
            scribe.said("system", error.body());
        }
        Ok(())
    }
}

fn answer(result: &Members<'_>, scribe: &mut Scribe) {
    let tool = result.get("name").and_then(Node::text).unwrap_or_default();
    if tool.starts_with(OWN) {
        return;
    }
    let id = result.get("id").and_then(Node::id);
    let response = result.get("response");
    let error = response.and_then(|response| response.tried().members()?.get("error"));
    let content = response.map_or(Body::MISSING, gemini::output);
    let ended = match &error {
        // The kit's result if the user was asked and refused, and if the user was not asked yet.
        Some(_) if content.shows("This tool call is rejected.") => {
            Status::Refused("the result says that the user rejected the call")
        }
        Some(_) if content.shows("This tool call requires confirmation") => Status::Open,
        Some(_) => Status::Failed,
        None => Status::Succeeded,
    };
    scribe.result(id.as_deref(), content, ended);
}
