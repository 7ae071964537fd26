//! A selected value of a result, as a condition of the tools that could require it.

use std::collections::HashMap;
use std::sync::Arc;

use super::about::{Proposal, try_rules};
use super::claim::{Candidate, Claim, Need, Suggestion};
use super::insert::{Insertion, NotInserted};
use super::written;
use crate::stored::StoredSession;
use rulestep_base::session::{CallRef, Session};
use rulestep_engine::monitor::{Rule, RuleId};
use rulestep_engine::policy::{Policy, PolicyFile};

/// A value of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultField {
    /// The tool of the result.
    pub tool: Arc<str>,
    /// The path there.
    pub path: Arc<str>,
    /// The value, as JSON.
    pub value: Arc<str>,
}

/// Tools that are proposed at most.
const TOOLS: usize = 6;

impl ResultField {
    /// The condition for each tool that could require it: its text, and the calls that it would stop.
    pub fn proposals(
        &self,
        sessions: &[Arc<StoredSession>],
        at: (&Session, CallRef),
        policy: &Policy,
        insert: &dyn Fn(&Candidate) -> Result<Insertion, NotInserted>,
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Vec<(Proposal, Result<Insertion, NotInserted>)> {
        let tools = self.dependents(sessions, at, policy).into_iter().take(TOOLS);
        let rows = tools.map_while(|tool| {
            let need = Need {
                prior: Arc::clone(&self.tool),
                shared: None,
                result: Some((Arc::clone(&self.path), Arc::clone(&self.value))),
            };
            let candidate = Candidate { tool, claim: Claim::Needs(need) };
            let insertion = insert(&candidate);
            let tried = self.policy(&candidate, insertion.as_ref().ok());
            let proposal = tried.and_then(|(policy, rule)| {
                try_rules(sessions, &policy, &[&candidate], is_over).proposal(&candidate, rule)
            });
            let nothing = || Proposal { suggestion: Suggestion::of(&candidate), broken: Vec::new() };
            (!is_over()).then(|| (proposal.unwrap_or_else(nothing), insertion))
        });
        rows.collect()
    }

    /// Tools whose contract needs the tool already; then those that are called after it, the ones of this session
    /// first.
    fn dependents(
        &self,
        sessions: &[Arc<StoredSession>],
        (session, call): (&Session, CallRef),
        policy: &Policy,
    ) -> Vec<Arc<str>> {
        let needs = policy.rules().iter().filter(|(_, rule)| self.is_needed_by(rule));
        let mut tools: Vec<Arc<str>> = needs.filter_map(|(_, rule)| rule.tool.clone()).collect();
        tools.extend(
            session
                .calls
                .iter()
                .filter(|later| later.at.turn > call.turn)
                .map(|later| Arc::clone(&later.tool)),
        );
        let mut after: HashMap<Arc<str>, u64> = HashMap::new();
        for session in sessions.iter().filter_map(|session| session.session().ok()) {
            let first = session.calls.iter().position(|call| call.tool == self.tool).unwrap_or(usize::MAX);
            for later in session.calls.iter().skip(first.saturating_add(1)) {
                match after.get_mut(&later.tool) {
                    Some(count) => *count += 1,
                    None => drop(after.insert(Arc::clone(&later.tool), 1)),
                }
            }
        }
        let mut others: Vec<(Arc<str>, u64)> = after.into_iter().collect();
        others.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        tools.extend(others.into_iter().map(|(tool, _)| tool));
        let mut kept: Vec<Arc<str>> = Vec::new();
        for tool in tools {
            if tool != self.tool && !kept.contains(&tool) {
                kept.push(tool);
            }
        }
        kept
    }

    /// Whether the rule is a precondition that names the tool.
    fn is_needed_by(&self, rule: &Rule) -> bool {
        rule.kind == "precondition" && rule.tools.iter().skip(1).any(|tool| *tool == self.tool)
    }

    /// The changed file as a version, and the rule in it; if it cannot be written, only the condition.
    fn policy(&self, candidate: &Candidate, insertion: Option<&Insertion>) -> Option<(Arc<Policy>, RuleId)> {
        let Some(insertion) = insertion else {
            let written = written(&[candidate]);
            let rule = written.rules.get(candidate).copied()?;
            return Some((written.policy, rule));
        };
        let file = PolicyFile {
            name: Arc::clone(&insertion.file),
            relative: Arc::clone(&insertion.relative),
            text: Arc::clone(&insertion.after),
            named: true,
        };
        let policy = Policy::load(&[file], None).policy?;
        // Of the preconditions that name the tool, the one with new text.
        let new = insertion.new_lines();
        let (first, last) = (new.first()?.0, new.last()?.0);
        let line = |rule: &Rule, at: usize| rule.source.position(at).line as usize;
        let has = |rule: &Rule| {
            rule.tool.as_ref() == Some(&candidate.tool)
                && self.is_needed_by(rule)
                && line(rule, rule.span.start) <= last
                && line(rule, rule.span.end) >= first
        };
        let rule = policy.rules().iter().find(|(_, rule)| has(rule)).map(|(id, _)| id)?;
        Some((policy, rule))
    }
}
