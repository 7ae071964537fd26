//! Conversations in the form of ShareGPT, as Hermes Agent saves its trajectories and LLaMA-Factory reads its data sets:
//! an object with `conversations`, a list of `{from, value}`. Nothing marks failures.
//!
//! A call is a message of its own (`function_call`), or a tag in the model's text (`<tool_call>`), in JSON or in Python
//! notation. Calls have no ids; a result may name its tool, and belongs to the oldest waiting call of that tool.

use std::collections::VecDeque;

use serde_json::Value;

use crate::contract::{Format, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::offer;
use crate::shape::scribe::{Scribe, body};
use crate::shape::status::Status;
use crate::shape::tags::{self, WrittenCall};
use crate::shape::transcript::{self, Conversation};
use rulestep_base::session::{Body, Damage};
use rulestep_base::source::quoted;

pub(crate) const FORMAT: Format = Format {
    name: "sharegpt",
    title: "conversations in the form of ShareGPT (`from`, `value`), as of Hermes Agent and LLaMA-Factory",
    source: "`trajectory_samples.jsonl` of Hermes Agent (`--save_trajectories`), or the data set's own files",
    absent_without_results: false,
    marks_failures: false,
    recognise,
    reader: transcript::reader::<ShareGpt>,
};

fn recognise(sample: &Sample<'_>) -> bool {
    let is_entry = |entry: Members<'_>| entry.has("from") && entry.has("value");
    sample.objects().any(|value| {
        let first = value.get(ENTRIES).and_then(Node::first_item).and_then(Node::members);
        first.is_some_and(is_entry) || value.names().count() == 2 && is_entry(value.clone())
    })
}

const ENTRIES: &str = "conversations";
/// Names of the speakers in the data sets.
const MODEL: [&str; 6] = ["gpt", "assistant", "model", "chatgpt", "bot", "ai"];
const PEOPLE: [(&str, &str); 4] =
    [("human", "user"), ("user", "user"), ("system", "system"), ("developer", "system")];
const CALLS: [&str; 3] = ["functioncall", "toolcall", "functioncalls"];
const RESULTS: [&str; 5] = ["tool", "observation", "functionresponse", "toolresponse", "toolresult"];

#[derive(Default)]
struct ShareGpt {
    /// Number of the open response.
    response: u32,
    /// Calls that wait for a result: the name of each, and its place among all.
    waiting: VecDeque<(Box<str>, u32)>,
}

impl Conversation for ShareGpt {
    const EXPECTED: &'static str = "neither a conversation nor a message of one";

    fn entries<'a>(whole: &Members<'a>) -> Option<Node<'a>> {
        whole.get(ENTRIES)
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("from")
    }

    fn about(&mut self, whole: &Members<'_>, scribe: &mut Scribe) {
        scribe.about(whole, &["model", "completed"]);
        if let Some(offer) = whole.get("tools").and_then(offer::tools) {
            scribe.builder.offered(1, offer.tools);
        }
        if let Some(system) = whole.try_get("system").and_then(Node::text).filter(|text| !text.is_empty()) {
            scribe.said("system", Body::text(system.into_owned()));
        }
    }

    fn entry(&mut self, entry: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        let from = entry.get("from").and_then(Node::text).unwrap_or_default();
        let letters =
            from.chars().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase());
        let letters: String = letters.collect();
        let Some(value) = entry.get("value") else {
            scribe.builder.damaged(Damage::calls("a message has no `value`"));
            return Ok(());
        };
        let text = value.text().unwrap_or_default();
        if let Some((_, role)) = PEOPLE.iter().find(|(name, _)| *name == letters) {
            self.over(scribe);
            if *role == "system" && scribe.builder.so_far().offered.is_empty() {
                offered(&text, scribe);
            }
            scribe.said(role, body(entry, &["value"]));
        } else if RESULTS.contains(&&*letters) {
            self.over(scribe);
            self.results(&text, scribe);
        } else {
            let is_calls = CALLS.contains(&&*letters);
            if !is_calls && !MODEL.contains(&&*letters) {
                let odd = format!(
                    "a message is from {}, which is not known; it is read as the model's",
                    quoted(&from)
                );
                scribe.builder.damaged(Damage::calls(odd));
            }
            self.respond(&text, is_calls, scribe);
        }
        Ok(())
    }
}

impl ShareGpt {
    fn over(&mut self, scribe: &mut Scribe) {
        self.response += 1;
        scribe.end_response();
    }

    /// A message of the model, with the calls in it. `is_calls`: the message holds nothing else.
    fn respond(&mut self, text: &str, is_calls: bool, scribe: &mut Scribe) {
        let said = without_thoughts(text);
        let calls = called(&said, is_calls);
        let expected = if is_calls { 1 } else { opened(&said) };
        let missing = calls.len() < expected;
        let key = self.response.to_string();
        let content = if is_calls && !missing { Body::MISSING } else { Body::text(said) };
        scribe.response(Some(&key), content);
        if missing {
            scribe
                .builder
                .damaged(Damage::calls("a call of the model cannot be read; it is read as what is said"));
        }
        for WrittenCall { tool, arguments } in calls {
            let call = scribe.call(None, &tool, Body::json(&arguments.to_string()));
            self.waiting.push_back((tool, call.index));
        }
    }

    fn results(&mut self, text: &str, scribe: &mut Scribe) {
        let parts: Vec<&str> = text.split("<tool_response>").skip(1).collect();
        if parts.is_empty() {
            return self.result(None, Body::text(text), scribe);
        }
        for part in parts {
            let part = part.split_once("</tool_response>").map_or(part, |(part, _)| part).trim();
            let given =
                Node::parse(part).ok().filter(|node| node.kind() == Kind::Object).and_then(Node::members);
            let named = given.as_ref().and_then(|given| given.try_get("name")?.text());
            let content =
                given.as_ref().filter(|_| named.is_some()).and_then(|given| given.try_get("content"));
            self.result(named.as_deref(), content.map_or_else(|| Body::text(part), Node::body), scribe);
        }
    }

    /// A result is that of the oldest waiting call, of this tool if it names one.
    fn result(&mut self, tool: Option<&str>, content: Body, scribe: &mut Scribe) {
        let place = self.waiting.iter().position(|(name, _)| tool.is_none_or(|tool| tool == &**name));
        match place.and_then(|place| self.waiting.remove(place)) {
            Some((_, call)) => scribe.result_of(call, content, Status::Unknown),
            None => {
                let tool = tool.map_or_else(String::new, |tool| format!(" of {}", quoted(tool)));
                let odd = format!("a result{tool} answers no call that can be read");
                scribe.builder.damaged(Damage::calls(odd));
            }
        }
    }
}

/// The calls of a message: the whole text is JSON of one or several, or they are tags in it.
fn called(text: &str, is_calls: bool) -> Vec<WrittenCall> {
    let written = tags::written(text, |_| false).calls;
    if !written.is_empty() || !is_calls {
        return written;
    }
    match tags::notation(text) {
        Some(Value::Array(calls)) => {
            calls.into_iter().map(tags::named).collect::<Option<_>>().unwrap_or_default()
        }
        Some(call) => tags::named(call).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The number of calls for which a text opens a tag. Explanations only name the tag.
fn opened(text: &str) -> usize {
    let opens = |inside: &&str| inside.trim_start().starts_with(['{', '<']);
    text.split("<tool_call>").skip(1).filter(opens).count()
}

/// The text without the model's thoughts, which are not kept and may hold calls that were not made.
fn without_thoughts(text: &str) -> String {
    let mut said = String::new();
    let mut rest = text;
    while let Some((before, thought)) = rest.split_once("<think>") {
        said.push_str(before);
        rest = match thought.split_once("</think>") {
            Some((_, after)) => after.trim_start_matches('\n'),
            // It was not closed, so its end is unknown.
            None => thought,
        };
    }
    said.push_str(rest);
    said
}

/// The tools that the instructions list between tags.
fn offered(text: &str, scribe: &mut Scribe) {
    let lists = text.split("<tools>").skip(1).filter_map(|rest| Some(rest.split_once("</tools>")?.0.trim()));
    let listed =
        lists.filter(|list| list.starts_with('[')).find_map(|list| offer::tools(Node::parse(list).ok()?));
    if let Some(offer) = listed.filter(|offer| !offer.tools.is_empty()) {
        scribe.builder.offered(1, offer.tools);
    }
}
