//! What the hook service reads from the agent's own log of the session.

use std::path::Path;
use std::thread;
use std::time::Duration;

use super::agent::{Agent, Logs, Report};
use super::fault::Fault;
use super::hook_service::{HookService, NewCall};
use super::journal::Journal;
use super::transcript::{self, Tail};
use super::tree::Clock;
use rulestep_base::session::UNKNOWN_FOLDER;
use rulestep_recording::{CODEX_SCRIPT_CALL, command};

/// How often, and after how long, a log is read again that does not have a call yet: it is written in parallel with the
/// hook.
const LOOKS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(20);

/// How far back in a log the end of a command is searched for, in bytes.
const BACK: u64 = 4 << 20;

impl HookService {
    /// The agent's log of the session, with the format that it has.
    pub(super) fn log(&self, report: &Report) -> Option<(String, &'static str)> {
        let (path, format) = (report.transcript.clone()?, self.transcripts?);
        let own = self.logs().and_then(|logs| Some(logs.subagent?(&path, report.subagent.as_deref()?)));
        Some((own.filter(|own| Path::new(own).is_file()).unwrap_or(path), format))
    }

    pub(super) fn tail(&self, report: &Report, journal: &Journal) -> Result<Option<Tail>, Fault> {
        let Some((path, format)) = self.log(report) else { return Ok(None) };
        transcript::read(&path, format, journal.transcript(), report.subagent.as_deref())
    }

    /// The same, with a call if only the log has its folder.
    pub(super) fn tail_for(
        &self,
        report: &Report,
        journal: &Journal,
        call: &NewCall<'_>,
    ) -> Result<Option<Tail>, Fault> {
        let mut tail = self.tail(report, journal)?;
        for _ in 0..LOOKS {
            // The log has the calls that a script makes when they are over.
            let logged = call.id.filter(|id| !id.starts_with(CODEX_SCRIPT_CALL));
            let lacks = |tail: &Tail| logged.is_some_and(|id| tail.command_folder(id).is_none());
            if !self.needs_folder(call) || !tail.as_ref().is_some_and(lacks) {
                break;
            }
            thread::sleep(PAUSE);
            tail = self.tail(report, journal)?;
        }
        Ok(tail)
    }

    /// Whether the log has the working directory of a call, and its event does not.
    fn needs_folder(&self, call: &NewCall<'_>) -> bool {
        let given = call.arguments.value().and_then(|given| given.as_object());
        self.logs_commands()
            && command::is_codexs(call.tool)
            && given.is_some_and(|given| given.keys().all(|key| key == "command"))
    }

    /// The folder of a call, as far as it is known.
    pub(super) fn folder_of(
        &self,
        report: &Report,
        call: &NewCall<'_>,
        tail: Option<&Tail>,
    ) -> Option<String> {
        if !self.needs_folder(call) {
            return report.cwd.clone();
        }
        let unknown = || Some(UNKNOWN_FOLDER.to_owned());
        match call.id.and_then(|id| tail?.command_folder(id)) {
            None => unknown(),
            Some(None) => report.cwd.clone(),
            // Its meaning there is unknown.
            Some(Some(own)) if own.starts_with('~') => unknown(),
            Some(Some(own)) if own.starts_with('/') => Some(own.to_owned()),
            Some(Some(own)) => match &report.cwd {
                Some(cwd) => Some(format!("{}/{own}", cwd.trim_end_matches('/'))),
                None => unknown(),
            },
        }
    }

    /// How calls ended that the agent's log reports as refused or failed, and for which there was no event. An
    /// unreadable log leaves them in flight, so that they count for rules that forbid.
    pub(super) fn ended(&self, report: &Report, journal: &Journal, clock: Clock<'_>) -> String {
        let tail = self.tail(report, journal).ok().flatten();
        let mut ends = tail.as_ref().map(|tail| tail.ends(journal, clock)).unwrap_or_default();
        let before = self.ended_before(report, journal, &ends, clock);
        ends.drain(..).map(|(_, end)| end).collect::<String>() + &before
    }

    /// The same for commands that began in an earlier turn than the last, and continued: that part of the log was read
    /// before. `known` has the ends in the rest of the log.
    pub(super) fn ended_before(
        &self,
        report: &Report,
        journal: &Journal,
        known: &[(&str, String)],
        clock: Clock<'_>,
    ) -> String {
        let Some((path, format)) = self.log(report).filter(|_| self.logs_commands()) else {
            return String::new();
        };
        let read = journal.transcript();
        let Some(since) = journal.waits_since().filter(|since| *since < read) else { return String::new() };
        // One that never ends, such as a server, must not hide the ends of those after it.
        let since = since.max(read.saturating_sub(BACK));
        let whole = transcript::read(&path, format, since, report.subagent.as_deref());
        let Some(whole) = whole.ok().flatten() else { return String::new() };
        let is_new = |id: &str| known.iter().all(|(other, _)| *other != id);
        whole.ends(journal, clock).into_iter().filter(|(id, _)| is_new(id)).map(|(_, end)| end).collect()
    }

    fn logs_commands(&self) -> bool {
        self.logs().is_some_and(|logs| logs.tells_commands)
    }

    fn logs(&self) -> Option<&'static Logs> {
        Agent::named(self.agent)?.logs()
    }
}
