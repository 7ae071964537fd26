//! `rulestep convert`: any recording as native sessions. A file comes into being under its name only when it is complete.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;

use super::args::{
    Handling, ModeArgument, Policies, Recordings, SelectionOptions, asks_policy, only_sessions, policies_help,
};
use super::corpus_run::{Answer, CorpusRun, Job};
use super::input;
use super::reports::spare;
use super::selection::Selection;
use super::verb::{Exit, Exits, FAULT, Failure, INTERRUPTED, NOT_JUDGED, Screen, Verb};
use crate::files::replace::PendingFile;
use crate::report::{RunCounts, words};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;

/// The help of `--redact`: here, a policy need not be named.
const REDACT: &str = "Blank all arguments, results and messages. Only the values that a rule of the -p policies looks at stay readable; without -p, none";

/// Convert recordings to Rulestep's own JSON form, `native`
#[derive(Debug, Args)]
#[command(
    mut_arg("samples", only_sessions),
    mut_arg("mode", |mode| mode.help("With -p: what the replay for --where assumes after a call that the policy stops")),
    mut_arg("filter", asks_policy),
    mut_arg("redact", |redact| redact.help(REDACT)),
    mut_arg("policy", |policy| policy.help(policies_help(". Needed only for --redact, and for --where with terms about decisions [default: no policy]")))
)]
pub struct Convert {
    #[command(flatten)]
    pub recordings: Recordings,
    #[command(flatten)]
    pub selection: SelectionOptions,
    /// Output file, or folder (ending in `/`) for one file per recording; existing files are replaced [default: JSON lines on
    /// standard output]
    #[arg(short, long, value_name = "FILE|FOLDER/")]
    pub output: Option<String>,
    #[command(flatten)]
    pub handling: Handling,
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub judging: ModeArgument,
}

impl Verb for Convert {
    const NAME: &'static str = "convert";
    const EXITS: Exits = &[
        (0, "all sessions were written"),
        (2, "a recording could not be read completely; what could be read is written"),
        (2, "with `--strict`: a file was skipped"),
        NOT_JUDGED,
        FAULT,
        INTERRUPTED,
    ];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let Convert { recordings, policies, .. } = self;
        let source = recordings.source("rulestep convert SESSIONS")?;
        let mut selection = Selection::of(&self.selection)?;
        // A session that was collected twice is written twice, as it was.
        selection.keeps_repeated = true;
        let mode = self.judging.mode.into();
        let mut run = CorpusRun::over(source, &recordings.reading, selection, mode, 0, screen)?;
        (run.strict, run.redact, run.identifies) = (self.handling.strict, self.handling.redact, false);
        if policies.policy.is_empty() {
            run.selection.without_policy(mode)?;
        } else if !self.handling.redact && !run.selection.asks_decisions() {
            let message = "a policy does not change what `convert` writes";
            let help =
                "with `--redact` it decides which values are kept, with `--where is:stopped` which sessions";
            return Err(Failure::usage(message).help(help));
        }
        let policy = input::named_policy(policies, screen)?.unwrap_or_else(Policy::empty);
        run.policies = vec![Arc::clone(&policy)];
        let mut target = match &self.output {
            None => Target::Screen,
            Some(path) if path.ends_with('/') || Path::new(path).is_dir() => {
                Target::Folder { names: names(Path::new(path), run.names()), open: None }
            }
            Some(path) => Target::File(Written::begin(Path::new(path))?),
        };
        target.spare(run.names())?;
        let judge = |session: &Arc<Session>| Replay::new(session, &policy, mode);
        let make = |session: Arc<Session>, _, total: &mut RunCounts, _: &mut Vec<Diagnostic>| {
            total.counts.sessions = 1;
            (Arc::clone(&session.origin.file), serde_json::to_vec(&*session))
        };
        let job = Job { judge: &judge, changes: &|_| 0, make: &make };
        let weigh = |(_, json): &(Arc<str>, serde_json::Result<Vec<u8>>)| json.as_ref().map_or(0, Vec::len);
        let mut take =
            |answer: Answer<(Arc<str>, serde_json::Result<Vec<u8>>)>, _: &RunCounts, screen: &mut Screen| {
                let Some((from, json)) = answer.made else { return Ok(()) };
                target.write(&from, json.map_err(io::Error::from)?, screen)
            };
        run.run(&job, &weigh, &mut take, screen)?;
        let files = target.end()?;
        run.close(screen);
        let chosen = run.read.counts.sessions;
        if self.output.is_some() {
            let written = words::count(chosen, "session");
            let skipped = words::skipped(run.read.reading.skipped)
                .map(|skipped| format!("; {skipped}"))
                .unwrap_or_default();
            screen.note(&format!("{written} in {}{skipped}", words::count(files, "file")));
        }
        // No session is an error here, even for a shard.
        Ok(if chosen == 0 && !run.read.reading.interrupted { Exit::Bad } else { run.exit(false) })
    }
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

    /// Writes a session of a recording, which is JSON.
    fn write(&mut self, from: &str, mut json: Vec<u8>, screen: &mut Screen) -> Result<(), Failure> {
        match self {
            Target::Screen => {
                json.push(b'\n');
                Ok(screen.write(&json)?)
            }
            Target::File(file) => file.write(&json),
            Target::Folder { names, open } => {
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
                    Some((_, file, _)) => file.write(&json),
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

    fn write(&mut self, json: &[u8]) -> Result<(), Failure> {
        let between: &[u8] = match (self.list, self.count) {
            (true, 0) => b"[\n",
            (true, _) => b",\n",
            (false, _) => b"",
        };
        self.count += 1;
        self.out.write_all(between)?;
        self.out.write_all(json)?;
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
