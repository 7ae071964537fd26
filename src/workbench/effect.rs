//! Requests of `update`, as data, so that tests see them without executing them.

use std::sync::Arc;

use crate::case::Place;
use crate::compare::Comparison;
use crate::report::Output;
use crate::report::single::Subject;
use crate::stored::StoredSession;
use crate::workbench::model::Model;
use crate::workbench::model::frame::FrameWish;
use crate::workbench::model::hits::Pattern;
use crate::workbench::model::suggest::FileWrite;
use crate::workbench::model::supposed::{Ask, Premise};
use crate::workbench::model::survey::SurveyWish;
use rulestep_base::session::Session;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// Something to be done outside the model.
pub enum Effect {
    /// Leave.
    Quit,
    /// Clear the screen and draw everything.
    Redraw,
    /// Listen to the mouse, or leave it to the terminal.
    Mouse(bool),
    /// Go to the background of the shell.
    Suspend,
    /// Read the policy again.
    LoadPolicy,
    /// Read a version to compare with, called so.
    LoadBase(String),
    /// Read the changed recordings again.
    LoadSessions,
    /// Judge these sessions, in this order; requests made before are void.
    Judge(Judge),
    /// Let the person edit a file, then read policy and recordings again.
    Edit {
        /// The file.
        file: String,
        /// The line to start at, from 1.
        line: u32,
    },
    /// Judge the supposed form of the open session.
    Suppose(Box<Suppose>),
    /// Search for a witness; an earlier search is cancelled. `None`: only cancel.
    Witness(Option<Box<Wanted>>),
    /// Run a popup's job; an earlier one of that name is cancelled.
    Job(Job),
    /// Make the frames of a turn; an earlier request is cancelled.
    Frames(Box<FrameRequest>),
    /// Search for the next turn that hides a tool; an earlier search is cancelled.
    Hidden(Box<HiddenSearch>),
    /// Count how sessions exercise the rules and their content; an earlier count is cancelled.
    Survey(Box<SurveyRequest>),
    /// Write a file of the policy.
    Write {
        /// The file and its text.
        write: Box<FileWrite>,
        /// Whether it undoes an earlier write.
        undo: bool,
    },
    /// Judge the cases beside the policy; with the number of the request.
    Cases(u64),
    /// Search sessions; an earlier search is cancelled.
    Search(Search),
    /// Save a case.
    Save(Box<Save>),
    /// Let the person write a text in their editor.
    Compose {
        /// The purpose.
        ask: Ask,
        /// The initial text.
        text: String,
    },
    /// Write the screen, as it is drawn next, into a file as a picture.
    Picture {
        /// The file.
        file: String,
        /// Whether one that is there is replaced.
        replace: bool,
    },
    /// Write a document about a session into a file.
    Export(Box<Export>),
    /// Copy text to the clipboard.
    Copy {
        /// The text.
        text: String,
        /// A noun for it, for the note afterwards.
        what: &'static str,
    },
}

/// A document about a session.
pub struct Export {
    /// The file.
    pub file: String,
    /// Whether one that is there is replaced.
    pub replace: bool,
    /// The output format.
    pub output: &'static Output,
    /// The subject.
    pub subject: Subject,
}

/// A request to judge a supposed session.
pub struct Suppose {
    /// Its number, which the answer repeats.
    pub number: u64,
    /// The premise.
    pub premise: Premise,
}

/// A background job of a popup.
pub struct Job {
    /// Its number among all requests.
    pub number: u64,
    /// A noun phrase for it.
    pub name: &'static str,
    /// Whether it may take long, so that everything else has priority.
    pub patient: bool,
    /// Runs it; the argument says whether it was superseded.
    pub work: Work,
    /// The answer if the program itself fails in it.
    pub lost: Option<Answer>,
}

/// The work of a job.
pub type Work = Box<dyn FnOnce(&(dyn Fn() -> bool + Sync)) -> Option<Answer> + Send>;

/// The result, to be applied by the popup that requested it.
pub type Answer = Box<dyn FnOnce(&mut Model) + Send>;

/// A request for the frames of a turn.
pub struct FrameRequest {
    /// Its number, which the answer repeats.
    pub number: u64,
    /// The requested frames, one wish per version.
    pub wishes: Vec<FrameWish>,
}

/// A search for the next turn that hides a tool which the turn before it showed.
pub struct HiddenSearch {
    /// Its number, which the answer repeats.
    pub number: u64,
    /// The replay to search.
    pub replay: Arc<Replay>,
    /// The turn it begins at, from 1.
    pub turn: u32,
    /// Towards the end.
    pub forward: bool,
}

/// A request to search sessions.
pub struct Search {
    /// Its number, which answers repeat.
    pub number: u64,
    /// The pattern.
    pub pattern: Arc<Pattern>,
    /// Places in the list of sessions, and the sessions.
    pub sessions: Vec<(usize, Arc<StoredSession>)>,
}

/// A request to count sessions.
pub struct SurveyRequest {
    /// Its number, which answers repeat.
    pub number: u64,
    /// The subject of the count.
    pub wish: SurveyWish,
}

/// A request for the smallest part of a session that still shows something.
pub struct Wanted {
    /// Its number, which the answer repeats.
    pub number: u64,
    /// The session.
    pub session: Arc<Session>,
    /// The comparison, if a different decision is to be shown; `None`: a stopped call is to be shown.
    pub against: Option<Arc<Comparison>>,
    /// The version that decides.
    pub policy: Arc<Policy>,
    /// Whether decisions take effect.
    pub mode: Mode,
    /// The call, by index.
    pub call: u32,
}

/// A session to be saved as a case, up to the turn of a call, with the decision on that call.
pub struct Save {
    /// The file, which must not be there yet.
    pub file: String,
    /// The name of the case.
    pub name: String,
    /// Its comments, a line each.
    pub comments: Vec<String>,
    /// The paths of the policy.
    pub policies: Vec<String>,
    /// Rules that are switched off, by the ends of their ids.
    pub without: Vec<Arc<str>>,
    /// Whether the current files of the policy do not load.
    pub stale: bool,
    /// The session.
    pub session: Arc<Session>,
    /// The policy at work, without the rules that are switched off.
    pub policy: Arc<Policy>,
    /// The mode it is judged in.
    pub mode: Mode,
    /// The call.
    pub call: Place,
    /// Its turn, from 1.
    pub turn: u32,
}

/// A request to judge sessions.
pub struct Judge {
    /// The settings, which hold for all sessions from now on.
    pub by: Arc<Judging>,
    /// Whether the first of the sessions is on screen and has priority.
    pub open: bool,
    /// Places in the list of sessions, and the sessions.
    pub sessions: Vec<(usize, Arc<StoredSession>)>,
}

/// The settings for judging sessions.
pub struct Judging {
    /// The request's number; answers bear it.
    pub generation: u64,
    /// The policy.
    pub policy: Arc<Policy>,
    /// Whether decisions take effect.
    pub mode: Mode,
    /// The comparison to be made as well.
    pub against: Option<Arc<Comparison>>,
    /// Whether the decisions of its base are to be shown.
    pub beside: bool,
}

impl Job {
    /// Work that is soon done.
    pub fn new(
        number: u64,
        name: &'static str,
        work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> Option<Answer> + Send + 'static,
    ) -> Job {
        Job { number, name, patient: false, work: Box::new(work), lost: None }
    }
}

impl std::fmt::Debug for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Quit => f.write_str("Quit"),
            Self::Redraw => f.write_str("Redraw"),
            Self::Mouse(on) => write!(f, "Mouse({on})"),
            Self::Suspend => f.write_str("Suspend"),
            Self::LoadPolicy => f.write_str("LoadPolicy"),
            Self::LoadBase(name) => write!(f, "LoadBase({name})"),
            Self::LoadSessions => f.write_str("LoadSessions"),
            Self::Judge(judge) => {
                let places: Vec<usize> = judge.sessions.iter().map(|(place, _)| *place).collect();
                write!(f, "Judge({} {} {places:?})", judge.by.generation, judge.by.mode.word())
            }
            Self::Edit { file, line } => write!(f, "Edit({file}:{line})"),
            Self::Suppose(suppose) => write!(f, "Suppose({})", suppose.number),
            Self::Witness(None) => f.write_str("Witness(none)"),
            Self::Witness(Some(wanted)) => write!(f, "Witness({} call {})", wanted.number, wanted.call),
            Self::Job(job) => write!(f, "Job({} {})", job.number, job.name),
            Self::Frames(request) => write!(f, "Frames({})", request.number),
            Self::Hidden(search) => write!(f, "Hidden({} from turn {})", search.number, search.turn),
            Self::Survey(request) => write!(f, "Survey({})", request.wish.sessions.len()),
            Self::Write { write, undo } => write!(f, "Write({}, {undo})", write.file),
            Self::Cases(number) => write!(f, "Cases({number})"),
            Self::Search(search) => write!(f, "Search({} {})", search.number, search.pattern.text),
            Self::Save(save) => write!(f, "Save({})", save.file),
            Self::Compose { ask, text } => write!(f, "Compose({ask:?}: {text:?})"),
            Self::Picture { file, replace } => write!(f, "Picture({file}, {replace})"),
            Self::Export(export) => {
                write!(f, "Export({} {}, {})", export.output.name, export.file, export.replace)
            }
            Self::Copy { text, what } => write!(f, "Copy({what}: {text:?})"),
        }
    }
}
