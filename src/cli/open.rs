//! `toolgate [SESSIONS]...`: the workbench, or what `replay` prints where there is no terminal.

use clap::CommandFactory;

use super::args::{Cli, Format, Open};
use super::replay::{Asked, judge};
use super::screen::Screen;
use super::{Exit, Failure};
use crate::report::Scope;
use crate::source::nearest::nearest;

/// Opens.
pub fn run(asked: Open, screen: &mut Screen) -> Result<Exit, Failure> {
    if let Some(failure) = misspelt_command(&asked.recordings.sessions) {
        return Err(failure);
    }
    #[cfg(feature = "tui")]
    if let Some(exit) = workbench::open(&asked, screen)? {
        return Ok(exit);
    }
    let asked = Asked {
        recordings: &asked.recordings,
        policies: &asked.policies,
        mode: asked.judging.mode.into(),
        format: Format::Text,
        scope: Scope::Findings,
        jobs: 0,
    };
    judge(&asked, screen)
}

/// A word that names no file and nearly a command, or a command that does not stand first.
fn misspelt_command(sessions: &[String]) -> Option<Failure> {
    let word = sessions.iter().find(|word| {
        word.chars().all(|c| c.is_ascii_alphabetic() || c == '-') && !std::path::Path::new(word).exists()
    })?;
    let cli = Cli::command();
    let meant = nearest(word, cli.get_subcommands().map(clap::Command::get_name))?;
    let help = if meant == word {
        format!("a command stands before its options: `toolgate {meant} …`")
    } else {
        format!("did you mean `toolgate {meant}`?")
    };
    Some(Failure::usage(format!("`{word}` is no file, no folder and no command")).help(help))
}

#[cfg(feature = "tui")]
mod workbench {
    use std::collections::HashMap;
    use std::sync::Arc;

    use super::super::input::{self, Sessions};
    use super::super::screen::Screen;
    use super::super::{Exit, Failure};
    use super::Open;
    use crate::diagnostic::{Diagnostic, Severity, code};
    use crate::dialect::Dialect;
    use crate::files;
    use crate::policy::{Loaded, Policy};
    use crate::session::Session;
    use crate::session::read::Options;
    use crate::workbench::message::Msg;
    use crate::workbench::model::BuiltIn;
    use crate::workbench::run::{RunError, Settings, Supply, run};
    use crate::workbench::theme::{Depth, Theme};

    /// Sessions that go to the workbench together at most.
    const TOGETHER: usize = 64;

    /// Opens the workbench; `None` where there is no terminal for it.
    pub fn open(asked: &Open, screen: &mut Screen) -> Result<Option<Exit>, Failure> {
        // A theme that does not exist is refused wherever it is asked for.
        if let Some(name) = &asked.theme {
            Theme::builtin(name, Depth::None).map_err(|error| Failure::usage(error.to_string()))?;
        }
        let supply = FromArguments {
            sessions: asked.recordings.sessions.clone(),
            options: input::options(&asked.recordings.reading)?,
            policies: asked.policies.policy.clone(),
            only: input::only(&asked.policies)?,
        };
        // What cannot be found at all is told where it was asked for, not in a screen that then has nothing to show.
        let found = files::expand(&supply.sessions);
        if found.inputs.is_empty() && !found.diagnostics.is_empty() {
            return Err(Failure::Input(found.diagnostics));
        }
        let samples = supply.sessions.is_empty();
        let built_in = BuiltIn { sessions: samples, policy: samples && supply.policies.is_empty() };
        let policy_name = match supply.policies.as_slice() {
            [] if samples => "sample contracts".to_owned(),
            [] => "contracts/".to_owned(),
            named => named.join(" "),
        };
        let settings = Settings {
            supply: Arc::new(supply),
            policy_name,
            built_in,
            mode: asked.judging.mode.into(),
            theme: asked.theme.clone(),
        };
        match run(settings) {
            Ok(()) => Ok(Some(Exit::Clean)),
            Err(RunError::NoTerminal(reason)) => {
                screen.note(&format!("{reason}, so here is what `replay` prints"));
                Ok(None)
            }
            Err(RunError::Theme(error)) => Err(Failure::usage(error.to_string())),
            Err(error) => Err(Failure::System(error.into())),
        }
    }

    /// What the command line named.
    struct FromArguments {
        sessions: Vec<String>,
        options: Options,
        policies: Vec<String>,
        only: Option<&'static Dialect>,
    }

    impl Supply for FromArguments {
        fn policy(&self) -> Loaded {
            let version = match input::version(&self.policies, self.sessions.is_empty()) {
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

        fn sessions(&self, out: &mut dyn FnMut(Msg)) {
            let mut sessions = Sessions::new(&self.sessions, self.options.clone());
            let all = sessions.files_left();
            let mut batch = Batch::default();
            loop {
                let session = sessions.next();
                batch.diagnostics.append(&mut sessions.diagnostics);
                let next = session.as_ref().map(|session| Arc::clone(&session.origin.file));
                if batch.sessions.len() >= TOGETHER || next != batch.file {
                    batch.send((all - sessions.files_left().min(all), all), out);
                    batch.file = next;
                }
                match session {
                    Some(session) => batch.sessions.push(Arc::new(session)),
                    None => break,
                }
            }
            // Files in which there was no session at all are left.
            batch.send((all, all), out);
            out(Msg::SessionsEnd { diagnostics: batch.diagnostics });
        }

        fn now(&self) -> String {
            jiff::Zoned::now().strftime("%H:%M:%S").to_string()
        }
    }

    /// Sessions of one file that go together.
    #[derive(Default)]
    struct Batch {
        file: Option<Arc<str>>,
        sessions: Vec<Arc<Session>>,
        diagnostics: Vec<Diagnostic>,
    }

    impl Batch {
        /// Sends the sessions, and the files that could not be read since.
        fn send(&mut self, progress: (usize, usize), out: &mut dyn FnMut(Msg)) {
            let mut by_file: HashMap<Arc<str>, Vec<Diagnostic>> = HashMap::new();
            let mut order: Vec<Arc<str>> = Vec::new();
            let mut rest = Vec::new();
            for diagnostic in self.diagnostics.drain(..) {
                // What is only worth knowing makes no row of its own.
                let file = diagnostic.place().map(|place| Arc::<str>::from(place.file()));
                match file
                    .filter(|file| diagnostic.severity == Severity::Error || Some(file) == self.file.as_ref())
                {
                    None => rest.push(diagnostic),
                    Some(file) => {
                        if !by_file.contains_key(&file) {
                            order.push(Arc::clone(&file));
                        }
                        by_file.entry(file).or_default().push(diagnostic);
                    }
                }
            }
            self.diagnostics = rest;
            if let Some(file) = self.file.take().filter(|_| !self.sessions.is_empty()) {
                let diagnostics = by_file.remove(&file).unwrap_or_default();
                let sessions = std::mem::take(&mut self.sessions);
                out(Msg::Sessions { file, sessions, diagnostics, progress });
            }
            for file in order {
                if let Some(diagnostics) = by_file.remove(&file) {
                    out(Msg::Sessions { file, sessions: Vec::new(), diagnostics, progress });
                }
            }
        }
    }
}
