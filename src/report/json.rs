//! Judged sessions as data: one JSON object a session, on a line of its own.
//!
//! The shape is `toolgate.replay/1`; keys stand in the order of the structures below. Turns are made and written one
//! by one while the object is written, so a long session needs no tree. Recorded values are written as they were
//! recorded, numbers digit for digit.

mod plan;
mod sequence_policies;
mod sequence_rules;
mod tool_policies;

use std::io::{self, Write};
use std::ops::ControlFlow;

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};

use sequence_policies::{DispatchLine, HaltLine, LimitLine};
use sequence_rules::{DeadlineLine, OrderLine, StepLine};
use tool_policies::{MissingLine, RecordedLine, TouchedLine};

use super::{Judged, Scope, diagnostic, words};
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::{Narrowing, Verdict};
use crate::monitor::finding::{Output, RuleOutcome, RuleState};
use crate::monitor::{Check, Checked, Detail, Effect, Finding, Found, Reason, Rule, RuleId, StateItem};
use crate::policy::Policy;
use crate::replay::{Frame, Replay, Status, Summary};
use crate::session::{Call, CallRef, Outcome, Session};

/// Writes one session and a line feed.
pub fn session(judged: &Judged, scope: Scope, out: &mut dyn Write) -> io::Result<()> {
    let whole = match judged {
        Judged::Whole(replay) if scope != Scope::Summary => Some(replay),
        _ => None,
    };
    let full = whole.filter(|_| scope == Scope::Full);
    line(
        &SessionLine {
            schema: "toolgate.replay/1",
            mode: judged.mode().word(),
            session: Named::of(judged.session()),
            policy: Version::of(judged.policy()),
            turns: whole.map(|replay| Turns { replay, full: full.is_some() }),
            state_end: full.map(|replay| states(replay.state_end(), replay.policy())),
            rules: whole.map(|replay| rules(replay.rules(), replay.policy())),
            halt: judged.halt().map(HaltLine::of),
            status: judged.status(),
            summary: judged.summary(),
        },
        out,
    )
}

/// Writes one call with everything that is known of its decision, and a line feed.
pub fn call(replay: &Replay, frame: &Frame, call: &Call, out: &mut dyn Write) -> io::Result<()> {
    line(
        &ExplainLine {
            schema: "toolgate.explain/1",
            mode: replay.mode().word(),
            session: Named::of(replay.session()),
            policy: Version::of(replay.policy()),
            call: CallLine::of(replay, frame, call, true),
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
    line(&PolicyLine { schema: "toolgate.check/1", policy, diagnostics }, out)
}

/// Writes a value and a line feed.
pub(super) fn line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

#[derive(Serialize)]
struct SessionLine<'a> {
    schema: &'static str,
    mode: &'static str,
    session: Named<'a>,
    policy: Version<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<Turns<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state_end: Option<Vec<StateLine<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<Vec<RuleLine<'a>>>,
    halt: Option<HaltLine<'a>>,
    status: Status,
    summary: Summary,
}

#[derive(Serialize)]
struct ExplainLine<'a> {
    schema: &'static str,
    mode: &'static str,
    session: Named<'a>,
    policy: Version<'a>,
    call: Option<CallLine<'a>>,
}

/// Which session it is.
#[derive(Serialize)]
pub(super) struct Named<'a> {
    id: &'a str,
    file: &'a str,
    index: usize,
    format: &'static str,
}

impl<'a> Named<'a> {
    pub(super) fn of(session: &'a Session) -> Named<'a> {
        let origin = &session.origin;
        Named { id: &session.id, file: &origin.file, index: origin.index, format: origin.format }
    }
}

/// Which version it is.
#[derive(Serialize)]
pub(super) struct Version<'a> {
    digest: &'a str,
    documents: Vec<String>,
}

impl<'a> Version<'a> {
    pub(super) fn of(policy: &'a Policy) -> Version<'a> {
        Version { digest: policy.digest(), documents: super::documents(policy.documents()) }
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
    state: Option<Vec<StateLine<'a>>>,
    calls: Vec<CallLine<'a>>,
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
    code: Code,
}

impl<'a> Tools<'a> {
    fn of(narrowing: &'a Narrowing, policy: &'a Policy) -> Tools<'a> {
        let (visible, hidden): (Vec<_>, Vec<_>) = narrowing.tools.iter().partition(|tool| tool.visible());
        let reason = |reason: &Reason| ReasonLine { rule: id(reason.rule, policy), code: reason.code };
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
struct ForbiddenLine<'a> {
    tool: &'a str,
    since: CallRef,
    rule: &'a str,
}

/// Sorted by tool.
fn forbidden<'a>(state: &'a [StateItem], policy: &'a Policy) -> Vec<ForbiddenLine<'a>> {
    let items = state.iter().filter_map(|item| match item {
        StateItem::Forbidden { tool, since, rule } => {
            Some(ForbiddenLine { tool, since: *since, rule: id(*rule, policy) })
        }
        _ => None,
    });
    let mut items: Vec<_> = items.collect();
    items.sort_by_key(|item| item.tool);
    items
}

#[derive(Serialize)]
struct PreconditionLine<'a> {
    rule: &'a str,
    tool: &'a str,
    satisfied: bool,
    code: Option<Code>,
    by: &'a [CallRef],
}

fn preconditions<'a>(state: &'a [StateItem], policy: &'a Policy) -> Vec<PreconditionLine<'a>> {
    let items = state.iter().filter_map(|item| match item {
        StateItem::Precondition { rule, tool, satisfied, code, by, .. } => {
            Some(PreconditionLine { rule: id(*rule, policy), tool, satisfied: *satisfied, code: *code, by })
        }
        _ => None,
    });
    items.collect()
}

/// What a rule counts or keeps, by kind.
#[derive(Serialize)]
#[serde(untagged)]
enum StateLine<'a> {
    Step { rule: &'a str, kind: &'static str, tool: &'a str, completed: u64, wanted: &'a Number },
    Limit(LimitLine<'a>),
    Deadline(DeadlineLine<'a>),
    Sequence(StepLine<'a>),
    Recorded(RecordedLine<'a>),
}

fn states<'a>(state: &'a [StateItem], policy: &'a Policy) -> Vec<StateLine<'a>> {
    let items = state.iter().filter_map(|item| match item {
        StateItem::Precondition { rule, tool, detail: Detail::Steps { completed, wanted }, .. } => {
            Some(StateLine::Step {
                rule: id(*rule, policy),
                kind: "step",
                tool,
                completed: *completed,
                wanted,
            })
        }
        StateItem::Limit { rule, tool, used, allowed } => Some(StateLine::Limit(LimitLine {
            rule: id(*rule, policy),
            kind: "limit",
            tool,
            used: *used,
            allowed: *allowed,
        })),
        StateItem::Deadline { rule, tool, since, left, open } => Some(StateLine::Deadline(DeadlineLine {
            rule: id(*rule, policy),
            kind: "deadline",
            tool,
            since: *since,
            left: *left,
            open: *open,
        })),
        StateItem::Step { rule, done, of, next } => Some(StateLine::Sequence(StepLine {
            rule: id(*rule, policy),
            kind: "step",
            done: *done,
            of: *of,
            next: next.as_deref(),
        })),
        StateItem::Recorded { document, recorded, .. } => {
            RecordedLine::of(document, recorded).map(StateLine::Recorded)
        }
        StateItem::Precondition { .. } | StateItem::Forbidden { .. } => None,
    });
    items.collect()
}

#[derive(Serialize)]
struct CallLine<'a> {
    turn: u32,
    call: u32,
    index: u32,
    id: Option<&'a str>,
    tool: &'a str,
    recorded: Outcome,
    decision: Verdict,
    agrees: bool,
    counterfactual: bool,
    findings: Vec<FindingLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checks: Option<Vec<CheckLine<'a>>>,
}

impl<'a> CallLine<'a> {
    fn of(replay: &'a Replay, frame: &'a Frame, call: &'a Call, full: bool) -> Option<CallLine<'a>> {
        let (session, policy) = (replay.session(), replay.policy());
        let judged = replay.call(call.at.index)?;
        let place = (call.at.call as usize).checked_sub(1)?;
        let checks = full.then(|| frame.calls.get(place).map(|decision| decision.checks.as_slice()));
        let findings = judged.decision.findings.iter();
        Some(CallLine {
            turn: call.at.turn,
            call: call.at.call,
            index: call.at.index,
            id: call.id.as_deref(),
            tool: &call.tool,
            recorded: call.outcome,
            decision: judged.decision.verdict,
            agrees: judged.agrees,
            counterfactual: judged.counterfactual,
            findings: findings.filter_map(|finding| FindingLine::of(finding, session, policy)).collect(),
            checks: checks.map(|checks| {
                let checks = checks.unwrap_or_default().iter();
                checks.filter_map(|check| CheckLine::of(check, session, policy)).collect()
            }),
        })
    }
}

/// What a rule said of a call.
#[derive(Serialize)]
pub(super) struct FindingLine<'a> {
    dialect: &'static str,
    rule: &'a str,
    test: Option<&'a str>,
    code: Code,
    effect: Effect,
    message: String,
    description: Option<&'a str>,
    source: Place<'a>,
    checked: Option<&'a Checked>,
    found: Vec<FoundLine<'a>>,
    reason: Option<&'a str>,
    tell_llm: Option<&'a str>,
}

impl<'a> FindingLine<'a> {
    pub(super) fn of(finding: &'a Finding, session: &Session, policy: &'a Policy) -> Option<FindingLine<'a>> {
        let rule = policy.rules().get(finding.rule)?;
        Some(FindingLine {
            dialect: rule.dialect,
            rule: &rule.id,
            test: rule.test.as_deref(),
            code: finding.code,
            effect: finding.effect,
            message: words::finding(finding, rule, session),
            description: rule.description.as_deref(),
            source: Place::of(rule),
            checked: finding.checked.as_ref(),
            found: finding.found.iter().map(FoundLine::of).collect(),
            reason: finding.reason.as_deref(),
            tell_llm: finding.tell_llm.as_deref(),
        })
    }
}

#[derive(Serialize)]
struct CheckLine<'a> {
    dialect: &'static str,
    rule: &'a str,
    test: Option<&'a str>,
    passed: bool,
    code: Option<Code>,
    message: String,
    checked: Option<&'a Checked>,
    found: Vec<FoundLine<'a>>,
    detail: Option<DetailLine<'a>>,
    #[serde(flatten)]
    plan: Option<plan::PlanLine<'a>>,
}

impl<'a> CheckLine<'a> {
    fn of(check: &'a Check, session: &Session, policy: &'a Policy) -> Option<CheckLine<'a>> {
        let rule = policy.rules().get(check.rule)?;
        Some(CheckLine {
            dialect: rule.dialect,
            rule: &rule.id,
            test: rule.test.as_deref(),
            passed: check.passed,
            code: check.code,
            message: words::check(check, rule, session),
            checked: check.checked.as_ref(),
            found: check.found.iter().map(FoundLine::of).collect(),
            detail: DetailLine::of(&check.detail),
            plan: match &check.detail {
                Detail::Plan(made) => Some(plan::PlanLine::of(made)),
                _ => None,
            },
        })
    }
}

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: u32,
    column: u32,
}

impl<'a> Place<'a> {
    fn of(rule: &'a Rule) -> Place<'a> {
        let position = rule.source.position(rule.span.start);
        Place { file: rule.source.name(), line: position.line, column: position.column }
    }
}

#[derive(Serialize)]
struct FoundLine<'a> {
    turn: u32,
    call: u32,
    index: u32,
    value: Option<&'a Value>,
}

impl<'a> FoundLine<'a> {
    fn of(found: &'a Found) -> FoundLine<'a> {
        let CallRef { turn, call, index } = found.call;
        FoundLine { turn, call, index, value: found.value.as_ref() }
    }
}

/// What a check knows beyond its code, by kind of rule.
#[derive(Serialize)]
#[serde(untagged)]
enum DetailLine<'a> {
    Prior {
        tool: &'a str,
        #[serde(rename = "match")]
        matching: &'static str,
        other_reading: bool,
        outputs: Vec<OutputLine<'a>>,
        hint: Option<&'a str>,
    },
    Steps {
        completed: u64,
        wanted: &'a Number,
    },
    Dispatch(DispatchLine<'a>),
    Missing(MissingLine<'a>),
    File(TouchedLine<'a>),
    Order(OrderLine<'a>),
}

impl<'a> DetailLine<'a> {
    fn of(detail: &'a Detail) -> Option<DetailLine<'a>> {
        Some(match detail {
            Detail::None | Detail::Plan(_) => return None,
            Detail::Prior(prior) => DetailLine::Prior {
                tool: &prior.tool,
                matching: prior.matching,
                other_reading: prior.other_reading,
                outputs: prior.outputs.iter().map(OutputLine::of).collect(),
                hint: prior.hint.as_deref(),
            },
            Detail::Steps { completed, wanted } => DetailLine::Steps { completed: *completed, wanted },
            Detail::Dispatch(dispatch) => DetailLine::Dispatch(DispatchLine::of(dispatch)),
            Detail::Missing(missing) => DetailLine::Missing(MissingLine { missing }),
            Detail::File(touched) => DetailLine::File(TouchedLine::of(touched)),
            Detail::Order { rule: asks, count } => DetailLine::Order(OrderLine { asks, count: *count }),
        })
    }
}

#[derive(Serialize)]
struct OutputLine<'a> {
    path: &'a str,
    operator: &'static str,
    wanted: &'a Value,
    /// The first few nodes.
    got: &'a [Value],
    nodes: usize,
    holds: bool,
}

impl<'a> OutputLine<'a> {
    fn of(output: &'a Output) -> OutputLine<'a> {
        OutputLine {
            path: &output.path,
            operator: output.comparison.word(),
            wanted: &output.wanted,
            got: &output.got,
            nodes: output.nodes,
            holds: output.holds,
        }
    }
}

#[derive(Serialize)]
struct RuleLine<'a> {
    rule: &'a str,
    test: Option<&'a str>,
    #[serde(rename = "type")]
    kind: &'static str,
    outcome: RuleOutcome,
    code: Option<Code>,
    position: Option<u32>,
    calls: &'a [u32],
    averted: u32,
}

fn rules<'a>(states: &'a [RuleState], policy: &'a Policy) -> Vec<RuleLine<'a>> {
    let lines = states.iter().filter_map(|state| {
        let rule = policy.rules().get(state.rule)?;
        Some(RuleLine {
            rule: &rule.id,
            test: rule.test.as_deref(),
            kind: rule.kind,
            outcome: state.outcome,
            code: state.code,
            position: state.position,
            calls: &state.calls,
            averted: state.averted,
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

fn id(rule: RuleId, policy: &Policy) -> &str {
    policy.rules().get(rule).map_or("", |rule| &rule.id)
}
