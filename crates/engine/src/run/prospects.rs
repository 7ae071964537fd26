//! A run's knowledge of hypothetical calls: which could help, which cannot, and when two runs are equal for them.

use std::sync::Arc;

use super::{NewCall, Run};
use crate::monitor::fault::guarded;
use crate::monitor::{Digest, Enablers, ProposedCall, Prospect, RuleId, RuleOptions};
use rulestep_base::session::{Body, Call, CallRef};

/// The call is hypothetical, so it has no place yet.
const NOWHERE: CallRef = CallRef { turn: 0, call: 0, index: 0 };

impl Run {
    /// The calls that can make this one allowed, in the words of every unit that decides about it.
    pub fn enablers(&mut self, call: NewCall<'_>, wanted: &Body, earlier: &[Call]) -> Enablers {
        let mut enablers = Enablers::default();
        let place = self.routes.place(call.tool);
        let Some(route) = self.routes.get(place) else { return enablers };
        for (number, slot) in &route.decide {
            let NewCall { tool, arguments } = call;
            let prospect = Prospect { tool, slot: *slot, arguments, wanted, earlier };
            let unit = self.panel.policy.units().get(*number as usize);
            if unit.is_some_and(|unit| guarded(|| unit.enablers(prospect, &mut enablers)).is_err()) {
                enablers.unsure();
            }
        }
        enablers
    }

    /// A rule that stops the call whatever happens from now on.
    pub fn permanent_denial(&mut self, call: NewCall<'_>) -> Option<RuleId> {
        let place = self.routes.place(call.tool);
        let route = self.routes.get(place)?;
        route.decide.iter().find_map(|(number, slot)| {
            let asked = ProposedCall { slot: *slot, ..route.asked(NOWHERE, call.arguments) };
            let policy = Arc::clone(&self.panel.policy);
            let rules = policy.units().get(*number as usize)?.rules();
            let options = |rule: usize| Some(&policy.rules().get(*rules.get(rule)?)?.options);
            let enforced = |rule: usize| options(rule).is_some_and(RuleOptions::is_enforced);
            let monitor = self.panel.working(*number, &self.context)?;
            let rule = guarded(|| monitor.permanent_denial(asked, &self.context.cx(), &enforced)).ok()??;
            rules.get(rule).copied()
        })
    }

    /// The part of the state that can still matter to decisions about these calls, if no others run. `None`: unknown.
    pub fn digest(&mut self, calls: &[NewCall<'_>]) -> Option<Vec<u8>> {
        let places: Vec<u32> = calls.iter().map(|call| self.routes.place(call.tool)).collect();
        let mut by_unit: Vec<Vec<ProposedCall<'_>>> = vec![Vec::new(); self.panel.policy.units().len()];
        for (call, place) in calls.iter().zip(places) {
            let Some(route) = self.routes.get(place) else { continue };
            for (number, slot) in &route.decide {
                let asked = ProposedCall { slot: *slot, ..route.asked(NOWHERE, call.arguments) };
                if let Some(calls) = by_unit.get_mut(*number as usize) {
                    calls.push(asked);
                }
            }
        }
        let mut digest = Digest::default();
        for (number, calls) in (0..).zip(&by_unit).filter(|(_, calls)| !calls.is_empty()) {
            // A unit that has failed stops whatever it governs, for ever.
            let Some(monitor) = self.panel.working(number, &self.context) else { continue };
            guarded(|| monitor.digest(calls, &self.context.cx(), &mut digest)).ok()?;
        }
        digest.finish()
    }
}
