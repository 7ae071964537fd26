//! The way out: the shortest calls after which a stopped call is allowed, or why there are none.
//!
//! Every unit names the calls that can enable a call ([`Unit::enablers`](crate::monitor::Unit::enablers)). The search makes
//! them, each in a turn of its own directly before the stopped call, on forks of the run, shortest first, and visits
//! each state once. So the first path that it finds is shortest, and if no state is left there is no way. A path is put
//! into the session and replayed before it is returned.

mod answer;
mod moves;
mod search;

use std::sync::Arc;

use serde_json::Value;

pub use answer::{Answer, ArgumentChange, Obstacle, Step, WayOut};

use self::moves::{Moves, Tools};
use self::search::{Search, SearchEnd};
use crate::monitor::{Depth, Effect, RuleId};
use crate::replay::Replay;
use crate::run::{NewCall, Run, Verdict};
use rulestep_base::session::edit::{self, Edit, Part};
use rulestep_base::session::{Body, Call, Session, value};

/// The way out for a call (by index); `None`: no rule stops it.
pub fn way_out(replay: &Replay, index: u32) -> Option<WayOut> {
    let decision = &replay.call(index).filter(|decided| decided.decision.verdict.stops())?.decision;
    let session = replay.session();
    let call = session.calls.get(index as usize)?;
    let against = || decision.findings.iter().filter(|finding| finding.effect >= Effect::Deny);
    let said: Vec<RuleId> = against()
        .map(|finding| finding.rule)
        .filter(|rule| replay.policy().rules().get(*rule).is_some_and(|rule| is_about_words(rule.dialect)))
        .collect();
    let found = |answer| WayOut { call: call.at, answer, change: None, not_offered: Vec::new() };
    if !said.is_empty() {
        return Some(found(Answer::Said(said)));
    }
    let mut run = replay.run_before(index)?;
    run.tell(Depth::Verdict);
    let tools = Tools::of(replay, call);
    let mut answer = answer(replay, &run, call, &tools, against().next()?.rule);
    let mut not_offered = Vec::new();
    if !matches!(answer, Answer::After(_)) && tools.are_offered() {
        let all = Tools::known(replay, call);
        if let Answer::After(steps) = self::answer(replay, &run, call, &all, against().next()?.rule) {
            let called = steps.iter().filter_map(|step| Some(Arc::clone(&step.call.as_ref()?.tool)));
            not_offered = called.filter(|tool| !tools.has(tool)).collect();
            answer = Answer::After(steps);
        }
    }
    let change = match answer {
        Answer::After(_) | Answer::Said(_) => None,
        Answer::Never(_) | Answer::NotWithin(_) => change(replay, &run, call),
    };
    Some(WayOut { change, not_offered, ..found(answer) })
}

/// Whether rules of a dialect look at messages. A hypothetical call changes no message.
fn is_about_words(dialect: &str) -> bool {
    dialect == "rejection_plan"
}

fn answer(replay: &Replay, run: &Run, call: &Call, tools: &Tools, deciding: RuleId) -> Answer {
    let session = replay.session();
    let (mut run, earlier) = (run.fork(), session.calls.get(..call.at.index as usize).unwrap_or_default());
    let moves = Moves::of(&mut run, call, earlier, tools, replay.policy());
    let mut search = Search::new(&run, session, call, &moves);
    match search.run() {
        SearchEnd::Path(path) => {
            let steps = search.steps(&path);
            match is_allowed_after(replay, call, &steps) {
                true => Answer::After(steps),
                // A path that a replay does not confirm is not an answer.
                false => Answer::NotWithin(path.len().saturating_sub(1) as u32),
            }
        }
        SearchEnd::Exhausted if moves.are_complete() => {
            Answer::Never(obstacle(&mut run, call, &moves, deciding))
        }
        SearchEnd::Exhausted => Answer::NotWithin(search.depth()),
        SearchEnd::Budget(depth) => Answer::NotWithin(depth),
    }
}

/// Whether the session with these steps, judged again, allows the call.
fn is_allowed_after(replay: &Replay, call: &Call, steps: &[Step]) -> bool {
    let way = WayOut {
        call: call.at,
        answer: Answer::After(steps.to_vec()),
        change: None,
        not_offered: Vec::new(),
    };
    let session = replay.session();
    let front = edit::part(session, &Part::up_to(session, call.at.turn));
    // Nothing before the call's turn is removed, so its index is the same.
    let edited = edit::apply(&front.session, &way.edits());
    let judged = Replay::new(&edited.session, replay.policy(), replay.mode());
    let now = edited.call(call.at.index).and_then(|index| judged.call(index));
    now.is_some_and(|now| now.decision.verdict == Verdict::Allow)
}

/// The common obstacle of all ways, if there is none.
fn obstacle(run: &mut Run, call: &Call, moves: &Moves, deciding: RuleId) -> Obstacle {
    let goal = NewCall { tool: &call.tool, arguments: &call.arguments };
    if let Some(rule) = run.permanent_denial(goal) {
        return Obstacle { tool: Arc::clone(&call.tool), rule, lasting: true };
    }
    let needed = moves.direct().find_map(|added| {
        let rule = run.permanent_denial(NewCall { tool: &added.tool, arguments: &added.arguments })?;
        Some(Obstacle { tool: Arc::clone(&added.tool), rule, lasting: true })
    });
    needed.unwrap_or_else(|| Obstacle { tool: Arc::clone(&call.tool), rule: deciding, lasting: false })
}

/// Another value of one argument with which the call is allowed at once.
fn change(replay: &Replay, run: &Run, call: &Call) -> Option<ArgumentChange> {
    let session: &Session = replay.session();
    let mut run = run.fork();
    let goal = NewCall { tool: &call.tool, arguments: &call.arguments };
    let earlier = session.calls.get(..call.at.index as usize)?;
    let choices = run.enablers(goal, &call.arguments, earlier).choices;
    let own = call.arguments.parsed()?;
    choices.iter().find_map(|choice| {
        choice.values.iter().find_map(|other| {
            let laid = value::overlay(own, other);
            let arguments = Body::json(&laid.to_string());
            // Most values do not help, and a replay of a long session takes a while.
            let mut fork = run.fork();
            if fork.propose(NewCall { tool: &call.tool, arguments: &arguments }).1.verdict != Verdict::Allow {
                return None;
            }
            let edits = [Edit::Arguments { call: call.at.index, arguments: arguments.clone() }];
            let judged = Replay::new(&edit::apply(session, &edits).session, replay.policy(), replay.mode());
            let allowed = judged.call(call.at.index)?.decision.verdict == Verdict::Allow;
            let value = allowed.then(|| leaf(other).clone())?;
            Some(ArgumentChange { path: Arc::clone(&choice.path), value, arguments })
        })
    })
}

/// The one value at the end of an object with nothing else in it.
fn leaf(value: &Value) -> &Value {
    match value {
        Value::Object(members) if members.len() == 1 => members.values().next().map_or(value, leaf),
        Value::Array(items) => items.iter().find(|item| !item.is_null()).map_or(value, leaf),
        value => value,
    }
}
