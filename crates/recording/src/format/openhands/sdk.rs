//! The newer generation, of the OpenHands SDK: every event has a `kind`.

use super::run::{Action, Run, ended, id_of, mark};
use crate::contract::setting::Setting;
use crate::input::shallow::{Members, Node};
use crate::shape::offer;
use crate::shape::offer::Offer;
use crate::shape::status::Status;
use rulestep_base::session::build::Mark;
use rulestep_base::session::{Body, Millis};

const KINDS: [&str; 6] = [
    "SystemPromptEvent",
    "MessageEvent",
    "ActionEvent",
    "ObservationEvent",
    "AgentErrorEvent",
    "UserRejectObservation",
];

/// Kinds that neither say nor do anything that the model sees.
const PASSED_BY: [&str; 9] = [
    "ConversationStateUpdateEvent",
    "Condensation",
    "CondensationRequest",
    "CondensationSummaryEvent",
    "PauseEvent",
    "TokenEvent",
    "LLMCompletionLogEvent",
    "ConversationStatsEvent",
    "HookExecutionEvent",
];

/// Whether it is an event of this generation.
pub fn is_event(event: &Members<'_>) -> bool {
    let kind = event.get("kind").and_then(Node::text);
    kind.is_some_and(|kind| {
        let marks = ["source", "tool_call_id", "llm_message", "timestamp"];
        event.any(&marks).is_some()
            && (KINDS.contains(&&*kind) || kind.ends_with("Event") || PASSED_BY.contains(&&*kind))
    })
}

/// Reads an event; returns its kind if it is unknown.
pub fn event(event: &Members<'_>, at: Option<Millis>, setting: &Setting, run: &mut Run) -> Option<String> {
    let kind = event.get("kind").and_then(Node::text).unwrap_or_default();
    let body = |key| event.get(key).map_or(Body::MISSING, |node: Node<'_>| Body::json(node.json()));
    match &*kind {
        "SystemPromptEvent" => {
            if let Some(Offer { tools, .. }) = event.get("tools").and_then(offer::tools) {
                let turn = run.builder.next_turn();
                run.builder.offered(turn, tools);
            }
            let prompt = event.get("system_prompt");
            let text = prompt.and_then(Node::members).and_then(|prompt| prompt.get("text")).or(prompt);
            run.said("system", text.map_or(Body::MISSING, |text| Body::json(text.json())), at);
        }
        "MessageEvent" => message(event, at, run),
        "ActionEvent" => proposed(event, at, run),
        "ObservationEvent" => observed(event, at, setting, run),
        "AgentErrorEvent" => {
            let mark = Mark { error: true, refused: None };
            run.answer(call_of(event, run), body("error"), Some(mark), at);
        }
        "UserRejectObservation" => {
            let refused = Some("the event is a `UserRejectObservation`");
            let mark = Mark { error: false, refused };
            run.answer(call_of(event, run), body("rejection_reason"), Some(mark), at);
            run.end_response();
        }
        "ConversationErrorEvent" => run.said("system", body("detail"), at),
        kind if PASSED_BY.contains(&kind) => {}
        kind => return Some(kind.to_owned()),
    }
    None
}

fn message(event: &Members<'_>, at: Option<Millis>, run: &mut Run) {
    let message = event.get("llm_message").and_then(Node::members).unwrap_or_default();
    let role = message.get("role").or_else(|| event.get("source")).and_then(Node::text);
    let content = message.get("content").map_or(Body::MISSING, content);
    match role.as_deref() {
        Some("assistant" | "agent") => run.reply(content, at),
        role => run.said(role.unwrap_or("user"), content, at),
    }
}

fn proposed(event: &Members<'_>, at: Option<Millis>, run: &mut Run) {
    let call = event.get("tool_call").and_then(Node::members).unwrap_or_default();
    let inner = call.get("function").and_then(Node::members);
    let function = inner.as_ref().unwrap_or(&call);
    let name = event.get("tool_name").or_else(|| function.get("name")).and_then(Node::text);
    let arguments = function.get("arguments").or_else(|| event.get("action"));
    let (id, own) = (id_of(event, "tool_call_id").or_else(|| id_of(&call, "id")), id_of(event, "id"));
    let response = id_of(event, "llm_response_id");
    let action = Action {
        response: response.as_deref(),
        content: event.get("thought").map_or(Body::MISSING, content),
        event: own.as_deref(),
        id: id.as_deref(),
        tool: name.as_deref().unwrap_or_default(),
        arguments: arguments.map_or(Body::MISSING, |arguments| Body::json(arguments.json())),
    };
    let _ = run.act(action, at);
}

/// All calls of a response are proposed before one of them runs, so a tool's output ends the response: gateways may
/// give every response the same id. The agent's own rejections (`AgentErrorEvent`) come between its calls.
fn observed(event: &Members<'_>, at: Option<Millis>, setting: &Setting, run: &mut Run) {
    let observation = event.get("observation");
    let inner = observation.and_then(Node::members).unwrap_or_default();
    let said = inner.any(&["content", "output", "text"]).or(observation).or_else(|| event.get("content"));
    let content = said.map_or(Body::MISSING, content);
    // A mark that cannot be read must not pass for success.
    let flag = inner.get("is_error").map(|flag| flag.bool().unwrap_or(true));
    let code = ended(inner.get("exit_code").or_else(|| {
        let metadata = inner.get("metadata")?.members()?;
        metadata.get("exit_code")
    }));
    let timeout = inner.get("timeout").is_some_and(|timeout| timeout.json() == "true");
    let ended = match (flag, code) {
        (Some(true), _) => Status::Failed,
        (_, Status::Succeeded | Status::Unknown) if timeout => Status::Open,
        (Some(false), Status::Unknown) => Status::Succeeded,
        (_, code) => code,
    };
    let mark = mark(ended, None, &content, setting);
    run.answer(call_of(event, run), content, mark, at);
    run.end_response();
}

/// Id of the call that an event answers.
fn call_of(event: &Members<'_>, run: &Run) -> Option<Box<str>> {
    let named = id_of(event, "tool_call_id").map(|id| id.as_ref().into());
    named.or_else(|| {
        let action = id_of(event, "action_id")?;
        run.calls.get(&*action).cloned().unwrap_or_else(|| Some(action.as_ref().into()))
    })
}

/// Parts of a text; an empty list is no text.
fn content(node: Node<'_>) -> Body {
    if node.items().is_some_and(|items| items.is_empty()) { Body::MISSING } else { Body::json(node.json()) }
}
