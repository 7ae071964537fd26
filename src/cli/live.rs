//! `rulestep live`: the journals of the gate, opened as recordings and followed.

use std::fs;
use std::path::{Path, PathBuf};

use super::args::{Live, Open, Reading, Recordings};
use super::exit::{Exit, Failure};
use super::install::failed;
use super::screen::Screen;
use super::{hook, open};
use crate::source::nearest::nearest;
use crate::wording as words;

/// Runs the verb.
pub fn run(asked: Live, screen: &mut Screen) -> Result<Exit, Failure> {
    let folder = hook::folder().map_err(failed)?;
    let journals = journals(&folder);
    let sessions = match &asked.session {
        None if journals.is_empty() => {
            let message =
                format!("no session has a journal in {}", words::line(&folder.display().to_string()));
            return Err(Failure::usage(message)
                .help("install the hook with `rulestep install`, and let the agent work"));
        }
        // As a pattern, so that sessions which begin later are opened, too.
        None => vec![folder.join("*").join("*.jsonl")],
        Some(id) => chosen(&journals, id)?,
    };
    let sessions = sessions.iter().map(|path| path.display().to_string()).collect();
    let reading = Reading { from: None, error_regex: None, refused_regex: None };
    let recordings = Recordings { sessions, files_from: None, samples: false, reading };
    let Live { policies, mode, .. } = asked;
    #[cfg(not(feature = "tui"))]
    let opened = Open { recordings, policies, mode };
    #[cfg(feature = "tui")]
    let opened = Open {
        recordings,
        policies,
        mode,
        base: asked.base,
        config: None,
        theme: None,
        no_restore: false,
        watch: asked.watch,
    };
    open::run(opened, screen)
}

/// Every journal.
fn journals(folder: &Path) -> Vec<PathBuf> {
    let inside =
        |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = inside(folder).flat_map(|agent| inside(&agent).collect::<Vec<_>>());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    files.sort();
    files
}

/// The journals of the session that is named so, or whose id begins so; its subagents' come with it.
fn chosen(journals: &[PathBuf], id: &str) -> Result<Vec<PathBuf>, Failure> {
    let names: Vec<String> =
        journals.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    let found: Vec<PathBuf> = journals
        .iter()
        .filter(|path| path.file_stem().is_some_and(|name| name.to_string_lossy().starts_with(id)))
        .cloned()
        .collect();
    if found.is_empty() {
        let failure = Failure::usage(format!("no journal is of the session `{}`", words::name(id)));
        return Err(match nearest(id, names.iter().map(String::as_str)) {
            Some(meant) => failure.help(format!("did you mean `{}`?", words::name(meant))),
            None => failure.help("`rulestep live` opens every session"),
        });
    }
    Ok(found)
}
