//! Session rules: the outcome of each, and the explanation of a violated one.

use std::collections::BTreeSet;

use super::evidence;
use crate::report::words::{self, rule_name};
use crate::workbench::line::{Key, LABEL, Line, Link, labelled, paragraph, place, rule_place, tool_of};
use crate::workbench::model::seen::Seen;
use crate::workbench::model::{Model, verdict};
use crate::workbench::paint::tail;
use crate::workbench::theme::Role;
use rulestep_base::session::{CallRef, Outcome, Session};
use rulestep_engine::monitor::finding::{RuleOutcome, RuleState};
use rulestep_engine::monitor::{Effect, Explanation, Finding, Rule};
use rulestep_engine::run::Mode;

/// Number of other rules that are named; more are a count.
const NAMED: usize = 8;

/// Whether one of them is violated, or may still be.
pub fn speak(seen: Seen<'_>) -> bool {
    let states = seen.replay().map(|replay| replay.rules()).unwrap_or_default();
    states.iter().any(|state| matches!(state.outcome, RuleOutcome::Violated | RuleOutcome::Pending))
}

/// Adds the group of the preconditions pane, at most `width` columns wide: the worst first.
pub fn group(lines: &mut Vec<Line>, seen: Seen<'_>, width: usize) {
    let states = seen.replay().map(|replay| replay.rules()).unwrap_or_default();
    if states.is_empty() {
        return;
    }
    lines.push(
        Line::new()
            .text(Role::TextStrong, "session rules")
            .right(Role::TextDim, "at the end")
            .part(Key::Part("session rules")),
    );
    use RuleOutcome as O;
    for outcome in [O::Violated, O::Pending, O::Held, O::NotExercised] {
        let these = || states.iter().filter(move |state| state.outcome == outcome);
        let quiet = matches!(outcome, O::Held | O::NotExercised);
        if quiet && these().count() > NAMED {
            let (role, glyph) = verdict::outcome_look(outcome);
            let text = format!("{} {}", words::count(these().count() as u64, "rule"), words::ended(outcome));
            lines.push(
                Line::new().glyph(role, glyph).text(Role::TextDim, text).part(Key::Part(outcome.word())),
            );
            continue;
        }
        for state in these() {
            one(lines, seen, state, width);
        }
    }
}

fn one(lines: &mut Vec<Line>, seen: Seen<'_>, state: &RuleState, width: usize) {
    let Some(rule) = seen.rule(state.rule) else { return };
    let (role, glyph) = verdict::state_look(state);
    let link = Link { rule: Some(state.rule), call: verdict::rests_on(state), base: None };
    let said = words::ended(state.outcome);
    let said = if state.averted > 0 {
        format!("{said}, {} averted", words::count(state.averted.into(), "call"))
    } else {
        said.to_owned()
    };
    let name = rule_name(rule);
    evidence::named(lines, seen, (role, glyph), &name, &said, (seen.key(state.rule), link), width);
}

/// The lines of the decision pane on a violated rule about the session, at most `width` columns wide.
pub fn violated(lines: &mut Vec<Line>, seen: Seen<'_>, state: &RuleState, width: usize) {
    let model = seen.model;
    let (Some(replay), Some(rule)) = (seen.replay(), seen.rule(state.rule)) else { return };
    let theme = &model.theme;
    let link = Link { rule: Some(state.rule), call: verdict::rests_on(state), base: None };
    let (role, glyph) = verdict::state_look(state);
    let word = words::ended(state.outcome).to_uppercase();
    let head = Line::new().glyph(role, glyph).text(role, word).text(Role::TextStrong, " session rule");
    lines.push(head.right(Role::TextDim, "at the end"));
    if let Some(code) = state.code {
        let line = Line::new().text(role, code.as_str()).rule(state.rule);
        lines.push(line.part(Key::Part("decided")));
    }
    paragraph(lines, theme, Role::TextStrong, &rule_name(rule), width, 0, link);
    rule_line(lines, seen, rule, width, link);
    let session = replay.session();
    let fault = state.position;
    let rests = state.calls.iter().copied().chain(fault).map(|call| (call, true));
    // A rule that rests on no call is about what ran last.
    let last = || ran_before(seen, session.calls.len()).map(|call| (call, false));
    let mut calls: Vec<(u32, bool)> = rests.collect();
    if calls.is_empty() {
        calls.extend(last());
    }
    calls.sort_unstable();
    calls.dedup();
    let trace = calls.into_iter().filter_map(|(index, rests)| {
        let at = session.calls.get(index as usize)?.at;
        let mark = if fault == Some(index) { " \u{2190} here" } else { "" };
        Some(Traced { at, text: format!("{} {}{mark}", place(at), tool_of(session, at)), rests })
    });
    let trace: Vec<Traced> = trace.collect();
    if let Some(violation) = words::violation(state, replay) {
        parts(lines, seen, (&violation, &trace), width, link);
    }
}

/// A line of a trace.
pub struct Traced {
    at: CallRef,
    text: String,
    /// Whether the rule rests on this call.
    rests: bool,
}

/// Calls before a place that are shown of a trace, besides those that a rule rests on.
const AHEAD: usize = 3;

/// The last few calls before a place that ran, the newest first.
fn ran_before(seen: Seen<'_>, before: usize) -> impl Iterator<Item = u32> {
    let calls = seen.replay().map(|replay| replay.session().calls.iter().zip(replay.calls()));
    let shadow = seen.model.basis.mode == Mode::Shadow;
    let calls = calls.into_iter().flat_map(move |calls| calls.take(before).rev());
    let ran = calls.filter(move |(call, judged)| {
        (shadow || judged.decision.verdict.may_run()) && call.outcome != Outcome::Refused
    });
    ran.map(|(call, _)| call.at.index).take(AHEAD)
}

/// The calls before the selected one, those that a finding rests on, and the call itself.
pub fn trace_of(seen: Seen<'_>, finding: &Finding, session: &Session) -> Vec<Traced> {
    let Some(call) = seen.model.call() else { return Vec::new() };
    let rests: BTreeSet<u32> = finding.found.iter().filter_map(|found| Some(found.own()?.index)).collect();
    let ran = ran_before(seen, call.at.index as usize);
    let all: BTreeSet<u32> = ran.chain(rests.iter().copied()).chain([call.at.index]).collect();
    let line = |index: u32| {
        let at = session.calls.get(index as usize)?.at;
        let here =
            match (at == call.at, finding.effect >= Effect::Deny && seen.model.basis.mode == Mode::Enforce) {
                (false, _) => "",
                (true, true) => " \u{2190} stopped here",
                (true, false) => " \u{2190} here",
            };
        let rests = at == call.at || rests.contains(&index);
        Some(Traced { at, text: format!("{} {}{here}", place(at), tool_of(session, at)), rests })
    };
    all.into_iter().filter_map(line).collect()
}

/// The parts of an order rule's explanation besides its name and place: the expectation, what happened instead, what
/// would satisfy it, and the calls.
pub fn parts(
    lines: &mut Vec<Line>,
    seen: Seen<'_>,
    (violation, trace): (&Explanation, &[Traced]),
    width: usize,
    link: Link,
) {
    let theme = &seen.model.theme;
    if let Some(expected) = &violation.expected {
        labelled(lines, theme, "expected", Role::Text, &expected.to_string(), width, link);
    }
    labelled(lines, theme, "actual", Role::Text, &violation.headline.to_string(), width, link);
    // The way out is what users look for: it comes before the calls, which may be many.
    if let Some(suggestion) = &violation.way_out {
        labelled(lines, theme, "suggest", Role::Text, &suggestion.to_string(), width, link);
    }
    let (mut label, mut shown) = ("trace", 0);
    for traced in trace {
        let index = traced.at.index;
        if let Some(left_out) = index.checked_sub(shown).filter(|left_out| *left_out > 0) {
            let text =
                format!("{} {}", theme.marks().ellipsis(), words::count(left_out.into(), "other call"));
            labelled(lines, theme, std::mem::take(&mut label), Role::TextDim, &text, width, link);
        }
        let role = if traced.rests { Role::Text } else { Role::TextDim };
        let link = Link { call: Some(index), ..link };
        labelled(lines, theme, std::mem::take(&mut label), role, &traced.text, width, link);
        shown = index + 1;
    }
    if trace.is_empty() {
        labelled(lines, theme, "trace", Role::TextDim, "no call ran", width, link);
    }
}

/// The place of a rule, above its explanation, so that it is visible without scrolling.
pub fn rule_line(lines: &mut Vec<Line>, seen: Seen<'_>, rule: &Rule, width: usize, link: Link) {
    let theme = &seen.model.theme;
    if let Some(test) = &rule.test {
        labelled(lines, theme, "test", Role::TextDim, test, width, link);
    }
    // If its description is the headline, its own id is nowhere else.
    if let (Some(_), Some(id)) = (&rule.description, &rule.name) {
        labelled(lines, theme, "id", Role::TextDim, id, width, link);
    }
    let place = tail(&rule_place(rule), width.saturating_sub(LABEL), theme.marks());
    labelled(lines, theme, "rule", Role::TextDim, &place, width, link);
}

/// A violated rule's explanation in one line: `tests must run before a push: run_tests never succeeded`.
pub fn sentence(model: &Model, state: &RuleState) -> String {
    let name = model.rule(state.rule).map(rule_name).unwrap_or_default();
    let actual = model.replay().and_then(|replay| words::violation(state, replay));
    match actual {
        Some(violation) => format!("{name}: {}", violation.headline),
        None => name,
    }
}
