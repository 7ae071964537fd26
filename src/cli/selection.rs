//! Which of the sessions that were read are looked at: `--where`, `--since`, `--until` and `--shard`.
//!
//! What is left out is counted, and said: a part must not look like everything.

mod forks;
mod left_out;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;

use self::left_out::LeftOut;
use super::args;
use super::exit::Failure;
use super::input::{self, Sessions};
use super::repeated::Repeated;
use super::screen::Screen;
use crate::corpus::Corpus;
use crate::explore::filter::{self, Filter};
use crate::explore::identity::Identity;
use crate::explore::repeats::{self, SessionPlace};
use crate::explore::sieve::passes;
use crate::report::{Provenance, words};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::{Millis, Session};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// The sessions that are looked at.
#[derive(Default)]
pub struct Selection {
    filter: Option<Filter>,
    since: Option<Millis>,
    until: Option<Millis>,
    shard: Option<Shard>,
    /// The options as they were given.
    given: Vec<(&'static str, String)>,
    left_out: LeftOut,
    repeated: Repeated,
    /// Whether sessions that were read before are looked at again.
    pub keeps_repeated: bool,
}

/// One of the parts that sessions are divided into.
#[derive(Clone, Copy)]
struct Shard {
    /// From 1.
    number: u32,
    of: u32,
}

/// A session that is looked at.
pub struct Chosen {
    /// The session.
    pub session: Arc<Session>,
    /// What was odd in it.
    pub diagnostics: Vec<Diagnostic>,
    /// Its replay, where it was made already.
    pub replay: Option<Replay>,
}

/// Why nothing was judged.
pub struct Nothing {
    /// What did not come about, as a test is called.
    pub test: &'static str,
    /// What happened, in a sentence.
    pub message: &'static str,
}

/// Replays a session.
pub type Judge<'a> = dyn Fn(&Arc<Session>) -> Replay + Sync + 'a;
/// Says how much changes in it.
pub type Changes<'a> = dyn Fn(&Arc<Session>) -> usize + Sync + 'a;

impl Selection {
    /// What was asked for; without a filter, all sessions.
    ///
    /// # Errors
    /// An option cannot be understood, or the filter asks what changes between two versions.
    pub fn of(asked: &args::SelectionOptions) -> Result<Selection, Failure> {
        let selection = Selection::of_versions(asked)?;
        if selection.filter.as_ref().is_some_and(Filter::asks_changes) {
            let failure =
                Failure::usage("`--where`: `is:changed` compares two versions, and there is only one");
            return Err(failure.help("use it with `rulestep diff --base VERSION`"));
        }
        Ok(selection)
    }

    /// The same where two versions are compared: it may ask what changes between them.
    ///
    /// # Errors
    /// An option cannot be understood.
    pub fn of_versions(asked: &args::SelectionOptions) -> Result<Selection, Failure> {
        let now = Timestamp::now().as_millisecond();
        let filter = asked.filter.as_ref().map(|text| {
            Filter::parse(text, now).map_err(|wrong| {
                let term = format!("`{}`", words::line(text.get(wrong.at.clone()).unwrap_or(text)));
                // What is wrong may name the whole term already.
                let place = if wrong.message.contains(&term) { String::new() } else { format!(" in {term}") };
                let message = format!("`--where`: {}{place}", wrong.message);
                wrong.help.into_iter().fold(Failure::usage(message), Failure::help)
            })
        });
        let time = |option: &str, text: &Option<String>| {
            let read = |text: &String| {
                filter::instant(text, now).map_err(|(message, help)| {
                    let failure = Failure::usage(format!("`{option}`: {}", words::line(&message)));
                    help.into_iter().fold(failure, Failure::help)
                })
            };
            text.as_ref().map(read).transpose()
        };
        let given = [
            ("--where", asked.filter.clone()),
            ("--since", asked.since.clone()),
            ("--until", asked.until.clone()),
            ("--shard", asked.shard.clone()),
        ];
        Ok(Selection {
            filter: filter.transpose()?,
            since: time("--since", &asked.since)?,
            until: time("--until", &asked.until)?,
            shard: asked.shard.as_deref().map(Shard::read).transpose()?,
            given: given.into_iter().filter_map(|(option, text)| Some((option, text?))).collect(),
            left_out: LeftOut::default(),
            repeated: Repeated::default(),
            keeps_repeated: false,
        })
    }

    /// The session, if it is looked at; else what was odd in it, which is reported all the same, except by another shard's
    /// machine. Where the filter asks what was decided, the session is replayed with `judge`, and comes with its replay; where it
    /// asks what changes, `changes` says how much.
    ///
    /// # Errors
    /// It is left out.
    pub fn choose(
        &self,
        mut session: Session,
        judge: &Judge<'_>,
        changes: &Changes<'_>,
    ) -> Result<Chosen, Vec<Diagnostic>> {
        let diagnostics = std::mem::take(&mut session.diagnostics);
        let left_out = &self.left_out;
        let because = |count: &AtomicU64| count.fetch_add(1, Ordering::Relaxed);
        if self.shard.is_some_and(|shard| !shard.has(&session)) {
            because(&left_out.shard);
            return Err(Vec::new());
        }
        let reason = match session.began {
            None if self.since.is_some() || self.until.is_some() => Some(&left_out.untimed),
            Some(began) if self.since.is_some_and(|since| began < since) => Some(&left_out.early),
            Some(began) if self.until.is_some_and(|until| began >= until) => Some(&left_out.late),
            _ => None,
        };
        if let Some(reason) = reason {
            because(reason);
            return Err(diagnostics);
        }
        let session = Arc::new(session);
        let Some(filter) = &self.filter else { return Ok(Chosen { session, diagnostics, replay: None }) };
        let replay = filter.asks_decisions().then(|| judge(&session));
        let changed = filter.asks_changes().then(|| changes(&session));
        if passes(filter, &session, replay.as_ref(), changed) {
            return Ok(Chosen { session, diagnostics, replay });
        }
        because(&left_out.filter);
        Err(diagnostics)
    }

    /// Puts the sessions to choose from to `answer`, on all threads of a corpus, and the answers to `take` in order; `weigh`
    /// says how many bytes one keeps.
    pub fn run<R: Send>(
        &self,
        corpus: &Corpus,
        sessions: &mut Sessions,
        answer: &(dyn Fn(Session) -> R + Sync),
        weigh: &(dyn Fn(&R) -> usize + Sync),
        take: &mut dyn FnMut(R) -> ControlFlow<()>,
    ) {
        let again = sessions.again();
        let marked = |session: Session| {
            let marks = (repeats::mark(&session), repeats::beginning(&session));
            let place = (Arc::clone(&session.origin.file), session.origin.index);
            (marks, place, answer(session))
        };
        let mut take = |((mark, beginning), place, given): (_, SessionPlace, R)| {
            if !self.keeps_repeated && self.repeated.has(mark, &place.0) {
                return ControlFlow::Continue(());
            }
            let fork = self.repeated.fork_of(beginning, place.clone());
            let fork = fork.and_then(|of| Some((again.read(&of)?, again.read(&place)?)));
            take(fork.map_or(given, |(of, session)| self.answer_fork(&of, session, answer)))
        };
        let _ = corpus.run(sessions, &marked, &|(_, _, answer)| weigh(answer), &mut take);
    }

    /// Whether it asks what a policy decides.
    pub fn asks_decisions(&self) -> bool {
        self.filter.as_ref().is_some_and(Filter::asks_decisions)
    }

    /// What was asked for makes sense without a policy.
    ///
    /// # Errors
    /// It asks what a policy decides, or how.
    pub fn without_policy(&self, mode: Mode) -> Result<(), Failure> {
        let message = match (self.asks_decisions(), mode) {
            (true, _) => "`--where` asks what a policy decides, but no policy is named",
            (_, Mode::Shadow) => "`--mode` says how a policy judges, but no policy is named",
            (false, Mode::Enforce) => return Ok(()),
        };
        Err(Failure::usage(message).help("name one with `--policy FILE-OR-FOLDER`"))
    }

    /// The options as they were given.
    pub fn given(&self) -> &[(&'static str, String)] {
        &self.given
    }

    /// What a result must say of how recordings were read and chosen, to be merged with others.
    pub fn describe(&self, reading: &args::Reading, provenance: &mut Provenance) {
        provenance.read_with(&reading.error_regex, &reading.refused_regex);
        for (option, count) in self.counts().into_iter().filter(|(_, count)| *count > 0) {
            provenance.left_out.insert(option.to_owned(), count);
        }
        if self.repeated.count() > 0 {
            provenance.left_out.insert("repeated".to_owned(), self.repeated.count());
        }
        if let Some(Shard { number, of }) = self.shard {
            provenance.shards.insert(of, BTreeMap::from([(number, 1)]));
        }
    }

    /// What a result says of the sessions that another shard does not have either.
    fn counts(&self) -> [(&'static str, u64); 3] {
        let LeftOut { early, late, untimed, filter, .. } = &self.left_out;
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let untimed = if self.since.is_some() { [count(untimed), 0] } else { [0, count(untimed)] };
        let [since, until] = untimed;
        [("--where", count(filter)), ("--since", count(early) + since), ("--until", count(late) + until)]
    }

    /// Says how many of how many sessions were looked at. That none is left is an error, whatever else is said.
    pub fn report(&self, kept: u64, read: u64, screen: &mut Screen) {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let LeftOut { shard, early, late, untimed, .. } = &self.left_out;
        self.repeated.tell(screen);
        let mut before = read.saturating_sub(self.repeated.count());
        if let Some(Shard { number, of }) = self.shard {
            let all = words::count(before, "session");
            before = before.saturating_sub(count(shard));
            screen.note(&format!("{} of {all} are in shard {number} of {of}", words::thousands(before)));
        }
        if self.since.is_some() || self.until.is_some() {
            let all = words::count(before, "session");
            let (others, untimed) = (count(early) + count(late), count(untimed));
            before = before.saturating_sub(others + untimed);
            let options = self.given.iter().filter(|(option, _)| matches!(*option, "--since" | "--until"));
            let options =
                words::list(options.map(|(option, text)| format!("`{option} {}`", words::line(text))));
            let untimed = match untimed {
                0 => String::new(),
                untimed => {
                    format!("; left out: {} without a recorded time", words::count(untimed, "session"))
                }
            };
            screen.note(&format!("{} of {all} began within {options}{untimed}", words::thousands(before)));
        }
        if let Some(filter) = &self.filter {
            let mut message = format!(
                "{} of {} match `{}`",
                words::thousands(kept),
                words::count(before, "session"),
                words::line(filter.text())
            );
            if filter.asks_when() {
                message.push_str(" (sessions without a recorded time never match `since:` and `until:`)");
            }
            screen.note(&message);
        }
        if kept == 0 && read > 0 && !input::interrupted() {
            self.none_left(screen);
        }
    }

    /// Names the option that leaves no session; a shard may have none.
    fn none_left(&self, screen: &mut Screen) {
        match (self.shard, &self.filter) {
            (Some(_), _) => {}
            (None, Some(filter)) => {
                let message = format!("no session matches `--where '{}'`", words::line(filter.text()));
                screen.error(&message, Some("`rulestep explain filter` says what each term matches"));
            }
            (None, None) => {
                let help = "`rulestep stats` lists the days of the sessions";
                screen.error("no session began within `--since` and `--until`", Some(help));
            }
        }
    }

    /// Why nothing was judged, where no session is left; not if this is a shard, which may have none.
    pub fn nothing(&self, read: u64) -> Option<Nothing> {
        let (test, message) = match (read, &self.filter) {
            (0, _) => ("a session can be read", "no session could be read, so nothing was judged"),
            _ if self.shard.is_some() => return None,
            (_, None) => (
                "a session is chosen",
                "no session began within `--since` and `--until`, so nothing was judged",
            ),
            (_, Some(_)) => ("a session is chosen", "no session matches `--where`, so nothing was judged"),
        };
        Some(Nothing { test, message })
    }
}

impl Shard {
    fn read(text: &str) -> Result<Shard, Failure> {
        let numbers =
            text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
            _ => {
                let why = match numbers {
                    Some((_, of)) if of > 0 => format!("the shard number must be between 1 and {of}"),
                    _ => "a shard is a number and the number of shards".to_owned(),
                };
                Err(Failure::usage(format!("`--shard {}`: {why}", words::line(text)))
                    .help("write for example `--shard 1/4` to `--shard 4/4`"))
            }
        }
    }

    fn has(self, session: &Session) -> bool {
        Identity::of(session).number() % u64::from(self.of) == u64::from(self.number - 1)
    }
}
