//! The agents whose hooks are known: what their events mean, and how they are answered.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::fault::Fault;
use super::outcome::{self, Telling};
use rulestep_base::session::Body;

pub mod places;
pub mod tools;

/// An agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// The Codex CLI.
    Codex,
    /// The Gemini CLI.
    GeminiCli,
    /// Cursor.
    Cursor,
}

/// What an agent reported.
#[derive(Debug)]
pub struct Report {
    /// The session.
    pub session: String,
    /// The subagent, where it is one's.
    pub subagent: Option<String>,
    /// The agent's own log of the session.
    pub transcript: Option<String>,
    /// The folder of the session, if it begins with this event.
    pub folder: Option<String>,
    /// The folder that the agent is in now.
    pub cwd: Option<String>,
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// The model wants to make a call.
    Propose {
        /// Its id, where the agent has ids.
        id: Option<String>,
        /// The tool.
        tool: String,
        /// Its arguments.
        arguments: Body,
    },
    /// A call has ended.
    Resolve {
        /// Its id, where the agent has ids.
        id: Option<String>,
        /// The tool.
        tool: String,
        /// Its arguments, where the event has them.
        arguments: Option<Body>,
        /// `ok`, `error` or `refused`.
        outcome: &'static str,
        /// Its result.
        output: Body,
    },
    /// The user said something.
    Prompt(String),
    /// The session has ended.
    End,
    /// Nothing that a decision could rest on.
    Nothing,
}

/// What an agent reads about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Nothing speaks against it: the agent goes on as if nobody had been asked.
    Silent,
    /// The agent asks its user.
    Ask(String),
    /// It does not run.
    Deny(String),
    /// It does not run, and the agent's run ends.
    Halt(String),
}

/// What is written and how the program ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub error: String,
    /// Whether it ends with exit code 2, which blocks.
    pub blocks: bool,
}

/// Every member of every agent's event that is looked at.
#[derive(Debug, Deserialize)]
struct Wire<'a> {
    hook_event_name: String,
    session_id: Option<String>,
    conversation_id: Option<String>,
    transcript_path: Option<String>,
    cwd: Option<String>,
    /// Cursor says the folder of a session so, also where an event has no `cwd`.
    workspace_roots: Option<Vec<String>>,
    agent_id: Option<String>,
    tool_name: Option<String>,
    #[serde(borrow)]
    tool_input: Option<&'a RawValue>,
    tool_use_id: Option<String>,
    #[serde(borrow)]
    tool_response: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_output: Option<&'a RawValue>,
    #[serde(borrow)]
    result_json: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    error_message: Option<&'a RawValue>,
    failure_type: Option<String>,
    #[serde(borrow)]
    reason: Option<&'a RawValue>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    file_path: Option<String>,
    prompt: Option<String>,
}

impl Agent {
    /// Every agent.
    pub const ALL: [Agent; 4] = [Agent::ClaudeCode, Agent::Codex, Agent::GeminiCli, Agent::Cursor];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Codex => "codex",
            Agent::GeminiCli => "gemini-cli",
            Agent::Cursor => "cursor",
        }
    }

    /// The agent of this name.
    pub fn named(name: &str) -> Option<Agent> {
        Agent::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// The format of its transcripts, where the ids of calls in them are those of the events.
    pub fn transcripts(self) -> Option<&'static str> {
        match self {
            Agent::ClaudeCode => Some("claude-code"),
            Agent::Codex => Some("codex-rollout"),
            Agent::GeminiCli | Agent::Cursor => None,
        }
    }

    /// Whether it can ask its user because a hook says so.
    pub fn asks(self) -> bool {
        matches!(self, Agent::ClaudeCode | Agent::Cursor)
    }

    /// Whether it asks its user where a hook answers this event so: Cursor does for two events only, and Claude Code has a model
    /// answer for the user in its mode `auto`.
    pub fn asks_about(self, input: &[u8]) -> bool {
        #[derive(Default, Deserialize)]
        struct About {
            hook_event_name: Option<String>,
            permission_mode: Option<String>,
        }
        let about: About = serde_json::from_slice(input).unwrap_or_default();
        match self {
            Agent::ClaudeCode => about.permission_mode.as_deref() != Some("auto"),
            Agent::Cursor => {
                matches!(
                    about.hook_event_name.as_deref(),
                    Some("beforeShellExecution" | "beforeMCPExecution")
                )
            }
            Agent::Codex | Agent::GeminiCli => false,
        }
    }

    /// Whether its log alone says how a command ended, and where it ran: its events have neither an exit code nor a folder.
    pub fn logs_commands(self) -> bool {
        self == Agent::Codex
    }

    /// Whether its events say which subagent they are of, so that whatever a subagent does is in a journal of its own.
    pub fn tells_subagents(self) -> bool {
        matches!(self, Agent::ClaudeCode)
    }

    /// Reads an event.
    ///
    /// # Errors
    /// It is no event of this agent.
    pub fn read(self, input: &[u8]) -> Result<Report, Fault> {
        let name = self.name();
        let unreadable = |why: &dyn std::fmt::Display| {
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

    fn event(self, wire: &Wire<'_>) -> Result<Event, String> {
        let name = wire.hook_event_name.as_str();
        if self == Agent::Cursor
            && let Some(event) = cursor(name, wire)
        {
            return event;
        }
        let named = wire.tool_name.clone().filter(|tool| !tool.is_empty());
        let tool = || named.clone().ok_or_else(|| format!("the event `{name}` names no tool"));
        let id = wire.tool_use_id.clone().filter(|id| !id.is_empty());
        let arguments = || Ok::<_, String>(body(Some(given(name, "tool_input", wire.tool_input)?)));
        let output = || body(wire.tool_response.or(wire.tool_output));
        let made = || wire.tool_input.map(|input| body(Some(input)));
        Ok(match name {
            "PreToolUse" | "BeforeTool" | "preToolUse" => {
                Event::Propose { id, tool: tool()?, arguments: arguments()? }
            }
            "PostToolUse" | "AfterTool" | "postToolUse" => {
                let (tool, output) = (tool()?, output());
                match outcome::of(self.telling(), &tool, &output) {
                    Some(outcome) => Event::Resolve { id, tool, arguments: made(), outcome, output },
                    None => Event::Nothing,
                }
            }
            "PostToolUseFailure" | "postToolUseFailure" => {
                let output = body(wire.error.or(wire.error_message).or(wire.tool_response));
                let declined = wire.failure_type.as_deref() == Some("permission_denied");
                let outcome = if declined { "refused" } else { "error" };
                Event::Resolve { id, tool: tool()?, arguments: made(), outcome, output }
            }
            // Of the agent's own mode without prompts; it tells nobody what a person answers.
            "PermissionDenied" => {
                let output = body(wire.reason);
                Event::Resolve { id, tool: tool()?, arguments: made(), outcome: "refused", output }
            }
            "UserPromptSubmit" | "BeforeAgent" | "beforeSubmitPrompt" => {
                Event::Prompt(wire.prompt.clone().unwrap_or_default())
            }
            "SessionEnd" | "sessionEnd" => Event::End,
            "SessionStart"
            | "SubagentStart"
            | "SubagentStop"
            | "PreCompact"
            | "PostCompact"
            | "Stop"
            | "Notification"
            | "PermissionRequest"
            | "AfterAgent"
            | "BeforeModel"
            | "AfterModel"
            | "BeforeToolSelection"
            | "PreCompress"
            | "sessionStart"
            | "subagentStart"
            | "subagentStop"
            | "preCompact"
            | "stop"
            | "afterAgentResponse"
            | "afterAgentThought" => Event::Nothing,
            other => return Err(format!("the event `{other}` is not known")),
        })
    }

    /// How its results say that calls failed, beside the event that some agents have for that.
    fn telling(self) -> Telling {
        match self {
            Agent::ClaudeCode | Agent::Cursor => Telling::Plain,
            Agent::Codex => Telling::Codex,
            Agent::GeminiCli => Telling::Gemini,
        }
    }

    /// What it reads.
    pub fn reply(self, answer: &Answer) -> Reply {
        let quiet = if matches!(self, Agent::GeminiCli | Agent::Cursor) { "{}\n" } else { "" };
        let reply = |output: Value, error: &str, blocks| Reply {
            output: format!("{output}\n"),
            error: if error.is_empty() { String::new() } else { format!("{error}\n") },
            blocks,
        };
        let specific = |decision: &str, reason: &str| json!({"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason});
        match (self, answer) {
            (_, Answer::Silent) => Reply { output: quiet.to_owned(), error: String::new(), blocks: false },
            (_, Answer::Ask(reason)) if !self.asks() => self.reply(&Answer::Deny(reason.clone())),
            (Agent::Cursor, Answer::Ask(reason)) => reply(
                json!({"permission": "ask", "user_message": reason, "agent_message": reason}),
                "",
                false,
            ),
            (_, Answer::Ask(reason)) => {
                reply(json!({"hookSpecificOutput": specific("ask", reason)}), "", false)
            }
            // Codex takes `continue` for a mistake of the hook and lets the call run, so a halt is a denial there: every
            // later call is denied as well.
            (Agent::ClaudeCode, Answer::Deny(reason))
            | (Agent::Codex, Answer::Deny(reason) | Answer::Halt(reason)) => {
                reply(json!({"hookSpecificOutput": specific("deny", reason)}), reason, true)
            }
            // JSON counts with exit code 0 alone.
            (Agent::ClaudeCode, Answer::Halt(reason)) => reply(
                json!({"continue": false, "stopReason": reason, "hookSpecificOutput": specific("deny", reason)}),
                "",
                false,
            ),
            (Agent::GeminiCli, Answer::Deny(reason)) => {
                reply(json!({"decision": "deny", "reason": reason}), reason, true)
            }
            (Agent::GeminiCli, Answer::Halt(reason)) => reply(
                json!({"continue": false, "stopReason": reason, "decision": "deny", "reason": reason}),
                "",
                false,
            ),
            (Agent::Cursor, Answer::Deny(reason) | Answer::Halt(reason)) => reply(
                json!({"permission": "deny", "user_message": reason, "agent_message": reason}),
                "",
                false,
            ),
        }
    }
}

/// Events of Cursor that name their tool by themselves.
fn cursor(name: &str, wire: &Wire<'_>) -> Option<Result<Event, String>> {
    let propose = |tool: &str, arguments: Result<Body, String>| {
        Some(arguments.map(|arguments| Event::Propose { id: None, tool: tool.to_owned(), arguments }))
    };
    let resolve = |tool: &str, output| {
        let (tool, output) = (tool.to_owned(), body(output));
        Some(Ok(match outcome::of(Agent::Cursor.telling(), &tool, &output) {
            Some(outcome) => {
                let arguments = wire.tool_input.map(|input| body(Some(input)));
                Event::Resolve { id: None, tool, arguments, outcome, output }
            }
            None => Event::Nothing,
        }))
    };
    match name {
        "beforeShellExecution" => {
            let command = given(name, "command", wire.command);
            propose("Shell", command.map(|command| object("command", command.get())))
        }
        // It does not say how the command ended, so it proves nothing; `postToolUse` says it.
        "afterShellExecution" => Some(Ok(Event::Nothing)),
        "beforeMCPExecution" => {
            let input = given(name, "tool_input", wire.tool_input);
            propose(wire.tool_name.as_deref()?, input.map(|input| body(Some(input))))
        }
        "afterMCPExecution" => resolve(wire.tool_name.as_deref()?, wire.result_json),
        "beforeReadFile" | "beforeTabFileRead" => {
            let path = given(name, "file_path", wire.file_path.as_deref());
            propose("Read", path.map(|path| object("file_path", &Value::from(path).to_string())))
        }
        _ => None,
    }
}

/// What an event says under a key of what a call would do: without it nothing can be decided.
fn given<T>(event: &str, key: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("the event `{event}` has no `{key}`"))
}

fn object(key: &str, json: &str) -> Body {
    Body::json(&format!("{{\"{key}\": {json}}}"))
}

fn body(raw: Option<&RawValue>) -> Body {
    raw.map_or(Body::MISSING, |raw| Body::json(raw.get()))
}
