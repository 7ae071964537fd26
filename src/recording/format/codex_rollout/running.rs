//! Commands that run on after their call has a result: the model reads the rest with further calls, and one of those says how the
//! command ended. That is then the result of the call that began it, which is also how the hook is told of it.

use std::collections::HashMap;

use super::output;
use crate::recording::input::shallow::Node;
use crate::recording::shape::items::{Answer, Call};
use crate::recording::shape::status::Status;
use crate::session::Body;

/// The tool that writes to a command which runs, and reads from it.
const POLL: &str = "write_stdin";

/// The commands of a session that run.
#[derive(Default)]
pub struct Running {
    /// Ids of the calls that began them, by the numbers of their processes.
    begun: HashMap<Box<str>, Box<str>>,
    /// Numbers of the processes that calls read from, by the ids of these calls.
    polls: HashMap<Box<str>, Box<str>>,
}

impl Running {
    /// Hears of a call.
    pub fn called(&mut self, call: &Call) {
        if &*call.tool != POLL {
            return;
        }
        let given = Node::parse(call.arguments.shown()).ok().and_then(|given| given.tried().members());
        let process = given.as_ref().and_then(|given| given.try_get("session_id")?.id());
        if let (Some(id), Some(process)) = (&call.id, process) {
            self.polls.insert(id.clone(), process.as_ref().into());
        }
    }

    /// Hears of a result. Gives the call whose command ended by it, and the result.
    pub fn answered(&mut self, answer: &Answer) -> Option<(Box<str>, Body)> {
        let (id, text) = (answer.id.as_deref()?, answer.content.shown());
        match (output::running(text), self.polls.remove(id)) {
            (Some(process), None) => {
                self.begun.insert(process.into(), id.into());
                None
            }
            (None, Some(process)) => {
                let ended = matches!(output::ended(text), Status::Succeeded | Status::Failed);
                ended.then(|| self.begun.remove(&process)).flatten().map(|id| (id, answer.content.clone()))
            }
            _ => None,
        }
    }
}
