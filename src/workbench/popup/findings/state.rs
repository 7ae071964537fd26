//! The findings of all sessions: collecting, naming and filtering them.

use crate::workbench::model::changes::called;
use std::collections::HashMap;
use std::sync::Arc;

use crate::compare::ChangePlace;
use crate::explore::filter::{Field, Filter, State, Test};
use crate::explore::rows::bit;
use crate::report::words::rule_name;
use crate::stored::StoredSession;
use crate::workbench::line::{place, place_not_taken};
use crate::workbench::list::List;
use crate::workbench::model::{Judgement, Model};
use rulestep_base::diagnostic::Code;
use rulestep_base::session::Body;
use rulestep_engine::monitor::{Effect, RuleId};
use rulestep_engine::policy::Policy;

/// The list of findings.
#[derive(Default)]
pub struct FindingsView {
    /// All findings, in the order shown.
    pub rows: Vec<FindingRow>,
    /// The rows that pass the filter.
    pub shown: Vec<usize>,
    /// The cursor.
    pub list: List,
    /// The grouping and order.
    pub by: GroupBy,
    /// The filter as it is typed, in the language of all lists.
    pub filter: String,
    /// The last one that could be understood: what the rows pass.
    pub sieve: Filter,
    /// The problem of the typed filter.
    pub wrong: Option<String>,
    /// The one rule, by id and name, that they are about, if there is one.
    pub only: Option<(Arc<str>, String)>,
    /// The number of judged sessions when they were collected.
    pub judged: usize,
}

/// A finding of some session.
#[derive(Debug, Clone)]
pub struct FindingRow {
    /// The entry.
    pub entry: usize,
    /// The name of its session.
    pub session: Arc<str>,
    /// The call, of a choice that was not taken as well; or the end: it is about the session as a whole.
    pub at: ChangePlace,
    /// Its tool.
    pub tool: Arc<str>,
    /// The rule's id as people write it.
    pub rule: Arc<str>,
    /// The rule's name for people.
    pub name: Arc<str>,
    /// The rule.
    pub rule_id: RuleId,
    /// The code.
    pub code: Code,
    /// Its effect.
    pub effect: Effect,
    /// The rule's reason, for telemetry.
    pub reason: Option<Arc<str>>,
    /// The states of its call, as filters name them, a bit each.
    pub states: u16,
    /// The call came after the recording had parted from the policy.
    pub counterfactual: bool,
}

/// The grouping of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupBy {
    /// The session.
    #[default]
    Session,
    /// The rule.
    Rule,
    /// The tool.
    Tool,
    /// The code.
    Code,
    /// The reason up to its first colon: its category.
    Reason,
}

impl GroupBy {
    /// The next way of grouping.
    pub const fn next(self) -> Self {
        match self {
            Self::Session => Self::Rule,
            Self::Rule => Self::Tool,
            Self::Tool => Self::Code,
            Self::Code => Self::Reason,
            Self::Reason => Self::Session,
        }
    }

    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Rule => "rule",
            Self::Tool => "tool",
            Self::Code => "code",
            Self::Reason => "reason",
        }
    }
}

impl FindingRow {
    /// The name of this row's group.
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

    /// Its position: `T2.1`, `T2.2.1` for a choice that was not taken, or `end`.
    pub fn place(&self) -> String {
        match self.at {
            ChangePlace::Call(call) => place(call),
            ChangePlace::Alternative(at) => place_not_taken(at),
            ChangePlace::Turn(_) | ChangePlace::End => "end".to_owned(),
        }
    }

    /// The tool and the arguments of the call that it is about.
    pub fn call(&self, model: &Model) -> Option<(Arc<str>, Body)> {
        let session = model.archive.entries.get(self.entry)?.session.as_ref()?.session().ok()?;
        called(&session, self.at)
    }

    /// The headline, if it is a violated session rule.
    pub fn violation<'m>(&self, model: &'m Model) -> Option<&'m str> {
        let judgement = model.archive.entries.get(self.entry)?.judgement.as_ref()?;
        let mut violations = judgement.violations.iter().filter(|_| self.at == ChangePlace::End);
        Some(&violations.find(|violation| violation.rule == self.rule_id)?.headline)
    }

    /// Whether what a term of a filter asks is so of this finding: of its rule and no other, and of its call.
    fn is_so(&self, test: &Test, model: &Model) -> bool {
        let Some(entry) = model.archive.entries.get(self.entry) else { return false };
        let began = entry.row.began;
        match test {
            Test::Is(State::Changed) => {
                entry.changes.iter().flatten().any(|change| change.at == self.at && !change.inferred)
            }
            Test::Is(state) => self.states & bit(*state) != 0,
            Test::Turn(turns) => self.at.turn().is_some_and(|turn| turns.contains(&turn)),
            Test::Since(first) => began.is_some_and(|began| began >= *first),
            Test::Until(end) => began.is_some_and(|began| began < *end),
            Test::Field(field, pattern) => {
                let named = |name: Option<_>| name.map_or("", |name| model.archive.names.word(name));
                let own = |of: fn(&StoredSession) -> Option<&str>| {
                    entry.session.as_deref().and_then(of).unwrap_or_default()
                };
                let fields: &[&str] = match field {
                    Field::Tool => &[&self.tool],
                    Field::Rule => &[&self.rule, &self.name],
                    Field::Code => &[self.code.as_str()],
                    Field::File => &[&entry.file],
                    Field::Project => &[named(entry.row.project)],
                    Field::Branch => &[named(entry.row.branch)],
                    Field::Agent => &[named(entry.row.agent)],
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
                    ],
                };
                // Arguments may have to be read back, so they come last.
                fields.iter().any(|field| !field.is_empty() && pattern.is_match(field))
                    || *field == Field::Text
                        && self.call(model).is_some_and(|(_, body)| pattern.is_match(body.shown()))
            }
        }
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
            let judgement = entry.judgement.as_ref()?;
            let Judgement { findings, violations, .. } = judgement;
            entry.session.as_ref().filter(|_| !findings.is_empty() || !violations.is_empty())?;
            let called: Arc<str> = entry.called(&model.archive.names).into();
            Some((at, called, judgement))
        });
        for (entry, called, judgement) in judged {
            // Sessions on screen together are mostly judged by one version, and rules have few names.
            if !of.replace(&judgement.policy).is_some_and(|of| Arc::ptr_eq(of, &judgement.policy)) {
                names.clear();
            }
            let mut named = |id: RuleId| {
                let name = names.entry(id).or_insert_with(|| match judgement.policy.rules().get(id) {
                    Some(rule) => (Arc::clone(&rule.id), rule_name(rule).into()),
                    None => ("".into(), "".into()),
                });
                (Arc::clone(&name.0), Arc::clone(&name.1))
            };
            for finding in &judgement.findings {
                let (rule, name) = named(finding.rule);
                rows.push(FindingRow {
                    entry,
                    session: Arc::clone(&called),
                    at: finding.at,
                    tool: Arc::clone(&finding.tool),
                    rule,
                    name,
                    rule_id: finding.rule,
                    code: finding.code,
                    effect: finding.effect,
                    reason: finding.reason.clone(),
                    states: finding.states,
                    counterfactual: finding.counterfactual,
                });
            }
            for violation in &judgement.violations {
                let ((rule, name), Some(code)) = (named(violation.rule), violation.code) else { continue };
                rows.push(FindingRow {
                    entry,
                    session: Arc::clone(&called),
                    at: ChangePlace::End,
                    tool: "".into(),
                    rule,
                    name,
                    rule_id: violation.rule,
                    code,
                    effect: if violation.enforced { Effect::Deny } else { Effect::Report },
                    reason: None,
                    states: bit(if violation.enforced { State::Violated } else { State::Reported }),
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

    /// Keeps the rows that pass the filter; an incomplete filter changes nothing, and its error is shown.
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
