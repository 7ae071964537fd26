//! The front door for programs that run an agent: a policy, a gate, its turns and their calls.
//!
//! A [`Gate`] drives the same [`Run`] as a replay, keeps what happened as a [`Session`], and hands that out to be saved,
//! opened in the workbench or resumed.
//!
//! ```
//! use rulestep_engine::{Gate, Policy};
//! use serde_json::json;
//!
//! let policy = Policy::parse("deploy.yaml", "{tool: deploy, preconditions: [{requires_prior_tool: run_tests}]}")?;
//! let mut gate = Gate::new(&policy);
//!
//! let mut turn = gate.turn();
//! let early = turn.propose("deploy", json!({}));
//! assert!(!early.allowed());
//! assert_eq!(early.message(), Some("[permission denied: prior_tool_missing]"));
//! let why = &early.explain()[0];
//! assert_eq!(why.headline.to_string(), "run_tests has not succeeded in an earlier turn");
//! assert_eq!(why.rule.place(), "deploy.yaml:1");
//! let tests = turn.propose("run_tests", json!({}));
//! assert!(tests.allowed());
//! tests.succeeded(json!("41 passed"));
//! drop(turn);
//!
//! let deploy = gate.turn().propose("deploy", json!({}));
//! assert!(deploy.allowed());
//! deploy.succeeded(json!({"version": 8}));
//!
//! let session = gate.into_session();
//! assert_eq!(session.calls.len(), 3);
//! # Ok::<(), rulestep_engine::InvalidPolicy>(())
//! ```

mod load;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde_json::{Map, Value};

pub use load::InvalidPolicy;
pub use load::loaded_guarded;

use crate::monitor::finding::RuleState;
use crate::monitor::{Depth, End, Explanation};
use crate::policy::Policy;
use crate::replay;
use crate::run::{Decision, Halt, Mode, NewCall, Run, Ticket, Verdict};
use rulestep_base::session::build::{Builder, Mark, spoken};
use rulestep_base::session::{
    Body, CallRef, Facts, Message, MessageKind, Millis, Operation, Origin, Session, Tool, ToolCall,
};

/// A policy at work on one session of a live agent.
///
/// Settings ([`shadow`](Gate::shadow), [`context`](Gate::context) and so on) come before the first turn.
#[derive(Debug)]
pub struct Gate {
    policy: Arc<Policy>,
    live: Arc<Mutex<Live>>,
}

/// State that parallel calls share with their gate.
struct Live {
    mode: Mode,
    facts: Arc<Facts>,
    run: Run,
    record: Builder,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("mode", &self.mode).field("record", &self.record).finish_non_exhaustive()
    }
}

impl Gate {
    /// A gate that enforces the policy on a new session.
    pub fn new(policy: &Arc<Policy>) -> Gate {
        let facts = Arc::default();
        let run = Run::new(policy, Mode::Enforce, Depth::Findings, &facts);
        Gate::over(policy, Builder::new("live", live_origin()), facts, run)
    }

    /// A gate that continues a session: the recorded calls happened, even if this policy would have stopped them, and a
    /// session that the policy would have halted is over.
    pub fn resume(policy: &Arc<Policy>, session: Session) -> Gate {
        let facts = Arc::clone(&session.facts);
        let past = replay::happened(&session, policy);
        Gate::over(policy, Builder::continued(session), facts, past)
    }

    fn over(policy: &Arc<Policy>, record: Builder, facts: Arc<Facts>, run: Run) -> Gate {
        let live = Live { mode: Mode::Enforce, facts, run, record };
        Gate { policy: Arc::clone(policy), live: Arc::new(Mutex::new(live)) }
    }

    /// Decides without stopping anything: [`GatedCall::allowed`] is always true, and
    /// [`GatedCall::decision`] has what would have happened.
    pub fn shadow(self) -> Gate {
        self.set(|live| {
            live.mode = Mode::Shadow;
            live.run.set_mode(Mode::Shadow);
        })
    }

    /// Facts about the session that the host knows, for rules that use them: any JSON.
    pub fn context(self, context: Value) -> Gate {
        self.set_facts(|facts| facts.context = Some(context))
    }

    /// The variables of templates in rejection plans.
    pub fn variables(self, variables: Map<String, Value>) -> Gate {
        self.set_facts(|facts| facts.variables = Some(variables))
    }

    /// Every file that exists at the start, for rules about files that must be read before they are overwritten.
    pub fn files(self, files: impl IntoIterator<Item = impl Into<String>>) -> Gate {
        let files = files.into_iter().map(Into::into).collect();
        self.set_facts(|facts| facts.files = Some(files))
    }

    /// The session's id, as saved.
    pub fn id(self, id: &str) -> Gate {
        self.set(|live| live.record.id(id))
    }

    /// Begins the model's next turn now. It ends when the value is dropped.
    pub fn turn(&mut self) -> Turn<'_> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.turn_at(Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX))
    }

    /// Begins the model's next turn at an instant, in milliseconds since 1970.
    pub fn turn_at(&mut self, now: Millis) -> Turn<'_> {
        let mut live = self.lock();
        live.run.begin_turn(Some(now));
        // A turn without a response or a call is one all the same, or numbers would part from the recording's.
        live.record.end_response();
        let number = live.record.next_turn();
        live.record.ensure_response(&number.to_string(), Some(now));
        drop(live);
        Turn { gate: self, now }
    }

    /// Continues the turn that was begun last and then paused.
    pub fn go_on(&mut self) -> Turn<'_> {
        let now =
            self.lock().record.so_far().messages.last().and_then(|message| message.at).unwrap_or_default();
        Turn { gate: self, now }
    }

    /// Calls so far.
    pub fn call_count(&self) -> u64 {
        self.lock().record.call_count()
    }

    /// Adds something that was said between turns: by a user, the system, a developer. Rejection plans read it.
    pub fn message(&mut self, role: &str, content: impl Into<Body>) {
        let content = content.into();
        let mut live = self.lock();
        live.record.said(role, content.clone(), None);
        // As a replay of the session will see it.
        live.run.message(&plain(spoken(role), content, MessageKind::Said));
    }

    /// Applies an operation on the state that tool policies record.
    pub fn operation(&mut self, operation: Operation) {
        let mut live = self.lock();
        live.run.operation(&operation);
        live.record.operation(operation);
    }

    /// The state of the session rules so far.
    pub fn report(&self) -> Vec<RuleState> {
        self.lock().run.report(End::SoFar)
    }

    /// The halt that ended the session; in shadow mode the first that would have.
    pub fn halt(&self) -> Option<Halt> {
        self.lock().run.halt().cloned()
    }

    /// The policy that decides.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// The session so far. Stopped calls are refused ones, with the message that the model got.
    pub fn session(&self) -> Session {
        let mut session = self.lock().record.clone().finish();
        session.facts = Arc::clone(&self.lock().facts);
        session
    }

    /// The session. It serialises as the program reads it: saved, it opens in the workbench, and `rulestep_recording::read`
    /// has it back for [`Gate::resume`].
    pub fn into_session(self) -> Session {
        self.session()
    }

    fn set(self, change: impl FnOnce(&mut Live)) -> Gate {
        change(&mut self.lock());
        self
    }

    /// Facts are known before the first turn, so the session so far is played again with the new ones.
    fn set_facts(self, change: impl FnOnce(&mut Facts)) -> Gate {
        let mut session = self.session();
        let mut facts = Facts::clone(&session.facts);
        change(&mut facts);
        session.facts = Arc::new(facts);
        let mut live = self.lock();
        live.facts = Arc::clone(&session.facts);
        live.run = replay::happened(&session, &self.policy);
        let mode = live.mode;
        live.run.set_mode(mode);
        drop(live);
        self
    }

    fn lock(&self) -> MutexGuard<'_, Live> {
        lock(&self.live)
    }
}

/// Rules that panic are caught within the run: nothing is left half done where a lock was held.
fn lock(live: &Mutex<Live>) -> MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One response of the model, with its calls. Dropping it ends the turn; calls that are still running may end later.
#[derive(Debug)]
pub struct Turn<'gate> {
    gate: &'gate mut Gate,
    now: Millis,
}

impl Turn<'_> {
    /// Which of these tools the model should see. Call it before the first call is proposed.
    pub fn visible(&mut self, offered: &[impl AsRef<str>]) -> Vec<Arc<str>> {
        let offered: Vec<Arc<str>> = offered.iter().map(|tool| Arc::from(tool.as_ref())).collect();
        let mut live = self.gate.lock();
        let tools =
            offered.iter().map(|name| Tool { name: Arc::clone(name), description: None, parameters: None });
        let turn = live.record.next_turn().saturating_sub(1);
        let tools: Vec<Tool> = tools.collect();
        live.record.offered(turn, tools);
        let narrowed = live.run.narrow(&offered);
        narrowed.into_iter().filter(|tool| tool.visible()).map(|tool| tool.tool).collect()
    }

    /// Its number, from 1.
    pub fn number(&self) -> u32 {
        self.gate.lock().record.next_turn().saturating_sub(1)
    }

    /// Allows the turn to be continued later: see [`Gate::go_on`].
    pub fn pause(self) {
        std::mem::forget(self);
    }

    /// The text of the model's message with its calls. Rejection plans read it.
    pub fn respond(&mut self, content: impl Into<Body>) {
        self.response(content.into(), Vec::new());
    }

    /// Decides a call. Arguments are a JSON value, or a [`Body`] that keeps them as they were written: those that programs may
    /// read differently, or too deep to look into, are denied whatever the policy says.
    pub fn propose(&mut self, tool: &str, arguments: impl Into<Body>) -> GatedCall {
        let arguments = arguments.into();
        self.response(Body::MISSING, vec![(tool, arguments.clone())]);
        self.decide(tool, arguments)
    }

    /// Decides the calls of one response, in their order. A rejection plan that reads the response sees all of its calls.
    pub fn propose_all<'t>(&mut self, calls: impl IntoIterator<Item = (&'t str, Value)>) -> Vec<GatedCall> {
        let calls: Vec<(&str, Body)> =
            calls.into_iter().map(|(tool, arguments)| (tool, Body::from(arguments))).collect();
        self.response(Body::MISSING, calls.clone());
        calls.into_iter().map(|(tool, arguments)| self.decide(tool, arguments)).collect()
    }

    fn response(&mut self, content: Body, calls: Vec<(&str, Body)>) {
        let mut live = self.gate.lock();
        let number = live.record.next_turn().saturating_sub(1);
        if !content.is_missing() {
            live.record.more_content(&content);
        }
        let first = live.record.call_count();
        let calls = (first..).zip(calls).map(|(index, (tool, arguments))| {
            Arc::new(ToolCall { id: Some(call_id(index).into()), tool: tool.into(), arguments })
        });
        let calls = calls.collect();
        let message = Message {
            calls,
            at: Some(self.now),
            ..plain("assistant", content, MessageKind::Response(number))
        };
        live.run.respond(&message);
    }

    fn decide(&mut self, tool: &str, arguments: Body) -> GatedCall {
        let mut live = self.gate.lock();
        let (ticket, decision) = live.run.propose(NewCall { tool, arguments: &arguments });
        let id = call_id(live.record.call_count());
        live.record.call(Some(&id), tool, arguments, Some(self.now));
        let runs = live.mode == Mode::Shadow || decision.verdict.may_run();
        let (policy, shared) = (Arc::clone(&self.gate.policy), Arc::clone(&self.gate.live));
        let call = GatedCall { policy, live: shared, ticket, id, decision, runs };
        if !runs {
            let said = call.message().unwrap_or(OVER).to_owned();
            live.settle(&call, Body::text(said), Mark { error: false, refused: Some("rulestep") });
        }
        call
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut live = self.gate.lock();
        live.run.end_turn();
        live.record.end_response();
    }
}

/// The message for a call that a person declined, if the rule has no message.
const DECLINED: &str = "[permission denied]";

/// The message for a call that is proposed after the session was halted.
const OVER: &str = "[session halted]";

/// A decided call. Report its outcome with one of the methods that take `self`; a call that is dropped before that may
/// have run, so it satisfies no rule and still counts for rules that forbid.
#[derive(Debug)]
#[must_use = "a call that is not allowed must not run"]
pub struct GatedCall {
    policy: Arc<Policy>,
    live: Arc<Mutex<Live>>,
    ticket: Ticket,
    id: String,
    decision: Decision,
    runs: bool,
}

impl GatedCall {
    /// Whether the call may run: it was allowed, or the gate is in shadow mode. False for a call that a person is to be asked
    /// about: see [`GatedCall::asks`].
    pub fn allowed(&self) -> bool {
        self.runs && !self.asks()
    }

    /// Whether a person is to be asked before the call runs. Report with [`GatedCall::refused`] that they declined;
    /// with any other outcome it ran. A host that cannot ask anyone treats it as denied, and reports `refused` as well.
    pub fn asks(&self) -> bool {
        self.decision.verdict == Verdict::Ask && lock(&self.live).mode == Mode::Enforce
    }

    /// The verdict, with what every rule that spoke against the call found.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Why the call is not allowed, in words: the finding of each rule that objects to it, the deciding one first. Each
    /// names its rule with the place in the policy, the calls it rests on, and the message to the model. Empty for a
    /// call whose arguments no rule could look into: its message says why.
    pub fn explain(&self) -> Vec<Explanation> {
        let live = lock(&self.live);
        let (rules, session) = (self.policy.rules(), live.record.so_far());
        self.decision.findings.iter().filter_map(|finding| finding.explain(rules, session)).collect()
    }

    /// The call's place in the session.
    pub fn at(&self) -> CallRef {
        self.ticket.at()
    }

    /// The message to the model instead of a result; for a call that a person is asked about, if they decline. `None`
    /// if the policy allows the call.
    pub fn message(&self) -> Option<&str> {
        match self.decision.verdict {
            Verdict::Allow => None,
            Verdict::Ask => {
                self.decision.deciding().and_then(|finding| finding.tell_llm.as_deref()).or(Some(DECLINED))
            }
            Verdict::NotReached => Some(OVER),
            Verdict::Deny | Verdict::Halt => self.decision.told.as_deref(),
        }
    }

    /// The call ran and succeeded with this result.
    pub fn succeeded(self, output: impl Into<Body>) {
        self.ended(output.into(), Mark::default());
    }

    /// The call ran and failed.
    pub fn failed(self, error: impl Into<Body>) {
        self.ended(error.into(), Mark { error: true, refused: None });
    }

    /// Another gate or a user stopped the call, so it did not run.
    pub fn refused(self, why: impl Into<Body>) {
        self.ended(why.into(), Mark { error: false, refused: Some("the host") });
    }

    fn ended(self, output: Body, mark: Mark) {
        // A stopped call has its result already.
        if self.runs {
            lock(&self.live).settle(&self, output, mark);
        }
    }
}

impl Live {
    /// Keeps the result of a call, which the model reads. What it means is decided by what decides it for recordings, so
    /// that a replay of the session agrees.
    fn settle(&mut self, call: &GatedCall, output: Body, mark: Mark) {
        self.record.result(Some(&call.id), output.clone(), mark, None);
        if call.runs {
            self.run.resolve(call.ticket, self.record.outcome(call.at()), &output);
        }
        let kind = MessageKind::Result(Some(call.at().index), Some(call.id.as_str().into()));
        self.run.message(&plain("tool", output, kind));
    }
}

fn plain(role: &str, content: Body, kind: MessageKind) -> Message {
    Message { role: role.into(), content, at: None, kind, calls: Vec::new(), line: 0 }
}

fn call_id(index: u64) -> String {
    format!("call-{}", index + 1)
}

fn live_origin() -> Origin {
    Origin { file: "live".into(), index: 0, format: "native", line: 1 }
}
