//! Decides calls: one run of a policy over one session, live or recorded.
//!
//! A live agent, a replay, a comparison and a test all drive the same [`Run`]. It asks the monitors that a tool wakes,
//! combines their answers, and reports events to them. It does no I/O and knows no clock.
//!
//! ```text
//! begin_turn ─► narrow ─► respond ─► propose ─► (run the tool) ─► resolve ─► … ─► end_turn ─► message ─► begin_turn
//! ```

#[cfg(debug_assertions)]
pub mod closed;
mod context;
pub mod decision;
mod elsewhere;
mod hear;
mod in_flight;
mod panel;
mod prospects;
mod routes;
mod saved;

use std::sync::Arc;

pub use decision::{Decision, Halt, Narrowing, ToolVisibility, Verdict};

use crate::monitor::finding::RuleState;
use crate::monitor::{Depth, End, Event, History, StateItem, Trace};
use crate::policy::Policy;
use context::Context;
use elsewhere::Heard;
use in_flight::{Flights, InFlight};
use panel::Panel;
use routes::Routes;
use rulestep_base::session::{Body, CallRef, Facts, Message, Millis, Operation, Outcome, Results};

/// The semantics that all dialects share, as a page for people: `rulestep explain semantics`.
pub const SEMANTICS: &str = include_str!("run/semantics.md");

/// Whether decisions take effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// A stopped call does not run.
    #[default]
    Enforce,
    /// Decisions are made, and what happened happened all the same.
    Shadow,
}

impl Mode {
    /// The word of the command line, the JSON output and the screen.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Enforce => "enforce",
            Mode::Shadow => "shadow",
        }
    }
}

/// A call to be decided.
#[derive(Debug, Clone, Copy)]
pub struct NewCall<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: &'a Body,
}

/// Names a proposed call until it is resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket(CallRef);

impl Ticket {
    /// The ticket of the call that is here.
    pub fn of(at: CallRef) -> Ticket {
        Ticket(at)
    }

    /// The call's place.
    pub fn at(self) -> CallRef {
        self.0
    }
}

/// Index of a run's data for a tool.
#[derive(Debug, Clone, Copy)]
pub struct Place(u32);

/// A policy at work on one session.
pub struct Run {
    mode: Mode,
    panel: Panel,
    context: Context,
    routes: Routes,
    clock: Clock,
    /// Messages that were added within the turn.
    waiting: Vec<Message>,
    /// The call that was allowed last and that nothing has followed yet: it starts with the next thing that happens,
    /// unless that is its refusal.
    pending: Option<InFlight>,
    in_flight: Flights,
    halt: Option<Halt>,
    heard: Heard,
}

/// The current position of the run.
#[derive(Debug, Clone, Copy, Default, serde::Serialize, serde::Deserialize)]
struct Clock {
    in_turn: bool,
    /// Calls proposed in the session.
    index: u32,
    /// Calls proposed in the turn.
    proposed: u32,
    /// Calls of the turn that ran.
    started: u32,
    /// The turn and the number of the call that was proposed last.
    last: (u32, u32),
}

impl Run {
    /// A run before its first turn. `depth` sets how much each decision holds. With the verdict alone, the rules keep
    /// no evidence, and [`Run::state`] names fewer calls.
    pub fn new(policy: &Arc<Policy>, mode: Mode, depth: Depth, facts: &Arc<Facts>) -> Run {
        #[cfg(debug_assertions)]
        closed::check();
        let depth = least(policy, depth);
        let context = Context {
            enforcing: mode == Mode::Enforce,
            want_findings: depth >= Depth::Named,
            turn: 0,
            now: None,
            facts: Arc::clone(facts),
            folder: None,
            history: History::default(),
            response: Vec::new(),
            ran: Trace::default(),
        };
        Run {
            mode,
            panel: Panel::new(policy, depth),
            context,
            routes: Routes::new(policy),
            clock: Clock::default(),
            waiting: Vec::new(),
            pending: None,
            in_flight: Flights::default(),
            halt: None,
            heard: Heard::default(),
        }
    }

    /// Forks the run.
    pub fn fork(&self) -> Run {
        #[cfg(debug_assertions)]
        closed::check();
        Run {
            mode: self.mode,
            panel: self.panel.fork(),
            context: self.context.clone(),
            routes: self.routes.clone(),
            clock: self.clock,
            waiting: self.waiting.clone(),
            pending: self.pending.clone(),
            in_flight: self.in_flight.clone(),
            halt: self.halt.clone(),
            heard: self.heard.clone(),
        }
    }

    /// Whether decisions take effect from now on. What happened before happened.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
        self.context.enforcing = mode == Mode::Enforce;
    }

    /// Sets how much decisions hold from now on. A run with verdicts alone has no evidence of earlier calls.
    pub fn tell(&mut self, depth: Depth) {
        self.panel.depth = least(&self.panel.policy, depth);
        self.context.want_findings |= self.panel.depth >= Depth::Named;
    }

    /// The halt that ended the session, in `shadow` the first one.
    pub fn halt(&self) -> Option<&Halt> {
        self.halt.as_ref()
    }

    /// Whether nothing is reached any more.
    pub fn is_over(&self) -> bool {
        self.mode == Mode::Enforce && self.halt.is_some()
    }

    /// The number of turns and calls so far.
    pub fn been_through(&self) -> (u32, u32) {
        (self.context.turn, self.clock.index)
    }

    /// Whether some rule reads messages; if not, they need not be reported.
    pub fn reads_history(&self) -> bool {
        self.panel.policy.reads_history()
    }

    /// Whether some rule needs the time; if not, a turn's time need not be reported.
    pub fn reads_time(&self) -> bool {
        self.panel.policy.dispatch().time
    }

    /// Whether some rule has a state that operations change; if not, they need not be reported.
    pub fn reads_operations(&self) -> bool {
        !self.panel.policy.dispatch().operations.is_empty()
    }

    /// Whether the session keeps results.
    pub fn results(&self) -> Results {
        self.context.facts.results
    }

    /// Adds a message to the history: what a user or the system said, a result as the model saw it. Within a turn it
    /// waits for the turn's end, since the model had not seen it when it proposed the turn's calls.
    pub fn message(&mut self, message: &Message) {
        if !self.panel.policy.reads_history() {
            return;
        }
        if self.clock.in_turn {
            self.waiting.push(message.clone());
        } else {
            self.remember(message.clone());
        }
    }

    /// The folder that calls are made in from now on; `None`: that of the session. A call that is in flight stays in its own.
    pub fn enter(&mut self, folder: Option<&Arc<str>>) {
        if self.context.folder.as_ref() != folder {
            self.context.enter(folder);
        }
    }

    /// Applies an operation on recorded state, between turns.
    pub fn operation(&mut self, operation: &Operation) {
        self.start_pending();
        self.panel.tell_all(|dispatch| &dispatch.operations, &Event::Operation(operation), &self.context);
    }

    /// Begins the next turn, before the model has answered. `now` is the turn's instant, where one is known.
    pub fn begin_turn(&mut self, now: Option<Millis>) {
        if self.clock.in_turn {
            self.end_turn();
        }
        self.context.turn += 1;
        self.context.now = now.or(self.context.facts.now);
        self.context.response.clear();
        self.clock = Clock { in_turn: true, proposed: 0, started: 0, ..self.clock };
        if self.context.turn == 1 {
            self.panel.tell_all(|dispatch| &dispatch.first_turn, &Event::TurnStart, &self.context);
        }
        self.panel.tell_all(|dispatch| &dispatch.turns, &Event::TurnStart, &self.context);
    }

    /// Which of the offered tools the model should see; called before any call of the turn is proposed. Outside a turn
    /// it begins one.
    pub fn narrow<'a>(&mut self, offered: impl IntoIterator<Item = &'a Arc<str>>) -> Vec<ToolVisibility> {
        self.ensure_turn();
        offered
            .into_iter()
            .map(|tool| {
                let place = self.routes.place(tool);
                let reasons = self.routes.get(place).map(|route| self.panel.reasons(route, &self.context));
                ToolVisibility { tool: Arc::clone(tool), reasons: reasons.unwrap_or_default() }
            })
            .collect()
    }

    /// The model's own message of this turn, with its calls, before any of these is proposed. Several messages of one
    /// turn are reported one by one. Outside a turn it begins one.
    pub fn respond(&mut self, message: &Message) {
        self.ensure_turn();
        if self.panel.policy.reads_history() {
            self.context.response.push(message.clone());
        }
    }

    /// Decides a call. If it is allowed (or in `shadow`) it counts as started from the next thing that happens, unless
    /// that is [`Run::resolve`] with [`Outcome::Refused`]. Outside a turn it begins one.
    pub fn propose(&mut self, call: NewCall<'_>) -> (Ticket, Decision) {
        let (place, mut decision) = (self.place(call.tool), Decision::allow());
        let ticket = self.judge(place, call, &mut decision);
        (ticket, decision)
    }

    /// The index of a tool's data, for many calls of it.
    pub fn place(&mut self, tool: &str) -> Place {
        Place(self.routes.place(tool))
    }

    /// As [`Run::propose`], for a tool whose index is known. The decision is overwritten.
    pub fn judge(&mut self, place: Place, call: NewCall<'_>, decision: &mut Decision) -> Ticket {
        let (at, Place(place)) = (self.put(), place);
        decision.clear();
        let Some(route) = self.routes.get(place).filter(|_| !self.is_over()) else {
            decision.verdict = Verdict::NotReached;
            return Ticket(at);
        };
        let asked = route.asked(at, call.arguments);
        self.panel.decide(route, asked, &self.context, decision);
        if decision.verdict == Verdict::Halt && self.halt.is_none() && decision.deciding().is_none() {
            // A halt is recorded with its findings, even if decisions hold none.
            let depth = std::mem::replace(&mut self.panel.depth, Depth::Findings);
            let mut whole = Decision::allow();
            self.panel.decide(route, asked, &self.context, &mut whole);
            self.panel.depth = depth;
            self.halt = Some(Halt::of(at, &route.tool, &whole));
        }
        self.follow_up(at, place, call, decision);
        Ticket(at)
    }

    /// A call that a run in this very state has decided already: no rule is asked again.
    pub fn follow(&mut self, call: NewCall<'_>, decision: &Decision) -> Ticket {
        let at = self.put();
        if !self.is_over() {
            let place = self.routes.place(call.tool);
            self.follow_up(at, place, call, decision);
        }
        Ticket(at)
    }

    /// The place of the call that is proposed now.
    fn put(&mut self) -> CallRef {
        self.ensure_turn();
        self.start_pending();
        self.clock.proposed += 1;
        let at = CallRef { turn: self.context.turn, call: self.clock.proposed, index: self.clock.index };
        self.clock.index += 1;
        self.clock.last = (at.turn, at.call);
        at
    }

    /// Applies a decision to the run.
    fn follow_up(&mut self, at: CallRef, place: u32, call: NewCall<'_>, decision: &Decision) {
        let Some(route) = self.routes.get(place) else { return };
        if decision.verdict == Verdict::Halt && self.halt.is_none() {
            self.halt = Some(Halt::of(at, &route.tool, decision));
        }
        if decision.verdict.may_run() || self.mode == Mode::Shadow {
            // If no unit that receives the call looks at its arguments, they need not be shared.
            let arguments =
                if route.arguments || self.context.want_findings { call.arguments } else { &Body::MISSING };
            let folder = self.context.folder.clone();
            self.pending = Some(InFlight { at, route: place, arguments: arguments.clone(), folder });
        } else {
            let asked = route.asked(at, call.arguments);
            self.panel.tell_route(route, &route.observe, asked, &self.context, Event::Stopped);
        }
    }

    /// Reports a call's outcome. [`Outcome::Refused`]: another gate stopped it, so it did not run; if this is reported
    /// after the next call was proposed, that one was decided as if it ran, and it counts as failed. A call that is not
    /// in flight, or [`Outcome::Unknown`], changes nothing.
    pub fn resolve(&mut self, ticket: Ticket, outcome: Outcome, output: &Body) {
        if outcome == Outcome::Unknown {
            return;
        }
        let pending = self.pending.take_if(|call| call.at == ticket.0);
        let refused = pending.is_some() && outcome == Outcome::Refused;
        let call = match pending {
            Some(call) => {
                if !refused {
                    self.started(&call);
                }
                call
            }
            None => {
                self.start_pending();
                let Some(call) = self.in_flight.end(ticket.0) else { return };
                call
            }
        };
        let Some(route) = self.routes.get(call.route) else { return };
        let here = self.context.enter(call.folder.as_ref());
        let asked = route.asked(call.at, &call.arguments);
        let told = if outcome == Outcome::Refused { &route.observe } else { &route.results };
        self.panel.tell_route(route, told, asked, &self.context, |call| match refused {
            true => Event::Stopped(call),
            false => Event::Resolved { call, outcome, output },
        });
        self.context.folder = here;
    }

    /// Ends the turn. Outside a turn it changes nothing: a turn is complete once.
    pub fn end_turn(&mut self) {
        if !self.clock.in_turn {
            return;
        }
        self.start_pending();
        let event = Event::TurnEnd { proposed: self.clock.proposed, started: self.clock.started };
        self.panel.tell_all(|dispatch| &dispatch.turns, &event, &self.context);
        self.clock.in_turn = false;
        if !self.context.response.is_empty() || !self.waiting.is_empty() {
            let mut said = std::mem::take(&mut self.context.response);
            said.append(&mut self.waiting);
            said.into_iter().for_each(|message| self.remember(message));
        }
    }

    /// The current state, for people: forbidden tools, preconditions, counters, recorded state.
    pub fn state(&self) -> Vec<StateItem> {
        self.panel.state(&self.context)
    }

    /// The state of the session rules, in document order.
    pub fn report(&self, end: End) -> Vec<RuleState> {
        self.panel.report(end, &self.context)
    }

    /// A call or a response belongs to a turn, even if the host did not begin one: its rules then hold within it.
    fn ensure_turn(&mut self) {
        if !self.clock.in_turn {
            self.begin_turn(None);
        }
    }

    fn remember(&mut self, message: Message) {
        self.panel.tell_all(|dispatch| &dispatch.messages, &Event::Message(&message), &self.context);
        self.context.history.push(message);
    }

    /// The call that was allowed last is on its way.
    fn start_pending(&mut self) {
        if let Some(call) = self.pending.take() {
            self.started(&call);
            self.in_flight.start(call);
        }
    }

    fn started(&mut self, call: &InFlight) {
        self.clock.started += 1;
        self.context.ran.push(call.at);
        if let Some(route) = self.routes.get(call.route) {
            let here = self.context.enter(call.folder.as_ref());
            let asked = route.asked(call.at, &call.arguments);
            self.panel.tell_route(route, &route.starts, asked, &self.context, Event::Started);
            self.context.folder = here;
        }
        self.panel.tell_due(&self.context);
    }
}

/// The least depth: if some rule reads the history, the message to the model is part of it and always needed.
fn least(policy: &Policy, depth: Depth) -> Depth {
    if policy.reads_history() { depth.max(Depth::Findings) } else { depth }
}
