//! One message: of a saved session, in which a call and its result are one object, or in the form of the Gemini API.

use crate::contract::setting::Setting;
use crate::input::shallow::{Members, Node};
use crate::input::time;
use crate::shape::gemini::{Part, denied, has_functions, output, part, said};
use crate::shape::status::Status;
use crate::shape::{command, status, suspicion};
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis};
use rulestep_base::source::quoted;

/// Adds a message.
pub fn message(setting: &Setting, builder: &mut Builder, message: &Members<'_>) {
    let at = time::of(message, &["timestamp"]).unwrap_or_else(|odd| {
        builder.damaged(odd);
        None
    });
    if let Some(what) = suspicion::unread(message, &["toolCalls"]) {
        builder.damaged(suspicion::lost(&what));
    }
    let role = |key| message.get(key).and_then(Node::text).unwrap_or_default();
    if let Some(parts) = message.get("parts") {
        return content(setting, builder, &role("role"), parts, at, false);
    }
    let kind = message.get("type").and_then(Node::text).unwrap_or_default();
    let calls = message.get("toolCalls").and_then(Node::items).unwrap_or_default();
    let calls: Vec<_> = calls.into_iter().filter_map(Node::members).collect();
    // Additions to the history for the model are in the form of the API.
    if let Some(parts) =
        message.get("content").filter(|parts| calls.is_empty() && has_functions(parts.tried()))
    {
        let role = if kind == "gemini" { "model" } else { &kind };
        return content(setting, builder, role, parts, at, true);
    }
    let content = message.try_get("content");
    content.filter(|_| kind == "gemini").into_iter().for_each(|content| twice(builder, content, &calls));
    let content = content.map_or(Body::MISSING, said);
    if kind != "gemini" {
        if !calls.is_empty() {
            builder.lost(Loss::MayHoldCalls, format!("calls of the type {} are left out", quoted(&kind)));
        }
        return builder.said(&kind, content, at);
    }
    builder.response(None, content, at);
    for call in &calls {
        let arguments = call.get("args").map_or(Body::MISSING, |arguments| Body::json(arguments.json()));
        let (id, name) = (call.get("id").and_then(Node::id), call.get("name").and_then(Node::text));
        builder.call(id.as_deref(), &name.unwrap_or_default(), arguments, at);
    }
    for call in &calls {
        result(setting, builder, call);
    }
}

/// Reports a content whose parts hold a call that is not among those of the message.
fn twice(builder: &mut Builder, content: Node<'_>, calls: &[Members<'_>]) {
    let name = |of: &Members<'_>| of.try_get("name").and_then(Node::text).map(|name| name.into_owned());
    let id = |of: &Members<'_>| of.try_get("id").and_then(Node::id).map(|id| id.into_owned());
    let parts = content.items().unwrap_or_default().into_iter().filter_map(|part| part.tried().members());
    for members in parts {
        match part(&members) {
            Part::Call(call) => {
                let same = |other: &Members<'_>| {
                    name(other) == name(&call) && (id(&call).is_none() || id(other) == id(&call))
                };
                if !calls.iter().any(same) {
                    let tool = quoted(&name(&call).unwrap_or_default()).to_string();
                    let odd =
                        format!("a call of {tool} is in `content` and not in `toolCalls`; it is left out");
                    builder.lost(Loss::MayHoldCalls, odd);
                }
            }
            Part::Said(odd) => odd.into_iter().for_each(|odd| builder.damaged(odd)),
            Part::Result(_) | Part::Thought => {}
        }
    }
}

/// The result of a call that has ended.
fn result(setting: &Setting, builder: &mut Builder, call: &Members<'_>) {
    let text = |key| call.get(key).and_then(Node::id).unwrap_or_default();
    let status = call.get("status").and_then(Node::text).unwrap_or_default();
    if !matches!(&*status, "success" | "error" | "cancelled") && !call.has("result") {
        return;
    }
    let at = time::of(call, &["timestamp"]).unwrap_or_else(|odd| {
        builder.damaged(odd);
        None
    });
    let first = call.get("result").and_then(Node::first_item).and_then(Node::members);
    let response = first.and_then(|first| first.get("functionResponse")?.members()?.get("response"));
    let content = response.or_else(|| call.get("result")).map_or(Body::MISSING, output);
    let name = call.get("name").and_then(Node::text).unwrap_or_default();
    let ended = if command::is_geminis(&name) {
        command::gemini(content.shown()).unwrap_or(Status::Succeeded)
    } else {
        Status::Succeeded
    };
    let failed = response.map(Node::tried).and_then(Node::members).is_some_and(|told| told.has("error"));
    let marked = match (&*status, ended) {
        ("success" | "", _) if failed => Some(true),
        ("success" | "", Status::Open) => return builder.unsure(Some(&*text("id")), content, None, at),
        ("success" | "", Status::Failed) => Some(true),
        ("success", _) => Some(false),
        ("", _) => None,
        (status, _) => status::failed(status),
    };
    // A call that was aborted while it ran did run.
    let stopped = status == "cancelled" && !content.shown().contains("cancelled tool execution");
    let mark = Mark {
        error: setting.failed(marked, &content),
        refused: if stopped {
            Some("the call's status is `cancelled`: the user stopped it")
        } else {
            denied(&content, &name).filter(|_| status == "error" && !setting.marks_alone)
        },
    };
    builder.result(Some(&*text("id")), content, mark, at);
}

/// A message in the form of the API. `echoes`: results that may be known already.
fn content(
    setting: &Setting,
    builder: &mut Builder,
    role: &str,
    parts: Node<'_>,
    at: Option<Millis>,
    echoes: bool,
) {
    let parts = parts.items().unwrap_or_default();
    let (mut spoken, mut calls, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for node in parts {
        match part(&node.members().unwrap_or_default()) {
            Part::Call(call) => calls.push(call),
            Part::Result(result) => results.push(result),
            Part::Thought => {}
            Part::Said(odd) => {
                odd.into_iter().for_each(|odd| builder.damaged(odd));
                spoken.push(node.json());
            }
        }
    }
    let content = if spoken.is_empty() {
        Body::MISSING
    } else {
        let list = format!("[{}]", spoken.join(", "));
        Node::parse(&list).map_or(Body::MISSING, said)
    };
    let name = |of: &Members<'_>, key| of.get(key).and_then(Node::id).map(|id| id.into_owned());
    let is_models = matches!(role, "model" | "assistant");
    if !is_models && !calls.is_empty() {
        builder.lost(Loss::MayHoldCalls, format!("calls of the role {} are left out", quoted(role)));
    }
    if is_models {
        builder.response(None, content.clone(), at);
        for call in calls {
            let arguments = call.get("args").map_or(Body::MISSING, |args| Body::json(args.json()));
            let tool = call.get("name").and_then(Node::text).unwrap_or_default();
            builder.call(name(&call, "id").as_deref(), &tool, arguments, at);
        }
    }
    for result in results {
        if echoes && name(&result, "id").is_some_and(|id| !builder.waits_for(&id)) {
            continue;
        }
        let response = result.get("response");
        let failed = response.and_then(Node::members).is_some_and(|response| response.has("error"));
        let content = response.map_or(Body::MISSING, output);
        let runs = result.get("name").and_then(Node::text).is_some_and(|tool| command::is_geminis(&tool));
        let told = runs.then(|| command::gemini(content.shown())).flatten();
        let ended = told.unwrap_or(Status::Succeeded);
        if ended == Status::Open && !failed {
            builder.unsure(name(&result, "id").as_deref(), content, None, at);
            continue;
        }
        let failed = failed || ended == Status::Failed;
        let error = setting.failed(failed.then_some(true), &content);
        let tool = result.get("name").and_then(Node::text).unwrap_or_default();
        let refused = denied(&content, &tool).filter(|_| failed && !setting.marks_alone);
        builder.result(name(&result, "id").as_deref(), content, Mark { error, refused }, at);
    }
    if !is_models && !content.is_missing() {
        builder.said(role, content, at);
    }
}
