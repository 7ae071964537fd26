//! `rulestep lsp`: the language server on standard input and output. The files, the threads and the order of events; what is
//! answered is the business of [`crate::lsp`].
//!
//! One thread reads the recordings once and counts them, so that no edit waits for it. A version that is counted while a
//! newer one of its folder waits is given up at the next session.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use lsp_server::Connection;

use super::args;
use super::exit::{Exit, Failure};
use crate::files::{self, Input};
use crate::lsp::evidence::{Recorded, count};
use crate::lsp::{Effect, Event, Server};
use crate::policy::Policy;
use crate::recording::Options;
use crate::session::Session;
use crate::workspace::Version;
use crate::workspace::opener::open;

/// Work for the other thread.
enum Job {
    Open(Vec<String>),
    Count { folder: String, policy: Arc<Policy>, number: u64 },
}

/// The newest count that is wanted of each folder.
type Wanted = Arc<RwLock<BTreeMap<String, u64>>>;

/// Runs the verb.
pub fn run(asked: &args::Lsp) -> Result<Exit, Failure> {
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
    let numbers = Arc::clone(&wanted);
    thread::spawn(move || work(&waiting, &events, &numbers));
    let code = serve(Server::new(asked.sessions.clone()), &connection, &arrived, &jobs, &wanted);
    drop(connection);
    let _ = threads.join();
    Ok(if code == 0 { Exit::Clean } else { Exit::Found })
}

/// Takes events until the end, and gives the exit code. An input that ends without a word is a failure.
fn serve(
    mut server: Server,
    connection: &Connection,
    arrived: &Receiver<Option<Event>>,
    jobs: &Sender<Job>,
    wanted: &Wanted,
) -> u8 {
    let mut number = 0;
    while let Ok(Some(event)) = arrived.recv() {
        let mut effects: std::collections::VecDeque<Effect> = server.handle(event).into();
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Send(message) => {
                    if connection.sender.send(message).is_err() {
                        return 1;
                    }
                }
                Effect::Read(folder) => {
                    let read = Version::beside(std::slice::from_ref(&folder), &[]);
                    effects.extend(server.handle(Event::Files(folder, read)));
                }
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

/// Reads and counts, one job after the other, the newest of each folder.
fn work(waiting: &Receiver<Job>, events: &Sender<Option<Event>>, wanted: &Wanted) {
    let mut sessions: Vec<Arc<Session>> = Vec::new();
    for job in waiting {
        let event = match job {
            Job::Open(named) => {
                // Editors open what is found by its whole path.
                let whole = |name: &String| {
                    std::path::absolute(name).map_or_else(|_| name.clone(), |path| path.display().to_string())
                };
                let named: Vec<String> = named.iter().map(whole).collect();
                let inputs = files::expand(&named).inputs.into_iter().filter(Input::is_regular);
                for reading in inputs.filter_map(|input| open(input, &Options::default()).ok()) {
                    sessions.extend(reading.map(Arc::new));
                }
                Some(Event::Recorded(Arc::new(Recorded::of(&sessions))))
            }
            Job::Count { folder, policy, number } => {
                let is_stale = || {
                    let newest = wanted.read().unwrap_or_else(PoisonError::into_inner);
                    newest.get(&folder) != Some(&number)
                };
                let base = || {
                    Version::beside(&["git:HEAD".to_owned()], std::slice::from_ref(&folder))
                        .load(None)
                        .policy
                        .ok()
                };
                let base = if is_stale() { None } else { base() };
                let counts = count(&sessions, &policy, base.as_ref(), &is_stale);
                counts.map(|counts| Event::Counted(folder.clone(), Arc::new(counts)))
            }
        };
        if event.is_some_and(|event| events.send(Some(event)).is_err()) {
            return;
        }
    }
}
