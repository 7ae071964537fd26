//! Reading policies and recordings as often as that is wanted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::answer::{fault, tell};
use crate::compare::Base;
use crate::diagnostic::Diagnostic;
use crate::workbench::message::{Arrived, Event, Msg};
use crate::workbench::model::sort_problems;
use crate::workspace::Workspace;

/// A reading of the recordings after which there is a rest, how many times as long that is, and how long at most.
const LONG: Duration = Duration::from_millis(100);
const REST: u32 = 3;
const LONGEST_REST: Duration = Duration::from_secs(1);

/// Reads a version to compare with, as the person called it; in one line why there is none.
pub(super) fn read_base(workspace: &Workspace, name: &str) -> Result<Base, String> {
    workspace.base(&[name.to_owned()]).map_err(|undecided| {
        let mut told = undecided.into_diagnostics();
        sort_problems(&mut told);
        match told.as_slice() {
            [] => format!("`{name}` does not load"),
            [one] => plain(one),
            [first, rest @ ..] => format!("{}, and {} more", plain(first), rest.len()),
        }
    })
}

/// Where and what, in a line.
fn plain(told: &Diagnostic) -> String {
    match told.place() {
        Some(place) => match place.line() {
            Some(line) => format!("{}:{line}: {}", place.file(), told.message),
            None => format!("{}: {}", place.file(), told.message),
        },
        None => told.message.clone(),
    }
}

/// Reads the policy as often as it is wanted; wishes that come while it is read are one.
pub(super) fn read_policies(workspace: &Workspace, wanted: &Receiver<()>, out: &Sender<Arrived>) {
    while wanted.recv().is_ok() {
        wanted.try_iter().for_each(drop);
        let at = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
        let loaded = catch_unwind(AssertUnwindSafe(|| Box::new(workspace.policy())));
        tell(out, loaded.map_or_else(|_| fault("reading the policy"), |loaded| Msg::Policy { loaded, at }));
    }
}

/// Reads the recordings as often as it is wanted, and once more when one that was being written has come to rest.
pub(super) fn read_sessions(workspace: &Workspace, wanted: &Receiver<()>, out: &Sender<Arrived>) {
    let mut rests = None;
    loop {
        let wish = match rests {
            None => wanted.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(rests) => wanted.recv_timeout(rests),
        };
        if wish == Err(RecvTimeoutError::Disconnected) {
            return;
        }
        wanted.try_iter().for_each(drop);
        let begun = Instant::now();
        let read = catch_unwind(AssertUnwindSafe(|| {
            workspace.sessions(&mut |event| tell(out, Msg::Recordings(event)))
        }));
        rests = read.unwrap_or_else(|_| {
            tell(out, fault("reading the recordings"));
            tell(out, Msg::Recordings(Event::End { diagnostics: Vec::new() }));
            None
        });
        // Of very many files, one that is always being written must not keep the rest from being left in peace.
        let took = begun.elapsed();
        if took > LONG {
            thread::sleep((took * REST).min(LONGEST_REST));
        }
    }
}
