//! A message as it is sent to a model: calls and results are parts of its `content`.

use super::approvals::{Approvals, kind, said, spoken};
use crate::contract::setting::Setting;
use crate::input::calls;
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::status::says_error;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis};

const PARTS: [&str; 4] = ["tool-call", "tool-result", "tool-approval-request", "tool-approval-response"];

/// Whether only this SDK writes such a message.
pub fn is_own(message: &Members<'_>) -> bool {
    let parts = message.get("content").and_then(Node::items).unwrap_or_default();
    parts.into_iter().any(|part| kind(part).is_some_and(|kind| PARTS.contains(&&*kind)))
}

/// Adds a message.
pub fn read(
    message: &Members<'_>,
    role: &str,
    at: Option<Millis>,
    setting: &Setting,
    asked: &mut Approvals,
    builder: &mut Builder,
) {
    let content = message.get("content");
    // The content may be a bare text.
    let parts = content.filter(|content| content.kind() != Kind::Text).and_then(Node::items);
    match role {
        "assistant" => {}
        "tool" => {
            if parts.is_none() {
                builder.lost(
                    Loss::MayHoldCalls,
                    "a message of the role `tool` has no list of parts; it is left out",
                );
            }
            for part in parts.unwrap_or_default() {
                answer(part, at, setting, asked, builder);
            }
            return;
        }
        role => {
            let own = |part: &Node<'_>| kind(*part).is_some_and(|kind| kind == "tool-call");
            let calls = parts.unwrap_or_default().iter().filter(|part| own(part)).count();
            if calls > 0 {
                builder.lost(Loss::MayHoldCalls, format!("calls of the role `{role}` are left out: {calls}"));
            }
            return said(role, content, at, builder);
        }
    }
    let Some(parts) = parts else {
        return builder.response(
            None,
            content.map_or(Body::MISSING, |content| Body::json(content.json())),
            at,
        );
    };
    let of_kind = |part: &Node<'_>| kind(*part).unwrap_or_default();
    let words: Vec<_> = parts
        .iter()
        .copied()
        .filter(|part| !PARTS.contains(&&*of_kind(part)) && of_kind(part) != "reasoning")
        .collect();
    builder.response(None, spoken(&words), at);
    for part in &parts {
        let members = part.members().unwrap_or_default();
        let text = |key| members.get(key).and_then(Node::id);
        if members.has("toolCallId") && !PARTS.contains(&&*of_kind(part)) {
            builder.lost(Loss::MayHoldCalls, "a part of no known type may be a call, and is left out as one");
        }
        match &*of_kind(part) {
            "tool-call" => {
                let arguments = members.any(&["input", "args"]);
                let arguments = arguments.map_or(Body::MISSING, |node| Body::json(node.json()));
                let tool = members.get("toolName").and_then(Node::text).unwrap_or_default();
                builder.call(text("toolCallId").as_deref(), &tool, arguments, at);
            }
            "tool-approval-request" => {
                if let (Some(question), Some(call)) = (text("approvalId"), text("toolCallId")) {
                    asked.open.insert(question.as_ref().into(), call.as_ref().into());
                }
            }
            _ => {}
        }
    }
    // Tools of the provider answer within the message.
    for part in parts.into_iter().filter(|part| of_kind(part) == "tool-result") {
        answer(part, at, setting, asked, builder);
    }
}

fn answer(
    part: Node<'_>,
    at: Option<Millis>,
    setting: &Setting,
    asked: &mut Approvals,
    builder: &mut Builder,
) {
    let members = part.members().unwrap_or_default();
    let text = |key| members.get(key).and_then(Node::id);
    let body = |node: Option<Node<'_>>| node.map_or(Body::MISSING, |node| Body::json(node.json()));
    match kind(part).as_deref() {
        Some("tool-result") => {
            let id = text("toolCallId");
            let outcome = members.any(&["output", "result"]);
            let typed = members.get("output").and_then(Node::members);
            let typed = typed.filter(|typed| typed.get("type").is_some_and(|kind| kind.kind() == Kind::Text));
            let (content, marked, denied) = match &typed {
                Some(typed) => {
                    let kind = typed.get("type").and_then(Node::text).unwrap_or_default();
                    let denied = kind == "execution-denied";
                    (body(typed.any(&["value", "reason"])), Some(kind.starts_with("error")), denied)
                }
                None => {
                    // A mark that cannot be read must not pass for success.
                    let marked = members.get("isError").map(|mark| mark.bool().unwrap_or(true));
                    (body(outcome), marked, false)
                }
            };
            // The refusal itself comes before it.
            if denied && id.as_deref().is_some_and(|id| asked.refused.contains(id)) {
                return;
            }
            // A server of tools marks its results itself.
            let marked = if says_error(&content) { Some(true) } else { marked };
            if marked.is_some() {
                builder.mark_errors();
            }
            let error = setting.failed(marked, &content);
            let refused = denied.then_some("the output's type is `execution-denied`");
            builder.result(id.as_deref(), content, Mark { error, refused }, at);
        }
        Some("tool-approval-response") => {
            let approved = members.get("approved").is_some_and(|approved| approved.bool() == Some(true));
            let call = text("approvalId").and_then(|question| asked.open.remove(&*question));
            let Some(call) = call.filter(|_| !approved) else { return };
            let refused = Some("the approval says `approved: false`");
            builder.result(Some(&*call), body(members.get("reason")), Mark { error: false, refused }, at);
            asked.refused.insert(call);
        }
        Some(kind) => builder.lost(
            calls::loss_of(part),
            format!("a part of the type `{kind}` is not a result; it is left out"),
        ),
        None => builder.lost(
            Loss::MayHoldCalls,
            format!("a part is {}, not a result; it is left out", part.said_kind()),
        ),
    }
}
