//! Messages, arguments and results as tracing services keep them, which is mostly as LangChain writes them: as plain
//! messages, wrapped as `{type, data}` or `{lc, id, kwargs}`, in batches, as JSON text, or in Python notation.
//!
//! Gives them the one form that [`super::spans`] reads.

use serde_json::{Map, Value, json};

use crate::recording::input::shallow::{Kind, Node};
use crate::recording::shape::spans::attributes::{Attributes, CHOICES};
use crate::recording::shape::{python, status};
use crate::session::Damage;

/// What a tool gave back.
pub struct ToolResult {
    /// The content.
    pub content: Value,
    /// Id of the call.
    pub id: Option<String>,
    /// Its own mark says that it failed.
    pub failed: bool,
}

/// A member's value, be it as JSON text. `None` where there is none, or none that can be read.
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

/// What a model answered.
pub struct Answer {
    /// Its message, or one for each choice.
    pub messages: Vec<Value>,
    /// Each message is a choice of its own. Otherwise several may be parts of one response.
    pub are_choices: bool,
}

/// Adds what a model answered to a span of it. Gives what is wrong where an answer is there and cannot be read.
pub fn add_answer(outputs: &Value, attributes: &mut Attributes) -> Option<Damage> {
    match answered(outputs) {
        Some(Answer { messages, are_choices }) => {
            if are_choices {
                attributes.add(CHOICES, messages.len().to_string());
            }
            attributes.add("gen_ai.output.messages", Value::Array(messages).to_string());
            None
        }
        None => {
            let key = ["generations", "choices", "candidates"]
                .into_iter()
                .find(|key| outputs.get(key).is_some_and(|answers| !answers.is_null()))?;
            Some(Damage::calls(format!("`{key}` holds no answer that can be read; it is left out")))
        }
    }
}

/// The messages that a model answered.
pub fn answered(outputs: &Value) -> Option<Answer> {
    let list = |value: &Value| value.as_array().filter(|items| !items.is_empty()).cloned();
    let one = |found: Value| Answer { messages: vec![found], are_choices: false };
    let mut answer = match outputs {
        Value::Object(members) => {
            if let Some(generations) = members.get("generations") {
                let batch = list(generations)?;
                let prompts: Vec<_> = batch.iter().filter(|prompt| prompt.is_array()).collect();
                // What other prompts of a batch were answered is kept as well, as parts of the response.
                let are_choices = prompts.len() < 2;
                let generations =
                    batch.iter().flat_map(|item| list(item).unwrap_or_else(|| vec![item.clone()]));
                let message = |one: Value| one.get("message").or_else(|| one.get("text")).cloned();
                Answer { messages: generations.map(message).collect::<Option<_>>()?, are_choices }
            } else if let Some(choices) = members.get("choices") {
                let message = |choice: Value| {
                    let mut message = choice.get("message").cloned();
                    if let (Some(Value::Object(message)), Some(reason)) =
                        (&mut message, choice.get("finish_reason"))
                    {
                        message.entry("finish_reason").or_insert_with(|| reason.clone());
                    }
                    message
                };
                Answer {
                    messages: list(choices)?.into_iter().map(message).collect::<Option<_>>()?,
                    are_choices: true,
                }
            } else if let Some(candidates) = members.get("candidates") {
                let message = |candidate: Value| candidate.get("content").cloned();
                Answer {
                    messages: list(candidates)?.into_iter().map(message).collect::<Option<_>>()?,
                    are_choices: true,
                }
            } else if is_message(members) {
                one(outputs.clone())
            } else if let Some(Value::Array(messages)) = members.get("messages") {
                one(messages.last()?.clone())
            } else {
                one(any(members, &["message", "output", "text", "completion"])?.clone())
            }
        }
        Value::Array(list) if list.iter().any(is_item) => {
            one(json!({"role": "assistant", "content": parts(list)}))
        }
        // Several messages of the model and nothing between them are its choices, or parts of what it said.
        Value::Array(messages) if messages.iter().all(is_the_models) => {
            Answer { messages: messages.clone(), are_choices: false }
        }
        Value::Array(messages) => one(messages.last()?.clone()),
        Value::String(_) => one(outputs.clone()),
        _ => return None,
    };
    answer.are_choices &= answer.messages.len() > 1;
    for made in &mut answer.messages {
        *made = match &*made {
            // Items of an answer rather than a message.
            Value::Array(items) => json!({"role": "assistant", "content": items}),
            found => message(found),
        };
    }
    Some(answer).filter(|answer| !answer.messages.is_empty())
}

fn is_the_models(value: &Value) -> bool {
    message(value).get("role").is_some_and(|role| role == "assistant")
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

fn is_message(members: &Map<String, Value>) -> bool {
    let kind = members.get("type").and_then(Value::as_str).unwrap_or_default();
    members.contains_key("role")
        || members.contains_key("kwargs")
        || role(kind).is_some() && (members.contains_key("content") || members.contains_key("data"))
}

/// Whether it is an item of the Responses API.
fn is_item(item: &Value) -> bool {
    let kind = item.get("type").and_then(Value::as_str);
    matches!(kind, Some("function_call" | "reasoning"))
        || kind == Some("message") && item.get("content").is_some_and(Value::is_array)
}

/// The items of one response as the parts of one message.
fn parts(items: &[Value]) -> Value {
    let mut parts = Vec::new();
    for item in items {
        match (item.get("type").and_then(Value::as_str), item.get("content"), item) {
            (Some("message"), Some(Value::Array(content)), _) => parts.extend(content.iter().cloned()),
            // Its own id is not that of the call.
            (Some("function_call"), _, Value::Object(call)) => {
                let mut call = call.clone();
                if call.contains_key("call_id") {
                    call.remove("id");
                }
                parts.push(Value::Object(call));
            }
            _ => parts.push(item.clone()),
        }
    }
    Value::Array(parts)
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
    // Calls whose arguments are not JSON are kept apart.
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
    // The same calls stand among the parts of the content.
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

/// The role that a name stands for.
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

/// What a JSON text is; any other value is itself.
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

/// Looks at the calls in what a model answered, so that a wrong type is noticed: what reads them takes values apart that
/// note no looks.
pub fn look(answer: Option<Node<'_>>) {
    within(answer, DEEPEST);
}

/// Levels at which calls are in what models answer.
const DEEPEST: u8 = 10;
/// Names of what they stand within.
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
                // A function may be its name alone, with the arguments beside it.
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
    fn answers_in_every_wrapping() {
        for outputs in [
            json!({"generations": [[{"text": "x", "message": {"role": "assistant", "content": "x"}}]]}),
            json!({"generations": [{"message": {"role": "assistant", "content": "x"}}]}),
            json!({"choices": [{"message": {"role": "assistant", "content": "x"}}]}),
            json!({"messages": [{"role": "user"}, {"role": "assistant", "content": "x"}]}),
            json!({"role": "assistant", "content": "x"}),
            json!({"output": {"role": "assistant", "content": "x"}}),
        ] {
            let answer = answered(&outputs).unwrap();
            assert_eq!(answer.messages, [json!({"role": "assistant", "content": "x"})], "{outputs}");
            assert!(!answer.are_choices);
        }
        assert_eq!(answered(&json!({"generations": [[{"text": "x"}]]})).unwrap().messages, ["x"]);
        assert!(answered(&json!({"other": 1})).is_none());
        let items = json!([
            {"type": "reasoning", "summary": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"},
        ]);
        let made = &answered(&items).unwrap().messages[0]["content"];
        assert_eq!(
            (&made[1]["text"], &made[2]["call_id"], made[2].get("id")),
            (&json!("x"), &json!("c1"), None)
        );
    }

    #[test]
    fn several_answers_are_choices_unless_they_may_be_parts() {
        let says = |text: &str| json!({"role": "assistant", "content": text});
        let generation = |text: &str| json!({"text": text, "message": says(text)});
        for (outputs, are_choices) in [
            (json!({"generations": [[generation("a"), generation("b")]]}), true),
            (json!({"generations": [generation("a"), generation("b")]}), true),
            (json!({"generations": [[generation("a")], [generation("b")]]}), false),
            (json!({"choices": [{"message": says("a")}, {"message": says("b")}]}), true),
            (json!({"candidates": [{"content": says("a")}, {"content": says("b")}]}), true),
            (json!([says("a"), says("b")]), false),
        ] {
            let answer = answered(&outputs).unwrap();
            assert_eq!(
                (answer.messages, answer.are_choices),
                (vec![says("a"), says("b")], are_choices),
                "{outputs}"
            );
        }
        for unread in [json!({"generations": []}), json!({"choices": [{"message": says("a")}, 7]})] {
            assert!(add_answer(&unread, &mut Attributes::default()).is_some(), "{unread}");
        }
        assert!(add_answer(&json!({"llm_output": null}), &mut Attributes::default()).is_none());
    }

    #[test]
    fn calls_that_stand_twice_are_one() {
        let message = json!({"role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "tool_use", "id": "c"}],
            "tool_calls": [], "additional_kwargs": {"tool_calls": [{"id": "c"}]}});
        let made = &answered(&message).unwrap().messages[0];
        assert_eq!(made["content"], json!([{"type": "text", "text": "x"}]));
        assert_eq!(made["tool_calls"], json!([{"id": "c"}]));
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
