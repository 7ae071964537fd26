//! `rulestep convert`: any recording as native sessions.
//!
//! One session is in memory at a time. A file comes into being under its name only when it is complete.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;

use super::args;
use super::exit::{Exit, Failure};
use super::input::{self, SessionSource, Sessions};
use super::redacted::redacted;
use super::reports::spare;
use super::screen::Screen;
use super::selection::{Chosen, Selection};
use crate::files::replace::PendingFile;
use crate::report::words;
use rulestep_base::diagnostic::Severity;
use rulestep_base::session::Session;
use rulestep_base::session::write::Native;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// Runs the verb.
pub fn run(asked: &args::Convert, screen: &mut Screen) -> Result<Exit, Failure> {
    let options = input::options(&asked.recordings.reading)?;
    let recordings = &asked.recordings;
    let wanted = SessionSource::of(&recordings.sessions, recordings.samples, "rulestep convert SESSIONS")?;
    let named = !asked.policies.policy.is_empty();
    let mode: Mode = asked.judging.mode.into();
    let selection = Selection::of(&asked.selection)?;
    if !named {
        selection.without_policy(mode)?;
    }
    if named && !asked.redact && !selection.asks_decisions() {
        let message = "a policy does not change what `convert` writes";
        let help =
            "with `--redact` it decides which values are kept, with `--where is:stopped` which sessions";
        return Err(Failure::usage(message).help(help));
    }
    let policy = if named { input::policy(&asked.policies, false, screen)? } else { Policy::empty() };
    let mut sessions = Sessions::new(wanted, options, screen);
    let mut target = match &asked.output {
        None => Target::Screen,
        Some(path) if path.ends_with('/') || Path::new(path).is_dir() => {
            Target::Folder { names: names(Path::new(path), sessions.names()), open: None }
        }
        Some(path) => Target::File(Written::begin(Path::new(path))?),
    };
    target.spare(sessions.names())?;
    input::watch_interrupts()?;
    sessions.show_progress(screen);
    let mut unread = false;
    let mut chosen = 0;
    let judge = |session: &Arc<Session>| Replay::new(session, &policy, mode);
    for session in selection.each(&mut sessions) {
        let (diagnostics, chosen_session) = match selection.choose(session, &judge) {
            Ok(Chosen { session, mut diagnostics, replay }) => {
                drop(replay);
                let mut session = match asked.redact {
                    true => redacted(&session, &[&policy], mode),
                    false => Arc::unwrap_or_clone(session),
                };
                diagnostics.append(&mut session.diagnostics);
                (diagnostics, Some(session))
            }
            Err(diagnostics) => (diagnostics, None),
        };
        unread |= diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        diagnostics.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
        if let Some(session) = chosen_session {
            chosen += 1;
            target.write(&session, screen)?;
        }
        if input::interrupted() {
            break;
        }
    }
    let files = target.end()?;
    screen.end_progress();
    sessions.strict = asked.strict;
    let told = sessions.ended();
    told.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
    screen.tell_rest();
    selection.report(chosen, sessions.count, screen);
    if asked.output.is_some() {
        let written = words::count(chosen, "session");
        let skipped = words::skipped(sessions.skipped.values().sum())
            .map(|skipped| format!("; {skipped}"))
            .unwrap_or_default();
        screen.note(&format!("{written} in {}{skipped}", words::count(files, "file")));
    }
    unread |= asked.strict && !sessions.skipped.is_empty();
    unread |= chosen == 0;
    unread |= told.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    Ok(match input::interrupted() {
        true => Exit::Interrupted,
        false if unread => Exit::Bad,
        false => Exit::Clean,
    })
}

/// Where sessions go.
enum Target {
    /// Standard output.
    Screen,
    /// All into one file.
    File(Written),
    /// Those of each recording into a file of its own.
    Folder {
        /// The files, by the names of the recordings.
        names: HashMap<String, PathBuf>,
        /// The one that is being written: of which recording, and how many were before it.
        open: Option<(String, Written, u64)>,
    },
}

impl Target {
    /// Refuses to write over what is to be read.
    fn spare<'n>(&self, inputs: impl Iterator<Item = &'n str>) -> Result<(), Failure> {
        let files: Vec<&Path> = match self {
            Target::Screen => Vec::new(),
            Target::File(file) => vec![&file.path],
            Target::Folder { names, .. } => names.values().map(PathBuf::as_path).collect(),
        };
        spare(files.into_iter(), inputs)
            .map_err(|failure| failure.help("name another file or folder with `--output`"))
    }

    fn write(&mut self, session: &Session, screen: &mut Screen) -> Result<(), Failure> {
        match self {
            Target::Screen => {
                let mut line = Vec::new();
                serde_json::to_writer(&mut line, &Native(session)).map_err(io::Error::from)?;
                line.push(b'\n');
                Ok(screen.write(&line)?)
            }
            Target::File(file) => file.write(session),
            Target::Folder { names, open } => {
                let from = &*session.origin.file;
                let mut before = 0;
                if let Some((name, _, count)) = open
                    && name != from
                {
                    before = *count + 1;
                }
                if open.as_ref().is_none_or(|(name, ..)| name != from) {
                    if let Some((_, done, _)) = open.take() {
                        done.end()?;
                    }
                    let path = names.get(from).cloned().unwrap_or_default();
                    *open = Some((from.to_owned(), Written::begin(&path)?, before));
                }
                match open {
                    Some((_, file, _)) => file.write(session),
                    None => Ok(()),
                }
            }
        }
    }

    /// Completes what is open; gives the number of files.
    fn end(self) -> Result<u64, Failure> {
        match self {
            Target::Screen => Ok(0),
            // Nothing was read: what was there before stays.
            Target::File(file) if file.count == 0 => Ok(0),
            Target::File(file) => file.end().map(|()| 1),
            Target::Folder { open: None, .. } => Ok(0),
            Target::Folder { open: Some((_, file, before)), .. } => file.end().map(|()| before + 1),
        }
    }
}

/// A file that is being written: JSON Lines, or one list where its name says `.json`.
struct Written {
    path: PathBuf,
    out: PendingFile,
    list: bool,
    count: u64,
}

impl Written {
    fn begin(path: &Path) -> Result<Written, Failure> {
        let begun = || -> anyhow::Result<Written> {
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                fs::create_dir_all(folder)?;
            }
            let out = PendingFile::replacing(path)?;
            let list = path.extension().is_some_and(|extension| extension == "json");
            Ok(Written { path: path.to_owned(), out, list, count: 0 })
        };
        begun().with_context(|| format!("{} cannot be written", path.display())).map_err(Failure::System)
    }

    fn write(&mut self, session: &Session) -> Result<(), Failure> {
        let between: &[u8] = match (self.list, self.count) {
            (true, 0) => b"[\n",
            (true, _) => b",\n",
            (false, _) => b"",
        };
        self.count += 1;
        self.out.write_all(between)?;
        serde_json::to_writer(&mut self.out, &Native(session)).map_err(io::Error::from)?;
        if !self.list {
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn end(mut self) -> Result<(), Failure> {
        if self.list {
            self.out.write_all(b"\n]\n")?;
        }
        Ok(self.out.finish()?)
    }
}

/// A file in `folder` for each recording: its path below the folder that all have in common, as `.jsonl`.
fn names<'n>(folder: &Path, recordings: impl Iterator<Item = &'n str>) -> HashMap<String, PathBuf> {
    let recordings: Vec<(&str, PathBuf)> = recordings.map(|name| (name, plain(name))).collect();
    let mut common = recordings.first().and_then(|(_, path)| path.parent()).map(Path::to_owned);
    for (_, path) in &recordings {
        while common.as_ref().is_some_and(|common| !path.starts_with(common)) {
            common = common.and_then(|common| common.parent().map(Path::to_owned));
        }
    }
    let common = common.unwrap_or_default();
    let mut named = HashMap::new();
    let mut taken = HashSet::new();
    for (name, path) in &recordings {
        let below = folder.join(path.strip_prefix(&common).unwrap_or(path));
        let mut target = match packed(&below) {
            true => below.with_extension("").with_extension("jsonl"),
            false => below.with_extension("jsonl"),
        };
        let mut number = 1;
        while !taken.insert(target.clone()) {
            number += 1;
            let stem = below.file_name().unwrap_or_default().to_string_lossy();
            target = below.with_file_name(format!("{stem}-{number}.jsonl"));
        }
        named.insert((*name).to_owned(), target);
    }
    named
}

/// Whether the last part of a name says how the file is compressed, and the one before it what it is.
fn packed(path: &Path) -> bool {
    let says = path.extension().and_then(|extension| extension.to_str());
    says.is_some_and(|says| ["gz", "zst"].iter().any(|packed| says.eq_ignore_ascii_case(packed)))
}

/// The parts of a path that are names, so that nothing is written outside the folder.
fn plain(name: &str) -> PathBuf {
    if name == "-" {
        return PathBuf::from("stdin");
    }
    Path::new(name).components().filter(|part| matches!(part, Component::Normal(_))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recording_gets_a_file_of_its_own() {
        for (recordings, expected) in [
            (&["a.json"][..], &["out/a.jsonl"][..]),
            (&["../x/a.json", "../x/y/b.traj"], &["out/a.jsonl", "out/y/b.jsonl"]),
            (&["x/a.jsonl.gz", "x/b.json.ZST", "x/c.gz"], &["out/a.jsonl", "out/b.jsonl", "out/c.jsonl"]),
            (&["a.json", "a.jsonl"], &["out/a.jsonl", "out/a.jsonl-2.jsonl"]),
            (&["/t/a/s.json", "/t/b/s.json"], &["out/a/s.jsonl", "out/b/s.jsonl"]),
            (&["-"], &["out/stdin.jsonl"]),
        ] {
            let named = names(Path::new("out"), recordings.iter().copied());
            let found: Vec<_> = recordings.iter().map(|name| named[*name].to_str().unwrap()).collect();
            assert_eq!(found, expected);
        }
    }
}
