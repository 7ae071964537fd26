//! The changes of one session.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::{Answer, Base, Change, ChangePlace, Correspondence, Kind, Origin, RuleAt, Side, Stand, live};
use rulestep_base::session::{AlternativeRef, Call, Outcome, Session};
use rulestep_engine::monitor::finding::{RuleOutcome, RuleState};
use rulestep_engine::monitor::{Finding, RuleId};
use rulestep_engine::replay::{DecidedCall, Replay, Status};
use rulestep_engine::run::{Decision, Mode, ToolVisibility, Verdict};

/// The changes from `base` (`None`: the recording) to `new`.
pub(super) fn changes(
    rules: &Correspondence,
    from: &Base,
    base: Option<&Replay>,
    new: &Replay,
) -> Vec<Change> {
    let parting = Divergence::of(from, base, new);
    let pair = Pair { rules, from, base, new, session: new.session(), parting };
    let mut changes = Vec::new();
    pair.calls(&mut changes);
    if let Some(base) = base {
        pair.alternatives(base, &mut changes);
        changes.sort_by_key(|change| change.at.turn());
    }
    if let Some(base) = base {
        pair.narrowing(base, &mut changes);
        pair.outcomes(base, &mut changes);
    }
    changes.sort_by_key(|change| (change.kind, change.origin));
    changes
}

/// The kind of change of a call that is decided differently than under the base (`None`: than in the recording).
pub(super) fn kind(
    rules: &Correspondence,
    call: &Call,
    base: Option<&Decision>,
    new: &DecidedCall,
) -> Option<Kind> {
    let Some(base) = base else {
        // A person who was asked in the recording agreed; if the call was refused, the two agree.
        let differs = !new.agrees || new.decision.verdict == Verdict::Ask && call.outcome != Outcome::Refused;
        return Kind::of(recorded(call), new.decision.verdict).filter(|_| differs);
    };
    differs(rules, base, &new.decision)
}

/// The kind of change between two decisions about one call; if they are the same, between their reports.
pub(super) fn differs(rules: &Correspondence, base: &Decision, new: &Decision) -> Option<Kind> {
    verdicts(rules, base, new).or_else(|| reports(rules, base, new).first().map(|(kind, ..)| *kind))
}

/// The kind of change between two decisions about one call, ignoring reports.
fn verdicts(rules: &Correspondence, base: &Decision, new: &Decision) -> Option<Kind> {
    let other_reason = || base.verdict.objects() && !same_reason(rules, base, new);
    Kind::of(base.verdict, new.verdict)
        .or_else(|| (base.verdict == new.verdict && other_reason()).then_some(Kind::OtherReason))
}

/// The differences in the reports of a call that both allow: a change for each rule, since the other rules may still
/// report it. If a verdict changes, that change covers the reports.
fn reports(rules: &Correspondence, base: &Decision, new: &Decision) -> Vec<(Kind, Stand, Stand)> {
    if (base.verdict, new.verdict) != (Verdict::Allow, Verdict::Allow) {
        return Vec::new();
    }
    let (old, young) = (by_rule(base), by_rule(new));
    let mut changes = Vec::new();
    for (rule, now) in &young {
        match rules.in_base(*rule).and_then(|rule| old.get(&rule)) {
            None => changes.push((Kind::NewlyReported, UNREPORTED, reported(now))),
            Some(before) if (before.code, &before.reason) != (now.code, &now.reason) => {
                changes.push((Kind::OtherReason, reported(before), reported(now)));
            }
            Some(_) => {}
        }
    }
    for (rule, before) in &old {
        if !rules.in_new(*rule).is_some_and(|rule| young.contains_key(&rule)) {
            changes.push((Kind::NoLongerReported, reported(before), UNREPORTED));
        }
    }
    changes
}

/// The reports of an allowed call: the first finding of each rule.
fn by_rule(decision: &Decision) -> BTreeMap<RuleId, &Finding> {
    decision.findings.iter().rev().map(|finding| (finding.rule, finding)).collect()
}

/// The side without a report, for a call that only the other version's rule reports.
const UNREPORTED: Stand = Stand { answer: Answer::Report { reported: false }, rule: None, code: None };

fn reported(finding: &Finding) -> Stand {
    Stand { answer: Answer::Report { reported: true }, rule: Some(finding.rule), code: Some(finding.code) }
}

fn same_reason(rules: &Correspondence, base: &Decision, new: &Decision) -> bool {
    let same = |old: &Finding, young: &Finding| {
        old.code == young.code && old.reason == young.reason && rules.in_new(old.rule) == Some(young.rule)
    };
    let findings = match (base.deciding(), new.deciding()) {
        (Some(old), Some(young)) => same(old, young),
        (old, young) => old.is_none() && young.is_none(),
    };
    findings && base.told == new.told
}

struct Pair<'a> {
    rules: &'a Correspondence,
    from: &'a Base,
    base: Option<&'a Replay>,
    new: &'a Replay,
    session: &'a Session,
    parting: Divergence,
}

/// Where two histories diverge.
#[derive(Debug, Clone, Copy, Default)]
struct Divergence {
    /// After the call with this index.
    call: Option<u32>,
    /// The turn of that call.
    turn: Option<u32>,
    /// At the start of this turn, because the messages to the model differ.
    told: Option<u32>,
}

impl Pair<'_> {
    fn calls(&self, changes: &mut Vec<Change>) {
        for (call, judged) in self.new.made() {
            let theirs = self.base.and_then(|base| base.call(call.at.index));
            if self.base.is_some() && theirs.is_none() {
                continue;
            }
            let different = match theirs {
                Some(theirs) => self.between(&theirs.decision, &judged.decision),
                None if matches!(self.from, Base::Live) => {
                    let live = call.live.as_deref();
                    live.map(|live| live::changes(live, &judged.decision, self.new)).unwrap_or_default()
                }
                None => {
                    let base = Stand { answer: Answer::Call(recorded(call)), rule: None, code: None };
                    let stands = |kind| (kind, base, Stand::of(&judged.decision, Some(self.new)));
                    Vec::from_iter(kind(self.rules, call, None, judged).map(stands))
                }
            };
            let counterfactual = judged.counterfactual || theirs.is_some_and(|theirs| theirs.counterfactual);
            let at = ChangePlace::Call(call.at);
            for (kind, base, new) in different {
                changes.push(self.change(at, Some(&call.tool), base, new, kind, counterfactual));
            }
        }
    }

    /// The differences between two decisions about one call, with both sides.
    fn between(&self, old: &Decision, young: &Decision) -> Vec<(Kind, Stand, Stand)> {
        let stands = |kind| (kind, Stand::of(old, self.base), Stand::of(young, Some(self.new)));
        let verdicts = verdicts(self.rules, old, young).map(stands);
        verdicts.into_iter().chain(reports(self.rules, old, young)).collect()
    }

    /// Calls of choices that were not taken. Each choice is separate: within it histories diverge after a sibling that
    /// runs under one version alone.
    fn alternatives(&self, base: &Replay, changes: &mut Vec<Change>) {
        let enforcing = self.new.mode() == Mode::Enforce;
        let mut parted = None;
        for (theirs, ours) in base.alternatives(None).zip(self.new.alternatives(None)) {
            let (old, young) = (&theirs.judged.decision, &ours.judged.decision);
            let after = parted == Some(ours.place);
            if enforcing && old.verdict != young.verdict {
                parted = Some(ours.place);
            }
            let counterfactual = theirs.judged.counterfactual || ours.judged.counterfactual;
            let at = ChangePlace::Alternative(ours.at());
            for (kind, old, young) in self.between(old, young) {
                let change = self.change(at, Some(&ours.call.tool), old, young, kind, counterfactual);
                let origin = if after { Origin::Downstream } else { change.origin };
                changes.push(Change { origin, ..change });
            }
        }
    }

    /// Both sides narrow the same tools, turn by turn, so that no more than a turn of each is in memory. A turn that
    /// one of them does not reach has none.
    fn narrowing(&self, base: &Replay, changes: &mut Vec<Change>) {
        let tools = self.inferred(base);
        let proposed: HashSet<&Arc<str>> = self.session.proposed_tools().collect();
        let turns = base.narrowings(Arc::clone(&tools)).zip(self.new.narrowings(tools));
        let copied = self.session.copied_until();
        for (turn, (old, young)) in self.session.turns.iter().zip(turns) {
            if over_before(base, turn.number) || over_before(self.new, turn.number) {
                break;
            }
            if turn.number <= copied {
                continue;
            }
            let beyond = |replay: &Replay| replay.frontier().is_some_and(|at| turn.number > at.turn);
            for (old, young) in old.tools.iter().zip(&young.tools) {
                let kind = match (old.visible(), young.visible()) {
                    (false, true) => Kind::NewlyVisible,
                    (true, false) => Kind::NewlyHidden,
                    _ => continue,
                };
                let (at, counterfactual) = (ChangePlace::Turn(turn.number), beyond(base) || beyond(self.new));
                let tool = Some(&young.tool);
                let change = self.change(at, tool, narrowed(old), narrowed(young), kind, counterfactual);
                let listed = self.session.offered_in(turn.number).is_some();
                let inferred = !listed && !proposed.contains(&young.tool);
                changes.push(Change { inferred, ..change });
            }
        }
    }

    /// The tools to narrow if the recording does not list the offered ones: the names of both versions.
    fn inferred(&self, base: &Replay) -> Arc<[Arc<str>]> {
        let named = base.policy().names().iter().chain(self.new.policy().names());
        let names: BTreeSet<&Arc<str>> = named.chain(self.session.proposed_tools()).collect();
        names.into_iter().cloned().collect()
    }

    fn outcomes(&self, base: &Replay, changes: &mut Vec<Change>) {
        // A session that is stopped under one version alone is explained by the call that is.
        let stops = |stand: Stand| matches!(stand.answer, Answer::Call(verdict) if verdict.stops());
        let stopped = [base.status(), self.new.status()].contains(&Status::Stopped);
        let explained = stopped && changes.iter().any(|change| stops(change.base) != stops(change.new));
        let mut push = |base: Stand, new: Stand| {
            changes.push(self.change(ChangePlace::End, None, base, new, Kind::OutcomeChanged, false));
        };
        if base.status() != self.new.status() && !explained {
            let status =
                |replay: &Replay| Stand { answer: Answer::Session(replay.status()), rule: None, code: None };
            push(status(base), status(self.new));
        }
        let old: HashMap<RuleId, &RuleState> = base.rules().iter().map(|state| (state.rule, state)).collect();
        for state in self.new.rules() {
            let theirs = self.rules.in_base(state.rule).and_then(|rule| old.get(&rule).copied());
            if differ(theirs, Some(state)) {
                push(ended(theirs), ended(Some(state)));
            }
        }
        let young: BTreeSet<RuleId> = self.new.rules().iter().map(|state| state.rule).collect();
        for state in base.rules() {
            let ours = self.rules.in_new(state.rule).filter(|rule| young.contains(rule));
            if ours.is_none() && differ(Some(state), None) {
                push(ended(Some(state)), ended(None));
            }
        }
    }

    fn change(
        &self,
        at: ChangePlace,
        tool: Option<&Arc<str>>,
        base: Stand,
        new: Stand,
        kind: Kind,
        counterfactual: bool,
    ) -> Change {
        let of = |side| {
            let stand = if side == Side::Base { base } else { new };
            stand.rule.map(|rule| RuleAt { side, rule })
        };
        Change {
            at,
            tool: tool.cloned(),
            base,
            new,
            kind,
            origin: self.parting.origin(at),
            rule: of(kind.side()).or_else(|| of(kind.side().other())),
            counterfactual,
            inferred: false,
        }
    }
}

impl Divergence {
    fn of(from: &Base, base: Option<&Replay>, new: &Replay) -> Divergence {
        let mut parting = Divergence::default();
        if new.mode() == Mode::Shadow {
            return parting;
        }
        let session = new.session();
        let reads = new.policy().reads_history() || base.is_some_and(|base| base.policy().reads_history());
        for (call, judged) in session.calls.iter().zip(new.calls()) {
            let theirs = base.and_then(|base| base.call(call.at.index)).map(|theirs| &theirs.decision);
            let verdict = theirs.map_or_else(|| happened(from, call), |theirs| theirs.verdict);
            let ours = &judged.decision;
            let halts = |verdict| verdict == Verdict::Halt;
            if runs(call, verdict) != runs(call, ours.verdict) || halts(verdict) != halts(ours.verdict) {
                (parting.call, parting.turn) = (Some(call.at.index), Some(call.at.turn));
                return parting;
            }
            if reads && parting.told.is_none() {
                let theirs = theirs.and_then(|theirs| theirs.told.as_deref());
                parting.told = told_apart(call, theirs, ours.told.as_deref(), session);
            }
        }
        parting
    }

    fn origin(self, at: ChangePlace) -> Origin {
        let parted = match at {
            ChangePlace::Call(call) => {
                self.call.is_some_and(|parting| call.index > parting) || self.told_by(call.turn)
            }
            ChangePlace::Alternative(AlternativeRef { turn, .. }) | ChangePlace::Turn(turn) => {
                self.turn.is_some_and(|parting| turn > parting) || self.told_by(turn)
            }
            ChangePlace::End => self.call.is_some() || self.told.is_some(),
        };
        if parted { Origin::Downstream } else { Origin::Primary }
    }

    fn told_by(self, turn: u32) -> bool {
        self.told.is_some_and(|told| turn >= told)
    }
}

/// The first turn that begins after a result which is not the same under both versions.
fn told_apart(call: &Call, base: Option<&str>, new: Option<&str>, session: &Session) -> Option<u32> {
    let result = call.result?;
    let recorded = session.messages.get(result).map(|message| &message.content)?;
    let same = match (base, new) {
        (Some(base), Some(new)) => base == new,
        (Some(told), None) | (None, Some(told)) => recorded.said() == Some(told),
        (None, None) => true,
    };
    if same {
        return None;
    }
    let behind = session.turns.partition_point(|turn| turn.messages.start <= result);
    session.turns.get(behind).map(|turn| turn.number)
}

/// Whether a call runs under a version that decides so. What was recorded as refused never ran.
fn runs(call: &Call, verdict: Verdict) -> bool {
    verdict.may_run() && call.outcome != Outcome::Refused
}

/// The recording as a version: a refusal is a denial.
fn recorded(call: &Call) -> Verdict {
    if call.outcome == Outcome::Refused { Verdict::Deny } else { Verdict::Allow }
}

/// The verdict about the call under a base that was not replayed. A gate that enforced is believed: it may have ended
/// the session.
fn happened(from: &Base, call: &Call) -> Verdict {
    let live = call.live.as_deref().filter(|live| matches!(from, Base::Live) && !live.shadow);
    live.map_or(recorded(call), |live| live.verdict)
}

fn over_before(replay: &Replay, turn: u32) -> bool {
    replay.mode() == Mode::Enforce && replay.halt().is_some_and(|halt| halt.at.turn < turn)
}

fn narrowed(tool: &ToolVisibility) -> Stand {
    let reason = tool.reasons.first();
    Stand {
        answer: Answer::Tool { visible: tool.visible() },
        rule: reason.map(|reason| reason.rule),
        code: reason.map(|reason| reason.code),
    }
}

/// Whether the outcome of a session rule differs. A rule that only one version has counts if it is violated, because a
/// missing rule is not violated.
fn differ(base: Option<&RuleState>, new: Option<&RuleState>) -> bool {
    match (base.map(ended_as), new.map(ended_as)) {
        (Some(old), Some(young)) => old != young,
        (old, young) => {
            matches!(old.or(young), Some(Answer::Rule(Some(RuleOutcome::Violated)) | Answer::RuleReported))
        }
    }
}

fn ended(state: Option<&RuleState>) -> Stand {
    Stand {
        answer: state.map_or(Answer::Rule(None), ended_as),
        rule: state.map(|state| state.rule),
        code: state.and_then(|state| state.code),
    }
}

/// A violation that no longer fails the session is another end than one that does.
fn ended_as(state: &RuleState) -> Answer {
    match state.outcome == RuleOutcome::Violated && !state.enforced {
        true => Answer::RuleReported,
        false => Answer::Rule(Some(state.outcome)),
    }
}
