//! Background work: reading policies and recordings, judging sessions.

mod answer;
pub mod background;
mod judging;
mod reading;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use self::answer::{fault, tell};
use self::background::{Precedence, give_way};
use self::judging::{JudgesBench, Task};
use self::reading::{Looks, read_base, read_policies, read_sessions};
use super::{cases, export, frames, suggest, suppose, survey};
use crate::workbench::effect::{
    Effect, Export, FrameRequest, HiddenSearch, Job, Judge, Save, Search, Suppose, SurveyRequest, Wanted,
};
use crate::workbench::message::{Arrived, Msg};
use crate::workbench::model::Model;
use crate::workbench::model::hits::hits;
use crate::workbench::model::suggest::FileWrite;
use crate::workbench::popup;
use crate::workspace::Workspace;

/// Threads that read and judge, and their queues.
pub struct Workers {
    out: Sender<Arrived>,
    workspace: Arc<Workspace>,
    /// A token for each request to read the policy. One thread reads, so results arrive in order.
    policy: Sender<()>,
    /// The same for the recordings.
    sessions: Sender<()>,
    /// The number of each wish to judge the cases.
    cases: Sender<u64>,
    judges: rayon::ThreadPool,
    /// Judges the session on screen, without waiting for others.
    first: rayon::ThreadPool,
    /// Looks at turns: one thread for the frame on screen, one for a search.
    turns: rayon::ThreadPool,
    /// The numbers of the newest request for frames, and of the newest search for a hidden tool.
    frame: Arc<AtomicU64>,
    hidden: Arc<AtomicU64>,
    /// Counts sessions.
    counts: rayon::ThreadPool,
    /// The number of the newest request to count them.
    survey: Arc<AtomicU64>,
    /// The number of the newest job of each name.
    jobs: Mutex<HashMap<&'static str, Arc<AtomicU64>>>,
    /// Searches for witnesses, which may take a while.
    witnesses: rayon::ThreadPool,
    /// The number of the witness that is looked for; others are given up.
    witness: Arc<AtomicU64>,
    /// Searches sessions; the number of the newest search, so that older ones are given up.
    searches: rayon::ThreadPool,
    search: Arc<AtomicU64>,
    /// How sessions are judged; older requests are dropped where they are.
    bench: Arc<JudgesBench>,
    /// Keys precede background work.
    keys: Arc<Precedence>,
}

/// Sessions that a thread judges in one go, and reports together.
const TOGETHER: usize = 32;

impl Workers {
    /// Starts the threads; they sleep until there is something to do.
    ///
    /// # Errors The system provides no threads.
    pub fn start(
        workspace: Arc<Workspace>,
        keys: Arc<Precedence>,
        out: Sender<Arrived>,
    ) -> Result<Self, rayon::ThreadPoolBuildError> {
        let judges = rayon::ThreadPoolBuilder::new().thread_name(|at| format!("judge {at}"));
        let judges = judges.start_handler(|_| give_way()).build()?;
        let first = rayon::ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "judge first".to_owned());
        let first = first.build()?;
        let (kept, bench) = (Arc::clone(&workspace), Arc::new(JudgesBench::default()));
        let witnesses = rayon::ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "witness".to_owned());
        let witnesses = witnesses.build()?;
        let turns = rayon::ThreadPoolBuilder::new().num_threads(2).thread_name(|at| format!("turns {at}"));
        let turns = turns.build()?;
        let searches = rayon::ThreadPoolBuilder::new().thread_name(|at| format!("search {at}")).build()?;
        let (policy, wanted) = channel();
        let (source, tells) = (Arc::clone(&workspace), out.clone());
        thread::spawn(move || read_policies(&source, &wanted, &tells));
        let (sessions, wanted) = channel();
        let looks = Looks { bench: Arc::clone(&bench), keys: Arc::clone(&keys), out: out.clone() };
        thread::spawn(move || {
            give_way();
            read_sessions(&workspace, &wanted, &looks);
        });
        let (cases, wanted) = channel();
        let (source, tells) = (Arc::clone(&kept), out.clone());
        thread::spawn(move || cases::judge(&source, &wanted, &tells));
        let counts = rayon::ThreadPoolBuilder::new().thread_name(|at| format!("count {at}"));
        let counts = counts.start_handler(|_| give_way()).build()?;
        let (witness, frame, hidden, search, survey, jobs) = Default::default();
        Ok(Self {
            searches,
            search,
            out,
            workspace: kept,
            policy,
            sessions,
            cases,
            judges,
            first,
            turns,
            frame,
            hidden,
            counts,
            survey,
            jobs,
            witnesses,
            witness,
            bench,
            keys,
        })
    }

    /// Executes an effect that is background work; returns any other.
    pub fn perform(&self, effect: Effect) -> Option<Effect> {
        match effect {
            Effect::LoadPolicy => self.policy(),
            Effect::LoadBase(name) => self.base(name),
            Effect::LoadSessions => self.sessions(),
            // The thread lives as long as the program.
            Effect::Cases(number) => drop(self.cases.send(number)),
            Effect::Judge(judge) => self.judge(judge),
            Effect::Suppose(suppose) => self.suppose(suppose),
            Effect::Witness(wanted) => self.look(wanted),
            Effect::Job(job) => self.job(job),
            Effect::Frames(request) => self.frames(request),
            Effect::Hidden(search) => self.hidden(search),
            Effect::Survey(request) => self.survey(request),
            Effect::Write { write, undo } => self.write(*write, undo),
            Effect::Search(search) => self.search(search),
            Effect::Save(save) => self.save(save),
            Effect::Export(export) => self.export(export),
            other => return Some(other),
        }
        None
    }

    /// Reads the policy.
    pub fn policy(&self) {
        // The thread lives as long as the program.
        let _ = self.policy.send(());
    }

    /// Reads a version to compare with. That is rare, so it gets a thread of its own.
    fn base(&self, name: String) {
        let (workspace, out) = (Arc::clone(&self.workspace), self.out.clone());
        let asked = name.clone();
        let reads = move || {
            let read = catch_unwind(AssertUnwindSafe(|| read_base(&workspace, &name)));
            let read = read.unwrap_or_else(|_| Err("a fault of the program while reading it".to_owned()));
            tell(&out, Msg::Base { name, read });
        };
        if let Err(error) = thread::Builder::new().name("base".to_owned()).spawn(reads) {
            let read = Err(format!("no thread to read it with: {error}"));
            tell(&self.out, Msg::Base { name: asked, read });
        }
    }

    /// Reads the changed recordings.
    pub fn sessions(&self) {
        let _ = self.sessions.send(());
    }

    /// Judges the cases beside the policy.
    pub fn cases(&self, model: &mut Model) {
        let mut effects = Vec::new();
        popup::cases::ask(model, &mut effects);
        effects.into_iter().for_each(|effect| drop(self.perform(effect)));
    }

    /// Judges the supposed form of the session on screen.
    fn suppose(&self, asked: Box<Suppose>) {
        let out = self.out.clone();
        self.first.spawn_fifo(move || {
            let told = catch_unwind(AssertUnwindSafe(|| suppose::suppose(&asked)));
            tell(&out, told.unwrap_or_else(|_| fault("deciding the what-if")));
        });
    }

    /// Searches for a witness, and cancels an earlier search; with `None`, only cancels.
    fn look(&self, wanted: Option<Box<Wanted>>) {
        self.witness.store(wanted.as_ref().map_or(0, |wanted| wanted.number), Ordering::SeqCst);
        let Some(wanted) = wanted else { return };
        let (out, newest) = (self.out.clone(), Arc::clone(&self.witness));
        self.witnesses.spawn_fifo(move || {
            let told = catch_unwind(AssertUnwindSafe(|| suppose::look(&wanted, &newest)));
            let failed = |_| {
                tell(&out, Msg::Witness { number: wanted.number, found: None });
                fault("looking for a minimal example")
            };
            tell(&out, told.unwrap_or_else(failed));
        });
    }

    /// Makes the frames of a turn, and cancels an earlier request.
    fn frames(&self, request: Box<FrameRequest>) {
        let newest = Arc::clone(&self.frame);
        newest.store(request.number, Ordering::SeqCst);
        self.of_turns("looking at a turn", move || frames::make(&request, &newest));
    }

    /// Searches for a turn that hides a tool.
    fn hidden(&self, search: Box<HiddenSearch>) {
        let newest = Arc::clone(&self.hidden);
        newest.store(search.number, Ordering::SeqCst);
        self.of_turns("looking for a hidden tool", move || frames::look(&search, &newest));
    }

    fn of_turns(&self, what: &'static str, make: impl FnOnce() -> Option<Msg> + Send + 'static) {
        let out = self.out.clone();
        self.turns.spawn_fifo(move || {
            let made = catch_unwind(AssertUnwindSafe(make));
            if let Some(told) = made.unwrap_or_else(|_| Some(fault(what))) {
                tell(&out, told);
            }
        });
    }

    /// Counts sessions, and cancels an earlier count.
    fn survey(&self, request: Box<SurveyRequest>) {
        let (out, newest) = (self.out.clone(), Arc::clone(&self.survey));
        let workspace = Arc::clone(&self.workspace);
        newest.store(request.number, Ordering::SeqCst);
        self.counts.spawn_fifo(move || {
            let mut tells = |told| tell(&out, told);
            let count = || survey::count(&request, &workspace.levels(), &newest, &mut tells);
            let counted = catch_unwind(AssertUnwindSafe(count));
            if counted.is_err() {
                tell(&out, fault("counting the sessions"));
            }
        });
    }

    /// Executes a popup's request.
    fn job(&self, job: Job) {
        let Job { number, name, patient, work, lost } = job;
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = Arc::clone(jobs.entry(name).or_default());
        newest.store(number, Ordering::SeqCst);
        let (out, pool) = (self.out.clone(), if patient { &self.counts } else { &self.turns });
        pool.spawn_fifo(move || {
            let over = || newest.load(Ordering::SeqCst) != number;
            let made = catch_unwind(AssertUnwindSafe(|| if over() { None } else { work(&over) }));
            let failed = |_| {
                tell(&out, fault(name));
                lost
            };
            if let Some(answer) = made.unwrap_or_else(failed) {
                tell(&out, Msg::Answer(answer));
            }
        });
    }

    /// Writes a file of the policy.
    fn write(&self, write: FileWrite, undo: bool) {
        let out = self.out.clone();
        self.first.spawn_fifo(move || tell(&out, suggest::write(write, undo)));
    }

    /// Searches sessions, in the requested order as far as there are threads.
    fn search(&self, search: Search) {
        let Search { number, pattern, sessions } = search;
        self.search.store(number, Ordering::SeqCst);
        let mut sessions = sessions.into_iter().enumerate().peekable();
        while sessions.peek().is_some() {
            let together: Vec<_> = sessions.by_ref().take(TOGETHER).collect();
            let (out, newest, pattern) = (self.out.clone(), Arc::clone(&self.search), Arc::clone(&pattern));
            self.searches.spawn_fifo(move || {
                if newest.load(Ordering::SeqCst) != number {
                    return;
                }
                let found = catch_unwind(AssertUnwindSafe(|| hits(&together, &pattern)));
                let told = match found {
                    Ok(Ok(hits)) => Msg::Found { number, searched: together.len(), hits },
                    Ok(Err((id, error))) => Msg::Unrestored { id, error },
                    Err(_) => fault("searching a session"),
                };
                tell(&out, told);
            });
        }
    }

    /// Saves a case.
    fn save(&self, save: Box<Save>) {
        let out = self.out.clone();
        self.first.spawn_fifo(move || tell(&out, suppose::save(&save)));
    }

    /// Writes a document.
    fn export(&self, export: Box<Export>) {
        let out = self.out.clone();
        self.first.spawn_fifo(move || tell(&out, export::document(&export)));
    }

    /// Judges sessions, in the requested order as far as there are threads; the one on screen at once.
    fn judge(&self, judge: Judge) {
        let Judge { by, open, mut sessions } = judge;
        self.bench.set(&by);
        let task = |open, sessions| Task {
            by: Arc::clone(&by),
            open,
            sessions,
            bench: Arc::clone(&self.bench),
            keys: Arc::clone(&self.keys),
            out: self.out.clone(),
        };
        if open {
            let rest = sessions.split_off(1.min(sessions.len()));
            let task = task(true, std::mem::replace(&mut sessions, rest));
            self.first.spawn_fifo(move || task.run());
        }
        let mut sessions = sessions.into_iter().peekable();
        while sessions.peek().is_some() {
            let task = task(false, sessions.by_ref().take(TOGETHER).collect());
            self.judges.spawn_fifo(move || task.run());
        }
    }
}
