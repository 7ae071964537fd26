//! Decides calls: one run of a policy over one session, live or recorded.
//!
//! A live agent, a replay, a comparison and a test all drive the same [`Run`]. It asks the monitors that a tool wakes,
//! joins what they say, and tells them what happened. It does no I/O and knows no clock.
//!
//! ```text
//! begin_turn ─► narrow ─► respond ─► propose ─► (run the tool) ─► resolve ─► … ─► end_turn ─► message ─► begin_turn
//! ```

pub mod decision;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hashbrown::HashMap;

pub use decision::{Decision, Halt, Narrowed, Narrowing, Verdict};

use crate::diagnostic::code;
use crate::monitor::finding::RuleState;
use crate::monitor::{
    Asked, Check, Cx, Depth, Effect, End, Event, Finding, Hidden, History, Monitor, Sink, Slot, StateItem,
    Timer, Timers, Trace,
};
use crate::policy::Policy;
use crate::session::{Body, CallRef, Facts, Message, Millis, Operation, Outcome};

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
    /// The ticket of the call that stands here.
    pub fn of(at: CallRef) -> Ticket {
        Ticket(at)
    }

    /// Where the call stands.
    pub fn at(self) -> CallRef {
        self.0
    }
}

/// A policy at work on one session.
pub struct Run {
    policy: Arc<Policy>,
    mode: Mode,
    depth: Depth,
    facts: Arc<Facts>,
    monitors: Vec<Box<dyn Monitor>>,
    /// Units in which a rule failed by itself: everything they govern is stopped from then on.
    faulted: Vec<bool>,
    routes: HashMap<Arc<str>, Arc<Route>>,
    clock: Clock,
    history: History,
    /// The messages of the turn's own response.
    response: Vec<Message>,
    /// Messages that were added within the turn.
    waiting: Vec<Message>,
    /// The call that was allowed last and that nothing has followed yet: it starts with the next thing that happens,
    /// unless that is its refusal.
    pending: Option<InFlight>,
    in_flight: HashMap<u32, InFlight>,
    timers: BinaryHeap<Reverse<Timer>>,
    /// Timers that the next call makes due, taken off the heap: their units are asked about that call.
    armed: Vec<Timer>,
    set: Vec<Timer>,
    /// The calls that ran, in order: the trace.
    ran: Trace,
    halt: Option<Halt>,
}

/// Where the run stands.
#[derive(Debug, Clone, Copy, Default)]
struct Clock {
    turn: u32,
    in_turn: bool,
    now: Option<Millis>,
    /// Calls proposed in the session.
    index: u32,
    /// Calls proposed in the turn.
    proposed: u32,
    /// Calls of the turn that ran.
    started: u32,
}

/// Which units a tool wakes.
struct Route {
    tool: Arc<str>,
    decide: Vec<(usize, Slot)>,
    observe: Vec<(usize, Slot)>,
}

#[derive(Clone)]
struct InFlight {
    at: CallRef,
    route: Arc<Route>,
    arguments: Body,
}

impl Run {
    /// A run before its first turn. `depth` says how much each decision tells.
    pub fn new(policy: &Arc<Policy>, mode: Mode, depth: Depth, facts: &Arc<Facts>) -> Run {
        let monitors: Vec<_> = policy.units().iter().map(|unit| Arc::clone(unit).start(facts)).collect();
        // What the model is told stands in the history that some rules read.
        let depth = if policy.reads_history() { depth.max(Depth::Findings) } else { depth };
        Run {
            policy: Arc::clone(policy),
            mode,
            depth,
            facts: Arc::clone(facts),
            faulted: vec![false; monitors.len()],
            monitors,
            routes: HashMap::new(),
            clock: Clock::default(),
            history: History::default(),
            response: Vec::new(),
            waiting: Vec::new(),
            pending: None,
            in_flight: HashMap::new(),
            timers: BinaryHeap::new(),
            armed: Vec::new(),
            set: Vec::new(),
            ran: Trace::default(),
            halt: None,
        }
    }

    /// A copy that goes on by itself.
    pub fn fork(&self) -> Run {
        Run {
            policy: Arc::clone(&self.policy),
            mode: self.mode,
            depth: self.depth,
            facts: Arc::clone(&self.facts),
            monitors: self.monitors.iter().map(|monitor| monitor.fork()).collect(),
            faulted: self.faulted.clone(),
            routes: self.routes.clone(),
            clock: self.clock,
            history: self.history.clone(),
            response: self.response.clone(),
            waiting: self.waiting.clone(),
            pending: self.pending.clone(),
            in_flight: self.in_flight.clone(),
            timers: self.timers.clone(),
            armed: self.armed.clone(),
            set: Vec::new(),
            ran: self.ran.clone(),
            halt: self.halt.clone(),
        }
    }

    /// How much decisions tell from now on.
    pub fn tell(&mut self, depth: Depth) {
        self.depth = if self.policy.reads_history() { depth.max(Depth::Findings) } else { depth };
    }

    /// The halt that ended the session, in `shadow` the first one.
    pub fn halt(&self) -> Option<&Halt> {
        self.halt.as_ref()
    }

    /// Whether nothing is reached any more.
    pub fn is_over(&self) -> bool {
        self.mode == Mode::Enforce && self.halt.is_some()
    }

    /// Adds a message to the history: what a user or the system said, a result as the model saw it. Within a turn it
    /// waits for the turn's end, since the model had not seen it when it proposed the turn's calls.
    pub fn message(&mut self, message: &Message) {
        if !self.policy.reads_history() {
            return;
        }
        if self.clock.in_turn {
            self.waiting.push(message.clone());
        } else {
            self.tell_all(Event::Message(message));
            self.history.push(message.clone());
        }
    }

    /// Applies an operation on recorded state, between turns.
    pub fn operation(&mut self, operation: &Operation) {
        self.start_pending();
        self.tell_all(Event::Operation(operation));
    }

    /// Begins the next turn, before the model has answered. `now` is the turn's instant, where one is known.
    pub fn begin_turn(&mut self, now: Option<Millis>) {
        if self.clock.in_turn {
            self.end_turn();
        }
        self.clock.turn += 1;
        self.clock.in_turn = true;
        self.clock.now = now.or(self.facts.now);
        (self.clock.proposed, self.clock.started) = (0, 0);
        self.response.clear();
        self.tell_all(Event::TurnStart);
    }

    /// Which of the offered tools the model should see; asked before any call of the turn is proposed. Outside a turn it
    /// begins one.
    pub fn narrow<'a>(&mut self, offered: impl IntoIterator<Item = &'a Arc<str>>) -> Vec<Narrowed> {
        self.ensure_turn();
        offered
            .into_iter()
            .map(|tool| Narrowed { tool: Arc::clone(tool), reasons: self.reasons(tool) })
            .collect()
    }

    /// The model's own message of this turn, with its calls, before any of these is proposed. Several messages of one
    /// turn are told one by one. Outside a turn it begins one.
    pub fn respond(&mut self, message: &Message) {
        self.ensure_turn();
        if self.policy.reads_history() {
            self.response.push(message.clone());
        }
    }

    /// Decides a call. If it is allowed (or in `shadow`) it counts as started from the next thing that happens, unless
    /// that is [`Run::resolve`] with [`Outcome::Refused`]. Outside a turn it begins one.
    pub fn propose(&mut self, call: NewCall<'_>) -> (Ticket, Decision) {
        self.ensure_turn();
        self.start_pending();
        self.clock.proposed += 1;
        let at = CallRef { turn: self.clock.turn, call: self.clock.proposed, index: self.clock.index };
        self.clock.index += 1;
        if self.is_over() {
            return (Ticket(at), Decision::not_reached());
        }
        let route = self.route(call.tool);
        let decision = self.decide(at, &route, call.arguments);
        if decision.verdict == Verdict::Halt && self.halt.is_none() {
            let finding = decision.deciding().cloned().or_else(|| self.halting(at, &route, call.arguments));
            self.halt = Some(Halt { at, tool: Arc::clone(&route.tool), finding });
        }
        if decision.verdict == Verdict::Allow || self.mode == Mode::Shadow {
            self.pending = Some(InFlight { at, route, arguments: call.arguments.clone() });
        } else {
            self.tell_route(&route, |slot| Event::Stopped(asked(at, &route, slot, call.arguments)));
        }
        (Ticket(at), decision)
    }

    /// What became of a call that ran. [`Outcome::Refused`]: somebody else stopped it, so it never did; told after the next
    /// call was proposed, that one was decided as if it ran, and it counts as failed. A call that is not in flight, or
    /// [`Outcome::Unknown`], changes nothing.
    pub fn resolve(&mut self, ticket: Ticket, outcome: Outcome, output: &Body) {
        if outcome == Outcome::Unknown {
            return;
        }
        if outcome == Outcome::Refused
            && let Some(call) = self.pending.take_if(|call| call.at == ticket.0)
        {
            self.tell_route(&call.route, |slot| {
                Event::Stopped(asked(call.at, &call.route, slot, &call.arguments))
            });
            return;
        }
        let call = match self.pending.take_if(|call| call.at == ticket.0) {
            Some(call) => {
                self.started(&call);
                call
            }
            None => {
                self.start_pending();
                let Some(call) = self.in_flight.remove(&ticket.0.index) else { return };
                call
            }
        };
        self.tell_route(&call.route, |slot| Event::Resolved {
            call: asked(call.at, &call.route, slot, &call.arguments),
            outcome,
            output,
        });
    }

    /// Ends the turn. Outside a turn it changes nothing: a turn is complete once.
    pub fn end_turn(&mut self) {
        if !self.clock.in_turn {
            return;
        }
        self.start_pending();
        let event = Event::TurnEnd { proposed: self.clock.proposed, started: self.clock.started };
        self.tell_all(event);
        self.clock.in_turn = false;
        let mut said = std::mem::take(&mut self.response);
        said.append(&mut self.waiting);
        for message in said {
            self.tell_all(Event::Message(&message));
            self.history.push(message);
        }
    }

    /// A call or a response belongs to a turn, be it that the host did not begin one: its rules then hold within it.
    fn ensure_turn(&mut self) {
        if !self.clock.in_turn {
            self.begin_turn(None);
        }
    }

    /// What stands now, for people: forbidden tools, preconditions, counters, recorded state.
    pub fn state(&self) -> Vec<StateItem> {
        let (cx, mut out) = (self.cx(), Vec::new());
        for monitor in &self.monitors {
            monitor.state(&cx, &mut out);
        }
        out
    }

    /// How the rules about whole sessions stand, in document order.
    pub fn report(&self, end: End) -> Vec<RuleState> {
        let (cx, mut out) = (self.cx(), Vec::new());
        for monitor in &self.monitors {
            monitor.report(end, &cx, &mut out);
        }
        out.sort_by_key(|state| state.rule);
        out
    }

    fn cx(&self) -> Cx<'_> {
        Cx {
            turn: self.clock.turn,
            enforcing: self.mode == Mode::Enforce,
            ran: &self.ran,
            now: self.clock.now,
            facts: &self.facts,
            history: &self.history,
            response: &self.response,
        }
    }

    fn route(&mut self, tool: &str) -> Arc<Route> {
        if let Some(route) = self.routes.get(tool) {
            return Arc::clone(route);
        }
        let mut route = Route { tool: tool.into(), decide: Vec::new(), observe: Vec::new() };
        for (number, unit) in self.policy.units().iter().enumerate() {
            let wakes = unit.wakes(tool);
            if wakes.decide {
                route.decide.push((number, wakes.slot));
            }
            if wakes.observe {
                route.observe.push((number, wakes.slot));
            }
        }
        let route = Arc::new(route);
        self.routes.insert(Arc::clone(&route.tool), Arc::clone(&route));
        route
    }

    fn reasons(&mut self, tool: &str) -> Vec<crate::monitor::Reason> {
        let route = self.route(tool);
        let mut reasons = Vec::new();
        for (number, slot) in &route.decide {
            if let (Some(monitor), Some(unit)) =
                (self.monitors.get(*number), self.policy.units().get(*number))
            {
                let mut hidden = Hidden::new(unit.rules(), &mut reasons);
                let cx = self.cx();
                // A rule that fails here says nothing; the call itself is then denied.
                let _ = catch_unwind(AssertUnwindSafe(|| monitor.narrow(tool, *slot, &cx, &mut hidden)));
            }
        }
        reasons
    }

    fn decide(&mut self, at: CallRef, route: &Route, arguments: &Body) -> Decision {
        let (mut findings, mut checks): (Vec<Finding>, Vec<Check>) = (Vec::new(), Vec::new());
        let call = asked(at, route, Slot::default(), arguments);
        let mut effect = self.ask(&route.decide, call, Effect::Deny, &mut findings, &mut checks);
        // A deadline passes only with a call that runs.
        if effect < Effect::Deny || self.mode == Mode::Shadow {
            let overdue = self.overdue(route);
            effect = effect.max(self.ask(&overdue, call, Effect::Report, &mut findings, &mut checks));
        }
        findings.sort_by_key(|finding| (Reverse(finding.effect), finding.rule));
        checks.sort_by_key(|check| check.rule);
        let verdict = match effect {
            Effect::None | Effect::Also | Effect::Report => Verdict::Allow,
            Effect::Deny => Verdict::Deny,
            Effect::Halt => Verdict::Halt,
        };
        let told = findings.first().filter(|_| verdict.stops()).map(|finding| {
            let own = finding.tell_llm.clone();
            own.unwrap_or_else(|| format!("[permission denied: {}]", finding.code).into())
        });
        Decision { verdict, findings, checks, told }
    }

    /// The finding that halts a call. A halt is recorded whole, even where decisions tell nothing.
    fn halting(&mut self, at: CallRef, route: &Route, arguments: &Body) -> Option<Finding> {
        let depth = std::mem::replace(&mut self.depth, Depth::Findings);
        let decision = self.decide(at, route, arguments);
        self.depth = depth;
        decision.deciding().cloned()
    }

    /// Puts a call to some units, each under its own name for the tool; the strongest that they say. A unit in which a
    /// rule fails says `fault`.
    fn ask(
        &self,
        units: &[(usize, Slot)],
        call: Asked<'_>,
        fault: Effect,
        findings: &mut Vec<Finding>,
        checks: &mut Vec<Check>,
    ) -> Effect {
        let mut effect = Effect::None;
        for (number, slot) in units {
            let (Some(monitor), Some(unit)) = (self.monitors.get(*number), self.policy.units().get(*number))
            else {
                continue;
            };
            let mut sink = Sink::new(self.depth, unit.rules(), findings, checks);
            let (cx, call) = (self.cx(), Asked { slot: *slot, ..call });
            let failed = self.faulted.get(*number) == Some(&true)
                || catch_unwind(AssertUnwindSafe(|| monitor.decide(call, &cx, &mut sink))).is_err();
            if failed {
                sink.find(0, fault, code::RULE_FAULT, |_| {});
            }
            effect = effect.max(sink.effect());
        }
        effect
    }

    /// Units that the tool does not wake, but that have a deadline which passes with this call. A deadline changes no
    /// verdict, so nobody is asked where nothing else is wanted.
    fn overdue(&mut self, route: &Route) -> Vec<(usize, Slot)> {
        if self.depth == Depth::Verdict {
            return Vec::new();
        }
        let due = self.ran.len() as u32 + 1;
        while let Some(Reverse(timer)) = self.timers.peek().copied().filter(|Reverse(timer)| timer.due <= due)
        {
            self.timers.pop();
            self.armed.push(timer);
        }
        let mut units: Vec<usize> = self.armed.iter().map(|timer| timer.unit as usize).collect();
        units.sort_unstable();
        units.dedup();
        units.retain(|unit| route.decide.iter().all(|(number, _)| number != unit));
        let slot = |unit| route.observe.iter().find(|(number, _)| *number == unit).map(|(_, slot)| *slot);
        units.into_iter().map(|unit| (unit, slot(unit).unwrap_or_default())).collect()
    }

    /// The call that was allowed last is on its way.
    fn start_pending(&mut self) {
        if let Some(call) = self.pending.take() {
            self.started(&call);
            self.in_flight.insert(call.at.index, call);
        }
    }

    fn started(&mut self, call: &InFlight) {
        self.clock.started += 1;
        self.ran.push(call.at);
        self.tell_route(&call.route, |slot| {
            Event::Started(asked(call.at, &call.route, slot, &call.arguments))
        });
        for timer in std::mem::take(&mut self.armed) {
            self.tell_unit(timer.unit as usize, Event::Due(timer.id));
        }
        while let Some(Reverse(timer)) = self.timers.peek().copied() {
            if timer.due as usize > self.ran.len() {
                break;
            }
            self.timers.pop();
            self.tell_unit(timer.unit as usize, Event::Due(timer.id));
        }
    }

    fn tell_route<'e>(&mut self, route: &'e Route, event: impl Fn(Slot) -> Event<'e>) {
        for (number, slot) in &route.observe {
            self.tell_unit(*number, event(*slot));
        }
    }

    fn tell_all(&mut self, event: Event<'_>) {
        for number in 0..self.monitors.len() {
            self.tell_unit(number, event);
        }
    }

    fn tell_unit(&mut self, number: usize, event: Event<'_>) {
        let Some(monitor) = self.monitors.get_mut(number) else { return };
        let cx = Cx {
            turn: self.clock.turn,
            enforcing: self.mode == Mode::Enforce,
            ran: &self.ran,
            now: self.clock.now,
            facts: &self.facts,
            history: &self.history,
            response: &self.response,
        };
        let mut timers = Timers::new(number as u32, &mut self.set);
        let told = catch_unwind(AssertUnwindSafe(|| monitor.observe(event, &cx, &mut timers)));
        if told.is_err()
            && let Some(faulted) = self.faulted.get_mut(number)
        {
            *faulted = true;
        }
        self.timers.extend(self.set.drain(..).map(Reverse));
    }
}

fn asked<'a>(at: CallRef, route: &'a Route, slot: Slot, arguments: &'a Body) -> Asked<'a> {
    Asked { at, tool: &route.tool, slot, arguments }
}
