//! What the verbs share: the policy to judge by, and the sessions to judge.

use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use indicatif::ProgressBar;

use super::args::{Policies, Reading};
use super::screen::Screen;
use super::{Failure, samples};
use crate::diagnostic::{Diagnostic, Severity, code};
use crate::dialect::{self, DIALECTS, Dialect};
use crate::engine::Mode;
use crate::files::stream::{self, Opening, Patience};
use crate::files::{self, Input};
use crate::policy::{Policy, PolicyFile};
use crate::recording::{self, FORMATS, Options};
use crate::replay::corpus::{Judge, Read};
use crate::report::words;
use crate::session::{Session, refusal};
use crate::source::nearest::nearest;

/// The folder of policies where none is named.
pub const DEFAULT_POLICY: &str = "contracts";

/// As a base, the recording.
pub const RECORDED: &str = "recorded";
/// Why it is refused beside other bases.
pub const RECORDED_ALONE: &str = "`recorded` is a version of its own and cannot be joined with others";

/// Sessions between two changes of the progress line.
const SAID_EVERY: u64 = 32;
/// How long an input is waited for that was waited for before.
const AGAIN: Duration = Duration::from_millis(100);
/// Bytes of a session that are held before it is judged while it is read, where that is possible.
const TOO_LONG: usize = 2 << 20;

/// Whether somebody asked to break off.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Where sessions come from.
#[derive(Clone, Copy)]
pub enum Wanted<'a> {
    /// The samples in the program.
    Samples,
    /// What these arguments name; never none.
    Named(&'a [String]),
}

impl<'a> Wanted<'a> {
    /// What was asked for. Where nothing was, it is an error: an empty variable on a build server must not look like
    /// sessions in which nothing is wrong. `usage` is what to type.
    pub fn of(sessions: &'a [String], samples: bool, usage: &str) -> Result<Wanted<'a>, Failure> {
        match (sessions, samples) {
            (_, true) => Ok(Wanted::Samples),
            ([], false) => Err(Failure::usage("no session is named").help(format!(
                "name files, folders, globs or `-`: `{usage}`; `--samples` takes the samples built into the program"
            ))),
            (named, false) => Ok(Wanted::Named(named)),
        }
    }

    /// Whether it is the samples.
    pub fn is_samples(self) -> bool {
        matches!(self, Wanted::Samples)
    }
}

/// The files of a version, and what could not be read of it.
pub struct Version {
    /// What was read.
    pub files: Vec<PolicyFile>,
    /// What could not be read.
    pub unreadable: Vec<Diagnostic>,
    /// What else there is to say.
    pub notices: Vec<Diagnostic>,
}

impl Version {
    /// Adds the files of these versions.
    fn read(&mut self, specs: &[String], beside: &[String]) {
        for spec in specs {
            match files::read_version(spec, beside) {
                Err(diagnostic) => self.unreadable.push(diagnostic),
                Ok(read) => {
                    for file in read.files {
                        match file.text {
                            Ok(text) => self.files.push(PolicyFile {
                                name: file.name,
                                relative: file.relative,
                                text,
                                named: file.named,
                            }),
                            Err(diagnostic) => self.unreadable.push(diagnostic),
                        }
                    }
                    let (errors, notices): (Vec<_>, Vec<_>) =
                        read.diagnostics.into_iter().partition(|told| told.severity == Severity::Error);
                    self.unreadable.extend(errors);
                    self.notices.extend(notices);
                }
            }
        }
    }
}

/// The versions that were asked for, together. With sample sessions the sample policies go, unless others are named.
pub fn version(specs: &[String], with_samples: bool) -> Result<Version, Failure> {
    let mut version = Version { files: Vec::new(), unreadable: Vec::new(), notices: Vec::new() };
    let default = [DEFAULT_POLICY.to_owned()];
    let specs = if !specs.is_empty() {
        specs
    } else if with_samples {
        version.files = samples::policies();
        return Ok(version);
    } else if Path::new(DEFAULT_POLICY).exists() {
        default.as_slice()
    } else {
        let message = format!("no policy is named, and there is no folder `{DEFAULT_POLICY}` here");
        return Err(Failure::usage(message).help("name one with `--policy FILE-OR-FOLDER`"));
    };
    version.read(specs, specs);
    Ok(version)
}

/// The version to compare with. `git:REV` means the same paths as `beside`.
pub fn base(specs: &[String], beside: &[String]) -> Version {
    let mut version = Version { files: Vec::new(), unreadable: Vec::new(), notices: Vec::new() };
    version.read(specs, beside);
    version
}

/// The policy to judge by. A version with an error does not decide.
pub fn policy(asked: &Policies, with_samples: bool, screen: &mut Screen) -> Result<Arc<Policy>, Failure> {
    let (policy, told) = load(version(&asked.policy, with_samples)?, only(asked)?, "policy", screen)?;
    told.iter().for_each(|diagnostic| screen.tell(diagnostic));
    Ok(policy)
}

/// Loads a version, and says what else there is to tell of it. Where it does not decide it is called `what`.
pub fn load(
    version: Version,
    only: Option<&'static Dialect>,
    what: &str,
    screen: &mut Screen,
) -> Result<(Arc<Policy>, Vec<Diagnostic>), Failure> {
    if !version.unreadable.is_empty() {
        return Err(undecided(&version.unreadable, what, screen));
    }
    let loaded = Policy::load(&version.files, only);
    let told: Vec<Diagnostic> = version.notices.into_iter().chain(loaded.diagnostics).collect();
    match loaded.policy {
        None => Err(undecided(&told, what, screen)),
        Some(policy) if policy.documents().is_empty() => {
            told.iter().for_each(|diagnostic| screen.tell(diagnostic));
            Err(Failure::Undecided { message: nothing_to_judge_by(only), told })
        }
        Some(policy) => Ok((policy, told)),
    }
}

/// A version with an error does not decide: its problems are told, and what comes of them.
fn undecided(told: &[Diagnostic], what: &str, screen: &mut Screen) -> Failure {
    told.iter().for_each(|diagnostic| screen.tell(diagnostic));
    let message = format!("the {what} does not load, so nothing was judged");
    Failure::Undecided { message, told: told.to_vec() }
}

/// Why a version without documents does not decide.
pub fn nothing_to_judge_by(only: Option<&Dialect>) -> String {
    let what = only.map_or("policy".to_owned(), |dialect| format!("`{}` document", dialect.name));
    format!("no {what} was found, so there is nothing to judge by")
}

/// The one dialect that was asked for.
pub fn only(asked: &Policies) -> Result<Option<&'static Dialect>, Failure> {
    let Some(name) = &asked.only else { return Ok(None) };
    match dialect::named(name) {
        Some(dialect) => Ok(Some(dialect)),
        None => Err(unknown("dialect", name, DIALECTS.iter().map(|dialect| dialect.name))),
    }
}

/// How recordings are to be read.
pub fn options(asked: &Reading) -> Result<Options, Failure> {
    let mut options = Options::default();
    if let Some(name) = &asked.from {
        let format = recording::named(name);
        options.format =
            Some(format.ok_or_else(|| unknown("format", name, FORMATS.iter().map(|format| format.name)))?);
    }
    if let Some(pattern) = &asked.error_regex {
        let regex = regex("--error-regex", pattern)?;
        options.error = Some(Arc::new(move |text| regex.is_match(text)));
    }
    if let Some(pattern) = &asked.refused_regex {
        let regex = regex("--refused-regex", pattern)?;
        options.refused = Some(refusal::Test::new(move |text| regex.is_match(text)));
    }
    Ok(options)
}

fn regex(option: &str, pattern: &str) -> Result<regex::Regex, Failure> {
    regex::Regex::new(pattern).map_err(|error| {
        let told = error.to_string();
        let why = told.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Failure::usage(format!("`{option}` is no regular expression: {why}"))
    })
}

/// The sessions of all inputs, one by one, and what is wrong with the inputs themselves.
pub struct Sessions {
    sources: VecDeque<Source>,
    options: Options,
    current: Option<recording::Reading>,
    /// What is wrong with files, beyond what their sessions say of themselves.
    pub diagnostics: Vec<Diagnostic>,
    /// Sessions read.
    pub count: u64,
    /// Files that gave no session.
    pub skipped: u64,
    /// Sessions read before the current file.
    before: u64,
    progress: ProgressBar,
    patience: Patience,
}

enum Source {
    File(Input),
    /// One that was waited for without success.
    Opening(Opening),
    Sample(String, &'static [u8]),
}

impl Sessions {
    /// Of what is wanted.
    pub fn new(wanted: Wanted<'_>, options: Options, screen: &Screen) -> Sessions {
        let (sources, diagnostics) = match wanted {
            Wanted::Samples => {
                (samples::sessions().map(|(name, bytes)| Source::Sample(name, bytes)).collect(), Vec::new())
            }
            Wanted::Named(arguments) => {
                let found = files::expand(arguments);
                (found.inputs.into_iter().map(Source::File).collect(), found.diagnostics)
            }
        };
        Sessions {
            sources,
            options,
            current: None,
            diagnostics,
            count: 0,
            skipped: 0,
            before: 0,
            progress: ProgressBar::hidden(),
            patience: Patience { say: screen.voice(), broken_off: interrupted },
        }
    }

    /// The sessions, those that are too long to be held judged while they are read; for outcomes alone.
    pub fn judged_while_read(&mut self, policy: &Arc<Policy>, mode: Mode) -> impl Iterator<Item = Read> {
        self.options.parts_beyond = Some(TOO_LONG);
        let mut judge = Judge::new(policy, mode);
        std::iter::from_fn(move || self.next_of(&mut |reading| judge.next(reading)))
    }

    /// The files by the names they are shown under, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|source| match source {
            Source::File(input) => &*input.name,
            Source::Opening(opening) => &*opening.input().name,
            Source::Sample(name, _) => name,
        })
    }

    /// Shows how far the reading is.
    pub fn show_progress(&mut self, screen: &mut Screen) {
        self.progress = screen.start_progress(self.sources.len() as u64, "files");
        self.patience.say = screen.voice();
    }

    /// Everything wrong with the inputs, once all are read. That nothing could be read is an error.
    pub fn ended(&mut self) -> Vec<Diagnostic> {
        let mut told = std::mem::take(&mut self.diagnostics);
        if self.count == 0
            && !interrupted()
            && told.iter().all(|diagnostic| diagnostic.severity < Severity::Error)
        {
            told.push(Diagnostic::error(code::EMPTY_SESSION, "no session could be read"));
        }
        told
    }

    /// The next file, if it can be opened; `None` where it is to be waited for.
    fn open(&mut self, source: Source) -> Option<()> {
        let named = match &source {
            Source::File(input) => input.named,
            Source::Opening(..) | Source::Sample(..) => true,
        };
        let opened = match source {
            Source::Sample(name, bytes) => {
                recording::open(name, Box::new(io::Cursor::new(bytes)), &self.options)
            }
            Source::File(input) if input.is_regular() => reading(input, &self.options),
            Source::File(input) => match stream::begin(input) {
                Ok(opening) => self.wait(opening, stream::SILENT)?,
                Err(told) => Err(told),
            },
            Source::Opening(opening) => self.wait(opening, AGAIN)?,
        };
        match opened {
            Ok(reading) => {
                self.current = Some(reading);
                self.before = self.count;
                return Some(());
            }
            // A folder may hold other things as well.
            Err(told) if !named && told.code == code::NOT_A_SESSION => {
                self.diagnostics.push(told.severity(Severity::Notice));
            }
            Err(told) => self.diagnostics.push(told),
        }
        self.skipped += 1;
        Some(())
    }

    /// Waits until an input is open. One that nobody writes to is put behind the others; that is `None`.
    fn wait(&mut self, opening: Opening, time: Duration) -> Option<Result<recording::Reading, Diagnostic>> {
        let name = Arc::clone(&opening.input().name);
        match opening.within(time, &self.patience) {
            Ok(Ok(stream)) => Some(recording::open(name, stream, &self.options)),
            Err(told) => Some(Err(told)),
            Ok(Err(opening)) => {
                if time == stream::SILENT {
                    let first = if self.sources.is_empty() { "" } else { "; the others are read first" };
                    (self.patience.say)(&format!("waiting for somebody to write to `{name}`{first}"));
                }
                self.sources.push_back(Source::Opening(opening));
                None
            }
        }
    }
}

impl Sessions {
    /// The next thing that a file gives.
    fn next_of<T>(&mut self, give: &mut dyn FnMut(&mut recording::Reading) -> Option<T>) -> Option<T> {
        loop {
            if interrupted() {
                return None;
            }
            if let Some(reading) = &mut self.current {
                let session = give(reading);
                self.diagnostics.extend(reading.diagnostics());
                if session.is_some() {
                    self.count += 1;
                    if self.count.is_multiple_of(SAID_EVERY) {
                        self.progress.set_message(format!("{} sessions", words::thousands(self.count)));
                    }
                    return session;
                }
                self.current = None;
                self.skipped += u64::from(self.count == self.before);
                self.progress.inc(1);
            }
            let source = self.sources.pop_front()?;
            let waits = self.open(source).is_none();
            if !waits && self.current.is_none() {
                self.progress.inc(1);
            }
        }
    }
}

impl Iterator for Sessions {
    type Item = Session;

    fn next(&mut self) -> Option<Session> {
        self.next_of(&mut |reading| reading.next())
    }
}

/// From now on an interrupt ends the work after what is at hand; a second one ends the program.
pub fn watch_interrupts() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .context("interrupts cannot be watched for")
    .map_err(Failure::System)
}

/// Whether somebody asked to break off.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Begins to read a file.
pub fn reading(input: Input, options: &Options) -> Result<recording::Reading, Diagnostic> {
    let reader = input.open()?;
    let name = Arc::clone(&input.name);
    let mut options = options.clone();
    // What comes through a pipe comes once: opening it again would take it from the first reader.
    if input.is_regular() {
        options.again = Some(Arc::new(move || again(&input)));
    }
    recording::open(name, reader, &options)
}

fn again(input: &Input) -> io::Result<Box<dyn BufRead + Send>> {
    input.open().map_err(|told| io::Error::other(told.message))
}

/// There is nothing of this name; what there is, and what may have been meant.
/// A name that is not among the known ones.
pub fn unknown(kind: &str, name: &str, known: impl Iterator<Item = &'static str> + Clone) -> Failure {
    let help = match nearest(name, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let known: Vec<String> = known.map(|name| format!("`{name}`")).collect();
            format!("there are {}", known.join(", "))
        }
    };
    Failure::usage(format!("there is no {kind} `{name}`")).help(help)
}
