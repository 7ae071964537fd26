//! Parts of Gemini's messages: what is said, what a call gave, and refusals.

use std::borrow::Cow;

use crate::recording::input::shallow::Node;
use crate::session::Body;

/// How a result tells that a policy of the program denied the call.
pub fn denied(content: &Body) -> Option<&'static str> {
    let denied = content.shown().starts_with("Tool execution denied by policy");
    denied.then_some("the result says that a policy denied the call")
}

/// What is said: a text, or parts of which the texts are joined.
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

/// What came of a call: its `output` or `error`, where there is nothing else.
pub fn output(response: Node<'_>) -> Body {
    let response = response.tried();
    let only = response.members().filter(|members| members.names().count() == 1);
    let inner = only.and_then(|members| members.any(&["output", "error"]));
    Body::json(inner.unwrap_or(response).json())
}
