//! Results that are, word for word, a loaded policy's message to the model instead of a result.
//!
//! If a library answers with such a text without marking it, nothing distinguishes a refusal from a result. A recorded
//! result stays one, as the published engine counts it; that it may have been a refusal is reported.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::monitor::RuleId;
use crate::policy::Policy;
use rulestep_base::session::{Call, CallRef, Outcome, Session};

/// Results of one session that are the text of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedRefusals {
    /// The rule.
    pub rule: RuleId,
    /// The number of calls with such a result.
    pub calls: u64,
    /// The first of them.
    pub first: CallRef,
    /// The tool of that one.
    pub tool: Arc<str>,
    /// The text, without the white space around it.
    pub text: Box<str>,
    /// The line of its result, from 1; 0 where unknown.
    pub line: u32,
    /// Whether all of them are marked as failed.
    pub failed: bool,
}

/// Those of a session, by rule.
pub fn counted_refusals(session: &Session, policy: &Policy) -> Vec<CountedRefusals> {
    if !policy.has_texts() {
        return Vec::new();
    }
    let mut all: BTreeMap<RuleId, CountedRefusals> = BTreeMap::new();
    for call in session.made() {
        let failed = call.outcome == Outcome::Error;
        let Some(rule) = rule(call, policy) else { continue };
        let counted = all.entry(rule).or_insert_with(|| CountedRefusals {
            rule,
            calls: 0,
            first: call.at,
            tool: Arc::clone(&call.tool),
            text: call.output.shown().trim().into(),
            line: call.result.and_then(|place| session.messages.get(place)).map_or(0, |message| message.line),
            failed,
        });
        counted.calls += 1;
        counted.failed &= failed;
    }
    all.into_values().collect()
}

/// The rule whose message the result is, if the call counts as one that ran.
fn rule(call: &Call, policy: &Policy) -> Option<RuleId> {
    let ran = matches!(call.outcome, Outcome::Ok | Outcome::Error) && !call.output.is_missing();
    ran.then(|| policy.tells(&call.output, &call.tool)).flatten()
}
