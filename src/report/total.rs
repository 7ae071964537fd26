//! The totals of a replay.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::unread::Unread;
use super::{JudgedSession, Provenance, words};
use crate::explore::contexts::SeenContexts;
use crate::explore::seen::SeenTools;
use rulestep_base::diagnostic::{Diagnostic, Severity};
use rulestep_engine::replay::Tables;

/// The totals of a replay.
///
/// It is written only into the cache, where most of it is nothing: each file has its own.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Total {
    /// Sessions judged.
    #[serde(skip_serializing_if = "is_nothing")]
    pub sessions: u64,
    /// Sessions in which a call was stopped or a rule is violated.
    #[serde(skip_serializing_if = "is_nothing")]
    pub objected: u64,
    /// Counts, added up.
    #[serde(skip_serializing_if = "is_nothing")]
    pub turns: u64,
    /// See `turns`.
    #[serde(skip_serializing_if = "is_nothing")]
    pub calls: u64,
    /// Calls that forks have as their past, which no other count has.
    #[serde(skip_serializing_if = "is_nothing")]
    pub copied: u64,
    /// See `turns`.
    #[serde(skip_serializing_if = "is_nothing")]
    pub allow: u64,
    /// See `turns`.
    #[serde(skip_serializing_if = "is_nothing")]
    pub ask: u64,
    /// See `turns`.
    #[serde(skip_serializing_if = "is_nothing")]
    pub deny: u64,
    /// See `turns`.
    #[serde(skip_serializing_if = "is_nothing")]
    pub halt: u64,
    /// See `turns`.
    #[serde(skip_serializing_if = "is_nothing")]
    pub not_reached: u64,
    /// Calls that a rule which is not enforced would have stopped or asked about.
    #[serde(skip_serializing_if = "is_nothing")]
    pub would_stop: u64,
    /// Calls that are allowed and that a rule reports, without those.
    #[serde(skip_serializing_if = "is_nothing")]
    pub reported: u64,
    /// Denied or halted calls beyond a frontier, which the others count as well.
    #[serde(skip_serializing_if = "is_nothing")]
    pub deny_counterfactual: u64,
    /// Calls where decision and recording differ.
    #[serde(skip_serializing_if = "is_nothing")]
    pub disagree: u64,
    /// Calls of choices that were not taken, which no other count has.
    #[serde(skip_serializing_if = "is_nothing")]
    pub alternatives: u64,
    /// Those of them that are denied or halted.
    #[serde(skip_serializing_if = "is_nothing")]
    pub alternatives_stopped: u64,
    /// Diagnostics about recordings and policies.
    #[serde(skip_serializing_if = "is_nothing")]
    pub errors: u64,
    /// See `errors`.
    #[serde(skip_serializing_if = "is_nothing")]
    pub warnings: u64,
    /// See `errors`.
    #[serde(skip_serializing_if = "is_nothing")]
    pub notices: u64,
    /// What stopped calls and which rules are violated, counted.
    pub tables: Tables,
    /// The tools that the sessions have.
    #[serde(skip_serializing_if = "is_nothing")]
    pub tools: SeenTools,
    /// What their contexts have where rules look.
    #[serde(skip_serializing_if = "is_nothing")]
    pub contexts: SeenContexts,
    /// Tools that the text of the policy has and that none of the sessions has.
    #[serde(skip)]
    pub unseen: Vec<String>,
    /// Rules that `when` switches off in all of the sessions.
    #[serde(skip)]
    pub off: Vec<String>,
    /// Files that gave no session.
    #[serde(skip_serializing_if = "is_nothing")]
    pub skipped: u64,
    /// Which files were not read whole, and why.
    #[serde(skip)]
    pub unread: Unread,
    /// Whether files that gave no session fail the run.
    #[serde(skip)]
    pub strict: bool,
    /// The work was broken off.
    #[serde(skip_serializing_if = "is_nothing")]
    pub interrupted: bool,
    /// Which sessions these are, and how they were read; what judged them is known where it is written.
    #[serde(skip_serializing_if = "is_nothing")]
    pub provenance: Provenance,
}

fn is_nothing<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Total {
    /// Counts a session. What is wrong with its recording is counted with [`Total::note`].
    pub fn add(&mut self, judged: &JudgedSession) {
        let summary = judged.summary();
        self.sessions += 1;
        self.tools.merge(&SeenTools::of(judged.session()));
        self.contexts.merge(&SeenContexts::of(judged.session(), judged.policy().conditions()));
        self.objected += u64::from(judged.objects());
        match judged {
            JudgedSession::Whole(replay) => self.tables.merge(&Tables::of(replay)),
            JudgedSession::Outcome { outcomes, .. } => self.tables.merge(&outcomes.tables),
        }
        for (sum, count) in [
            (&mut self.turns, summary.turns),
            (&mut self.calls, summary.calls),
            (&mut self.copied, summary.copied),
            (&mut self.allow, summary.allow),
            (&mut self.ask, summary.ask),
            (&mut self.would_stop, summary.would_stop),
            (&mut self.reported, summary.reported),
            (&mut self.deny, summary.deny),
            (&mut self.halt, summary.halt),
            (&mut self.not_reached, summary.not_reached),
            (&mut self.deny_counterfactual, summary.deny_counterfactual),
            (&mut self.disagree, summary.disagree),
            (&mut self.alternatives, summary.alternatives),
            (&mut self.alternatives_stopped, summary.alternatives_stopped),
        ] {
            *sum += u64::from(count);
        }
    }

    /// Violated session rules that only report, or are not enforced: `1 session rule violated (not enforced)`.
    pub fn unenforced(&self) -> Option<String> {
        let count = self.tables.unenforced();
        (count > 0).then(|| format!("{} violated (not enforced)", words::count(count, "session rule")))
    }

    /// Counts what others counted.
    pub fn merge(&mut self, other: &Total) {
        self.tables.merge(&other.tables);
        self.tools.merge(&other.tools);
        self.contexts.merge(&other.contexts);
        for (sum, count) in [
            (&mut self.sessions, other.sessions),
            (&mut self.objected, other.objected),
            (&mut self.turns, other.turns),
            (&mut self.calls, other.calls),
            (&mut self.copied, other.copied),
            (&mut self.allow, other.allow),
            (&mut self.ask, other.ask),
            (&mut self.would_stop, other.would_stop),
            (&mut self.reported, other.reported),
            (&mut self.deny, other.deny),
            (&mut self.halt, other.halt),
            (&mut self.not_reached, other.not_reached),
            (&mut self.deny_counterfactual, other.deny_counterfactual),
            (&mut self.disagree, other.disagree),
            (&mut self.alternatives, other.alternatives),
            (&mut self.alternatives_stopped, other.alternatives_stopped),
            (&mut self.errors, other.errors),
            (&mut self.warnings, other.warnings),
            (&mut self.notices, other.notices),
            (&mut self.skipped, other.skipped),
        ] {
            *sum += count;
        }
        self.interrupted |= other.interrupted;
        self.unread.merge(&other.unread);
        self.provenance.extend(&other.provenance);
    }

    /// Counts what is wrong with files: diagnostics that are of no session, and the files that gave none.
    pub fn files(&mut self, diagnostics: &[Diagnostic], skipped: &BTreeMap<String, u64>) {
        self.note(diagnostics);
        self.skipped += skipped.values().sum::<u64>();
        self.unread.skip(skipped.keys());
        self.provenance.files(diagnostics, skipped);
    }

    /// Counts diagnostics.
    pub fn note(&mut self, diagnostics: &[Diagnostic]) {
        self.unread.note(diagnostics);
        for diagnostic in diagnostics {
            *match diagnostic.severity {
                Severity::Error => &mut self.errors,
                Severity::Warning => &mut self.warnings,
                Severity::Notice => &mut self.notices,
            } += 1;
        }
    }
}
