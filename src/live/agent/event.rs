//! The events of agents: their data and meaning.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::outcome::{self, Telling};
use rulestep_base::session::Body;

/// A report of an agent.
#[derive(Debug)]
pub struct Report {
    /// The session.
    pub session: String,
    /// The subagent, if the event is of one.
    pub subagent: Option<String>,
    /// The agent's own log of the session.
    pub transcript: Option<String>,
    /// The folder of the session, if it begins with this event.
    pub folder: Option<String>,
    /// The folder that the agent is in now.
    pub cwd: Option<String>,
    /// The event.
    pub event: Event,
}

/// An event.
#[derive(Debug)]
pub enum Event {
    /// The model wants to make a call.
    Propose {
        /// Its id, if the agent has ids.
        id: Option<String>,
        /// The tool.
        tool: String,
        /// Its arguments.
        arguments: Body,
    },
    /// A call has ended.
    Resolve {
        /// Its id, if the agent has ids.
        id: Option<String>,
        /// The tool.
        tool: String,
        /// Its arguments, if the event has them.
        arguments: Option<Body>,
        /// `ok`, `error` or `refused`.
        outcome: &'static str,
        /// Its result.
        output: Body,
    },
    /// A message of the user.
    Prompt(String),
    /// The session has ended.
    End,
    /// Nothing that a decision could depend on.
    Nothing,
}

/// Every member of every agent's event that is looked at.
#[derive(Debug, Deserialize)]
pub struct Wire<'a> {
    pub(super) hook_event_name: String,
    pub(super) session_id: Option<String>,
    pub(super) conversation_id: Option<String>,
    pub(super) transcript_path: Option<String>,
    pub(super) cwd: Option<String>,
    /// Cursor's form of the working directory, also if an event has no `cwd`.
    pub(super) workspace_roots: Option<Vec<String>>,
    pub(super) agent_id: Option<String>,
    pub(super) tool_name: Option<String>,
    #[serde(borrow)]
    pub(super) tool_input: Option<&'a RawValue>,
    tool_use_id: Option<String>,
    #[serde(borrow)]
    tool_response: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_output: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) result_json: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    error_message: Option<&'a RawValue>,
    failure_type: Option<String>,
    #[serde(borrow)]
    reason: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) command: Option<&'a RawValue>,
    pub(super) file_path: Option<String>,
    prompt: Option<String>,
}

/// Reads an event whose name is not enough; `None`: its distinguishing member is missing.
pub type ReadEvent = fn(&str, &Wire<'_>) -> Option<Result<Event, String>>;

/// The meaning of an event.
#[derive(Debug, Clone, Copy)]
pub enum Meaning {
    /// The model wants to make a call.
    Call,
    /// A call has ended, and its result says how.
    Result,
    /// A call has failed.
    Failure,
    /// The agent itself has refused a call.
    Refusal,
    /// A message of the user.
    Prompt,
    /// The session has ended.
    End,
    /// Nothing that a decision could depend on.
    Nothing,
    /// An event of one agent alone that implies its tool and decides a call.
    OwnCall(ReadEvent),
    /// Such an event that reports something.
    OwnReport(ReadEvent),
}

impl Meaning {
    /// Whether an event with this meaning decides a call.
    pub fn decides(self) -> bool {
        matches!(self, Meaning::Call | Meaning::OwnCall(_))
    }

    /// Whether an agent that has no such event may send it: it runs hooks that are written for another.
    pub fn is_shared(self) -> bool {
        !matches!(self, Meaning::OwnCall(_) | Meaning::OwnReport(_))
    }
}

impl Wire<'_> {
    /// Reads the event with this meaning, of an agent whose results mark failures in this way.
    ///
    /// # Errors A member is missing without which nothing can be decided.
    pub fn event(&self, meaning: Meaning, telling: Telling) -> Result<Event, String> {
        let name = self.hook_event_name.as_str();
        let named = self.tool_name.clone().filter(|tool| !tool.is_empty());
        let tool = || named.clone().ok_or_else(|| format!("the event `{name}` names no tool"));
        let id = self.tool_use_id.clone().filter(|id| !id.is_empty());
        let made = || self.tool_input.map(|input| body(Some(input)));
        Ok(match meaning {
            Meaning::Call => {
                let tool = tool()?;
                let arguments = body(Some(given(name, "tool_input", self.tool_input)?));
                Event::Propose { id, tool, arguments }
            }
            Meaning::Result => {
                let (tool, output) = (tool()?, body(self.tool_response.or(self.tool_output)));
                match outcome::of(telling, &tool, &output) {
                    Some(outcome) => Event::Resolve { id, tool, arguments: made(), outcome, output },
                    None => Event::Nothing,
                }
            }
            Meaning::Failure => {
                let output = body(self.error.or(self.error_message).or(self.tool_response));
                let declined = self.failure_type.as_deref() == Some("permission_denied");
                let outcome = if declined { "refused" } else { "error" };
                Event::Resolve { id, tool: tool()?, arguments: made(), outcome, output }
            }
            Meaning::Refusal => {
                let output = body(self.reason);
                Event::Resolve { id, tool: tool()?, arguments: made(), outcome: "refused", output }
            }
            Meaning::Prompt => Event::Prompt(self.prompt.clone().unwrap_or_default()),
            Meaning::End => Event::End,
            Meaning::Nothing => Event::Nothing,
            Meaning::OwnCall(read) | Meaning::OwnReport(read) => {
                read(name, self).unwrap_or_else(|| Err(unknown(name)))?
            }
        })
    }
}

/// The problem of an event of an unknown name.
pub fn unknown(event: &str) -> String {
    format!("the event `{event}` is not known")
}

/// The value of a required key: without it nothing can be decided.
pub fn given<T>(event: &str, key: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("the event `{event}` has no `{key}`"))
}

/// Arguments with one value.
pub fn object(key: &str, json: &str) -> Body {
    Body::json(&format!("{{{}: {json}}}", Value::from(key)))
}

/// A value of an event.
pub fn body(raw: Option<&RawValue>) -> Body {
    raw.map_or(Body::MISSING, |raw| Body::json(raw.get()))
}
