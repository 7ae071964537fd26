//! An `allowlist` that names calls: every command of a call must match one of them.

use std::sync::Arc;

use super::commands::stray;
use super::names::Hits;
use super::operand::{Look, Operand};
use super::unit::{Kind, Objection, RuleStanding};
use crate::condition::glob::Glob;
use crate::dialect::sequence_rules::codes;
use crate::monitor::finding::RuleOutcome;
use crate::monitor::{Cx, End, Observes, Says, Slot, Timers, Wakes};
use rulestep_base::session::CallRef;

/// `allowlist` with calls.
pub(super) struct AllowedCalls {
    /// Tools of which every call is allowed.
    pub globs: Vec<Glob>,
    pub calls: Arc<[Operand]>,
}

/// The slot of a tool that the list does not name.
const UNNAMED: u64 = 1;
/// The slot of a tool whose calls are looked at.
const LOOKED_AT: u64 = 2;

fn slot(globs: &[Glob], calls: &[Operand], tool: &str) -> u64 {
    match () {
        () if globs.iter().any(|glob| glob.matches(tool)) => 0,
        () if calls.iter().any(|call| call.names(tool)) => LOOKED_AT,
        () => UNNAMED,
    }
}

impl Kind for AllowedCalls {
    const REMEMBERS: bool = false;
    type State = Hits;

    fn wakes(&self, tool: &str) -> Wakes {
        let slot = slot(&self.globs, &self.calls, tool);
        let observe = Observes { starts: slot != 0, ..Observes::default() };
        Wakes { decide: slot != 0, observe, slot: Slot(slot) }
    }

    fn wakes_by_name(&self) -> bool {
        false
    }

    fn says(&self, out: &mut Vec<Says>) {
        let (globs, calls) = (self.globs.clone(), Arc::clone(&self.calls));
        out.push(Says::Never(Arc::new(move |tool| slot(&globs, &calls, tool) == UNNAMED)));
    }

    fn operands(&self) -> Vec<&Operand> {
        self.calls.iter().collect()
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.globs.iter().filter_map(Glob::exact).cloned());
        out.extend(self.calls.iter().flat_map(|call| &call.tools).cloned());
    }

    fn gate(&self, _hits: &Hits, look: Look<'_>, _cx: &Cx<'_>) -> Option<Objection> {
        if look.slot.0 == UNNAMED {
            return Some(Objection::new(codes::NOT_ALLOWLISTED, []));
        }
        let part = stray(&self.calls, look)?;
        Some(Objection::new(codes::NOT_ALLOWLISTED, []).part(Some(part)))
    }

    fn is_final(&self, _hits: &Hits, _cx: &Cx<'_>) -> bool {
        true
    }

    fn started(&self, hits: &mut Hits, look: Look<'_>, _at: CallRef, cx: &Cx<'_>, _timers: &mut Timers<'_>) {
        if self.gate(hits, look, cx).is_some() {
            hits.add(cx.ran);
        }
    }

    fn refused(&self, hits: &mut Hits, _look: Look<'_>, at: CallRef, cx: &Cx<'_>) {
        hits.take_back(at, cx.ran);
    }

    fn standing(&self, hits: &Hits, _end: End, cx: &Cx<'_>) -> RuleStanding {
        match hits.all(cx.ran).next() {
            Some(first) => RuleStanding::violated(codes::NOT_ALLOWLISTED, Some(first), hits.all(cx.ran)),
            None => RuleStanding::as_it_is(RuleOutcome::Held),
        }
    }
}
