//! One recorded run of an agent: messages, turns, calls, offered tools and what is known about its surroundings.
//!
//! A session holds what the recording says and nothing that a policy makes of it. It is built by
//! [`build::Builder`], which every reader of recordings uses, so turns are formed and results are paired in one place.

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
    /// Where it was read.
    pub origin: Origin,
    /// What it is called, for people: as the recording does, else by the first words that the user wrote.
    pub title: Option<Arc<str>>,
    /// The first instant that was recorded.
    pub began: Option<Millis>,
    /// What the policies may know of the surroundings.
    pub facts: Arc<Facts>,
    /// Parent session's id, for the session of a subagent.
    pub parent: Option<Arc<str>>,
    /// The tools the model could see, from the given turn on, by turn; empty where nothing was recorded.
    pub offered: Vec<OfferedFrom>,
    /// Everything said, in recorded order.
    pub messages: Vec<Message>,
    /// Model responses, numbered from 1: `turns[0]` is turn 1.
    pub turns: Vec<Turn>,
    /// Every proposed call; `calls[i].at.index == i`.
    pub calls: Vec<Call>,
    /// Responses that were not taken, by turn and choice; their calls are in none of the above.
    pub alternatives: Vec<Alternative>,
    /// What the other sessions of its tree did, where somebody looked.
    pub elsewhere: Option<Arc<Elsewhere>>,
    /// What was damaged, missing or odd in the recording.
    pub diagnostics: Vec<Diagnostic>,
}

/// Where a session was read.
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
    /// Files known to exist at the start. An empty list: known to be none. `None`: nobody listed them.
    pub files: Option<Vec<String>>,
    /// The session's instant, where messages have none of their own.
    pub now: Option<Millis>,
    /// Whether the recording keeps results.
    pub results: Results,
    /// The recording begins in the middle of a conversation, so absence proves little.
    pub from_the_middle: bool,
    /// The session is a subagent's: another agent started it.
    pub subagent: bool,
    /// What is known of the other sessions of its tree.
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
    /// What the model was told about it.
    pub description: Option<Arc<str>>,
    /// JSON Schema of the arguments, as recorded.
    pub parameters: Option<Value>,
}

/// The tools offered from a turn on.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedFrom {
    /// First turn, from 1.
    pub turn: u32,
    /// In offered order; shared by all the turns and sessions that one list of them is told for.
    pub tools: Arc<[Tool]>,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// `user`, `assistant`, `system`, `tool`, or whatever the recording says.
    pub role: Arc<str>,
    /// What it says.
    pub content: Body,
    /// When, if recorded.
    pub at: Option<Millis>,
    /// What it is to the session.
    pub kind: MessageKind,
    /// The calls that it proposes, for a message of the model; those of a session's own are its [`Session::calls`].
    pub calls: Vec<Arc<ToolCall>>,
    /// Line in the file, from 1; 0 where unknown.
    pub line: u32,
}

/// A call as the model proposed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The recording's id, where it has one.
    pub id: Option<Arc<str>>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// Arguments as recorded.
    pub arguments: Body,
}

/// What a message is to the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageKind {
    /// Something said: by the user, the system, a developer.
    Said,
    /// Part of the model's response that is this turn (numbered from 1).
    Response(u32),
    /// A result: of the call with this session index, or of none (`None`), with the id it names.
    Result(Option<u32>, Option<Arc<str>>),
    /// A published operation on recorded state; in no history.
    Operation(Operation),
}

/// The role of messages that are operations.
pub const OPERATION_ROLE: &str = "policy";
/// That role before the program was called Rulestep. Still read, never written.
pub const OLD_OPERATION_ROLE: &str = "toolgate";

/// An operation of the tool-policies dialect, applied where it stands between turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Keep the recorded state under a name.
    Snapshot(Arc<str>),
    /// Put the recorded state of that name back.
    Restore(Arc<str>),
    /// Empty the recorded state.
    Reset,
    /// Anything else, by its recorded text: empties the state, as nothing else is safe.
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
    /// Where it stands.
    pub at: CallRef,
    /// What was proposed, shared with the message that proposes it.
    pub proposed: Arc<ToolCall>,
    /// What the recording says became of it.
    pub outcome: Outcome,
    /// How a refusal was recognised: the mark or text, as the reader says it.
    pub refusal: Option<&'static str>,
    /// The result's content; missing where there is none, or where it is `null`.
    pub output: Body,
    /// The result's message, as an index into [`Session::messages`].
    pub result: Option<usize>,
    /// Whether the result stands before the next response, so that it counts within the turn.
    pub in_turn: bool,
    /// When it was proposed, if recorded.
    pub time: Option<Millis>,
    /// The folder that it was made in, where the recording names one that is not the session's, or `?` where nobody knows it.
    pub folder: Option<Arc<str>>,
    /// The agent when it was made, where the recording says something else of it than of the session.
    pub agent: Option<Arc<AgentState>>,
    /// Whether it was made in the session that this one is a fork of, and stands here as its past: rules know of it, and it is
    /// counted where it was made.
    pub copied: bool,
    /// What a gate decided about it, where one was asked.
    pub live: Option<Arc<LiveDecision>>,
}

impl Deref for Call {
    type Target = ToolCall;

    fn deref(&self) -> &ToolCall {
        &self.proposed
    }
}

/// What an agent was when it made a call, as far as the session's context does not say so.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentState {
    /// The mode that says what it does without being asked.
    pub permission_mode: Option<Arc<str>>,
    /// Its version.
    pub version: Option<Arc<str>>,
}

/// Keys of a session's context that say the same of all calls.
pub const PERMISSION_MODE: &str = "permission_mode";
/// See [`PERMISSION_MODE`].
pub const AGENT_VERSION: &str = "agent_version";

/// Stands for the folder of a call that is made elsewhere than the session, nobody knows where.
pub const UNKNOWN_FOLDER: &str = "?";

/// What the recording says became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It has a result.
    Ok,
    /// Its result is marked as failed.
    Error,
    /// A gate or a person stopped it then; it never ran.
    Refused,
    /// There is no result.
    Unknown,
}

impl Outcome {
    /// The word of the JSON output and the screen.
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
    /// The folder or project that the agent worked in, where the recording says so.
    pub fn project(&self) -> Option<&str> {
        self.told(&["project", "cwd"])
    }

    /// The branch that it worked on.
    pub fn branch(&self) -> Option<&str> {
        self.told(&["gitBranch", "branch"])
    }

    /// The agent: its own name, or of the program or the model that it is.
    pub fn agent(&self) -> Option<&str> {
        self.told(&["agent", "agent_name", "pipeline_name", "originator", "model"])
    }

    /// The first of these entries of its context that is a text with something in it.
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

    /// The tools offered in a turn, where they were recorded.
    pub fn offered_in(&self, turn: u32) -> Option<&[Tool]> {
        let after = self.offered.partition_point(|from| from.turn <= turn);
        Some(&self.offered.get(after.checked_sub(1)?)?.tools)
    }

    /// The calls that were made in this session, without those that a fork has as its past.
    pub fn made(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| !call.copied)
    }

    /// The last turn with a call that was copied from another session; 0 where there is none.
    pub fn copied_until(&self) -> u32 {
        self.calls.iter().rev().find(|call| call.copied).map_or(0, |call| call.at.turn)
    }

    /// The instant of a turn: its first message's time, else the session's `now`.
    pub fn time_of(&self, turn: &Turn) -> Option<Millis> {
        let own = self.messages.get(turn.messages.clone()).unwrap_or_default().iter().find_map(|m| m.at);
        own.or(self.facts.now)
    }

    /// Changes every call as it was proposed, of alternatives too. What the call is in the session, if it is one of its own,
    /// is given beside it.
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

    /// Messages propose the calls that their turn has, in this order.
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

    /// The messages that stand between a turn's response and the next response: results, and whatever was said.
    pub fn after(&self, turn: &Turn) -> Range<usize> {
        let end = self.turn(turn.number + 1).map_or(self.messages.len(), |next| next.messages.start);
        turn.messages.end..end
    }

    /// The messages that stand between a turn's response and the one before.
    pub fn before(&self, turn: &Turn) -> Range<usize> {
        self.turn(turn.number.saturating_sub(1)).map_or(0, |before| before.messages.end)..turn.messages.start
    }
}
