//! Writes a session in the native form: the output of `convert`, and saved cases.
//!
//! Whatever decides about a call is written: calls, outcomes, order, parallelism, times, offered tools, refusals and
//! the environment. The origin of the session and its diagnostics are not.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{
    Body, Call, Form, LiveDecision, Message, MessageKind, Millis, OPERATION_ROLE, OfferedFrom, Operation,
    Outcome, Results, Session, Tool, ToolCall, Turn, refusal,
};

/// Serializes a session in the native form, without line feeds if the serializer adds none: one line of JSON Lines.
///
/// Contents recorded as JSON are written as they are, so this is for serde_json; for another serializer, make a
/// [`Value`] of it first.
#[derive(Debug, Clone, Copy)]
pub struct Native<'a>(pub &'a Session);

/// In the form of the format `native`.
impl Serialize for Session {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Native(self).serialize(serializer)
    }
}

impl Serialize for Native<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let session = self.0;
        let (now, later) = match session.offered.split_first() {
            Some((first, later)) if first.turn <= 1 => (Some(tools(&first.tools)), later),
            _ => (None, session.offered.as_slice()),
        };
        let (told_apart, unsettled) = (told_apart(session), session.unsettled());
        let document = Document {
            id: &session.id,
            title: session.recorded_title(),
            parent: session.parent.as_deref(),
            context: session.facts.context.as_ref(),
            variables: session.facts.variables.as_ref(),
            files: session.facts.files.as_deref(),
            now: session.facts.now.map(Instant),
            results: session.facts.results,
            from_the_middle: session.facts.from_the_middle,
            tools: now,
            tools_at: later.iter().map(Change::of).collect(),
            messages: session
                .messages
                .iter()
                .enumerate()
                .map(|(at, m)| {
                    let (tells_call, unsure) = (told_apart.contains(&at), unsettled.of.contains_key(&at));
                    MessageEntry::of(session, at, m, tells_call, unsure)
                })
                .collect(),
        };
        document.serialize(serializer)
    }
}

#[derive(serde::Serialize)]
struct Document<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variables: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<Instant>,
    results: Results,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    from_the_middle: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<ToolEntry<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools_at: Vec<Change<'a>>,
    messages: Vec<MessageEntry<'a>>,
}

#[derive(serde::Serialize)]
struct Change<'a> {
    turn: u32,
    tools: Vec<ToolEntry<'a>>,
}

#[derive(serde::Serialize)]
struct ToolEntry<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a Value>,
}

/// One message.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum MessageEntry<'a> {
    Said {
        role: &'a str,
        content: Content<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<Instant>,
    },
    Response {
        role: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        content: Content<'a>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<CallEntry<'a>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        alternatives: Vec<NotTaken<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<Instant>,
    },
    Result {
        role: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<&'a str>,
        content: Content<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        refused: Option<bool>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        after_siblings: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        of_call: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<Instant>,
    },
    Operation {
        role: &'static str,
        op: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'a str>,
    },
}

/// A choice that was not taken.
#[derive(serde::Serialize)]
struct NotTaken<'a> {
    choice: u32,
    content: Content<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CallEntry<'a>>,
}

#[derive(serde::Serialize)]
struct CallEntry<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    r#type: &'static str,
    function: Function<'a>,
    /// `Some` if it differs from the message's.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Option<Instant>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_mode: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_version: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    copied: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<&'a LiveDecision>,
}

#[derive(serde::Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Arguments::is_missing")]
    arguments: Arguments<'a>,
}

impl<'a> Change<'a> {
    fn of(from: &'a OfferedFrom) -> Change<'a> {
        Change { turn: from.turn, tools: tools(&from.tools) }
    }
}

impl<'a> ToolEntry<'a> {
    fn of(tool: &'a Tool) -> ToolEntry<'a> {
        let Tool { name, description, parameters } = tool;
        ToolEntry { name, description: description.as_deref(), parameters: parameters.as_ref() }
    }
}

/// Results that are not of the oldest waiting call with their id, if an id is repeated: these have to name their call.
fn told_apart(session: &Session) -> HashSet<usize> {
    let mut told = HashSet::new();
    let mut seen = HashSet::new();
    if session.calls.iter().all(|call| seen.insert(call.id.as_deref())) {
        return told;
    }
    let mut waiting: HashMap<Option<&str>, VecDeque<u32>> = HashMap::new();
    for (place, message) in session.messages.iter().enumerate() {
        match &message.kind {
            MessageKind::Response(number) => {
                // The calls of a turn are written with its last message.
                let turn = session.turn(*number).filter(|turn| turn.messages.end == place + 1);
                for call in turn.map(|turn| session.calls_of(turn)).unwrap_or_default() {
                    waiting.entry(call.id.as_deref()).or_default().push_back(call.at.index);
                }
            }
            MessageKind::Result(Some(call), id) => {
                let Some(calls) = waiting.get_mut(&id.as_deref()) else { continue };
                if calls.front() != Some(call) {
                    told.insert(place);
                }
                calls.retain(|waits| waits != call);
            }
            MessageKind::Result(None, _) | MessageKind::Said | MessageKind::Operation(_) => {}
        }
    }
    told
}

impl<'a> MessageEntry<'a> {
    /// `tells_call`: it names its call, because an id is repeated. `unsure`: it does not say how its call ended.
    fn of(
        session: &'a Session,
        index: usize,
        message: &'a Message,
        tells_call: bool,
        unsure: bool,
    ) -> MessageEntry<'a> {
        let (content, at) = (Content(&message.content), message.at.map(Instant));
        match &message.kind {
            MessageKind::Said => MessageEntry::Said { role: &message.role, content, at },
            MessageKind::Response(number) => {
                let turn = session.turn(*number);
                // One key for all messages of a turn, and the calls with the last of them.
                let several = turn.filter(|turn| turn.messages.len() > 1);
                let last = turn.filter(|turn| turn.messages.end == index + 1);
                MessageEntry::Response {
                    role: "assistant",
                    id: several.map(|turn| format!("turn-{}", turn.number)),
                    content,
                    tool_calls: last.map(|turn| proposed(session, turn, message.at)).unwrap_or_default(),
                    alternatives: last.map(|turn| not_taken(session, turn)).unwrap_or_default(),
                    at,
                }
            }
            MessageKind::Result(call, id) => {
                let call = call.and_then(|call| session.calls.get(call as usize));
                let turn = call.and_then(|call| session.turn(call.at.turn));
                MessageEntry::Result {
                    role: "tool",
                    tool_call_id: id.as_deref(),
                    content,
                    is_error: (!unsure).then(|| call.is_some_and(|call| call.outcome == Outcome::Error)),
                    status: unsure.then_some("unknown"),
                    refused: call.and_then(|call| marked_refused(call, &message.content)),
                    // The result is among those of its own turn, so only this says when it came.
                    of_call: call.filter(|_| tells_call).map(|call| call.at.index + 1),
                    after_siblings: call
                        .zip(turn)
                        .is_some_and(|(call, turn)| turn.late.contains(&call.at.index)),
                    at,
                }
            }
            MessageKind::Operation(operation) => {
                let (op, name) = match operation {
                    Operation::Snapshot(name) => ("snapshot", Some(&**name)),
                    Operation::Restore(name) => ("restore", Some(&**name)),
                    Operation::Reset => ("reset", None),
                    Operation::Unknown(op) => (&**op, None),
                };
                MessageEntry::Operation { role: OPERATION_ROLE, op, name }
            }
        }
    }
}

/// The mark of a result that says whether its call was refused; `None`: the text says it.
fn marked_refused(call: &Call, content: &Body) -> Option<bool> {
    let refused = call.outcome == Outcome::Refused;
    let by_text = refusal::recognised(content, &call.tool).is_some();
    (refused != by_text).then_some(refused)
}

fn proposed<'a>(session: &'a Session, turn: &Turn, at: Option<Millis>) -> Vec<CallEntry<'a>> {
    let calls = session.calls_of(turn).iter();
    calls
        .map(|call| CallEntry {
            id: call.id.as_deref(),
            r#type: "function",
            function: Function { name: &call.tool, arguments: Arguments(&call.arguments) },
            at: (call.time != at).then(|| call.time.map(Instant)),
            cwd: call.folder.as_deref(),
            permission_mode: call.agent.as_ref().and_then(|agent| agent.permission_mode.as_deref()),
            agent_version: call.agent.as_ref().and_then(|agent| agent.version.as_deref()),
            copied: call.copied,
            live: call.live.as_deref(),
        })
        .collect()
}

fn not_taken<'a>(session: &'a Session, turn: &Turn) -> Vec<NotTaken<'a>> {
    let proposed = |call: &'a ToolCall| CallEntry {
        id: call.id.as_deref(),
        r#type: "function",
        function: Function { name: &call.tool, arguments: Arguments(&call.arguments) },
        at: None,
        cwd: None,
        permission_mode: None,
        agent_version: None,
        copied: false,
        live: None,
    };
    let alternatives = session.alternatives_of(turn.number).iter();
    alternatives
        .map(|other| NotTaken {
            choice: other.choice,
            content: Content(&other.message.content),
            tool_calls: other.calls().iter().map(|call| proposed(call)).collect(),
        })
        .collect()
}

fn tools(tools: &[Tool]) -> Vec<ToolEntry<'_>> {
    tools.iter().map(ToolEntry::of).collect()
}

/// In the form of a journal's record.
impl Serialize for LiveDecision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Written<'a> {
            decision: super::live::Verdict,
            mode: &'static str,
            runs: Option<bool>,
            findings: Content<'a>,
            told: Option<&'a str>,
            policy: &'a str,
            policy_fault: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            tree: Option<&'a super::TreeSeen>,
            took: Option<f64>,
        }
        let written = Written {
            decision: self.verdict,
            mode: self.mode(),
            runs: self.runs,
            findings: Content(&self.findings),
            told: self.told.as_deref(),
            policy: &self.policy,
            policy_fault: self.policy_fault.as_deref(),
            tree: self.tree.as_deref(),
            took: self.took,
        };
        written.serialize(serializer)
    }
}

/// ISO 8601 with a zone; a number if the calendar has no such time.
pub struct Instant(pub Millis);

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(instant) => serializer.collect_str(&instant),
            Err(_) => serializer.serialize_i64(self.0),
        }
    }
}

/// Text as a JSON text, JSON as it was written.
struct Content<'a>(&'a Body);

/// Arguments of a call: an object, or text as the model wrote it. Another JSON value is written as its text, which
/// means the same: as a value it would count as damage when it is read again.
struct Arguments<'a>(&'a Body);

impl Arguments<'_> {
    fn is_missing(&self) -> bool {
        self.0.is_missing()
    }
}

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.not_arguments() {
            Some(_) if self.0.parsed().is_some() => serializer.serialize_str(self.0.raw()),
            // Parts of text mean the text.
            Some(_) => serializer.serialize_str(self.0.shown()),
            None => Content(self.0).serialize(serializer),
        }
    }
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.form() {
            None => serializer.serialize_none(),
            Some(Form::Text) => serializer.serialize_str(self.0.raw()),
            Some(Form::Json) => {
                // Line breaks in JSON are only between its tokens.
                let json = match self.0.raw() {
                    raw if raw.contains(['\n', '\r']) => Cow::Owned(raw.replace(['\n', '\r'], " ")),
                    raw => Cow::Borrowed(raw),
                };
                serde_json::from_str::<&RawValue>(&json).map_err(S::Error::custom)?.serialize(serializer)
            }
        }
    }
}
