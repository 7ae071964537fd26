//! `rulestep [SESSIONS]...`: the workbench, or what `replay` prints without a terminal.

mod workbench;

use clap::CommandFactory;

use super::args::{self, Cli, Open};
use super::corpus_run::CorpusRun;
use super::exit::{Exit, Failure};
use super::input::SessionSource;
use super::replay::{ReplayRequest, judge};
use super::screen::Screen;
use super::selection::Selection;
use crate::report::{OUTPUTS, Scope};
use rulestep_base::source::nearest::nearest;

/// Opens.
pub fn run(asked: Open, screen: &mut Screen) -> Result<Exit, Failure> {
    if let Some(failure) = misspelt_command(&asked.recordings.sessions) {
        return Err(failure);
    }
    let bare = is_bare(&asked);
    let recordings = &asked.recordings;
    let wanted = SessionSource::of(&recordings.sessions, recordings.samples || bare, "rulestep SESSIONS")?;
    if let Some(exit) = workbench::open(&asked, wanted, screen)? {
        return Ok(exit);
    }
    if bare {
        screen.note(
            "no recordings given: these are the samples built into the program, judged by their own policies",
        );
    }
    let mode = asked.mode.unwrap_or_default().into();
    let request = ReplayRequest {
        run: CorpusRun::over(wanted, &recordings.reading, Selection::default(), mode, 0, screen)?,
        policies: &asked.policies,
        format: Some("text"),
        reports: &[],
        known: OUTPUTS,
        scope: Scope::Findings,
        caching: &args::Caching { no_cache: true },
    };
    judge(request, screen)
}

/// A word that names no file and nearly a command, or a command that is not the first word.
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

/// Whether nothing says what to open or how to judge it; colours and the like do not.
fn is_bare(asked: &Open) -> bool {
    let args::Recordings { sessions, samples, reading, .. } = &asked.recordings;
    let args::Policies { policy, only } = &asked.policies;
    if !asked.base.is_empty() {
        return false;
    }
    sessions.is_empty()
        && !samples
        && reading.from.is_none()
        && reading.error_regex.is_none()
        && reading.refused_regex.is_none()
        && policy.is_empty()
        && only.is_none()
        && asked.mode.unwrap_or_default() == args::Mode::default()
}
