//! Builds a session from a reader's events: forms turns, pairs results with calls, settles outcomes.
//!
//! Readers report what is in the recording, in order; its meaning is decided here, once for all formats.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::body::Fault;
use super::title::Title;
use super::{
    AgentState, Body, Call, CallRef, Facts, Message, MessageKind, Millis, OLD_OPERATION_ROLE, OPERATION_ROLE,
    Operation, Origin, Outcome, Results, Session, ToolCall, Turn, refusal,
};
use crate::diagnostic::{Diagnostic, Loss, code};
use crate::source::quoted;

pub mod choices;
mod odd;
mod results;
mod surroundings;
mod unsettled;
mod waiting;

pub use unsettled::Unsettled;
use waiting::Waiting;

/// Collects one session.
#[derive(Debug, Clone)]
pub struct Builder {
    session: Session,
    facts: Facts,
    title: Title,
    /// Key of the open response; consecutive messages with the same key are one turn.
    open: Option<Arc<str>>,
    /// Calls that wait for their result, by id. Nearly every call has its result before the next one, so this stays
    /// small however long the session is.
    named: HashMap<Arc<str>, Waiting>,
    /// The ids of all calls up to this place, so that a second result for one is not reported as a result of a missing
    /// call. Made when a result finds no waiting call.
    ids: (HashSet<Arc<str>>, usize),
    /// Calls without an id that wait for their result.
    unnamed: Waiting,
    /// Names of tools and roles, each kept once: sessions repeat the same few.
    names: HashSet<Arc<str>>,
    line: u32,
    /// Folder of the calls that follow, if not the session's.
    folder: Option<Arc<str>>,
    /// State of the agent for the calls that follow, if not as the session's context says.
    agent: Option<Arc<AgentState>>,
    /// Whether the calls that follow were copied from the session that this one is forked from.
    copied: bool,
    /// The session that this one is forked from, if its own recording does not say how much was copied.
    fork: Option<Arc<str>>,
    /// Whether the recording itself says if results were recorded.
    states_results: bool,
    /// Whether some result carries a mark of success or failure.
    marks_errors: bool,
    results: u64,
    /// Recognises refusals that are neither marked nor published.
    refused: Option<refusal::Test>,
    /// Whether only marks, never the text of a result, show that a call was refused.
    refusals_marked: bool,
    /// Calls whose arguments were read in Python notation.
    in_python: u32,
    /// Whether it was reported that some result does not say if its call succeeded.
    told_unsure: bool,
    /// Calls that wait although they have a result, because it does not say how they ended.
    unsure: Vec<u32>,
}

/// Marks of a result in the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mark {
    /// Marked as failed.
    pub error: bool,
    /// Marked as refused: how the reader knows (`"refused": true`, a rejection's own text).
    pub refused: Option<&'static str>,
}

/// Name of a call without a name.
const UNNAMED: &str = "(unnamed)";

/// The consequence of arguments that programs may read differently.
const NOT_DECIDED: &str = "no rule can decide the call, so it counts as denied";

/// Roles that [`Builder::said`] does not keep, and the one that replaces them.
const NOT_SAID: [&str; 6] = ["assistant", "model", "ai", "tool", "function", OLD_OPERATION_ROLE];
const UNKNOWN: &str = "unknown";

impl AsMut<Builder> for Builder {
    fn as_mut(&mut self) -> &mut Builder {
        self
    }
}

impl Builder {
    /// An empty session from `origin`.
    pub fn new(id: impl Into<Arc<str>>, origin: Origin) -> Builder {
        Builder {
            line: origin.line,
            session: Session {
                id: id.into(),
                origin,
                title: None,
                began: None,
                facts: Arc::default(),
                parent: None,
                offered: Vec::new(),
                messages: Vec::new(),
                turns: Vec::new(),
                calls: Vec::new(),
                alternatives: Vec::new(),
                elsewhere: None,
                diagnostics: Vec::new(),
            },
            facts: Facts::default(),
            title: Title::default(),
            open: None,
            named: HashMap::new(),
            ids: (HashSet::new(), 0),
            unnamed: Waiting::default(),
            names: HashSet::new(),
            folder: None,
            agent: None,
            copied: false,
            fork: None,
            states_results: false,
            marks_errors: false,
            results: 0,
            refused: None,
            refusals_marked: false,
            in_python: 0,
            told_unsure: false,
            unsure: Vec::new(),
        }
    }

    /// Continues a session: calls without a result still wait for theirs.
    pub fn continued(session: Session) -> Builder {
        let mut builder = Builder::new(Arc::clone(&session.id), session.origin.clone());
        let Unsettled { of, over } = session.unsettled();
        for call in &session.calls {
            if call.result.is_none() && !over.contains(&call.at.index) {
                builder.waiting_with(call.id.as_ref()).push(call.at.index);
            }
        }
        builder.unsure.extend(of.into_values().filter(|call| !over.contains(call)));
        builder.facts = Facts::clone(&session.facts);
        builder.title = Title::of(&session);
        builder.session = session;
        builder
    }

    /// More content of the latest response: text gets a line of its own.
    pub fn more_content(&mut self, content: &Body) {
        let last = self.session.turns.last().and_then(|turn| turn.messages.end.checked_sub(1));
        let Some(message) = last.and_then(|place| self.session.messages.get_mut(place)) else { return };
        message.content = match message.content.is_missing() {
            true => content.clone(),
            false => Body::text(format!("{}\n{}", message.content.shown(), content.shown())),
        };
    }

    /// The session so far. Outcomes may still change.
    pub fn so_far(&self) -> &Session {
        &self.session
    }

    /// The outcome of a call, as far as it is known.
    pub fn outcome(&self, call: CallRef) -> Outcome {
        self.session.calls.get(call.index as usize).map_or(Outcome::Unknown, |call| call.outcome)
    }

    /// Adds a test that recognises refusals, whatever else their results are marked as.
    pub fn refused_by(mut self, test: Option<refusal::Test>) -> Builder {
        self.refused = test;
        self
    }

    /// Whether the results that follow mark refused calls, so that no output of a tool counts as a refusal.
    pub fn marks_refusals(&mut self, marks: bool) {
        self.refusals_marked = marks;
    }

    /// Hint: about this many messages follow.
    pub fn expect_messages(&mut self, count: usize) {
        self.session.messages.reserve(count);
    }

    /// Hint: this many responses follow, with this many calls.
    pub fn expect_turns(&mut self, turns: usize, calls: usize) {
        self.session.turns.reserve_exact(turns);
        self.session.calls.reserve_exact(calls);
    }

    /// Sets the line of the file for what follows, from 1.
    pub fn at_line(&mut self, line: u32) -> &mut Self {
        self.line = line;
        self
    }

    /// The current line.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The number that the next response's turn will have.
    pub fn next_turn(&self) -> u32 {
        self.turn_count() + 1
    }

    /// The arguments of this many calls were read in Python notation.
    pub fn read_as_python(&mut self, calls: u32) {
        self.in_python += calls;
    }

    /// The number of those calls.
    pub fn python_count(&self) -> u32 {
        self.in_python
    }

    /// Results so far.
    pub fn result_count(&self) -> u64 {
        self.results
    }

    /// Calls so far.
    pub fn call_count(&self) -> u64 {
        self.session.calls.len() as u64
    }

    fn turn_count(&self) -> u32 {
        self.session.turns.len() as u32
    }

    /// A message of anyone but the model or a tool. Ends an open response. A role that is the model's or a tool's is
    /// replaced, and that is reported.
    pub fn said(&mut self, role: &str, content: Body, at: Option<Millis>) {
        self.open = None;
        if role.is_empty() {
            let odd = "a message has an empty role; it is read as one of the role `unknown`";
            self.lost(Loss::MayHoldCalls, odd);
        } else if spoken(role) != role {
            self.damaged(format!(
                "a message has the unknown role `{role}`, so it is neither a response nor a result"
            ));
        }
        let role = spoken(role);
        if role == "user" {
            self.title.hear(|| content.said());
        }
        self.push(role, content, at, MessageKind::Said);
    }

    /// A message of the model. Consecutive ones with the same `key` are one turn; without a key each is its own.
    pub fn response(&mut self, key: Option<&str>, content: Body, at: Option<Millis>) {
        let continues = key.is_some() && self.open.as_deref() == key;
        let start = self.session.messages.len();
        if !continues {
            let (number, calls) = (self.next_turn(), self.session.calls.len());
            let turn = Turn { number, messages: start..start, calls: calls..calls, late: Vec::new() };
            self.session.turns.push(turn);
        }
        self.open = key.map(Arc::from);
        let number = self.turn_count();
        self.push("assistant", content, at, MessageKind::Response(number));
        if let Some(turn) = self.session.turns.last_mut() {
            turn.messages.end = start + 1;
        }
    }

    /// Begins a response without content, unless the one with this key is still open.
    pub fn ensure_response(&mut self, key: &str, at: Option<Millis>) {
        if self.open.as_deref() != Some(key) {
            self.response(Some(key), Body::MISSING, at);
        }
    }

    /// Whatever follows belongs to another response, whatever its key.
    pub fn end_response(&mut self) {
        self.open = None;
    }

    /// A call proposed by the latest response; before any response, an empty one is begun for it. A call without a name
    /// gets one, and arguments that no path can look into are kept; both are reported.
    pub fn call(&mut self, id: Option<&str>, tool: &str, arguments: Body, at: Option<Millis>) -> CallRef {
        if self.session.turns.is_empty() {
            self.response(None, Body::MISSING, at);
        }
        let tool = if tool.is_empty() {
            let unnamed = format!("a call names no tool; it is kept as {}", quoted(UNNAMED));
            self.lost(Loss::MayHoldCalls, unnamed);
            UNNAMED
        } else {
            tool
        };
        let unknown = Some(&arguments).filter(|arguments| !arguments.is_elsewhere());
        let (fault, twice) = unknown.map(Body::flaws).unwrap_or_default();
        if let Some(key) = twice {
            let (tool, key) = (quoted(tool), quoted(&key));
            self.damaged(format!("the arguments of a call to {tool} have {key} twice; {NOT_DECIDED}"));
        }
        if let Some(fault) = fault {
            let reason = match fault {
                Fault::NotJson if arguments.raw().trim().is_empty() => "are an empty text",
                Fault::NotJson if arguments.undecidable().is_some() => {
                    "are not JSON that every program reads"
                }
                Fault::NotJson => "are not JSON",
                Fault::TooDeep => "nest deeper than 127 levels",
                Fault::ReservedKey => "have a key that JSON readers reserve (`$serde_json::…`)",
            };
            let then = match arguments.undecidable() {
                Some(_) => NOT_DECIDED,
                None => "they are kept as text",
            };
            let message = format!("the arguments of a call to {} {reason}; {then}", quoted(tool));
            self.tell(code::ARGUMENTS_NOT_JSON, message);
        }
        if let Some(kind) = unknown.and_then(Body::not_arguments) {
            let message = format!("the arguments of a call to {} are {kind}, not an object", quoted(tool));
            self.lost(Loss::MayHoldCalls, message);
        }
        let place = self.session.calls.len();
        let index = place as u32;
        let (turn, call) = match self.session.turns.last_mut() {
            Some(turn) => {
                turn.calls.end = place + 1;
                (turn.number, turn.calls.len() as u32)
            }
            None => (1, 1),
        };
        let at_ref = CallRef { turn, call, index };
        let id: Option<Arc<str>> = id.filter(|id| !id.is_empty()).map(Arc::from);
        self.no_longer_unsure(id.as_ref());
        self.waiting_with(id.as_ref()).push(index);
        let proposed = Arc::new(ToolCall { id, tool: self.name(tool), arguments });
        let response = self.session.turns.last().and_then(|turn| turn.messages.end.checked_sub(1));
        if let Some(message) = response.and_then(|place| self.session.messages.get_mut(place)) {
            // Most messages propose one call.
            if message.calls.is_empty() {
                message.calls.reserve_exact(1);
            }
            message.calls.push(Arc::clone(&proposed));
        }
        self.session.calls.push(Call {
            at: at_ref,
            proposed,
            outcome: Outcome::Unknown,
            refusal: None,
            output: Body::MISSING,
            result: None,
            in_turn: false,
            time: at,
            folder: self.folder.clone(),
            agent: self.agent.clone(),
            copied: self.copied,
            live: None,
        });
        at_ref
    }

    /// An operation on recorded state. It ends no turn.
    pub fn operation(&mut self, operation: Operation) {
        self.push(OPERATION_ROLE, Body::MISSING, None, MessageKind::Operation(operation));
    }

    /// The file and place that the session is read from.
    pub fn origin(&self) -> &Origin {
        &self.session.origin
    }

    /// The session.
    pub fn finish(mut self) -> Session {
        if self.facts.from_the_middle {
            // The calls are before the beginning, which is reported separately.
            let unasked = |told: &&mut Diagnostic| told.code == code::RESULT_WITHOUT_CALL;
            self.session.diagnostics.iter_mut().filter(unasked).for_each(|told| told.loss = None);
        }
        self.session.facts = Arc::new(self.facts);
        self.session.title = self.title.end();
        if self.session.facts.results == Results::Absent {
            self.session.without_results();
        }
        self.session
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        match self.names.get(name) {
            Some(known) => Arc::clone(known),
            None => {
                let new: Arc<str> = name.into();
                self.names.insert(Arc::clone(&new));
                new
            }
        }
    }

    fn push(&mut self, role: &str, content: Body, at: Option<Millis>, kind: MessageKind) {
        let (role, calls, line) = (self.name(role), Vec::new(), self.line);
        self.session.began = self.session.began.or(at);
        self.session.messages.push(Message { role, content, at, kind, calls, line });
    }
}

/// The role under which a message is kept: never one that would make a response, a result or an operation of it.
pub fn spoken(role: &str) -> &str {
    if role.is_empty() || NOT_SAID.contains(&role) { UNKNOWN } else { role }
}

impl Session {
    /// The recording keeps no results: a call without one counts as ok, within its turn.
    pub fn without_results(&mut self) {
        if self.facts.results != Results::Absent {
            self.facts = Arc::new(Facts { results: Results::Absent, ..Facts::clone(&self.facts) });
        }
        for call in self.calls.iter_mut().filter(|call| call.result.is_none()) {
            call.outcome = Outcome::Ok;
            call.in_turn = true;
        }
    }
}
