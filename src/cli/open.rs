//! `rulestep [SESSIONS]...`: the workbench, or what `replay` prints where there is no terminal.

#[cfg(feature = "tui")]
mod workbench;

use clap::CommandFactory;

use super::args::{Cli, Open};
use super::exit::{Exit, Failure};
use super::input::SessionSource;
use super::replay::{ReplayRequest, judge};
use super::screen::Screen;
use super::selection::Selection;
use crate::report::{OUTPUTS, Scope};
use crate::source::nearest::nearest;

/// Opens.
pub fn run(asked: Open, screen: &mut Screen) -> Result<Exit, Failure> {
    if let Some(failure) = misspelt_command(&asked.recordings.sessions) {
        return Err(failure);
    }
    let bare = asked.is_bare();
    let recordings = &asked.recordings;
    let wanted = SessionSource::of(&recordings.sessions, recordings.samples || bare, "rulestep SESSIONS")?;
    #[cfg(feature = "tui")]
    if let Some(exit) = workbench::open(&asked, wanted, screen)? {
        return Ok(exit);
    }
    if bare {
        screen.say(
            "no session is named: these are the samples built into the program, judged by their own policies",
        );
    }
    let asked = ReplayRequest {
        wanted,
        reading: &recordings.reading,
        policies: &asked.policies,
        mode: asked.judging.mode.into(),
        format: Some("text"),
        reports: &[],
        known: OUTPUTS,
        scope: Scope::Findings,
        jobs: 0,
        strict: false,
        redact: false,
        selection: Selection::default(),
    };
    judge(&asked, screen)
}

/// A word that names no file and nearly a command, or a command that does not stand first.
fn misspelt_command(sessions: &[String]) -> Option<Failure> {
    let word = sessions.iter().find(|word| {
        word.chars().all(|c| c.is_ascii_alphabetic() || c == '-') && !std::path::Path::new(word).exists()
    })?;
    let cli = Cli::command();
    let meant = nearest(word, cli.get_subcommands().map(clap::Command::get_name))?;
    let help = if meant == word {
        format!("the command comes before its options: `rulestep {meant} …`")
    } else {
        format!("did you mean `rulestep {meant}`?")
    };
    Some(Failure::usage(format!("`{word}` is not a file, a folder or a command")).help(help))
}
