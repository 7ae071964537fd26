//! `--where`: which of the sessions that were read are looked at.

use std::sync::Arc;

use jiff::Timestamp;

use super::Failure;
use super::args;
use super::screen::Screen;
use crate::engine::Mode;
use crate::explore::filter::Filter;
use crate::explore::rows::passes;
use crate::policy::Policy;
use crate::replay::Replay;
use crate::report::words;
use crate::session::Session;

/// The sessions that are looked at.
pub struct Selection(Option<Filter>);

impl Selection {
    /// What was asked for; without a filter, all sessions.
    ///
    /// # Errors
    /// The filter cannot be understood.
    pub fn of(asked: &args::Selection) -> Result<Selection, Failure> {
        let Some(text) = &asked.filter else { return Ok(Selection(None)) };
        let now = Timestamp::now().as_millisecond();
        Filter::parse(text, now).map(|filter| Selection(Some(filter))).map_err(|wrong| {
            let term = text.get(wrong.at.clone()).unwrap_or(text);
            let failure = Failure::usage(format!("`--where`: {} in `{}`", wrong.message, words::line(term)));
            wrong.help.into_iter().fold(failure, Failure::help)
        })
    }

    /// Whether a session is looked at.
    pub fn keeps(&self, session: &Arc<Session>, policy: &Arc<Policy>, mode: Mode) -> bool {
        self.0.as_ref().is_none_or(|filter| {
            let replay = filter.asks_decisions().then(|| Replay::new(session, policy, mode));
            passes(filter, session, replay.as_ref())
        })
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
}
