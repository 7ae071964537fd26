//! The findings of all sessions: collecting, naming and sifting them.

use std::collections::HashMap;
use std::sync::Arc;

use super::overlay::{FindingRow, FindingsView, GroupBy, words_of};
use super::{Model, verdict};
use crate::compare::ChangePlace;
use crate::monitor::finding::RuleState;
use crate::monitor::{Effect, RuleId};
use crate::policy::Policy;
use crate::replay::Replay;
use crate::report::words::rule_name;
use crate::session::{Body, Session};
use crate::workbench::line::{place, place_not_taken};
use crate::workbench::transcript::contains;

impl FindingRow {
    /// What a group of rows like this one is called.
    pub fn group<'a>(&'a self, by: GroupBy, model: &'a Model) -> &'a str {
        match by {
            GroupBy::Session => self.session(model),
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

    /// The session's name.
    pub fn session<'a>(&self, model: &'a Model) -> &'a str {
        model.archive.entries.get(self.entry).map_or("", |entry| &entry.name)
    }

    fn passes(&self, words: &[&str], model: &Model) -> bool {
        let reason = self.reason.as_deref().unwrap_or_default();
        let fields = [
            self.session(model),
            &self.tool,
            &self.rule,
            &self.name,
            self.code.as_str(),
            self.effect.word(),
            reason,
            self.call(model).map_or("", |(_, arguments)| arguments.shown()),
        ];
        words.iter().all(|word| fields.iter().any(|field| contains(field, word)))
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
            Some((at, entry.session.as_ref()?, &entry.replay.as_ref()?.1))
        });
        for (entry, session, replay) in judged {
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
            let taken = taken.map(|(call, judged)| (ChangePlace::Call(call.at), &call.tool, judged));
            let others = replay.alternatives(None);
            let others =
                others.map(|other| (ChangePlace::Alternative(other.at()), &other.call.tool, other.judged));
            let own = rows.len();
            for (at, tool, judged) in taken.chain(others) {
                for finding in &judged.decision.findings {
                    let (rule, name) = named(finding.rule);
                    rows.push(FindingRow {
                        entry,
                        at,
                        tool: Arc::clone(tool),
                        rule,
                        name,
                        rule_id: finding.rule,
                        code: finding.code,
                        effect: finding.effect,
                        reason: finding.reason.clone(),
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
                    at: ChangePlace::End,
                    tool: "".into(),
                    rule,
                    name,
                    rule_id: state.rule,
                    code,
                    effect: Effect::Deny,
                    reason: None,
                    counterfactual: false,
                });
            }
        }
        if let Some((rule, _)) = &self.only {
            rows.retain(|row| row.rule == *rule);
        }
        if self.by != GroupBy::Session {
            // Stable: within a group the order of the sessions stays.
            rows.sort_by(|a, b| a.group(self.by, model).cmp(b.group(self.by, model)));
        }
        self.rows = rows;
        self.judged = model.work.judged;
        self.sift(model);
    }

    /// Keeps the rows that pass the filter.
    pub fn sift(&mut self, model: &Model) {
        let filter = self.filter.to_lowercase();
        let words = words_of(&filter);
        let rows = self.rows.iter().enumerate();
        self.shown = rows.filter(|(_, row)| row.passes(&words, model)).map(|(at, _)| at).collect();
    }

    /// The row under the cursor.
    pub fn row(&self) -> Option<&FindingRow> {
        self.rows.get(*self.shown.get(self.list.cursor)?)
    }
}
