//! How the listed sessions exercise the rules, and their content: lists that are counted on another thread.

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

/// The subject of a count.
#[derive(Clone)]
pub struct SurveyWish {
    /// The policy; none where none ever loaded.
    pub policy: Option<Arc<Policy>>,
    /// The mode in which it decides.
    pub mode: Mode,
    /// The sessions in scope, in the order of their files: the list sorted again is not counted again.
    pub sessions: Vec<Arc<StoredSession>>,
    /// Files in scope that could not be read.
    pub unreadable: usize,
}

/// The latest request, and how much of it is counted.
pub struct SurveyQuery {
    /// The request's number.
    pub number: u64,
    /// The subject.
    pub wish: SurveyWish,
    /// Sessions counted so far.
    pub counted: usize,
    /// The counts.
    pub survey: Arc<Survey>,
    /// Findings from them about the policy; empty until all are counted.
    pub findings: Vec<Diagnostic>,
}

/// The shown list.
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
    /// The list.
    pub tab: Tab,
    /// The title.
    pub title: String,
    /// The meaning of each number of a row, the one that rows begin with first.
    pub heads: Vec<&'static str>,
    /// All rows.
    pub rows: Vec<SurveyRow>,
    /// Remarks on missing parts.
    pub notes: Vec<String>,
    /// The rows that pass the filter, in the order shown.
    pub shown: Vec<usize>,
    /// The cursor.
    pub list: List,
    /// The order.
    pub sort: Sort,
    /// Words that every row shown contains.
    pub filter: String,
}

/// The order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// The default: of rules, those that never fired first; else the greatest first.
    AsMade,
    /// One of the numbers, the greatest first.
    Number(usize),
    /// The name.
    Name,
}

/// A row.
#[derive(Clone)]
pub struct SurveyRow {
    /// Its name.
    pub name: String,
    /// One for each head.
    pub numbers: Vec<u64>,
    /// For a rule, how far it is exercised, its place and its answers.
    pub rule: Option<RuleRow>,
    /// The first call, or session, that it counts.
    pub first: Option<Occurrence>,
    /// The filter term that selects the sessions it counts.
    pub term: Option<String>,
}

/// The data of a rule.
#[derive(Clone)]
pub struct RuleRow {
    /// Its id.
    pub id: Arc<str>,
    /// Its place.
    pub place: String,
    /// How far it is exercised.
    pub exercise: Exercise,
    /// Whether it fired, and only ever reported calls.
    pub only_reports: bool,
    /// Its answers.
    pub answers: String,
}

impl SurveyWish {
    /// Whether it is the same question as another one.
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

    /// The order, in a word; `None` for the default.
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
