//! The answers to agents.

use serde_json::{Value, json};

/// The answer about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// No objection: the agent continues as without a hook.
    Silent,
    /// The agent asks its user.
    Ask(String),
    /// It does not run.
    Deny(String),
    /// It does not run, and the agent's run ends.
    Halt(String),
}

/// The output of the program and its exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub error: String,
    /// Whether it ends with exit code 2, which blocks.
    pub blocks: bool,
}

impl Reply {
    /// An answer that the agent reads on standard output.
    pub fn says(output: &Value) -> Reply {
        Reply { output: format!("{output}\n"), error: String::new(), blocks: false }
    }

    /// The same, and the text for an agent that uses the exit code and standard error.
    pub fn blocks(output: &Value, error: &str) -> Reply {
        let error = if error.is_empty() { String::new() } else { format!("{error}\n") };
        Reply { error, blocks: true, ..Reply::says(output) }
    }
}

/// A decision in the form of Claude Code and agents that follow it.
pub fn specific(decision: &str, reason: &str) -> Value {
    json!({"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason})
}
