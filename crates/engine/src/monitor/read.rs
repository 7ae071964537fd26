//! The parts of a recording that a rule may look at: they stay when everything else is redacted.

use std::fmt;
use std::sync::Arc;

use super::history::Speaker;
use rulestep_base::session::{Body, Facts};

/// A recorded value that a rule may look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// The value at a JSONPath in the arguments of calls of a tool.
    Argument {
        /// The tool.
        tool: Arc<str>,
        /// The path.
        path: Arc<str>,
    },
    /// The value at a JSONPath in the results of calls of a tool.
    Output {
        /// The tool.
        tool: Arc<str>,
        /// The path.
        path: Arc<str>,
    },
    /// What a call of a tool does, as far as the value at a JSONPath in its arguments shows it.
    Does {
        /// The tool.
        tool: Arc<str>,
        /// The path.
        path: Arc<str>,
        /// What is learned of it.
        learns: Learns,
        /// Whether the tool is known to run commands.
        runs_commands: bool,
    },
    /// A speaker's message at an index from 0; if it is counted from the end, any of them.
    Message(Speaker, i64),
    /// All messages and all calls.
    Conversation,
    /// A key of the context, with dots.
    Context(Arc<str>),
    /// A variable; the key of the context if the session has no variables.
    Variable(Arc<str>),
    /// The files at the session's start.
    Files,
}

/// What a rule learns of a call by a question about what it does: the same text for calls that it does not distinguish.
#[derive(Clone)]
pub struct Learns(Arc<dyn Fn(&AskedCall<'_>) -> String + Send + Sync>);

/// A call that a question is about, with its folder.
#[derive(Debug, Clone, Copy)]
pub struct AskedCall<'c> {
    /// The tool.
    pub tool: &'c str,
    /// Its arguments.
    pub arguments: &'c Body,
    /// The working directory of the call, if the recording names one that is not the session's.
    pub folder: Option<&'c str>,
    /// The surroundings of its session.
    pub facts: &'c Facts,
}

impl Learns {
    /// Learns by this function.
    pub fn new(learned: impl Fn(&AskedCall<'_>) -> String + Send + Sync + 'static) -> Learns {
        Learns(Arc::new(learned))
    }

    /// What is learned of a call.
    #[must_use]
    pub fn of(&self, call: &AskedCall<'_>) -> String {
        (self.0)(call)
    }
}

impl PartialEq for Learns {
    fn eq(&self, other: &Learns) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Learns {}

impl fmt::Debug for Learns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Learns")
    }
}
