//! What lies over the panes: a body, the list of findings, the list of commands, the list of problems; and
//! the line in which text is typed.

use std::collections::BTreeSet;
use std::sync::Arc;

use tui_input::Input;

use super::cases::CasesView;
use super::hits::HitsView;
use super::palette::PaletteView;
use super::suggest::{DraftView, SuggestView};
use super::supposed::Ask;
use super::survey::SurveyView;
use super::tester::TesterView;
use super::texts::TextsView;
use super::way_out::WayOutView;
use crate::compare::ChangePlace;
use crate::explore::filter::Filter;
use crate::workbench::document::Document;
use crate::workbench::keys::{self, Scope};
use crate::workbench::list::List;
use crate::workbench::theme::{Glyph, Role};
use rulestep_base::diagnostic::{Code, Diagnostic};
use rulestep_engine::monitor::{Effect, RuleId};

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
    /// Where something was found in all sessions.
    Hits(Box<HitsView>),
    /// The text of two versions.
    Texts(Box<TextsView>),
    /// Commands to run by name.
    Palette(PaletteView),
    /// What the sessions say of the rules, and what they hold.
    Survey(SurveyView),
    /// The cases beside the policy.
    Cases(CasesView),
    /// The way out of a stopped call.
    WayOut(WayOutView),
    /// Rules about the tool of a call.
    Suggest(Box<SuggestView>),
    /// A file as it would be with one of them.
    Draft(Box<DraftView>),
    /// An expression that is tried.
    Tester(Box<TesterView>),
    /// The reference page of a key.
    Reference(ReferenceView),
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
    /// The filter as it is typed, in the language of all lists.
    pub filter: String,
    /// The last one that could be understood: what the rows pass.
    pub sieve: Filter,
    /// What is wrong with the typed one.
    pub wrong: Option<String>,
    /// The one rule, by id and name, that they are about, where it is one.
    pub only: Option<(Arc<str>, String)>,
    /// How many sessions had been judged when they were collected.
    pub judged: usize,
}

/// A finding of some session.
#[derive(Debug, Clone)]
pub struct FindingRow {
    /// The entry.
    pub entry: usize,
    /// What its session is called.
    pub session: Arc<str>,
    /// The call, of a choice that was not taken as well; or the end: it is about the session as a whole.
    pub at: ChangePlace,
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
    /// The states of its call, as filters ask for them, a bit each.
    pub states: u16,
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

/// The reference page of a key, or of several on one line.
pub struct ReferenceView {
    /// The key, as it is asked for.
    pub title: String,
    /// The page.
    pub lines: Vec<String>,
    /// Where in it.
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
    pub fn scope(&self) -> Scope {
        match self {
            Self::Body(_) => Scope::Body,
            Self::Findings(_) => Scope::Findings,
            Self::Help(_)
            | Self::Problems(_)
            | Self::Loads(_)
            | Self::Hits(_)
            | Self::Palette(_)
            | Self::Cases(_)
            | Self::WayOut(_)
            | Self::Suggest(_)
            | Self::Draft(_)
            | Self::Tester(_)
            | Self::Reference(_) => Scope::Help,
            Self::Texts(_) => Scope::Texts,
            Self::Survey(_) => Scope::Survey,
        }
    }
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

/// The words of a filter, each once: a pasted one may repeat a word a thousand times.
pub fn words_of(filter: &str) -> Vec<&str> {
    let words: BTreeSet<&str> = filter.split_whitespace().collect();
    words.into_iter().collect()
}

/// A row of help.
#[derive(Clone, Copy)]
pub enum HelpRow {
    /// A command.
    Command(&'static keys::Row),
    /// A mark and what it means.
    Glyph(Glyph),
    /// A sign that is no command, mark or colour: what it is listed under, the sign, and what it means.
    Note(&'static str, &'static str, &'static str),
    /// A colour and what it means.
    Role(Role),
}

impl HelpRow {
    /// Under which heading it is.
    pub const fn heading(&self) -> &'static str {
        match self {
            Self::Command(row) => keys::heading(row),
            Self::Glyph(_) => "Marks",
            Self::Note(heading, ..) => heading,
            Self::Role(_) => "Colours",
        }
    }

    /// What it says.
    pub fn doc(&self) -> &'static str {
        match self {
            Self::Command(row) => row.doc,
            Self::Glyph(glyph) => glyph.doc(),
            Self::Note(_, _, doc) => doc,
            Self::Role(role) => role.doc().trim_end_matches('.'),
        }
    }
}
