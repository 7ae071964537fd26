//! What a rule may look at in a recording: what has to stay where everything else is redacted.

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
    /// What a call of a tool does, as far as the value at a JSONPath in its arguments says it.
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
    /// A speaker's message at a place from 0; where that is counted from the end, any of them.
    Message(Speaker, i64),
    /// Everything said and every call.
    Conversation,
    /// A key of the context, with dots.
    Context(Arc<str>),
    /// A variable; where the session has none, the key of the context.
    Variable(Arc<str>),
    /// The files at the session's start.
    Files,
}

/// What a rule learns of a call that it asks about what it does: the same text for calls that it does not tell apart.
#[derive(Clone)]
pub struct Learns(Arc<dyn Fn(&AskedCall<'_>) -> String + Send + Sync>);

/// A call that is asked about, and where it is made.
#[derive(Debug, Clone, Copy)]
pub struct AskedCall<'c> {
    /// The tool.
    pub tool: &'c str,
    /// Its arguments.
    pub arguments: &'c Body,
    /// The folder that it is made in, where the recording names one that is not the session's.
    pub folder: Option<&'c str>,
    /// The surroundings of its session.
    pub facts: &'c Facts,
}

impl Learns {
    /// What this function tells.
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
