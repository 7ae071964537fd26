//! `--where`: which of the sessions that were read are looked at.

use std::sync::Arc;

use jiff::Timestamp;

use super::args;
use super::exit::Failure;
use super::screen::Screen;
use crate::diagnostic::Diagnostic;
use crate::engine::Mode;
use crate::explore::filter::Filter;
use crate::explore::sieve::passes;
use crate::replay::Replay;
use crate::report::words;
use crate::session::Session;

/// The sessions that are looked at.
#[derive(Default)]
pub struct Selection(Option<Filter>);

/// A session that is looked at.
pub struct Chosen {
    /// The session.
    pub session: Arc<Session>,
    /// What was odd in it.
    pub diagnostics: Vec<Diagnostic>,
    /// Its replay, where it was made already.
    pub replay: Option<Replay>,
}

impl Selection {
    /// What was asked for; without a filter, all sessions.
    ///
    /// # Errors
    /// The filter cannot be understood, or asks what changes between two versions.
    pub fn of(asked: &args::Selection) -> Result<Selection, Failure> {
        let selection = Selection::of_versions(asked)?;
        if selection.0.as_ref().is_some_and(Filter::asks_changes) {
            let failure =
                Failure::usage("`--where`: `is:changed` compares two versions, and there is only one");
            return Err(failure.help("use it with `rulestep diff --base VERSION`"));
        }
        Ok(selection)
    }

    /// The same where two versions are compared: it may ask what changes between them.
    ///
    /// # Errors
    /// The filter cannot be understood.
    pub fn of_versions(asked: &args::Selection) -> Result<Selection, Failure> {
        let Some(text) = &asked.filter else { return Ok(Selection(None)) };
        let now = Timestamp::now().as_millisecond();
        Filter::parse(text, now).map(|filter| Selection(Some(filter))).map_err(|wrong| {
            let term = text.get(wrong.at.clone()).unwrap_or(text);
            let failure = Failure::usage(format!("`--where`: {} in `{}`", wrong.message, words::line(term)));
            wrong.help.into_iter().fold(failure, Failure::help)
        })
    }

    /// The session, if it is looked at; else what was odd in it, which is reported all the same. Where the filter asks what was
    /// decided, the session is replayed with `judge`, and comes with its replay.
    ///
    /// # Errors
    /// It does not match.
    pub fn choose(
        &self,
        session: Session,
        judge: &dyn Fn(&Arc<Session>) -> Replay,
    ) -> Result<Chosen, Vec<Diagnostic>> {
        self.choose_compared(session, judge, &|_| 0)
    }

    /// The same of sessions that are compared; `changes` says how much changes in one.
    ///
    /// # Errors
    /// It does not match.
    pub fn choose_compared(
        &self,
        mut session: Session,
        judge: &dyn Fn(&Arc<Session>) -> Replay,
        changes: &dyn Fn(&Arc<Session>) -> usize,
    ) -> Result<Chosen, Vec<Diagnostic>> {
        let diagnostics = std::mem::take(&mut session.diagnostics);
        let session = Arc::new(session);
        let Some(filter) = &self.0 else { return Ok(Chosen { session, diagnostics, replay: None }) };
        let replay = filter.asks_decisions().then(|| judge(&session));
        let changed = filter.asks_changes().then(|| changes(&session));
        match passes(filter, &session, replay.as_ref(), changed) {
            true => Ok(Chosen { session, diagnostics, replay }),
            false => Err(diagnostics),
        }
    }

    /// Whether it asks what a policy decides.
    pub fn asks_decisions(&self) -> bool {
        self.0.as_ref().is_some_and(Filter::asks_decisions)
    }

    /// What was asked for makes sense without a policy.
    ///
    /// # Errors
    /// It asks what a policy decides, or how.
    pub fn without_policy(&self, mode: Mode) -> Result<(), Failure> {
        let message = match (self.asks_decisions(), mode) {
            (true, _) => "`--where` asks what a policy decides, and no policy is named",
            (_, Mode::Shadow) => "`--mode` says how a policy judges, and no policy is named",
            (false, Mode::Enforce) => return Ok(()),
        };
        Err(Failure::usage(message).help("name one with `--policy FILE-OR-FOLDER`"))
    }

    /// The filter as it was given.
    pub fn text(&self) -> Option<&str> {
        self.0.as_ref().map(Filter::text)
    }

    /// Says how many of how many sessions were looked at, which an answer must not be without.
    pub fn report(&self, kept: u64, read: u64, screen: &mut Screen) {
        let Some(filter) = &self.0 else { return };
        let mut message = format!(
            "{} of {} match `{}`",
            words::thousands(kept),
            words::count(read, "session"),
            words::line(filter.text())
        );
        if filter.asks_when() {
            message.push_str(" (sessions without a recorded time never match `since:` and `until:`)");
        }
        screen.say(&message);
    }

    /// Why nothing was judged, where no session is left.
    pub fn nothing(&self, read: u64) -> &'static str {
        match read {
            0 => "no session could be read, so nothing was judged",
            _ => "no session matches `--where`, so nothing was judged",
        }
    }
}
