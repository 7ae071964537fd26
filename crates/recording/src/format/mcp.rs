//! Logs of the Model Context Protocol: JSON-RPC 2.0 messages in a list, one per line, in batches, or wrapped by the
//! program that recorded them, with a time and a direction.
//!
//! Such a log has no model, only its requests: a call is a turn of its own, and a call sent before the result of
//! another belongs to the same turn.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};

use serde_json::Value;

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::input::time;
use crate::shape::interleaved::Interleaved;
use crate::shape::offer;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis, Tool};
use rulestep_base::source::quoted;

mod outcome;

pub use outcome::Ended;
pub use outcome::GoesOn;
use outcome::{goes_on, of_task, outcome};
pub use outcome::{response, response_goes_on, task_response};

pub(crate) const FORMAT: Format = Format {
    name: "mcp",
    title: "logs of MCP: JSON-RPC messages between a client and its servers",
    source: "log every message that your client or server sends and receives, a line each",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

/// Keys under which recorders keep a message, and several.
const MESSAGE: [&str; 9] = ["message", "payload", "data", "msg", "body", "jsonrpc", "frame", "json", "raw"];
const MESSAGES: [&str; 5] = ["messages", "entries", "events", "history", "log"];
const PAIR: [&str; 2] = ["request", "response"];
const SESSION: [&str; 5] = ["session_id", "sessionId", "mcp_session_id", "mcpSessionId", "session"];
const SERVER: [&str; 3] = ["server", "server_name", "serverName"];
const TIMES: [&str; 7] = ["timestamp", "ts", "timestamp_ms", "at", "time", "datetime", "created_at"];

fn recognise(sample: &Sample<'_>) -> bool {
    let is_log = |value: &Members<'_>| {
        is_message(value)
            || MESSAGE.iter().any(|key| inner(value, key).is_some_and(|text| whole(&text).is_some()))
            || PAIR.iter().any(|key| inner(value, key).is_some_and(|text| whole(&text).is_some()))
            || value.any(&MESSAGES).is_some_and(lists_messages)
    };
    sample.objects().any(is_log) || sample.lists().any(lists_messages)
}

fn lists_messages(list: Node<'_>) -> bool {
    let first = list.first_item().and_then(Node::members);
    first.is_some_and(|first| {
        is_message(&first)
            || MESSAGE.iter().any(|key| inner(&first, key).is_some_and(|text| whole(&text).is_some()))
    })
}

/// Whether a value is a JSON-RPC message, here of MCP if it does not name its protocol.
fn is_message(value: &Members<'_>) -> bool {
    let text = |key| value.get(key).and_then(Node::text);
    text("jsonrpc").is_some_and(|version| version.starts_with('2'))
        || text("method").is_some_and(|method| matches!(&*method, "tools/call" | "tools/list"))
}

/// JSON text of a member: of an object, or of a text that is one.
fn inner<'a>(value: &Members<'a>, key: &str) -> Option<Cow<'a, str>> {
    let node = value.get(key)?;
    match node.kind() {
        Kind::Object | Kind::List => Some(Cow::Borrowed(node.json())),
        Kind::Text => node.text().filter(|text| text.trim_start().starts_with(['{', '['])),
        _ => None,
    }
}

/// The text, if it is a message or a batch of them.
fn whole(text: &str) -> Option<Node<'_>> {
    let node = Node::parse(text.trim()).ok()?;
    let first = node.first_item().unwrap_or(node).members()?;
    is_message(&first).then_some(node)
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(Mcp { setting: setting.clone(), open: Interleaved::default() })
}

struct Mcp {
    setting: Setting,
    open: Interleaved<Log>,
}

/// A session that is being read.
struct Log {
    builder: Builder,
    setting: Setting,
    /// Requests without response, by id, in their order.
    pending: HashMap<Box<str>, VecDeque<Request>>,
    /// Calls that continue as tasks of the server, by task id. `None`: several calls share the id.
    tasks: HashMap<Box<str>, Option<Box<str>>>,
    /// Calls of one turn share its number.
    row: u64,
    /// Tools by the server that offers them.
    tools: BTreeMap<Box<str>, Vec<Tool>>,
    /// Whether the tools changed since they were last added to the session.
    untold: bool,
}

/// Requests under one id that a response is compared with.
const COMPARED: usize = 64;

/// A request that waits for its response.
struct Request {
    asked: Question,
    direction: Option<Box<str>>,
}

#[derive(Clone, PartialEq, Eq)]
enum Question {
    Call,
    /// The state of this task, or its `result`.
    Task {
        task: Box<str>,
        result: bool,
    },
    /// The tools, or the rest of them.
    Tools {
        more: bool,
    },
    Other,
}

/// The direction and time with which a message was recorded.
#[derive(Clone, Default)]
struct Envelope {
    line: u32,
    at: Option<Millis>,
    odd: Option<String>,
    session: String,
    server: Box<str>,
    direction: Option<Box<str>>,
}

impl Reader for Mcp {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        out.diagnostics(unit.diagnostics.iter().cloned());
        let mut lines = Lines::new(unit.node, unit.line);
        let list = unit.members.any(&MESSAGES).filter(|list| lists_messages(*list));
        let around = around(&unit.members, unit.line, &Envelope::default());
        let items = list.or(Some(unit.node)).and_then(Node::items);
        let read = match items {
            // A batch is one value of the file; several messages on a line are nothing else.
            Some(items) => {
                for item in items {
                    let around = Envelope { line: lines.of(item), ..around.clone() };
                    if !self.value(item, &around, unit, out) {
                        let what = format!("{} is not a message", item.said_kind());
                        out.diagnostic(self.setting.stray(item, around.line, &what));
                    }
                }
                true
            }
            None => self.value(unit.node, &Envelope { line: unit.line, ..Envelope::default() }, unit, out),
        };
        if !read {
            out.diagnostics(self.setting.foreign(unit, "not a message of the protocol"));
        }
    }

    fn end(&mut self, out: &mut Out) {
        for log in self.open.close() {
            log.close(out);
        }
    }
}

impl Mcp {
    /// A message, or a wrapper of one. False for anything else.
    fn value(&mut self, node: Node<'_>, outer: &Envelope, unit: &Unit<'_>, out: &mut Out) -> bool {
        let Some(value) = node.members() else { return false };
        let around = around(&value, outer.line, outer);
        if is_message(&value) || value.has("method") && value.has("params") {
            self.message(&value, &around, unit, out);
            return true;
        }
        let mut read = false;
        for key in MESSAGE.iter().chain(&PAIR) {
            let Some(text) = inner(&value, key) else { continue };
            let Some(node) = whole(&text) else { continue };
            for message in node.items().unwrap_or_else(|| vec![node]).into_iter().filter_map(Node::members) {
                self.message(&message, &around, unit, out);
                read = true;
            }
            // A message and its copy as text are the same message.
            if read && MESSAGE.contains(key) {
                break;
            }
        }
        read
    }

    fn message(&mut self, message: &Members<'_>, around: &Envelope, unit: &Unit<'_>, out: &mut Out) {
        let setting = &self.setting;
        let bytes = message.iter().map(|(_, node)| node.json().len()).sum::<usize>() + 256;
        while let Some(log) = self.open.too_much(&around.session) {
            log.close(out);
        }
        let log = self.open.get(&around.session, bytes, |again| {
            let mut builder = setting.session_at(&around.session, unit.line, out);
            // Failures are marked in every log of the protocol.
            builder.mark_errors();
            if again {
                builder.starts_in_the_middle(
                    "earlier messages of the same session are too far before these to be joined with them",
                );
            }
            let (pending, tasks, tools) = (HashMap::new(), HashMap::new(), BTreeMap::new());
            Log { builder, setting: setting.clone(), pending, tasks, row: 0, tools, untold: false }
        });
        let Some(log) = log else { return };
        log.builder.at_line(around.line);
        if let Some(odd) = &around.odd {
            log.builder.damaged(odd.as_str());
        }
        match message.get("method").and_then(Node::text) {
            Some(method) => log.request(&method, message, around),
            None => {
                if let Some(method) = message.get("method") {
                    let message = format!("the method of a message is {}, not a text", method.said_kind());
                    log.builder.lost(Loss::MayHoldCalls, message);
                }
                log.response(message, around);
            }
        }
    }
}

fn around(value: &Members<'_>, line: u32, outer: &Envelope) -> Envelope {
    let text = |keys: &[&str]| value.any(keys).and_then(Node::id).filter(|text| !text.is_empty());
    let (at, odd) = match time::of(value, &TIMES) {
        Ok(at) => (at, None),
        Err(odd) => (None, Some(odd)),
    };
    let direction = text(&["direction", "dir"]).map(|direction| direction.as_ref().into());
    let server = text(&SERVER).map(|server| server.as_ref().into());
    Envelope {
        line,
        at: at.or(outer.at),
        odd,
        session: text(&SESSION).map_or_else(|| outer.session.clone(), Cow::into_owned),
        server: server.unwrap_or_else(|| outer.server.clone()),
        direction: direction.or_else(|| outer.direction.clone()),
    }
}

impl Log {
    fn request(&mut self, method: &str, message: &Members<'_>, around: &Envelope) {
        let id = message.get("id").and_then(Node::id);
        let params = message.get("params").and_then(Node::members).unwrap_or_default();
        let asked = match method {
            "tools/call" => {
                self.call(id.as_deref(), &params, around);
                Question::Call
            }
            "tools/list" => Question::Tools { more: params.has("cursor") && params.get("cursor").is_some() },
            "initialize" => {
                self.name("client", params.get("clientInfo"));
                Question::Other
            }
            "notifications/cancelled" => {
                // A call sent now is not parallel to one that is no longer waited for.
                self.row += 1;
                return;
            }
            "tasks/result" | "tasks/get" => {
                let task = params.get("taskId").and_then(Node::id);
                let result = method == "tasks/result";
                task.map_or(Question::Other, |task| Question::Task { task: task.as_ref().into(), result })
            }
            method if method.starts_with("session/") => {
                let what = format!(
                    "{} is of the Agent Client Protocol; what it tells of calls is left out",
                    quoted(method)
                );
                return self.builder.lost(Loss::MayHoldCalls, what);
            }
            _ => Question::Other,
        };
        if let Some(id) = id {
            let request = Request { asked, direction: around.direction.clone() };
            self.pending.entry(id.as_ref().into()).or_default().push_back(request);
        }
    }

    fn call(&mut self, id: Option<&str>, params: &Members<'_>, around: &Envelope) {
        let tool = params.get("name").and_then(Node::text).unwrap_or_default();
        let arguments = params.get("arguments").map_or(Body::MISSING, |given| Body::json(given.json()));
        self.offer();
        self.builder.ensure_response(&self.row.to_string(), around.at);
        self.builder.call(id, &tool, arguments, around.at);
    }

    fn response(&mut self, message: &Members<'_>, around: &Envelope) {
        let id = message.get("id").and_then(Node::id).unwrap_or_default();
        let result = message.get("result");
        let members = result.and_then(Node::members).unwrap_or_default();
        let asked = self.asked(&id, &members, around.direction.as_deref());
        let is_list = members.get("tools").is_some_and(|tools| tools.kind() == Kind::List);
        match asked {
            Some(Question::Tools { more }) => self.offered(&members, more, around),
            None if is_list => self.offered(&members, false, around),
            Some(Question::Other) => self.name("server", members.get("serverInfo")),
            Some(Question::Task { task, result }) => {
                if let Some(ended) = of_task(message, result)
                    && let Some(call) = self.tasks.get_mut(&task).and_then(Option::take)
                {
                    self.ended(&call, ended, around.at);
                }
            }
            None if members.has("protocolVersion") => self.name("server", members.get("serverInfo")),
            Some(Question::Call) | None => {
                let (content, ended) = outcome(message);
                let error = message.get("error");
                let empty = error.is_none() && result.is_none() && !message.has("result");
                if empty {
                    let what = "a response has neither a result nor an error; it is read as an error";
                    self.builder.damaged(what);
                }
                if asked.is_none() && error.is_some() {
                    // Any request may fail.
                    let what = format!(
                        "an error answers the request {}, which is not in this recording",
                        quoted(&id)
                    );
                    return self.builder.stray(&id, content, what, around.at);
                }
                match goes_on(message).filter(|_| error.is_none()) {
                    Some(how) => {
                        self.row += 1;
                        if let GoesOn::Task(Some(task)) = how {
                            // If two tasks have one id, it is unknown which of them an answer is about.
                            let call = (!self.tasks.contains_key(&*task)).then(|| id.as_ref().into());
                            self.tasks.insert(task.into(), call);
                        }
                        self.builder.unsure(Some(&*id), content, None, around.at);
                    }
                    None => self.ended(&id, (content, ended), around.at),
                }
            }
        }
    }

    /// The result of a call.
    fn ended(&mut self, id: &str, (content, ended): (Body, Ended), at: Option<Millis>) {
        self.row += 1;
        let marked = match ended {
            Ended::Ok => None,
            Ended::Failed => Some(true),
            Ended::Unclear(why) => {
                let why = format!("{why}; its call counts as one without a result");
                return self.builder.unsure(Some(id), content, Some(why), at);
            }
        };
        let mark = Mark { error: self.setting.failed(marked, &content), refused: None };
        if let Some(call) = self.builder.result(Some(id), content, mark, at) {
            self.builder.late_within_turn(call);
        }
    }

    /// The request that the response with this id answers. Both sides may use the same id, so of several requests the
    /// one that fits is taken.
    fn asked(&mut self, id: &str, result: &Members<'_>, direction: Option<&str>) -> Option<Question> {
        let waiting = self.pending.get_mut(id)?;
        let fits = |request: &Request| {
            let other = request.direction.as_deref().is_none_or(|asked| Some(asked) != direction);
            let shape = match request.asked {
                Question::Tools { .. } => result.has("tools") || result.first().is_none(),
                Question::Call => {
                    let own = ["content", "structuredContent", "task", "resultType"];
                    result.any(&own).is_some() || result.first().is_none()
                }
                Question::Task { .. } => {
                    result.any(&["content", "structuredContent", "status"]).is_some()
                        || result.first().is_none()
                }
                Question::Other => !result.has("content"),
            };
            (other && shape, shape)
        };
        let compared = || waiting.iter().take(COMPARED);
        let place = compared().position(|request| fits(request).0);
        let place = place.or_else(|| compared().position(|request| fits(request).1)).unwrap_or(0);
        let asked = waiting.remove(place).map(|request| request.asked);
        if waiting.is_empty() {
            self.pending.remove(id);
        }
        asked
    }

    fn offered(&mut self, result: &Members<'_>, more: bool, around: &Envelope) {
        let Some(offer) = result.get("tools").and_then(offer::tools) else { return };
        if offer.left_out + offer.unread > 0 {
            let what =
                format!("{} of the offered tools cannot be read completely", offer.left_out + offer.unread);
            self.builder.damaged(what);
        }
        let tools = self.tools.entry(around.server.clone()).or_default();
        if !more {
            tools.clear();
        }
        tools.extend(offer.tools);
        self.untold = true;
    }

    /// Adds the tools of all servers when the next turn begins, because a list may come in any number of pages.
    fn offer(&mut self) {
        if std::mem::take(&mut self.untold) {
            let all: Vec<Tool> = self.tools.values().flatten().cloned().collect();
            let turn = self.builder.next_turn();
            self.builder.offered(turn, all);
        }
    }

    fn close(mut self, out: &mut Out) {
        self.offer();
        out.session(self.builder);
    }

    fn name(&mut self, key: &str, about: Option<Node<'_>>) {
        let name =
            about.and_then(Node::members).and_then(|about| Some(about.get("name")?.text()?.into_owned()));
        if let Some(name) = name {
            self.builder.context_once(key, Value::String(name));
        }
    }
}
