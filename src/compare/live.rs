//! A gate's live decisions as the base, compared with those of a version.
//!
//! The gate's policy may be gone, so its rules are known by what the gate wrote: the name, and the place in the
//! document if the author gave no name.

use super::{Answer, Kind, Stand};
use rulestep_base::session::LiveDecision;
use rulestep_base::session::live::LiveFinding;
use rulestep_engine::dialect;
use rulestep_engine::monitor::rule::rule_name;
use rulestep_engine::monitor::{Finding, Rules};
use rulestep_engine::policy::GUARD;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{Decision, Verdict};

/// The first kind of change from the live decision to the current one; `None`: both are the same.
pub fn kind(live: &LiveDecision, now: &Decision, rules: &Rules) -> Option<Kind> {
    between(live, now, rules).first().map(|(kind, ..)| *kind)
}

/// The differences, with both sides.
pub(super) fn changes(live: &LiveDecision, now: &Decision, new: &Replay) -> Vec<(Kind, Stand, Stand)> {
    let mut changes = between(live, now, new.policy().rules());
    for (_, _, young) in changes.iter_mut().filter(|_| now.verdict == Verdict::NotReached) {
        *young = Stand::of(now, Some(new));
    }
    changes
}

fn between(live: &LiveDecision, now: &Decision, rules: &Rules) -> Vec<(Kind, Stand, Stand)> {
    if then_by_guard(live) {
        return Vec::new();
    }
    let (then, young) = (live.verdict, now.verdict);
    let base = Stand {
        answer: Answer::Call(then),
        rule: None,
        code: live.findings().next().filter(|_| then.objects()).and_then(code),
    };
    if let Some(kind) = Kind::of(then, young) {
        return vec![(kind, base, Stand::of(now, None))];
    }
    match (then.objects(), then) {
        (true, _) => {
            let same = match (live.findings().next(), now.deciding()) {
                (Some(old), Some(young)) => is_same(&old, young, rules),
                (old, young) => old.is_none() && young.is_none(),
            };
            Vec::from_iter((!same).then(|| (Kind::OtherReason, base, Stand::of(now, None))))
        }
        (_, Verdict::Allow) => reports(live, now, rules),
        _ => Vec::new(),
    }
}

/// For a call that is allowed live and now, the differences of its reports.
fn reports(live: &LiveDecision, now: &Decision, rules: &Rules) -> Vec<(Kind, Stand, Stand)> {
    let of = |reported| Stand { answer: Answer::Report { reported }, rule: None, code: None };
    let newly = now.findings.iter().filter(|young| !live.findings().any(|old| is_same(&old, young, rules)));
    let newly = newly.map(|young| {
        let young = Stand { rule: Some(young.rule), code: Some(young.code), ..of(true) };
        (Kind::NewlyReported, of(false), young)
    });
    let gone = live
        .findings()
        .filter(|old| !by_guard(old) && !now.findings.iter().any(|young| is_same(old, young, rules)));
    let gone = gone.map(|old| (Kind::NoLongerReported, Stand { code: code(old), ..of(true) }, of(false)));
    newly.chain(gone).collect()
}

/// Whether the gate's own rules decided, as they do under every version.
fn then_by_guard(live: &LiveDecision) -> bool {
    live.verdict.objects() && live.findings().next().is_some_and(|first| by_guard(&first))
}

fn by_guard(finding: &LiveFinding<'_>) -> bool {
    finding.rule.starts_with(GUARD)
}

fn code(finding: LiveFinding<'_>) -> Option<rulestep_base::diagnostic::Code> {
    Some(dialect::page(finding.code)?.code)
}

/// Whether both say the same of a call, by the same rule.
fn is_same(old: &LiveFinding<'_>, young: &Finding, rules: &Rules) -> bool {
    let Some(rule) = rules.get(young.rule) else { return false };
    let named = rule.description.is_some() || rule.name.is_some();
    let place = |id: &str| id.rsplit_once('#').map(|(_, place)| place.to_owned());
    old.code == young.code.as_str()
        && old.reason == young.reason.as_deref()
        && old.name == rule_name(rule)
        && (named || place(old.rule) == place(&rule.id))
}
