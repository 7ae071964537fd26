//! Comparisons as data: `rulestep.diff/2`, one object a session, then one with totals.
//!
//! `base` and `new` of a change are the words of its answers; null where a version has no such rule. A base without a
//! digest is the recording, or with `live` what a gate decided.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{DiffResult, View, edits, idle};
use crate::compare::{Base, Change, Comparison, Kind, SessionDiff, Side};
use crate::report::Completeness;
use crate::report::json::{BodyJson, Named, Version, line};
use crate::report::mergeable::Mergeable;
use crate::report::{Provenance, Scope, words};
use rulestep_base::session::write::Instant;
use rulestep_base::session::{AlternativeRef, LiveDecision};
use rulestep_engine::monitor::{Explanation, Finding};

/// The shape of comparisons.
pub const SCHEMA: &str = "rulestep.diff/2";

/// Writes one session and a line feed.
pub fn session(compared: &SessionDiff, view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let full = view.look.scope == Scope::Full;
    let changes = compared.changes().iter();
    let base = view.comparison.base();
    let object = SessionLine {
        schema: SCHEMA,
        session: Named::of(compared.session()),
        base: version(Side::Base, view.comparison),
        policy: version(Side::New, view.comparison),
        changes: changes.map(|change| ChangeLine::of(change, compared, view.comparison, full)).collect(),
        uncompared: matches!(base, Base::Live)
            .then(|| compared.session().calls.iter().filter(|call| !base.knows(call)).count()),
    };
    line(&object, out)
}

/// Writes the totals and a line feed.
pub fn end(whole: &DiffResult, view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (totals, all) = (&whole.totals, whole.totals.all());
    let sessions =
        [("sessions", totals.sessions), ("changed", totals.changed), ("changes", all.sum())].into_iter();
    let origins = [
        ("primary", all.primary),
        ("downstream", all.downstream),
        ("counterfactual", all.counterfactual),
        ("inferred", all.inferred),
    ];
    let uncompared =
        matches!(view.comparison.base(), Base::Live).then_some(("uncompared", totals.uncompared));
    let kinds = Kind::ALL.into_iter().map(|kind| (kind.word(), whole.count(kind, view)));
    let counts = sessions
        .chain(kinds)
        .chain(origins)
        .chain(uncompared)
        .map(|(name, count)| (name.to_owned(), count.into()));
    let base = match view.comparison.base() {
        Base::Version(policy) => &**policy.digest(),
        Base::Recorded => "recorded",
        Base::Live => "live",
    };
    let digest = view.comparison.policy().digest();
    let totals = Totals { counts: counts.collect(), reading: whole.told.reading.clone() };
    let provenance = whole.told.provenance.judged(Some(digest), view.mode, Some(base));
    let (rules, without_effect) = (edits::data(whole, view), idle::lines(whole, view));
    line(&TotalsLine { schema: SCHEMA.to_owned(), totals, rules, without_effect, provenance }, out)
}

#[derive(Serialize)]
struct SessionLine<'a> {
    schema: &'static str,
    session: Named<'a>,
    base: BaseLine<'a>,
    policy: BaseLine<'a>,
    changes: Vec<ChangeLine<'a>>,
    /// Calls that no gate decided, where the base is what gates decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    uncompared: Option<usize>,
}

/// A version, or the recording.
#[derive(Serialize)]
#[serde(untagged)]
enum BaseLine<'a> {
    Version(Version),
    Recorded {
        digest: Option<&'a str>,
        documents: [&'a str; 0],
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        live: bool,
    },
}

fn version(side: Side, comparison: &Comparison) -> BaseLine<'_> {
    match comparison.side(side) {
        Some(policy) => BaseLine::Version(Version::of(policy)),
        None => {
            let live = matches!(comparison.base(), Base::Live);
            BaseLine::Recorded { digest: None, documents: [], live }
        }
    }
}

#[derive(Serialize)]
struct ChangeLine<'a> {
    turn: Option<u32>,
    /// Number of the choice that was not taken, for a call of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<u32>,
    call: Option<u32>,
    index: Option<u32>,
    tool: Option<&'a str>,
    /// Of a call; null of anything else.
    arguments: Option<BodyJson<'a>>,
    at: Option<Instant>,
    base: Option<&'static str>,
    new: Option<&'static str>,
    kind: &'static str,
    origin: &'static str,
    rule: Option<&'a str>,
    /// What people call the rule.
    rule_name: Option<String>,
    counterfactual: bool,
    /// What a gate decided, where that is the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<&'a LiveDecision>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    inferred: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<FindingsLine>,
}

/// What the rules of either version said of a call, the deciding one first.
#[derive(Serialize)]
struct FindingsLine {
    base: Vec<Explanation>,
    new: Vec<Explanation>,
}

impl<'a> ChangeLine<'a> {
    fn of(
        change: &'a Change,
        compared: &'a SessionDiff,
        comparison: &'a Comparison,
        full: bool,
    ) -> ChangeLine<'a> {
        let (call, other) = (change.at.call(), change.at.alternative());
        let recorded = call.and_then(|call| compared.session().calls.get(call.index as usize));
        let proposed = other.and_then(|at| {
            let calls = compared.session().alternative(at.turn, at.choice)?.calls();
            calls.get((at.call as usize).checked_sub(1)?)
        });
        let arguments = recorded.map(|call| &call.arguments).or(proposed.map(|call| &call.arguments));
        let rule = change.rule.and_then(|at| comparison.side(at.side)?.rules().get(at.rule));
        let of_choice = |side, at: AlternativeRef| -> Option<Vec<Explanation>> {
            let replay = compared.replay(side)?;
            let other = replay.alternatives(Some(at.turn)).find(|other| other.at() == at)?;
            // Its findings may name calls beside it, which only the session that takes it has.
            let taken = compared.session().taking(other.alternative);
            let line = |finding: &Finding| finding.explain(comparison.side(side)?.rules(), &taken);
            Some(other.judged.decision.findings.iter().filter_map(line).collect())
        };
        let findings = |side| {
            if let Some(at) = other {
                return of_choice(side, at).unwrap_or_default();
            }
            let judged = call.and_then(|call| compared.replay(side)?.call(call.index));
            let findings =
                judged.map(|judged| judged.decision.findings.as_slice()).unwrap_or_default().iter();
            let line =
                |finding: &Finding| finding.explain(comparison.side(side)?.rules(), compared.session());
            findings.filter_map(line).collect()
        };
        ChangeLine {
            turn: change.at.turn(),
            choice: other.map(|other| other.choice),
            call: call.map(|call| call.call).or(other.map(|other| other.call)),
            index: call.map(|call| call.index),
            tool: change.tool.as_deref(),
            arguments: arguments.map(BodyJson),
            at: recorded.and_then(|call| call.time).map(Instant),
            base: change.base.answer.word(),
            new: change.new.answer.word(),
            kind: change.kind.word(),
            origin: change.origin.word(),
            rule: rule.map(|rule| &*rule.id),
            rule_name: rule.map(words::rule_name),
            counterfactual: change.counterfactual,
            live: recorded
                .filter(|_| matches!(comparison.base(), Base::Live))
                .and_then(|call| call.live.as_deref()),
            inferred: change.inferred,
            findings: (full && (call.is_some() || other.is_some()))
                .then(|| FindingsLine { base: findings(Side::Base), new: findings(Side::New) }),
        }
    }
}

/// The totals of all comparisons; two of them can be merged.
#[derive(Serialize, Deserialize)]
pub(in crate::report) struct TotalsLine {
    schema: String,
    totals: Totals,
    /// What the edit does to rules, whatever the recordings hold.
    #[serde(default)]
    rules: Vec<edits::RuleEditLine>,
    /// Rules that were added, edited or removed, and that no change is about.
    without_effect: Vec<idle::IdleLine>,
    provenance: Provenance,
}

#[derive(Serialize, Deserialize)]
struct Totals {
    #[serde(flatten)]
    counts: Map<String, Value>,
    #[serde(flatten)]
    reading: Completeness,
}

impl Mergeable for TotalsLine {
    fn merge(&mut self, other: TotalsLine) -> Result<(), String> {
        self.provenance.join(other.provenance, &mut self.totals.reading, &other.totals.reading)?;
        if self.rules != other.rules {
            return Err("the rules changed in other ways in the two results".to_owned());
        }
        // The versions are the same in both parts, so their rules changed once.
        let of_rules = |name: &str| Kind::ALL.iter().any(|kind| kind.is_of_rules() && kind.word() == name);
        for (name, count) in self.totals.counts.iter_mut().filter(|(name, _)| !of_rules(name)) {
            let more = other.totals.counts.get(name).and_then(Value::as_u64);
            let (Some(known), Some(more)) = (count.as_u64(), more) else {
                return Err(format!("`{name}` is not a count in both results"));
            };
            *count = (known + more).into();
        }
        idle::merge(&mut self.without_effect, other.without_effect);
        Ok(())
    }

    /// What is read as the counts is all of the object.
    fn settle(&mut self) {
        self.totals.counts.retain(|name, _| !matches!(&**name, "skipped" | "diagnostics" | "interrupted"));
    }

    fn sessions(&self) -> u64 {
        self.count("sessions")
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn incomplete(&self) -> bool {
        self.totals.reading.is_incomplete()
    }

    fn found(&self) -> bool {
        self.count("changes") > 0 || !self.rules.is_empty()
    }
}

impl TotalsLine {
    fn count(&self, name: &str) -> u64 {
        self.totals.counts.get(name).and_then(Value::as_u64).unwrap_or_default()
    }
}
