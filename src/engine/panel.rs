//! The units at work: how they are asked about a call, and told what happened.
//!
//! A rule that fails by itself is caught here, at every question that a monitor is asked. While it decides, the call is
//! denied; while it narrows, the tool is hidden. Where its state may be torn or was never made (it failed while it started,
//! recorded or copied it), the unit has lost the right to allow: everything that it governs is stopped from then on, and
//! the session counts as violated. What happens in which order is [`super::Run`]'s to say.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::decision::Decision;
use crate::diagnostic::code;
use crate::monitor::fault::{LostUnit, guarded};
use crate::monitor::finding::{RuleOutcome, RuleState};
use crate::monitor::{
    Cx, Depth, Effect, End, Event, Fault, Hidden, History, Monitor, ProposedCall, Reason, RuleId, Sink, Slot,
    Stage, StateItem, Timer, Timers, Trace, Unit, Wakes,
};
use crate::policy::Policy;
use crate::session::{Body, CallRef, Facts, Message, Millis};

/// The monitors of one run.
pub(super) struct Panel {
    pub policy: Arc<Policy>,
    /// How much decisions tell.
    pub depth: Depth,
    seats: Vec<Seat>,
    timers: BinaryHeap<Reverse<Timer>>,
    /// Timers that the next call makes due, taken off the heap: their units are asked about that call.
    armed: Vec<Timer>,
    set: Vec<Timer>,
}

/// The place of a unit's monitor.
enum Seat {
    Working(Box<dyn Monitor>),
    /// A rule failed while it made, changed or copied the state, so there is none to ask.
    Failed(Arc<Fault>),
}

/// What the monitors may know when they are asked or told.
#[derive(Clone)]
pub(super) struct Ground {
    pub enforcing: bool,
    /// Whether findings are ever wanted.
    pub telling: bool,
    pub turn: u32,
    pub now: Option<Millis>,
    pub facts: Arc<Facts>,
    pub history: History,
    /// The messages of the turn's own response.
    pub response: Vec<Message>,
    /// The calls that ran, in order.
    pub ran: Trace,
}

/// Which units a tool wakes, each with its own name for the tool.
pub(super) struct Route {
    pub tool: Arc<str>,
    decide: Vec<(usize, Slot)>,
    observe: Vec<(usize, Slot)>,
    /// Units that failed when they were asked what the name means: as if the tool woke them.
    unknown: Vec<(usize, Arc<Fault>)>,
}

impl Ground {
    pub fn cx(&self) -> Cx<'_> {
        Cx {
            enforcing: self.enforcing,
            telling: self.telling,
            ran: &self.ran,
            now: self.now,
            facts: &self.facts,
            history: &self.history,
            response: &self.response,
        }
    }
}

impl Route {
    pub fn new(policy: &Policy, tool: &str) -> Route {
        let (decide, observe, unknown) = (Vec::new(), Vec::new(), Vec::new());
        let mut route = Route { tool: tool.into(), decide, observe, unknown };
        for (number, unit) in policy.units().iter().enumerate() {
            let wakes = guarded(|| unit.wakes(tool)).unwrap_or_else(|why| {
                route.unknown.push((number, fault(&**unit, Stage::Wake, None, why)));
                Wakes { decide: true, observe: true, slot: Slot::default() }
            });
            if wakes.decide {
                route.decide.push((number, wakes.slot));
            }
            if wakes.observe {
                route.observe.push((number, wakes.slot));
            }
        }
        route
    }

    /// Why it is not known what the name means to a unit.
    fn unknown(&self, number: usize) -> Option<&Arc<Fault>> {
        self.unknown.iter().find(|(unit, _)| *unit == number).map(|(_, fault)| fault)
    }

    /// The units that decide about the tool's calls, by number.
    pub fn decides(&self) -> &[(usize, Slot)] {
        &self.decide
    }

    /// A call of this tool. Each unit gets its own name for the tool when it is asked.
    pub fn asked<'a>(&'a self, at: CallRef, arguments: &'a Body) -> ProposedCall<'a> {
        ProposedCall { at, tool: &self.tool, slot: Slot::default(), arguments }
    }
}

impl Seat {
    fn of(unit: &dyn Unit, stage: Stage, make: impl FnOnce() -> Box<dyn Monitor>) -> Seat {
        match guarded(make) {
            Ok(monitor) => Seat::Working(monitor),
            Err(why) => Seat::Failed(fault(unit, stage, None, why)),
        }
    }
}

/// What failed in a unit. Where the unit has one rule, it can only be that one.
fn fault(unit: &dyn Unit, stage: Stage, rule: Option<usize>, why: Arc<str>) -> Arc<Fault> {
    let only = (unit.rules().len() == 1).then_some(0);
    Arc::new(Fault { stage, rule: rule.or(only), why })
}

/// The rule under whose name a fault is reported: the first of the unit, where any may have failed.
fn blamed(unit: &dyn Unit, fault: &Fault) -> Option<RuleId> {
    unit.rules().get(fault.rule.unwrap_or_default()).copied()
}

impl Panel {
    pub fn new(policy: &Arc<Policy>, depth: Depth, facts: &Arc<Facts>) -> Panel {
        let seat = |unit: &Arc<dyn Unit>| Seat::of(&**unit, Stage::Start, || Arc::clone(unit).start(facts));
        Panel {
            policy: Arc::clone(policy),
            depth,
            seats: policy.units().iter().map(seat).collect(),
            timers: BinaryHeap::new(),
            armed: Vec::new(),
            set: Vec::new(),
        }
    }

    pub fn fork(&self) -> Panel {
        let copy = |(unit, seat): (&Arc<dyn Unit>, &Seat)| match seat {
            Seat::Working(monitor) => Seat::of(&**unit, Stage::Fork, || monitor.fork()),
            Seat::Failed(fault) => Seat::Failed(Arc::clone(fault)),
        };
        Panel {
            policy: Arc::clone(&self.policy),
            depth: self.depth,
            seats: self.policy.units().iter().zip(&self.seats).map(copy).collect(),
            timers: self.timers.clone(),
            armed: self.armed.clone(),
            set: Vec::new(),
        }
    }

    fn seat(&self, number: usize) -> Option<(&dyn Unit, &Seat)> {
        Some((&**self.policy.units().get(number)?, self.seats.get(number)?))
    }

    /// The monitor of a unit; `None`: it has failed.
    pub fn working(&self, number: usize) -> Option<&dyn Monitor> {
        match self.seats.get(number)? {
            Seat::Working(monitor) => Some(&**monitor),
            Seat::Failed(_) => None,
        }
    }

    /// The units that decide about a tool's calls, each with its own name for the tool and its monitor.
    pub fn asked<'a>(
        &'a self,
        route: &'a Route,
    ) -> impl Iterator<Item = (&'a dyn Unit, Slot, Option<&'a dyn Monitor>)> {
        route.decide.iter().filter_map(|(number, slot)| {
            Some((&**self.policy.units().get(*number)?, *slot, self.working(*number)))
        })
    }

    /// Which rules hide a tool. One of which that cannot be found out hides it.
    pub fn reasons(&self, route: &Route, ground: &Ground) -> Vec<Reason> {
        let (cx, mut reasons) = (ground.cx(), Vec::new());
        for (number, slot) in &route.decide {
            let Some((unit, seat)) = self.seat(*number) else { continue };
            let fault = match (route.unknown(*number), seat) {
                (Some(fault), _) | (None, Seat::Failed(fault)) => Some(Arc::clone(fault)),
                (None, Seat::Working(monitor)) => {
                    let mut hidden = Hidden::new(unit.rules(), &mut reasons);
                    let narrowed = guarded(|| monitor.narrow(&route.tool, *slot, &cx, &mut hidden));
                    narrowed.err().map(|why| fault(unit, Stage::Narrow, hidden.asked(), why))
                }
            };
            if let Some((rule, fault)) = fault.and_then(|fault| Some((blamed(unit, &fault)?, fault))) {
                reasons.push(Reason { rule, code: code::RULE_FAULT, fault: Some(fault) });
            }
        }
        reasons
    }

    /// What the rules say of a call.
    pub fn decide(&mut self, route: &Route, call: ProposedCall<'_>, ground: &Ground) -> Decision {
        let mut decision = Decision::allow();
        let mut effect = self.ask(route, &route.decide, call, Effect::Deny, ground, &mut decision);
        // A deadline passes only with a call that runs. It changes no verdict, so nobody is asked where nothing else is
        // wanted.
        if self.depth >= Depth::Findings && (effect < Effect::Deny || !ground.enforcing) {
            let overdue = self.overdue(route, ground);
            effect = effect.max(self.ask(route, &overdue, call, Effect::Report, ground, &mut decision));
        }
        decision.settle(effect);
        decision
    }

    /// Puts a call to some units, each under its own name for the tool; the strongest that they say. A unit in which a
    /// rule fails says `failing`.
    fn ask(
        &self,
        route: &Route,
        units: &[(usize, Slot)],
        call: ProposedCall<'_>,
        failing: Effect,
        ground: &Ground,
        decision: &mut Decision,
    ) -> Effect {
        let (cx, mut effect) = (ground.cx(), Effect::None);
        for (number, slot) in units {
            let Some((unit, seat)) = self.seat(*number) else { continue };
            let mut sink = Sink::new(self.depth, unit.rules(), &mut decision.findings, &mut decision.checks);
            let call = ProposedCall { slot: *slot, ..call };
            let fault = match (route.unknown(*number), seat) {
                (Some(fault), _) | (None, Seat::Failed(fault)) => Some(Arc::clone(fault)),
                (None, Seat::Working(monitor)) => guarded(|| monitor.decide(call, &cx, &mut sink))
                    .err()
                    .map(|why| fault(unit, Stage::Decide, sink.asked(), why)),
            };
            if let Some(fault) = fault {
                // What the unit said before it failed is true all the same, and may be stronger.
                let own = if sink.effect() >= failing { Effect::Also } else { failing };
                let rule = fault.rule.unwrap_or_default();
                sink.find(rule, own, code::RULE_FAULT, |finding| {
                    finding.facts = Some(Arc::<Fault>::clone(&fault));
                });
                sink.check(rule, false, |check| {
                    check.code = Some(code::RULE_FAULT);
                    check.facts = Some(fault);
                });
            }
            effect = effect.max(sink.effect());
        }
        effect
    }

    /// Units that the tool does not wake, but that have a deadline which passes with this call.
    fn overdue(&mut self, route: &Route, ground: &Ground) -> Vec<(usize, Slot)> {
        let due = ground.ran.len() as u32 + 1;
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

    /// A call has joined the trace: deadlines that pass with it.
    pub fn tell_due(&mut self, ground: &Ground) {
        for timer in std::mem::take(&mut self.armed) {
            self.tell(timer.unit as usize, &Event::Due(timer.id), ground);
        }
        while let Some(Reverse(timer)) = self.timers.peek().copied() {
            if timer.due as usize > ground.ran.len() {
                break;
            }
            self.timers.pop();
            self.tell(timer.unit as usize, &Event::Due(timer.id), ground);
        }
    }

    /// Tells the units that a call's tool wakes what became of it.
    pub fn tell_route<'e>(
        &mut self,
        route: &'e Route,
        call: ProposedCall<'e>,
        ground: &Ground,
        event: impl Fn(ProposedCall<'e>) -> Event<'e>,
    ) {
        for (number, fault) in &route.unknown {
            // What became of the call cannot be put to its state, so nothing is known from here on.
            if let Some(seat @ Seat::Working(_)) = self.seats.get_mut(*number) {
                *seat = Seat::Failed(Arc::clone(fault));
            }
        }
        for (number, slot) in &route.observe {
            self.tell(*number, &event(ProposedCall { slot: *slot, ..call }), ground);
        }
    }

    /// Tells every unit.
    pub fn tell_all(&mut self, event: &Event<'_>, ground: &Ground) {
        for number in 0..self.seats.len() {
            self.tell(number, event, ground);
        }
    }

    fn tell(&mut self, number: usize, event: &Event<'_>, ground: &Ground) {
        let Some(Seat::Working(monitor)) = self.seats.get_mut(number) else { return };
        let cx = ground.cx();
        let mut timers = Timers::new(number as u32, &mut self.set);
        let told = guarded(|| monitor.observe(event, &cx, &mut timers));
        if let Err(why) = told
            && let (Some(unit), Some(seat)) = (self.policy.units().get(number), self.seats.get_mut(number))
        {
            *seat = Seat::Failed(fault(&**unit, Stage::Observe, None, why));
        }
        if !self.set.is_empty() {
            self.timers.extend(self.set.drain(..).map(Reverse));
        }
    }

    /// The current state. A unit that cannot say it is listed as failed rather than left out.
    pub fn state(&self, ground: &Ground) -> Vec<StateItem> {
        let (cx, mut out) = (ground.cx(), Vec::new());
        for (unit, seat) in self.policy.units().iter().zip(&self.seats) {
            let fault = match seat {
                Seat::Failed(fault) => Some(Arc::clone(fault)),
                Seat::Working(monitor) => guarded(|| monitor.state(&cx, &mut out))
                    .err()
                    .map(|why| fault(&**unit, Stage::State, None, why)),
            };
            if let Some((rule, fault)) = fault.and_then(|fault| Some((blamed(&**unit, &fault)?, fault))) {
                out.push(StateItem::Kept { rule, tool: None, facts: Arc::new(LostUnit(fault)) });
            }
        }
        out
    }

    /// How the rules about whole sessions stand, in document order. A unit that failed is violated: nobody knows that it
    /// held.
    pub fn report(&self, end: End, ground: &Ground) -> Vec<RuleState> {
        let (cx, mut out) = (ground.cx(), Vec::new());
        for (unit, seat) in self.policy.units().iter().zip(&self.seats) {
            let before = out.len();
            let fault = match seat {
                Seat::Failed(fault) => Some(Arc::clone(fault)),
                Seat::Working(monitor) => guarded(|| monitor.report(end, &cx, &mut out))
                    .err()
                    .map(|why| fault(&**unit, Stage::Report, None, why)),
            };
            if let Some((rule, fault)) = fault.and_then(|fault| Some((blamed(&**unit, &fault)?, fault))) {
                out.truncate(before);
                out.push(RuleState {
                    code: Some(code::RULE_FAULT),
                    facts: Some(fault),
                    ..RuleState::new(rule, RuleOutcome::Violated)
                });
            }
        }
        out.sort_by_key(|state| state.rule);
        out
    }
}
