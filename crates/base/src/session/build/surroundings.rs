//! Facts of a session besides its messages: names, environment, offered tools.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Builder;
use crate::diagnostic::{Diagnostic, code};
use crate::session::{
    AGENT_VERSION, AgentState, Facts, LiveDecision, OfferedFrom, PERMISSION_MODE, Results, Tool,
};

impl Builder {
    /// Sets the facts of the session so far.
    pub fn show_facts(&mut self) {
        if *self.session.facts != self.facts {
            self.session.facts = Arc::new(self.facts.clone());
        }
    }

    /// The folder of the calls that follow; `None`: unknown.
    pub fn in_folder(&mut self, folder: Option<&str>) {
        let own = self.facts.context.as_ref().and_then(|context| context.get("cwd")?.as_str());
        if let Some(folder) = folder.filter(|folder| Some(*folder) != own && !folder.is_empty()) {
            if self.folder.as_deref() != Some(folder) {
                self.folder = Some(folder.into());
            }
        } else {
            self.folder = None;
        }
    }

    /// The permission mode and version of the agent for the calls that follow; `None`: unknown.
    pub fn by_agent(&mut self, permission_mode: Option<&str>, version: Option<&str>) {
        let context = self.facts.context.as_ref();
        let own = |key| context.and_then(|context| context.get(key)?.as_str());
        let other = |key, said: Option<&str>| {
            said.filter(|said| !said.is_empty() && Some(*said) != own(key)).map(Arc::from)
        };
        let agent = AgentState {
            permission_mode: other(PERMISSION_MODE, permission_mode),
            version: other(AGENT_VERSION, version),
        };
        if agent == AgentState::default() {
            self.agent = None;
        } else if self.agent.as_deref() != Some(&agent) {
            self.agent = Some(Arc::new(agent));
        }
    }

    /// Whether the calls that follow were made in the session that this one is forked from.
    pub fn copied(&mut self, copied: bool) {
        self.copied = copied;
    }

    /// The session that this one is forked from; `open`: only that session shows how much was copied.
    pub fn forked_from(&mut self, other: &str, open: bool) {
        self.context_once("forked_from", other.into());
        self.fork = open.then(|| other.into());
    }

    /// The session to look at to know which calls are copies.
    pub fn open_fork(&self) -> Option<Arc<str>> {
        self.fork.clone()
    }

    /// The session's own id, if it is found after its first message.
    pub fn id(&mut self, id: impl Into<Arc<str>>) {
        self.session.id = id.into();
    }

    /// The session's own id, as far as it is known.
    pub fn session_id(&self) -> &Arc<str> {
        &self.session.id
    }

    /// The recording's title. The last one counts.
    pub fn title(&mut self, title: &str) {
        self.title.record(title);
    }

    /// The parent session's id.
    pub fn parent(&mut self, parent: impl Into<Arc<str>>) {
        self.session.parent = Some(parent.into());
        self.facts.subagent = true;
    }

    /// A gate's decision about the call that was added last.
    pub fn decided(&mut self, live: impl Into<Arc<LiveDecision>>) {
        if let Some(call) = self.session.calls.last_mut() {
            call.live = Some(live.into());
        }
    }

    /// How many calls the latest turn has so far.
    pub fn calls_in_turn(&self) -> usize {
        let turn = self.turn_count();
        self.session.calls.iter().rev().take_while(|call| call.at.turn == turn).count()
    }

    /// Hint: about this many turns, calls and messages follow.
    pub fn expect(&mut self, turns: usize, calls: usize, messages: usize) {
        self.session.turns.reserve(turns);
        self.session.calls.reserve(calls);
        self.session.messages.reserve(messages);
    }

    /// The facts, to be filled in.
    pub fn facts(&mut self) -> &mut Facts {
        &mut self.facts
    }

    /// The recording begins after the session did; `how`: how that is known.
    pub fn starts_in_the_middle(&mut self, how: impl Into<String>) {
        self.facts.from_the_middle = true;
        let notice = Diagnostic::notice(code::STARTS_IN_THE_MIDDLE, how);
        let file = Arc::clone(&self.session.origin.file);
        self.diagnostic(notice.on_line(file, u64::from(self.line)));
    }

    /// Adds a context entry.
    pub fn context(&mut self, key: &str, value: Value) {
        let context = self.facts.context.get_or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(map) = context {
            map.insert(key.to_owned(), value);
        }
    }

    /// Adds a context entry, unless there is one of this name.
    pub fn context_once(&mut self, key: &str, value: Value) {
        if self.facts.context.as_ref().is_none_or(|context| context.get(key).is_none()) {
            self.context(key, value);
        }
    }

    /// The recording's own statement about its results.
    pub fn results(&mut self, results: Results) {
        self.facts.results = results;
        self.states_results = true;
    }

    /// Whether the recording itself says if results were recorded.
    pub fn states_results(&self) -> bool {
        self.states_results
    }

    /// Failed results are marked in this recording, so those without a mark succeeded.
    pub fn mark_errors(&mut self) {
        self.marks_errors = true;
    }

    /// Whether failures are marked in this recording.
    pub fn marks_errors(&self) -> bool {
        self.marks_errors
    }

    /// The tools offered from `turn` on (from 1).
    pub fn offered(&mut self, turn: u32, tools: impl Into<Arc<[Tool]>>) {
        let tools = tools.into();
        let offered = &mut self.session.offered;
        if offered.last().is_some_and(|last| last.turn == turn) {
            offered.pop();
        }
        let same = |last: &OfferedFrom| Arc::ptr_eq(&last.tools, &tools) || last.tools == tools;
        if !offered.last().is_some_and(same) {
            offered.push(OfferedFrom { turn, tools });
        }
    }
}
