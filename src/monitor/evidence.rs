//! What a finding does to a call, and the values and calls that it rests on.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::session::CallRef;

/// What a finding does to a call, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// Nothing was said.
    #[default]
    None,
    /// True as well, but another rule of the unit was first.
    Also,
    /// Worth knowing; changes no decision.
    Report,
    /// A person is asked whether the call runs.
    Ask,
    /// The call does not run.
    Deny,
    /// The call does not run, and the session is over.
    Halt,
}

impl Effect {
    /// The word of the JSON output and the screen.
    pub fn word(self) -> &'static str {
        match self {
            Effect::None => "none",
            Effect::Also => "also",
            Effect::Report => "report",
            Effect::Ask => "ask",
            Effect::Deny => "deny",
            Effect::Halt => "halt",
        }
    }
}

/// What a finding does to a call, in a word or two: of a rule that is not enforced, what it would have done.
#[must_use]
pub fn effect_word(effect: Effect, would: Option<Effect>) -> &'static str {
    match would {
        None => effect.word(),
        Some(Effect::Ask) => "would ask",
        Some(Effect::Halt) => "would halt",
        Some(_) => "would deny",
    }
}

/// A value of the call that a rule looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CheckedValue {
    /// JSONPath in the arguments.
    pub path: Arc<str>,
    /// What is there; absent where there is not exactly one value.
    pub value: Option<Value>,
}

/// An earlier call that a finding rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EarlierCall {
    /// The call.
    #[serde(flatten)]
    pub call: CallRef,
    /// Its value at the path that was compared, where one was.
    pub value: Option<Value>,
}
