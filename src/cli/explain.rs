//! `toolgate explain`: a code's page, or everything about the decision on one call.

use std::sync::Arc;

use serde::Serialize;

use super::args::{self, Format};
use super::input::{self, Sessions};
use super::screen::Screen;
use super::{Exit, Failure};
use crate::diagnostic::code::{self, Page, PageKind};
use crate::replay::Replay;
use crate::report::{Look, Scope, json, text, words};
use crate::session::Session;

/// Runs the verb.
pub fn run(asked: &args::Explain, screen: &mut Screen) -> Result<Exit, Failure> {
    match (&asked.at, asked.what.as_slice()) {
        (Some(at), _) => decision(at, asked, screen),
        (None, []) => list(asked.format, screen),
        (None, [code]) => page(code, asked.format, screen),
        (None, _) => Err(Failure::usage("one code at a time, or `--at SESSION:TURN.CALL` with sessions")),
    }
}

fn page(name: &str, format: Format, screen: &mut Screen) -> Result<Exit, Failure> {
    let Some(page) = code::page(name) else {
        let failure = Failure::usage(format!("there is no code `{name}`"));
        return Err(match code::nearest_code(name) {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure.help("`toolgate explain` lists all codes"),
        });
    };
    match format {
        Format::Json => data(page, screen)?,
        Format::Text => write!(screen.out(), "{}: {}\n\n{}", page.code, page.title, page.text)?,
    }
    Ok(Exit::Clean)
}

fn list(format: Format, screen: &mut Screen) -> Result<Exit, Failure> {
    let width = code::pages().map(|page| page.code.as_str().len()).max().unwrap_or_default();
    for (kind, title) in [
        (PageKind::Finding, "What a rule says against a call"),
        (PageKind::Problem, "What is wrong with a text"),
    ] {
        let mut pages = code::pages().filter(|page| page.kind == kind);
        match format {
            Format::Json => pages.try_for_each(|page| data(page, screen))?,
            Format::Text => {
                writeln!(screen.out(), "{title}:")?;
                for page in pages {
                    writeln!(screen.out(), "  {:<width$}  {}", page.code, page.title)?;
                }
            }
        }
    }
    Ok(Exit::Clean)
}

fn data(page: &Page, screen: &mut Screen) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Line {
        code: code::Code,
        kind: PageKind,
        title: &'static str,
        text: &'static str,
    }
    let line = Line { code: page.code, kind: page.kind, title: page.title, text: page.text };
    serde_json::to_writer(screen.out(), &line).map_err(std::io::Error::from)?;
    Ok(writeln!(screen.out())?)
}

fn decision(at: &str, asked: &args::Explain, screen: &mut Screen) -> Result<Exit, Failure> {
    let place = Place::parse(at)?;
    let options = input::options(&asked.reading)?;
    let policy = input::policy(&asked.policies, asked.what.is_empty(), screen)?;
    let mut sessions = Sessions::new(&asked.what, options, screen);
    let mut found: Vec<Session> = Vec::new();
    for session in &mut sessions {
        if place.means(&session) {
            found.push(session);
        }
    }
    let told = sessions.ended();
    told.iter().for_each(|diagnostic| screen.tell(diagnostic));
    screen.tell_rest();
    let session = match (found.pop(), found.as_slice()) {
        (None, _) => return Err(Failure::usage(format!("no session is `{}`", place.session))),
        (Some(session), []) => session,
        (Some(last), others) => {
            let names = others.iter().chain([&last]).take(5).map(|session| format!("`{}`", exact(session)));
            let message = format!("several sessions are `{}`", place.session);
            return Err(Failure::usage(message).help(format!("say which: {}", words::list(names))));
        }
    };
    let session = Arc::new(session);
    let Some(turn) = session.turn(place.turn) else {
        let turns = words::count(session.turns.len() as u64, "turn");
        return Err(Failure::usage(format!(
            "no turn {} in `{}`, which has {turns}",
            place.turn, place.session
        )));
    };
    let calls = session.calls_of(turn);
    let Some(call) = calls.iter().find(|call| call.at.call == place.call) else {
        let calls = words::count(calls.len() as u64, "call");
        let message = format!(
            "no call {} in turn {} of `{}`, which has {calls}",
            place.call, place.turn, place.session
        );
        return Err(Failure::usage(message));
    };
    let replay = Replay::new(&session, &policy, asked.judging.mode.into());
    if let Some(frame) = replay.frame(place.turn) {
        let look = Look { scope: Scope::Full, color: screen.color };
        match asked.format {
            Format::Json => json::call(&replay, &frame, call, screen.out())?,
            Format::Text => text::call(&replay, &frame, call, &look, screen.out())?,
        }
    }
    // A question that was answered, whatever the answer says of the call.
    Ok(Exit::Clean)
}

/// `SESSION:TURN.CALL`.
struct Place<'a> {
    session: &'a str,
    turn: u32,
    call: u32,
}

impl<'a> Place<'a> {
    fn parse(at: &'a str) -> Result<Place<'a>, Failure> {
        let parsed = at.rsplit_once(':').and_then(|(session, place)| {
            let (turn, call) = place.split_once('.')?;
            Some(Place { session, turn: turn.parse().ok()?, call: call.parse().ok()? })
        });
        parsed.ok_or_else(|| {
            Failure::usage(format!("`{at}` is not a call's place")).help(
                "a session's id or file, its turn and the call in the turn, each from 1: `refund-124:2.1`",
            )
        })
    }

    /// By id, by file, or by file and place in it.
    fn means(&self, session: &Session) -> bool {
        *session.id == *self.session
            || *session.origin.file == *self.session
            || exact(session) == self.session
    }
}

/// The file and the place in it.
fn exact(session: &Session) -> String {
    format!("{}#{}", session.origin.file, session.origin.index)
}
