//! Logs of the Agent Client Protocol (agentclientprotocol.com, versions 1 and 2): the JSON-RPC messages between an
//! editor and an agent, one per line, as they are or wrapped by the program that recorded them.
//!
//! A call is reported in updates: its arguments may follow its id, and its outcome comes last. The protocol does not
//! mark the end of a response: a call that starts while none is open, or text after a result, starts the next response.

use std::collections::{HashMap, HashSet};

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::interleaved::Interleaved;
use crate::shape::scribe::Scribe;
use crate::shape::unknown::Unknown;
use rulestep_base::session::Damage;

mod conversation;

use conversation::Conversation;

pub(crate) const FORMAT: Format = Format {
    name: "acp",
    title: "logs of the Agent Client Protocol, between an editor and an agent; a call without a name has that of its kind, as `execute`",
    source: "log every message between them, a line each; Zed: `dev: open acp logs`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader: |setting| {
        Box::new(Acp {
            setting: setting.clone(),
            open: Interleaved::default(),
            asked: HashMap::new(),
            latest: "".into(),
            unknown: Unknown::default(),
        })
    },
};

/// Keys under which recorders keep a message.
const MESSAGE: [&str; 7] = ["message", "payload", "data", "msg", "body", "frame", "json"];
const TIMES: [&str; 6] = ["timestamp", "ts", "timestamp_ms", "at", "time", "datetime"];
/// Methods of sessions that begin one; their answer names it.
const BEGIN: [&str; 4] = ["session/new", "session/load", "session/resume", "session/fork"];
fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let Some(message) = message(value) else { return false };
        let part = |key| message.get(key).and_then(Node::members);
        let method = message.get("method").and_then(Node::text).unwrap_or_default();
        let begins = |key, own: &str| part(key).is_some_and(|part| part.has(own));
        BEGIN.contains(&&*method)
            || method.starts_with("session/") && part("params").is_some_and(|params| params.has("sessionId"))
            || method == "initialize" && begins("params", "clientCapabilities")
            || begins("result", "agentCapabilities")
    })
}

/// The message that a value is, or wraps.
fn message<'a>(value: &Members<'a>) -> Option<Members<'a>> {
    let is_one = |value: &Members<'_>| value.has("jsonrpc") || value.has("method") && value.has("params");
    if is_one(value) {
        return Some(value.clone());
    }
    MESSAGE.iter().find_map(|key| value.try_get(key)?.members().filter(is_one))
}

struct Acp {
    setting: Setting,
    open: Interleaved<Conversation>,
    /// Requests that wait for an answer, by id: the session and the question.
    asked: HashMap<Box<str>, Question>,
    /// Session of the latest message.
    latest: Box<str>,
    unknown: Unknown,
}

/// A request whose answer matters to a session.
struct Question {
    session: Box<str>,
    /// The call that waits for permission.
    call: Box<str>,
    /// The choices that say no.
    refusing: HashSet<Box<str>>,
}

impl Reader for Acp {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let items = unit.node.tried().items().filter(|_| unit.node.kind() == Kind::List);
        for value in items.unwrap_or_else(|| vec![unit.node]) {
            match value.members().and_then(|value| Some((message(&value)?, value))) {
                Some((message, value)) => self.message(&message, &value, unit, out),
                None => out.diagnostics(self.setting.foreign(unit, "not a message of the protocol")),
            }
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.open.close().for_each(|conversation| conversation.close(out));
        self.unknown.tell(&self.setting, out);
    }
}

impl Acp {
    fn message(&mut self, message: &Members<'_>, around: &Members<'_>, unit: &Unit<'_>, out: &mut Out) {
        let method = message.get("method").and_then(Node::text).unwrap_or_default();
        let params = message.get("params").and_then(Node::members).unwrap_or_default();
        let result = message.get("result").and_then(Node::members).unwrap_or_default();
        let id = message.get("id").and_then(Node::id).map(|id| Box::from(id.as_ref()));
        let answered = id.as_ref().filter(|_| method.is_empty() && result.has("outcome"));
        let question = answered.and_then(|id| self.asked.remove(id));
        let named = params.get("sessionId").or_else(|| result.get("sessionId")).and_then(Node::id);
        let session: Box<str> = match (&named, &question) {
            (Some(named), _) => named.as_ref().into(),
            (None, Some(question)) => question.session.clone(),
            // Messages before a session begins belong to none.
            (None, None) if self.latest.is_empty() || method == "initialize" => return,
            (None, None) => self.latest.clone(),
        };
        while let Some(gone) = self.open.too_much(&session) {
            gone.close(out);
        }
        let (setting, line) = (&self.setting, unit.line);
        let conversation =
            self.open.get(&session, message.iter().map(|(_, node)| node.json().len()).sum(), |again| {
                let mut builder = setting.session_at(&session, line, out);
                builder.mark_errors();
                if again {
                    builder.starts_in_the_middle(
                        "earlier messages of the same session are too far before these",
                    );
                }
                Conversation::new(Scribe::new(builder, setting))
            });
        let Some(conversation) = conversation else { return };
        self.latest = session.clone();
        conversation.scribe.at_line(line);
        conversation.scribe.at(around, &TIMES);
        for diagnostic in &unit.diagnostics {
            conversation.scribe.builder.diagnostic(diagnostic.clone());
        }
        match &*method {
            "session/prompt" => conversation.prompt(&params),
            "session/update" => {
                let update = params.get("update").and_then(Node::members).unwrap_or_default();
                if let Err(kind) = conversation.update(&update) {
                    self.unknown.note_object(&kind, &update, line);
                }
            }
            "session/request_permission" => {
                let told = params.any(&["toolCall", "tool_call"]).and_then(Node::members).unwrap_or_default();
                conversation.told(&told);
                let call = told.get("toolCallId").and_then(Node::id).unwrap_or_default().as_ref().into();
                let options = params.get("options").and_then(Node::objects).unwrap_or_else(|| {
                    let odd =
                        "the options of a request for permission cannot be read, so neither can its answer";
                    conversation.scribe.builder.damaged(Damage::calls(odd));
                    Vec::new()
                });
                let refuses = |option: &Members<'_>| {
                    option.get("kind").and_then(Node::text).is_some_and(|kind| kind.starts_with("reject"))
                };
                let refusing = options.iter().filter(|option| refuses(option));
                let refusing =
                    refusing.filter_map(|option| Some(option.get("optionId")?.id()?.as_ref().into()));
                let question = Question { session, call, refusing: refusing.collect() };
                if let Some(id) = id {
                    self.asked.insert(id, question);
                }
                return;
            }
            "session/new" | "session/load" => conversation.scribe.about(&params, &["cwd"]),
            _ => {}
        }
        if let Some(Question { call, refusing, .. }) = question {
            conversation.decided(call, &refusing, result.get("outcome"));
        }
    }
}
