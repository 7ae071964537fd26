//! What the verbs share: the policy to judge by, and the sessions to judge.

use std::borrow::Cow;
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

use super::args::{Policies, Reading, Recordings};
use super::exit::Failure;
use super::screen::Screen;
use crate::explore::contexts::SeenContexts;
use crate::explore::seen::SeenTools;
use crate::lint::{self, Levels};
use crate::report::words;
use crate::workspace::{LoadedVersion, NoPolicy, Version};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::refusal;
use rulestep_base::source::nearest::nearest;
use rulestep_engine::dialect::{self, DIALECTS, Dialect};
use rulestep_engine::policy::Policy;
use rulestep_recording::{self as recording, FORMATS, Options};

pub mod cached;
pub mod kept;
mod sessions;

pub use cached::{Cache, folder as cache_folder};
pub use sessions::Sessions;

/// Whether the user interrupted the run.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Where sessions come from.
#[derive(Clone)]
pub enum SessionSource<'a> {
    /// The samples in the program.
    Samples,
    /// What these arguments name; never none.
    Named(Cow<'a, [String]>),
}

impl<'a> SessionSource<'a> {
    /// What was asked for. Where nothing was, it is an error: an empty variable on a build server must not look like
    /// sessions in which nothing is wrong. `usage` is what to type.
    pub fn of(sessions: &'a [String], samples: bool, usage: &str) -> Result<SessionSource<'a>, Failure> {
        match (sessions, samples) {
            (_, true) => Ok(SessionSource::Samples),
            ([], false) => Err(Failure::usage("no recordings given").help(format!(
                "give files, folders, globs or `-`: `{usage}`; `--samples` uses the samples built into the program"
            ))),
            (named, false) => Ok(SessionSource::Named(named.into())),
        }
    }

    /// Whether it is the samples.
    pub fn is_samples(&self) -> bool {
        matches!(self, SessionSource::Samples)
    }
}

impl Recordings {
    /// Where the sessions come from: what is named, and what `--files-from` lists. `usage` is what to type if that is nothing.
    pub fn source(&self, usage: &str) -> Result<SessionSource<'_>, Failure> {
        match &self.files_from {
            None => SessionSource::of(&self.sessions, self.samples, usage),
            Some(list) => {
                let all = self.sessions.iter().cloned().chain(listed(list)?);
                Ok(SessionSource::Named(all.filter(|name| !name.is_empty()).collect()))
            }
        }
    }
}

/// The recordings that a file lists. Where there is a NUL they are separated by these, as `find -print0` writes them, else by line
/// feeds.
fn listed(list: &str) -> Result<Vec<String>, Failure> {
    let text = text("--files-from", list)?;
    let names: Vec<String> = match text.contains('\0') {
        true => text.split('\0').map(str::to_owned).collect(),
        false => text.lines().map(str::to_owned).collect(),
    };
    match names.iter().all(String::is_empty) {
        true => Err(unreadable("--files-from", list, "it names no file")),
        false => Ok(names),
    }
}

/// The text of the file that an option names; `-` is standard input.
pub fn text(option: &str, file: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = match file {
        "-" => std::io::stdin().read_to_end(&mut bytes),
        path => std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.map_err(|error| unreadable(option, file, &error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| unreadable(option, file, "it is not UTF-8 text"))
}

fn unreadable(option: &str, file: &str, why: &str) -> Failure {
    Failure::usage(format!("`{option} {}` cannot be read: {why}", words::line(file)))
}

/// The policy to judge by. A version with an error does not decide.
pub fn policy(asked: &Policies, with_samples: bool, screen: &mut Screen) -> Result<Arc<Policy>, Failure> {
    policy_and_levels(asked, with_samples, screen).map(|(policy, _)| policy)
}

/// The same, with the levels at which its findings are reported.
pub fn policy_and_levels(
    asked: &Policies,
    with_samples: bool,
    screen: &mut Screen,
) -> Result<(Arc<Policy>, Levels), Failure> {
    let version = Version::named(&asked.policy, with_samples);
    let levels = version.as_ref().map(|version| version.levels.clone()).unwrap_or_default();
    let (policy, told) = load(version, only(asked)?, "policy", screen)?;
    told.iter().for_each(|diagnostic| screen.tell(diagnostic));
    Ok((policy, levels))
}

/// The policy to judge by, where one is named.
pub fn named_policy(asked: &Policies, screen: &mut Screen) -> Result<Option<Arc<Policy>>, Failure> {
    (!asked.policy.is_empty()).then(|| policy(asked, false, screen)).transpose()
}

/// What rules name that none of these sessions has, which are all that were asked for. It is no fault of a recording, and not
/// counted with theirs. `whole`: several, so that a tool that is missing is worth a word.
pub fn unseen(
    policy: &Policy,
    levels: &Levels,
    (tools, contexts): (&SeenTools, &SeenContexts),
    whole: bool,
    screen: &mut Screen,
) -> Vec<Diagnostic> {
    let mut found = tools.all().map(|seen| lint::unseen(policy, &seen, whole)).unwrap_or_default();
    found.extend(lint::contexts(policy, contexts));
    let told = lint::settle(found, policy, levels);
    told.iter().for_each(|diagnostic| screen.tell(diagnostic));
    told
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
        None => Err(unknown("policy language", name, DIALECTS.iter().map(|dialect| dialect.name))),
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

/// Whether the user interrupted the run.
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

/// Recordings that no gate wrote have nothing to compare with.
pub fn nothing_live() -> Failure {
    Failure::usage("no gate decided a call of these sessions, so there is nothing to compare with")
        .help("name journals of the gate, or compare with `-b recorded`: what was refused at the time")
}
