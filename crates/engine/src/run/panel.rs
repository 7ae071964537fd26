//! The active units: how they are asked about a call, and receive events.
//!
//! The fault of a rule is caught here, at every function that a monitor has. While it decides, the call is denied;
//! while it narrows, the tool is hidden. If its state may be damaged or was never made (it failed while starting,
//! recording or forking), the unit no longer allows anything: everything that it governs is stopped from then on, and
//! the session counts as violated. [`super::Run`] decides the order of events.

pub(super) mod saved;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::context::Context;
use super::decision::Decision;
use crate::monitor::collections::Pages;
use crate::monitor::fault::{LostUnit, guarded};
use crate::monitor::finding::{RuleOutcome, RuleState};
use crate::monitor::{
    Cx, Depth, Effect, End, Event, Fault, Hidden, Monitor, ProposedCall, Reason, RuleId, Sink, Stage,
    StateItem, Timer, Timers, Unit, strongest,
};
use crate::policy::{Dispatch, Policy, Route, Subscription};
use rulestep_base::diagnostic::code;
use rulestep_base::session::Facts;

/// The monitors of one run.
pub(super) struct Panel {
    pub policy: Arc<Policy>,
    /// How much decisions hold.
    pub depth: Depth,
    work: Work,
}

/// The running state of all units.
struct Work {
    seats: Pages<Seat>,
    timers: BinaryHeap<Reverse<Timer>>,
    /// Timers that the next call makes due, taken off the heap: their units are asked about that call.
    armed: Vec<Timer>,
    set: Vec<Timer>,
}

/// The place of a unit's monitor.
#[derive(Default)]
enum Seat {
    /// No event has woken the unit yet, so it has no state.
    #[default]
    Empty,
    Working(Box<dyn Monitor>),
    /// It is retired: see [`Timers::retire`].
    Retired(Box<dyn Monitor>),
    /// A rule failed while it made, changed or forked the state, so there is none to ask.
    Failed(Arc<Fault>),
}

impl Seat {
    fn of(unit: &dyn Unit, stage: Stage, make: impl FnOnce() -> Box<dyn Monitor>) -> Seat {
        match guarded(make) {
            Ok(monitor) => Seat::Working(monitor),
            Err(why) => Seat::Failed(Fault::of(unit, stage, None, why)),
        }
    }

    /// The same, with a retired monitor.
    fn retired(self) -> Seat {
        match self {
            Seat::Working(monitor) => Seat::Retired(monitor),
            other => other,
        }
    }

    fn started(unit: &Arc<dyn Unit>, facts: &Arc<Facts>) -> Seat {
        Seat::of(&**unit, Stage::Start, || Arc::clone(unit).start(facts))
    }
}

/// The rule under whose name a fault is reported: the first of the unit, if any may have failed.
fn blamed(unit: &dyn Unit, fault: &Fault) -> Option<RuleId> {
    unit.rules().get(fault.rule.unwrap_or_default()).copied()
}

/// A unit and its seat. The monitor is made when it is first needed.
fn seated<'p, 's>(
    policy: &'p Policy,
    seats: &'s mut Pages<Seat>,
    number: u32,
    context: &Context,
) -> Option<(&'p dyn Unit, &'s mut Seat)> {
    let (unit, seat) = (policy.units().get(number as usize)?, seats.get_mut(number as usize)?);
    if let Seat::Empty = seat {
        *seat = Seat::started(unit, &context.facts);
    }
    Some((&**unit, seat))
}

impl Panel {
    pub fn new(policy: &Arc<Policy>, depth: Depth) -> Panel {
        let seats = Pages::new(policy.units().len());
        let work = Work { seats, timers: BinaryHeap::new(), armed: Vec::new(), set: Vec::new() };
        Panel { policy: Arc::clone(policy), depth, work }
    }

    pub fn fork(&self) -> Panel {
        let mut seats = Pages::new(self.policy.units().len());
        for (number, unit) in self.policy.units().iter().enumerate() {
            let copy = match self.work.seats.get(number) {
                None | Some(Seat::Empty) => continue,
                Some(Seat::Working(monitor)) => Seat::of(&**unit, Stage::Fork, || monitor.fork()),
                Some(Seat::Retired(monitor)) => Seat::of(&**unit, Stage::Fork, || monitor.fork()).retired(),
                Some(Seat::Failed(fault)) => Seat::Failed(Arc::clone(fault)),
            };
            if let Some(seat) = seats.get_mut(number) {
                *seat = copy;
            }
        }
        let work =
            Work { seats, timers: self.work.timers.clone(), armed: self.work.armed.clone(), set: Vec::new() };
        Panel { policy: Arc::clone(&self.policy), depth: self.depth, work }
    }

    /// The monitor of a unit; `None`: it has failed.
    pub fn working(&mut self, number: u32, context: &Context) -> Option<&dyn Monitor> {
        match seated(&self.policy, &mut self.work.seats, number, context)?.1 {
            Seat::Working(monitor) | Seat::Retired(monitor) => Some(&**monitor),
            Seat::Empty | Seat::Failed(_) => None,
        }
    }

    /// The rules that hide a tool. A rule that fails hides it.
    pub fn reasons(&mut self, route: &Route, context: &Context) -> Vec<Reason> {
        let (cx, mut reasons) = (context.cx(), Vec::new());
        for (number, slot) in &route.decide {
            let Some((unit, seat)) = seated(&self.policy, &mut self.work.seats, *number, context) else {
                continue;
            };
            let fault = match (route.unknown(*number), &*seat) {
                (Some(fault), _) | (None, Seat::Failed(fault)) => Some(Arc::clone(fault)),
                (None, Seat::Working(monitor) | Seat::Retired(monitor)) => {
                    let mut hidden = Hidden::new(unit, self.policy.rules(), &mut reasons);
                    let narrowed = guarded(|| monitor.narrow(&route.tool, *slot, &cx, &mut hidden));
                    narrowed.err().map(|why| Fault::of(unit, Stage::Narrow, hidden.asked(), why))
                }
                (None, Seat::Empty) => None,
            };
            let stops = || strongest(unit, self.policy.rules(), Effect::Deny).0 >= Effect::Deny;
            if let Some((rule, fault)) = fault.and_then(|fault| Some((blamed(unit, &fault)?, fault)))
                && stops()
            {
                reasons.push(Reason { rule, code: code::RULE_FAULT, fault: Some(fault) });
            }
        }
        reasons
    }

    /// Adds the findings of the rules about a call to an empty decision. A call whose arguments they cannot look into
    /// is denied.
    pub fn decide(
        &mut self,
        route: &Route,
        call: ProposedCall<'_>,
        context: &Context,
        decision: &mut Decision,
    ) {
        if let Some(why) = call.arguments.undecidable() {
            *decision = Decision::unclear(&why);
            return;
        }
        let mut effect = self.ask(route, &route.decide, call, Effect::Deny, context, decision);
        // A deadline passes only with a call that runs. It changes no verdict, so it is checked only if more than the
        // verdict is wanted.
        if self.depth >= Depth::Deciding && (effect < Effect::Deny || !context.enforcing) {
            let overdue = self.overdue(route, context);
            effect = effect.max(self.ask(route, &overdue, call, Effect::Report, context, decision));
        }
        if effect > Effect::None || !decision.checks.is_empty() {
            decision.settle(effect);
        }
    }

    /// Asks some units about a call, each with its own slot for the tool; returns the strongest effect. The effect of a
    /// unit in which a rule fails is `failing`.
    fn ask(
        &mut self,
        route: &Route,
        units: &[Subscription],
        call: ProposedCall<'_>,
        failing: Effect,
        context: &Context,
        decision: &mut Decision,
    ) -> Effect {
        if units.is_empty() {
            return Effect::None;
        }
        let (cx, mut effect, mut next) = (context.cx(), Effect::None, 0);
        let Panel { policy, depth, work: Work { seats, .. } } = self;
        let depth = *depth;
        let mut sink = Sink::new(depth, policy.rules(), &mut decision.findings, &mut decision.checks);
        // One `catch_unwind` serves all of them: if a unit fails, the next one is asked.
        while next < units.len() {
            let asked = guarded(|| {
                while let Some((number, slot)) = units.get(next) {
                    let Some((unit, seat)) = seated(policy, seats, *number, context) else {
                        next += 1;
                        continue;
                    };
                    sink.turn_to(unit);
                    match (route.unknown(*number), &*seat) {
                        (Some(fault), _) | (None, Seat::Failed(fault)) => return Some(Arc::clone(fault)),
                        (None, Seat::Working(monitor)) => {
                            monitor.decide(ProposedCall { slot: *slot, ..call }, &cx, &mut sink);
                        }
                        (None, Seat::Retired(monitor)) if depth >= Depth::Checks => {
                            monitor.decide(ProposedCall { slot: *slot, ..call }, &cx, &mut sink);
                        }
                        (None, Seat::Retired(_) | Seat::Empty) => {}
                    }
                    effect = effect.max(sink.effect());
                    next += 1;
                }
                None
            });
            let fault = match asked {
                Ok(fault) => fault,
                Err(why) => units
                    .get(next)
                    .and_then(|(number, _)| policy.units().get(*number as usize))
                    .map(|unit| Fault::of(&**unit, Stage::Decide, sink.asked(), why)),
            };
            let Some(fault) = fault else { break };
            // The unit's findings before it failed are true all the same, and may be stronger.
            let own = if sink.effect() >= failing { Effect::Also } else { failing };
            let rule = fault.rule.unwrap_or_default();
            sink.fail(rule, own, code::RULE_FAULT, |finding| {
                finding.facts = Some(Arc::<Fault>::clone(&fault));
            });
            sink.check(rule, false, |check| {
                check.code = Some(code::RULE_FAULT);
                check.facts = Some(fault);
            });
            effect = effect.max(sink.effect());
            next += 1;
        }
        effect
    }

    /// Units that the tool does not wake, but that have a deadline which passes with this call.
    fn overdue(&mut self, route: &Route, context: &Context) -> Vec<Subscription> {
        let due = context.ran.len() as u32 + 1;
        while let Some(Reverse(timer)) =
            self.work.timers.peek().copied().filter(|Reverse(timer)| timer.due <= due)
        {
            self.work.timers.pop();
            self.work.armed.push(timer);
        }
        let mut units: Vec<u32> = self.work.armed.iter().map(|timer| timer.unit).collect();
        units.sort_unstable();
        units.dedup();
        units.retain(|unit| route.decide.iter().all(|(number, _)| number != unit));
        let slot = |unit| route.observe.iter().find(|(number, _)| *number == unit).map(|(_, slot)| *slot);
        units.into_iter().map(|unit| (unit, slot(unit).unwrap_or_default())).collect()
    }

    /// A call has joined the trace: deadlines that pass with it.
    pub fn tell_due(&mut self, context: &Context) {
        let Panel { policy, work, .. } = self;
        let told = |timer: &Timer| (timer.unit, Event::Due(timer.id));
        if !work.armed.is_empty() {
            let armed = std::mem::take(&mut work.armed);
            work.tell(policy, &armed, context, told);
        }
        while let Some(Reverse(timer)) = work.timers.peek().copied() {
            if timer.due as usize > context.ran.len() {
                break;
            }
            work.timers.pop();
            work.tell(policy, &[timer], context, told);
        }
    }

    /// Reports a call's event to the units that its tool wakes.
    pub fn tell_route<'e>(
        &mut self,
        route: &'e Route,
        subscriptions: &[Subscription],
        call: ProposedCall<'e>,
        context: &Context,
        event: impl Fn(ProposedCall<'e>) -> Event<'e>,
    ) {
        let Panel { policy, work, .. } = self;
        for (number, fault) in &route.unknown {
            // The event cannot be applied to its state, so the state is unknown from here on.
            if let Some(seat @ (Seat::Empty | Seat::Working(_) | Seat::Retired(_))) =
                work.seats.get_mut(*number as usize)
            {
                *seat = Seat::Failed(Arc::clone(fault));
            }
        }
        work.tell(policy, subscriptions, context, |(number, slot)| {
            (*number, event(ProposedCall { slot: *slot, ..call }))
        });
    }

    /// Reports an event without a call to some units.
    pub fn tell_all(&mut self, units: impl Fn(&Dispatch) -> &[u32], event: &Event<'_>, context: &Context) {
        let Panel { policy, work, .. } = self;
        work.tell(policy, units(policy.dispatch()), context, |number| (*number, *event));
    }

    /// Asks every unit in turn; returns the rule to blame if one fails. A unit that no call has woken answers as for a
    /// session without calls.
    fn ask_all<T>(
        &self,
        stage: Stage,
        context: &Context,
        out: &mut Vec<T>,
        ask: impl Fn(&dyn Monitor, &Cx<'_>, &mut Vec<T>),
        failed: impl Fn(RuleId, Arc<Fault>, usize, &mut Vec<T>),
    ) {
        let cx = context.cx();
        for (number, unit) in self.policy.units().iter().enumerate() {
            let before = out.len();
            let seat = self.work.seats.get(number).filter(|seat| !matches!(seat, Seat::Empty));
            let fresh = seat.is_none().then(|| Seat::started(unit, &context.facts));
            let fault = match seat.or(fresh.as_ref()).unwrap_or(&Seat::Empty) {
                Seat::Failed(fault) => Some(Arc::clone(fault)),
                Seat::Working(monitor) | Seat::Retired(monitor) => guarded(|| ask(&**monitor, &cx, out))
                    .err()
                    .map(|why| Fault::of(&**unit, stage, None, why)),
                Seat::Empty => None,
            };
            if let Some((rule, fault)) = fault.and_then(|fault| Some((blamed(&**unit, &fault)?, fault))) {
                failed(rule, fault, before, out);
            }
        }
    }

    /// The current state. A unit that cannot say it is listed as failed rather than left out.
    pub fn state(&self, context: &Context) -> Vec<StateItem> {
        let mut all = Vec::new();
        self.ask_all(
            Stage::State,
            context,
            &mut all,
            |monitor, cx, out| monitor.state(cx, out),
            |rule, fault, _, out| {
                out.push(StateItem::Kept { rule, tool: None, facts: Arc::new(LostUnit(fault)) })
            },
        );
        // A tool is not forbidden by a rule that asks, reports or is not enforced.
        all.retain(|item| {
            let rule = self.policy.rules().get(item.rule());
            !matches!(item, StateItem::Forbidden { .. }) || rule.is_none_or(|rule| rule.options.stops())
        });
        all
    }

    /// The state of the session rules, in document order. A unit that failed counts as violated: it is unknown whether
    /// it held.
    pub fn report(&self, end: End, context: &Context) -> Vec<RuleState> {
        let mut all = Vec::with_capacity(self.policy.units().len());
        self.ask_all(
            Stage::Report,
            context,
            &mut all,
            |monitor, cx, out| monitor.report(end, cx, out),
            |rule, fault, before, out| {
                out.truncate(before);
                out.push(RuleState {
                    code: Some(code::RULE_FAULT),
                    facts: Some(fault),
                    ..RuleState::new(rule, RuleOutcome::Violated)
                });
            },
        );
        for state in &mut all {
            let rule = self.policy.rules().get(state.rule);
            state.enforced &= rule.is_none_or(|rule| rule.options.is_enforced());
        }
        all.sort_by_key(|state| state.rule);
        all
    }
}

impl Work {
    fn tell<'e, P>(
        &mut self,
        policy: &Policy,
        subscriptions: &[P],
        context: &Context,
        told: impl Fn(&P) -> (u32, Event<'e>),
    ) {
        if subscriptions.is_empty() {
            return;
        }
        let (cx, mut next) = (context.cx(), 0);
        let Work { seats, set, .. } = self;
        while next < subscriptions.len() {
            let caught = guarded(|| {
                while let Some((number, event)) = subscriptions.get(next).map(&told) {
                    if let Some((_, seat)) = seated(policy, seats, number, context)
                        && let Seat::Working(monitor) = seat
                    {
                        let mut timers = Timers::new(number, set);
                        monitor.observe(&event, &cx, &mut timers);
                        if timers.retired() {
                            *seat = std::mem::take(seat).retired();
                        }
                    }
                    next += 1;
                }
            });
            if let Err(why) = caught
                && let Some(number) =
                    subscriptions.get(next).map(|subscription| told(subscription).0 as usize)
                && let (Some(unit), Some(seat)) = (policy.units().get(number), seats.get_mut(number))
            {
                *seat = Seat::Failed(Fault::of(&**unit, Stage::Observe, None, why));
            }
            next += 1;
        }
        if !self.set.is_empty() {
            self.timers.extend(self.set.drain(..).map(Reverse));
        }
    }
}
