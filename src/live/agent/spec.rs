//! The row of an agent: all that the gate knows about it.

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

/// An agent. What it can do is said here, so that nothing else asks which agent it is.
#[derive(Debug)]
pub struct AgentSpec {
    /// Its name on the command line.
    pub name: &'static str,
    /// Where its hooks are.
    pub places: Places,
    /// How hooks are written there.
    pub form: HookForm,
    /// The events that it has.
    pub events: &'static [EventSpec],
    /// The key under which its events name the session.
    pub session_key: &'static str,
    /// Its own logs, where the ids of calls in them are those of the events.
    pub logs: Option<Logs>,
    /// How its results say that calls failed, beside the event that some agents have for that.
    pub telling: Telling,
    /// What it reads.
    pub answers: Answers,
    /// What to do after a hook was entered, before it runs.
    pub after_install: Option<&'static str>,
    /// Finds hooks that do not run, where the agent runs only those that its user trusts.
    pub trust: Option<FindUntrusted>,
    /// The command that turns its hooks off, as a rule has it.
    pub turned_off_by: Option<fn() -> Value>,
}

/// The files that say whether an agent's hooks run. `install` writes there, `doctor` looks there, and a test asks the shipped policy to
/// guard each of them.
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

/// How a file says whether hooks run; `None`: it says nothing of it.
#[derive(Debug, Clone, Copy)]
pub enum Switch {
    /// In settings in JSON.
    Json(fn(&Object<'_>) -> Option<bool>),
    /// In a configuration in TOML.
    Toml(fn(&str) -> Result<Option<bool>, String>),
}

/// How hooks are written in an agent's settings.
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
    /// What the agent waits where there is no `timeout`, in milliseconds.
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
    /// What it is about.
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
    /// Whether they alone say how a command ended, and where it ran: events have neither an exit code nor a folder.
    pub tells_commands: bool,
    /// Where the log of a subagent is, if the events say which subagent they are of: the log of the session, and the subagent's id.
    pub subagent: Option<fn(&str, &str) -> String>,
}

/// What an agent reads. A row without `ask` has a call denied that its user must be asked about.
#[derive(Debug, Clone, Copy)]
pub struct Answers {
    /// What is written where nothing speaks against a call.
    pub silent: &'static str,
    /// Has the user asked.
    pub ask: Option<Ask>,
    /// Stops a call.
    pub deny: fn(&str) -> Reply,
    /// Stops a call and ends the run.
    pub halt: fn(&str) -> Reply,
}

/// How an agent asks its user because a hook says so.
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// Whether it asks where a hook answers this event so.
    pub about: fn(&About) -> bool,
    /// What it reads.
    pub reply: fn(&str) -> Reply,
}

/// What decides whether an agent asks its user.
#[derive(Debug, Default, Deserialize)]
pub struct About {
    /// The event.
    pub hook_event_name: Option<String>,
    /// What the agent may do unasked.
    pub permission_mode: Option<String>,
}
