//! The findings of all sessions: collecting, naming and sifting them.

use std::collections::HashMap;
use std::sync::Arc;

use super::overlay::{FindingRow, FindingsView, GroupBy};
use super::{Model, verdict};
use crate::compare::ChangePlace;
use crate::explore::filter::{Field, Filter, State, Test};
use crate::explore::rows::{bit, states};
use crate::monitor::finding::RuleState;
use crate::monitor::{Effect, RuleId};
use crate::policy::Policy;
use crate::replay::Replay;
use crate::report::words::rule_name;
use crate::session::{Body, Session};
use crate::workbench::line::{place, place_not_taken};

impl FindingRow {
    /// What a group of rows like this one is called.
    pub fn group(&self, by: GroupBy) -> &str {
        match by {
            GroupBy::Session => &self.session,
            GroupBy::Rule => &self.name,
            GroupBy::Tool if self.at == ChangePlace::End => "the session",
            GroupBy::Tool => &self.tool,
            GroupBy::Code => self.code.as_str(),
            GroupBy::Reason => {
                let reason = self.reason.as_deref().unwrap_or("no reason given");
                reason.split_once(':').map_or(reason, |(category, _)| category)
            }
        }
    }

    /// Where it stands: `T2.1`, `T2.2.1` for a choice that was not taken, or `end`.
    pub fn place(&self) -> String {
        match self.at {
            ChangePlace::Call(call) => place(call),
            ChangePlace::Alternative(at) => place_not_taken(at),
            ChangePlace::Turn(_) | ChangePlace::End => "end".to_owned(),
        }
    }

    /// The tool and the arguments of the call that it is about.
    pub fn call<'a>(&self, model: &'a Model) -> Option<(&'a str, &'a Body)> {
        called(model.archive.entries.get(self.entry)?.session.as_ref()?, self.at)
    }

    /// The violated rule about the session, and how it ended.
    pub fn violation<'a>(&self, model: &'a Model) -> Option<(&'a Replay, &'a RuleState)> {
        let (_, replay) =
            model.archive.entries.get(self.entry)?.replay.as_ref().filter(|_| self.at == ChangePlace::End)?;
        let state = replay.rules().iter().find(|state| state.rule == self.rule_id)?;
        Some((replay, state))
    }

    /// Whether what a term of a filter asks is so of this finding: of its rule and no other, and of its call.
    fn is_so(&self, test: &Test, model: &Model) -> bool {
        let Some(entry) = model.archive.entries.get(self.entry) else { return false };
        let session = entry.session.as_deref();
        let began = session.and_then(|session| session.began);
        match test {
            Test::Is(State::Changed) => {
                entry.changes.iter().flatten().any(|change| change.at == self.at && !change.inferred)
            }
            Test::Is(state) => self.states & bit(*state) != 0,
            Test::Turn(turns) => self.at.turn().is_some_and(|turn| turns.contains(&turn)),
            Test::Since(first) => began.is_some_and(|began| began >= *first),
            Test::Until(end) => began.is_some_and(|began| began < *end),
            Test::Field(field, pattern) => {
                let own = |of: fn(&Session) -> Option<&str>| session.and_then(of).unwrap_or_default();
                let fields: &[&str] = match field {
                    Field::Tool => &[&self.tool],
                    Field::Rule => &[&self.rule, &self.name],
                    Field::Code => &[self.code.as_str()],
                    Field::File => &[&entry.file],
                    Field::Project => &[own(Session::project)],
                    Field::Branch => &[own(Session::branch)],
                    Field::Agent => &[own(Session::agent)],
                    Field::Format => &[own(|session| Some(session.origin.format))],
                    Field::Id => &[own(|session| Some(&session.id))],
                    Field::Text => &[
                        own(|session| Some(&session.id)),
                        own(|session| session.title.as_deref()),
                        &entry.name,
                        &self.tool,
                        &self.rule,
                        &self.name,
                        self.code.as_str(),
                        self.effect.word(),
                        self.reason.as_deref().unwrap_or_default(),
                        self.call(model).map_or("", |(_, arguments)| arguments.shown()),
                    ],
                };
                fields.iter().any(|field| !field.is_empty() && pattern.is_match(field))
            }
        }
    }
}

/// The tool and the arguments of a call, of a choice that was not taken as well.
pub fn called(session: &Session, at: ChangePlace) -> Option<(&str, &Body)> {
    match at {
        ChangePlace::Call(call) => {
            session.calls.get(call.index as usize).map(|call| (&*call.tool, &call.arguments))
        }
        ChangePlace::Alternative(at) => {
            let calls = session.alternative(at.turn, at.choice)?.calls();
            calls.get((at.call as usize).checked_sub(1)?).map(|call| (&*call.tool, &call.arguments))
        }
        ChangePlace::Turn(_) | ChangePlace::End => None,
    }
}

impl FindingsView {
    /// Collects the findings of everything judged so far, keeping filter, grouping and place.
    pub fn collect(&mut self, model: &Model) {
        let mut rows = Vec::new();
        let mut names: HashMap<RuleId, (Arc<str>, Arc<str>)> = HashMap::new();
        let mut of: Option<&Arc<Policy>> = None;
        let judged = model.scope().filter_map(|at| {
            let entry = model.archive.entries.get(at)?;
            let called: Arc<str> = entry.called(&model.archive.names).into();
            Some((at, called, entry.session.as_ref()?, &entry.replay.as_ref()?.1))
        });
        for (entry, called, session, replay) in judged {
            // Sessions on screen together are mostly judged by one version, and rules have few names.
            if !of.replace(replay.policy()).is_some_and(|of| Arc::ptr_eq(of, replay.policy())) {
                names.clear();
            }
            let mut named = |id: RuleId| {
                let name = names.entry(id).or_insert_with(|| match replay.policy().rules().get(id) {
                    Some(rule) => (Arc::clone(&rule.id), rule_name(rule).into()),
                    None => ("".into(), "".into()),
                });
                (Arc::clone(&name.0), Arc::clone(&name.1))
            };
            let taken = session.calls.iter().zip(replay.calls());
            let taken = taken.map(|(call, judged)| {
                (ChangePlace::Call(call.at), &call.tool, judged, states(Some(call), judged))
            });
            let others = replay.alternatives(None).map(|other| {
                let states = states(None, other.judged);
                (ChangePlace::Alternative(other.at()), &other.call.tool, other.judged, states)
            });
            let own = rows.len();
            for (at, tool, judged, states) in taken.chain(others) {
                for finding in &judged.decision.findings {
                    let (rule, name) = named(finding.rule);
                    rows.push(FindingRow {
                        entry,
                        session: Arc::clone(&called),
                        at,
                        tool: Arc::clone(tool),
                        rule,
                        name,
                        rule_id: finding.rule,
                        code: finding.code,
                        effect: finding.effect,
                        reason: finding.reason.clone(),
                        states,
                        counterfactual: judged.counterfactual,
                    });
                }
            }
            if !session.alternatives.is_empty()
                && let Some(own) = rows.get_mut(own..)
            {
                // Stable: of one turn, what was taken stands first.
                own.sort_by_key(|row| row.at.turn());
            }
            for state in verdict::violations(replay) {
                let ((rule, name), Some(code)) = (named(state.rule), state.code) else { continue };
                rows.push(FindingRow {
                    entry,
                    session: Arc::clone(&called),
                    at: ChangePlace::End,
                    tool: "".into(),
                    rule,
                    name,
                    rule_id: state.rule,
                    code,
                    effect: Effect::Deny,
                    reason: None,
                    states: bit(State::Violated),
                    counterfactual: false,
                });
            }
        }
        if let Some((rule, _)) = &self.only {
            rows.retain(|row| row.rule == *rule);
        }
        if self.by != GroupBy::Session {
            // Stable: within a group the order of the sessions stays.
            rows.sort_by(|a, b| a.group(self.by).cmp(b.group(self.by)));
        }
        self.rows = rows;
        self.judged = model.work.judged;
        self.sift(model);
    }

    /// Keeps the rows that pass the filter; what is no filter yet changes nothing, and says what is wrong with it.
    pub fn sift(&mut self, model: &Model) {
        match Filter::parse(&self.filter, model.work.now) {
            Ok(filter) => (self.sieve, self.wrong) = (filter, None),
            Err(wrong) => self.wrong = Some(wrong.in_line(&self.filter)),
        }
        let rows = self.rows.iter().enumerate();
        let passes = |row: &FindingRow| self.sieve.lets_pass(|test| row.is_so(test, model));
        self.shown = rows.filter(|(_, row)| passes(row)).map(|(at, _)| at).collect();
    }

    /// The row under the cursor.
    pub fn row(&self) -> Option<&FindingRow> {
        self.rows.get(*self.shown.get(self.list.cursor)?)
    }
}
