//! The agent's own log of the session: the response of each call, and events without a hook.
//!
//! A log is written with some delay. The message that is being decided is often not in it yet, and the model continues
//! only when every call of its last response has its result there.

use std::fs::File;
use std::io::{Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use super::agent::Agent;
use super::fault::Fault;
use super::journal::Journal;
use super::record::{Json, Proposed, Record};
use super::tree::Clock;
use crate::files::bounded;
use rulestep_base::diagnostic::{Diagnostic, Place};
use rulestep_base::session::build::Builder;
use rulestep_base::session::tree::is_starter;
use rulestep_base::session::{Body, Call, Message, MessageKind, Origin, Outcome, Session};
use rulestep_recording::{self as recording, Options, Status, command};

/// The part of a log since an earlier look at it.
#[derive(Debug)]
pub struct Tail {
    session: Session,
    /// Bytes of the log before.
    start: u64,
    /// The beginnings of lines, relative to `start`.
    lines: Vec<u64>,
    /// Bytes of the log up to the end of its last complete line.
    end: u64,
    /// Whether it says how commands ended, and nothing else does.
    tells_commands: bool,
}

/// What the journal gets of a log.
#[derive(Debug, Default)]
pub struct Import {
    /// The records.
    pub records: String,
    /// Bytes of the log that need not be looked at again.
    pub until: u64,
}

/// Reads a log from this byte on. `None`: there is no log.
///
/// # Errors
/// It is the first look, and calls cannot be read: they would be missing from what the policy knows.
pub fn read(path: &str, format: &str, start: u64, id: Option<&str>) -> Result<Option<Tail>, Fault> {
    let unreadable = |why: &dyn std::fmt::Display| {
        let message = format!("the transcript `{path}` cannot be read: {why}");
        Fault::new(message, "let the user of the agent read it, or begin a new session")
    };
    let mut file = match bounded::regular(Path::new(path)).and_then(|()| File::open(path)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    };
    let length = file.metadata().map_err(|error| unreadable(&error))?.len();
    // A log that became shorter is another one: it is looked at from its beginning.
    let mut start = if length < start { 0 } else { start };
    file.seek(SeekFrom::Start(start.saturating_sub(1))).map_err(|error| unreadable(&error))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(|error| unreadable(&error))?;
    if start > 0 {
        // If it starts in the middle of a line, that line is skipped.
        let skipped = memchr::memchr(b'\n', &text).map_or(text.len(), |end| end + 1);
        text.drain(..skipped);
        start = start - 1 + skipped as u64;
    }
    text.truncate(memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1));
    let ends = memchr::memchr_iter(b'\n', &text).map(|end| end as u64 + 1);
    let lines: Vec<u64> = std::iter::once(0).chain(ends).collect();
    let end = start + text.len() as u64;
    // An empty part is an answer: the results of the last response are missing.
    let origin = Origin { file: path.into(), index: 0, format: "", line: 1 };
    let nothing = || Builder::new("", origin).finish();
    if text.iter().all(u8::is_ascii_whitespace) {
        return Ok(Some(Tail { session: nothing(), start, lines, end, tells_commands: false }));
    }
    let mut logs = Agent::ALL.iter().filter_map(|agent| agent.logs());
    let tells_commands = logs.any(|logs| logs.format == format && logs.tells_commands);
    let format = recording::named(format);
    let options = Options { format, following: true, marks_alone: true, ..Options::default() };
    let mut reading = recording::open(path, Box::new(Cursor::new(text)), &options)
        .map_err(|why| unreadable(&place(&why)))?;
    let sessions: Vec<Session> = reading.by_ref().collect();
    if start == 0
        && let Some(why) = reading.diagnostics().iter().find(|found| found.may_lose_calls())
    {
        return Err(unreadable(&place(why)));
    }
    let own = |session: &Session| match id {
        // Each of its threads has a log of its own, whose later parts do not name the thread.
        _ if tells_commands => true,
        Some(id) => *session.id == *id,
        None => session.parent.is_none(),
    };
    let session = sessions.into_iter().rfind(own).unwrap_or_else(nothing);
    Ok(Some(Tail { session, start, lines, end, tells_commands }))
}

/// Which line cannot be read, without its text: an event may name any file, and the model reads this.
fn place(found: &Diagnostic) -> String {
    let line = found.place().and_then(Place::line).map(|line| format!("line {line}: ")).unwrap_or_default();
    format!("{line}{}", found.code.as_str())
}

impl Tail {
    /// The environment of the session in the log.
    pub fn context(&self) -> Option<serde_json::Value> {
        self.session.facts.context.clone()
    }

    /// Whether the beginning of the session is not in the log.
    pub fn starts_in_the_middle(&self) -> bool {
        self.start == 0 && self.session.facts.from_the_middle
    }

    /// The turn of the log that proposes the call with this id.
    fn turn_of(&self, id: &str) -> Option<u32> {
        self.session.calls.iter().rev().find(|call| call.id.as_deref() == Some(id)).map(|call| call.at.turn)
    }

    /// Whether the log has the call with this id.
    pub fn proposes(&self, id: &str) -> bool {
        self.turn_of(id).is_some()
    }

    fn results(&self) -> impl Iterator<Item = &str> {
        self.session.messages.iter().filter_map(|message| match &message.kind {
            MessageKind::Result(_, id) => id.as_deref(),
            _ => None,
        })
    }

    /// Whether a call belongs to the response that proposed these, the calls of the journal's last turn. `None`: the
    /// log does not say.
    pub fn is_sibling(&self, id: Option<&str>, of: &[&str]) -> Option<bool> {
        if let Some(turn) = id.and_then(|id| self.turn_of(id)) {
            return Some(of.iter().any(|other| self.turn_of(other) == Some(turn)));
        }
        let waits = of.iter().any(|id| !self.results().any(|result| result == *id));
        // Results of other calls alone: its ids are not those of the events.
        let foreign = self.results().next().is_some() && !self.results().any(|result| of.contains(&result));
        (!foreign).then_some(waits)
    }

    /// Events without a hook, up to the response that proposes the call with this id, or up to the end of the session.
    /// `latest`: the last turn of the journal.
    pub fn import(
        &self,
        journal: &Journal,
        latest: Option<&Session>,
        id: Option<&str>,
        clock: Clock<'_>,
    ) -> Import {
        let known = |id: &str| journal.waits_for(id);
        let mut import = Import { records: String::new(), until: self.end };
        let read = if id.is_some() { self.start } else { self.end };
        let mut add = |record: &Record<'_>| import.records.push_str(&record.line());
        let mut turn_in_journal = false;
        let mut last_turn = None;
        for message in &self.session.messages {
            match &message.kind {
                MessageKind::Response(number) => {
                    if last_turn != Some(*number) {
                        if self.is_being_decided(*number, id, &|id| known(id).is_some()) {
                            let line = (message.line as usize).saturating_sub(1);
                            import.until = self.start + self.lines.get(line).copied().unwrap_or_default();
                            break;
                        }
                        turn_in_journal = self.ids(*number).any(|id| known(id).is_some());
                        if !turn_in_journal {
                            add(&Record::Turn { at: clock.at(message.at), transcript: read });
                        }
                        last_turn = Some(*number);
                    }
                    if !message.content.is_missing() && !said_already(latest, message) {
                        add(&Record::Said {
                            role: "assistant",
                            content: Json(&message.content),
                            at: clock.at(message.at),
                        });
                    }
                    for call in message.calls.iter().filter(|_| !turn_in_journal) {
                        let id = call.id.as_deref().unwrap_or_default();
                        let arguments = Json(&call.arguments);
                        let (tool, at) = (&*call.tool, clock.at(message.at));
                        if is_starter(tool) {
                            clock.unasked(tool);
                        }
                        let cwd = self.folder(*number, id);
                        add(&Record::Proposed(Proposed { id, tool, arguments, at, cwd, judged: None }));
                        // As in a replay of the log: the result of a call within its turn is known before the next one.
                        if let Some(own) = self.in_turn(*number, id) {
                            let (output, at) = (Json(&own.output), clock.at(message.at));
                            add(&Record::Resolved { id, outcome: own.outcome.word(), output, at });
                        }
                    }
                }
                MessageKind::Result(Some(index), Some(id)) => {
                    let Some(call) = self.session.calls.get(*index as usize) else { continue };
                    let output = Json(&message.content);
                    match known(id) {
                        None if call.in_turn => {}
                        None => {
                            let outcome = call.outcome.word();
                            add(&Record::Resolved { id, outcome, output, at: clock.at(message.at) });
                        }
                        Some(_) => self.end(journal, call, id, message, clock).iter().for_each(&mut add),
                    }
                }
                MessageKind::Said if !said_already(latest, message) => {
                    add(&Record::Said {
                        role: &message.role,
                        content: Json(&message.content),
                        at: clock.at(message.at),
                    });
                }
                _ => {}
            }
        }
        import
    }

    /// How calls ended whose outcome the journal does not have, each with its id.
    pub fn ends(&self, journal: &Journal, clock: Clock<'_>) -> Vec<(&str, String)> {
        let messages = self.session.messages.iter();
        let ends = messages.filter_map(|message| match &message.kind {
            MessageKind::Result(Some(index), Some(id)) => {
                let call = self.session.calls.get(*index as usize)?;
                self.end(journal, call, id, message, clock).map(|end| (&**id, end.line()))
            }
            _ => None,
        });
        ends.collect()
    }

    /// The end of a call that the journal waits for. A success is believed only if the agent reports it, or of a
    /// command if only the log has the exit codes. A refusal is believed if nothing was decided on the assumption that
    /// the call runs.
    fn end<'m>(
        &self,
        journal: &Journal,
        call: &Call,
        id: &'m str,
        message: &'m Message,
        clock: Clock<'_>,
    ) -> Option<Record<'m>> {
        let runs = self.tells_commands && command::is_codexs(&call.tool);
        if journal.waits_for(id) != Some(true) || runs && !ran_as_decided(journal, id, call) {
            return None;
        }
        let told = match runs {
            true => recording::codex_ended(&call.tool, message.content.shown()),
            false => Status::Unknown,
        };
        let outcome = match (call.outcome, told) {
            // It is still running.
            (Outcome::Unknown, _) | (_, Status::Open) => return None,
            (Outcome::Refused, _) if clock.is_last(journal, id) => "refused",
            (Outcome::Error, _) if clock.is_last(journal, id) && was_asked_in_vain(journal, id, message) => {
                "refused"
            }
            (Outcome::Ok, Status::Succeeded) => "ok",
            (Outcome::Ok, _) => return None,
            (Outcome::Error | Outcome::Refused, _) => "error",
        };
        Some(Record::Resolved { id, outcome, output: Json(&message.content), at: clock.at(message.at) })
    }

    /// The folder of this command in the log, if it is given. `None`: the log does not have the call, or is unreadable.
    pub fn command_folder(&self, id: &str) -> Option<Option<&str>> {
        let call = self.session.calls.iter().rev().find(|call| call.id.as_deref() == Some(id))?;
        let given = call.arguments.value()?.as_object()?;
        let said = FOLDERS.iter().find_map(|name| given.get(*name).filter(|said| !said.is_null()));
        match said {
            None => Some(None),
            Some(folder) => folder.as_str().map(|folder| Some(folder).filter(|folder| !folder.is_empty())),
        }
    }

    /// The call with this id, if its result is within its turn.
    fn in_turn(&self, turn: u32, id: &str) -> Option<&Call> {
        let calls = self.session.calls_of(self.session.turn(turn)?);
        calls.iter().find(|call| call.id.as_deref() == Some(id) && call.in_turn && call.result.is_some())
    }

    /// The working directory of a call, if it is not the session's.
    fn folder(&self, turn: u32, id: &str) -> Option<&str> {
        let calls = self.session.calls_of(self.session.turn(turn)?);
        calls.iter().find(|call| call.id.as_deref() == Some(id))?.folder.as_deref()
    }

    /// Whether the user wrote something after a response.
    fn is_prompted_after(&self, turn: u32) -> bool {
        let is_own = |message: &Message| matches!(message.kind, MessageKind::Response(own) if own == turn);
        let mut later = self.session.messages.iter().rev().take_while(|message| !is_own(message));
        later.any(|message| matches!(message.kind, MessageKind::Said) && &*message.role == "user")
    }

    /// Whether calls of earlier responses are in it and not in the journal: it could not be read before.
    pub fn is_ahead(&self, journal: &Journal, id: Option<&str>) -> bool {
        let known = |id: &str| journal.waits_for(id).is_some();
        let is_unread = |turn: u32| {
            let mut ids = self.ids(turn).peekable();
            ids.peek().is_some() && !ids.any(known) && !self.is_being_decided(turn, id, &known)
        };
        self.start == 0 && self.session.turns.iter().any(|turn| is_unread(turn.number))
    }

    fn ids(&self, turn: u32) -> impl Iterator<Item = &str> {
        let calls = self.session.turn(turn).map_or(&[][..], |turn| self.session.calls_of(turn));
        calls.iter().filter_map(|call| call.id.as_deref())
    }

    /// Whether the calls of a response are being decided: it proposes this call; or it is the last one, has calls
    /// without a result, none of them is in the journal, and the user has written nothing since. A call that ran when
    /// the session was killed has no result either.
    fn is_being_decided(&self, turn: u32, id: Option<&str>, known: &dyn Fn(&str) -> bool) -> bool {
        if id.is_some_and(|id| self.ids(turn).any(|other| other == id)) {
            return true;
        }
        if self.is_prompted_after(turn) {
            return false;
        }
        let last = self.session.turns.last().is_some_and(|last| last.number == turn);
        let calls = self.session.turn(turn).map_or(&[][..], |turn| self.session.calls_of(turn));
        // One that continues in the background has a result, which does not say how it ended.
        let answered = |id: &str| self.results().any(|result| result == id);
        let open = calls
            .iter()
            .any(|call| call.outcome == Outcome::Unknown && !call.id.as_deref().is_some_and(answered));
        last && open && !self.ids(turn).any(known)
    }
}

/// Whether what a script of Codex ran is the command that was decided: another hook may have changed it after that.
fn ran_as_decided(journal: &Journal, id: &str, call: &Call) -> bool {
    if !id.starts_with(recording::CODEX_SCRIPT_CALL) {
        return true;
    }
    let record = journal.proposed(id);
    let decided = record.as_ref().and_then(|record| record.get("arguments")?.get("command"));
    decided.is_some() && decided == call.arguments.value().and_then(|given| given.get("cmd"))
}

/// Whether an `ask` was shown to the model as a denial, because the agent could ask no user.
fn was_asked_in_vain(journal: &Journal, id: &str, message: &Message) -> bool {
    let record = journal.proposed(id);
    let asks = record.as_ref().filter(|record| record.get("runs").is_some_and(serde_json::Value::is_null));
    let told = asks.and_then(|record| record.get("told")?.as_str());
    told.is_some_and(|told| told == message.content.shown())
}

/// Arguments of commands that name the folder.
const FOLDERS: [&str; 3] = ["workdir", "working_directory", "cwd"];

/// Whether the journal has this since its last turn began: an event brought it, or an earlier look.
fn said_already(journal: Option<&Session>, message: &Message) -> bool {
    let Some(session) = journal else { return false };
    let from = session.turns.last().map_or(0, |turn| turn.messages.start);
    let later = session.messages.get(from..).unwrap_or_default();
    let same = |body: &Body| body.shown() == message.content.shown();
    later.iter().any(|other| other.role == message.role && same(&other.content))
}
