//! The engine's answers: decisions about calls and narrowings of the offered tools.

use std::cmp::Reverse;
use std::sync::Arc;

use serde::Serialize;

use crate::monitor::explanation::{HaltCause, told};
use crate::monitor::{Check, Effect, Finding, Reason};
use rulestep_base::session::CallRef;
pub use rulestep_base::session::live::Verdict;

/// The decision about one call. It serialises its own data; the meaning and the rule of a finding are in its
/// [`Explanation`](crate::Explanation). The names of members are those of the JSON of `replay`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[must_use]
pub struct Decision {
    /// The verdict.
    #[serde(rename = "decision")]
    pub verdict: Verdict,
    /// Objections of rules, the deciding one first, then by strength and place.
    pub findings: Vec<Finding>,
    /// Every rule that was asked, in the order of the rules; only if checks were requested.
    #[serde(skip)]
    pub checks: Vec<Check>,
    /// The message to the model, if the call is stopped.
    pub told: Option<Arc<str>>,
}

impl Decision {
    /// No rule objects to the call.
    pub fn allow() -> Decision {
        Decision { verdict: Verdict::Allow, findings: Vec::new(), checks: Vec::new(), told: None }
    }

    /// No rule can be asked about the call: its arguments cannot be read.
    pub fn unclear(why: &str) -> Decision {
        let told = format!("[permission denied: the arguments of the call cannot be read: {why}]");
        Decision { verdict: Verdict::Deny, told: Some(told.into()), ..Decision::allow() }
    }

    /// Clears it for the next call.
    pub(super) fn clear(&mut self) {
        self.verdict = Verdict::Allow;
        self.findings.clear();
        self.checks.clear();
        self.told = None;
    }

    /// Makes the decision from the collected findings and checks, `effect` being the strongest.
    pub(super) fn settle(&mut self, effect: Effect) {
        self.verdict = match effect {
            Effect::None | Effect::Also | Effect::Report => Verdict::Allow,
            Effect::Ask => Verdict::Ask,
            Effect::Deny => Verdict::Deny,
            Effect::Halt => Verdict::Halt,
        };
        self.findings.sort_by_key(|finding| (Reverse(finding.effect), finding.rule));
        self.checks.sort_by_key(|check| check.rule);
        let deciding = self.findings.first().filter(|_| self.verdict.stops());
        self.told = deciding.map(|finding| told(finding.tell_llm.as_ref(), finding.code));
    }

    /// The answer after a halt.
    pub fn not_reached() -> Decision {
        Decision { verdict: Verdict::NotReached, ..Decision::allow() }
    }

    /// Whether the call is allowed, and a rule found something all the same.
    pub fn reports(&self) -> bool {
        self.verdict == Verdict::Allow && !self.findings.is_empty()
    }

    /// Whether the call may run, and a rule that is not enforced would have kept it from that.
    pub fn would_stop(&self) -> bool {
        self.verdict.may_run() && self.findings.iter().any(|finding| finding.would.is_some())
    }

    /// Whether the call is allowed, and a rule found something for which it would never have been stopped.
    pub fn only_reports(&self) -> bool {
        self.reports() && !self.would_stop()
    }

    /// The finding that decided, for a call that was stopped or that a person is asked about.
    pub fn deciding(&self) -> Option<&Finding> {
        self.findings.first().filter(|finding| finding.effect >= Effect::Ask)
    }
}

/// Which offered tools the model should see at the start of a turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Narrowing {
    /// The recording does not list the offered tools: these are the names in rules and calls.
    pub inferred: bool,
    /// The offered tools, in offered order.
    pub tools: Vec<ToolVisibility>,
}

/// One offered tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolVisibility {
    /// Its name.
    pub tool: Arc<str>,
    /// Rules that alone refuse it for every argument; none: it is visible.
    pub reasons: Vec<Reason>,
}

impl ToolVisibility {
    /// Whether the model should see it.
    pub fn visible(&self) -> bool {
        self.reasons.is_empty()
    }
}

/// A session ended by a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Halt {
    /// The call at which it ended.
    pub at: CallRef,
    /// Its tool.
    pub tool: Arc<str>,
    /// The finding that ended it. Absent only if the rule failed when it was asked again for it.
    pub finding: Option<Finding>,
}

impl Halt {
    pub(super) fn of(at: CallRef, tool: &Arc<str>, decision: &Decision) -> Halt {
        Halt { at, tool: Arc::clone(tool), finding: decision.deciding().cloned() }
    }

    /// Its cause, if the rule has one.
    pub fn cause(&self) -> Option<HaltCause<'_>> {
        self.finding.as_ref()?.facts.as_deref()?.halt()
    }

    /// The calls that led to it, in call order, each with its tool: those that were dispatched, then the halting one.
    pub fn sequence(&self) -> impl Iterator<Item = (CallRef, &str)> {
        let before = self.cause().into_iter().flat_map(|cause| cause.dispatched);
        before.chain([(self.at, &*self.tool)])
    }
}
