//! Logs of the Agent Client Protocol (agentclientprotocol.com, versions 1 and 2): the JSON-RPC messages between an editor and an
//! agent, a line each, as they are or wrapped by what recorded them.
//!
//! A call is reported in updates: its arguments may follow its id, and its outcome comes last. The protocol does not mark the end of a
//! response: a call that starts while none is open, or text after a result, starts the next response.

use std::collections::{HashMap, HashSet};

use crate::recording::contract::out::Out;
use crate::recording::contract::setting::Setting;
use crate::recording::contract::{Format, Reader, Sample, Unit};
use crate::recording::input::shallow::{Kind, Members, Node};
use crate::recording::shape::interleaved::Interleaved;
use crate::recording::shape::scribe::{Scribe, words};
use crate::recording::shape::status::{Status, status};
use crate::recording::shape::unknown::Unknown;
use crate::session::{Body, Damage};

pub(in crate::recording) const FORMAT: Format = Format {
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
/// The update that adds to what a call gave back.
const CHUNK: &str = "tool_call_content_chunk";
/// Updates that are about the session, or that only show how something goes on.
const ASIDE: [&str; 13] = [
    "agent_thought",
    "agent_thought_chunk",
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "plan",
    "plan_removed",
    "plan_update",
    "session_info_update",
    "state_update",
    "terminal_output_chunk",
    "terminal_update",
    "usage_update",
];

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let Some(message) = message(value) else { return false };
        let part = |key| message.get(key).and_then(Node::members);
        let method = message.get("method").and_then(Node::text).unwrap_or_default();
        // A number, where the protocol for tools has a date.
        let version = part(if method == "initialize" { "params" } else { "result" });
        let version = version.and_then(|part| part.get("protocolVersion"));
        BEGIN.contains(&&*method)
            || method.starts_with("session/") && part("params").is_some_and(|params| params.has("sessionId"))
            || version.is_some_and(|version| version.kind() == Kind::Number)
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
    /// Requests that wait for an answer, by id: the session and what is asked.
    asked: HashMap<Box<str>, Question>,
    /// Session of the latest message.
    latest: Box<str>,
    unknown: Unknown,
}

/// A question whose answer matters to a session.
struct Question {
    session: Box<str>,
    /// The call that waits for permission.
    call: Box<str>,
    /// The choices that say no.
    refusing: HashSet<Box<str>>,
}

struct Conversation {
    scribe: Scribe,
    /// Number of the response that goes on.
    response: u32,
    /// Calls that were told and not written down yet, in their order.
    told: Vec<ToldCall>,
    /// Those that have not ended.
    running: HashSet<Box<str>>,
    /// Those that ended.
    ended: HashSet<Box<str>>,
    /// A result came since the latest response began.
    answered: bool,
    /// How it is known that permission was refused, by the calls.
    refused: HashMap<Box<str>, &'static str>,
    /// What is said in pieces: by whom, and the text so far.
    pieces: Option<(bool, String)>,
    /// The agent repeats the prompt that was sent.
    repeats: bool,
}

/// A call as far as it is known.
#[derive(Default)]
struct ToldCall {
    id: Box<str>,
    name: Option<Box<str>>,
    kind: Option<Box<str>>,
    title: Option<Box<str>>,
    input: Body,
    /// What it gave back so far.
    content: Body,
    written: bool,
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
            // What is said before a session begins is about none.
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
                let options = params.get("options").and_then(Node::objects).unwrap_or_default();
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

impl Conversation {
    fn new(scribe: Scribe) -> Conversation {
        Conversation {
            scribe,
            response: 0,
            told: Vec::new(),
            running: HashSet::new(),
            ended: HashSet::new(),
            answered: false,
            refused: HashMap::new(),
            pieces: None,
            repeats: false,
        }
    }

    fn prompt(&mut self, params: &Members<'_>) {
        self.over();
        let said = params.any(&["prompt", "content"]).map_or(Body::MISSING, words);
        self.scribe.said("user", said);
        self.repeats = true;
    }

    fn update(&mut self, update: &Members<'_>) -> Result<(), String> {
        let kind = update.get("sessionUpdate").and_then(Node::text).unwrap_or_default();
        let piece = || update.get("content").map_or(Body::MISSING, |content| alone(content));
        match &*kind {
            "agent_message_chunk" => self.piece(true, &piece()),
            "user_message_chunk" => self.piece(false, &piece()),
            "agent_message" => {
                self.flush();
                self.says(&update.get("content").map_or(Body::MISSING, words));
            }
            "user_message" if self.repeats => {}
            "user_message" => {
                self.over();
                self.scribe.said("user", update.get("content").map_or(Body::MISSING, words));
            }
            "tool_call" | "tool_call_update" | CHUNK => {
                self.flush();
                self.told(update);
                self.ended(update);
            }
            kind if ASIDE.contains(&kind) => return Ok(()),
            kind => return Err(kind.to_owned()),
        }
        self.repeats &= kind.starts_with("user_message");
        Ok(())
    }

    /// A piece of what the model or the user says.
    fn piece(&mut self, is_model: bool, text: &Body) {
        if !is_model && self.repeats {
            return;
        }
        match &mut self.pieces {
            Some((by_model, said)) if *by_model == is_model => said.push_str(text.shown()),
            _ => {
                self.flush();
                self.pieces = Some((is_model, text.shown().to_owned()));
            }
        }
    }

    fn flush(&mut self) {
        match self.pieces.take() {
            Some((true, said)) => self.says(&Body::text(said)),
            Some((false, said)) => {
                self.over();
                self.scribe.said("user", Body::text(said));
            }
            None => {}
        }
    }

    fn says(&mut self, content: &Body) {
        self.write(None);
        if self.answered {
            self.next();
        }
        self.scribe.response(Some(&self.response.to_string()), content.clone());
    }

    /// The response is over.
    fn over(&mut self) {
        self.flush();
        self.write(None);
        self.next();
    }

    fn next(&mut self) {
        self.scribe.end_response();
        self.response += 1;
        self.answered = false;
    }

    /// What is told of a call, whether it begins or goes on.
    fn told(&mut self, update: &Members<'_>) {
        let text = |key| update.get(key).and_then(Node::id).map(|text| Box::from(text.as_ref()));
        let Some(id) = text("toolCallId") else {
            return self.scribe.builder.damaged(Damage::calls("a call has no id; it is left out"));
        };
        if self.ended.contains(&id) {
            return;
        }
        if !self.told.iter().any(|call| call.id == id) {
            if self.running.is_empty() && self.answered {
                self.write(None);
                self.next();
            }
            self.running.insert(id.clone());
            self.told.push(ToldCall { id: id.clone(), ..ToldCall::default() });
        }
        let Some(call) = self.told.iter_mut().find(|call| call.id == id) else { return };
        let own = update.get("_meta").and_then(Node::members).and_then(|about| {
            about.iter().find_map(|(_, about)| about.tried().members()?.get("toolName")?.tried().text())
        });
        call.name = text("name").or_else(|| own.map(|name| name.as_ref().into())).or(call.name.take());
        call.kind = text("kind").filter(|kind| &**kind != "other").or(call.kind.take());
        call.title = text("title").or(call.title.take());
        if let Some(input) = update.get("rawInput") {
            match call.written && !call.input.are_same(&input.body()) {
                true => self
                    .scribe
                    .builder
                    .damaged("a call is reported with other arguments after its result; they are left out"),
                false => call.input = input.body(),
            }
        }
        let content = update
            .get("content")
            .filter(|content| content.kind() != Kind::List || content.first_item().is_some());
        let output = update.get("rawOutput").map(Node::body).or_else(|| content.map(alone));
        let chunk = update.get("sessionUpdate").and_then(Node::text).is_some_and(|kind| kind == CHUNK);
        call.content = match output {
            Some(piece) if chunk && !call.content.is_missing() => {
                Body::text(format!("{}{}", call.content.shown(), piece.shown()))
            }
            Some(output) => output,
            None => std::mem::take(&mut call.content),
        };
    }

    /// How a call ended, if it did.
    fn ended(&mut self, update: &Members<'_>) {
        let word = update.get("status").and_then(Node::text);
        let ended = word.as_deref().map_or(Status::Open, status);
        let id = update.get("toolCallId").and_then(Node::id).unwrap_or_default();
        if ended == Status::Open || !self.running.remove(&*id) {
            return;
        }
        self.write(Some(&id));
        let refused = self.refused.remove(&*id).filter(|_| ended != Status::Succeeded);
        let call = self.told.iter().position(|call| *call.id == *id).map(|place| self.told.remove(place));
        let content = call.map_or(Body::MISSING, |call| call.content);
        self.scribe.later_result(Some(&id), content, refused.map_or(ended, Status::Refused));
        self.ended.insert(id.as_ref().into());
        self.answered = true;
    }

    /// What was decided about a call.
    fn decided(&mut self, call: Box<str>, refusing: &HashSet<Box<str>>, outcome: Option<Node<'_>>) {
        let outcome = outcome.and_then(Node::members).unwrap_or_default();
        let text = |key| outcome.get(key).and_then(Node::text).unwrap_or_default();
        let refused = match &*text("outcome") {
            "cancelled" => Some("the request for permission was answered with `cancelled`"),
            "selected" if refusing.contains(&*text("optionId")) => {
                Some("the request for permission was answered with a rejection")
            }
            _ => None,
        };
        if let Some(how) = refused {
            self.refused.insert(call, how);
        }
    }

    /// Writes the calls down that were told: all, or those up to this one and the later ones whose arguments are known.
    fn write(&mut self, up_to: Option<&str>) {
        let last = up_to.and_then(|id| self.told.iter().position(|call| *call.id == *id));
        for (place, call) in self.told.iter_mut().enumerate() {
            let known = !call.input.is_missing() && call.input.raw().trim() != "{}";
            if call.written || last.is_some_and(|last| place > last) && !known {
                continue;
            }
            self.scribe.ensure_response(&self.response.to_string());
            let name = [&call.name, &call.kind, &call.title].into_iter().flatten().next();
            self.scribe.call(Some(&call.id), name.map_or("", |name| name), call.input.clone());
            call.written = true;
        }
    }

    fn close(mut self, out: &mut Out) {
        self.flush();
        self.write(None);
        for call in std::mem::take(&mut self.told) {
            if let Some(how) = self.refused.remove(&call.id) {
                self.scribe.later_result(Some(&call.id), Body::MISSING, Status::Refused(how));
            }
        }
        out.session(self.scribe.end());
    }
}

/// The words of one block or of a list of them, each of which may be wrapped as what a call gave back.
fn alone(content: Node<'_>) -> Body {
    let inner = |node: Node<'_>| {
        let block = node.tried().members()?;
        let content = block.try_get("content").and_then(Node::members).unwrap_or(block);
        content.try_get("text")?.text().map(|text| text.into_owned())
    };
    let blocks = content.tried().items().unwrap_or_else(|| vec![content]);
    let texts: Option<Vec<_>> = blocks.into_iter().map(inner).collect();
    texts.map_or_else(|| content.body(), |texts| Body::text(texts.join("\n")))
}
