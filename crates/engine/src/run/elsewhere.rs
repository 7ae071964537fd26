//! Events of other sessions of the same tree: only rules that look at the whole tree receive them.

use std::sync::Arc;

use super::context::Context;
use super::panel::Panel;
use crate::monitor::{Event, ProposedCall};
use crate::policy::{Route, Subscription};
use rulestep_base::session::{Call, CallRef, Elsewhere, Session};

/// How far they were delivered.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard {
    /// The number of delivered events.
    events: usize,
    /// The calls that began, by number.
    calls: Vec<CallRef>,
}

/// A call of another session that begins, or that has its result.
#[derive(Clone, Copy)]
pub(super) struct Told<'e> {
    at: CallRef,
    session: &'e Session,
    pub call: &'e Call,
    ended: bool,
}

impl Heard {
    /// Whether nothing was heard yet.
    pub fn is_empty(&self) -> bool {
        self.events == 0 && self.calls.is_empty()
    }

    /// The next event before the session's call with this index; `last`: turn and number of the latest call.
    pub fn next<'e>(&mut self, elsewhere: &'e Elsewhere, before: u32, last: (u32, u32)) -> Option<Told<'e>> {
        let event = elsewhere.happened().get(self.events).filter(|event| event.before <= before)?;
        self.events += 1;
        if !event.ended {
            self.calls.push(CallRef::from_elsewhere(last, event.call));
        }
        let (at, (session, call)) = (*self.calls.get(event.call as usize)?, elsewhere.call(event.call)?);
        Some(Told { at, session, call, ended: event.ended })
    }
}

impl Told<'_> {
    /// Reports it to the units that look at the whole tree.
    pub fn tell(self, route: &Route, panel: &mut Panel, context: &mut Context) {
        let looks = |(unit, _): &&Subscription| {
            panel.policy.units().get(*unit as usize).is_some_and(|unit| unit.sees_tree())
        };
        let subscriptions = if self.ended { &route.results } else { &route.starts };
        let subscriptions: Vec<Subscription> = subscriptions.iter().filter(looks).copied().collect();
        // Their rules began with the session that is judged, whose context decides whether they apply.
        for (unit, _) in &subscriptions {
            panel.working(*unit, context);
        }
        let own = std::mem::replace(&mut context.facts, Arc::clone(&self.session.facts));
        let Call { outcome, output, folder, .. } = self.call;
        let here = context.enter(folder.as_ref());
        let asked = route.asked(self.at, &self.call.arguments);
        panel.tell_route(route, &subscriptions, asked, context, |call: ProposedCall<'_>| match self.ended {
            false => Event::Started(call),
            true => Event::Resolved { call, outcome: *outcome, output },
        });
        (context.facts, context.folder) = (own, here);
    }
}
