//! The output of rules: findings against a call, checks, the current state, and outcomes.
//!
//! These are facts: codes, values and calls. A dialect's own facts implement [`Explain`].

use std::sync::Arc;

use serde::Serialize;

use super::evidence::{CheckedValue, EarlierCall, Effect};
use super::explanation::{About, Explain, Explanation};
use super::rule::{RuleId, Rules};
use rulestep_base::diagnostic::code::Code;
use rulestep_base::session::{CallRef, Session};
use rulestep_base::wording::sentence::name;
use rulestep_base::wording::{at, tool_of};

/// A rule's finding about one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The rule.
    #[serde(skip)]
    pub rule: RuleId,
    /// Its effect on the call.
    pub effect: Effect,
    /// What its effect would have been, for a rule that is not enforced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would: Option<Effect>,
    /// Why, as a stable code.
    pub code: Code,
    /// The checked value of the call.
    pub checked: Option<CheckedValue>,
    /// The earlier calls it rests on, the decisive one first.
    pub found: Vec<EarlierCall>,
    /// The dialect's own facts.
    #[serde(skip)]
    pub facts: Option<Arc<dyn Explain>>,
    /// The rule's own reason, for telemetry; never shown to the model.
    pub reason: Option<Arc<str>>,
    /// The text that the model reads instead of a result.
    pub tell_llm: Option<Arc<str>>,
}

/// A rule that was asked about a call, whether or not it objected.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The rule.
    pub rule: RuleId,
    /// Whether the call passes it.
    pub passed: bool,
    /// Why not.
    pub code: Option<Code>,
    /// The checked value of the call.
    pub checked: Option<CheckedValue>,
    /// The earlier calls it rests on.
    pub found: Vec<EarlierCall>,
    /// The dialect's own facts.
    pub facts: Option<Arc<dyn Explain>>,
}

/// An item of the state at a moment, for people to look at.
#[derive(Debug, Clone, PartialEq)]
pub enum StateItem {
    /// A tool that is forbidden for the rest of the session.
    Forbidden {
        /// The tool.
        tool: Arc<str>,
        /// The call since which it is.
        since: CallRef,
        /// The rule that forbids it.
        rule: RuleId,
    },
    /// A precondition of a tool, as the first call of the turn would find it.
    Precondition {
        /// The rule.
        rule: RuleId,
        /// The tool it governs.
        tool: Arc<str>,
        /// Whether some call could meet it now.
        satisfied: bool,
        /// Why not.
        code: Option<Code>,
        /// The earlier calls that meet it, the newest first, a few.
        by: Vec<CallRef>,
        /// The dialect's own facts.
        facts: Option<Arc<dyn Explain>>,
    },
    /// A count or record of a rule: limits, deadlines, steps of sequences, records.
    Kept {
        /// The rule.
        rule: RuleId,
        /// The tool to whose calls it matters; `None`: all.
        tool: Option<Arc<str>>,
        /// The dialect's own facts.
        facts: Arc<dyn Explain>,
    },
}

impl StateItem {
    /// The rule.
    #[must_use]
    pub fn rule(&self) -> RuleId {
        match self {
            StateItem::Forbidden { rule, .. }
            | StateItem::Precondition { rule, .. }
            | StateItem::Kept { rule, .. } => *rule,
        }
    }

    /// The tool to whose calls it matters; `None`: all.
    #[must_use]
    pub fn tool(&self) -> Option<&Arc<str>> {
        match self {
            StateItem::Forbidden { tool, .. } | StateItem::Precondition { tool, .. } => Some(tool),
            StateItem::Kept { tool, .. } => tool.as_ref(),
        }
    }
}

/// The outcome of a session rule so far.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleState {
    /// The rule.
    pub rule: RuleId,
    /// Its outcome.
    pub outcome: RuleOutcome,
    /// Why it is violated.
    pub code: Option<Code>,
    /// The call at fault, by index in the session.
    pub position: Option<u32>,
    /// The calls that were read for it.
    pub calls: Vec<u32>,
    /// Calls that it stopped.
    pub averted: u32,
    /// Whether a violation counts: that of a rule that reports or is not enforced is shown and fails no session, nor
    /// does one that a person was asked about.
    pub enforced: bool,
    /// Whether a person was asked about every call that violates it.
    pub asked: bool,
    /// Whether the call at fault is the past of a fork: the violation counts in the session that made it.
    pub copied: bool,
    /// The dialect's own facts.
    pub facts: Option<Arc<dyn Explain>>,
}

/// Outcomes of rules about sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleOutcome {
    /// The rule applied and is satisfied.
    Held,
    /// The rule is violated.
    Violated,
    /// The rule did not apply.
    NotExercised,
    /// Not yet decided.
    Pending,
}

impl RuleOutcome {
    /// The word of the JSON output and the screen.
    pub fn word(self) -> &'static str {
        match self {
            RuleOutcome::Held => "held",
            RuleOutcome::Violated => "violated",
            RuleOutcome::NotExercised => "not_exercised",
            RuleOutcome::Pending => "pending",
        }
    }
}

impl RuleState {
    /// Whether the session fails for it.
    #[must_use]
    pub fn is_violated(&self) -> bool {
        self.enforced && !self.copied && self.outcome == RuleOutcome::Violated
    }

    /// An outcome without a reason.
    pub fn new(rule: RuleId, outcome: RuleOutcome) -> RuleState {
        RuleState {
            rule,
            outcome,
            code: None,
            position: None,
            calls: Vec::new(),
            averted: 0,
            enforced: true,
            asked: false,
            copied: false,
            facts: None,
        }
    }
}

impl Finding {
    /// A finding without evidence.
    pub fn new(rule: RuleId, effect: Effect, code: Code) -> Finding {
        Finding {
            rule,
            effect,
            would: None,
            code,
            checked: None,
            found: Vec::new(),
            facts: None,
            reason: None,
            tell_llm: None,
        }
    }
}

impl Check {
    /// A check without evidence.
    pub fn new(rule: RuleId, passed: bool) -> Check {
        Check { rule, passed, code: None, checked: None, found: Vec::new(), facts: None }
    }
}

/// The explanation by the facts, or by the code if there are none.
fn explain(facts: Option<&dyn Explain>, about: &About<'_>) -> Explanation {
    match facts {
        Some(facts) => facts.explain(about),
        None => Explanation::new(about, about.code.map_or("holds", Code::title)),
    }
}

impl Finding {
    /// Why the rule objects to the call. `None`: the rule is not one of these.
    #[must_use]
    pub fn explain(&self, rules: &Rules, session: &Session) -> Option<Explanation> {
        let about = About {
            code: Some(self.code),
            checked: self.checked.as_ref(),
            found: &self.found,
            ..About::new(rules.get(self.rule)?, session)
        };
        Some(Explanation {
            effect: self.effect,
            would: self.would,
            reason: self.reason.clone(),
            tell_llm: self.tell_llm.clone(),
            ..explain(self.facts.as_deref(), &about)
        })
    }
}

impl Check {
    /// What the rule looked at, and the result. `None`: the rule is not one of these.
    #[must_use]
    pub fn explain(&self, rules: &Rules, session: &Session) -> Option<Explanation> {
        let about = About {
            code: self.code,
            checked: self.checked.as_ref(),
            found: &self.found,
            ..About::new(rules.get(self.rule)?, session)
        };
        Some(explain(self.facts.as_deref(), &about))
    }
}

impl RuleState {
    /// The rule's outcome. Without the calls that ran, only the expectation and what would satisfy it are worded.
    /// `None`: the rule is not one of these.
    #[must_use]
    pub fn explain(&self, rules: &Rules, session: &Session, ran: Option<&[CallRef]>) -> Option<Explanation> {
        let about = About { code: self.code, ran, ..About::new(rules.get(self.rule)?, session) };
        Some(explain(self.facts.as_deref(), &about))
    }
}

impl StateItem {
    /// The item, in words. `None`: the rule is not one of these.
    #[must_use]
    pub fn explain(&self, rules: &Rules, session: &Session) -> Option<Explanation> {
        let about = About::new(rules.get(self.rule())?, session);
        Some(match self {
            StateItem::Forbidden { tool, since, .. } => {
                let (by, when) = (tool_of(*since, session), at(*since, session));
                Explanation::new(&about, format!("{} is forbidden since {by} ran in {when}", name(tool)))
            }
            StateItem::Precondition { code, by, facts, .. } => {
                let found: Vec<EarlierCall> = by.iter().copied().map(EarlierCall::new).collect();
                explain(facts.as_deref(), &About { code: *code, found: &found, ..about })
            }
            StateItem::Kept { facts, .. } => facts.explain(&about),
        })
    }
}
