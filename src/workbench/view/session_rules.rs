//! Rules about the session: how each of them ended, and what a violated one has to say.

use super::evidence;
use super::line::{Key, LABEL, Line, Link, labelled, paragraph, place, rule_place, tail, tool_of};
use crate::monitor::finding::{RuleOutcome, RuleState};
use crate::report::words::{self, rule_name};
use crate::workbench::model::{Model, Seen, verdict};
use crate::workbench::theme::Role;

/// As many that are neither violated nor pending are named; more are a count.
const NAMED: usize = 8;

/// Whether one of them is violated, or may still be.
#[must_use]
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
    let (role, glyph) = verdict::outcome_look(state.outcome);
    let link = Link { rule: Some(state.rule), call: verdict::rests_on(state), base: None };
    let said = words::ended(state.outcome);
    let said = if state.averted > 0 {
        format!("{said}, {} averted", words::count(state.averted.into(), "call"))
    } else {
        said.to_owned()
    };
    let name = rule_name(rule);
    evidence::named(lines, seen, (role, glyph), &name, &said, (Key::rule(seen, state.rule), link), width);
}

/// The lines of the decision pane on a violated rule about the session, at most `width` columns wide.
pub fn violated(lines: &mut Vec<Line>, seen: Seen<'_>, state: &RuleState, width: usize) {
    let model = seen.model;
    let (Some(replay), Some(rule)) = (seen.replay(), seen.rule(state.rule)) else { return };
    let theme = &model.theme;
    let link = Link { rule: Some(state.rule), call: verdict::rests_on(state), base: None };
    let (role, glyph) = verdict::outcome_look(state.outcome);
    let word = words::ended(state.outcome).to_uppercase();
    let head = Line::new().glyph(role, glyph).text(role, word).text(Role::TextStrong, " session rule");
    lines.push(head.right(Role::TextDim, "at the end"));
    if let Some(code) = state.code {
        let line = Line::new().text(role, code.as_str()).rule(state.rule);
        lines.push(line.part(Key::Part("decided")));
    }
    paragraph(lines, theme, Role::TextStrong, &rule_name(rule), width, 0, link);
    if let Some(violation) = words::violation(state, replay) {
        labelled(lines, theme, "expected", Role::Text, &violation.expected.to_string(), width, link);
        labelled(lines, theme, "actual", Role::Text, &violation.actual.to_string(), width, link);
        if let Some(suggestion) = &violation.suggestion {
            labelled(lines, theme, "way out", Role::Text, &suggestion.to_string(), width, link);
        }
    }
    let session = replay.session();
    for (at, index) in state.calls.iter().chain(state.position.iter()).enumerate() {
        let Some(call) = session.calls.get(*index as usize) else { continue };
        let text = format!("{} {}", place(call.at), tool_of(session, call.at));
        let link = Link { call: Some(*index), ..link };
        let label = if at == 0 { "calls" } else { "" };
        labelled(lines, theme, label, Role::Text, &text, width, link);
    }
    if let Some(test) = &rule.test {
        labelled(lines, theme, "test", Role::TextDim, test, width, link);
    }
    let place = tail(&rule_place(rule), width.saturating_sub(LABEL), theme.marks());
    labelled(lines, theme, "rule", Role::TextDim, &place, width, link);
}

/// What a violated rule has to say in one line: `tests must run before a push: run_tests never succeeded`.
#[must_use]
pub fn sentence(model: &Model, state: &RuleState) -> String {
    let name = model.rule(state.rule).map(rule_name).unwrap_or_default();
    let actual = model.replay().and_then(|replay| words::violation(state, replay));
    match actual {
        Some(violation) => format!("{name}: {}", violation.actual),
        None => name,
    }
}
