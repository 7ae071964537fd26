//! Rules about several calls in order: `sequence`.
//!
//! The walk goes along the trace with the next expected step. A step counts once it has succeeded; until then the walk
//! may be before or after it, and a call that only one of these positions allows is denied. Calls from the oldest step
//! without a result on are kept, so that its result can be inserted where it belongs.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::asks::Role;
use super::explain::Progress;
use super::operand::{Look, Match, Operand};
use super::unit::{Kind, Objection, RuleStanding, Support};
use crate::dialect::sequence_rules::codes;
use crate::monitor::finding::RuleOutcome;
use crate::monitor::saved;
use crate::monitor::{
    Cx, Digest, Enablers, End, Observes, Prospect, RuleId, Says, Slot, StateItem, Timers, Wakes,
};
use rulestep_base::diagnostic::code::Code;
use rulestep_base::session::CallRef;

/// Most calls that are kept after a step without a result. Beyond that the outcome of the oldest counts as unknown for
/// ever, so that a step that never gets a result costs no more than this.
const KEPT: usize = 256;

/// `sequence`.
pub(super) struct Sequence {
    steps: Vec<Operand>,
    strict: bool,
    /// The possible steps of each named tool. A tool's slot is its index here, from 1.
    parts: Vec<Part>,
    slots: HashMap<Arc<str>, usize>,
    /// The index of the steps that name no tool; 0 if there are none.
    others: usize,
}

/// Numbers of steps, in order; shared by all tools with the same ones.
type Steps = Arc<[usize]>;
/// The possible next steps at a position of the walk, in order: nearly always one, or two while one has no result. Most
/// sessions are short, so none of this is on the heap.
type NextSteps = SmallVec<[usize; 2]>;

/// The possible steps of one tool's calls.
struct Part {
    /// The steps that name the tool.
    steps: Steps,
    /// Whether some of them look at arguments, so that each call must be checked.
    looks: bool,
}

/// The effect of a call on the walk at one position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Wanted,
    Wrong,
    Free,
}

/// State of `sequence`.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SequenceState {
    /// The walk up to the calls that are kept.
    walk: Walk,
    /// The steps that may be the next one there.
    #[serde(with = "saved::list")]
    before: NextSteps,
    kept: VecDeque<StepCall>,
}

/// The position of the walk if steps without a result count as not done.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Walk {
    /// The calls of the steps that are done.
    #[serde(with = "saved::list")]
    done: SmallVec<[CallRef; 4]>,
    /// The first call at fault, and the steps done by then.
    wrong: Option<(CallRef, Vec<CallRef>)>,
}

#[derive(Clone, Serialize, Deserialize)]
struct StepCall {
    at: CallRef,
    /// The steps that mean this call.
    steps: Steps,
    known: Option<bool>,
    /// The steps that may be the next one after it.
    #[serde(with = "saved::list")]
    behind: NextSteps,
}

impl Default for SequenceState {
    fn default() -> SequenceState {
        SequenceState { walk: Walk::default(), before: NextSteps::from_slice(&[0]), kept: VecDeque::new() }
    }
}

impl SequenceState {
    /// The steps that may be the next one now.
    fn now(&self) -> &NextSteps {
        self.kept.back().map_or(&self.before, |kept| &kept.behind)
    }
}

impl Sequence {
    pub fn new(steps: Vec<Operand>, strict: bool) -> Sequence {
        let (mut slots, mut parts): (HashMap<Arc<str>, usize>, Vec<Vec<usize>>) = Default::default();
        for (number, step) in steps.iter().enumerate() {
            for tool in &step.tools {
                let slot = *slots.entry(Arc::clone(tool)).or_insert_with(|| {
                    parts.push(Vec::new());
                    parts.len()
                });
                if let Some(part) = slot.checked_sub(1).and_then(|slot| parts.get_mut(slot)) {
                    part.push(number);
                    part.dedup();
                }
            }
        }
        // Steps that name no tool may be a call of any: also of one that no other step names.
        let open = || steps.iter().enumerate().filter(|(_, step)| step.any_tool).map(|(number, _)| number);
        let others = if open().next().is_some() {
            for part in &mut parts {
                part.extend(open());
                part.sort_unstable();
                part.dedup();
            }
            parts.push(open().collect());
            parts.len()
        } else {
            0
        };
        let looks = |number: &usize| steps.get(*number).is_some_and(Operand::looks);
        let part = |part: Vec<usize>| Part { looks: part.iter().any(looks), steps: part.into() };
        let parts = parts.into_iter().map(part).collect();
        Sequence { steps, strict, parts, slots, others }
    }

    fn code(&self) -> Code {
        if self.strict { codes::SEQUENCE_INTERRUPTED } else { codes::SEQUENCE_OUT_OF_ORDER }
    }

    /// `None`: no step names the tool.
    fn part(&self, slot: Slot) -> Option<&Part> {
        self.parts.get((slot.0 as usize).checked_sub(1)?)
    }

    fn means(&self, step: usize, look: Look<'_>, role: Role) -> Match {
        let Some(step) = self.steps.get(step) else { return Match::No };
        match &step.asks {
            Some(_) if !step.can_mean(look.tool) => Match::No,
            Some(_) => step.does(look, role),
            None => step.means(look),
        }
    }

    /// The steps that mean this very call.
    fn meant(&self, look: Look<'_>) -> Steps {
        match self.part(look.slot) {
            None => Steps::default(),
            Some(part) if !part.looks => Arc::clone(&part.steps),
            Some(part) => part
                .steps
                .iter()
                .copied()
                .filter(|step| self.means(*step, look, Role::Permits) == Match::Yes)
                .collect(),
        }
    }

    /// The effect of a call when `next` is expected.
    fn step(&self, next: usize, meant: &[usize]) -> Step {
        let (later, wanted) =
            (meant.last().is_some_and(|last| *last > next), meant.binary_search(&next).is_ok());
        match () {
            () if next >= self.steps.len() => Step::Free,
            () if wanted => Step::Wanted,
            () if if self.strict { next > 0 } else { later } => Step::Wrong,
            () => Step::Free,
        }
    }

    /// Whether every call that is looked at is wrong where `next` is wanted.
    fn refuses(&self, next: usize, look: Look<'_>) -> bool {
        if next >= self.steps.len() {
            return false;
        }
        let part = self.part(look.slot).map(|part| &*part.steps).unwrap_or_default();
        let wanted = part.binary_search(&next).is_ok() && self.means(next, look, Role::Permits) != Match::No;
        let later = || {
            let behind = part.get(part.partition_point(|step| *step <= next)..).unwrap_or_default();
            behind.iter().any(|step| self.means(*step, look, Role::Forbids) == Match::Yes)
        };
        !wanted && if self.strict { next > 0 } else { later() }
    }

    /// Moves the walk past a call.
    fn pass(&self, walk: &mut Walk, at: CallRef, meant: &[usize], ok: bool) {
        match self.step(walk.done.len(), meant) {
            Step::Wanted if ok => walk.done.push(at),
            Step::Wrong if walk.wrong.is_none() => walk.wrong = Some((at, walk.done.to_vec())),
            Step::Wanted | Step::Wrong | Step::Free => {}
        }
    }

    /// The steps that may be next after a call.
    fn after(&self, before: &[usize], meant: &[usize], known: Option<bool>) -> NextSteps {
        let wanted = |next: &usize| self.step(*next, meant) == Step::Wanted;
        if known == Some(false) || !before.iter().any(wanted) {
            return NextSteps::from_slice(before);
        }
        let mut after = NextSteps::new();
        // They come in order: a wanted step and the one after it, which may be wanted itself.
        let mut push = |next: usize| {
            if after.last() != Some(&next) {
                after.push(next);
            }
        };
        for next in before {
            let wanted = wanted(next);
            if !wanted || known.is_none() {
                push(*next);
            }
            if wanted {
                push(next + 1);
            }
        }
        after
    }

    fn waits(&self, state: &SequenceState, kept: &StepCall) -> bool {
        let wanted = |next: &usize| self.step(*next, &kept.steps) == Step::Wanted;
        kept.known.is_none() && state.before.iter().any(wanted)
    }

    /// Applies every call whose part is settled.
    fn settle(&self, state: &mut SequenceState) {
        while let Some(kept) = state.kept.front() {
            if self.waits(state, kept) && state.kept.len() <= KEPT {
                break;
            }
            let Some(kept) = state.kept.pop_front() else { break };
            self.pass(&mut state.walk, kept.at, &kept.steps, kept.known == Some(true));
            state.before = kept.behind;
        }
    }
}

impl Kind for Sequence {
    type State = SequenceState;

    fn wakes(&self, tool: &str) -> Wakes {
        let slot = self.slots.get(tool).copied().unwrap_or(self.others);
        // In a strict sequence every other call may be the wrong one.
        let wakes = !self.steps.is_empty() && (self.strict || slot > 0);
        Wakes { decide: wakes, observe: Observes::all(wakes), slot: Slot(slot as u64) }
    }

    fn wakes_by_name(&self) -> bool {
        !self.strict
    }

    fn says(&self, out: &mut Vec<Says>) {
        // A session that has begun must continue to the end.
        let begin = self.steps.first().filter(|first| !first.looks()).map_or(&[][..], |first| &first.tools);
        for (after, step) in
            begin.iter().flat_map(|after| self.steps.iter().skip(1).map(move |step| (after, step)))
        {
            if !step.names(after) && !step.any_tool {
                out.push(Says::Follows {
                    after: Arc::clone(after),
                    each: false,
                    any_of: step.tools.clone().into(),
                });
            }
        }
        for (at, (before, step)) in self.steps.iter().zip(self.steps.iter().skip(1)).enumerate() {
            if step.looks() || before.any_tool {
                continue;
            }
            // A tool of an earlier step may be that step.
            let earlier = |tool: &Arc<str>| self.steps.iter().take(at + 1).any(|step| step.names(tool));
            for tool in step.tools.iter().filter(|tool| !earlier(tool)) {
                let (tool, any_of) = (Arc::clone(tool), before.tools.clone().into());
                out.push(Says::Needs { tool, any_of, directly: self.strict });
            }
        }
    }

    fn operands(&self) -> Vec<&Operand> {
        self.steps.iter().collect()
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.slots.keys().cloned());
    }

    fn gate(&self, state: &SequenceState, look: Look<'_>, _cx: &Cx<'_>) -> Option<Objection> {
        let next = state.now().iter().find(|next| self.refuses(**next, look))?;
        let done = state.walk.done.iter().rev().take(1).copied();
        Some(Objection::new(self.code(), done).count(*next as u64))
    }

    fn enablers(&self, call: Prospect<'_>, out: &mut Enablers) {
        self.steps.iter().for_each(|step| step.enablers(call, out));
    }

    fn digest(&self, state: &SequenceState, _cx: &Cx<'_>, out: &mut Digest) {
        state.now().hash(out);
    }

    fn rests(&self, state: &SequenceState, _look: Look<'_>, _cx: &Cx<'_>) -> Support {
        Support { found: state.walk.done.to_vec(), count: state.walk.done.len() as u64 }
    }

    fn started(
        &self,
        state: &mut SequenceState,
        look: Look<'_>,
        at: CallRef,
        _cx: &Cx<'_>,
        _timers: &mut Timers<'_>,
    ) {
        let steps = self.meant(look);
        if state.now().iter().all(|next| self.step(*next, &steps) == Step::Free) {
            return;
        }
        let behind = self.after(state.now(), &steps, None);
        state.kept.push_back(StepCall { at, steps, known: None, behind });
        self.settle(state);
    }

    fn resolved(&self, state: &mut SequenceState, look: Look<'_>, at: CallRef, ok: bool, _cx: &Cx<'_>) {
        let Ok(place) = state.kept.binary_search_by_key(&at, |kept| kept.at) else { return };
        if let Some(kept) = state.kept.get_mut(place) {
            // The success of a call may not be that of its command.
            let own = |step: &usize| self.means(*step, look, Role::Permits) == Match::Yes;
            kept.known = Some(ok && kept.steps.iter().all(own));
        }
        let ahead = place.checked_sub(1).and_then(|ahead| state.kept.get(ahead));
        let mut before = NextSteps::from_slice(ahead.map_or(&state.before, |kept| &kept.behind));
        for kept in state.kept.range_mut(place..) {
            let behind = self.after(&before, &kept.steps, kept.known);
            // From where it changes nothing, all that follows is as it was.
            if behind == kept.behind {
                break;
            }
            kept.behind = NextSteps::from_slice(&behind);
            before = behind;
        }
        self.settle(state);
    }

    fn is_kept(&self, state: &SequenceState) -> bool {
        state.walk.done.len() == self.steps.len() && state.kept.is_empty()
    }

    fn standing(&self, state: &SequenceState, end: End, _cx: &Cx<'_>) -> RuleStanding {
        let through = state.kept.is_empty() && state.walk.wrong.is_none();
        if through && !self.steps.is_empty() && state.walk.done.len() == self.steps.len() {
            return RuleStanding::as_it_is(RuleOutcome::Held).count(self.steps.len() as u64);
        }
        let mut walk = state.walk.clone();
        if end == End::SoFar && walk.wrong.is_none() && !state.kept.is_empty() {
            return RuleStanding::as_it_is(RuleOutcome::Pending).count(walk.done.len() as u64);
        }
        for kept in &state.kept {
            self.pass(&mut walk, kept.at, &kept.steps, kept.known == Some(true));
        }
        let (done, of) = (walk.done.len(), self.steps.len());
        if let Some((wrong, before)) = walk.wrong {
            let count = before.len() as u64;
            let calls = before.into_iter().chain([wrong]);
            return RuleStanding::violated(self.code(), Some(wrong), calls).count(count);
        }
        match end {
            _ if done == 0 => RuleStanding::as_it_is(RuleOutcome::NotExercised),
            _ if done == of => RuleStanding::as_it_is(RuleOutcome::Held),
            End::SoFar => RuleStanding::as_it_is(RuleOutcome::Pending),
            End::Complete => RuleStanding::violated(codes::SEQUENCE_CUT_SHORT, None, walk.done),
        }
        .count(done as u64)
    }

    fn shows(&self, state: &SequenceState, rule: RuleId, _cx: &Cx<'_>, out: &mut Vec<StateItem>) {
        let done = state.walk.done.len();
        // A sequence that has not begun is not in progress.
        if done == 0 {
            return;
        }
        let next = self.steps.get(done).map(|step| Arc::clone(&step.named.tool));
        out.push(Progress { done: done as u64, of: self.steps.len() as u64, next }.kept(rule));
    }
}
