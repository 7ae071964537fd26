//! Rules about single calls: `blocklist`, `allowlist`, `max_calls`.

use std::hash::Hash;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::operand::{Look, Match, Operand, Side};
use super::unit::{Kind, Objection, RuleStanding, Support};
use crate::condition::glob::Glob;
use crate::dialect::limit::Limit;
use crate::dialect::sequence_rules::codes;
use crate::monitor::collections::Waiting;
use crate::monitor::finding::RuleOutcome;
use crate::monitor::saved;
use crate::monitor::{Cx, Digest, End, Observes, RuleId, Says, Slot, StateItem, Timers, Trace, Wakes};
use rulestep_base::diagnostic::code;
use rulestep_base::session::CallRef;

/// Number of earlier calls that a finding names.
const NAMED: usize = 4;

/// `blocklist` and `allowlist`.
pub(super) struct List {
    pub pattern: Option<Arc<str>>,
    pub globs: Vec<Glob>,
    /// Whether the listed tools are the forbidden ones.
    pub blocks: bool,
}

/// `max_calls`, also as `count`.
pub(super) struct MaxCalls {
    pub tool: Side,
    pub max: u64,
}

/// The calls that a rule is about, by their places in the trace.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Hits {
    all: Waiting<u32>,
    /// The newest few of them, the newest first.
    #[serde(with = "saved::list")]
    newest: SmallVec<[u32; NAMED]>,
}

impl Hits {
    pub fn add(&mut self, ran: &Trace) {
        let place = ran.len() as u32;
        self.all.push(place);
        self.newest.truncate(NAMED - 1);
        self.newest.insert(0, place);
    }

    /// The call never ran.
    pub fn take_back(&mut self, at: CallRef, ran: &Trace) {
        let Some(place) = ran.place(at) else { return };
        // A call of several commands is there once for each.
        while self.all.take(|hit| *hit < place, |hit| *hit == place).is_some() {}
        self.newest.retain(|hit| *hit != place);
    }

    fn len(&self) -> u64 {
        self.all.len() as u64
    }

    /// The newest of them, a few.
    fn newest(&self, ran: &Trace) -> Vec<CallRef> {
        self.newest.iter().filter_map(|place| ran.at(*place)).collect()
    }

    pub fn all<'a>(&'a self, ran: &'a Trace) -> impl Iterator<Item = CallRef> + 'a {
        self.all.iter().filter_map(|place| ran.at(place))
    }
}

impl List {
    fn forbids(&self, tool: &str) -> bool {
        let listed = self.globs.iter().any(|glob| glob.matches(tool))
            || self.pattern.as_ref().is_some_and(|pattern| tool.contains(&**pattern));
        listed == self.blocks
    }

    fn code(&self) -> code::Code {
        if self.blocks { codes::BLOCKLISTED } else { codes::NOT_ALLOWLISTED }
    }
}

impl Kind for List {
    const REMEMBERS: bool = false;
    type State = Hits;

    fn wakes(&self, tool: &str) -> Wakes {
        let forbidden = self.forbids(tool);
        let observe = Observes { starts: forbidden, ..Observes::default() };
        Wakes { decide: forbidden, observe, slot: Slot(u64::from(forbidden)) }
    }

    fn wakes_by_name(&self) -> bool {
        self.blocks && self.pattern.is_none() && self.globs.iter().all(|glob| glob.exact().is_some())
    }

    fn says(&self, out: &mut Vec<Says>) {
        // A rule that denies every call at all is reported itself, and would make all other rules pointless.
        let all = if self.blocks { self.pattern.as_deref() == Some("") } else { self.globs.is_empty() };
        if all {
            return;
        }
        let (globs, pattern, blocks) = (self.globs.clone(), self.pattern.clone(), self.blocks);
        out.push(Says::Never(Arc::new(move |tool| {
            let listed = globs.iter().any(|glob| glob.matches(tool))
                || pattern.as_ref().is_some_and(|pattern| tool.contains(&**pattern));
            listed == blocks
        })));
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.globs.iter().filter_map(Glob::exact).cloned());
    }

    fn gate(&self, _hits: &Hits, look: Look<'_>, _cx: &Cx<'_>) -> Option<Objection> {
        (look.slot.0 == 1).then(|| Objection::new(self.code(), []))
    }

    fn is_final(&self, _hits: &Hits, _cx: &Cx<'_>) -> bool {
        true
    }

    fn started(&self, hits: &mut Hits, _look: Look<'_>, _at: CallRef, cx: &Cx<'_>, _timers: &mut Timers<'_>) {
        hits.add(cx.ran);
    }

    fn refused(&self, hits: &mut Hits, _look: Look<'_>, at: CallRef, cx: &Cx<'_>) {
        hits.take_back(at, cx.ran);
    }

    fn standing(&self, hits: &Hits, _end: End, cx: &Cx<'_>) -> RuleStanding {
        match hits.all(cx.ran).next() {
            Some(first) => RuleStanding::violated(self.code(), Some(first), hits.all(cx.ran)),
            None => RuleStanding::as_it_is(RuleOutcome::Held),
        }
    }
}

/// `never`.
pub(super) struct Never {
    pub call: Side,
    /// The code of its findings: the program's own rules have a code of their own.
    pub code: code::Code,
}

impl Kind for Never {
    const REMEMBERS: bool = false;
    type State = Hits;

    fn wakes(&self, tool: &str) -> Wakes {
        let slot = self.call.slot(tool);
        let observe = Observes { starts: slot != 0, ..Observes::default() };
        Wakes { decide: slot != 0, observe, slot: Slot(slot) }
    }

    fn says(&self, out: &mut Vec<Says>) {
        let tools: Vec<Arc<str>> = self.call.always().cloned().collect();
        if !tools.is_empty() {
            out.push(Says::Never(Arc::new(move |name| tools.iter().any(|tool| **tool == *name))));
        }
    }

    fn operands(&self) -> Vec<&Operand> {
        self.call.operands().iter().collect()
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.call.tools().cloned());
    }

    fn gate(&self, _hits: &Hits, look: Look<'_>, _cx: &Cx<'_>) -> Option<Objection> {
        let refused = self.call.means(look) == Match::Yes;
        refused.then(|| Objection::new(self.code, []).part(self.call.part(look)))
    }

    fn is_final(&self, _hits: &Hits, _cx: &Cx<'_>) -> bool {
        true
    }

    fn digest(&self, _hits: &Hits, _cx: &Cx<'_>, _out: &mut Digest) {}

    fn started(&self, hits: &mut Hits, look: Look<'_>, _at: CallRef, cx: &Cx<'_>, _timers: &mut Timers<'_>) {
        if self.call.is(look) {
            hits.add(cx.ran);
        }
    }

    fn refused(&self, hits: &mut Hits, _look: Look<'_>, at: CallRef, cx: &Cx<'_>) {
        hits.take_back(at, cx.ran);
    }

    fn standing(&self, hits: &Hits, _end: End, cx: &Cx<'_>) -> RuleStanding {
        match hits.all(cx.ran).next() {
            Some(first) => RuleStanding::violated(self.code, Some(first), hits.all(cx.ran)),
            None => RuleStanding::as_it_is(RuleOutcome::Held),
        }
    }
}

impl Kind for MaxCalls {
    type State = Hits;

    fn wakes(&self, tool: &str) -> Wakes {
        let slot = self.tool.slot(tool);
        let observe = Observes { starts: slot != 0, ..Observes::default() };
        Wakes { decide: slot != 0, observe, slot: Slot(slot) }
    }

    fn says(&self, out: &mut Vec<Says>) {
        if self.max == 0 {
            let tools: Vec<Arc<str>> = self.tool.always().cloned().collect();
            out.push(Says::Never(Arc::new(move |name| tools.iter().any(|tool| **tool == *name))));
        }
    }

    fn operands(&self) -> Vec<&Operand> {
        self.tool.operands().iter().collect()
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.tool.tools().cloned());
    }

    fn gate(&self, hits: &Hits, look: Look<'_>, cx: &Cx<'_>) -> Option<Objection> {
        let count = hits.len();
        let over = match look.arguments {
            Some(_) => {
                let times = self.tool.times(look);
                times > 0 && count.saturating_add(times) > self.max
            }
            None => count >= self.max && self.tool.means(look) == Match::Yes,
        };
        over.then(|| {
            Objection::new(codes::MAX_CALLS_OVER, hits.newest(cx.ran)).count(count).part(self.tool.part(look))
        })
    }

    fn is_final(&self, _hits: &Hits, _cx: &Cx<'_>) -> bool {
        true
    }

    fn digest(&self, hits: &Hits, _cx: &Cx<'_>, out: &mut Digest) {
        hits.len().min(self.max).hash(out);
    }

    fn rests(&self, hits: &Hits, look: Look<'_>, cx: &Cx<'_>) -> Support {
        let found = if self.tool.is(look) { hits.newest(cx.ran) } else { Vec::new() };
        Support { found, count: hits.len() }
    }

    fn started(&self, hits: &mut Hits, look: Look<'_>, _at: CallRef, cx: &Cx<'_>, _timers: &mut Timers<'_>) {
        for _ in 0..self.tool.times(look) {
            hits.add(cx.ran);
        }
    }

    fn refused(&self, hits: &mut Hits, _look: Look<'_>, at: CallRef, cx: &Cx<'_>) {
        hits.take_back(at, cx.ran);
    }

    fn standing(&self, hits: &Hits, _end: End, cx: &Cx<'_>) -> RuleStanding {
        let count = hits.len();
        let over = usize::try_from(self.max).ok().and_then(|max| hits.all(cx.ran).nth(max));
        match over {
            Some(over) => RuleStanding::violated(codes::MAX_CALLS_OVER, Some(over), hits.all(cx.ran)),
            None => RuleStanding::as_it_is(RuleOutcome::Held),
        }
        .count(count)
    }

    fn shows(&self, hits: &Hits, rule: RuleId, _cx: &Cx<'_>, out: &mut Vec<StateItem>) {
        let (tool, used) = (self.tool.name(), hits.len());
        if used > 0 {
            out.push(Limit { tool, used, allowed: self.max }.kept(rule));
        }
    }
}
