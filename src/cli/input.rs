//! What the verbs share: the policy to judge by, and the sessions to judge.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use indicatif::ProgressBar;

use super::args::{Policies, Reading, Recordings};
use super::exit::Failure;
use super::screen::Screen;
use crate::diagnostic::{Diagnostic, Severity, code};
use crate::dialect::{self, DIALECTS, Dialect};
use crate::files::stream::{self, Opening, Patience};
use crate::files::{self, Input};
use crate::policy::Policy;
use crate::recording::{self, FORMATS, Options};
use crate::report::words;
use crate::session::{Session, refusal};
use crate::source::nearest::nearest;
use crate::workspace::{LoadedVersion, NoPolicy, Version, opener, samples};

/// Sessions between two changes of the progress line.
const SAID_EVERY: u64 = 32;
/// How long an input is waited for that was waited for before.
const AGAIN: Duration = Duration::from_millis(100);

/// Whether somebody asked to break off.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Where sessions come from.
#[derive(Clone, Copy)]
pub enum SessionSource<'a> {
    /// The samples in the program.
    Samples,
    /// What these arguments name; never none.
    Named(&'a [String]),
}

impl<'a> SessionSource<'a> {
    /// What was asked for. Where nothing was, it is an error: an empty variable on a build server must not look like
    /// sessions in which nothing is wrong. `usage` is what to type.
    pub fn of(sessions: &'a [String], samples: bool, usage: &str) -> Result<SessionSource<'a>, Failure> {
        match (sessions, samples) {
            (_, true) => Ok(SessionSource::Samples),
            ([], false) => Err(Failure::usage("no session is named").help(format!(
                "name files, folders, globs or `-`: `{usage}`; `--samples` uses the samples built into the program"
            ))),
            (named, false) => Ok(SessionSource::Named(named)),
        }
    }

    /// Whether it is the samples.
    pub fn is_samples(self) -> bool {
        matches!(self, SessionSource::Samples)
    }
}

/// Adds the recordings that a file lists to those that were named. Where there is a NUL they are separated by these, as
/// `find -print0` writes them, else by line feeds.
pub fn add_listed(recordings: &mut Recordings) -> Result<(), Failure> {
    let Some(list) = &recordings.files_from else { return Ok(()) };
    let mut bytes = Vec::new();
    let read = match list.as_str() {
        "-" => std::io::stdin().read_to_end(&mut bytes),
        path => std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    let shown = words::line(list);
    let refused = |why: &str| Failure::usage(format!("`--files-from {shown}` cannot be read: {why}"));
    read.map_err(|error| refused(&error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8 text"))?;
    let before = recordings.sessions.len();
    match text.contains('\0') {
        true => recordings.sessions.extend(text.split('\0').map(str::to_owned)),
        false => recordings.sessions.extend(text.lines().map(str::to_owned)),
    }
    recordings.sessions.retain(|name| !name.is_empty());
    match recordings.sessions.len() == before {
        true => Err(refused("it names no file")),
        false => Ok(()),
    }
}

/// The policy to judge by. A version with an error does not decide.
pub fn policy(asked: &Policies, with_samples: bool, screen: &mut Screen) -> Result<Arc<Policy>, Failure> {
    let (policy, told) = load(Version::named(&asked.policy, with_samples), only(asked)?, "policy", screen)?;
    told.iter().for_each(|diagnostic| screen.tell(diagnostic));
    Ok(policy)
}

/// Loads a version, and says what else there is to tell of it. Where it does not decide it is called `what`.
pub fn load(
    version: Result<Version, NoPolicy>,
    only: Option<&'static Dialect>,
    what: &str,
    screen: &mut Screen,
) -> Result<(Arc<Policy>, Vec<Diagnostic>), Failure> {
    let opened = version.map(|version| version.load(only));
    let decides = opened.and_then(|LoadedVersion { policy, loaded }| Ok((policy?, loaded.diagnostics)));
    decides.map_err(|why| undecided(why, what, screen))
}

/// A version that does not decide: its problems are reported, and the run ends.
pub fn undecided(why: NoPolicy, what: &str, screen: &mut Screen) -> Failure {
    let (message, told) = match why {
        NoPolicy::Unnamed { message, help } => {
            return help.into_iter().fold(Failure::usage(message), Failure::help);
        }
        NoPolicy::Unreadable(told) | NoPolicy::Invalid(told) => {
            (format!("the {what} does not load, so nothing was judged"), told)
        }
        NoPolicy::Empty { message, told } => (message, told),
    };
    told.iter().for_each(|diagnostic| screen.tell(diagnostic));
    Failure::Undecided { message, told }
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
        Failure::usage(format!("`{option}` is not a regular expression: {why}"))
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
    /// Files that gave no session, by name.
    pub skipped: BTreeMap<String, u64>,
    /// Sessions read before the current file.
    before: u64,
    /// Name of the current file.
    name: String,
    progress: ProgressBar,
    patience: Patience,
}

enum Source {
    File(Input),
    /// One that was waited for without success.
    Opening(Opening),
    Sample(String, &'static [u8]),
}

impl Source {
    fn name(&self) -> &str {
        match self {
            Source::File(input) => &input.name,
            Source::Opening(opening) => &opening.input().name,
            Source::Sample(name, _) => name,
        }
    }
}

impl Sessions {
    /// Of what is wanted.
    pub fn new(wanted: SessionSource<'_>, options: Options, screen: &Screen) -> Sessions {
        let (sources, diagnostics) = match wanted {
            SessionSource::Samples => {
                (samples::sessions().map(|(name, bytes)| Source::Sample(name, bytes)).collect(), Vec::new())
            }
            SessionSource::Named(arguments) => {
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
            skipped: BTreeMap::new(),
            name: String::new(),
            before: 0,
            progress: ProgressBar::hidden(),
            patience: Patience { say: screen.voice(), broken_off: interrupted },
        }
    }

    /// The files by the names they are shown under, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(Source::name)
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
        source.name().clone_into(&mut self.name);
        let opened = match source {
            Source::Sample(name, bytes) => opener::open_sample(name, bytes, &self.options),
            Source::File(input) if input.is_regular() => opener::open(input, &self.options),
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
            Err(told) => self.diagnostics.push(opener::weighed(told, named)),
        }
        self.skip();
        Some(())
    }

    fn skip(&mut self) {
        *self.skipped.entry(self.name.clone()).or_default() += 1;
    }

    /// Waits until an input is open. One that nobody writes to is put after the others; that is `None`.
    fn wait(&mut self, opening: Opening, time: Duration) -> Option<Result<recording::Reading, Diagnostic>> {
        let name = Arc::clone(&opening.input().name);
        match opening.within(time, &self.patience) {
            Ok(Ok(stream)) => Some(recording::open(name, stream, &self.options)),
            Err(told) => Some(Err(told)),
            Ok(Err(opening)) => {
                if time == stream::SILENT {
                    let first = if self.sources.is_empty() { "" } else { "; the others are read first" };
                    (self.patience.say)(&format!("waiting for input from `{name}`{first}"));
                }
                self.sources.push_back(Source::Opening(opening));
                None
            }
        }
    }
}

impl Iterator for Sessions {
    type Item = Session;

    fn next(&mut self) -> Option<Session> {
        loop {
            if interrupted() {
                return None;
            }
            if let Some(reading) = &mut self.current {
                let session = reading.next();
                self.diagnostics.extend(reading.diagnostics());
                if session.is_some() {
                    self.count += 1;
                    if self.count.is_multiple_of(SAID_EVERY) {
                        self.progress.set_message(format!("{} sessions", words::thousands(self.count)));
                    }
                    return session;
                }
                self.current = None;
                if self.count == self.before {
                    self.skip();
                }
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

/// From now on an interrupt ends the work after what is at hand; a second one ends the program.
pub fn watch_interrupts() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .context("cannot watch for interrupts")
    .map_err(Failure::System)
}

/// Whether somebody asked to break off.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
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
