//! Chats of VS Code with GitHub Copilot: files of `chatSessions`, and "Chat: Export Chat".
//!
//! A request has the user's message and everything that followed from it. The rounds of calls are in the metadata of
//! its result; the user's decision about each call is in the displayed parts.

use std::collections::HashSet;

use crate::contract::{Format, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::scribe::{Scribe, body};
use crate::shape::status::Status;
use crate::shape::transcript::{self, Conversation};
use rulestep_base::session::{Body, Damage};

pub(crate) const FORMAT: Format = Format {
    name: "vscode-chat",
    title: "chats of VS Code with GitHub Copilot",
    source: "the command `Chat: Export Chat...`, or `workspaceStorage/*/chatSessions/*.json` in the user data of VS Code",
    absent_without_results: false,
    marks_failures: false,
    recognise: |sample: &Sample<'_>| {
        let named = |value: &Members<'_>| value.has("responderUsername") || value.has("requesterUsername");
        sample.objects().any(|value| value.has("requests") && named(value))
    },
    reader: transcript::reader::<Chat>,
};

#[derive(Default)]
struct Chat {
    responses: u64,
}

impl Conversation for Chat {
    const EXPECTED: &'static str = "neither a chat nor a request";

    fn entries<'a>(whole: &Members<'a>) -> Option<Node<'a>> {
        whole.get("requests")
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("requestId")
    }

    fn about(&mut self, whole: &Members<'_>, scribe: &mut Scribe) {
        if let Some(title) = whole.try_get("customTitle").and_then(Node::text) {
            scribe.builder.title(&title);
        }
    }

    fn entry(&mut self, request: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        scribe.at(request, &["timestamp"]);
        let message = request.get("message");
        let words = message.and_then(|message| message.tried().members()?.get("text"));
        scribe.said("user", words.or(message).map_or(Body::MISSING, Node::body));
        scribe.about_as("model", request.get("modelId"));
        let parts = request.get("response").map(|parts| scribe.parts(parts)).unwrap_or_default();
        let mut denied = HashSet::new();
        for part in &parts {
            let Some(members) = part.tried().members() else { continue };
            let kind = members.try_get("kind").and_then(Node::text).unwrap_or_default();
            if kind.starts_with("toolInvocation") {
                let id = members.get("toolCallId").and_then(Node::id).unwrap_or_default();
                if refused(&members) {
                    denied.insert(id.into_owned());
                }
            }
        }
        let result = request.get("result").and_then(Node::members).unwrap_or_default();
        let about = result.get("metadata").and_then(Node::members).unwrap_or_default();
        let results = about.get("toolCallResults").and_then(Node::members).unwrap_or_default();
        let mut known = HashSet::new();
        for round in about.get("toolCallRounds").and_then(Node::objects).unwrap_or_default() {
            scribe.response(None, body(&round, &["response"]));
            let calls = round.get("toolCalls").and_then(Node::objects).unwrap_or_default();
            for call in &calls {
                let id = call.get("id").and_then(Node::id);
                let tool = call.get("name").and_then(Node::text).unwrap_or_default();
                scribe.call(id.as_deref(), &tool, body(call, &["arguments"]));
            }
            for id in calls.iter().filter_map(|call| call.get("id").and_then(Node::id)) {
                let refused = denied.contains(&*id);
                let result = results.get(&id);
                if refused || result.is_some() {
                    let ended = match refused {
                        true => Status::Refused("the user did not confirm the call"),
                        false => Status::Unknown,
                    };
                    scribe.result(Some(&id), result.map_or(Body::MISSING, content), ended);
                }
                known.insert(id.into_owned());
            }
        }
        let rounds = !known.is_empty();
        self.shown(&parts, rounds, &known, scribe);
        Ok(())
    }
}

impl Chat {
    /// The displayed parts: the only record of a request without rounds, and of calls that are in no round.
    fn shown(&mut self, parts: &[Node<'_>], rounds: bool, known: &HashSet<String>, scribe: &mut Scribe) {
        self.responses += 1;
        let key = self.responses.to_string();
        for part in parts {
            let Some(members) = part.members() else {
                scribe.odd_part(*part);
                continue;
            };
            let kind = members.try_get("kind").and_then(Node::text).unwrap_or_default();
            match &*kind {
                "" | "markdownContent" if !rounds => {
                    let value = members.any(&["value", "content"]);
                    let inner = value.and_then(|value| value.tried().members()?.get("value"));
                    scribe.response(Some(&key), inner.or(value).map_or(Body::MISSING, Node::body));
                }
                kind if kind.starts_with("toolInvocation") => {
                    let id = members.get("toolCallId").and_then(Node::id);
                    if id.as_ref().is_none_or(|id| !known.contains(&**id)) {
                        scribe.ensure_response(&key);
                        invoked(id.as_deref(), &members, rounds, scribe);
                    }
                }
                _ => {}
            }
        }
    }
}

/// A call of which only the displayed part exists.
fn invoked(id: Option<&str>, part: &Members<'_>, beside_rounds: bool, scribe: &mut Scribe) {
    let tool = part.get("toolId").and_then(Node::text).unwrap_or_default();
    let data = part.get("toolSpecificData").and_then(Node::members).unwrap_or_default();
    let line = data
        .get("commandLine")
        .and_then(Node::members)
        .and_then(|line| line.any(&["original", "toolEdited"]));
    let arguments = match (data.get("rawInput"), line.or_else(|| data.get("command"))) {
        (Some(input), _) => input.body(),
        (None, Some(line)) => Body::json(&format!("{{\"command\": {}}}", line.json())),
        (None, None) => Body::MISSING,
    };
    if arguments.is_missing() && !beside_rounds {
        let odd = "a call is recorded as it was shown, and its arguments cannot be found";
        scribe.builder.damaged(Damage::calls(odd));
    }
    scribe.call(id, &tool, arguments);
    if refused(part) {
        scribe.later_result(id, Body::MISSING, Status::Refused("the user did not confirm the call"));
    }
}

/// Whether the user denied or skipped a call: `false`, or one of these kinds of a confirmation.
fn refused(part: &Members<'_>) -> bool {
    let Some(confirmed) = part.try_get("isConfirmed") else { return false };
    match confirmed.kind() {
        Kind::Bool => confirmed.bool() == Some(false),
        Kind::Object => {
            let kind = confirmed.members().and_then(|confirmed| confirmed.get("type")?.number::<i64>());
            matches!(kind, Some(0 | 5))
        }
        _ => false,
    }
}

/// A result, if it is a single text.
fn content(result: Node<'_>) -> Body {
    let parts = result.tried().members().and_then(|result| result.get("content")?.items());
    let texts = parts.map(|parts| {
        let text = parts
            .into_iter()
            .map(|part| part.tried().members()?.get("value").filter(|value| value.kind() == Kind::Text));
        text.collect::<Option<Vec<_>>>()
    });
    match texts.flatten().as_deref() {
        Some([one]) => one.body(),
        _ => result.body(),
    }
}
