//! Parts of Gemini's messages: text, calls and their results, and refusals.

use std::borrow::Cow;

use crate::input::shallow::{Members, Node};
use crate::shape::suspicion;
use rulestep_base::session::{Body, Damage};

/// A part of a message.
pub enum Part<'a> {
    /// A call.
    Call(Members<'a>),
    /// The result of a call.
    Result(Members<'a>),
    /// A thought of the model.
    Thought,
    /// A text; with the problem if it may be a call.
    Said(Option<Damage>),
}

/// Keys of calls and results in a part: as the API spells them, and as its Python packages do.
const CALL: [&str; 2] = ["functionCall", "function_call"];
const RESULT: [&str; 2] = ["functionResponse", "function_response"];

/// The kind of a part.
pub fn part<'a>(part: &Members<'a>) -> Part<'a> {
    let inner = |keys| part.any(keys).and_then(Node::members);
    match (inner(&CALL), inner(&RESULT)) {
        (Some(call), _) => Part::Call(call),
        (_, Some(result)) => Part::Result(result),
        _ if part.get("thought").and_then(Node::bool) == Some(true) => Part::Thought,
        _ => {
            let of_calls = || suspicion::unread(part, &[]).or_else(|| code(part));
            // Nearly all are words alone.
            let unread = if part.has("text") && part.names().count() == 1 { None } else { of_calls() };
            Part::Said(unread.map(|what| suspicion::lost(&what)))
        }
    }
}

/// Code that the model wrote, and that its provider ran.
fn code(part: &Members<'_>) -> Option<String> {
    part.any(&["executableCode", "executable_code"]).map(|_| "code that was executed".to_owned())
}

/// Whether a part of this list is a call or a result.
pub fn has_functions(list: Node<'_>) -> bool {
    let mut parts = list.items().unwrap_or_default().into_iter().filter_map(Node::members);
    parts.any(|part| part.any(&CALL).is_some() || part.any(&RESULT).is_some())
}

/// How a failed result shows that its call did not run: a policy of the program or a hook denied it, or the program
/// could not make it. A tool of a server cannot claim so, because the program puts its own words before such a tool's
/// error.
pub fn denied(content: &Body, tool: &str) -> Option<&'static str> {
    let text = content.shown();
    let begins = |begins: &[&str]| begins.iter().any(|begins| text.starts_with(begins));
    let unknown = || text.strip_prefix("Tool \"").and_then(|rest| rest.strip_prefix(tool));
    if begins(&["Tool execution denied by policy"]) {
        Some("the result says that a policy denied the call")
    } else if begins(&["Tool execution blocked: "]) {
        Some("the result says that a hook blocked the call")
    } else if begins(&["Path not in workspace: ", "params must ", "params/"])
        || unknown().is_some_and(|rest| rest.starts_with("\" not found"))
    {
        Some("the agent rejected the call before it ran")
    } else {
        None
    }
}

/// The text of a message: a text, or parts whose texts are joined.
pub fn said(content: Node<'_>) -> Body {
    let texts = content.items().and_then(|parts| parts.into_iter().map(plain).collect::<Option<Vec<_>>>());
    match texts {
        Some(texts) => Body::text(texts.join("\n")),
        None => Body::json(content.json()),
    }
}

/// The text of a part that is nothing else.
fn plain(part: Node<'_>) -> Option<Cow<'_, str>> {
    part.members().filter(|part| part.names().count() == 1)?.get("text")?.text()
}

/// The result of a call: its `output` or `error`, if there is nothing else.
pub fn output(response: Node<'_>) -> Body {
    let response = response.tried();
    let only = response.members().filter(|members| members.names().count() == 1);
    let inner = only.and_then(|members| members.any(&["output", "error"]));
    Body::json(inner.unwrap_or(response).json())
}
