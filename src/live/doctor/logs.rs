//! The newest log of an agent: a hook that cannot read it denies every call of a session that began before the hook was
//! installed.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::json;

use super::super::probe::{TrialCall, UNHEARD};
use super::super::{Agent, transcript};
use super::notes::Notes;
use super::trial::{Outcome, Trial};
use rulestep_base::wording::count;

/// Folders within the folder of the logs that are looked into.
const LEVELS: usize = 5;

/// The newest log of a session, in the user's folder of the agent. `None`: its logs are not read, or there is none.
///
/// # Errors
/// A folder of them cannot be read: there may be a newer one.
pub fn newest(agent: Agent, user: &Path) -> Result<Option<PathBuf>, (PathBuf, io::Error)> {
    let Some(folder) = folder(agent) else { return Ok(None) };
    let mut newest = None;
    look(&user.join(folder), LEVELS, &mut newest)?;
    Ok(newest.map(|(_, path)| path))
}

/// Passes the newest log of the agent to the hook, with a call of a continued session. The policy's decision does not
/// matter, only that it was made.
pub(super) fn try_reading(trial: Trial<'_>, user: &Path, notes: &mut Notes) {
    let Some(folder) = folder(trial.agent).map(|folder| user.join(folder)) else { return };
    let newest = newest(trial.agent, user);
    if let Err((folder, error)) = &newest {
        return notes.error(format!(
            "logs in {} cannot be read, so calls of a session that goes on there are denied: {error}",
            folder.display()
        ));
    }
    let Ok(Some(log)) = newest else {
        let (agent, folder) = (trial.agent.name(), folder.display());
        return notes.warn(format!(
            "there is no log of {agent} in {folder}, so reading one was not tried: run this again after its first session"
        ));
    };
    let call = TrialCall { tool: UNHEARD.to_owned(), arguments: json!({}) };
    let shown = log.display();
    let ran = (Trial { log: Some(&log), ..trial }).run("log", &[call]);
    // The call of the trial may be one about which no earlier call matters, and is then decided all the same.
    let format = trial.agent.transcripts().unwrap_or_default();
    let read = || transcript::read(&shown.to_string(), format, 0, None).map_err(|fault| fault.to_string());
    match ran.and_then(|ran| read().map(|_| ran)) {
        Ok(Outcome { before, .. }) => {
            let calls = count(before as u64, "call");
            notes.fine(format!("the hook reads the newest log, with {calls}: {shown}"));
        }
        Err(why) => notes.error(format!(
            "the hook cannot read the newest log, so it denies calls of a session that goes on there: {shown}: {why}"
        )),
    }
}

/// The folder of the logs that hooks read, in the user's folder of the agent.
pub fn folder(agent: Agent) -> Option<&'static str> {
    agent.logs().map(|logs| logs.folder)
}

fn look(
    folder: &Path,
    levels: usize,
    newest: &mut Option<(SystemTime, PathBuf)>,
) -> Result<(), (PathBuf, io::Error)> {
    let Some(levels) = levels.checked_sub(1) else { return Ok(()) };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
        Err(error) => return Err((folder.to_owned(), error)),
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(found) = entry.metadata() else { continue };
        if found.is_dir() {
            look(&path, levels, newest)?;
        } else if is_log(&path)
            && let Ok(at) = found.modified()
            && newest.as_ref().is_none_or(|(before, _)| at > *before)
        {
            *newest = Some((at, path));
        }
    }
    Ok(())
}

/// Whether a file is the log of a session, and not that of a subagent.
fn is_log(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.ends_with(".jsonl") && !name.starts_with("agent-")
}
