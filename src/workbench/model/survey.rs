//! What the sessions in scope say of the rules, and what they hold: lists that are counted on another thread.

mod collect;

use std::sync::Arc;

use crate::explore::coverage::Exercise;
use crate::explore::inventory::Inventory;
use crate::explore::occurrence::Occurrence;
use crate::explore::survey::Survey;
use crate::report::stats::sections;
use crate::stored::StoredSession;
use crate::workbench::list::List;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_engine::policy::Policy;
use rulestep_engine::run::Mode;

/// What is counted.
#[derive(Clone)]
pub struct SurveyWish {
    /// The policy; none where none ever loaded.
    pub policy: Option<Arc<Policy>>,
    /// The mode in which it decides.
    pub mode: Mode,
    /// The sessions in scope, in the order of their files: the list sorted anew is not counted anew.
    pub sessions: Vec<Arc<StoredSession>>,
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
    /// What that says against the policy; nothing until all are counted.
    pub findings: Vec<Diagnostic>,
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
    /// The term of the filter of the list of sessions that asks for what it counts.
    pub term: Option<String>,
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
    /// It fired, and only ever reported calls.
    pub only_reports: bool,
    /// What it was asked and answered.
    pub answers: String,
}

impl SurveyWish {
    /// Whether it asks for the same as another one.
    pub fn is(&self, other: &Self) -> bool {
        let policies = self.policy.as_ref().map(Arc::as_ptr) == other.policy.as_ref().map(Arc::as_ptr);
        let same = |(one, other): (&Arc<StoredSession>, &Arc<StoredSession>)| Arc::ptr_eq(one, other);
        policies
            && (self.mode, self.unreadable) == (other.mode, other.unreadable)
            && self.sessions.len() == other.sessions.len()
            && self.sessions.iter().zip(&other.sessions).all(same)
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
