//! `rulestep proxy`: passes messages between an MCP client and its server, and stops tool calls by a policy.
//!
//! Messages are passed on as written. The types of an SDK would drop unknown members and rewrite numbers and ids, so
//! only the members that a decision needs are read here.

mod answers;
mod connection;
#[cfg(feature = "proxy-http")]
pub mod http;
mod message;
mod tools;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::agent::{Answer, Event, Report};
use super::fault::Fault;
use super::followed::Followed;
use super::hook_service::{HookService, NewCall};
use super::tree::now;
use answers::{asking, error, refused, unreadable, withdrawn};
use connection::{OPEN, Purpose, Question, Request, Running, State};
pub use message::Delivery;
use message::{Members, clear, key, one_line, unambiguous};
use rulestep_base::session::{Body, refusal};
use rulestep_engine::run::Mode;
use rulestep_recording::{self as recording, McpEnded};
use tools::announced;

/// The name of the folder of these journals.
pub const AGENT: &str = "mcp";

/// A client and a server, and the policy between them.
#[derive(Debug)]
pub struct Proxy {
    service: HookService,
    session: String,
    /// Prefix of ids that are made here: several proxies may write to one journal.
    prefix: String,
    server: Option<String>,
    /// The answer for a call that cannot be decided.
    on_error: fn(String) -> Answer,
    /// Whether tools that the policy stops now are hidden.
    hides: bool,
    state: Mutex<State>,
    /// The state of the session.
    followed: Mutex<Followed>,
}

impl Proxy {
    /// Between a client and a server. Tools are called `mcp__SERVER__TOOL` if the server has a name.
    pub fn new(
        service: HookService,
        session: Option<String>,
        server: Option<String>,
        on_error: fn(String) -> Answer,
    ) -> Proxy {
        let prefix = format!("{:x}-{:x}", now().unwrap_or_default(), std::process::id());
        let session = session.unwrap_or_else(|| prefix.clone());
        let hides = service.mode == Mode::Enforce;
        let (state, followed) = (Mutex::default(), Mutex::default());
        Proxy { service, session, prefix, server, on_error, hides, state, followed }
    }

    /// The same without hiding tools: only calls are decided.
    pub fn keep_tools(mut self) -> Proxy {
        self.hides = false;
        self
    }

    /// What a line of the client becomes.
    pub fn client_line(&self, bytes: &[u8]) -> Vec<Delivery> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return refused(None, -32700, "it is not UTF-8");
        };
        if text.trim().is_empty() {
            return Vec::new();
        }
        let message = match unambiguous(text) {
            Ok(message) => message,
            Err(why) => return unreadable(text, &why),
        };
        let mut state = self.lock();
        let id = message.get("id");
        let Some(method) = message.get("method") else {
            return match id.and_then(|id| state.questions.remove(&key(id))) {
                Some(question) => self.answered(&mut state, question, &message),
                None => vec![Delivery::Server(one_line(text))],
            };
        };
        let params = message.object("params").unwrap_or_default();
        let method = serde_json::from_str::<String>(method.get()).ok();
        let Some(method) = method.filter(|method| clear(method, &params)) else {
            return refused(id, -32600, "its method is not one of MCP");
        };
        let purpose = match &*method {
            "tools/call" => return self.call(&mut state, id, &params, text),
            "tools/list" => Purpose::Tools { more: params.get("cursor").is_some() },
            "initialize" => {
                let elicitation = message.at(&["params", "capabilities", "elicitation"]);
                let forms = elicitation.and_then(|kinds| Members::read(kinds.get()).ok());
                state.elicits =
                    forms.is_some_and(|kinds| kinds.get("form").is_some() || kinds.get("url").is_none());
                Purpose::Handshake
            }
            "server/discover" => Purpose::Handshake,
            "tasks/result" | "tasks/get" => {
                let task = params.text("taskId").unwrap_or_default();
                Purpose::Task { task, result: method == "tasks/result" }
            }
            "notifications/initialized" => {
                state.tools.listen(None);
                Purpose::Other
            }
            "subscriptions/listen" => {
                let wants = message.at(&["params", "notifications", "toolsListChanged"]);
                if wants.is_some_and(|wants| wants.get() == "true") {
                    state.tools.listen(id.map(RawValue::get));
                }
                Purpose::Other
            }
            "notifications/cancelled" => {
                let id = params.get("requestId").map(key).unwrap_or_default();
                if let Some((asked, question)) = state.withdraw(&id) {
                    let mut deliveries = self.resolve(&question.running.call, "refused", &Body::MISSING);
                    deliveries.push(withdrawn(&asked));
                    state.in_turn = false;
                    return deliveries;
                }
                let cancelled = state.pending.get(&id);
                if cancelled.is_some_and(|request| matches!(request.purpose, Purpose::Call(_))) {
                    // A call sent now is not parallel to one that is no longer waited for.
                    state.in_turn = false;
                }
                Purpose::Other
            }
            _ => Purpose::Other,
        };
        if let Some(id) = id
            && let Err(why) = state.expect(id, purpose)
        {
            return refused(Some(id), -32600, why);
        }
        vec![Delivery::Server(one_line(text))]
    }

    /// Decides a call.
    fn call(
        &self,
        state: &mut State,
        id: Option<&RawValue>,
        params: &Members<'_>,
        text: &str,
    ) -> Vec<Delivery> {
        let began = Instant::now();
        let Some(id) = id else {
            return refused(None, -32600, "a tool call without an id cannot be answered");
        };
        let known = ["name", "arguments", "_meta", "task", "requestState", "inputResponses"];
        if let Some(name) = params.confusable(&known) {
            return refused(Some(id), -32602, &format!("the member `{name}` is not spelled as MCP does"));
        }
        let Some(name) = params.text("name").filter(|name| !name.is_empty()) else {
            return refused(Some(id), -32602, "the tool call names no tool");
        };
        if state.is_open(&key(id)) {
            return refused(Some(id), -32600, OPEN);
        }
        let tool = self.tool(&name);
        let written = params.get("arguments").map_or("", RawValue::get);
        let mut running =
            Running { tool, arguments: written.to_owned(), request_state: None, call: String::new() };
        if let Some(earlier) = state.go_on(params, &running) {
            return self.forward(state, id, earlier, text);
        }
        running.call = self.make(&mut state.made);
        let arguments = if written.is_empty() { Body::MISSING } else { Body::json(written) };
        let call = NewCall {
            id: Some(&running.call),
            tool: &running.tool,
            arguments: &arguments,
            sibling: Some(state.in_turn),
        };
        let service = HookService { asks: self.service.asks && state.elicits, ..self.service.clone() };
        let decided = catch_unwind(AssertUnwindSafe(|| {
            service.decide(&self.report(Event::Nothing), &call, began, &mut self.followed())
        }));
        let decided = decided.unwrap_or_else(|_| {
            Err(Fault::new(
                "Rulestep has a defect and stopped",
                "report it, with the tool call and the policy",
            ))
        });
        let mut notes = Vec::new();
        let answer = match decided {
            Ok(answer) => {
                state.in_turn = true;
                answer
            }
            Err(fault) => {
                notes.push(Delivery::Note(fault.to_string()));
                (self.on_error)(format!("{}{fault}", refusal::UNDECIDED))
            }
        };
        notes.extend(match answer {
            Answer::Silent => self.forward(state, id, running, text),
            Answer::Ask(reason) if service.asks => {
                let question = Value::from(format!("rulestep-{}", self.make(&mut state.made))).to_string();
                let asked = asking(&question, &running, &reason);
                let line = one_line(text);
                state.questions.insert(question, Question { id: id.get().to_owned(), line, running, reason });
                vec![Delivery::Client(asked)]
            }
            Answer::Halt(reason) => {
                state.halted = true;
                self.denied(state, id.get(), &reason)
            }
            Answer::Ask(reason) | Answer::Deny(reason) => self.denied(state, id.get(), &reason),
        });
        notes
    }

    fn forward(&self, state: &mut State, id: &RawValue, running: Running, text: &str) -> Vec<Delivery> {
        let request = Request { id: id.get().to_owned(), purpose: Purpose::Call(running) };
        state.pending.insert(key(id), request);
        vec![Delivery::Server(one_line(text))]
    }

    /// The message to the model instead of a result.
    fn denied(&self, state: &mut State, id: &str, reason: &str) -> Vec<Delivery> {
        state.in_turn = false;
        let result = json!({"content": [{"type": "text", "text": reason}], "isError": true});
        let answer = Delivery::Client(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        [answer].into_iter().chain(state.tools.changes(|offered| self.visible(offered))).collect()
    }

    /// The user's answer to a question about a call.
    fn answered(&self, state: &mut State, question: Question, message: &Members<'_>) -> Vec<Delivery> {
        let Question { id, line, running, reason } = question;
        let accepted = message.object("result").and_then(|result| result.text("action"));
        if accepted.as_deref() == Some("accept") && !state.halted {
            let request = Request { id: id.clone(), purpose: Purpose::Call(running) };
            let key = serde_json::from_str::<&RawValue>(&id).map_or(id.clone(), key);
            state.pending.insert(key, request);
            return vec![Delivery::Server(line)];
        }
        let mut deliveries = self.resolve(&running.call, "refused", &Body::MISSING);
        let why = reason.strip_prefix(refusal::ASKED).unwrap_or(&reason);
        let reason = format!("{}The user did not agree to it. {why}", refusal::STOPPED);
        deliveries.extend(self.denied(state, &id, &reason));
        deliveries
    }

    /// What a line of the server becomes.
    pub fn server_line(&self, bytes: &[u8]) -> Vec<Delivery> {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        if text.is_empty() {
            return Vec::new();
        }
        if let Ok(batch) = serde_json::from_str::<Vec<&RawValue>>(text) {
            return batch.iter().flat_map(|message| self.server_line(message.get().as_bytes())).collect();
        }
        let message = match Members::read(text) {
            Ok(message) => message,
            // The client could not read it either; its own reading of the answer would not be in the journal.
            Err(why) => {
                let note = format!("a line of the MCP server is not JSON-RPC and is not passed on: {why}");
                return vec![Delivery::Note(note)];
            }
        };
        let mut state = self.lock();
        let request = match (message.get("method"), message.get("id")) {
            (None, Some(id)) => state.pending.remove(&key(id)),
            _ => None,
        };
        let passed = Delivery::Client(one_line(text));
        let Some(request) = request else { return vec![passed] };
        state.tools.forget(&request.id);
        let result = message.object("result").unwrap_or_default();
        match request.purpose {
            Purpose::Handshake if self.hides => {
                vec![Delivery::Client(announced(text, &message))]
            }
            Purpose::Tools { more } => {
                state.tools.narrowed(text, &result, more, |offered| self.visible(offered))
            }
            Purpose::Call(running) => {
                let Some(running) = state.goes_on(text, &result, running) else { return vec![passed] };
                let response = recording::mcp_response(text);
                self.ended(&mut state, &running.call, &response, passed)
            }
            Purpose::Task { task, result } => {
                let ended = recording::mcp_task(text, result);
                let Some((ended, call)) = ended.and_then(|ended| Some((ended, state.end_task(&task)?)))
                else {
                    return vec![passed];
                };
                self.ended(&mut state, &call, &ended, passed)
            }
            Purpose::Handshake | Purpose::Other => vec![passed],
        }
    }

    /// Records the end of a call, and then passes the answer on.
    fn ended(
        &self,
        state: &mut State,
        call: &str,
        (output, ended): &(Body, McpEnded),
        passed: Delivery,
    ) -> Vec<Delivery> {
        state.in_turn = false;
        let mut deliveries = match ended {
            McpEnded::Ok => self.resolve(call, "ok", output),
            McpEnded::Failed => self.resolve(call, "error", output),
            McpEnded::Unclear(why) => vec![Delivery::Note(format!("{why}; its call stays in flight"))],
        };
        deliveries.push(passed);
        deliveries.extend(state.tools.changes(|offered| self.visible(offered)));
        deliveries
    }

    fn resolve(&self, call: &str, outcome: &'static str, output: &Body) -> Vec<Delivery> {
        let (id, output) = (Some(call.to_owned()), output.clone());
        let event = Event::Resolve { id, tool: String::new(), arguments: None, outcome, output };
        let answered = catch_unwind(AssertUnwindSafe(|| {
            self.service.answer_following(&self.report(event), &mut self.followed())
        }));
        match answered {
            Ok(Ok(_)) => Vec::new(),
            Ok(Err(fault)) => vec![Delivery::Note(format!("a result is not recorded: {fault}"))],
            Err(_) => vec![Delivery::Note("a result is not recorded: Rulestep has a defect".to_owned())],
        }
    }

    /// The answer to a request will not come, by the key of its id. A call that the server cannot have begun with has failed;
    /// any other stays open in the journal.
    #[cfg(feature = "proxy-http")]
    pub fn server_failed(&self, id: &str, why: &str, begun: bool) -> Vec<Delivery> {
        let mut state = self.lock();
        let Some(Request { id, purpose }) = state.pending.remove(id) else { return Vec::new() };
        state.tools.forget(&id);
        let why = format!("the MCP server did not answer: {why}");
        let Purpose::Call(running) = purpose else { return vec![error(&id, -32000, &why)] };
        if begun {
            state.in_turn = false;
            return vec![error(&id, -32000, &format!("{why}; the tool call may have happened"))];
        }
        let passed = error(&id, -32000, &format!("{why}; the tool call did not happen"));
        let Delivery::Client(text) = &passed else { return vec![passed] };
        let response = recording::mcp_response(text);
        self.ended(&mut state, &running.call, &response, passed)
    }

    /// The server has ended: its open requests are answered, and their possible effects stay open in the journal. `why`
    /// is the known cause.
    pub fn server_ended(&self, why: Option<&str>) -> Vec<Delivery> {
        let mut state = self.lock();
        let why = format!("{}; a tool call may have happened", why.unwrap_or(ENDED));
        let mut deliveries = Vec::new();
        for (_, question) in std::mem::take(&mut state.questions) {
            deliveries.extend(self.resolve(&question.running.call, "refused", &Body::MISSING));
            deliveries.push(error(&question.id, -32000, &why));
        }
        let pending = std::mem::take(&mut state.pending);
        deliveries.extend(pending.values().map(|request| error(&request.id, -32000, &why)));
        deliveries
    }

    /// The connection has ended.
    pub fn close(&self) -> Vec<Delivery> {
        match self.service.answer_following(&self.report(Event::End), &mut self.followed()) {
            Ok(_) => Vec::new(),
            Err(fault) => vec![Delivery::Note(fault.to_string())],
        }
    }

    /// Those of some tools of the server that the policy does not stop now.
    fn visible(&self, offered: &[String]) -> Result<Vec<String>, Fault> {
        if !self.hides {
            return Ok(offered.to_vec());
        }
        let names: Vec<String> = offered.iter().map(|name| self.tool(name)).collect();
        let visible = self.service.visible(&self.report(Event::Nothing), &names, &mut self.followed())?;
        let is_visible = |name: &&String| visible.iter().any(|visible| **visible == *self.tool(name));
        Ok(offered.iter().filter(is_visible).cloned().collect())
    }

    /// The name of a tool in the policy.
    fn tool(&self, name: &str) -> String {
        self.server.as_ref().map_or_else(|| name.to_owned(), |server| format!("mcp__{server}__{name}"))
    }

    fn make(&self, made: &mut u64) -> String {
        *made += 1;
        format!("{}-{made}", self.prefix)
    }

    fn report(&self, event: Event) -> Report {
        let cwd = std::env::current_dir().ok().map(|folder| folder.display().to_string());
        let folder = cwd.clone();
        Report { session: self.session.clone(), subagent: None, transcript: None, folder, cwd, event }
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const ENDED: &str = "the MCP server ended before it answered";
