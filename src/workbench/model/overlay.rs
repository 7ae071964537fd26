//! What lies over the panes: a body, the list of findings, the list of commands, the list of problems; and
//! the line in which text is typed.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tui_input::Input;

use super::supposed::Ask;
use super::texts::TextsView;
use super::{Model, verdict};
use crate::compare::At;
use crate::diagnostic::{Code, Diagnostic};
use crate::monitor::finding::RuleState;
use crate::monitor::{Effect, RuleId};
use crate::policy::Policy;
use crate::replay::Replay;
use crate::report::words::rule_name;
use crate::session::{Body, Session};
use crate::workbench::document::Document;
use crate::workbench::keys::{self, Scope};
use crate::workbench::line::{place, place_not_taken};
use crate::workbench::list::List;
use crate::workbench::transcript::contains;

/// Something over the panes.
pub enum Overlay {
    /// A body, whole.
    Body(Box<BodyView>),
    /// All findings of all sessions.
    Findings(FindingsView),
    /// All commands.
    Help(HelpView),
    /// All that is wrong with policies and recordings.
    Problems(ProblemsView),
    /// The versions of the policy that were loaded before the one that decides.
    Loads(LoadsView),
    /// The text of two versions.
    Texts(Box<TextsView>),
}

/// A body being read.
pub struct BodyView {
    /// What it is.
    pub title: String,
    /// The row of the transcript it belongs to.
    pub row: usize,
    /// Its lines.
    pub document: Document,
    /// Where in them.
    pub list: List,
}

/// The list of findings.
#[derive(Default)]
pub struct FindingsView {
    /// All of them, in the order shown.
    pub rows: Vec<FindingRow>,
    /// The rows that pass the filter.
    pub shown: Vec<usize>,
    /// Where in those.
    pub list: List,
    /// What they are sorted and headed by.
    pub by: GroupBy,
    /// Words that every row shown contains.
    pub filter: String,
    /// How many sessions had been judged when they were collected.
    pub judged: usize,
}

/// A finding of some session.
#[derive(Debug, Clone)]
pub struct FindingRow {
    /// The entry.
    pub entry: usize,
    /// The call, of a choice that was not taken as well; or the end: it is about the session as a whole.
    pub at: At,
    /// Its tool.
    pub tool: Arc<str>,
    /// The rule's id as people write it.
    pub rule: Arc<str>,
    /// What people call the rule.
    pub name: Arc<str>,
    /// The rule.
    pub rule_id: RuleId,
    /// The code.
    pub code: Code,
    /// What it does.
    pub effect: Effect,
    /// The rule's reason, for telemetry.
    pub reason: Option<Arc<str>>,
    /// The call came after the recording had parted from the policy.
    pub counterfactual: bool,
}

/// What findings are grouped by.
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

/// The list of earlier versions.
#[derive(Default)]
pub struct LoadsView {
    /// Where in the list.
    pub list: List,
}

/// The list of commands.
#[derive(Default)]
pub struct HelpView {
    /// Where commands are to be used: what lay on top before.
    pub scope: Option<Scope>,
    /// Where in the list.
    pub list: List,
    /// Words that every row shown contains.
    pub filter: String,
}

/// The list of problems.
#[derive(Default)]
pub struct ProblemsView {
    /// All of them.
    pub rows: Vec<Diagnostic>,
    /// Where in them.
    pub list: List,
}

/// A line of text being typed, and what it is for.
pub struct Prompt {
    /// The text.
    pub input: Input,
    /// Where the cursor stood when typing began, to go back to.
    pub from: usize,
    /// The search before this one.
    pub before: Option<String>,
    /// What it is for; `None`: it is searched for.
    pub ask: Option<Ask>,
    /// Why what was typed cannot be taken.
    pub refused: Option<String>,
    /// How much of the last paste was taken, where that is not all of it.
    pub cut: Option<String>,
}

impl Overlay {
    /// Whose keys are meant while it is on top.
    #[must_use]
    pub fn scope(&self) -> Scope {
        match self {
            Self::Body(_) => Scope::Body,
            Self::Findings(_) => Scope::Findings,
            Self::Help(_) | Self::Problems(_) | Self::Loads(_) => Scope::Help,
            Self::Texts(_) => Scope::Texts,
        }
    }
}

impl GroupBy {
    /// The next way of grouping.
    #[must_use]
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
    #[must_use]
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
    /// What a group of rows like this one is called.
    #[must_use]
    pub fn group<'a>(&'a self, by: GroupBy, model: &'a Model) -> &'a str {
        match by {
            GroupBy::Session => self.session(model),
            GroupBy::Rule => &self.name,
            GroupBy::Tool if self.at == At::End => "the session",
            GroupBy::Tool => &self.tool,
            GroupBy::Code => self.code.as_str(),
            GroupBy::Reason => {
                let reason = self.reason.as_deref().unwrap_or("no reason given");
                reason.split_once(':').map_or(reason, |(category, _)| category)
            }
        }
    }

    /// Where it stands: `T2.1`, `T2.2.1` for a choice that was not taken, or `end`.
    #[must_use]
    pub fn place(&self) -> String {
        match self.at {
            At::Call(call) => place(call),
            At::Alternative(at) => place_not_taken(at),
            At::Turn(_) | At::End => "end".to_owned(),
        }
    }

    /// The tool and the arguments of the call that it is about.
    #[must_use]
    pub fn call<'a>(&self, model: &'a Model) -> Option<(&'a str, &'a Body)> {
        called(model.entries.get(self.entry)?.session.as_ref()?, self.at)
    }

    /// The violated rule about the session, and how it ended.
    #[must_use]
    pub fn violation<'a>(&self, model: &'a Model) -> Option<(&'a Replay, &'a RuleState)> {
        let (_, replay) = model.entries.get(self.entry)?.replay.as_ref().filter(|_| self.at == At::End)?;
        let state = replay.rules().iter().find(|state| state.rule == self.rule_id)?;
        Some((replay, state))
    }

    /// The session's name.
    #[must_use]
    pub fn session<'a>(&self, model: &'a Model) -> &'a str {
        model.entries.get(self.entry).map_or("", |entry| &entry.name)
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
#[must_use]
pub fn called(session: &Session, at: At) -> Option<(&str, &Body)> {
    match at {
        At::Call(call) => session.calls.get(call.index as usize).map(|call| (&*call.tool, &call.arguments)),
        At::Alternative(at) => {
            let calls = session.alternative(at.turn, at.choice)?.calls();
            calls.get((at.call as usize).checked_sub(1)?).map(|call| (&*call.tool, &call.arguments))
        }
        At::Turn(_) | At::End => None,
    }
}

/// The words of a filter, each once: a pasted one may repeat a word a thousand times.
fn words_of(filter: &str) -> Vec<&str> {
    let words: BTreeSet<&str> = filter.split_whitespace().collect();
    words.into_iter().collect()
}

impl FindingsView {
    /// Collects the findings of everything judged so far, keeping filter, grouping and place.
    pub fn collect(&mut self, model: &Model) {
        let mut rows = Vec::new();
        let mut names: HashMap<RuleId, (Arc<str>, Arc<str>)> = HashMap::new();
        let mut of: Option<&Arc<Policy>> = None;
        for (entry, session, replay) in model
            .entries
            .iter()
            .enumerate()
            .filter_map(|(at, entry)| Some((at, entry.session.as_ref()?, &entry.replay.as_ref()?.1)))
        {
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
            let taken = taken.map(|(call, judged)| (At::Call(call.at), &call.tool, judged));
            let others = replay.alternatives(None);
            let others = others.map(|other| (At::Alternative(other.at()), &other.call.tool, other.judged));
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
                    at: At::End,
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
        if self.by != GroupBy::Session {
            // Stable: within a group the order of the sessions stays.
            rows.sort_by(|a, b| a.group(self.by, model).cmp(b.group(self.by, model)));
        }
        self.rows = rows;
        self.judged = model.judged;
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
    #[must_use]
    pub fn row(&self) -> Option<&FindingRow> {
        self.rows.get(*self.shown.get(self.list.cursor)?)
    }
}

impl HelpView {
    /// The commands that pass the filter, in the order of the table.
    pub fn shown(&self) -> impl Iterator<Item = &'static keys::Row> {
        let filter = self.filter.to_lowercase();
        let words: Vec<String> = words_of(&filter).into_iter().map(str::to_owned).collect();
        keys::TABLE.iter().filter(move |row| {
            let mut fields = vec![row.doc, row.name, keys::heading(row.group)];
            fields.extend(row.keys);
            words.iter().all(|word| fields.iter().any(|field| contains(field, word)))
        })
    }
}
