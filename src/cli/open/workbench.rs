//! What the command line named, for the workbench.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::super::args::{Open, Watching};
use super::super::input::{self, Wanted};
use super::super::screen::Screen;
use super::super::{Exit, Failure};
use super::recordings::Recordings;
use crate::compare::Base;
use crate::diagnostic::{Diagnostic, Severity, code};
use crate::dialect::Dialect;
use crate::files;
use crate::files::watch::{LOOK, Touched, Watched, Way};
use crate::policy::{Loaded, Policy};
use crate::workbench::message::Msg;
use crate::workbench::model::{BuiltIn, Chosen, sort_problems};
use crate::workbench::run::{RunError, Settings, Supply, run};
use crate::workbench::theme::{Depth, Theme};

/// Opens the workbench; `None` where there is no terminal for it.
pub fn open(asked: &Open, wanted: Wanted<'_>, screen: &mut Screen) -> Result<Option<Exit>, Failure> {
    // A theme that does not exist is refused wherever it is asked for.
    if let Some(name) = &asked.theme {
        Theme::builtin(name, Depth::None).map_err(|error| Failure::usage(error.to_string()))?;
    }
    let sessions = match wanted {
        Wanted::Samples => &[],
        Wanted::Named(named) => named,
    };
    let options = input::options(&asked.recordings.reading)?;
    let supply = FromArguments {
        with_samples: wanted.is_samples(),
        policies: asked.policies.policy.clone(),
        only: input::only(&asked.policies)?,
        recordings: Mutex::new(Recordings::new(sessions.to_vec(), options)),
    };
    // What cannot be found at all is told where it was asked for, not in a screen that then has nothing to show.
    let found = files::expand(sessions);
    if found.inputs.is_empty() && !found.diagnostics.is_empty() {
        return Err(Failure::Input(found.diagnostics));
    }
    let base = supply.named(&asked.base)?;
    let built_in =
        BuiltIn { sessions: supply.with_samples, policy: supply.with_samples && supply.policies.is_empty() };
    let policy_name = match supply.policies.as_slice() {
        [] if supply.with_samples => "sample contracts".to_owned(),
        [] => "contracts/".to_owned(),
        named => named.join(" "),
    };
    let policy_paths = match supply.policies.as_slice() {
        [] if supply.with_samples => Vec::new(),
        [] => vec![input::DEFAULT_POLICY.to_owned()],
        named => named.to_vec(),
    };
    let settings = Settings {
        policy_paths,
        watch: supply.watched(sessions).zip(way(asked.watch)),
        supply: Arc::new(supply),
        policy_name,
        built_in,
        base,
        mode: asked.judging.mode.into(),
        theme: asked.theme.clone(),
    };
    match run(settings) {
        Ok(()) => Ok(Some(Exit::Clean)),
        Err(RunError::NoTerminal(reason)) => {
            let compares = if asked.base.is_empty() { "" } else { "; `rulestep diff` compares with a base" };
            screen.note(&format!("{reason}, so here is what `replay` prints{compares}"));
            Ok(None)
        }
        Err(RunError::Theme(error)) => Err(Failure::usage(error.to_string())),
        Err(error) => Err(Failure::System(error.into())),
    }
}

fn way(asked: Watching) -> Option<Way> {
    match asked {
        Watching::System => Some(Way::System),
        Watching::Poll => Some(Way::Polling(LOOK)),
        Watching::Off => None,
    }
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

/// What the command line named.
struct FromArguments {
    with_samples: bool,
    policies: Vec<String>,
    only: Option<&'static Dialect>,
    recordings: Mutex<Recordings>,
}

impl FromArguments {
    /// What of it can change on disk; `None` where nothing can.
    fn watched(&self, sessions: &[String]) -> Option<Watched> {
        let default = [input::DEFAULT_POLICY.to_owned()];
        let policies = match self.policies.as_slice() {
            [] if self.with_samples => &[],
            [] => default.as_slice(),
            named => named,
        };
        let on_disk = |named: &[String]| named.iter().filter(|named| is_on_disk(named)).cloned().collect();
        let watched = Watched { policies: on_disk(policies), sessions: on_disk(sessions) };
        (watched.sides() != Touched::default()).then_some(watched)
    }
}

/// Whether what is named so can change: a file, a folder, a pattern, or what may be one some day. Revisions do not, and
/// pipes give once what they give.
fn is_on_disk(named: &str) -> bool {
    let is_stream = || std::fs::metadata(named).is_ok_and(|found| !found.is_file() && !found.is_dir());
    named != "-" && !named.starts_with("git:") && !is_stream()
}

impl FromArguments {
    /// The base that the command line names. One that does not load is told where it was asked for.
    fn named(&self, base: &[String]) -> Result<Option<Chosen>, Failure> {
        if base.is_empty() {
            return Ok(None);
        }
        Ok(Some(Chosen { name: base.join(" + "), base: self.read_base(base)? }))
    }

    /// A version to compare with, else why there is none.
    fn read_base(&self, named: &[String]) -> Result<Base, Failure> {
        if let [one] = named
            && one == input::RECORDED
        {
            return Ok(Base::Recorded);
        }
        if named.iter().any(|named| named == input::RECORDED) {
            return Err(Failure::usage(input::RECORDED_ALONE));
        }
        let version = input::base(named, &self.policies);
        if !version.unreadable.is_empty() {
            return Err(Failure::Input(version.unreadable));
        }
        let loaded = Policy::load(&version.files, self.only);
        match loaded.policy {
            None => {
                let errors = loaded.diagnostics.into_iter().filter(|told| told.severity == Severity::Error);
                Err(Failure::Input(errors.collect()))
            }
            Some(policy) if policy.documents().is_empty() => {
                Err(Failure::usage(input::nothing_to_judge_by(self.only)))
            }
            Some(policy) => Ok(Base::Version(policy)),
        }
    }
}

impl Supply for FromArguments {
    fn policy(&self) -> Loaded {
        let version = match input::version(&self.policies, self.with_samples) {
            Ok(version) => version,
            Err(failure) => {
                let diagnostics = failure.into_diagnostics();
                return Loaded { policy: None, documents: Vec::new(), cases: Vec::new(), diagnostics };
            }
        };
        let mut loaded = Policy::load(&version.files, self.only);
        if !version.unreadable.is_empty() {
            // What could not be read might have forbidden something.
            loaded.policy = None;
        }
        loaded.diagnostics.splice(0..0, version.unreadable.into_iter().chain(version.notices));
        // Nothing to judge by is no policy that allows everything.
        if loaded.policy.as_ref().is_some_and(|policy| policy.documents().is_empty()) {
            loaded.policy = None;
            let why = input::nothing_to_judge_by(self.only);
            loaded.diagnostics.push(Diagnostic::error(code::MISSING_FILE, why));
        }
        loaded
    }

    fn base(&self, name: &str) -> Result<Base, String> {
        self.read_base(&[name.to_owned()]).map_err(|failure| {
            let mut told = failure.into_diagnostics();
            sort_problems(&mut told);
            match told.as_slice() {
                [] => format!("`{name}` does not load"),
                [one] => plain(one),
                [first, rest @ ..] => format!("{}, and {} more", plain(first), rest.len()),
            }
        })
    }

    fn sessions(&self, out: &mut dyn FnMut(Msg)) -> Option<Duration> {
        // A panic while reading leaves files that are read again.
        self.recordings.lock().unwrap_or_else(PoisonError::into_inner).read(out)
    }

    fn now(&self) -> String {
        jiff::Zoned::now().strftime("%H:%M:%S").to_string()
    }
}

#[cfg(test)]
mod stress;
