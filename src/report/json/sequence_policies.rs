//! What sequence policies add to the data: halts, limits, and what a rule compared.

use serde::Serialize;
use serde_json::{Value, json};

use super::Recorded;
use crate::engine::Halt;
use crate::monitor::Detail;
use crate::monitor::finding::{Dispatch, DispatchRule, NamePattern};
use crate::session::{CallRef, Session};

/// How a session was ended.
#[derive(Serialize)]
pub(super) struct HaltLine<'a> {
    policy: Option<&'a str>,
    turn: u32,
    call: u32,
    index: u32,
    /// The dispatched calls, then the halting one.
    sequence: Vec<StepLine<'a>>,
    reason: Option<&'a str>,
    tell_llm: Option<&'a str>,
}

/// A call of the sequence that ended a session.
#[derive(Serialize)]
struct StepLine<'a> {
    turn: u32,
    call: u32,
    index: u32,
    tool: &'a str,
    /// Null where the session was judged while it was read, and its calls are not held.
    arguments: Option<Recorded<'a>>,
}

impl<'a> HaltLine<'a> {
    pub fn of(halt: &'a Halt, session: &'a Session) -> HaltLine<'a> {
        let finding = halt.finding.as_ref();
        let dispatch = finding.and_then(|finding| match &finding.detail {
            Detail::Dispatch(dispatch) => Some(&**dispatch),
            _ => None,
        });
        HaltLine {
            policy: dispatch.map(|dispatch| &*dispatch.policy),
            turn: halt.at.turn,
            call: halt.at.call,
            index: halt.at.index,
            sequence: halt.sequence().map(|(at, tool)| StepLine::of(at, tool, session)).collect(),
            reason: finding.and_then(|finding| finding.reason.as_deref()),
            tell_llm: finding.and_then(|finding| finding.tell_llm.as_deref()),
        }
    }
}

impl<'a> StepLine<'a> {
    fn of(at: CallRef, tool: &'a str, session: &'a Session) -> StepLine<'a> {
        let call = session.calls.get(at.index as usize).filter(|call| call.at == at);
        let arguments = call.map(|call| Recorded(&call.arguments));
        StepLine { turn: at.turn, call: at.call, index: at.index, tool, arguments }
    }
}

/// A limit, as far as it is used up.
#[derive(Serialize)]
pub(super) struct LimitLine<'a> {
    pub rule: &'a str,
    pub kind: &'static str,
    pub tool: &'a str,
    pub used: u64,
    pub allowed: u64,
}

/// What a rule compared with the dispatched calls; patterns as a document has them.
#[derive(Serialize)]
pub(super) struct DispatchLine<'a> {
    policy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    used: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<u64>,
}

impl<'a> DispatchLine<'a> {
    pub fn of(dispatch: &'a Dispatch) -> DispatchLine<'a> {
        let (sequence, limit) = match &dispatch.rule {
            DispatchRule::Sequence(patterns) => (Some(patterns.iter().map(pattern).collect()), None),
            DispatchRule::Limit { used, allowed } => (None, Some((*used, *allowed))),
        };
        DispatchLine {
            policy: &dispatch.policy,
            sequence,
            used: limit.map(|(used, _)| used),
            allowed: limit.map(|(_, allowed)| allowed),
        }
    }
}

fn pattern(pattern: &NamePattern) -> Value {
    match pattern {
        NamePattern::Exact(name) => json!(**name),
        NamePattern::Prefix(prefix) => json!({"namePrefix": **prefix}),
    }
}
