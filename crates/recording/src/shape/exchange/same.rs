//! Whether two messages are the same, for requests that repeat them.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::input::shallow::{Kind, Node};

/// Hash of a message's role and content, without parts that change from one request to the next (marks for caches, ids
/// of items).
pub fn digest(message: Node<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let Some(members) = message.tried().members() else {
        message.json().hash(&mut hasher);
        return hasher.finish();
    };
    for key in ["type", "role", "name", "call_id", "tool_call_id", "arguments", "output"] {
        members.get(key).map(Node::json).hash(&mut hasher);
    }
    if let Some(calls) = members.get("tool_calls") {
        calls.json().hash(&mut hasher);
    }
    match members.get("content") {
        Some(content) if content.kind() == Kind::List => {
            for block in content.items().unwrap_or_default().into_iter().filter_map(Node::members) {
                for key in ["text", "id", "tool_use_id"] {
                    if let Some(text) = block.get(key).and_then(Node::text) {
                        text.hash(&mut hasher);
                    }
                }
                let inner = block.any(&["toolUse", "toolResult"]).and_then(Node::members);
                if let Some(id) = inner.and_then(|inner| inner.get("toolUseId")?.text()) {
                    id.hash(&mut hasher);
                }
            }
        }
        // A text is what a list of one block with that text is.
        Some(content) => content.text().unwrap_or_default().hash(&mut hasher),
        None => {}
    }
    hasher.finish()
}
