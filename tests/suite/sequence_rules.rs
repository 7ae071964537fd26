//! Sequence rules held to cases with known verdicts, and to what the reference page says beyond them.

mod cases;
mod documents;
mod gate;
mod migrate;
mod suites;

use std::sync::Arc;

use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Origin, Outcome, Session};
use rulestep_engine::monitor::finding::{RuleOutcome, RuleState};
use rulestep_engine::monitor::{Depth, End};
use rulestep_engine::policy::{LoadResult, Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{Mode, NewCall, Run};
use serde_json::{Value, json};

/// A version of one document.
pub fn load(text: &str) -> LoadResult {
    let name = if text.starts_with('{') { "rules.json" } else { "rules.yaml" };
    let file = PolicyFile { name: name.into(), relative: name.into(), text: text.into(), named: true };
    Policy::load(&[file], None)
}

pub fn policy(text: &str) -> Arc<Policy> {
    let loaded = load(text);
    assert!(loaded.policy.is_some(), "{text}: {:#?}", loaded.diagnostics);
    loaded.policy.unwrap()
}

/// A call of a session in short: `A` has succeeded, `A!` failed, `A?` has no result, `A-` was refused; `A>` succeeds and
/// `A>!` fails one turn later.
#[derive(Debug, Clone)]
pub struct Short {
    pub tool: String,
    pub arguments: Value,
    pub outcome: Outcome,
    pub late: bool,
}

impl Short {
    pub fn parse(text: &str) -> Short {
        let tool = text.trim_end_matches(['!', '?', '-', '>']);
        let marks = &text[tool.len()..];
        let outcome = match marks.trim_start_matches('>') {
            "!" => Outcome::Error,
            "?" => Outcome::Unknown,
            "-" => Outcome::Refused,
            _ => Outcome::Ok,
        };
        Short { tool: tool.into(), arguments: json!({}), outcome, late: marks.starts_with('>') }
    }
}

/// A turn for each word; calls of one turn are joined with `+`.
pub fn session(turns: &str) -> Arc<Session> {
    let turns: Vec<Vec<Short>> =
        turns.split_whitespace().map(|turn| turn.split('+').map(Short::parse).collect()).collect();
    built(&turns, None)
}

pub fn built(turns: &[Vec<Short>], context: Option<Value>) -> Arc<Session> {
    let origin = Origin { file: "case.json".into(), index: 0, format: "native", line: 1 };
    let mut build = Builder::new("case", origin);
    build.facts().context = context;
    let mut late: Vec<(String, Mark)> = Vec::new();
    for (number, turn) in turns.iter().enumerate() {
        build.response(None, Body::MISSING, None);
        let mut results = Vec::new();
        for (nth, call) in turn.iter().enumerate() {
            let id = format!("{number}.{nth}");
            build.call(Some(&id), &call.tool, Body::text(call.arguments.to_string()), None);
            let mark = Mark {
                error: call.outcome == Outcome::Error,
                refused: (call.outcome == Outcome::Refused).then_some("marked"),
            };
            match call.outcome {
                Outcome::Unknown => {}
                _ if call.late => late.push((id, mark)),
                _ => results.push((id, mark)),
            }
        }
        // What is late stands in the next turn, and so counts from the one after.
        let due: Vec<_> =
            late.iter().filter(|(id, _)| !id.starts_with(&format!("{number}."))).cloned().collect();
        late.retain(|(id, _)| id.starts_with(&format!("{number}.")));
        for (id, mark) in results.into_iter().chain(due) {
            build.result(Some(&id), Body::text("{}"), mark, None);
        }
    }
    for (id, mark) in late {
        build.result(Some(&id), Body::text("{}"), mark, None);
    }
    Arc::new(build.finish())
}

/// How the rules stand after a session that may go on.
pub fn so_far(session: &Session, policy: &Arc<Policy>) -> Vec<RuleState> {
    let mut run = Run::new(policy, Mode::Shadow, Depth::Findings, &session.facts);
    for turn in &session.turns {
        run.begin_turn(None);
        for call in session.calls_of(turn) {
            let (ticket, _) = run.propose(NewCall { tool: &call.tool, arguments: &call.arguments });
            run.resolve(ticket, call.outcome, &call.output);
        }
        run.end_turn();
    }
    run.report(End::SoFar)
}

/// `held`, `violated`, … of each rule, in one line.
pub fn outcomes(replay: &Replay) -> String {
    let words = replay.rules().iter().map(|state| match (state.outcome, state.code) {
        (RuleOutcome::Violated, Some(code)) => match state.position {
            Some(position) => format!("{code}@{position}"),
            None => code.to_string(),
        },
        (RuleOutcome::Held, _) if state.averted > 0 => format!("averted {}", state.averted),
        (RuleOutcome::Held, _) => "held".to_owned(),
        (outcome, _) => format!("{outcome:?}"),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Every finding: `INDEX EFFECT CODE`.
pub fn findings(replay: &Replay) -> String {
    let calls = replay.calls().iter().enumerate();
    let all = calls.flat_map(|(index, judged)| {
        let findings = judged.decision.findings.iter();
        findings.map(move |finding| format!("{index} {} {}", finding.effect.word(), finding.code))
    });
    all.collect::<Vec<_>>().join("; ")
}

pub fn replay(rules: &str, turns: &str, mode: Mode) -> Replay {
    Replay::new(&session(turns), &policy(rules), mode)
}
