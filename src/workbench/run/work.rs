//! Work beside the loop: reading policies and recordings, judging sessions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

use super::{Arrived, Supply};
use crate::replay::Replay;
use crate::workbench::effect::Judge;
use crate::workbench::message::Msg;

/// Threads that judge, and what they are told.
pub struct Workers {
    supply: Arc<dyn Supply>,
    out: Sender<Arrived>,
    judges: rayon::ThreadPool,
    /// The number of the newest request; older ones are dropped where they stand.
    newest: Arc<AtomicU64>,
}

impl Workers {
    /// Starts the threads; they sleep until there is something to do.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn start(supply: Arc<dyn Supply>, out: Sender<Arrived>) -> Result<Self, rayon::ThreadPoolBuildError> {
        let judges = rayon::ThreadPoolBuilder::new().thread_name(|at| format!("judge {at}")).build()?;
        Ok(Self { supply, out, judges, newest: Arc::default() })
    }

    /// Reads the policy.
    pub fn policy(&self) {
        let (supply, out) = (Arc::clone(&self.supply), self.out.clone());
        thread::spawn(move || {
            let at = supply.now();
            let loaded = catch_unwind(AssertUnwindSafe(|| Box::new(supply.policy())));
            tell(
                &out,
                loaded.map_or_else(|_| fault("reading the policy"), |loaded| Msg::Policy { loaded, at }),
            );
        });
    }

    /// Reads the recordings, file by file.
    pub fn sessions(&self) {
        let (supply, out) = (Arc::clone(&self.supply), self.out.clone());
        thread::spawn(move || {
            let read = catch_unwind(AssertUnwindSafe(|| supply.sessions(&mut |message| tell(&out, message))));
            if read.is_err() {
                tell(&out, fault("reading the recordings"));
                tell(&out, Msg::SessionsEnd { diagnostics: Vec::new() });
            }
        });
    }

    /// Judges sessions, in the order asked as far as there are threads.
    pub fn judge(&self, judge: Judge) {
        self.newest.fetch_max(judge.generation, Ordering::SeqCst);
        let Judge { generation, policy, mode, sessions } = judge;
        for (at, session) in sessions {
            let (policy, out) = (Arc::clone(&policy), self.out.clone());
            let newest = Arc::clone(&self.newest);
            self.judges.spawn_fifo(move || {
                if newest.load(Ordering::SeqCst) > generation {
                    return;
                }
                let replay = catch_unwind(AssertUnwindSafe(|| Replay::new(&session, &policy, mode)));
                tell(
                    &out,
                    match replay {
                        Ok(replay) => Msg::Judged { generation, replays: vec![(at, Box::new(replay))] },
                        Err(_) => fault("judging a session"),
                    },
                );
            });
        }
    }
}

fn tell(out: &Sender<Arrived>, message: Msg) {
    // Nobody listens once the workbench is closed.
    let _ = out.send(Arrived::Work(message));
}

fn fault(what: &str) -> Msg {
    Msg::Note { failed: true, text: format!("a fault of the program while {what}; the rest goes on") }
}
