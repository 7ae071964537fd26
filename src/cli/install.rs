//! `rulestep install` and `uninstall`: the hook in an agent's settings.

use similar::TextDiff;

use super::args::{self, ScopeArgument};
use super::exit::{Exit, Failure};
use super::hook;
use super::screen::Screen;
use crate::live::install::{Scope, Settings, commands, settings_file};
use crate::live::{Agent, Fault, policy};
use rulestep_base::wording as words;

/// Enters the hook.
pub fn install(asked: &args::Install, screen: &mut Screen) -> Result<Exit, Failure> {
    let settings = read(&asked.agent, asked.scope)?;
    // Calls would be denied one and all.
    let (_, decides) = policy::read(&asked.policy).map_err(|why| {
        let why = why.lines().next().unwrap_or_default();
        let message =
            format!("the policy `{}` does not load: {}", words::line(&asked.policy), words::line(why));
        Failure::usage(message).help(format!("run `rulestep check {}`", words::line(&asked.policy)))
    })?;
    let place = |error: std::io::Error| Failure::System(anyhow::Error::new(error));
    let program = std::env::current_exe().map_err(place)?;
    let folder = std::env::current_dir().map_err(place)?;
    let added = settings.added().map_err(failed)?;
    let commands =
        commands(&program, settings.agent, &asked.policy, asked.shadow, &added, &folder).map_err(failed)?;
    let new = settings.with(&commands).map_err(failed)?;
    let path = words::line(&settings.path.display().to_string());
    if settings.text.as_ref() == Some(&new) {
        screen.note(&format!("the hook is in {path} already"));
        return Ok(Exit::Clean);
    }
    if asked.dry_run {
        return show(&settings, Some(&new), screen);
    }
    settings.install(&new).map_err(failed)?;
    if decides.rules().iter().next().is_none() {
        screen.warn(&format!("the policy `{}` has no rule, so it stops no call", words::line(&asked.policy)));
    } else if let warned @ 1.. = decides.warnings().len() as u64 {
        let (count, policy) = (words::count(warned, "warning"), words::line(&asked.policy));
        screen.warn(&format!("{count} about the policy: run `rulestep check {policy}`"));
    }
    let what = if asked.shadow { "watches the calls, and stops none" } else { "decides the calls" };
    screen.note(&format!("{path} has the hook: the policy {what} of sessions that begin from now on"));
    if !added.is_empty() {
        screen.note(&format!("the hook keeps `{}`, which its command had", words::line(&added.join(" "))));
    }
    if let Some(next) = settings.agent.after_install() {
        screen.note(next);
    }
    screen.note("to see that it works, run `rulestep doctor`");
    Ok(Exit::Clean)
}

/// Removes it.
pub fn uninstall(asked: &args::Uninstall, screen: &mut Screen) -> Result<Exit, Failure> {
    let settings = read(&asked.agent, asked.scope)?;
    let path = words::line(&settings.path.display().to_string());
    if !settings.has_ours().map_err(failed)? {
        screen.note(&format!("{path} does not have the hook"));
        return Ok(Exit::Clean);
    }
    if asked.dry_run {
        let rest = settings.without().map_err(failed)?;
        return show(&settings, rest.as_deref(), screen);
    }
    settings.uninstall().map_err(failed)?;
    screen.note(&format!("the hook is removed from {path}"));
    Ok(Exit::Clean)
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
