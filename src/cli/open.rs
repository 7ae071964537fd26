//! `rulestep [SESSIONS]...`: the workbench, or what `replay` prints without a terminal.

pub mod workbench;

use clap::Args;

use self::workbench::Workbench;
use super::args::{Caching, Mode, Policies, Recordings, Versions, policies_help};
use super::corpus_run::CorpusRun;
use super::input::SessionSource;
use super::replay::{ReplayRequest, judge};
use super::selection::Selection;
use super::verb::{Exit, Exits, FAULT, Failure, INTERRUPTED, Screen, Verb};
use crate::report::{OUTPUTS, Scope};

/// The program without a command.
#[derive(Debug, Args)]
#[command(
    version,
    about = "Find out why an AI agent's tool call was stopped, and what a new policy would change",
    long_about = "Find out why an AI agent's tool call was stopped, and what a new policy would change.\n\n`rulestep SESSIONS` \
                  opens recordings in the workbench, a full-screen terminal interface, together with the policies that decide \
                  their calls; `?` lists its keys. `rulestep` alone opens the built-in samples. If the output is not a \
                  terminal, both print the same as `rulestep replay` for these sessions.\n\n`rulestep explain` lists \
                  the reference pages; `rulestep explain marks` explains the marks in the output and on the screen.",
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    mut_arg("policy", |policy| policy.help(policies_help(" [default: `policy` in config.toml, else contracts/]")))
)]
pub struct Open {
    #[command(flatten)]
    pub recordings: Recordings,
    #[command(flatten)]
    pub versions: Versions,
    #[command(flatten)]
    pub workbench: Workbench,
}

impl Verb for Open {
    const NAME: &'static str = "";
    const EXITS: Exits = &[
        (0, "nothing was found, the command did its work, or the workbench was closed"),
        (
            1,
            "a finding: a stopped call, a violated session rule, a changed decision, a mistake, a failed case",
        ),
        (
            2,
            "wrong arguments, or something named in them cannot be read or does not load; of `hook` also: the call is stopped",
        ),
        FAULT,
        INTERRUPTED,
    ];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let bare = is_bare(self);
        let recordings = &self.recordings;
        let source = if bare { SessionSource::Samples } else { recordings.source("rulestep SESSIONS")? };
        if let Some(exit) = workbench::open(&self.workbench, recordings, &self.versions, &source, screen)? {
            return Ok(exit);
        }
        if bare {
            screen.note(
                "no recordings given: these are the samples built into the program, judged by their own policies",
            );
        }
        let mode = self.versions.mode.unwrap_or_default().into();
        let request = ReplayRequest {
            run: CorpusRun::over(source, &recordings.reading, Selection::default(), mode, 0, screen)?,
            policies: &self.versions.policies,
            format: Some("text"),
            reports: &[],
            known: OUTPUTS,
            scope: Scope::Findings,
            caching: &Caching { no_cache: true },
        };
        judge(request, screen)
    }
}

/// Whether nothing says what to open or how to judge it; colours and the like do not.
fn is_bare(asked: &Open) -> bool {
    let Recordings { sessions, files_from, samples, reading } = &asked.recordings;
    let Policies { policy, only } = &asked.versions.policies;
    sessions.is_empty()
        && files_from.is_none()
        && asked.versions.compared.base.is_empty()
        && !samples
        && reading.from.is_none()
        && reading.error_regex.is_none()
        && reading.refused_regex.is_none()
        && policy.is_empty()
        && only.is_none()
        && asked.versions.mode.unwrap_or_default() == Mode::default()
}
