//! One recorded run of an agent: messages, turns, calls, offered tools and facts about its environment.
//!
//! A session holds what the recording says, and nothing derived from a policy. Every reader of recordings builds it
//! with [`build::Builder`], so turns are formed and results are paired in one place.

pub mod alternative;
pub mod body;
pub mod build;
pub mod damage;
pub mod edit;
pub mod live;
pub mod refusal;
mod title;
pub mod tree;
pub mod value;
pub mod write;

use std::ops::{Deref, Range};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use alternative::{Alternative, AlternativeRef};
pub use body::{Body, Form};
pub use damage::Damage;
pub use live::LiveDecision;
pub use tree::{Elsewhere, TreeSeen, TreeSight};

use crate::diagnostic::Diagnostic;

/// An instant: milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = i64;

/// One recorded run.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// The recording's own id, or one made from the file's name and the place in it.
    pub id: Arc<str>,
    /// The file and place that it was read from.
    pub origin: Origin,
    /// Title for people: the recording's own, else the first words that the user wrote.
    pub title: Option<Arc<str>>,
    /// The first recorded instant.
    pub began: Option<Millis>,
    /// The environment, as far as policies may know it.
    pub facts: Arc<Facts>,
    /// Parent session's id, for the session of a subagent.
    pub parent: Option<Arc<str>>,
    /// The tools the model could see, each list with its first turn, by turn; empty if none were recorded.
    pub offered: Vec<OfferedFrom>,
    /// All messages, in recorded order.
    pub messages: Vec<Message>,
    /// Model responses, numbered from 1: `turns[0]` is turn 1.
    pub turns: Vec<Turn>,
    /// Every proposed call; `calls[i].at.index == i`.
    pub calls: Vec<Call>,
    /// Responses that were not taken, by turn and choice; their calls are in none of the above.
    pub alternatives: Vec<Alternative>,
    /// The events of the other sessions of its tree, once they are joined.
    pub elsewhere: Option<Arc<Elsewhere>>,
    /// What was damaged, missing or odd in the recording.
    pub diagnostics: Vec<Diagnostic>,
}

/// The file and place that a session was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The file as it was named; `-` for standard input.
    pub file: Arc<str>,
    /// Place in the file, from 0.
    pub index: usize,
    /// Name of the format.
    pub format: &'static str,
    /// Line in the file where the session begins, from 1.
    pub line: u32,
}

/// What a policy may know of a session before its first turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// `context`, whatever its keys.
    pub context: Option<Value>,
    /// `variables`, for templates.
    pub variables: Option<Map<String, Value>>,
    /// Files known to exist at the start. An empty list: known to be none. `None`: not known.
    pub files: Option<Vec<String>>,
    /// The session's instant, for messages without a time.
    pub now: Option<Millis>,
    /// Whether the recording keeps results.
    pub results: Results,
    /// The recording begins in the middle of a conversation, so absence proves little.
    pub from_the_middle: bool,
    /// The session is a subagent's: another agent started it.
    pub subagent: bool,
    /// How much is known of the other sessions of its tree.
    pub tree: TreeSight,
}

/// Whether a recording keeps the results of calls at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Results {
    /// It does: a call without one is `unknown`.
    #[default]
    Recorded,
    /// It does not: every call is `ok` without output.
    Absent,
}

/// One tool as it was offered to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Exact name.
    pub name: Arc<str>,
    /// Its description for the model.
    pub description: Option<Arc<str>>,
    /// JSON Schema of the arguments, as recorded.
    pub parameters: Option<Value>,
}

/// The tools offered from a turn on.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedFrom {
    /// First turn, from 1.
    pub turn: u32,
    /// In offered order; shared by all turns and sessions with the same list.
    pub tools: Arc<[Tool]>,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// `user`, `assistant`, `system`, `tool`, or whatever the recording says.
    pub role: Arc<str>,
    /// Its content.
    pub content: Body,
    /// Time, if recorded.
    pub at: Option<Millis>,
    /// Its role in the session.
    pub kind: MessageKind,
    /// The calls that it proposes, for a message of the model, shared with [`Session::calls`].
    pub calls: Vec<Arc<ToolCall>>,
    /// Line in the file, from 1; 0 if unknown.
    pub line: u32,
}

/// A call as the model proposed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The recording's id, if it has one.
    pub id: Option<Arc<str>>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// Arguments as recorded.
    pub arguments: Body,
}

/// The role of a message in the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageKind {
    /// A message of the user, the system or a developer.
    Said,
    /// Part of the model's response that is this turn (from 1).
    Response(u32),
    /// A result: of the call with this session index (`None`: of no recorded call), and the id that it names.
    Result(Option<u32>, Option<Arc<str>>),
    /// A published operation on recorded state; it is in no history.
    Operation(Operation),
}

/// The role of messages that are operations.
pub const OPERATION_ROLE: &str = "policy";
/// That role before the program was called Rulestep. Read, never written.
pub const OLD_OPERATION_ROLE: &str = "toolgate";

/// An operation of the tool-policies dialect, applied at its position between turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Save the recorded state under a name.
    Snapshot(Arc<str>),
    /// Restore the recorded state of that name.
    Restore(Arc<str>),
    /// Empty the recorded state.
    Reset,
    /// Any other operation, by its recorded text. It empties the state, because nothing else is safe.
    Unknown(Arc<str>),
}

/// One model response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// From 1.
    pub number: u32,
    /// Its messages, as indices into [`Session::messages`]; the first one begins the turn.
    pub messages: Range<usize>,
    /// Its calls, as indices into [`Session::calls`].
    pub calls: Range<usize>,
    /// Calls of earlier turns whose result is within this turn, in recorded order.
    pub late: Vec<u32>,
}

/// A call as people and reports name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallRef {
    /// Turn, from 1.
    pub turn: u32,
    /// Call in the turn, from 1.
    pub call: u32,
    /// Call in the session, from 0.
    pub index: u32,
}

/// One proposed tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Turn, position in the turn, and index.
    pub at: CallRef,
    /// The proposal, shared with the message that proposes it.
    pub proposed: Arc<ToolCall>,
    /// The recorded outcome.
    pub outcome: Outcome,
    /// How a refusal was recognised: the mark or text, as the reader names it.
    pub refusal: Option<&'static str>,
    /// The result's content; missing if there is no result or it is `null`.
    pub output: Body,
    /// The result's message, as an index into [`Session::messages`].
    pub result: Option<usize>,
    /// Whether the result comes before the next response, so that it counts within the turn.
    pub in_turn: bool,
    /// Time of the proposal, if recorded.
    pub time: Option<Millis>,
    /// The working folder, if the recording names one other than the session's; `?` if it is unknown.
    pub folder: Option<Arc<str>>,
    /// The agent at the time of the call, if the recording says something other than for the session.
    pub agent: Option<Arc<AgentState>>,
    /// Whether the call was made in the session that this one is forked from. Rules see it; it is counted only in that
    /// session.
    pub copied: bool,
    /// A gate's live decision, if there was one.
    pub live: Option<Arc<LiveDecision>>,
}

impl Deref for Call {
    type Target = ToolCall;

    fn deref(&self) -> &ToolCall {
        &self.proposed
    }
}

/// State of the agent at a call, as far as it differs from the session's context.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentState {
    /// The mode that says what the agent may do without asking.
    pub permission_mode: Option<Arc<str>>,
    /// Its version.
    pub version: Option<Arc<str>>,
}

/// Keys of a session's context that hold for all its calls.
pub const PERMISSION_MODE: &str = "permission_mode";
/// See [`PERMISSION_MODE`].
pub const AGENT_VERSION: &str = "agent_version";

/// The folder of a call made in an unknown folder other than the session's.
pub const UNKNOWN_FOLDER: &str = "?";

/// The recorded outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It has a result.
    Ok,
    /// Its result is marked as failed.
    Error,
    /// A gate or a person stopped it; it never ran.
    Refused,
    /// There is no result.
    Unknown,
}

impl Outcome {
    /// The word in JSON and on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Error => "error",
            Outcome::Refused => "refused",
            Outcome::Unknown => "unknown",
        }
    }
}

impl Session {
    /// The folder or project that the agent worked in, if recorded.
    pub fn project(&self) -> Option<&str> {
        self.told(&["project", "cwd"])
    }

    /// The branch that it worked on, if recorded.
    pub fn branch(&self) -> Option<&str> {
        self.told(&["gitBranch", "branch"])
    }

    /// The agent: its own name, else that of its program or model.
    pub fn agent(&self) -> Option<&str> {
        self.told(&["agent", "agent_name", "pipeline_name", "originator", "model"])
    }

    /// The first of these entries of its context that is a text that is not blank.
    fn told(&self, keys: &[&str]) -> Option<&str> {
        let context = self.facts.context.as_ref()?;
        keys.iter().filter_map(|key| context.get(key)?.as_str()).find(|text| !text.trim().is_empty())
    }

    /// The turn with this number.
    pub fn turn(&self, number: u32) -> Option<&Turn> {
        self.turns.get((number as usize).checked_sub(1)?)
    }

    /// The turns from this one on; all of them for 0.
    pub fn turns_from(&self, number: u32) -> &[Turn] {
        self.turns.get((number as usize).saturating_sub(1)..).unwrap_or_default()
    }

    /// The calls of a turn.
    pub fn calls_of(&self, turn: &Turn) -> &[Call] {
        self.calls.get(turn.calls.clone()).unwrap_or_default()
    }

    /// The tools offered in a turn, if they were recorded.
    pub fn offered_in(&self, turn: u32) -> Option<&[Tool]> {
        let after = self.offered.partition_point(|from| from.turn <= turn);
        Some(&self.offered.get(after.checked_sub(1)?)?.tools)
    }

    /// The calls made in this session, without those copied from the session that it is forked from.
    pub fn made(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| !call.copied)
    }

    /// The last turn with a call that was copied from another session; 0 if there is none.
    pub fn copied_until(&self) -> u32 {
        self.calls.iter().rev().find(|call| call.copied).map_or(0, |call| call.at.turn)
    }

    /// The instant of a turn: its first message's time, else the session's `now`.
    pub fn time_of(&self, turn: &Turn) -> Option<Millis> {
        let own = self.messages.get(turn.messages.clone()).unwrap_or_default().iter().find_map(|m| m.at);
        own.or(self.facts.now)
    }

    /// Changes every proposal, including those of alternatives; `change` also gets the session's call, if it is one.
    pub fn change_proposed(&mut self, mut change: impl FnMut(&mut ToolCall, Option<&Call>)) {
        for call in &mut self.calls {
            let mut proposed = ToolCall::clone(&call.proposed);
            change(&mut proposed, Some(call));
            call.proposed = Arc::new(proposed);
        }
        self.share_proposed();
        for call in self.alternatives.iter_mut().flat_map(|other| &mut other.message.calls) {
            change(Arc::make_mut(call), None);
        }
    }

    /// Shares the proposals of each turn's calls with its messages, in order.
    fn share_proposed(&mut self) {
        for turn in &self.turns {
            let mut own = self.calls.get(turn.calls.clone()).unwrap_or_default().iter();
            let messages = self.messages.get_mut(turn.messages.clone()).unwrap_or_default();
            for slot in messages.iter_mut().flat_map(|message| &mut message.calls) {
                if let Some(call) = own.next() {
                    *slot = Arc::clone(&call.proposed);
                }
            }
        }
    }

    /// The messages between a turn's response and the next response, results included.
    pub fn after(&self, turn: &Turn) -> Range<usize> {
        let end = self.turn(turn.number + 1).map_or(self.messages.len(), |next| next.messages.start);
        turn.messages.end..end
    }

    /// The messages between a turn's response and the one before.
    pub fn before(&self, turn: &Turn) -> Range<usize> {
        self.turn(turn.number.saturating_sub(1)).map_or(0, |before| before.messages.end)..turn.messages.start
    }
}
