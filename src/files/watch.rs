//! Reports when policies or recordings change on disk, however they are written: in place, by renaming another file
//! onto them, by replacing a folder or a link in their path.
//!
//! Only reports that something changed. The reader finds out what, and gets another report if it changes while being
//! read.

mod plan;
mod poll;
mod targets;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use self::plan::{Plan, Side};
use self::poll::Snapshot;
pub use self::targets::{ChangedFiles, WatchTargets};

/// How to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Way {
    /// By the system's events; if they fail, by polling.
    #[default]
    System,
    /// By polling, with this interval: for file systems that change elsewhere.
    Polling(Duration),
}

/// A report of the watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    /// From now on no change is missed. What changed before may have been: that everything was touched is reported next.
    Begun(Way),
    /// The system's events failed, for this reason; from now on by polling. A report that everything may have changed
    /// follows.
    Fallen(String),
    /// Something changed and has been quiet for a moment.
    Touched(ChangedFiles),
}

/// A watch; it ends when this is dropped.
pub struct Watch {
    stop: Sender<Signal>,
}

/// How long the files must be quiet before a change is reported: editors write several times for one save.
const QUIET: Duration = Duration::from_millis(20);
/// The longest delay of a change while more of them come.
const LONGEST: Duration = Duration::from_millis(300);
/// Polling interval, if the system's events fail.
pub const LOOK: Duration = Duration::from_millis(700);
/// Looking takes at most one part in this many of the time.
const REST: u32 = 10;

/// Begins to watch, on a separate thread, which sleeps until something happens and calls `tell`.
///
/// # Errors The system provides no thread.
pub fn watch(
    watched: WatchTargets,
    way: Way,
    mut tell: impl FnMut(WatchEvent) + Send + 'static,
) -> std::io::Result<Watch> {
    let (sender, receiver) = channel();
    let stop = sender.clone();
    thread::Builder::new().name("watch".to_owned()).spawn(move || {
        let (every, fallen) = match way {
            Way::System => match native(&watched, &sender, &receiver, &mut tell) {
                Err(reason) => (LOOK, Some(reason)),
                Ok(()) => return,
            },
            Way::Polling(every) => (every, None),
        };
        polling(&watched, &receiver, every, fallen, &mut tell);
    })?;
    Ok(Watch { stop })
}

impl Drop for Watch {
    fn drop(&mut self) {
        // An error means that the thread has ended.
        let _ = self.stop.send(Signal::Stop);
    }
}

/// A signal to the thread.
enum Signal {
    /// Something happened at these paths; at none: something was missed.
    Happened(Vec<PathBuf>),
    /// The system's events failed.
    Refused(String),
    Stop,
}

fn native(
    watched: &WatchTargets,
    sender: &Sender<Signal>,
    receiver: &Receiver<Signal>,
    tell: &mut dyn FnMut(WatchEvent),
) -> Result<(), String> {
    let sender = sender.clone();
    let handler = move |event: notify::Result<notify::Event>| {
        if let Some(happened) = happened(event) {
            // The receiver is gone once the watch has ended.
            let _ = sender.send(happened);
        }
    };
    let watcher = notify::recommended_watcher(handler).map_err(|error| reason(&error))?;
    let mut native = Native { watcher, folders: BTreeSet::new(), plan: Plan::default() };
    native.place(watched)?;
    tell(WatchEvent::Begun(Way::System));
    tell(WatchEvent::Touched(watched.sides()));
    let (mut policies, mut sessions) = (Waiting::default(), Waiting::default());
    // The folders may be others.
    let mut shaped = false;
    loop {
        let due = policies.due().into_iter().chain(sessions.due()).min();
        let next = match due {
            None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => receiver.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        match next {
            Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Ok(Signal::Refused(reason)) => return Err(reason),
            Ok(Signal::Happened(paths)) => {
                let missed = paths.is_empty();
                let concerned = |side| {
                    let plan = &native.plan;
                    let paths = paths.iter().filter(|path| plan.concerns(side, path));
                    paths.map(|path| plan.is_shaped_by(path)).reduce(|any, one| any || one)
                };
                let (for_policies, for_sessions) = (concerned(Side::Policies), concerned(Side::Sessions));
                policies.hear(missed || for_policies.is_some());
                sessions.hear(missed || for_sessions.is_some());
                if missed || for_policies == Some(true) || for_sessions == Some(true) {
                    native.forget(&paths);
                    shaped = true;
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                // Folders first: files that are read after this are watched already.
                let touched = policies.due().is_some() && native.plan.is_outdated(watched);
                if std::mem::take(&mut shaped) || touched {
                    native.place(watched)?;
                }
                let now = Instant::now();
                let touched = ChangedFiles { policies: policies.take(now), sessions: sessions.take(now) };
                if touched != ChangedFiles::default() {
                    tell(WatchEvent::Touched(touched));
                }
            }
        }
    }
}

/// The relevant part of an event. Reads, by this program for example, are ignored.
fn happened(event: notify::Result<notify::Event>) -> Option<Signal> {
    match event {
        Err(error) if matches!(error.kind, notify::ErrorKind::MaxFilesWatch) => {
            Some(Signal::Refused(reason(&error)))
        }
        Err(_) => Some(Signal::Happened(Vec::new())),
        Ok(event) if event.need_rescan() => Some(Signal::Happened(Vec::new())),
        Ok(event) => match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => Some(Signal::Happened(event.paths)),
            EventKind::Access(_) => None,
            _ => Some(Signal::Happened(event.paths)).filter(|_| !matches!(event.kind, EventKind::Other)),
        },
    }
}

fn reason(error: &notify::Error) -> String {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => "the system cannot watch more folders".to_owned(),
        notify::ErrorKind::Io(error) => super::words(error),
        _ => error.to_string(),
    }
}

/// The system's own watching.
struct Native {
    watcher: RecommendedWatcher,
    /// Folders that are watched now.
    folders: BTreeSet<PathBuf>,
    plan: Plan,
}

/// Rounds of looking for folders that came while others were being placed.
const ROUNDS: usize = 8;

impl Native {
    /// Watches what has to be watched as the folders are now, and no more.
    fn place(&mut self, watched: &WatchTargets) -> Result<(), String> {
        for _ in 0..ROUNDS {
            self.plan = Plan::of(watched);
            let gone: Vec<PathBuf> = self
                .folders
                .iter()
                .filter(|folder| !self.plan.folders.contains_key(*folder))
                .cloned()
                .collect();
            for folder in gone {
                // The folder may be gone with its watch.
                let _ = self.watcher.unwatch(&folder);
                self.folders.remove(&folder);
            }
            let mut placed = false;
            for folder in self.plan.folders.keys() {
                if self.folders.contains(folder) {
                    continue;
                }
                match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                    Ok(()) => placed |= self.folders.insert(folder.clone()),
                    // Removed again, or not accessible: its reader reports that.
                    Err(error) if matches!(error.kind, notify::ErrorKind::PathNotFound) => {}
                    Err(error) if is_closed(&error) => {}
                    Err(error) => return Err(reason(&error)),
                }
            }
            if !placed {
                break;
            }
        }
        Ok(())
    }

    /// Folders at and below these paths may be others by now.
    fn forget(&mut self, paths: &[PathBuf]) {
        let all = paths.is_empty();
        let touched = |folder: &Path| all || paths.iter().any(|path| folder.starts_with(path));
        let others: Vec<PathBuf> = self.folders.iter().filter(|folder| touched(folder)).cloned().collect();
        for folder in others {
            let _ = self.watcher.unwatch(&folder);
            self.folders.remove(&folder);
        }
    }
}

fn is_closed(error: &notify::Error) -> bool {
    matches!(&error.kind, notify::ErrorKind::Io(error)
        if matches!(error.kind(), std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::NotFound))
}

/// A change that waits for quiet.
#[derive(Default)]
struct Waiting {
    /// When it began, and when something happened last.
    since: Option<(Instant, Instant)>,
}

impl Waiting {
    fn hear(&mut self, concerned: bool) {
        if concerned {
            let now = Instant::now();
            let first = self.since.map_or(now, |(first, _)| first);
            self.since = Some((first, now));
        }
    }

    fn due(&self) -> Option<Instant> {
        self.since.map(|(first, last)| (last + QUIET).min(first + LONGEST))
    }

    /// Whether it is to be reported now.
    fn take(&mut self, now: Instant) -> bool {
        let due = self.due().is_some_and(|due| due <= now);
        if due {
            self.since = None;
        }
        due
    }
}

fn polling(
    watched: &WatchTargets,
    receiver: &Receiver<Signal>,
    every: Duration,
    fallen: Option<String>,
    tell: &mut dyn FnMut(WatchEvent),
) {
    let mut seen = Snapshot::now(watched);
    let mut pause = every;
    tell(fallen.map_or(WatchEvent::Begun(Way::Polling(every)), WatchEvent::Fallen));
    tell(WatchEvent::Touched(watched.sides()));
    loop {
        let until = Instant::now() + pause;
        // Events from before the failure are skipped.
        loop {
            match receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Signal::Happened(_) | Signal::Refused(_)) => {}
                Err(RecvTimeoutError::Timeout) => break,
            }
        }
        let begun = Instant::now();
        let now = Snapshot::now(watched);
        let touched = now.since(&seen);
        seen = now;
        pause = every.max(begun.elapsed() * REST);
        if touched != ChangedFiles::default() {
            tell(WatchEvent::Touched(touched));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use notify::event::{CreateKind, Flag};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    /// An event that the system could not describe must not be ignored.
    #[test]
    fn an_undescribed_event_may_be_any_change() {
        let rescan = notify::Event::new(EventKind::Other).set_flag(Flag::Rescan);
        let failed = notify::Error::generic("a queue ran over");
        for event in [Ok(rescan), Err(failed)] {
            let signal = happened(event);
            assert!(matches!(&signal, Some(Signal::Happened(paths)) if paths.is_empty()));
        }
        let full = happened(Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch)));
        assert!(matches!(full, Some(Signal::Refused(_))));
        let made = notify::Event::new(EventKind::Create(CreateKind::File)).add_path("a".into());
        assert!(matches!(happened(Ok(made)), Some(Signal::Happened(paths)) if paths == [PathBuf::from("a")]));
        let read = notify::Event::new(EventKind::Access(AccessKind::Read)).add_path("a".into());
        assert!(happened(Ok(read)).is_none());
    }

    /// After an overflow either side may have changed, and folders may have been replaced without a word.
    #[test]
    fn after_an_overflow_everything_is_reported_and_watched_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["policies", "sessions"] {
            fs::create_dir(path(name)).unwrap();
        }
        let named = |name: &str| vec![path(name).display().to_string()];
        let watched = WatchTargets { policies: named("policies"), sessions: named("sessions") };
        let (sender, receiver) = channel();
        let (reports, reported) = channel();
        let of_system = sender.clone();
        let thread = thread::spawn(move || {
            native(&watched, &of_system, &receiver, &mut |news| drop(reports.send(news)))
        });
        let both = WatchEvent::Touched(ChangedFiles { policies: true, sessions: true });
        assert_eq!(reported.recv_timeout(PATIENCE), Ok(WatchEvent::Begun(Way::System)));
        assert_eq!(reported.recv_timeout(PATIENCE), Ok(both));
        sender.send(Signal::Happened(Vec::new())).unwrap();
        let mut seen = ChangedFiles::default();
        while seen != (ChangedFiles { policies: true, sessions: true }) {
            match reported.recv_timeout(PATIENCE) {
                Ok(WatchEvent::Touched(touched)) => {
                    seen.policies |= touched.policies;
                    seen.sessions |= touched.sessions;
                }
                other => panic!("{seen:?}, then {other:?}"),
            }
        }
        fs::write(path("policies/a.yaml"), "tool: a\n").unwrap();
        let edit = reported.recv_timeout(PATIENCE);
        assert!(matches!(edit, Ok(WatchEvent::Touched(ChangedFiles { policies: true, .. }))), "{edit:?}");
        sender.send(Signal::Stop).unwrap();
        assert_eq!(thread.join().unwrap(), Ok(()));
    }
}
