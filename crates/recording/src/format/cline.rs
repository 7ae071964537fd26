//! Conversations of Cline and of the agents made from it, Roo Code and Kilo Code
//! (`tasks/*/api_conversation_history.json`): a list of messages made of blocks.
//!
//! A call is a block `tool_use`, or, if the model has no tools in its API, a tag in its text named after the tool. A
//! result is a block `tool_result`, or text in the user's next message: `[TOOL for '…'] Result:` and what follows.

use std::collections::VecDeque;

use crate::contract::{Format, Sample};
use crate::input::shallow::{Members, Node};
use crate::shape::blocks::{BlockCall, Blocks, Side};
use crate::shape::scribe::Scribe;
use crate::shape::status::Status;
use crate::shape::tags;
use crate::shape::tags::WrittenCall;
use crate::shape::transcript::{self, Conversation};
use rulestep_base::session::{Body, Damage};
use rulestep_base::source::quoted;

pub(crate) const FORMAT: Format = Format {
    name: "cline",
    title: "conversations of Cline, Roo Code and Kilo Code",
    source: "`tasks/*/api_conversation_history.json` in the extension's folder of the editor's `globalStorage`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader: transcript::reader::<Cline>,
};

/// The text after the name of the tool in a message that is a result.
const RESULT: &str = "] Result:";

fn recognise(sample: &Sample<'_>) -> bool {
    let own = |message: &Members<'_>| {
        let texts = message.try_get("content").map(texts).unwrap_or_default();
        message.has("role")
            && message.has("ts")
            && (message.has("modelInfo")
                || texts.iter().any(|text| header(text).is_some() || text.contains("<task>")))
    };
    sample.objects().any(own)
        || sample.lists().any(|list| {
            list.items().unwrap_or_default().into_iter().filter_map(Node::members).any(|m| own(&m))
        })
}

/// The words of a content.
fn texts(content: Node<'_>) -> Vec<String> {
    let content = content.tried();
    let parts = content.items().unwrap_or_else(|| vec![content]);
    let text = |part: Node<'_>| match part.tried().members() {
        Some(part) => part.try_get("text").and_then(Node::text).map(|text| text.into_owned()),
        None => part.tried().text().map(|text| text.into_owned()),
    };
    parts.into_iter().filter_map(text).collect()
}

/// The tool in the header of a result, and the beginning of the result.
fn header(text: &str) -> Option<(&str, &str)> {
    let (head, gave) = text.strip_prefix('[')?.split_once(RESULT)?;
    let tool = head.split([' ', ']']).next().filter(|tool| !tool.is_empty())?;
    tool.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
        .then_some((tool, gave.trim_start()))
}

#[derive(Default)]
struct Cline {
    /// Calls that wait for words that are their result: the name of each, and its id.
    waiting: VecDeque<(Box<str>, Option<Box<str>>)>,
}

impl Conversation for Cline {
    const EXPECTED: &'static str = "not a message";

    fn entries<'a>(_: &Members<'a>) -> Option<Node<'a>> {
        None
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("role")
    }

    fn entry(&mut self, message: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        scribe.at(message, &["ts"]);
        let role = message.get("role").and_then(Node::text).unwrap_or_else(|| {
            scribe.builder.damaged(Damage::calls("a message has no role; it is read as one of the model"));
            "assistant".into()
        });
        if role == "assistant" {
            let mut blocks = Blocks::read(message.get("content"), Side::Model);
            if blocks.calls.is_empty() {
                blocks.calls = written(&message.get("content").map(texts).unwrap_or_default());
            }
            let made = |BlockCall { id, tool, .. }: &BlockCall| (tool.clone(), id.clone());
            self.waiting = blocks.calls.iter().map(made).collect();
            scribe.message(&role, None, blocks);
            return Ok(());
        }
        let found = message.get("content").map(texts).unwrap_or_default();
        let mut results: Vec<(String, Vec<String>)> = Vec::new();
        for text in found {
            match (header(&text), results.last_mut()) {
                (Some((tool, gave)), _) => {
                    let gave = (!gave.is_empty()).then(|| gave.to_owned());
                    results.push((tool.to_owned(), gave.into_iter().collect()));
                }
                // The program's description of the environment ends a result.
                (None, Some((_, gave))) if !text.starts_with("<environment_details>") => gave.push(text),
                (None, _) => {}
            }
        }
        let blocks = Blocks::read(message.get("content"), Side::Other);
        if results.is_empty() || !blocks.answers.is_empty() {
            scribe.message(&role, None, blocks);
            return Ok(());
        }
        for (tool, gave) in results {
            self.result(&tool, &gave.join("\n"), scribe);
        }
        Ok(())
    }
}

/// The calls in the words of a model that is given no other way to make them. They have no ids.
fn written(texts: &[String]) -> Vec<BlockCall> {
    let calls = texts.iter().map(|text| tags::written(text, |_| false)).filter(|written| written.at_end);
    let call = |call: WrittenCall| BlockCall {
        id: None,
        tool: call.tool,
        input: Body::json(&call.arguments.to_string()),
    };
    calls.flat_map(|written| written.calls).map(call).collect()
}

impl Cline {
    fn result(&mut self, tool: &str, gave: &str, scribe: &mut Scribe) {
        let place = self.waiting.iter().position(|(name, _)| **name == *tool);
        let Some((_, id)) = place.and_then(|place| self.waiting.remove(place)) else {
            let tool = quoted(tool);
            let odd = format!(
                "a result of {tool} answers no call that can be read: it may be one in the model's words"
            );
            return scribe.builder.damaged(Damage::calls(odd));
        };
        scribe.result(id.as_deref(), Body::text(gave), ended(gave));
    }
}

/// How a call ended, by these agents' own texts.
fn ended(gave: &str) -> Status {
    const REFUSED: [&str; 3] =
        ["The user denied this operation", "Command execution blocked by ", "{\"status\":\"denied\""];
    const FAILED: [&str; 4] = [
        "The tool execution failed with the following error",
        "Error executing ",
        "Missing value for required parameter",
        "{\"status\":\"error\"",
    ];
    let begins = |texts: &[&str]| texts.iter().any(|text| gave.starts_with(text));
    if begins(&REFUSED) || gave.starts_with("Tool [") && gave.contains("] was not executed because") {
        Status::Refused("the result says that the call was denied")
    } else if begins(&FAILED) {
        Status::Failed
    } else {
        Status::Succeeded
    }
}
