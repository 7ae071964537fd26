//! Calls that a model writes into its text if it has no other way: `<function=…>`, `<tool_call>` with JSON, `<invoke
//! …>`, and tags that are named after the tools (Cline, Roo Code).
//!
//! A text may also quote or explain such calls. Only a call that begins a line, is outside fenced blocks and is
//! complete counts.

use serde_json::{Map, Value};

use crate::input::calls;
use crate::input::shallow::Node;
use crate::shape::python;
use rulestep_base::session::body;

/// A call that is written in a text.
#[derive(Debug, PartialEq)]
pub struct WrittenCall {
    /// The tool's name.
    pub tool: Box<str>,
    /// Its arguments: an object. The content of tags is text.
    pub arguments: Value,
}

/// The calls of a text.
#[derive(Debug, Default, PartialEq)]
pub struct Written<'a> {
    /// In order.
    pub calls: Vec<WrittenCall>,
    /// Whether nothing follows them: the model stopped to have them run.
    pub at_end: bool,
    /// The beginning of the first of them.
    pub opener: Option<&'a str>,
}

/// Tools of the agents that name their tags after tools, Cline and Roo Code.
const TAGS: &[&str] = &[
    "access_mcp_resource",
    "apply_diff",
    "ask_followup_question",
    "attempt_completion",
    "browser_action",
    "execute_command",
    "insert_content",
    "list_code_definition_names",
    "list_files",
    "new_task",
    "read_file",
    "replace_in_file",
    "search_files",
    "switch_mode",
    "use_mcp_tool",
    "write_to_file",
];

/// The calls in a text. Tags may also be named after the tools that `is_tool` knows.
pub fn written<'a>(text: &'a str, is_tool: impl Fn(&str) -> bool) -> Written<'a> {
    let mut written = Written::default();
    if !text.contains('<') {
        return written;
    }
    let (mut rest, mut fenced) = (text, false);
    while !rest.is_empty() {
        let line = rest.split_inclusive('\n').next().unwrap_or(rest);
        let begins = rest.trim_start_matches([' ', '\t']);
        if begins.starts_with("```") {
            fenced = !fenced;
        } else if !fenced && let Some(after) = block(begins, &is_tool, &mut written.calls) {
            written.opener =
                written.opener.or_else(|| begins.find(['=', ' ', '>']).and_then(|end| begins.get(..=end)));
            (rest, written.at_end) = (after, true);
            continue;
        }
        written.at_end &= line.trim().is_empty();
        rest = rest.get(line.len()..).unwrap_or_default();
    }
    written
}

/// Reads the calls that a text begins with; returns the rest.
fn block<'a>(text: &'a str, is_tool: &dyn Fn(&str) -> bool, calls: &mut Vec<WrittenCall>) -> Option<&'a str> {
    if !text.starts_with('<') {
        return None;
    }
    let (call, rest) = if let Some(inner) = text.strip_prefix("<tool_call>") {
        let inner = inner.trim_start();
        let (call, rest) = if inner.starts_with('{') { json(inner)? } else { tagged(inner, is_tool)? };
        (call, closed(rest, "</tool_call>")?)
    } else if let Some(mut inner) = text.strip_prefix("<function_calls>") {
        let mut several = Vec::new();
        while let Some((call, rest)) = tagged(inner.trim_start(), is_tool) {
            several.push(call);
            inner = rest;
        }
        let rest = closed(inner, "</function_calls>").filter(|_| !several.is_empty())?;
        calls.append(&mut several);
        return Some(rest);
    } else {
        tagged(text, is_tool)?
    };
    calls.push(call);
    Some(rest)
}

/// The text after the closing tag, which a model need not write if it stops there.
fn closed<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let text = text.trim_start();
    if text.is_empty() { Some(text) } else { text.strip_prefix(tag) }
}

/// A call as an object, up to where its tag is closed.
fn json(text: &str) -> Option<(WrittenCall, &str)> {
    let end = text.find("</tool_call>").unwrap_or(text.len());
    let (inside, rest) = text.split_at_checked(end)?;
    Some((named(notation(inside)?)?, rest))
}

/// The model's arguments, in JSON or in Python notation.
pub fn notation(text: &str) -> Option<Value> {
    let text = text.trim();
    body::parse(text).or_else(|| body::parse(&python::to_json(text)?))
}

/// The call that an object is: `{"name": …, "arguments": …}`, the arguments also as text.
pub fn named(call: Value) -> Option<WrittenCall> {
    let Value::Object(mut call) = call else { return None };
    let tool = call.get("name")?.as_str().filter(|name| !name.is_empty())?.into();
    let given = ["arguments", "parameters", "args"].into_iter().find_map(|key| call.remove(key));
    let arguments = match given.unwrap_or_else(|| Value::Object(Map::new())) {
        Value::String(text) => notation(&text)?,
        given => given,
    };
    Some(WrittenCall { tool, arguments })
}

/// A call whose tool and arguments are tags.
fn tagged<'a>(text: &'a str, is_tool: &dyn Fn(&str) -> bool) -> Option<(WrittenCall, &'a str)> {
    let (tag, inside) = text.strip_prefix('<')?.split_once('>')?;
    let (tool, parameter, close) = if let Some(tool) = tag.strip_prefix("function=") {
        (tool, Some("parameter="), "</function>".to_owned())
    } else if let Some(tool) = tag.strip_prefix("invoke name=") {
        (tool, Some("parameter name="), "</invoke>".to_owned())
    } else if TAGS.contains(&tag) || is_name(tag) && is_tool(tag) {
        (tag, None, format!("</{tag}>"))
    } else {
        return None;
    };
    let mut arguments = Map::new();
    let mut rest = inside.trim_start();
    loop {
        if let Some(after) = closed(rest, &close) {
            let tool = tool.trim().trim_matches(['"', '\'']);
            let call = WrittenCall { tool: tool.into(), arguments: Value::Object(arguments) };
            return Some((call, after)).filter(|_| !tool.is_empty());
        }
        let (tag, inside) = rest.strip_prefix('<')?.split_once('>')?;
        let (name, end) = match parameter {
            Some(parameter) => (tag.strip_prefix(parameter)?.trim(), "</parameter>".to_owned()),
            None => (Some(tag).filter(|tag| is_name(tag))?, format!("</{tag}>")),
        };
        let name = name.split(' ').next().unwrap_or(name).trim_matches(['"', '\'']);
        let (value, after) = inside.split_once(&end)?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        arguments.insert(name.to_owned(), Value::String(value.to_owned()));
        rest = after.trim_start();
    }
}

fn is_name(tag: &str) -> bool {
    tag.starts_with(|first: char| first.is_ascii_alphabetic())
        && tag.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'))
}

/// Whether a text is what a model is answered with that writes its calls into its text.
pub fn is_answer(text: &str) -> bool {
    const BEGINNINGS: [&str; 6] = [
        "<tool_response>",
        "<function_results>",
        "<tool_result>",
        "OBSERVATION:",
        "EXECUTION RESULT of [",
        "[execute_command for ",
    ];
    let text = text.trim_start();
    BEGINNINGS.iter().any(|begins| text.starts_with(begins))
}

/// Whether the messages of a list are a conversation of OpenHands as texts: nothing else writes both sides so.
pub fn are_openhands(list: Node<'_>) -> bool {
    let has = |text: &str| memchr::memmem::find(list.json().as_bytes(), text.as_bytes()).is_some();
    (has("\"OBSERVATION:\\n") || has("\"EXECUTION RESULT of [")) && has("<function=")
}

/// Whether a text is all JSON, and may be a call.
pub fn is_json_call(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(['{', '[']) && Node::parse(text).is_ok_and(calls::are_proposed_in)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn calls(text: &str) -> (Vec<(String, Value)>, bool) {
        let written = written(text, |tool| tool == "lookup");
        (written.calls.into_iter().map(|call| (call.tool.into(), call.arguments)).collect(), written.at_end)
    }

    #[test]
    fn each_form_is_read() {
        let lookup = |arguments: Value| vec![("lookup".to_owned(), arguments)];
        for text in [
            "<function=lookup>\n<parameter=order>\nA-7\n</parameter>\n</function>",
            "First.\n  <function=lookup><parameter=order>A-7</parameter></function>\n",
            "<function=lookup>\n<parameter=order>A-7</parameter>\n",
            "<tool_call>\n{\"name\": \"lookup\", \"arguments\": {\"order\": \"A-7\"}}\n</tool_call>",
            "<tool_call>{\"name\": \"lookup\", \"arguments\": \"{\\\"order\\\": \\\"A-7\\\"}\"}</tool_call>",
            "<tool_call>\n{'arguments': {'order': 'A-7'}, 'name': 'lookup'}\n</tool_call>",
            "<tool_call>\n<function=lookup>\n<parameter=order>A-7</parameter>\n</function>\n</tool_call>",
            "<function_calls>\n<invoke name=\"lookup\">\n<parameter name=\"order\" string=\"true\">A-7</parameter>\n</invoke>\n</function_calls>",
            "<lookup>\n<order>A-7</order>\n</lookup>",
        ] {
            assert_eq!(calls(text), (lookup(json!({"order": "A-7"})), true), "{text}");
        }
        let both =
            "<tool_call>{\"name\": \"lookup\"}</tool_call>\n<tool_call>{\"name\": \"lookup\"}</tool_call>";
        assert_eq!(calls(both).0, [lookup(json!({})), lookup(json!({}))].concat());
        let read = "<read_file>\n<path>a.md</path>\n</read_file>";
        assert_eq!(calls(read).0, [("read_file".to_owned(), json!({"path": "a.md"}))]);
    }

    #[test]
    fn what_is_quoted_or_explained_is_no_call() {
        for text in [
            "Use `<tool_call>` to call a tool.",
            "Write <function=lookup><parameter=order>A-7</parameter></function> to call it.",
            "```xml\n<function=lookup>\n<parameter=order>A-7</parameter>\n</function>\n```",
            "<tool_call>\nnot JSON\n</tool_call>",
            "<details>\n<summary>More</summary>\n</details>",
            "<function=>\n</function>",
            "a < b",
        ] {
            assert_eq!(calls(text).0, [], "{text}");
        }
        assert!(!calls("<lookup>\n<order>A-7</order>\n</lookup>\nThis is how it is called.").1);
    }
}
