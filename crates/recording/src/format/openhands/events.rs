//! The older generation: `action` with `args` proposes a call, `observation` answers the event that its `cause` names.

use super::run::{Action, Run, ended, id_of, mark};
use crate::contract::setting::Setting;
use crate::input::digest::digest;
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::chat;
use crate::shape::chat::{Choice, Rules};
use crate::shape::offer;
use crate::shape::offer::Offer;
use crate::shape::status::{Status, says_error};
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::{Body, Damage, Millis};

/// Actions of the agent that call no tool.
const NO_CALLS: [&str; 11] = [
    "message",
    "system",
    "null",
    "change_agent_state",
    "recall",
    "condensation",
    "condensation_request",
    "pause",
    "resume",
    "stop",
    "loop_recovery",
];

/// Observations that answer no call, unless they name one.
const NO_RESULTS: [&str; 5] = ["null", "agent_state_changed", "recall", "condense", "loop_detection"];

/// Whether it is an event of this generation.
pub fn is_event(event: &Members<'_>) -> bool {
    let is = |key, kind| event.get(key).is_some_and(|node| node.kind() == kind);
    is("action", Kind::Text) && is("args", Kind::Object)
        || is("observation", Kind::Text) && (is("extras", Kind::Object) || event.has("cause"))
}

/// Reads an event; returns its type if it is unknown.
pub fn event(event: &Members<'_>, at: Option<Millis>, setting: &Setting, run: &mut Run) -> Option<String> {
    let text = |key| event.get(key).and_then(Node::text);
    if let Some(observation) = text("observation") {
        observed(event, &observation, at, setting, run);
        return None;
    }
    let Some(action) = text("action") else { return Some("…".to_owned()) };
    let args = event.get("args").and_then(Node::members).unwrap_or_default();
    let body = |key| args.get(key).map_or(Body::MISSING, |node: Node<'_>| Body::json(node.json()));
    let source = text("source").unwrap_or_else(|| "agent".into());
    match (&*source, &*action) {
        ("agent", "message") => run.reply(body("content"), at),
        (source, "message") => run.said(source, body("content"), at),
        (_, "system") => {
            if let Some(Offer { tools, .. }) = args.get("tools").and_then(offer::tools) {
                let turn = run.builder.next_turn();
                run.builder.offered(turn, tools);
            }
            run.said("system", body("content"), at);
        }
        (_, action) if NO_CALLS.contains(&action) => {}
        ("agent", action) => proposed(event, action, &args, at, run),
        (source, action) => {
            if let Some(id) = id_of(event, "id") {
                run.aside.insert(id.as_ref().into());
            }
            let odd = format!("the action `{action}` is not the agent's but of `{source}`; it is left out");
            run.builder.lost(Loss::Harmless, odd);
        }
    }
    None
}

fn proposed(event: &Members<'_>, action: &str, args: &Members<'_>, at: Option<Millis>, run: &mut Run) {
    let about = event.get("tool_call_metadata").and_then(Node::members).unwrap_or_default();
    let (id, own) = (id_of(&about, "tool_call_id"), id_of(event, "id"));
    let response = about.get("model_response").and_then(Node::members).unwrap_or_default();
    // Every call has its whole response beside it. Gateways may give each the same id.
    let all = response.any(&["choices", "output"]).map_or(0, |all| digest(all.json()));
    let response_id = id_of(&response, "id").map(|id| format!("{id} {all}"));
    let choices = chat::choices(&response);
    let own_call = |choice: &Choice<'_>| {
        let calls = choice.message.and_then(Node::members)?.get("tool_calls")?.objects()?;
        calls.into_iter().position(|call| id_of(&call, "id") == id)
    };
    let taken = choices.iter().position(|choice| own_call(choice).is_some()).unwrap_or(0);
    if choices.get(taken).is_some_and(|choice| choice.message.is_none()) {
        run.builder.damaged(Damage::calls("the response of a call has no choice with a message"));
    }
    let message = choices.get(taken).and_then(|choice| choice.message?.members()).unwrap_or_default();
    let function = message.get("tool_calls").and_then(Node::objects).and_then(|calls| {
        let own = calls.into_iter().find(|call| id_of(call, "id") == id)?;
        own.get("function")?.members()
    });
    let arguments = function.as_ref().and_then(|function| function.get("arguments"));
    // Without the model's own arguments, the agent's are used.
    let arguments = arguments.or_else(|| {
        let inner = (action == "call_tool_mcp").then(|| args.get("arguments")).flatten();
        inner.or_else(|| event.get("args"))
    });
    let name = about.get("function_name").or_else(|| function.as_ref()?.get("name"));
    let name = name.or_else(|| if action == "call_tool_mcp" { args.get("name") } else { None });
    let name = name.and_then(Node::text).filter(|name| !name.is_empty());
    let thought = message.get("content").or_else(|| args.get("thought"));
    let thought = thought.map_or(Body::MISSING, |thought| Body::json(thought.json()));
    let action = Action {
        response: response_id.as_deref(),
        content: thought,
        event: own.as_deref(),
        id: id.as_deref(),
        tool: name.as_deref().unwrap_or(action),
        arguments: arguments.map_or(Body::MISSING, |arguments| Body::json(arguments.json())),
    };
    if run.act(action, at) {
        let rules = Rules { python: false, ended: |_| Status::Unknown, error: None };
        let further = (1..).zip(&choices).enumerate().filter(|(place, _)| *place != taken);
        further.for_each(|(_, (number, choice))| choice.beside(&mut run.builder, number, &rules, at));
    }
}

fn observed(event: &Members<'_>, kind: &str, at: Option<Millis>, setting: &Setting, run: &mut Run) {
    let cause = id_of(event, "cause");
    let known = cause.as_deref().and_then(|cause| run.calls.get(cause)).cloned();
    let content = event.get("content").map_or(Body::MISSING, |content| Body::json(content.json()));
    let about = event.get("tool_call_metadata").and_then(Node::members);
    let named = about.and_then(|about| id_of(&about, "tool_call_id")).map(|id| id.as_ref().into());
    let id: Option<Box<str>> = match (known, named, &cause) {
        (Some(id), _, _) => id,
        (None, named @ Some(_), _) => named,
        (None, None, _) if NO_RESULTS.contains(&kind) => return,
        (None, None, Some(cause)) if run.aside.contains(&**cause) => return,
        (None, None, None) if kind == "error" => return run.said("system", content, at),
        (None, None, Some(cause)) => Some(cause.as_ref().into()),
        // One of a pair answers the other, where neither has an id.
        (None, None, None) => None,
    };
    let extras = event.get("extras").and_then(Node::members).unwrap_or_default();
    let metadata = extras.get("metadata").and_then(Node::members).unwrap_or_default();
    let code = ended(metadata.get("exit_code").or_else(|| extras.get("exit_code")));
    let told = match kind {
        "edit" | "read" => content.shown().starts_with("ERROR:"),
        "browse" => extras.get("error").is_some_and(|error| error.bool() != Some(false)),
        "mcp" => says_error(&content),
        _ => false,
    };
    // A running command is no success, either.
    let no_success =
        code != Status::Open && event.get("success").is_some_and(|success| success.json() == "false");
    let ended = if kind == "error" || told || no_success { Status::Failed } else { code };
    let refused = (kind == "user_rejected").then_some("the observation is `user_rejected`");
    let mark = mark(ended, refused, &content, setting);
    run.answer(id, content, mark, at);
}
