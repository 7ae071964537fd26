//! The units at work: how they are asked about a call, and told what happened.
//!
//! A rule that fails by itself costs its unit the right to allow: everything that the unit governs is stopped from then
//! on. What happens in which order is [`super::Run`]'s to say.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::decision::Decision;
use crate::diagnostic::code;
use crate::monitor::{
    Asked, Cx, Depth, Effect, Event, Hidden, History, Monitor, Reason, Sink, Slot, Timer, Timers, Trace,
};
use crate::policy::Policy;
use crate::session::{Body, CallRef, Facts, Message, Millis};

/// The monitors of one run.
pub(super) struct Panel {
    pub policy: Arc<Policy>,
    /// How much decisions tell.
    pub depth: Depth,
    pub monitors: Vec<Box<dyn Monitor>>,
    /// Units in which a rule failed.
    faulted: Vec<bool>,
    timers: BinaryHeap<Reverse<Timer>>,
    /// Timers that the next call makes due, taken off the heap: their units are asked about that call.
    armed: Vec<Timer>,
    set: Vec<Timer>,
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
}

impl Ground {
    pub fn cx(&self) -> Cx<'_> {
        Cx {
            turn: self.turn,
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
        let mut route = Route { tool: tool.into(), decide: Vec::new(), observe: Vec::new() };
        for (number, unit) in policy.units().iter().enumerate() {
            let wakes = unit.wakes(tool);
            if wakes.decide {
                route.decide.push((number, wakes.slot));
            }
            if wakes.observe {
                route.observe.push((number, wakes.slot));
            }
        }
        route
    }

    /// A call of this tool. Each unit gets its own name for the tool when it is asked.
    pub fn asked<'a>(&'a self, at: CallRef, arguments: &'a Body) -> Asked<'a> {
        Asked { at, tool: &self.tool, slot: Slot::default(), arguments }
    }
}

impl Panel {
    pub fn new(policy: &Arc<Policy>, depth: Depth, facts: &Arc<Facts>) -> Panel {
        let monitors: Vec<_> = policy.units().iter().map(|unit| Arc::clone(unit).start(facts)).collect();
        Panel {
            policy: Arc::clone(policy),
            depth,
            faulted: vec![false; monitors.len()],
            monitors,
            timers: BinaryHeap::new(),
            armed: Vec::new(),
            set: Vec::new(),
        }
    }

    pub fn fork(&self) -> Panel {
        Panel {
            policy: Arc::clone(&self.policy),
            depth: self.depth,
            monitors: self.monitors.iter().map(|monitor| monitor.fork()).collect(),
            faulted: self.faulted.clone(),
            timers: self.timers.clone(),
            armed: self.armed.clone(),
            set: Vec::new(),
        }
    }

    /// Which rules hide a tool.
    pub fn reasons(&self, route: &Route, ground: &Ground) -> Vec<Reason> {
        let (cx, mut reasons) = (ground.cx(), Vec::new());
        for (number, slot) in &route.decide {
            if let (Some(monitor), Some(unit)) =
                (self.monitors.get(*number), self.policy.units().get(*number))
            {
                let mut hidden = Hidden::new(unit.rules(), &mut reasons);
                // A rule that fails here says nothing; the call itself is then denied.
                let _ =
                    catch_unwind(AssertUnwindSafe(|| monitor.narrow(&route.tool, *slot, &cx, &mut hidden)));
            }
        }
        reasons
    }

    /// What the rules say of a call.
    pub fn decide(&mut self, route: &Route, call: Asked<'_>, ground: &Ground) -> Decision {
        let mut decision = Decision::allow();
        let mut effect = self.ask(&route.decide, call, Effect::Deny, ground, &mut decision);
        // A deadline passes only with a call that runs. It changes no verdict, so nobody is asked where nothing else is
        // wanted.
        if self.depth > Depth::Verdict && (effect < Effect::Deny || !ground.enforcing) {
            let overdue = self.overdue(route, ground);
            effect = effect.max(self.ask(&overdue, call, Effect::Report, ground, &mut decision));
        }
        decision.settle(effect);
        decision
    }

    /// Puts a call to some units, each under its own name for the tool; the strongest that they say. A unit in which a
    /// rule fails says `fault`.
    fn ask(
        &self,
        units: &[(usize, Slot)],
        call: Asked<'_>,
        fault: Effect,
        ground: &Ground,
        decision: &mut Decision,
    ) -> Effect {
        let (cx, mut effect) = (ground.cx(), Effect::None);
        for (number, slot) in units {
            let (Some(monitor), Some(unit)) = (self.monitors.get(*number), self.policy.units().get(*number))
            else {
                continue;
            };
            let mut sink = Sink::new(self.depth, unit.rules(), &mut decision.findings, &mut decision.checks);
            let call = Asked { slot: *slot, ..call };
            let failed = self.faulted.get(*number) == Some(&true)
                || catch_unwind(AssertUnwindSafe(|| monitor.decide(call, &cx, &mut sink))).is_err();
            if failed {
                sink.find(0, fault, code::RULE_FAULT, |_| {});
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
        call: Asked<'e>,
        ground: &Ground,
        event: impl Fn(Asked<'e>) -> Event<'e>,
    ) {
        for (number, slot) in &route.observe {
            self.tell(*number, &event(Asked { slot: *slot, ..call }), ground);
        }
    }

    /// Tells every unit.
    pub fn tell_all(&mut self, event: &Event<'_>, ground: &Ground) {
        for number in 0..self.monitors.len() {
            self.tell(number, event, ground);
        }
    }

    fn tell(&mut self, number: usize, event: &Event<'_>, ground: &Ground) {
        let Some(monitor) = self.monitors.get_mut(number) else { return };
        let cx = ground.cx();
        let mut timers = Timers::new(number as u32, &mut self.set);
        let told = catch_unwind(AssertUnwindSafe(|| monitor.observe(event, &cx, &mut timers)));
        if told.is_err()
            && let Some(faulted) = self.faulted.get_mut(number)
        {
            *faulted = true;
        }
        if !self.set.is_empty() {
            self.timers.extend(self.set.drain(..).map(Reverse));
        }
    }
}
