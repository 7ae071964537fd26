//! Commands that are still running when their call has a result: the model reads the rest with further calls, and one
//! of those says how the command ended. That result is then given to the call that started it, which is also what the
//! hook receives.

use std::collections::HashMap;

use super::output;
use crate::input::shallow::Node;
use crate::shape::items::{Answer, Call};
use rulestep_base::session::Body;

/// The tools that read from a running process, each with the argument that names it, and the text before that name in
/// results.
const POLLS: [(&str, &str, &str); 2] =
    [("write_stdin", "session_id", output::PROCESS), ("wait", "cell_id", output::SCRIPT)];

/// The commands and scripts of a session that run.
#[derive(Default)]
pub struct Running {
    /// Ids of the calls that began them, by the names of the processes.
    begun: HashMap<Box<str>, Box<str>>,
    /// The words for what calls read from, by the ids of these calls.
    polls: HashMap<Box<str>, Box<str>>,
}

impl Running {
    /// Hears of a call.
    pub fn called(&mut self, call: &Call) {
        let Some((_, key, before)) = POLLS.iter().find(|(tool, ..)| *tool == &*call.tool) else { return };
        let given = Node::parse(call.arguments.shown()).ok().and_then(|given| given.tried().members());
        let name = given.as_ref().and_then(|given| given.try_get(key)?.id());
        if let (Some(id), Some(name)) = (&call.id, name) {
            self.polls.insert(id.clone(), format!("{before}{name}").into());
        }
    }

    /// Takes the result of a call to this tool. Returns the call whose command it ended, and the result.
    pub fn answered(&mut self, tool: &str, answer: &Answer) -> Option<(Box<str>, Body)> {
        let (id, text) = (answer.id.as_deref()?, answer.content.shown());
        match (output::running(tool, text), self.polls.remove(id)) {
            (Some(process), None) => {
                self.begun.insert(process.into(), id.into());
                None
            }
            (None, Some(process)) => {
                // A failed poll proves nothing about the process.
                let ended = output::exited(tool, text).is_some();
                ended.then(|| self.begun.remove(&process)).flatten().map(|id| (id, answer.content.clone()))
            }
            _ => None,
        }
    }
}
