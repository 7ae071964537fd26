//! What agents are answered.

use serde_json::{Value, json};

/// What an agent reads about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Nothing speaks against it: the agent goes on as it does without a hook.
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

impl Reply {
    /// An answer that the agent reads on standard output.
    pub fn says(output: &Value) -> Reply {
        Reply { output: format!("{output}\n"), error: String::new(), blocks: false }
    }

    /// The same, and one that the agent takes from the exit code and standard error.
    pub fn blocks(output: &Value, error: &str) -> Reply {
        let error = if error.is_empty() { String::new() } else { format!("{error}\n") };
        Reply { error, blocks: true, ..Reply::says(output) }
    }
}

/// What Claude Code and those that follow it read of a decision.
pub fn specific(decision: &str, reason: &str) -> Value {
    json!({"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason})
}
