//! The agents whose hooks are known. Each agent is a row with everything that is particular to it; other code never
//! asks which agent it is.

use std::fmt;
use std::path::Path;

use serde_json::Value;

use super::fault::Fault;
use super::settings::{Flaw, Hook};
use event::{Meaning, Wire};
use rulestep_shell::facts::{self, AgentTool};
use spec::{About, AgentSpec};

pub use event::{Event, Report};
pub use reply::{Answer, Reply};
pub use spec::{HookForm, Logs, Places, Switch};

mod claude_code;
mod codex;
mod cursor;
mod event;
mod gemini_cli;
mod qwen_code;
mod reply;
mod spec;

/// An agent, by its row.
#[derive(Clone, Copy)]
pub struct Agent(&'static AgentSpec);

impl PartialEq for Agent {
    fn eq(&self, other: &Agent) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Agent {}

impl fmt::Debug for Agent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl Agent {
    /// Every agent.
    pub const ALL: &'static [Agent] = &[
        Agent(&claude_code::SPEC),
        Agent(&codex::SPEC),
        Agent(&gemini_cli::SPEC),
        Agent(&cursor::SPEC),
        Agent(&qwen_code::SPEC),
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The agent of this name.
    pub fn named(name: &str) -> Option<Agent> {
        Agent::ALL.iter().copied().find(|agent| agent.name() == name)
    }

    /// The places of its hooks.
    pub fn places(self) -> &'static Places {
        &self.0.places
    }

    /// The form of its hooks.
    pub fn form(self) -> &'static HookForm {
        &self.0.form
    }

    /// Its tools; those of MCP servers come in addition.
    pub fn tools(self) -> &'static [AgentTool] {
        facts::agent_tools(self.name())
    }

    /// Its own logs, if hooks read them.
    pub fn logs(self) -> Option<&'static Logs> {
        self.0.logs.as_ref()
    }

    /// The format of its transcripts, if the ids of calls in them are those of the events.
    pub fn transcripts(self) -> Option<&'static str> {
        self.logs().map(|logs| logs.format)
    }

    /// Whether only its log has the exit codes and working directories of commands.
    pub fn logs_commands(self) -> bool {
        self.logs().is_some_and(|logs| logs.tells_commands)
    }

    /// Whether its events name their subagent, so that each subagent has a journal of its own.
    pub fn tells_subagents(self) -> bool {
        self.logs().is_some_and(|logs| logs.subagent.is_some())
    }

    /// The key under which its events name the session.
    pub fn session_key(self) -> &'static str {
        self.0.session_key
    }

    /// The events that are needed, each with whether it decides a call.
    pub fn events(self) -> Vec<(&'static str, bool)> {
        let needed = self.0.events.iter().filter(|event| event.entered);
        needed.map(|event| (event.name, event.meaning.decides())).collect()
    }

    /// Whether an event decides a call.
    pub fn decides(self, event: &str) -> bool {
        self.meaning(event).is_some_and(Meaning::decides)
    }

    /// Whether an event by itself means that a call succeeded.
    pub fn tells_success(self, event: &str) -> bool {
        matches!(self.meaning(event), Some(Meaning::Result))
    }

    /// The meaning of one of its events.
    fn meaning(self, event: &str) -> Option<Meaning> {
        self.0.events.iter().find(|own| own.name == event).map(|own| own.meaning)
    }

    /// What to do after a hook was installed, before it runs.
    pub fn after_install(self) -> Option<&'static str> {
        self.0.after_install
    }

    /// Why it does not run hooks of ours in this file, for want of the user's trust. `user` is the folder of the user's settings.
    pub fn untrusted(self, settings: &Path, hooks: &[Hook], user: Option<&Path>) -> Vec<Flaw> {
        self.0.trust.map(|trust| trust(settings, hooks, user)).unwrap_or_default()
    }

    /// The command that turns its hooks off, as a rule has it.
    pub fn turned_off_by(self) -> Option<Value> {
        self.0.turned_off_by.map(|command| command())
    }

    /// Whether it asks its user about an event that a hook answers in this way.
    pub fn asks_about(self, input: &[u8]) -> bool {
        let about: About = serde_json::from_slice(input).unwrap_or_default();
        self.0.answers.ask.is_some_and(|ask| (ask.about)(&about))
    }

    /// Reads an event.
    ///
    /// # Errors
    /// It is no event of this agent.
    pub fn read(self, input: &[u8]) -> Result<Report, Fault> {
        let name = self.name();
        let unreadable = |why: &dyn fmt::Display| {
            let message = format!("the hook event cannot be read: {why}");
            Fault::new(message, format!("send one JSON event of {name} on standard input"))
        };
        let wire: Wire<'_> = serde_json::from_slice(input).map_err(|error| unreadable(&error))?;
        let session = wire.session_id.as_deref().or(wire.conversation_id.as_deref()).unwrap_or_default();
        if session.is_empty() {
            return Err(unreadable(&"it names no session"));
        }
        let event = self.event(&wire).map_err(|why| unreadable(&why))?;
        let cwd = wire.cwd.filter(|cwd| !cwd.is_empty());
        let root = wire.workspace_roots.and_then(|roots| roots.into_iter().next());
        let folder = root.filter(|root| !root.is_empty()).or_else(|| cwd.clone());
        Ok(Report {
            session: session.to_owned(),
            subagent: wire.agent_id.filter(|id| !id.is_empty()),
            transcript: wire.transcript_path.filter(|path| !path.is_empty()),
            folder,
            cwd,
            event,
        })
    }

    /// Its event, or one of another agent: some run hooks that are written for another.
    fn event(self, wire: &Wire<'_>) -> Result<Event, String> {
        let name = wire.hook_event_name.as_str();
        let others = || Agent::ALL.iter().find_map(|other| other.meaning(name).filter(|it| it.is_shared()));
        let meaning = self.meaning(name).or_else(others).ok_or_else(|| event::unknown(name))?;
        wire.event(meaning, self.0.telling)
    }

    /// The reply in its form.
    pub fn reply(self, answer: &Answer) -> Reply {
        let answers = &self.0.answers;
        match answer {
            Answer::Silent => {
                Reply { output: answers.silent.to_owned(), error: String::new(), blocks: false }
            }
            Answer::Ask(reason) => answers.ask.map_or(answers.deny, |ask| ask.reply)(reason),
            Answer::Deny(reason) => (answers.deny)(reason),
            Answer::Halt(reason) => (answers.halt)(reason),
        }
    }
}
