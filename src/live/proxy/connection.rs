//! The state of a connection: its open requests, and what the client has been shown.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::message::{Members, key};
use super::tools::Tools;
use rulestep_recording::{self as recording, McpGoesOn};

/// Why a request is not accepted.
pub const OPEN: &str = "a request with this id has not been answered yet";

/// The state of a connection.
#[derive(Debug, Default)]
pub struct State {
    /// Requests of the client that the server has not answered, by the key of their id.
    pub pending: HashMap<String, Request>,
    /// Calls that the client's user is asked about, by the id of the question.
    pub questions: HashMap<String, Question>,
    /// Calls that the server answered with a question: they continue when the client sends them again with its answer.
    pub unfinished: Vec<Running>,
    /// Calls that continue as tasks of the server, by task id. `None`: several calls share the id.
    pub tasks: HashMap<String, Option<String>>,
    pub tools: Tools,
    /// Whether the client can ask its user.
    pub elicits: bool,
    /// Whether a response of the model has begun: no call of it has been answered.
    pub in_turn: bool,
    /// A call was answered with a halt.
    pub halted: bool,
    /// The number of ids that were made.
    pub made: u64,
}

/// A request of the client.
#[derive(Debug)]
pub struct Request {
    /// Its id, as written.
    pub id: String,
    pub purpose: Purpose,
}

#[derive(Debug)]
pub enum Purpose {
    Handshake,
    Tools {
        more: bool,
    },
    Call(Running),
    /// A request for the state of a task, or for its `result`.
    Task {
        task: String,
        result: bool,
    },
    Other,
}

/// A call that was allowed.
#[derive(Debug, Clone, Default)]
pub struct Running {
    /// Its id in the journal.
    pub call: String,
    pub tool: String,
    pub arguments: String,
    /// The state that the server expects back with the answer to its question.
    pub request_state: Option<String>,
}

/// A call that a person is asked about.
#[derive(Debug)]
pub struct Question {
    pub id: String,
    pub line: String,
    pub running: Running,
    pub reason: String,
}

impl State {
    pub fn is_open(&self, key: &str) -> bool {
        self.pending.contains_key(key) || self.questions.values().any(|question| question.key() == key)
    }

    /// Waits for the answer to a request.
    pub fn expect(&mut self, id: &RawValue, purpose: Purpose) -> Result<(), &'static str> {
        if self.is_open(&key(id)) {
            return Err(OPEN);
        }
        self.pending.insert(key(id), Request { id: id.get().to_owned(), purpose });
        Ok(())
    }

    /// The question about a request that the client has cancelled, with its id.
    pub fn withdraw(&mut self, request: &str) -> Option<(String, Question)> {
        let mut questions = self.questions.iter();
        let asked = questions.find(|(_, question)| question.key() == request)?.0.clone();
        self.questions.remove(&asked).map(|question| (asked, question))
    }

    /// The call that a client sends again with the answer to the server's question: it was decided before.
    pub fn go_on(&mut self, params: &Members<'_>, again: &Running) -> Option<Running> {
        params.get("inputResponses").filter(|_| !self.halted)?;
        let request_state = params.get("requestState").map(|state| state.get().to_owned());
        let same = |earlier: &Running| {
            earlier.request_state == request_state
                && (&earlier.tool, &earlier.arguments) == (&again.tool, &again.arguments)
        };
        let place = self.unfinished.iter().position(same)?;
        Some(self.unfinished.swap_remove(place))
    }

    /// The call of a task that is over. Its id stays used.
    pub fn end_task(&mut self, task: &str) -> Option<String> {
        self.tasks.get_mut(task)?.take()
    }

    /// Keeps a call whose response is not its result: the server asks something, or runs it as a task. Returns any
    /// other.
    pub fn goes_on(&mut self, response: &str, result: &Members<'_>, running: Running) -> Option<Running> {
        match recording::mcp_goes_on(response) {
            None => return Some(running),
            Some(McpGoesOn::Asks) => {
                let request_state = result.get("requestState").map(|state| state.get().to_owned());
                self.unfinished.push(Running { request_state, ..running });
            }
            Some(McpGoesOn::Task(task)) => {
                if let Some(task) = task {
                    // If two tasks have one id, it is unknown which of them an answer is about.
                    let call = (!self.tasks.contains_key(&task)).then_some(running.call);
                    self.tasks.insert(task, call);
                }
            }
        }
        None
    }
}

impl Question {
    /// The key of the request's id.
    pub fn key(&self) -> String {
        serde_json::from_str::<&RawValue>(&self.id).map_or_else(|_| self.id.clone(), key)
    }
}
