//! Checks where the hooks of an agent are turned off: in the file that has them, or in another that the agent reads.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::super::agent::Places;
use super::super::{Agent, settings};

/// Why no hook of an agent runs, or why that cannot be known; `None`: they run. `user` is the folder of the user's settings, if
/// there is one, and `here` that of the project.
pub fn off(agent: Agent, user: Option<&Path>, here: &Path) -> Option<String> {
    let (files, key) = files(agent, user, here);
    for file in files {
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            Err(error) => return Some(unknown(&file, &error.to_string())),
        };
        let text = text.trim_start_matches('\u{feff}');
        match settings::run_hooks(text, agent) {
            Ok(None) => {}
            Ok(Some(true)) => return None,
            Ok(Some(false)) => return Some(format!("{} turns all hooks off (`{key}`)", file.display())),
            Err(why) => return Some(unknown(&file, &why)),
        }
    }
    None
}

fn unknown(file: &Path, why: &str) -> String {
    let why = why.lines().next().unwrap_or_default();
    format!("whether {} turns all hooks off is not known: {why}", file.display())
}

/// The files that say it, the one that counts most first; and the key.
fn files(agent: Agent, user: Option<&Path>, here: &Path) -> (Vec<PathBuf>, &'static str) {
    let Places { folder, switches, managed, key, .. } = *agent.places();
    let project = switches.iter().map(|name| here.join(folder).join(name));
    let users = switches.iter().filter(|name| !name.contains("local"));
    let users = users.filter_map(|name| Some(user?.join(name)));
    (managed.iter().map(PathBuf::from).chain(project).chain(users).collect(), key)
}

/// Whether the value of a variable turns the switch on.
pub fn is_on(value: &str) -> bool {
    !matches!(value.trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off")
}
