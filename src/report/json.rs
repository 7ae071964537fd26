//! Judged sessions as data: one JSON object a session, on a line of its own.
//!
//! The shape is `rulestep.replay/2`, and a last object has the totals; keys are in the order of the structures below.
//! Turns are made and written one
//! by one while the object is written, so a long session needs no tree. Recorded values are written as they were
//! recorded, numbers digit for digit.

mod decision;
mod halt;
pub(super) mod parts;
mod state;

use std::io::{self, Write};
use std::ops::ControlFlow;

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use decision::{CallLine, DecisionLine, PartsLine};
use halt::HaltLine;
pub use parts::documents;
use parts::id;
pub(super) use parts::{BodyJson, Named, Version, line};
use state::{ForbiddenLine, PreconditionLine, forbidden, preconditions, states};

use super::{Judged, Scope, diagnostic, words};
use rulestep_base::diagnostic::{Code, Diagnostic};
use rulestep_base::session::{Call, CallRef, Session};
use rulestep_engine::monitor::finding::{RuleOutcome, RuleState};
use rulestep_engine::monitor::{Fault, Reason};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::{Counts, Frame, Replay, Status, counts};
use rulestep_engine::run::{Mode, Narrowing};
use rulestep_engine::way_out::way_out;

/// The shape of judged sessions.
pub const SCHEMA: &str = "rulestep.replay/2";

/// Writes one session and a line feed.
pub fn session(judged: &Judged, scope: Scope, out: &mut dyn Write) -> io::Result<()> {
    let whole = match judged {
        Judged::Whole(replay) if scope != Scope::Summary => Some(replay),
        _ => None,
    };
    let full = whole.filter(|_| scope == Scope::Full);
    line(
        &SessionLine {
            head: Head::of(SCHEMA, judged.mode(), judged.session(), judged.policy()),
            turns: whole.map(|replay| Turns { replay, full: full.is_some() }),
            state_end: full.map(|replay| states(&replay.state_end(), replay.policy())),
            rules: match judged {
                Judged::Whole(replay) if scope != Scope::Summary => {
                    rules(replay.rules(), replay.session(), replay.policy(), Some(&replay.ran()))
                }
                _ => rules(judged.violated(), judged.session(), judged.policy(), None),
            },
            halt: judged.halt().map(|halt| HaltLine::of(halt, judged.session())),
            status: judged.status(),
            summary: judged.summary(),
            diagnostics: judged.notices().iter().map(diagnostic::json).collect(),
        },
        out,
    )
}

/// Writes one call with everything that is known of its decision, and a line feed. With `choice`, a call of the session that
/// takes this choice, which was not taken ([`Replay::not_taken`]). `incomplete` says that not everything was read.
pub fn call(
    replay: &Replay,
    frame: &Frame,
    call: &Call,
    choice: Option<u32>,
    incomplete: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    line(
        &ExplainLine {
            incomplete,
            head: Head::of("rulestep.explain/1", replay.mode(), replay.session(), replay.policy()),
            call: CallLine::of(replay, frame, call, true).map(|line| line.beside(choice)),
            way_out: choice
                .is_none()
                .then(|| way_out(replay, call.at.index))
                .flatten()
                .map(|way| words::way_out::data(&way, replay)),
        },
        out,
    )
}

/// The decision on an unrecorded call, with the keys of `replay`, and the way out of a stop.
pub fn decision(replay: &Replay, call: &Call) -> serde_json::Result<Value> {
    let line = replay.call(call.at.index).map(|judged| DecisionLine::of(judged, replay));
    let way_out = way_out(replay, call.at.index).map(|way| words::way_out::data(&way, replay));
    serde_json::to_value(MadeUpLine { line, way_out })
}

/// Writes the calls of a session that a rule speaks of, and a line feed. `incomplete` says that not everything was read.
pub fn findings(replay: &Replay, incomplete: bool, out: &mut dyn Write) -> io::Result<()> {
    line(
        &FindingsLine {
            incomplete,
            head: Head::of("rulestep.explain/1", replay.mode(), replay.session(), replay.policy()),
            calls: Found(replay),
            rules: rules(replay.rules(), replay.session(), replay.policy(), Some(&replay.ran())),
        },
        out,
    )
}

/// Writes what is known of a version and everything that is wrong with it, and a line feed. Without a digest the
/// version cannot decide.
pub fn check(
    digest: Option<&str>,
    documents: &[String],
    diagnostics: &[Diagnostic],
    out: &mut dyn Write,
) -> io::Result<()> {
    let policy = Checkable { digest, documents };
    let diagnostics = diagnostics.iter().map(diagnostic::json).collect();
    line(&PolicyLine { schema: "rulestep.check/1", policy, diagnostics }, out)
}

#[derive(Serialize)]
struct SessionLine<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<Turns<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state_end: Option<Vec<Map<String, Value>>>,
    /// In a summary those that are violated.
    rules: Vec<RuleLine<'a>>,
    halt: Option<HaltLine<'a>>,
    status: Status,
    #[serde(serialize_with = "counts::session_json")]
    summary: Counts,
    /// What the policy makes worth knowing about the recording.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<Value>,
}

#[derive(Serialize)]
struct ExplainLine<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    incomplete: bool,
    call: Option<CallLine<'a>>,
    /// For a stopped call.
    way_out: Option<Value>,
}

#[derive(Serialize)]
struct MadeUpLine<'a> {
    #[serde(flatten)]
    line: Option<DecisionLine<'a>>,
    way_out: Option<Value>,
}

#[derive(Serialize)]
struct FindingsLine<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    incomplete: bool,
    calls: Found<'a>,
    rules: Vec<RuleLine<'a>>,
}

/// The calls that a rule speaks of, made while they are written.
struct Found<'a>(&'a Replay);

impl Serialize for Found<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut calls = serializer.serialize_seq(None)?;
        let mut written = Ok(());
        self.0.each_frame(1, u32::MAX, &mut |frame| {
            let session = self.0.session();
            let turn = session.turn(frame.turn).map(|turn| session.calls_of(turn)).unwrap_or_default();
            let found = |call: &&Call| {
                self.0.call(call.at.index).is_some_and(|judged| !judged.decision.findings.is_empty())
            };
            for call in turn.iter().filter(found) {
                if let Some(line) = CallLine::of(self.0, &frame, call, false) {
                    written = calls.serialize_element(&line);
                }
                if written.is_err() {
                    return ControlFlow::Break(());
                }
            }
            let others = CallLine::not_taken(self.0, &frame, false);
            for line in others.iter().filter(|line| line.is_spoken_of()) {
                written = calls.serialize_element(line);
                if written.is_err() {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        written?;
        calls.end()
    }
}

/// What was judged, and how.
#[derive(Serialize)]
struct Head<'a> {
    schema: &'static str,
    mode: &'static str,
    session: Named<'a>,
    policy: Version,
}

impl<'a> Head<'a> {
    fn of(schema: &'static str, mode: Mode, session: &'a Session, policy: &'a Policy) -> Head<'a> {
        Head { schema, mode: mode.word(), session: Named::of(session), policy: Version::of(policy) }
    }
}

/// Turns, made while they are written.
struct Turns<'a> {
    replay: &'a Replay,
    full: bool,
}

impl Serialize for Turns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut turns = serializer.serialize_seq(None)?;
        let mut written = Ok(());
        self.replay.each_frame(1, u32::MAX, &mut |frame| {
            written = turns.serialize_element(&TurnLine::of(self.replay, &frame, self.full));
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        written?;
        turns.end()
    }
}

#[derive(Serialize)]
struct TurnLine<'a> {
    turn: u32,
    tools: Tools<'a>,
    forbidden: Vec<ForbiddenLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preconditions: Option<Vec<PreconditionLine<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<Vec<Map<String, Value>>>,
    calls: Vec<CallLine<'a>>,
    /// The calls of choices that were not taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alternatives: Vec<CallLine<'a>>,
}

impl<'a> TurnLine<'a> {
    fn of(replay: &'a Replay, frame: &'a Frame, full: bool) -> TurnLine<'a> {
        let (session, policy) = (replay.session(), replay.policy());
        let calls = session.turn(frame.turn).map(|turn| session.calls_of(turn)).unwrap_or_default();
        TurnLine {
            turn: frame.turn,
            tools: Tools::of(&frame.narrowing, policy),
            forbidden: forbidden(&frame.state, policy),
            preconditions: full.then(|| preconditions(&frame.state, policy)),
            state: full.then(|| states(&frame.state, policy)),
            calls: calls.iter().filter_map(|call| CallLine::of(replay, frame, call, full)).collect(),
            alternatives: CallLine::not_taken(replay, frame, full),
        }
    }
}

#[derive(Serialize)]
struct Tools<'a> {
    inferred: bool,
    visible: Vec<&'a str>,
    hidden: Vec<HiddenLine<'a>>,
}

#[derive(Serialize)]
struct HiddenLine<'a> {
    tool: &'a str,
    reasons: Vec<ReasonLine<'a>>,
}

#[derive(Serialize)]
struct ReasonLine<'a> {
    rule: &'a str,
    rule_name: String,
    code: Code,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Value>,
}

impl<'a> Tools<'a> {
    fn of(narrowing: &'a Narrowing, policy: &'a Policy) -> Tools<'a> {
        let (visible, hidden): (Vec<_>, Vec<_>) = narrowing.tools.iter().partition(|tool| tool.visible());
        let name = |rule| policy.rules().get(rule).map(words::rule_name).unwrap_or_default();
        let reason = |reason: &Reason| ReasonLine {
            rule: id(reason.rule, policy),
            rule_name: name(reason.rule),
            code: reason.code,
            fault: reason.fault.as_deref().map(Fault::data),
        };
        Tools {
            inferred: narrowing.inferred,
            visible: visible.into_iter().map(|tool| &*tool.tool).collect(),
            hidden: hidden
                .into_iter()
                .map(|tool| HiddenLine {
                    tool: &tool.tool,
                    reasons: tool.reasons.iter().map(reason).collect(),
                })
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct RuleLine<'a> {
    rule: &'a str,
    rule_name: String,
    test: Option<&'a str>,
    #[serde(rename = "type")]
    kind: &'static str,
    outcome: RuleOutcome,
    code: Option<Code>,
    position: Option<u32>,
    calls: &'a [u32],
    averted: u32,
    /// False for a rule whose violation fails no session.
    #[serde(skip_serializing_if = "Clone::clone")]
    enforced: bool,
    /// True where a person was asked about every call that violates it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    asked: bool,
    /// True where the call at fault is the past of a fork, so that the violation is not counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    copied: bool,
    #[serde(flatten)]
    parts: PartsLine,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Value>,
}

/// Without the calls that ran, what happened instead of what a rule expects is not worded.
fn rules<'a>(
    states: impl IntoIterator<Item = &'a RuleState>,
    session: &Session,
    policy: &'a Policy,
    ran: Option<&[CallRef]>,
) -> Vec<RuleLine<'a>> {
    let lines = states.into_iter().filter_map(|state| {
        let rule = policy.rules().get(state.rule)?;
        Some(RuleLine {
            rule: &rule.id,
            rule_name: words::rule_name(rule),
            test: rule.test.as_deref(),
            kind: rule.kind,
            outcome: state.outcome,
            code: state.code,
            position: state.position,
            calls: &state.calls,
            averted: state.averted,
            enforced: state.enforced,
            asked: state.asked,
            copied: state.copied,
            parts: PartsLine::of_rule(state, policy.rules(), session, ran),
            fault: state.facts.as_deref().and_then(|facts| facts.downcast_ref()).map(Fault::data),
        })
    });
    lines.collect()
}

#[derive(Serialize)]
struct PolicyLine<'a> {
    schema: &'static str,
    policy: Checkable<'a>,
    diagnostics: Vec<Value>,
}

#[derive(Serialize)]
struct Checkable<'a> {
    digest: Option<&'a str>,
    documents: &'a [String],
}
