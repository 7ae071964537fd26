//! What the command line named, for the workbench.

use std::sync::Arc;

use clap::Args;

use super::super::args::{Recordings, Versions, WatchMode, theme_help};
use super::super::exit::{Exit, Failure};
use super::super::input::{self, SessionSource};
use super::super::screen::Screen;
use crate::files;
use crate::files::watch::{LOOK, Way};
use crate::workbench::model::{BuiltIn, Chosen};
use crate::workbench::run::environment::{config, folders};
use crate::workbench::run::{RunError, Settings, run, state};
use crate::workbench::theme::{Depth, Theme};
use crate::workspace::{NoPolicy, Workspace};
use rulestep_engine::run::Mode;

/// How the workbench is opened.
#[derive(Debug, Default, Args)]
pub struct Workbench {
    /// Settings file of the workbench, which must exist; `keys.toml` beside it changes keys [default: $RULESTEP_CONFIG, else
    /// ~/.config/rulestep/config.toml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<String>,
    /// Colours of the workbench
    #[arg(long, value_name = "NAME", help = theme_help())]
    pub theme: Option<String>,
    /// Start at the first stopped call, not at the place where you left these recordings the last time
    #[arg(long)]
    pub no_restore: bool,
    /// How to notice edited files. Choose `poll` on network file systems, which do not report changes
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    pub watch: WatchMode,
}

/// Opens the workbench; `None` without a terminal.
pub fn open(
    asked: &Workbench,
    recordings: &Recordings,
    versions: &Versions,
    wanted: &SessionSource<'_>,
    screen: &mut Screen,
) -> Result<Option<Exit>, Failure> {
    // A theme that does not exist is refused wherever it is asked for.
    if let Some(name) = &asked.theme {
        Theme::builtin(name, Depth::None).map_err(|error| Failure::usage(error.to_string()))?;
    }
    let sessions = match wanted {
        SessionSource::Samples => &[][..],
        SessionSource::Named(named) => named,
    };
    let options = input::options(&recordings.reading)?;
    let only = input::only(&versions.policies)?;
    let config = config(asked.config.as_deref()).map_err(|problem| Failure::Input(vec![problem]))?;
    // The samples have policies of their own.
    let policies = match versions.policies.policy.as_slice() {
        [] if !wanted.is_samples() => &config.policy,
        _ => &versions.policies.policy,
    };
    let workspace = Workspace::new(policies.clone(), only, sessions.to_vec(), options);
    let workspace = workspace.spilling_to(input::cache_folder());
    // What cannot be found at all is reported on the command line, not in a screen that then has nothing to show.
    let found = files::expand(sessions);
    if found.inputs.is_empty() && !found.diagnostics.is_empty() {
        return Err(Failure::Input(found.diagnostics));
    }
    let base = match versions.compared.base.as_slice() {
        [] => None,
        named => Some(Chosen { name: named.join(" + "), base: workspace.base(named).map_err(unusable)? }),
    };
    let built_in = BuiltIn { sessions: wanted.is_samples(), policy: workspace.policy_paths().is_empty() };
    let policy_name = match policies.as_slice() {
        [] if wanted.is_samples() => "sample contracts".to_owned(),
        [] => "contracts/".to_owned(),
        named => named.join(" "),
    };
    // The samples always begin with a stopped call.
    let [_, state_folder] = folders();
    let place = state_folder.filter(|_| config.restore != Some(false) && !wanted.is_samples());
    let settings = Settings {
        place: place.and_then(|folder| state::file(&folder, sessions)),
        restore: !asked.no_restore,
        flags: flags(recordings, versions),
        policy_paths: workspace.policy_paths(),
        watch: workspace.watched().zip(way(asked.watch)),
        workspace: Arc::new(workspace),
        policy_name,
        built_in,
        base,
        mode: versions.mode.map(Into::into).or(config.mode).unwrap_or(Mode::Enforce),
        theme: asked.theme.clone().or_else(|| config.theme.clone()),
        config,
    };
    match run(settings) {
        Ok(()) => Ok(Some(Exit::Clean)),
        Err(RunError::NoTerminal(reason)) => {
            let compares =
                if versions.compared.base.is_empty() { "" } else { "; `rulestep diff` compares with a base" };
            screen.note(&format!("{reason}, so here is what `replay` prints{compares}"));
            Ok(None)
        }
        Err(RunError::Theme(error)) => Err(Failure::usage(error.to_string())),
        Err(error) => Err(Failure::System(error.into())),
    }
}

/// The options that say how recordings and policies are read: a command that is to decide the same needs them.
fn flags(recordings: &Recordings, versions: &Versions) -> Vec<String> {
    let reading = &recordings.reading;
    let options = [
        ("--from", &reading.from),
        ("--error-regex", &reading.error_regex),
        ("--refused-regex", &reading.refused_regex),
        ("--only", &versions.policies.only),
    ];
    options.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?))).collect()
}

/// A base that does not load is reported where it was requested.
fn unusable(why: NoPolicy) -> Failure {
    match why {
        NoPolicy::Unnamed { message, .. } | NoPolicy::Empty { message, .. } => Failure::usage(message),
        why => Failure::Input(why.into_diagnostics()),
    }
}

fn way(asked: WatchMode) -> Option<Way> {
    match asked {
        WatchMode::System => Some(Way::System),
        WatchMode::Poll => Some(Way::Polling(LOOK)),
        WatchMode::Off => None,
    }
}

#[cfg(test)]
mod stress;
