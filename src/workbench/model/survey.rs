//! What the sessions in scope say of the rules, and what they hold: lists that are counted on another thread.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Model;
use super::overlay::words_of;
use crate::engine::Mode;
use crate::explore::coverage::{Exercise, RuleUse};
use crate::explore::inventory::Inventory;
use crate::explore::occurrence::Occurrence;
use crate::explore::survey::Survey;
use crate::policy::Policy;
use crate::report::coverage::answered;
use crate::report::stats::sections;
use crate::report::words::{self, rule_name};
use crate::session::Session;
use crate::workbench::list::List;
use crate::workbench::transcript::contains;

/// What is counted.
#[derive(Clone)]
pub struct SurveyWish {
    /// The policy; none where none ever loaded.
    pub policy: Option<Arc<Policy>>,
    /// The mode in which it decides.
    pub mode: Mode,
    /// The sessions in scope, in the order of their files: the list sorted anew is not counted anew.
    pub sessions: Vec<Arc<Session>>,
    /// Files in scope that could not be read.
    pub unreadable: usize,
}

/// What was asked for last, and how much of it is counted.
pub struct SurveyQuery {
    /// The request's number.
    pub number: u64,
    /// What was asked for.
    pub wish: SurveyWish,
    /// Sessions counted so far.
    pub counted: usize,
    /// What they say and hold.
    pub survey: Arc<Survey>,
}

/// Which list is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// The rules.
    Rules,
    /// The tools that no rule is about.
    Tools,
    /// A list of the inventory, by place.
    List(usize),
}

/// A list on screen.
pub struct SurveyView {
    /// Which one.
    pub tab: Tab,
    /// What it lists.
    pub title: String,
    /// What each number of a row is, the one that rows begin with first.
    pub heads: Vec<&'static str>,
    /// All rows.
    pub rows: Vec<SurveyRow>,
    /// What is missing in them.
    pub notes: Vec<String>,
    /// The rows that pass the filter, in the order shown.
    pub shown: Vec<usize>,
    /// Where in those.
    pub list: List,
    /// What they are sorted by.
    pub sort: Sort,
    /// Words that every row shown contains.
    pub filter: String,
}

/// What rows are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// As the list is made: of rules, those that never fired first; else the greatest first.
    AsMade,
    /// One of the numbers, the greatest first.
    Number(usize),
    /// The name.
    Name,
}

/// A row.
#[derive(Clone)]
pub struct SurveyRow {
    /// What it is called.
    pub name: String,
    /// One for each head.
    pub numbers: Vec<u64>,
    /// Of a rule, how far it is exercised, where it is and what it answered.
    pub rule: Option<RuleRow>,
    /// The first call, or session, that it counts.
    pub first: Option<Occurrence>,
}

/// What there is to say of a rule.
#[derive(Clone)]
pub struct RuleRow {
    /// Its id.
    pub id: Arc<str>,
    /// Where it is.
    pub place: String,
    /// How far it is exercised.
    pub exercise: Exercise,
    /// What it was asked and answered.
    pub answers: String,
}

impl SurveyWish {
    /// Whether it asks for the same as another one.
    pub fn is(&self, other: &Self) -> bool {
        let policies = self.policy.as_ref().map(Arc::as_ptr) == other.policy.as_ref().map(Arc::as_ptr);
        let same = |(one, other): (&Arc<Session>, &Arc<Session>)| Arc::ptr_eq(one, other);
        policies
            && (self.mode, self.unreadable) == (other.mode, other.unreadable)
            && self.sessions.len() == other.sessions.len()
            && self.sessions.iter().zip(&other.sessions).all(same)
    }
}

impl Model {
    /// What is to be counted of the sessions in scope.
    pub fn survey_wish(&self) -> SurveyWish {
        let mut scope: Vec<usize> = self.scope().collect();
        scope.sort_unstable();
        let session = |at: &usize| self.archive.entries.get(*at)?.session.clone();
        let sessions: Vec<_> = scope.iter().filter_map(session).collect();
        let unreadable = scope.len() - sessions.len();
        SurveyWish { policy: self.basis.rules.policy.clone(), mode: self.basis.mode, sessions, unreadable }
    }

    /// How many of how many sessions are counted, while it is not all.
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

impl SurveyView {
    /// An empty list.
    pub fn new(tab: Tab) -> Self {
        Self {
            tab,
            title: String::new(),
            heads: Vec::new(),
            rows: Vec::new(),
            notes: Vec::new(),
            shown: Vec::new(),
            list: List::default(),
            sort: Sort::AsMade,
            filter: String::new(),
        }
    }

    /// Takes in what was counted, keeping filter, order and the row under the cursor.
    pub fn collect(&mut self, model: &Model) {
        let here = self.row().filter(|_| self.list.cursor > 0).map(|row| row.name.clone());
        let none = Arc::default();
        let survey = model.work.survey.as_ref().map_or(&none, |query| &query.survey);
        self.notes = Vec::new();
        match (self.tab, &model.basis.rules.policy) {
            (Tab::Rules, Some(policy)) => self.rules(survey, policy),
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

    fn rules(&mut self, survey: &Survey, policy: &Policy) {
        let mut rules = survey.coverage.of_policy(policy);
        // What never fired is what nobody sees anywhere else.
        rules.sort_by_key(|(_, _, used)| Reverse(used.exercise()));
        let count = |exercise| rules.iter().filter(|(_, _, used)| used.exercise() == exercise).count() as u64;
        let (never, passed) = (count(Exercise::NeverAsked), count(Exercise::Passed));
        let all = words::thousands(rules.len() as u64);
        self.title = match never + passed {
            0 => format!("Rules {all}: all of them fired"),
            quiet => format!(
                "Rules {all}: {} never fired, {} of them never asked",
                words::thousands(quiet),
                words::thousands(never)
            ),
        };
        if rules.is_empty() {
            self.title = "Rules 0".to_owned();
        }
        self.heads = vec!["stopped", "violated", "calls", "sessions"];
        let row = |(_, rule, used): (_, &crate::monitor::Rule, RuleUse)| SurveyRow {
            name: rule_name(rule),
            numbers: vec![used.stopped, used.violated, used.calls, used.sessions],
            first: used.extent.first.clone(),
            rule: Some(RuleRow {
                id: Arc::clone(&rule.id),
                place: rule.place(),
                exercise: used.exercise(),
                answers: answered(&used),
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
        let row = |row: crate::report::stats::Row<'_>| SurveyRow {
            name: row.shown(),
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

    /// The row under the cursor.
    pub fn row(&self) -> Option<&SurveyRow> {
        self.rows.get(*self.shown.get(self.list.cursor)?)
    }

    /// What they are sorted by, in a word; nothing of the order in which they are made.
    pub fn sorted_by(&self) -> Option<&'static str> {
        match self.sort {
            Sort::AsMade => None,
            Sort::Number(number) => self.heads.get(number).copied(),
            Sort::Name => Some("name"),
        }
    }

    /// The next order.
    pub fn next_sort(&self) -> Sort {
        // Lists of an inventory are made in the order of their first number.
        let first = usize::from(self.tab != Tab::Rules);
        match self.sort {
            Sort::AsMade if first < self.heads.len() => Sort::Number(first),
            Sort::Number(number) if number + 1 < self.heads.len() => Sort::Number(number + 1),
            Sort::AsMade | Sort::Number(_) => Sort::Name,
            Sort::Name => Sort::AsMade,
        }
    }

    /// The list `by` places on, around the end.
    pub fn tab_after(&self, by: isize) -> Tab {
        let lists = sections(&Inventory::default(), false).len();
        match self.tab {
            Tab::Rules => Tab::Tools,
            Tab::Tools => Tab::Rules,
            Tab::List(at) => Tab::List((at + lists).saturating_add_signed(by) % lists.max(1)),
        }
    }
}
