//! `rulestep lsp`: the language server on standard input and output. The files, the threads and the order of events; what is
//! answered is the business of [`crate::lsp`].
//!
//! One thread reads the recordings once and counts them, another one reads folders of policies, so that no edit waits for
//! either. A version that is counted while a newer one of its folder waits is given up at the next session.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use clap::Args;
use lsp_server::Connection;

use super::verb::{ARGUMENTS, Exit, Exits, FAULT, Failure, Screen, Verb};
use crate::files;
use crate::lsp::evidence::{Problems, Recorded, count};
use crate::lsp::{Effect, Event, Server};
use crate::workspace::Version;
use crate::workspace::opener::open;
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::session::Session;
use rulestep_engine::policy::Policy;
use rulestep_recording::Options;

/// Work for the other thread.
enum Job {
    Open(Vec<String>),
    Count { folder: String, policy: Arc<Policy>, number: u64 },
}

/// The newest count that is wanted of each folder.
type Wanted = Arc<RwLock<BTreeMap<String, u64>>>;

/// Run a language server that checks and completes policy files in an editor (docs/editors.md)
#[derive(Debug, Args)]
pub struct Lsp {
    /// Recordings: files, folders or globs. The editor completes their tool names and argument paths, and shows how many of their
    /// calls each rule stops
    #[arg(value_name = "SESSIONS")]
    pub sessions: Vec<String>,
    /// For editors that pass it; there is no other way to talk to the server
    #[arg(long, hide = true)]
    pub stdio: bool,
}

impl Verb for Lsp {
    const NAME: &'static str = "lsp";
    const EXITS: Exits = &[
        (0, "the editor ended it with `shutdown` and `exit`"),
        (1, "the connection ended without `shutdown`"),
        ARGUMENTS,
        FAULT,
    ];

    fn run(&self, _: &mut Screen) -> Result<Exit, Failure> {
        let (connection, threads) = Connection::stdio();
        let (events, arrived) = channel();
        let (jobs, waiting) = channel();
        let wanted = Wanted::default();
        let incoming = connection.receiver.clone();
        let from_editor = events.clone();
        // Ends with the editor's input.
        thread::spawn(move || {
            for message in incoming {
                if from_editor.send(Some(Event::Message(message))).is_err() {
                    return;
                }
            }
            let _ = from_editor.send(None);
        });
        let (folders, to_read) = channel();
        let from_disk = events.clone();
        thread::spawn(move || read_folders(&to_read, &from_disk));
        let numbers = Arc::clone(&wanted);
        thread::spawn(move || work(&waiting, &events, &numbers));
        let code = serve(Server::new(self.sessions.clone()), &connection, &arrived, &folders, &jobs, &wanted);
        drop(connection);
        let _ = threads.join();
        Ok(if code == 0 { Exit::Clean } else { Exit::Found })
    }
}

/// Takes events until the end, and gives the exit code. An input that ends without a word is a failure.
fn serve(
    mut server: Server,
    connection: &Connection,
    arrived: &Receiver<Option<Event>>,
    folders: &Sender<String>,
    jobs: &Sender<Job>,
    wanted: &Wanted,
) -> u8 {
    let mut number = 0;
    while let Ok(Some(event)) = arrived.recv() {
        for effect in server.handle(event) {
            match effect {
                Effect::Send(message) => {
                    if connection.sender.send(message).is_err() {
                        return 1;
                    }
                }
                Effect::Read(folder) => drop(folders.send(folder)),
                Effect::Open(sessions) => drop(jobs.send(Job::Open(sessions))),
                Effect::Count(folder, policy) => {
                    number += 1;
                    let mut newest = wanted.write().unwrap_or_else(PoisonError::into_inner);
                    newest.insert(folder.clone(), number);
                    drop(jobs.send(Job::Count { folder, policy, number }));
                }
                Effect::Exit(code) => return code,
            }
        }
    }
    1
}

/// Reads folders. Each as it is when its turn comes, so that it is read once however often that was asked for by then.
fn read_folders(waiting: &Receiver<String>, events: &Sender<Option<Event>>) {
    while let Ok(first) = waiting.recv() {
        let folders: BTreeSet<String> = std::iter::once(first).chain(waiting.try_iter()).collect();
        for folder in folders {
            let read = || Event::Files(folder.clone(), Version::beside(std::slice::from_ref(&folder), &[]));
            let event = guarded(&format!("reading `{folder}`"), || Some(read()));
            if event.is_some_and(|event| events.send(Some(event)).is_err()) {
                return;
            }
        }
    }
}

/// Reads and counts, one job after the other, the newest of each folder.
fn work(waiting: &Receiver<Job>, events: &Sender<Option<Event>>, wanted: &Wanted) {
    let mut sessions: Vec<Arc<Session>> = Vec::new();
    for job in waiting {
        let event = match job {
            Job::Open(named) => guarded("reading the recordings", || {
                let mut problems = Problems::default();
                sessions = recordings(&named, &mut problems);
                Some(Event::Recorded(Arc::new(Recorded::of(&sessions, problems))))
            }),
            Job::Count { folder, policy, number } => {
                let doing = format!("counting calls under the rules in `{folder}`");
                guarded(&doing, || counts(&sessions, folder, &policy, number, wanted))
            }
        };
        if event.is_some_and(|event| events.send(Some(event)).is_err()) {
            return;
        }
    }
}

/// The event that some work leads to. A panic in it becomes a fault, and the thread continues with the next work.
fn guarded(doing: &str, work: impl FnOnce() -> Option<Event>) -> Option<Event> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Some(Event::Fault(doing.to_owned())))
}

/// The sessions of all files, each file once, and what is wrong with the files and the sessions.
fn recordings(named: &[String], problems: &mut Problems) -> Vec<Arc<Session>> {
    // Editors open what is found by its whole path.
    let whole = |name: &String| {
        std::path::absolute(name).map_or_else(|_| name.clone(), |path| path.display().to_string())
    };
    let named: Vec<String> = named.iter().map(whole).collect();
    let found = files::expand(&named);
    found.diagnostics.iter().for_each(|told| problems.push(told));
    let mut sessions = Vec::new();
    // The command line and the editor may name the same files.
    let mut read = BTreeSet::new();
    for input in found.inputs.into_iter().filter(|input| read.insert(input.path.clone())) {
        if !input.is_regular() {
            let message = "not a regular file, so the language server does not read it";
            problems.push(&Diagnostic::error(code::UNREADABLE_FILE, message).in_file(input.name));
            continue;
        }
        match open(input, &Options::default()) {
            Err(told) => problems.push(&told),
            Ok(mut reading) => {
                for session in reading.by_ref() {
                    session.diagnostics.iter().for_each(|told| problems.push(told));
                    sessions.push(Arc::new(session));
                }
                reading.diagnostics().iter().for_each(|told| problems.push(told));
            }
        }
    }
    if sessions.is_empty() && !problems.lose_calls() {
        problems.push(&Diagnostic::error(code::EMPTY_SESSION, "no session could be read"));
    }
    sessions
}

/// Counts under one version, unless a newer one of its folder waits.
fn counts(
    sessions: &[Arc<Session>],
    folder: String,
    policy: &Arc<Policy>,
    number: u64,
    wanted: &Wanted,
) -> Option<Event> {
    let is_stale = || {
        let newest = wanted.read().unwrap_or_else(PoisonError::into_inner);
        newest.get(&folder) != Some(&number)
    };
    if is_stale() {
        return None;
    }
    let head = Version::beside(&["git:HEAD".to_owned()], std::slice::from_ref(&folder));
    let base = head.load(None).policy.ok();
    let counts = count(sessions, policy, base.as_ref(), &is_stale)?;
    Some(Event::Counted(folder, Arc::new(counts)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_said_and_the_thread_goes_on() {
        let (jobs, waiting) = channel();
        let (events, arrived) = channel();
        let folder = "/nowhere".to_owned();
        assert!(jobs.send(folder).is_ok());
        drop(jobs);
        read_folders(&waiting, &events);
        assert!(matches!(arrived.try_recv(), Ok(Some(Event::Files(name, _))) if name == "/nowhere"));
        let event = guarded("counting", || std::panic::resume_unwind(Box::new("a fault")));
        assert!(matches!(event, Some(Event::Fault(doing)) if doing == "counting"));
    }
}
