//! Common parts of the messages of chats and of those sent to models.

use std::collections::{HashMap, HashSet};

use crate::input::shallow::{Kind, Node};
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Body, Millis};

/// Facts that messages of a chat give about others: calls that need approval, by the id of the request, those that were refused,
/// and how parts are kept.
#[derive(Default)]
pub struct Approvals {
    pub open: HashMap<Box<str>, Box<str>>,
    pub refused: HashSet<Box<str>>,
    /// Whether the parts of a message are JSON text: those of one chat all are, or none.
    pub written: Option<bool>,
}

/// A message of any speaker: a text, or parts as they are.
pub fn said(role: &str, content: Option<Node<'_>>, at: Option<Millis>, builder: &mut Builder) {
    let parts = content.map(Node::tried).and_then(Node::items);
    let body = match (&parts, content) {
        (Some(parts), _) => spoken(parts),
        (None, Some(content)) => Body::json(content.json()),
        (None, None) => Body::MISSING,
    };
    builder.said(role, body, at);
}

/// Parts as one content: the text of a single one, else the list of them.
pub fn spoken(parts: &[Node<'_>]) -> Body {
    match parts {
        [] => Body::MISSING,
        [one] if one.kind() == Kind::Text => Body::json(one.json()),
        several => match (several, several.first().and_then(|first| plain(*first))) {
            ([_], Some(text)) => Body::json(text.json()),
            _ => {
                let items: Vec<_> = several.iter().map(|part| part.json()).collect();
                Body::json(&format!("[{}]", items.join(", ")))
            }
        },
    }
}

/// The text of a part that is one.
fn plain(part: Node<'_>) -> Option<Node<'_>> {
    let members = part.members()?;
    let is_text = members.get("type")?.text()? == "text";
    members.get("text").filter(|text| is_text && text.kind() == Kind::Text)
}

/// The type of a part.
pub fn kind(part: Node<'_>) -> Option<String> {
    Some(part.members()?.get("type")?.text()?.into_owned())
}
