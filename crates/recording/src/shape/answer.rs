//! The answer of a model, in whatever form an interface, a framework or a tracing service keeps it: as a message, as
//! choices, generations or candidates, as items or blocks, and inside wrappers.
//!
//! Returns messages in the plain form, which [`super::spans`] reads. It is the only place that knows how answers are
//! wrapped.

use serde_json::{Map, Value, json};

use crate::input::calls;
use crate::input::shallow::Node;
use crate::shape::langchain::{is_message, message};
use crate::shape::spans::attributes::{Attributes, CHOICES};
use crate::shape::suspicion;
use rulestep_base::session::Damage;

/// The answer of a model.
pub struct Answer {
    /// Its message, or one for each choice.
    pub messages: Vec<Value>,
    /// Whether each message is a choice of its own. Otherwise several may be parts of one response.
    pub are_choices: bool,
}

/// Keys of wrappers of an answer, in the order in which they are tried.
const WRAPPING: [&str; 9] =
    ["message", "output", "response", "result", "outputs", "body", "data", "text", "completion"];
/// Members that only a message of a model has, if it names no role.
const OWN: [&str; 5] = ["tool_calls", "toolCalls", "function_call", "parts", "blocks"];
/// Wrappings within each other that are opened.
const DEEPEST: u8 = 6;

/// Adds the answer of a model to its span. Returns damage if there is an answer that cannot be read.
pub fn add(outputs: &Value, attributes: &mut Attributes) -> Option<Damage> {
    let Some(Answer { messages, are_choices }) = read(outputs) else {
        let key = ["generations", "choices", "candidates"]
            .into_iter()
            .find(|key| outputs.get(key).is_some_and(|answers| !answers.is_null()));
        let unread = |key| Damage::calls(format!("`{key}` holds no answer that can be read; it is left out"));
        return key
            .map(unread)
            .or_else(|| may_call(outputs).then(|| suspicion::lost("the answer of a model")));
    };
    if are_choices {
        attributes.add(CHOICES, messages.len().to_string());
    }
    attributes.add("gen_ai.output.messages", Value::Array(messages).to_string());
    None
}

/// The messages that a model answered.
pub fn read(answer: &Value) -> Option<Answer> {
    let mut answer = unwrapped(answer, DEEPEST)?;
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

/// Whether the model's own part of an answer has something like a call: a state may repeat the whole conversation.
pub fn may_call(answer: &Value) -> bool {
    let looks = |value: &Value| Node::parse(&value.to_string()).is_ok_and(calls::are_structured_in);
    match read(answer) {
        Some(Answer { messages, .. }) => messages.iter().any(looks),
        None => looks(answer),
    }
}

/// Whether an item of a list of answers is a whole answer, and not a part of one.
pub fn is_whole(item: &Value) -> bool {
    !is_item(item) && !is_part(item)
}

fn unwrapped(answer: &Value, levels: u8) -> Option<Answer> {
    let levels = levels.checked_sub(1)?;
    let one = |found: Value| Some(Answer { messages: vec![found], are_choices: false });
    match answer {
        Value::Object(members) => {
            if let Some(generations) = members.get("generations") {
                let batch = list(generations)?;
                let prompts: Vec<_> = batch.iter().filter(|prompt| prompt.is_array()).collect();
                // Answers to other prompts of a batch are kept as well, as parts of the response.
                let are_choices = prompts.len() < 2;
                let generations =
                    batch.iter().flat_map(|item| list(item).unwrap_or_else(|| vec![item.clone()]));
                let message = |one: Value| one.get("message").or_else(|| one.get("text")).cloned();
                Some(Answer { messages: generations.map(message).collect::<Option<_>>()?, are_choices })
            } else if let Some(choices) = members.get("choices") {
                let message =
                    |choice: Value| Some(reasoned(choice.get("message")?.clone(), choice.as_object()?));
                let messages = list(choices)?.into_iter().map(message).collect::<Option<_>>()?;
                Some(Answer { messages, are_choices: true })
            } else if let Some(candidates) = members.get("candidates") {
                let message = |candidate: Value| candidate.get("content").cloned();
                let messages = list(candidates)?.into_iter().map(message).collect::<Option<_>>()?;
                Some(Answer { messages, are_choices: true })
            } else if is_message(members)
                || OWN.iter().any(|key| members.get(*key).is_some_and(|own| !own.is_null()))
            {
                one(answer.clone())
            } else if is_part(answer) {
                one(json!({"role": "assistant", "content": parts(std::slice::from_ref(answer))}))
            } else if let Some(Value::Array(messages)) = members.get("messages") {
                one(messages.last()?.clone())
            } else {
                let inner =
                    WRAPPING.iter().find_map(|key| members.get(*key).filter(|value| !value.is_null()))?;
                let mut answer = match inner {
                    Value::Object(_) | Value::Array(_) => unwrapped(inner, levels)?,
                    inner => return one(inner.clone()),
                };
                if let [only] = answer.messages.as_mut_slice() {
                    *only = reasoned(only.take(), members);
                }
                Some(answer)
            }
        }
        Value::Array(list) if list.iter().any(is_item) || !list.is_empty() && list.iter().all(is_part) => {
            one(json!({"role": "assistant", "content": parts(list)}))
        }
        // Several messages of the model and nothing between them are its choices, or parts of what it said.
        Value::Array(messages) if messages.iter().all(is_the_models) => {
            Some(Answer { messages: messages.clone(), are_choices: false })
        }
        Value::Array(messages) => match messages.last()? {
            Value::Object(last) if !is_message(last) => unwrapped(messages.last()?, levels),
            last => one(last.clone()),
        },
        Value::String(_) => one(answer.clone()),
        _ => None,
    }
}

fn list(value: &Value) -> Option<Vec<Value>> {
    value.as_array().filter(|items| !items.is_empty()).cloned()
}

/// A message with the reason for which the model stopped, where only what wraps it has that.
fn reasoned(mut message: Value, around: &Map<String, Value>) -> Value {
    let reason = ["finish_reason", "finishReason"].iter().find_map(|key| around.get(*key));
    if let (Value::Object(message), Some(reason)) = (&mut message, reason) {
        message.entry("finish_reason").or_insert_with(|| reason.clone());
    }
    message
}

fn is_the_models(value: &Value) -> bool {
    message(value).get("role").is_some_and(|role| role == "assistant")
}

/// Whether it is an item of the Responses API.
fn is_item(item: &Value) -> bool {
    let kind = item.get("type").and_then(Value::as_str);
    matches!(kind, Some("function_call" | "reasoning"))
        || kind == Some("message") && item.get("content").is_some_and(Value::is_array)
}

/// Whether it is a part of a message, and not a message.
fn is_part(part: &Value) -> bool {
    let Some(members) = part.as_object().filter(|part| !part.contains_key("role")) else { return false };
    let kind = ["type", "part_kind", "block_type"].iter().find_map(|key| members.get(*key)?.as_str());
    let keyed = ["functionCall", "toolUse", "function_call"].iter().any(|key| members.contains_key(*key));
    let known =
        |kind: &str| matches!(kind, "text" | "thinking" | "output_text") || calls::speaks_of_one(kind);
    keyed || kind.is_some_and(known) || members.len() == 1 && members.contains_key("text")
}

/// The items of one response as the parts of one message.
fn parts(items: &[Value]) -> Value {
    let mut parts = Vec::new();
    for item in items {
        match (item.get("type").and_then(Value::as_str), item.get("content")) {
            (Some("message"), Some(Value::Array(content))) => parts.extend(content.iter().cloned()),
            _ => parts.push(item.clone()),
        }
    }
    Value::Array(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let answer = read(&outputs).unwrap();
            assert_eq!(answer.messages, [json!({"role": "assistant", "content": "x"})], "{outputs}");
            assert!(!answer.are_choices);
        }
        assert_eq!(read(&json!({"generations": [[{"text": "x"}]]})).unwrap().messages, ["x"]);
        assert!(read(&json!({"other": 1})).is_none());
        let items = json!([
            {"type": "reasoning", "summary": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"},
        ]);
        let made = &read(&items).unwrap().messages[0]["content"];
        assert_eq!((&made[1]["text"], &made[2]["call_id"]), (&json!("x"), &json!("c1")));
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
            let answer = read(&outputs).unwrap();
            assert_eq!(
                (answer.messages, answer.are_choices),
                (vec![says("a"), says("b")], are_choices),
                "{outputs}"
            );
        }
        for unread in [json!({"generations": []}), json!({"choices": [{"message": says("a")}, 7]})] {
            assert!(add(&unread, &mut Attributes::default()).is_some(), "{unread}");
        }
        assert!(add(&json!({"llm_output": null}), &mut Attributes::default()).is_none());
    }

    #[test]
    fn calls_that_stand_twice_are_one() {
        let message = json!({"role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "tool_use", "id": "c"}],
            "tool_calls": [], "additional_kwargs": {"tool_calls": [{"id": "c"}]}});
        let made = &read(&message).unwrap().messages[0];
        assert_eq!(made["content"], json!([{"type": "text", "text": "x"}]));
        assert_eq!(made["tool_calls"], json!([{"id": "c"}]));
    }
}
