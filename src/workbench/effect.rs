//! What `update` asks to be done: data, so that tests see it without doing it.

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
    /// Forget what is on the screen and draw everything.
    Redraw,
    /// Listen to the mouse, or leave it to the terminal.
    Mouse(bool),
    /// Go to the background of the shell.
    Suspend,
    /// Read the policy again.
    LoadPolicy,
    /// Read a version to compare with, called so.
    LoadBase(String),
    /// Read the recordings again, as far as they have changed.
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
    /// Judge what is supposed of the open session.
    Suppose(Box<Suppose>),
    /// Look for a witness; what was looked for before is given up. `None`: it is only given up.
    Witness(Option<Box<Wanted>>),
    /// Do what a popup asks for; what was asked for before by that name is void.
    Job(Job),
    /// Tell what is in a turn; what was asked for before is void.
    Frames(Box<FrameRequest>),
    /// Look for the next turn that hides a tool; what was looked for before is void.
    Hidden(Box<HiddenSearch>),
    /// Count what sessions say of the rules and what they hold; what was counted before is void.
    Survey(Box<SurveyRequest>),
    /// Write a file of the policy.
    Write {
        /// What is written.
        write: Box<FileWrite>,
        /// It takes back what was written before.
        undo: bool,
    },
    /// Judge the cases beside the policy; the number is that of the request.
    Cases(u64),
    /// Search sessions; what was looked for before is given up.
    Search(Search),
    /// Save a case.
    Save(Box<Save>),
    /// Let the person write a text in their editor.
    Compose {
        /// What it is for.
        ask: Ask,
        /// What stands there at first.
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
    /// Put text on the clipboard.
    Copy {
        /// The text.
        text: String,
        /// What it is, for the note afterwards.
        what: &'static str,
    },
}

/// A document about a session.
pub struct Export {
    /// The file.
    pub file: String,
    /// Whether one that is there is replaced.
    pub replace: bool,
    /// How it is written.
    pub output: &'static Output,
    /// What it is about.
    pub subject: Subject,
}

/// A request to judge what is supposed.
pub struct Suppose {
    /// Its number; the answer bears it.
    pub number: u64,
    /// What is supposed.
    pub premise: Premise,
}

/// Work beside the loop that a popup asks for.
pub struct Job {
    /// Its number among all requests.
    pub number: u64,
    /// What is done, in words.
    pub name: &'static str,
    /// It may take long, so everything else goes before it.
    pub patient: bool,
    /// Does it, unless what it is given says that something newer was asked for.
    pub work: Work,
    /// What is taken in where the program itself fails while doing it.
    pub lost: Option<Answer>,
}

/// What is done beside the loop.
pub type Work = Box<dyn FnOnce(&(dyn Fn() -> bool + Sync)) -> Option<Answer> + Send>;

/// What came of it, to be taken in by the popup that asked.
pub type Answer = Box<dyn FnOnce(&mut Model) + Send>;

/// A request for what is in a turn.
pub struct FrameRequest {
    /// Its number; the answer bears it.
    pub number: u64,
    /// What is to be known, a wish a version.
    pub wishes: Vec<FrameWish>,
}

/// A search for the next turn that hides a tool which the turn before it showed.
pub struct HiddenSearch {
    /// Its number; the answer bears it.
    pub number: u64,
    /// Where it looks.
    pub replay: Arc<Replay>,
    /// The turn it begins at, from 1.
    pub turn: u32,
    /// Towards the end.
    pub forward: bool,
}

/// A request to search sessions.
pub struct Search {
    /// Its number; answers bear it.
    pub number: u64,
    /// What is looked for.
    pub pattern: Arc<Pattern>,
    /// Places in the list of sessions, and the sessions.
    pub sessions: Vec<(usize, Arc<StoredSession>)>,
}

/// A request to count sessions.
pub struct SurveyRequest {
    /// Its number; answers bear it.
    pub number: u64,
    /// What is counted.
    pub wish: SurveyWish,
}

/// A request to look for the smallest part of a session that still shows something.
pub struct Wanted {
    /// Its number; the answer bears it.
    pub number: u64,
    /// The session.
    pub session: Arc<Session>,
    /// What it is compared with, where the other decision is to be shown; `None`: that the call is stopped is.
    pub against: Option<Arc<Comparison>>,
    /// The version that decides.
    pub policy: Arc<Policy>,
    /// Whether decisions take effect.
    pub mode: Mode,
    /// The call, by index.
    pub call: u32,
}

/// A session to be saved as a case, up to the turn of a call, with what was decided on that call.
pub struct Save {
    /// The file, which must not be there yet.
    pub file: String,
    /// What the case is called.
    pub name: String,
    /// What is to be said about it, a line each.
    pub comments: Vec<String>,
    /// The paths of the policy.
    pub policies: Vec<String>,
    /// Rules that are switched off, by the ends of their ids.
    pub without: Vec<Arc<str>>,
    /// What is in the policy's files just now does not load.
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
    /// How: from now on all are judged so.
    pub by: Arc<Judging>,
    /// The first of the sessions is on screen: it goes before everything else.
    pub open: bool,
    /// Places in the list of sessions, and the sessions.
    pub sessions: Vec<(usize, Arc<StoredSession>)>,
}

/// How sessions are judged.
pub struct Judging {
    /// The request's number; answers bear it.
    pub generation: u64,
    /// By which policy.
    pub policy: Arc<Policy>,
    /// Whether decisions take effect.
    pub mode: Mode,
    /// The comparison to be made as well.
    pub against: Option<Arc<Comparison>>,
    /// What its base decides is to be shown.
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
