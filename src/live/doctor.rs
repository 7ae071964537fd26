//! Checks the hooks in an agent's settings by running them as the agent does.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::json;

use super::install::{Scope, Settings, settings_file};
use super::probe::{TrialCall, find, unmet};
use super::record::{Opened, Record, SCHEMA};
use super::settings::{Hook, best, option};
use super::tree::now;
use super::{Agent, policy};
use notes::Notes;
use rulestep_base::wording::count;
use rulestep_engine::policy::Policy;
use trial::{Outcome, Trial};

pub use notes::{Item, Level};
pub use trial::Surroundings;

mod homes;
mod logs;
mod notes;
mod switches;
mod trial;

/// The settings of one agent.
#[derive(Debug)]
pub struct Ward {
    /// The agent.
    pub agent: Agent,
    /// The file.
    pub path: PathBuf,
    /// The results.
    pub items: Vec<Item>,
}

/// Looks at the settings of these agents that have our hook, or that cannot be read.
pub fn look(agents: &[Agent], get: &dyn Fn(&str) -> Option<String>, around: &Surroundings) -> Vec<Ward> {
    let mut wards = Vec::new();
    for (agent, scope) in agents.iter().flat_map(|agent| [(*agent, Scope::User), (*agent, Scope::Project)]) {
        let Ok(path) = settings_file(agent, scope, get) else { continue };
        // The home folder may be the project.
        if wards.iter().any(|ward: &Ward| ward.path == path) {
            continue;
        }
        let read = Settings::read(agent, path.clone(), &around.journals);
        let hooks = read.and_then(|settings| Ok((settings.hooks()?, settings)));
        let mut notes = Notes::default();
        match hooks {
            Err(fault) => notes.error(fault.to_string()),
            Ok((hooks, _)) if hooks.iter().all(|hook| !hook.is_ours) => continue,
            Ok((hooks, settings)) => {
                let user = settings_file(agent, Scope::User, get).ok();
                let user = user.as_deref().and_then(Path::parent);
                // One that seems to be another hook than the trusted one may not run.
                for flaw in agent.untrusted(&path, &hooks, user) {
                    notes.add(if flaw.fatal { Level::Error } else { Level::Unproved }, flaw.text);
                }
                if let Some(off) = switches::off(agent, user, &around.here) {
                    notes.error(off);
                }
                if let Some(name) =
                    agent.places().off.filter(|name| get(name).is_some_and(|set| switches::is_on(&set)))
                {
                    notes.error(format!("`{name}` is set, with which {} runs no hook", agent.name()));
                }
                settled(&settings, &hooks, user, around, &mut notes);
            }
        }
        wards.push(Ward { agent, path, items: notes.0 });
    }
    wards
}

/// The folder of the journals, which is the same for all.
pub fn journals(around: &Surroundings) -> Vec<Item> {
    let mut notes = Notes::default();
    let folder = &around.journals;
    let shown = folder.display();
    let nearest = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(folder);
    match write_record(nearest) {
        Ok(()) => notes.fine(format!("a record can be written to {shown}")),
        Err(error) => {
            notes.error(format!("no journal can be written to {shown}, so every call is denied: {error}"))
        }
    }
    #[cfg(unix)]
    for path in private_paths(folder) {
        use std::os::unix::fs::PermissionsExt as _;
        let Ok(found) = fs::metadata(&path) else { continue };
        let (mode, wanted) = (found.permissions().mode() & 0o777, if found.is_dir() { 0o700 } else { 0o600 });
        if mode & !wanted != 0 {
            let path = path.display();
            notes.error(format!("others may use {path} (mode {mode:o}): run `chmod {wanted:o} {path}`"));
        }
    }
    if around.has(folder) {
        notes.warn(format!("the agent can write to the journals, because they are in its folder: {shown}"));
    }
    notes.0
}

/// Writes a record in a journal's form, and waits until it is on disk: on some systems a file can be opened but not
/// written.
fn write_record(folder: &Path) -> std::io::Result<()> {
    let record = Record::Opened(Opened {
        schema: SCHEMA,
        agent: "doctor",
        session: "doctor",
        parent: None,
        at: now(),
        context: None,
        variables: None,
        files: None,
        middle: None,
    });
    let mut file = tempfile::tempfile_in(folder)?;
    file.write_all(record.line().as_bytes())?;
    file.sync_all()
}

/// The folder, the folders of the agents, and their contents.
#[cfg(unix)]
fn private_paths(folder: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let agents = inside(folder);
    let files: Vec<PathBuf> = agents.iter().flat_map(|agent| inside(agent)).collect();
    std::iter::once(folder.to_owned()).chain(agents).chain(files).collect()
}

/// The parts of one of our command lines.
struct Parts {
    program: String,
    policy: String,
    folder: Option<PathBuf>,
    shadow: bool,
    /// Calls that cannot be decided run.
    lets_run: bool,
    /// The gate does not guard itself.
    unguarded: bool,
}

impl Parts {
    fn of(command: &str) -> Option<Parts> {
        let words = shlex::split(command)?;
        let verb = words.iter().position(|word| word == "hook")?;
        let place = words.iter().position(|word| word == "cd");
        Some(Parts {
            program: words.get(verb.checked_sub(1)?)?.clone(),
            policy: option(command, &["-p", "--policy"]).unwrap_or_else(|| "contracts".to_owned()),
            folder: place.and_then(|place| words.get(place + 1)).map(PathBuf::from),
            shadow: words.iter().any(|word| word == "--shadow"),
            unguarded: words.iter().any(|word| word == "--no-self-guard"),
            lets_run: option(command, &["--on-error"]).as_deref() == Some("allow"),
        })
    }
}

fn settled(
    settings: &Settings,
    hooks: &[Hook],
    user: Option<&Path>,
    around: &Surroundings,
    notes: &mut Notes,
) {
    let agent = settings.agent;
    for (event, decides) in agent.events() {
        match best(hooks, event) {
            None if decides => {
                notes.error(format!(
                    "no hook for `{event}`, so no call is decided: run `rulestep install {}` again",
                    agent.name()
                ));
            }
            // No call runs that should not; but an agent that follows the reason is denied again.
            None if agent.tells_success(event) => {
                notes.error(format!(
                    "no hook for `{event}`, so no call counts as succeeded, and rules that need one deny every call: \
                     run `rulestep install {}` again",
                    agent.name()
                ));
            }
            None => {
                notes.warn(format!("no hook for `{event}`: run `rulestep install {}` again", agent.name()))
            }
            Some(hook) => {
                let own = hooks.iter().filter(|hook| hook.is_ours && hook.event == event);
                let matchers: Option<Vec<&str>> = own.map(|hook| hook.matcher.as_deref()).collect();
                if let Some(matchers) = matchers.filter(|_| hook.matcher.is_some()) {
                    let matchers = matchers.join("`, `");
                    notes.warn(format!(
                        "the hook for `{event}` is asked only about tools that match `{matchers}`"
                    ));
                }
                hook.flaws.iter().cloned().for_each(|flaw| notes.flaw(flaw));
            }
        }
    }
    for hook in hooks.iter().filter(|hook| !hook.is_ours && agent.decides(&hook.event)) {
        if answers_allow(&hook.command, &around.here) {
            let (line, command) = (hook.line, &hook.command);
            notes.warn(format!(
                "another hook (line {line}) seems to answer `allow`, which skips your prompts: {command}"
            ));
        }
    }
    if around.has(&settings.path) {
        notes.warn(
            "the agent can remove the hook, because these settings are in its folder: install with `--user`"
                .to_owned(),
        );
    }
    let decides = |hook: &&Hook| hook.is_ours && agent.decides(&hook.event);
    let Some(hook) = hooks.iter().find(decides).and_then(|hook| best(hooks, &hook.event)) else { return };
    let Some(parts) = Parts::of(&hook.command) else {
        return notes.error(format!("the command line cannot be read: {}", hook.command));
    };
    program(&parts, notes);
    if parts.lets_run {
        notes.warn("a call that cannot be decided runs, as the hook has `--on-error allow`".to_owned());
    }
    if parts.unguarded {
        notes.warn("the agent may change the settings, the policy and the journals, as the hook has `--no-self-guard`".to_owned());
    }
    if !parts.shadow && !hook.command.trim_end().ends_with("|| exit 2") {
        let agent = agent.name();
        notes.warn(format!(
            "a program that is missing lets every call run: run `rulestep install {agent}` again"
        ));
    }
    let folder = parts.folder.as_deref().unwrap_or(&around.here);
    if !parts.policy.starts_with("git:") && around.has(&folder.join(&parts.policy)) {
        let policy = &parts.policy;
        notes.warn(format!(
            "the agent can edit the policy `{policy}`, because it is in its folder: use a committed version \
             (`git:REV:PATH`), or forbid such writes"
        ));
    }
    let loaded = match std::env::set_current_dir(folder) {
        Ok(()) => policy::read(&parts.policy),
        Err(error) => Err(format!("{}: {error}", folder.display())),
    };
    // Nothing else depends on it, and started programs are given its folder.
    let _ = std::env::set_current_dir(&around.here);
    match loaded {
        Err(why) => {
            let why = why.lines().next().unwrap_or_default();
            notes.error(format!("the policy `{}` does not load: {why}", parts.policy));
        }
        Ok((files, policy)) => {
            if let Err(error) = policy::try_keeping(&around.journals, &policy, &files) {
                let folder = around.journals.display();
                notes.error(format!(
                    "the policy cannot be kept in {folder}, so every call is denied: {error}"
                ));
            }
            match policy.rules().iter().count() as u64 {
                0 => notes.warn(format!("the policy `{}` has no rule, so it stops no call", parts.policy)),
                rules => {
                    let rules = count(rules, "rule");
                    notes.fine(format!("the policy `{}` loads: {rules}", parts.policy));
                }
            }
            if let unmet @ [first, ..] = unmet(&policy, agent.tools()).as_slice() {
                let others = match unmet.len() as u64 - 1 {
                    0 => String::new(),
                    others => format!(" and {}", count(others, "other")),
                };
                notes.warn(format!("no tool of {} can meet the rule `{first}`{others}", agent.name()));
            }
            homes::compare(agent, &policy, user, around, notes);
            // A hook that the agent does not call, or whose answer it ignores, proves nothing.
            if hook.flaws.iter().all(|flaw| !flaw.fatal) {
                let trial = Trial { agent, hooks, policy: &policy, around, log: None };
                trials(&trial, &parts, &policy, notes);
                if let Some(user) = user {
                    logs::try_reading(trial, user, notes);
                }
            }
        }
    }
}

fn program(parts: &Parts, notes: &mut Notes) {
    let program = &parts.program;
    if !Path::new(program).is_absolute() {
        notes.warn(format!(
            "`{program}` is looked for in the agent's PATH: install again for an absolute path"
        ));
    }
    let own = env!("CARGO_PKG_VERSION");
    match Command::new(program).arg("--version").stdin(Stdio::null()).output() {
        Err(error) => notes.error(format!("the program `{program}` does not run: {error}")),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            match said.split_whitespace().nth(1) {
                Some(version) if version == own => notes.fine(format!("`{program}` is version {own}")),
                version => notes.warn(format!(
                    "`{program}` is version {}, this one is {own}",
                    version.unwrap_or("unknown")
                )),
            }
        }
    }
}

/// Puts a call that must be stopped and one that must not be to the installed command lines.
fn trials(trial: &Trial<'_>, parts: &Parts, policy: &Arc<Policy>, notes: &mut Notes) {
    let (agent, around) = (trial.agent, trial.around);
    let found = find(policy, &json!({"cwd": around.here, "home": around.home}), agent.tools());
    match found.stopped.as_slice() {
        [] => notes.unproved(format!(
            "no call that {} can make was found that the policy denies or has a person asked about, so it is not proved that the hook \
             stops any",
            agent.name()
        )),
        calls => {
            let shown = shown(calls);
            let only_later = if calls.len() > 1 { "; the policy denies no first call of a session" } else { "" };
            match trial.run("denied", calls) {
                Err(why) => notes.error(format!("the call {shown} cannot be decided: {why}")),
                Ok(Outcome { decision, .. }) if decision == "allow" => {
                    notes.error(format!("the call {shown} must be denied and is not"));
                }
                Ok(Outcome { stopped: false, decision, .. }) if parts.shadow => {
                    notes.fine(format!("in shadow mode, {shown} is recorded as `{decision}`, and runs{only_later}"));
                }
                Ok(Outcome { stopped: true, decision, .. }) if !parts.shadow && decision == "ask" => notes.fine(format!(
                    "a call that a person must be asked about does not run unasked: {shown}; the policy denies no first call"
                )),
                Ok(Outcome { stopped: true, .. }) if !parts.shadow => {
                    notes.fine(format!("a call that must be denied is denied: {shown}{only_later}"));
                }
                Ok(_) => notes.error(format!("the decision on {shown} does not reach the agent")),
            }
        }
    }
    let Some(call) = &found.allowed else {
        return notes
            .warn("no call was found that the policy allows at the beginning of a session".to_owned());
    };
    let calls = std::slice::from_ref(call);
    let shown = shown(calls);
    match trial.run("allowed", calls) {
        Ok(Outcome { stopped: false, decision, .. }) if decision == "allow" => {
            notes.fine(format!("a call that is allowed is not denied: {shown}"));
        }
        Ok(_) => notes.error(format!("the call {shown} is allowed, and the hook denies it")),
        Err(why) => notes.error(format!("the call {shown} cannot be decided: {why}")),
    }
}

fn shown(calls: &[TrialCall]) -> String {
    let last = calls.last().map(|call| format!("`{} {}`", call.tool, call.arguments)).unwrap_or_default();
    match calls.len() {
        0 | 1 => last,
        many => format!("{last}, made {many} times"),
    }
}

/// Whether another program's command answers for the user, as far as its text shows.
fn answers_allow(command: &str, here: &Path) -> bool {
    const LARGEST: u64 = 1 << 20;
    let words = shlex::split(command).unwrap_or_default();
    let scripts = words
        .iter()
        .map(|word| here.join(word))
        .filter(|path| fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= LARGEST));
    let texts = scripts.filter_map(|path| fs::read_to_string(path).ok());
    std::iter::once(command.to_owned()).chain(texts).any(|text| {
        let says = |word: &str| text.contains(word);
        (says("permissionDecision") || says("permission")) && says("allow")
            || says("decision") && says("approve")
    })
}
