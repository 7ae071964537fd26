//! The halt of a session, as data.

use serde::Serialize;

use super::parts::BodyJson;
use rulestep_base::session::{CallRef, Session};
use rulestep_engine::run::Halt;

/// The halt of a session.
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
    arguments: Option<BodyJson<'a>>,
}

impl<'a> HaltLine<'a> {
    pub fn of(halt: &'a Halt, session: &'a Session) -> HaltLine<'a> {
        let finding = halt.finding.as_ref();
        HaltLine {
            policy: halt.cause().map(|cause| cause.policy),
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
        let arguments = call.map(|call| BodyJson(&call.arguments));
        StepLine { turn: at.turn, call: at.call, index: at.index, tool, arguments }
    }
}
