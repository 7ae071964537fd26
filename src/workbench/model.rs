//! The state of the workbench. Plain data: it is changed only by `update` and drawn by `draw`.

mod body;
pub mod cases;
pub mod changed;
pub mod changes;
pub mod compare;
pub mod entry;
pub mod files;
pub mod frame;
pub mod hits;
pub mod judgement;
pub mod live;
pub mod overlay;
mod places;
pub mod preferences;
pub mod read;
pub mod saved;
pub mod seen;
pub mod select;
pub mod suggest;
pub mod supposed;
pub mod survey;
pub mod table;
pub mod tester;
pub mod texts;
pub mod verdict;
pub mod work;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use ratatui::layout::Size;

use super::keys::{Command, Facts};
use super::layout::Pane;
use super::line::{self, Line, Link};
use super::list::List;
use super::theme::Theme;
use super::transcript::Rows;
use crate::explore::names::Names;
use rulestep_base::diagnostic::{Diagnostic, Severity, code};
use rulestep_base::session::Session;
use rulestep_engine::monitor::RuleId;
use rulestep_engine::policy::{Document, Policy};
use rulestep_engine::run::Mode;

pub use self::cases::CaseList;
pub use self::changes::{ChangeRow, Changes, Pair};
pub use self::compare::{Chosen, Compare};
pub use self::entry::Entry;
pub use self::files::{Files, Held, Lost};
pub use self::frame::{Framed, Frames, Taking};
pub use self::judgement::{Judgement, SessionDecisions};
pub use self::live::{Live, Load, Loads};
pub use self::overlay::{Count, Dialog, Note, Overlay, Prompt};
pub use self::places::OpenedSession;
pub use self::preferences::{Preferences, TerminalCaps, Welcome};
pub use self::read::{ReadSession, SessionChanges};
pub use self::supposed::Supposed;
pub use self::survey::SurveyQuery;
pub use self::table::SessionTable;
pub use self::verdict::SessionVerdict;
pub use self::work::{JudgedAgain, PendingHidden, PendingRule, Work};

/// The state of the workbench.
pub struct Model {
    /// The theme.
    pub theme: Theme,
    /// The terminal's size.
    pub size: Size,
    /// The recordings that were opened.
    pub archive: Archive,
    /// The policy and the base of the comparison.
    pub basis: Basis,
    /// What the user looks at.
    pub place: Location,
    /// The typed text and the overlays.
    pub dialog: Dialog,
    /// Requests to other threads.
    pub work: Work,
    /// The user's preferences.
    pub preferences: Preferences,
    /// Derived state for the screen.
    pub derived: Derived,
}

/// The recordings that were opened.
#[derive(Default)]
pub struct Archive {
    /// The files of recordings.
    pub files: Files,
    /// The list of sessions, and files without any, in the order of their files.
    pub entries: Vec<Entry>,
    /// The number of entries with a session.
    pub sessions: usize,
    /// How they are listed.
    pub table: SessionTable,
    /// The texts that they share.
    pub names: Names,
    /// The session that was open when it went.
    pub lost: Option<Lost>,
    /// Other problems of the recordings.
    pub problems: Vec<Diagnostic>,
    /// The built-in parts.
    pub built_in: BuiltIn,
    /// How far replays have left memory, because the sessions do not all fit into it.
    pub shed: usize,
}

/// The policy and the base of the comparison.
pub struct Basis {
    /// The name of the policy, for the header.
    pub name: String,
    /// The paths that the policy was read from; none if it is inside the program.
    pub paths: Vec<String>,
    /// The options that say how recordings and policies are read, as a command takes them.
    pub flags: Vec<String>,
    /// Whether decisions take effect.
    pub mode: Mode,
    /// The policy and its diagnostics.
    pub rules: Ruling,
    /// The writes to its files, the newest last.
    pub writes: Vec<suggest::FileWrite>,
    /// The latest write or undo, until the resulting policy is judged.
    pub wrote: Option<String>,
    /// The cases that are kept beside it.
    pub cases: CaseList,
    /// Whether edits are picked up.
    pub live: Live,
    /// The changes under the version that decides.
    pub changes: Changes,
    /// The user's comparison.
    pub compare: Compare,
}

/// What the user looks at, and the places before.
pub struct Location {
    /// The open entry.
    pub open: usize,
    /// Its session, with its content.
    pub opened: Option<OpenedSession>,
    /// The rule to go to once its decisions arrive.
    pub landing: Option<PendingRule>,
    /// The frames of the selected turn.
    pub frames: Frames,
    /// The same under the user's base.
    pub base_frames: Frames,
    /// The row that the cursor of a pane goes to once the selected turn's frame arrives.
    pub sought: Option<(Pane, line::Key)>,
    /// The rule that was selected in a side pane, shown until something else is selected.
    pub pinned: Option<RuleId>,
    /// The call that is marked, so that rules are about it and another one.
    pub other_call: Option<(Arc<Session>, u32)>,
    /// Cursor and scroll of each pane, by pane.
    pub lists: [List; Pane::COUNT],
    /// The horizontal scroll position of each pane.
    pub sideways: [Sideways; Pane::COUNT],
    /// The pane that has the keys.
    pub focus: Pane,
    /// The pane beside the transcript if only one fits.
    pub side: Pane,
    /// The focused pane takes all the room.
    pub zoom: bool,
    /// Rows that the person marked with a letter.
    pub marks: BTreeMap<char, Spot>,
    /// Places that jumps left.
    pub back: Vec<Spot>,
    /// Places that going back left.
    pub forward: Vec<Spot>,
}

/// The parts that are built into the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BuiltIn {
    /// The sessions are its samples.
    pub sessions: bool,
    /// The policy is its sample contracts.
    pub policy: bool,
}

/// The policy at work.
#[derive(Default)]
pub struct Ruling {
    /// The last version that loaded whole; `None` when none ever did.
    pub policy: Option<Arc<Policy>>,
    /// When it did.
    pub since: String,
    /// The versions that loaded whole, this one included.
    pub loads: Loads,
    /// The documents to show: of that version, or of one that never loaded whole.
    pub documents: Vec<Document>,
    /// The problems of the latest reading.
    pub problems: Vec<Diagnostic>,
    /// The latest reading was not whole, so an older version decides, or none.
    pub stale: bool,
    /// Something was read at all.
    pub read: bool,
}

/// State derived from the rest of the model: computed once after a change.
#[derive(Default)]
pub struct Derived {
    /// The rows of the open session's transcript.
    pub rows: Rows,
    /// The tools that are called in it.
    pub called: HashSet<Arc<str>>,
    /// The lines of each pane that is made of lines, at the width that it has.
    pub lines: [Option<Vec<Line>>; Pane::COUNT],
    /// The body of the selected row and its session, if there is room for it beside the transcript.
    pub body: Option<(Arc<Session>, overlay::BodyView)>,
    /// The targets of the row under the cursor, in the pane that has the keys.
    pub link: Link,
    /// Facts for the availability of commands.
    pub facts: Facts,
}

/// The horizontal scroll position of a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sideways {
    /// Columns that are out of sight at the left edge.
    pub out: usize,
    /// A hash of what the pane showed: other content begins at the left edge again.
    pub of: u64,
}

/// A place to come back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// The entry.
    pub entry: usize,
    /// The row of its transcript.
    pub row: usize,
}

/// The initial state of the workbench.
pub struct Opening {
    /// The theme.
    pub theme: Theme,
    /// The terminal's size.
    pub size: Size,
    /// The name of the policy.
    pub policy_name: String,
    /// Whether decisions take effect.
    pub mode: Mode,
}

impl Model {
    /// Before anything is read.
    pub fn new(opening: Opening) -> Self {
        Self {
            theme: opening.theme,
            size: opening.size,
            archive: Archive::default(),
            basis: Basis {
                name: opening.policy_name,
                paths: Vec::new(),
                flags: Vec::new(),
                mode: opening.mode,
                rules: Ruling::default(),
                writes: Vec::new(),
                wrote: None,
                cases: CaseList::default(),
                live: Live::default(),
                changes: Changes::default(),
                compare: Compare::default(),
            },
            place: Location {
                open: 0,
                opened: None,
                landing: None,
                frames: Frames::default(),
                base_frames: Frames::default(),
                sought: None,
                pinned: None,
                other_call: None,
                lists: [List::default(); Pane::COUNT],
                sideways: [Sideways::default(); Pane::COUNT],
                focus: Pane::Transcript,
                side: Pane::Decision,
                zoom: false,
                marks: BTreeMap::new(),
                back: Vec::new(),
                forward: Vec::new(),
            },
            dialog: Dialog::default(),
            work: Work {
                now: 0,
                reading: Some((0, 0)),
                asked: false,
                generation: 0,
                judged: 0,
                again: None,
                outdated: false,
                requests: 0,
                looking: None,
                frames: None,
                hidden: None,
                survey: None,
            },
            preferences: Preferences::default(),
            derived: Derived::default(),
        }
    }

    /// The first chord of a command.
    pub fn key(&self, command: Command) -> Cow<'_, str> {
        self.preferences.keymap.key(command)
    }

    /// Answers the last key, or says what has happened.
    pub fn say(&mut self, text: impl Into<String>) {
        self.dialog.note = Some(Note { failed: false, text: text.into() });
    }

    /// Says what did not work.
    pub fn fail(&mut self, text: impl Into<String>) {
        self.dialog.note = Some(Note { failed: true, text: text.into() });
    }

    /// Cursor and scroll of a pane.
    pub fn list(&self, pane: Pane) -> List {
        self.place.lists.get(pane as usize).copied().unwrap_or_default()
    }

    /// The lines of a pane that is made of lines.
    pub fn built(&self, pane: Pane) -> Option<&Vec<Line>> {
        self.derived.lines.get(pane as usize)?.as_ref()
    }

    /// Columns of a pane that are scrolled out of sight at its left edge.
    pub fn out(&self, pane: Pane) -> usize {
        self.place.sideways.get(pane as usize).map_or(0, |sideways| sideways.out)
    }

    /// Columns that are scrolled out of sight at the left edge of what has the keys.
    pub fn scrolled(&self) -> usize {
        if self.dialog.overlays.is_empty() { self.out(self.place.focus) } else { self.dialog.out() }
    }

    /// Cursor and scroll of a pane, to change them.
    pub fn list_mut(&mut self, pane: Pane) -> &mut List {
        #[expect(clippy::indexing_slicing, reason = "there is a list for every pane")]
        &mut self.place.lists[pane as usize]
    }

    /// The open entry.
    pub fn entry(&self) -> Option<&Entry> {
        self.archive.entries.get(self.place.open)
    }

    /// Entries that hold a session.
    pub fn session_count(&self) -> usize {
        self.archive.sessions
    }

    /// The progress of judging; `None` when it is done or impossible.
    pub fn judging(&self) -> Option<(usize, usize)> {
        self.basis.rules.policy.as_ref()?;
        let all = self.session_count();
        (self.work.judged < all).then_some((self.work.judged, all))
    }
}

/// Errors first, then by file and place: the first one is often the cause of the rest.
pub fn sort_problems(problems: &mut [Diagnostic]) {
    problems.sort_by_cached_key(|problem| {
        let place = problem.place();
        let file = place.map(|place| place.file().to_owned());
        let line = place.and_then(|place| place.line());
        let column = place.and_then(|place| place.position()).map(|position| position.column);
        // Something missing in a text that cannot be read to its end may come after the mistake.
        let follows = problem.code != code::SYNTAX;
        // A misspelt key is reported as unknown and as missing; the former says which.
        (problem.severity != Severity::Error, file, follows, line, column, problem.code == code::MISSING_KEY)
    });
}

impl Ruling {
    /// Whether there is nothing to judge by: no document at all, broken or whole.
    pub fn none(&self) -> bool {
        self.read && self.policy.is_none() && self.documents.is_empty()
    }

    /// The problem to name first; they are kept in order.
    pub fn first_problem(&self) -> Option<&Diagnostic> {
        self.problems.first()
    }
}
