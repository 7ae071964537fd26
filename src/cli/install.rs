//! `rulestep install` and `uninstall`: the hook in an agent's settings.

use clap::Args;
use similar::TextDiff;

use super::args::{AgentSettings, GatePolicy, ScopeArgument};
use super::hook;
use super::verb::{Exit, Exits, FAULT, Failure, Screen, Verb};
use crate::live::install::{Scope, Settings, commands, settings_file};
use crate::live::{Agent, Fault, policy};
use rulestep_base::wording as words;

/// The help of `--policy`: the hook works in other folders than this command.
const POLICY: &str = "The policy: one file, folder or `git:REV[:PATH]`, looked up in the current folder. The hook reads it there at each call, wherever the agent works [default: contracts/]";

/// Add the hook to an agent's settings, so that the policy decides its tool calls (docs/gate.md)
///
/// An installed hook is replaced. If an error prevents a decision, the hook denies the call. To change that, add `--on-error` to
/// the hook's command in the settings.
#[derive(Debug, Args)]
#[command(mut_arg("policy", |policy| policy.help(POLICY)))]
pub struct Install {
    #[command(flatten)]
    pub settings: AgentSettings,
    #[command(flatten)]
    pub gate: GatePolicy,
    /// Shadow mode: the hook decides and records, but stops nothing, even after an error
    #[arg(long)]
    pub shadow: bool,
    /// Print what would change in the settings, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

impl Verb for Install {
    const NAME: &'static str = "install";
    const EXITS: Exits = &[
        (0, "the settings have the hook, or with `--dry-run` would have it"),
        (
            2,
            "nothing was changed: wrong arguments, a policy that does not load, or settings that cannot be read",
        ),
        FAULT,
    ];

    /// Enters the hook.
    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let settings = read(&self.settings.agent, self.settings.scope)?;
        // Calls would be denied one and all.
        let (_, decides) = policy::read(&self.gate.policy).map_err(|why| {
            let why = why.lines().next().unwrap_or_default();
            let message = format!(
                "the policy `{}` does not load: {}",
                words::line(&self.gate.policy),
                words::line(why)
            );
            Failure::usage(message).help(format!("run `rulestep check {}`", words::line(&self.gate.policy)))
        })?;
        let place = |error: std::io::Error| Failure::System(anyhow::Error::new(error));
        let program = std::env::current_exe().map_err(place)?;
        let folder = std::env::current_dir().map_err(place)?;
        let added = settings.added().map_err(failed)?;
        let commands = commands(&program, settings.agent, &self.gate.policy, self.shadow, &added, &folder)
            .map_err(failed)?;
        let new = settings.with(&commands).map_err(failed)?;
        let path = words::line(&settings.path.display().to_string());
        if settings.text.as_ref() == Some(&new) {
            screen.note(&format!("the hook is in {path} already"));
            return Ok(Exit::Clean);
        }
        if self.dry_run {
            return show(&settings, Some(&new), screen);
        }
        settings.install(&new).map_err(failed)?;
        if decides.rules().iter().next().is_none() {
            screen.warn(&format!(
                "the policy `{}` has no rule, so it stops no call",
                words::line(&self.gate.policy)
            ));
        } else if let warned @ 1.. = decides.warnings().len() as u64 {
            let (count, policy) = (words::count(warned, "warning"), words::line(&self.gate.policy));
            screen.warn(&format!("{count} about the policy: run `rulestep check {policy}`"));
        }
        let what = if self.shadow { "watches the calls, and stops none" } else { "decides the calls" };
        screen.note(&format!("{path} has the hook: the policy {what} of sessions that begin from now on"));
        if !added.is_empty() {
            screen
                .note(&format!("the hook keeps `{}`, which its command had", words::line(&added.join(" "))));
        }
        if let Some(next) = settings.agent.after_install() {
            screen.note(next);
        }
        screen.note("to see that it works, run `rulestep doctor`");
        Ok(Exit::Clean)
    }
}

/// Remove the hook from an agent's settings, and nothing else
#[derive(Debug, Args)]
pub struct Uninstall {
    #[command(flatten)]
    pub settings: AgentSettings,
    /// Print what would change in the settings, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

impl Verb for Uninstall {
    const NAME: &'static str = "uninstall";
    const EXITS: Exits = &[
        (0, "the settings do not have the hook, or with `--dry-run` would not"),
        (2, "nothing was changed: wrong arguments, or settings that cannot be read"),
        FAULT,
    ];

    /// Removes it.
    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let settings = read(&self.settings.agent, self.settings.scope)?;
        let path = words::line(&settings.path.display().to_string());
        if !settings.has_ours().map_err(failed)? {
            screen.note(&format!("{path} does not have the hook"));
            return Ok(Exit::Clean);
        }
        if self.dry_run {
            let rest = settings.without().map_err(failed)?;
            return show(&settings, rest.as_deref(), screen);
        }
        settings.uninstall().map_err(failed)?;
        screen.note(&format!("the hook is removed from {path}"));
        Ok(Exit::Clean)
    }
}

fn read(agent: &str, scope: ScopeArgument) -> Result<Settings, Failure> {
    let agent = Agent::named(agent).ok_or_else(|| Failure::usage("the agent is not known"))?;
    let scope = if scope.project { Scope::Project } else { Scope::User };
    let get = |name: &str| std::env::var(name).ok();
    let path = settings_file(agent, scope, &get).map_err(failed)?;
    Settings::read(agent, path, &hook::folder().map_err(failed)?).map_err(failed)
}

/// What would change, as `diff -u` shows it.
fn show(settings: &Settings, new: Option<&str>, screen: &mut Screen) -> Result<Exit, Failure> {
    let path = words::line(&settings.path.display().to_string());
    let name = |text: Option<&str>| if text.is_some() { path.clone() } else { "/dev/null".to_owned() };
    let old = settings.text.as_deref();
    let diff = TextDiff::from_lines(old.unwrap_or_default(), new.unwrap_or_default());
    let text = diff.unified_diff().header(&name(old), &name(new)).to_string();
    // Settings are the user's, but what somebody else wrote into them does not steer the terminal.
    for line in text.lines() {
        writeln!(screen.out(), "{}", words::line(line))?;
    }
    Ok(Exit::Clean)
}

pub fn failed(fault: Fault) -> Failure {
    let (message, help) = fault.into_parts();
    Failure::usage(words::line(&message)).help(words::line(&help))
}
