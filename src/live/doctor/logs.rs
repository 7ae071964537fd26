//! The newest log of an agent: a hook that cannot read it denies every call of a session that began before the hook did.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::super::Agent;

/// Folders within the folder of the logs that are looked into.
const LEVELS: usize = 5;

/// The newest log of a session, in the user's folder of the agent. `None`: its logs are not read, or there is none.
pub fn newest(agent: Agent, user: &Path) -> Option<PathBuf> {
    let folder = user.join(folder(agent)?);
    let mut newest = None;
    look(&folder, LEVELS, &mut newest);
    newest.map(|(_, path)| path)
}

/// Where the logs are that hooks read, in the user's folder of the agent.
pub fn folder(agent: Agent) -> Option<&'static str> {
    agent.transcripts().and(agent.places().logs)
}

fn look(folder: &Path, levels: usize, newest: &mut Option<(SystemTime, PathBuf)>) {
    let Some(levels) = levels.checked_sub(1) else { return };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(found) = entry.metadata() else { continue };
        if found.is_dir() {
            look(&path, levels, newest);
        } else if is_log(&path)
            && let Ok(at) = found.modified()
            && newest.as_ref().is_none_or(|(before, _)| at > *before)
        {
            *newest = Some((at, path));
        }
    }
}

/// Whether a file is the log of a session, and not that of a subagent.
fn is_log(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.ends_with(".jsonl") && !name.starts_with("agent-")
}
