//! The row of an agent: everything that the gate knows about it.

use std::path::Path;

use jsonc_parser::ast::Object;
use serde::Deserialize;
use serde_json::Value;

use super::super::outcome::Telling;
use super::super::settings::{Flaw, Hook};
use super::event::Meaning;
use super::reply::Reply;

/// Finds hooks in a file that do not run because the user has not trusted them. The last is the folder of the user's settings.
pub type FindUntrusted = fn(&Path, &[Hook], Option<&Path>) -> Vec<Flaw>;

/// An agent. Its particulars are all here, so that other code never asks which agent it is.
#[derive(Debug)]
pub struct AgentSpec {
    /// Its name on the command line.
    pub name: &'static str,
    /// The places of its hooks.
    pub places: Places,
    /// The form of its hooks.
    pub form: HookForm,
    /// The events that it has.
    pub events: &'static [EventSpec],
    /// The key under which its events name the session.
    pub session_key: &'static str,
    /// Its own logs, if the ids of calls in them are those of the events.
    pub logs: Option<Logs>,
    /// How its results mark failed calls, besides the event that some agents have for that.
    pub telling: Telling,
    /// The form of its answers.
    pub answers: Answers,
    /// What to do after a hook was installed, before it runs.
    pub after_install: Option<&'static str>,
    /// Finds hooks that do not run, if the agent runs only those that its user trusts.
    pub trust: Option<FindUntrusted>,
    /// The command that turns its hooks off, as a rule has it.
    pub turned_off_by: Option<fn() -> Value>,
}

/// The files that determine whether an agent's hooks run. `install` writes them, `doctor` checks them, and a test
/// requires the shipped policy to guard each of them.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    /// The variable that names the user's folder.
    pub variable: Option<&'static str>,
    /// The folder, in a project and in the user's home.
    pub folder: &'static str,
    /// The file with the hooks.
    pub hooks: &'static str,
    /// The files with a switch for all hooks, the one that counts most first.
    pub switches: &'static [&'static str],
    /// Those of the machine, which count more than all others.
    pub managed: &'static [&'static str],
    /// The switch.
    pub key: &'static str,
    /// Reads the switch.
    pub switch: Switch,
    /// The variable with which it runs no hook.
    pub off: Option<&'static str>,
}

/// The switch in a file that enables hooks; `None`: it does not say.
#[derive(Debug, Clone, Copy)]
pub enum Switch {
    /// In settings in JSON.
    Json(fn(&Object<'_>) -> Option<bool>),
    /// In a configuration in TOML.
    Toml(fn(&str) -> Result<Option<bool>, String>),
}

/// The form of hooks in an agent's settings.
#[derive(Debug, Clone, Copy)]
pub struct HookForm {
    /// Whether there may be comments.
    pub comments: bool,
    /// Whether hooks have a type, and are in groups that share a matcher.
    pub groups: bool,
    /// A key that the settings need beside `hooks`, and its value.
    pub needs: Option<(&'static str, &'static str)>,
    /// The key with which a hook that fails lets no call run.
    pub fails_closed: Option<&'static str>,
    /// Whether a hook that runs in the background is not heard, even if it only reports.
    pub no_background: bool,
    /// Milliseconds of one in `timeout`.
    pub timeout_unit: f64,
    /// The agent's default timeout, in milliseconds.
    pub timeout_default: f64,
    /// The lists under `disabled` of these keys that turn a hook off by its name or its command line, each with the name that people
    /// know.
    pub disabling: &'static [(&'static str, &'static str)],
}

/// An event of an agent.
#[derive(Debug, Clone, Copy)]
pub struct EventSpec {
    /// Its name.
    pub name: &'static str,
    /// Its meaning.
    pub meaning: Meaning,
    /// Whether `install` enters a hook for it.
    pub entered: bool,
}

/// An event that the gate needs.
pub const fn needed(name: &'static str, meaning: Meaning) -> EventSpec {
    EventSpec { name, meaning, entered: true }
}

/// An event that a hook may be entered for by hand.
pub const fn possible(name: &'static str, meaning: Meaning) -> EventSpec {
    EventSpec { name, meaning, entered: false }
}

/// An agent's own logs of sessions.
#[derive(Debug, Clone, Copy)]
pub struct Logs {
    /// Their format.
    pub format: &'static str,
    /// Their folder, in the user's folder.
    pub folder: &'static str,
    /// Whether only the logs have the exit codes and working directories of commands; events have neither.
    pub tells_commands: bool,
    /// The path of a subagent's log, if the events name their subagent: from the log of the session, and the subagent's
    /// id.
    pub subagent: Option<fn(&str, &str) -> String>,
}

/// The form of an agent's answers. Without `ask`, a call that its user must be asked about is denied.
#[derive(Debug, Clone, Copy)]
pub struct Answers {
    /// The output if there is no objection to a call.
    pub silent: &'static str,
    /// Has the user asked.
    pub ask: Option<Ask>,
    /// Stops a call.
    pub deny: fn(&str) -> Reply,
    /// Stops a call and ends the run.
    pub halt: fn(&str) -> Reply,
}

/// How a hook makes an agent ask its user.
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// Whether it asks its user about an event that a hook answers in this way.
    pub about: fn(&About) -> bool,
    /// The reply.
    pub reply: fn(&str) -> Reply,
}

/// The conditions under which an agent asks its user.
#[derive(Debug, Default, Deserialize)]
pub struct About {
    /// The event.
    pub hook_event_name: Option<String>,
    /// The mode that says what the agent may do without asking.
    pub permission_mode: Option<String>,
}
