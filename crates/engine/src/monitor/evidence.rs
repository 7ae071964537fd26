//! The effect of a finding on a call, and its evidence: values and calls.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use rulestep_base::session::{CallRef, Session};

/// The effect of a finding on a call, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// There is no finding.
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

/// The effect of a finding in a word or two: for a rule that is not enforced, what it would have been.
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
pub struct CheckedValue {
    /// JSONPath in the arguments.
    pub path: Arc<str>,
    /// The value; absent if there is not exactly one.
    pub value: Option<Value>,
}

/// An earlier call that a finding rests on.
///
/// It serialises as `{turn, call, index, value}`. A call of another session of the same tree has its place there, and
/// `session`, that session's id.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierCall {
    /// The call. One of another session has the turn and the number of this session's call that it comes after.
    pub call: CallRef,
    /// Its session and its place there, if it is from another session of the same tree.
    pub there: Option<(Arc<str>, CallRef)>,
    /// Its value at the compared path, if one was compared.
    pub value: Option<Value>,
}

impl EarlierCall {
    /// A call without a compared value.
    pub fn new(call: CallRef) -> EarlierCall {
        EarlierCall { call, there: None, value: None }
    }

    /// The same with its place in its own session.
    pub fn seen_from(&self, session: &Session) -> EarlierCall {
        let (whose, call) = session.whose(self.call);
        let there = (!std::ptr::eq(whose, session)).then(|| (Arc::clone(&whose.id), call));
        EarlierCall { there, ..self.clone() }
    }

    /// The call, if it is one of the session's own.
    pub fn own(&self) -> Option<CallRef> {
        Some(self.call).filter(|call| call.elsewhere().is_none())
    }
}

impl Serialize for EarlierCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Members<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            session: Option<&'a str>,
            #[serde(flatten)]
            call: CallRef,
            value: Option<&'a Value>,
        }
        let (session, call) =
            self.there.as_ref().map_or((None, self.call), |(id, call)| (Some(&**id), *call));
        Members { session, call, value: self.value.as_ref() }.serialize(serializer)
    }
}
