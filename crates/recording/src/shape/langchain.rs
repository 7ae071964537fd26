//! Messages, arguments and results as tracing services keep them, which is mostly as LangChain writes them: as plain
//! messages, wrapped as `{type, data}` or `{lc, id, kwargs}`, in batches, as JSON text, or in Python notation.
//!
//! Converts them to the one form that [`super::spans`] reads.

use serde_json::{Map, Value};

use crate::input::shallow::{Kind, Node};
use crate::shape::{python, status};

/// The result of a tool.
pub struct ToolResult {
    /// The content.
    pub content: Value,
    /// Id of the call.
    pub id: Option<String>,
    /// Whether its own mark says that it failed.
    pub failed: bool,
}

/// A member's value, even if it is JSON text. `None` if it is absent or unreadable.
pub fn value(node: Option<Node<'_>>) -> Option<Value> {
    let node = node?;
    match node.kind() {
        Kind::Text => Some(opened(Value::String(node.text()?.into_owned()))),
        _ => node.value(),
    }
}

/// The messages that a model was sent.
pub fn sent(inputs: &Value) -> Option<Value> {
    let list = match inputs {
        Value::Object(members) => any(members, &["messages", "input", "prompts", "prompt"])?,
        other => other,
    };
    let messages = match list {
        Value::Array(items) => match items.first() {
            // A batch of one.
            Some(Value::Array(first)) => first.iter().map(message).collect(),
            _ => items.iter().map(message).collect(),
        },
        one @ (Value::Object(_) | Value::String(_)) => vec![message(one)],
        _ => return None,
    };
    Some(Value::Array(messages))
}

/// The arguments of a call: its inputs, or the object that is all there is in them.
pub fn arguments(inputs: Value) -> Value {
    let inner = match &inputs {
        Value::Object(members) if members.len() == 1 => members.get("input").cloned(),
        _ => None,
    };
    let read = match opened(inner.unwrap_or_else(|| inputs.clone())) {
        Value::String(text) => {
            let literal = text.trim_start().starts_with('{').then(|| python::to_json(&text)).flatten();
            literal.and_then(|json| Node::parse(&json).ok().and_then(Node::value))
        }
        // A call as the model proposed it.
        Value::Object(call) if call.get("type").is_some_and(|kind| kind == "tool_call") => {
            Some(call.get("args").cloned().unwrap_or(Value::Object(call)))
        }
        other => Some(other),
    };
    read.filter(Value::is_object).unwrap_or(inputs)
}

/// The result of a call: its outputs, or the message that is wrapped in them.
pub fn given(outputs: Value) -> ToolResult {
    let inner = match &outputs {
        Value::Object(members) if members.len() == 1 => any(members, &["output", "result"]).cloned(),
        _ => None,
    };
    let result = opened(inner.unwrap_or(outputs));
    let made = match &result {
        Value::Object(members) if is_message(members) => message(&result),
        _ => return ToolResult { content: result, id: None, failed: false },
    };
    if made.get("role").is_none_or(|role| role != "tool") {
        return ToolResult { content: result, id: None, failed: false };
    }
    ToolResult {
        content: made.get("content").cloned().unwrap_or_default(),
        id: made.get("tool_call_id").and_then(Value::as_str).map(str::to_owned),
        failed: made.get("status").and_then(Value::as_str).is_some_and(|word| status::failed(word).is_some()),
    }
}

/// Whether it is a message, in whatever wrapping.
pub fn is_message(members: &Map<String, Value>) -> bool {
    let kind = members.get("type").and_then(Value::as_str).unwrap_or_default();
    members.contains_key("role")
        || members.contains_key("kwargs")
        || role(kind).is_some() && (members.contains_key("content") || members.contains_key("data"))
}

/// A message in the plain form: `{role, content, tool_calls, tool_call_id}`.
pub fn message(value: &Value) -> Value {
    let Value::Object(outer) = value else { return value.clone() };
    let wrapped = outer.get("kwargs").or_else(|| outer.get("data")).and_then(Value::as_object);
    let inner = wrapped.unwrap_or(outer);
    let text =
        |members: &Map<String, Value>, key| members.get(key).and_then(Value::as_str).map(str::to_owned);
    let class = match outer.get("id") {
        Some(Value::Array(path)) => path.last().and_then(Value::as_str),
        _ => None,
    };
    let known = [text(inner, "role"), text(inner, "type"), text(outer, "type"), class.map(str::to_owned)];
    let known = known.into_iter().flatten().find_map(|name| role(&name).map(str::to_owned));
    let said = known.or_else(|| text(inner, "role"));
    let mut made = inner.clone();
    if let Some(said) = said {
        made.insert("role".to_owned(), Value::String(said));
    }
    let is_empty = |calls: Option<&Value>| calls.and_then(Value::as_array).is_none_or(Vec::is_empty);
    if is_empty(made.get("tool_calls"))
        && let Some(calls) = made.get("additional_kwargs").and_then(|more| more.get("tool_calls")).cloned()
    {
        made.insert("tool_calls".to_owned(), calls);
    }
    // Calls whose arguments are not JSON are listed separately.
    if let Some(Value::Array(invalid)) = made.remove("invalid_tool_calls") {
        let calls = made.entry("tool_calls").or_insert(Value::Null);
        if calls.is_null() {
            *calls = Value::Array(Vec::new());
        }
        for call in invalid {
            let same = |other: &Value| other.get("id").is_some_and(|id| Some(id) == call.get("id"));
            if let Value::Array(calls) = calls
                && !calls.iter().any(same)
            {
                calls.push(call);
            }
        }
    }
    // The same calls are among the parts of the content.
    let listed = made.get("tool_calls").and_then(Value::as_array).cloned().unwrap_or_default();
    if !listed.is_empty()
        && let Some(Value::Array(parts)) = made.get_mut("content")
    {
        parts.retain(|part| {
            let is_call = part.get("type").is_some_and(|kind| kind == "tool_use" || kind == "function_call");
            let id = part.get("call_id").or_else(|| part.get("id"));
            !is_call || id.is_some() && !listed.iter().any(|call| call.get("id") == id)
        });
    }
    Value::Object(made)
}

/// The role of a name.
pub fn role(name: &str) -> Option<&'static str> {
    let name = name.strip_suffix("MessageChunk").or_else(|| name.strip_suffix("Message")).unwrap_or(name);
    match name {
        "human" | "Human" | "user" => Some("user"),
        "ai" | "AI" | "assistant" | "model" => Some("assistant"),
        "system" | "System" => Some("system"),
        "tool" | "Tool" | "function" | "Function" => Some("tool"),
        "developer" => Some("developer"),
        _ => None,
    }
}

/// The value of JSON text; any other value as it is.
fn opened(value: Value) -> Value {
    let inner = match &value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            Node::parse(text.trim()).ok().and_then(Node::value)
        }
        _ => None,
    };
    inner.unwrap_or(value)
}

fn any<'a>(members: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| members.get(*key).filter(|value| !value.is_null()))
}

/// Looks into the calls of a model's answer, so that wrong types are noticed: the code that reads them takes values
/// apart without recording accesses.
pub fn look(answer: Option<Node<'_>>) {
    within(answer, DEEPEST);
}

/// Levels at which calls are in what models answer.
const DEEPEST: u8 = 10;
/// Names of members around them.
const AROUND: [&str; 8] =
    ["generations", "message", "messages", "kwargs", "output", "choices", "data", "additional_kwargs"];

fn within(node: Option<Node<'_>>, levels: u8) {
    let (Some(node), Some(levels)) = (node, levels.checked_sub(1)) else { return };
    match node.kind() {
        Kind::List => node.items().into_iter().flatten().for_each(|item| within(Some(item), levels)),
        Kind::Object => {
            let Some(members) = node.members() else { return };
            AROUND.iter().for_each(|key| within(members.get(key), levels));
            for call in members.get("tool_calls").and_then(Node::objects).unwrap_or_default() {
                // A function may be only a name, with the arguments beside it.
                let beside = call.any(&["arguments", "args", "input"]).is_some();
                let function =
                    call.get("function").filter(|function| !beside || function.kind() != Kind::Text);
                let inner = function.map_or(Some(call), Node::members);
                let _ = inner.and_then(|inner| inner.get("name")?.text());
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_in_every_wrapping() {
        let plain = json!([{"role": "user", "content": "x"}]);
        for inputs in [
            json!({"messages": [{"role": "user", "content": "x"}]}),
            json!({"messages": [[{"role": "user", "content": "x"}]]}),
            json!({"input": {"role": "user", "content": "x"}}),
        ] {
            assert_eq!(sent(&inputs), Some(plain.clone()), "{inputs}");
        }
        let role_of = |value: Value| sent(&json!([value])).unwrap()[0]["role"].clone();
        assert_eq!(role_of(json!({"type": "human", "data": {"content": "x"}})), "user");
        assert_eq!(
            role_of(json!({"lc": 1, "id": ["a", "AIMessageChunk"], "kwargs": {"content": "x"}})),
            "assistant"
        );
        assert_eq!(
            role_of(json!({"lc": 1, "id": ["a", "ToolMessage"], "kwargs": {"content": "x", "type": "tool"}})),
            "tool"
        );
        assert_eq!(sent(&json!({"prompts": ["x"]})), Some(json!(["x"])));
        assert_eq!(sent(&json!(7)), None);
    }

    #[test]
    fn arguments_and_results_are_unwrapped() {
        for (inputs, expected) in [
            (json!({"input": "{'a': True}"}), json!({"a": true})),
            (json!({"input": "{\"a\": 1}"}), json!({"a": 1})),
            (json!({"input": "plain"}), json!({"input": "plain"})),
            (json!("plain"), json!("plain")),
            (json!({"a": 1, "input": 2}), json!({"a": 1, "input": 2})),
            (json!({"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}), json!({"a": 1})),
        ] {
            assert_eq!(arguments(inputs.clone()), expected, "{inputs}");
        }
        let message =
            json!({"output": {"type": "tool", "content": "no", "tool_call_id": "c", "status": "error"}});
        let ToolResult { content, id, failed } = given(message);
        assert_eq!((content, id.as_deref(), failed), (json!("no"), Some("c"), true));
        assert_eq!(given(json!({"output": {"n": 1}})).content, json!({"n": 1}));
    }
}
