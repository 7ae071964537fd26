//! Lines of Qwen Code's logs: messages are lists of parts in the form of the Gemini API, and each result is a line of
//! its own.

use crate::input::shallow::{Members, Node};
use crate::shape::blocks::{Answer, BlockCall, Blocks};
use crate::shape::command;
use crate::shape::gemini::{Part, output, part, said};
use rulestep_base::session::Body;

/// Whether a line is from Qwen Code: its own lines have a payload.
pub fn is_line(line: &Members<'_>) -> bool {
    let kind = line.get("type").and_then(Node::text).unwrap_or_default();
    let has_parts = || line.get("message").and_then(Node::members).is_some_and(|said| said.has("parts"));
    let is_one = match &*kind {
        "user" | "assistant" => has_parts(),
        "tool_result" => line.has("toolCallResult") || has_parts(),
        "system" => line.has("uuid") && line.has("systemPayload"),
        _ => false,
    };
    is_one && line.has("sessionId")
}

/// The blocks of a message's parts. Thoughts are not kept.
pub fn blocks(parts: Node<'_>) -> Blocks {
    let (mut spoken, mut calls, mut answers) = (Vec::new(), Vec::new(), Vec::new());
    let mut odd = Vec::new();
    for node in parts.items().unwrap_or_default() {
        match part(&node.members().unwrap_or_default()) {
            Part::Call(call) => {
                calls.push(BlockCall {
                    id: call.get("id").and_then(Node::id).map(|id| id.as_ref().into()),
                    tool: call.get("name").and_then(Node::text).unwrap_or_default().as_ref().into(),
                    input: call.get("args").map_or(Body::MISSING, |args| Body::json(args.json())),
                });
            }
            Part::Result(result) => {
                let response = result.get("response");
                let failed = response.and_then(Node::members).is_some_and(|response| response.has("error"));
                let mut answer = Answer {
                    id: result.get("id").and_then(Node::id).map(|id| id.as_ref().into()),
                    content: response.map_or(Body::MISSING, output),
                    error: failed.then_some(true),
                    unsure: false,
                };
                if result.get("name").and_then(Node::text).is_some_and(|tool| command::is_geminis(&tool)) {
                    command::gemini(answer.content.shown()).into_iter().for_each(|ended| answer.told(ended));
                }
                answers.push(answer);
            }
            Part::Thought => {}
            Part::Said(wrong) => {
                odd.extend(wrong);
                spoken.push(node.json());
            }
        }
    }
    let list = format!("[{}]", spoken.join(", "));
    let content = Node::parse(&list).ok().filter(|_| !spoken.is_empty()).map_or(Body::MISSING, said);
    let mut blocks = Blocks::of(content, calls, answers);
    blocks.odd = odd;
    blocks
}

/// A line with the result of a call: what the model received, and whether the user rejected the call.
pub fn result(members: &Members<'_>) -> Result<(Blocks, Option<&'static str>), String> {
    let told = members.get("toolCallResult").and_then(Node::members).unwrap_or_default();
    let message = members.get("message").and_then(Node::members).unwrap_or_default();
    let mut blocks = message.get("parts").map(blocks).unwrap_or_default();
    let id = || told.get("callId").and_then(Node::id).map(|id| id.as_ref().into());
    if blocks.answers.is_empty() {
        let Some(id) = id() else { return Err("the line names no call".to_owned()) };
        let content = told.get("resultDisplay").map_or(Body::MISSING, |shown| Body::json(shown.json()));
        // The displayed text need not say how a call ended.
        let mut answer = Answer { id: Some(id), content, error: None, unsure: !told.has("status") };
        command::displayed(answer.content.shown()).into_iter().for_each(|ended| answer.told(ended));
        blocks.answers.push(answer);
    }
    let text = |key| told.get(key).and_then(Node::text).unwrap_or_default();
    let status = text("status");
    let marked = match &*status {
        "success" => Some(false),
        "" => None,
        _ => Some(true),
    };
    let mut rejected = text("errorType") == "execution_denied";
    for answer in &mut blocks.answers {
        answer.error = if answer.error == Some(true) { answer.error } else { marked };
        if answer.id.is_none() {
            answer.id = id();
        }
        let shown = answer.content.shown();
        rejected |= status == "cancelled"
            && shown.starts_with("[Operation Cancelled]")
            && (shown.contains("did not allow") || shown.contains("denied"));
    }
    Ok((blocks, rejected.then_some("the log says that the call was rejected")))
}
