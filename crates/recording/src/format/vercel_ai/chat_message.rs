//! A message of a chat: its parts in order, or the older `content` beside `toolInvocations`.

use std::borrow::Cow;

use super::approvals::{kind, said, spoken};
use crate::contract::setting::Setting;
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::status::says_error;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis};
use rulestep_base::source::quoted;

/// One response within a message.
#[derive(Default)]
struct Step<'a> {
    spoken: Vec<Node<'a>>,
    calls: Vec<Call<'a>>,
    /// One of the calls has its result.
    answered: bool,
}

impl<'a> Step<'a> {
    fn call(&mut self, call: Call<'a>) {
        self.answered |= call.result.is_some();
        self.calls.push(call);
    }
}

/// A call with its result.
struct Call<'a> {
    id: Option<Cow<'a, str>>,
    tool: Cow<'a, str>,
    arguments: Option<Node<'a>>,
    /// Its result, as far as it is known.
    result: Option<ToolOutput<'a>>,
}

struct ToolOutput<'a> {
    content: Option<Node<'a>>,
    /// Whether it is marked as failed, if it has a mark.
    failed: Option<bool>,
    refused: Option<&'static str>,
}

/// Whether only this SDK writes such a message.
pub fn is_own(message: &Members<'_>) -> bool {
    let invocations = message.get("toolInvocations").is_some_and(|list| list.kind() == Kind::List);
    let written = written(message);
    let written = written.as_deref().and_then(|text| Node::parse(text).ok());
    let parts = written.or_else(|| message.get("parts"));
    invocations || parts.and_then(Node::first_item).is_some_and(is_part)
}

/// The text of parts that are written as one, as a column of a table may hold them.
pub fn written<'a>(message: &Members<'a>) -> Option<Cow<'a, str>> {
    message.get("parts")?.text().filter(|text| text.trim_start().starts_with('['))
}

/// Whether it is a part as the SDK types them.
fn is_part(part: Node<'_>) -> bool {
    match kind(part).as_deref() {
        Some("text" | "reasoning") => part.members().is_some_and(|part| part.has("text")),
        Some("step-start" | "file" | "tool-invocation") => true,
        Some(kind) => is_tool(kind) || kind.starts_with("source-") || kind.starts_with("data-"),
        None => false,
    }
}

/// Adds a message.
pub fn read(
    message: &Members<'_>,
    parts: Option<Node<'_>>,
    role: &str,
    at: Option<Millis>,
    setting: &Setting,
    builder: &mut Builder,
) {
    let items = parts.and_then(Node::items).unwrap_or_default();
    if let Some(odd) = parts.filter(|parts| parts.kind() != Kind::List) {
        builder
            .lost(Loss::MayHoldCalls, format!("`parts` is {}, not a list; it is left out", odd.said_kind()));
    }
    if role != "assistant" {
        let invoked = message.get("toolInvocations").and_then(Node::items).unwrap_or_default();
        let calls = items.iter().filter(|part| kind(**part).is_some_and(|kind| is_tool(&kind))).count();
        let calls = calls + invoked.len();
        if calls > 0 {
            builder.lost(Loss::MayHoldCalls, format!("calls of the role `{role}` are left out: {calls}"));
        }
        return said(role, parts.or_else(|| message.get("content")), at, builder);
    }
    let steps = match items.is_empty() {
        false => steps(&items, builder),
        true => invoked(message, builder),
    };
    let several = steps.len() > 1;
    for step in steps {
        // One that neither says nor calls anything is a mark between two others.
        if several && step.spoken.is_empty() && step.calls.is_empty() {
            continue;
        }
        builder.response(None, spoken(&step.spoken), at);
        for call in &step.calls {
            let arguments = call.arguments.map_or(Body::MISSING, |node| Body::json(node.json()));
            builder.call(call.id.as_deref(), &call.tool, arguments, at);
        }
        for Call { id, result, .. } in step.calls {
            let Some(ToolOutput { content, failed, refused }) = result else { continue };
            if failed.is_some() {
                builder.mark_errors();
            }
            let content = content.map_or(Body::MISSING, |node| Body::json(node.json()));
            // A server of tools marks its results itself.
            let failed = if says_error(&content) { Some(true) } else { failed };
            let mark = Mark { error: setting.failed(failed, &content), refused };
            builder.result(id.as_deref(), content, mark, at);
        }
    }
}

fn is_tool(kind: &str) -> bool {
    kind.starts_with("tool-") || kind == "dynamic-tool"
}

/// The responses that the parts of a message are.
fn steps<'a>(parts: &[Node<'a>], builder: &mut Builder) -> Vec<Step<'a>> {
    let mut steps = vec![Step::default()];
    for part in parts {
        let Some(members) = part.members() else {
            let word = part.said_kind();
            builder.lost(Loss::MayHoldCalls, format!("a part is {word}, not an object; it is left out"));
            continue;
        };
        let kind = members.get("type").and_then(Node::text).unwrap_or_default();
        let answered = steps.last().is_some_and(|step| step.answered);
        let call = match &*kind {
            "tool-invocation" => {
                let inner = members.get("toolInvocation").and_then(Node::members);
                Some(invocation(&inner.unwrap_or_default()))
            }
            kind if is_tool(kind) => Some(tool(kind, &members)),
            _ => None,
        };
        if kind == "step-start" || call.is_none() && answered && matches!(&*kind, "text" | "file") {
            // Without a mark, text after a result belongs to the next response.
            steps.push(Step::default());
        }
        let Some(step) = steps.last_mut() else { continue };
        match (call, &*kind) {
            (Some(call), _) => step.call(call),
            // Thoughts are not messages; sources and the application's own data are not the model's words.
            (None, "reasoning" | "step-start") => {}
            (None, kind) if kind.starts_with("source") || kind.starts_with("data-") => {}
            (None, kind) => {
                if members.has("toolCallId") || members.has("toolInvocation") {
                    let odd =
                        format!("a part of the type {} may be a call, and is left out as one", quoted(kind));
                    builder.lost(Loss::MayHoldCalls, odd);
                }
                step.spoken.push(*part);
            }
        }
    }
    steps
}

/// `{type: tool-NAME, toolCallId, state, input, output}`.
fn tool<'a>(kind: &str, part: &Members<'a>) -> Call<'a> {
    let state = part.get("state").and_then(Node::text).unwrap_or_default();
    let approval = part.get("approval").and_then(Node::members).unwrap_or_default();
    let denied = approval.get("approved").is_some_and(|approved| approved.bool() != Some(true));
    let result = |content, failed, refused| Some(ToolOutput { content, failed: Some(failed), refused });
    // Preliminary output of a tool is not a result yet.
    let preliminary = part.get("preliminary").is_some_and(|mark| mark.bool() != Some(false));
    let result = match &*state {
        "output-available" if preliminary => None,
        "output-available" => result(part.get("output"), false, None),
        "output-error" => result(part.any(&["errorText", "output"]), true, None),
        "output-denied" => {
            let why = approval.get("reason").or_else(|| part.get("errorText"));
            result(why, false, Some("the part's state is `output-denied`"))
        }
        "approval-responded" if denied => {
            result(approval.get("reason"), false, Some("the approval says `approved: false`"))
        }
        _ => None,
    };
    let named = part.get("toolName").and_then(Node::text);
    let tool = named.unwrap_or_else(|| Cow::Owned(kind.strip_prefix("tool-").unwrap_or_default().to_owned()));
    Call {
        id: part.get("toolCallId").and_then(Node::id),
        tool,
        arguments: part.any(&["input", "rawInput", "args"]),
        result,
    }
}

/// `{state, toolCallId, toolName, args, result}`.
fn invocation<'a>(members: &Members<'a>) -> Call<'a> {
    let text = |key| members.get(key).and_then(Node::id);
    let ended = text("state").is_some_and(|state| state == "result") || members.has("result");
    Call {
        id: text("toolCallId"),
        tool: members.get("toolName").and_then(Node::text).unwrap_or_default(),
        arguments: members.any(&["args", "input"]),
        result: ended.then(|| {
            // A mark that cannot be read must not pass for success.
            let failed = members.get("isError").map(|mark| mark.bool().unwrap_or(true));
            ToolOutput { content: members.get("result"), failed, refused: None }
        }),
    }
}

/// The responses of an older message: its calls by their `step`, and then its text.
fn invoked<'a>(message: &Members<'a>, builder: &mut Builder) -> Vec<Step<'a>> {
    let mut steps: Vec<(Option<&'a str>, Step<'a>)> = Vec::new();
    for item in message.get("toolInvocations").and_then(Node::items).unwrap_or_default() {
        let Some(members) = item.members() else {
            let word = item.said_kind();
            builder.lost(Loss::MayHoldCalls, format!("a call is {word}, not an object; it is left out"));
            continue;
        };
        let number = members.get("step").map(Node::json);
        match steps.last_mut() {
            Some((open, step)) if *open == number => step.call(invocation(&members)),
            _ => {
                let mut step = Step::default();
                step.call(invocation(&members));
                steps.push((number, step));
            }
        }
    }
    let mut steps: Vec<_> = steps.into_iter().map(|(_, step)| step).collect();
    let content = message.get("content").filter(|content| content.json() != "\"\"");
    let answered = steps.last().is_none_or(|step| step.answered);
    match (content, steps.last_mut()) {
        (Some(content), Some(last)) if !answered => last.spoken.push(content),
        (Some(content), _) => steps.push(Step { spoken: vec![content], ..Step::default() }),
        (None, None) => steps.push(Step::default()),
        (None, Some(_)) => {}
    }
    steps
}
