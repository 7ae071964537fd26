//! The rows of the lists, from the counts of the listed sessions.

use std::cmp::Reverse;
use std::sync::Arc;

use super::{RuleRow, Sort, SurveyRow, SurveyView, SurveyWish, Tab};
use crate::explore::coverage::{Exercise, RuleUse};
use crate::explore::filter::term_of;
use crate::explore::inventory::Inventory;
use crate::explore::occurrence::Occurrence;
use crate::explore::survey::Survey;
use crate::report::coverage::answered;
use crate::report::stats::{Ask, sections};
use crate::report::words::{self, rule_name};
use crate::workbench::model::Model;
use crate::workbench::model::overlay::words_of;
use crate::workbench::transcript::contains;
use rulestep_engine::policy::Policy;
use rulestep_engine::run::Mode;

impl Model {
    /// What is to be counted of the listed sessions.
    pub fn survey_wish(&self) -> SurveyWish {
        let mut scope: Vec<usize> = self.scope().collect();
        scope.sort_unstable();
        let session = |at: &usize| self.archive.entries.get(*at)?.session.clone();
        let sessions: Vec<_> = scope.iter().filter_map(session).collect();
        let unreadable = scope.len() - sessions.len();
        SurveyWish { policy: self.basis.rules.policy.clone(), mode: self.basis.mode, sessions, unreadable }
    }

    /// The progress of counting, until it is done.
    pub fn surveying(&self) -> Option<(usize, usize)> {
        let query = self.work.survey.as_ref()?;
        let all = query.wish.sessions.len();
        (query.counted < all).then_some((query.counted, all))
    }

    /// The entry and the place in it.
    pub fn entry_of(&self, occurrence: &Occurrence) -> Option<usize> {
        self.archive.entries.iter().position(|entry| {
            entry.session.as_ref().is_some_and(|session| {
                (&session.origin.file, session.origin.index, &session.id)
                    == (&occurrence.file, occurrence.index, &occurrence.session)
            })
        })
    }
}

/// The filter term for a row of an inventory. A missing value is expressed by the recorded ones.
fn term(asks: Ask, name: Option<&str>) -> Option<String> {
    match (asks, name) {
        (Ask::Key(key), Some(name)) => Some(term_of(Some(key), name, true)),
        (Ask::Key(key), None) => Some(format!("!{key}:/^/")),
        // A host that the settings of a program name.
        (Ask::Text, Some(name)) if name.starts_with('(') => None,
        (Ask::Text, Some(name)) => Some(term_of(None, name, false)),
        (Ask::Program, Some(name)) => Some(spelt_out(name.split(' '))),
        (Ask::File, Some(name)) => Some(spelt_out([name.rsplit('/').next().unwrap_or(name)])),
        (Ask::Text | Ask::Program | Ask::File, None) | (Ask::Nothing, _) => None,
        // `until` is exclusive.
        (Ask::Day, Some(day)) => {
            let next = day.parse::<jiff::civil::Date>().ok()?.tomorrow().ok()?;
            Some(format!("since:{day} until:{next}"))
        }
        (Ask::Day, None) => Some("!since:0001-01-01".to_owned()),
    }
}

/// The term that finds these words, each as a whole one, in this order: `ls` is not in `else`.
fn spelt_out<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let edge = |c: Option<char>| c.filter(|c| c.is_alphanumeric() || *c == '_').map_or("", |_| "\\b");
    let whole = |word: &str| {
        let (first, last) = (edge(word.chars().next()), edge(word.chars().next_back()));
        format!("{first}{}{last}", regex::escape(word).replace('/', "\\/"))
    };
    let words: Vec<String> = words.into_iter().map(whole).collect();
    format!("/{}/", words.join(".*"))
}

impl SurveyView {
    /// Takes the counts, keeping filter, order and the row under the cursor.
    pub fn collect(&mut self, model: &Model) {
        let here = self.row().filter(|_| self.list.cursor > 0).map(|row| row.name.clone());
        let none = Arc::default();
        let survey = model.work.survey.as_ref().map_or(&none, |query| &query.survey);
        self.notes = Vec::new();
        match (self.tab, &model.basis.rules.policy) {
            (Tab::Rules, Some(policy)) => self.rules(survey, policy, model.basis.mode),
            (Tab::Tools, Some(policy)) => self.ungoverned(survey, policy),
            (Tab::List(at), policy) => self.inventory(&survey.inventory, policy.is_some(), at),
            (Tab::Rules | Tab::Tools, None) => {
                self.title = "Rules".to_owned();
                self.rows = Vec::new();
                self.notes = vec!["no policy is loaded, so there are no rules".to_owned()];
            }
        }
        // Numbers that leave something out say so before anything else.
        let unreadable = model.work.survey.as_ref().map_or(0, |query| query.wish.unreadable);
        if unreadable > 0 {
            let files = words::count(unreadable as u64, "unreadable file");
            self.notes.insert(0, format!("not counted: {files}"));
        }
        self.sift(model);
        let same = |at: &usize| self.rows.get(*at).map(|row| &row.name) == here.as_ref();
        self.list.cursor = here.as_ref().and_then(|_| self.shown.iter().position(same)).unwrap_or(0);
    }

    fn rules(&mut self, survey: &Survey, policy: &Policy, mode: Mode) {
        let mut rules = survey.coverage.of_policy(policy);
        // Rules that never fired are not visible anywhere else.
        rules.sort_by_key(|(_, _, used)| Reverse(used.exercise()));
        let count = |exercise| rules.iter().filter(|(_, _, used)| used.exercise() == exercise).count() as u64;
        let (never, passed) = (count(Exercise::NeverAsked), count(Exercise::Passed));
        let all = words::thousands(rules.len() as u64);
        self.title = match never + passed {
            0 => format!("Rules {all}: all of them have findings"),
            quiet => format!(
                "Rules {all}: {} without findings ({} never checked)",
                words::thousands(quiet),
                words::thousands(never)
            ),
        };
        if rules.is_empty() {
            self.title = "Rules 0".to_owned();
        }
        self.heads = vec!["findings", words::stopped(mode), "violated", "calls", "sessions"];
        let row = |(_, rule, used): (_, &rulestep_engine::monitor::Rule, RuleUse)| SurveyRow {
            name: rule_name(rule),
            numbers: vec![used.fired(), used.stopped, used.violated, used.calls, used.sessions],
            first: used.extent.first.clone(),
            term: None,
            rule: Some(RuleRow {
                id: Arc::clone(&rule.id),
                place: rule.place(),
                exercise: used.exercise(),
                only_reports: used.only_reports(),
                answers: answered(&used, mode),
            }),
        };
        self.rows = rules.into_iter().map(row).collect();
    }

    fn ungoverned(&mut self, survey: &Survey, policy: &Policy) {
        let tools = survey.coverage.ungoverned(policy).into_iter();
        let row = |(tool, calls): (&Arc<str>, u64)| SurveyRow {
            name: words::line(tool),
            numbers: vec![calls],
            rule: None,
            first: survey.inventory.tools.get(tool).and_then(|row| row.first.clone()),
            term: Some(term_of(Some("tool"), tool, true)),
        };
        self.rows = tools.map(row).collect();
        self.heads = vec!["calls"];
        let all = words::thousands(survey.coverage.tools.len() as u64);
        self.title = format!("Tools without a rule, {} of {all}", words::thousands(self.rows.len() as u64));
    }

    fn inventory(&mut self, inventory: &Inventory, judged: bool, at: usize) {
        let Some(section) = sections(inventory, judged).into_iter().nth(at) else { return };
        self.title = format!("Inventory: {}", section.title);
        self.heads = section.heads;
        self.notes = section.notes;
        let asks = section.asks;
        let row = |row: crate::report::stats::Row<'_>| SurveyRow {
            name: row.shown(),
            term: term(asks, row.name.as_deref()),
            numbers: row.numbers,
            rule: None,
            first: row.first.cloned(),
        };
        self.rows = section.rows.into_iter().map(row).collect();
    }

    /// Keeps the rows that pass the filter, in their order.
    pub fn sift(&mut self, _: &Model) {
        let filter = self.filter.to_lowercase();
        let words = words_of(&filter);
        let passes = |row: &SurveyRow| {
            let rule = row.rule.as_ref();
            let fields = [&*row.name, rule.map_or("", |rule| &rule.id), rule.map_or("", |rule| &rule.place)];
            words.iter().all(|word| fields.iter().any(|field| contains(field, word)))
        };
        let rows = self.rows.iter().enumerate();
        let mut shown: Vec<(usize, &SurveyRow)> = rows.filter(|(_, row)| passes(row)).collect();
        match self.sort {
            Sort::AsMade => {}
            Sort::Number(number) => shown.sort_by_key(|(_, row)| Reverse(row.numbers.get(number).copied())),
            Sort::Name => shown.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name)),
        }
        self.shown = shown.into_iter().map(|(at, _)| at).collect();
    }
}
