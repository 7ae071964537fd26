//! The preconditions: of the selected call's tool for that very call, of the other tools at the beginning of the turn.

use std::collections::HashSet;
use std::sync::Arc;

use super::part::{counters, evidence, session_rules};
use super::spec::{OF_LINES, PaneSpec};
use super::split;
use crate::workbench::line::{Key, Line, Link, paragraph, place, rule_place};
use crate::workbench::model::Framed;
use crate::workbench::model::seen::Seen;
use crate::workbench::paint::tail;
use crate::workbench::theme::{Glyph, Role};
use rulestep_engine::monitor::{Check, StateItem};

/// The pane.
pub(super) const SPEC: PaneSpec = PaneSpec {
    title: "Preconditions",
    short: "Pre",
    note: |model| split::note(model, note),
    lines: |model, width| Some(split::lines(model, width, lines, false)),
    ..OF_LINES
};

/// The lines of the pane, at most `width` columns wide.
pub fn lines(seen: Seen<'_>, width: usize) -> Vec<Line> {
    let model = seen.model;
    let Some(framed) = seen.framed() else {
        let none = model.basis.rules.none();
        let lines = if none { &["no policy:", "no call needs another one"][..] } else { &[] };
        return lines.iter().copied().map(Line::dim).collect();
    };
    let mut lines = Vec::new();
    let called = model.call().map(|call| &call.tool);
    let checks: &[Check] = seen.full_decision().map_or(&[], |decision| &decision.checks);
    if let Some(tool) = called.filter(|_| !checks.is_empty()) {
        lines.push(heading(tool, "this call"));
        let told = |check: &&Check| !check.passed || evidence::tells(seen, check);
        let (failed, passed): (Vec<&Check>, Vec<&Check>) =
            checks.iter().filter(told).partition(|check| !check.passed);
        for check in failed.iter().chain(&passed) {
            evidence::check(&mut lines, seen, check, width);
        }
        let rest = checks.len() - failed.len() - passed.len();
        evidence::others(&mut lines, rest, rest < checks.len());
    }
    // Violated rules come before the other tools; the others, after everything.
    let violated = session_rules::speak(seen);
    if violated {
        session_rules::group(&mut lines, seen, width);
    }
    let mut under = None;
    let others = |item: &&StateItem| match item {
        StateItem::Precondition { tool, .. } => {
            (checks.is_empty() || called != Some(tool)) && offered(framed, tool)
        }
        _ => false,
    };
    let mut items: Vec<&StateItem> = framed.frame.state.iter().filter(others).collect();
    // Tools that are called in the session come before those it might have called.
    // Of these, tools with something unmet come first.
    let unmet: HashSet<&Arc<str>> = items
        .iter()
        .filter_map(|item| match item {
            StateItem::Precondition { tool, satisfied: false, .. } => Some(tool),
            _ => None,
        })
        .collect();
    items.sort_by_key(|item| match item {
        StateItem::Precondition { tool, satisfied, .. } => {
            (!model.derived.called.contains(tool), !unmet.contains(tool), Some(tool.clone()), *satisfied)
        }
        _ => (true, true, None, true),
    });
    for item in items {
        let StateItem::Precondition { rule: id, tool, satisfied, code, by, .. } = item else { continue };
        if under != Some(tool) {
            under = Some(tool);
            lines.push(heading(tool, ""));
        }
        let Some(session) = model.session() else { continue };
        let Some(explanation) = item.explain(framed.replay.policy().rules(), session) else { continue };
        let right = match (by.first(), code) {
            (Some(call), _) => place(*call),
            (None, Some(code)) => code.as_str().to_owned(),
            (None, None) => String::new(),
        };
        let link = Link { rule: Some(*id), call: by.first().map(|call| call.index), base: None };
        let key = seen.key(*id);
        // For a tool other than the called one it is no news, and stops nothing.
        let (role, glyph) = match evidence::sign(*satisfied) {
            (_, glyph) if !*satisfied && model.tool().is_some() => (Role::TextDim, glyph),
            sign => sign,
        };
        evidence::named(
            &mut lines,
            seen,
            (role, glyph),
            &evidence::asks(&explanation),
            &right,
            (key, link),
            width,
        );
    }
    counters(&mut lines, seen, framed, width);
    if !violated {
        session_rules::group(&mut lines, seen, width);
    }
    let policy = framed.replay.policy();
    for (id, rule) in policy.off().iter().filter_map(|id| Some((*id, policy.rules().get(*id)?))) {
        let place = rule_place(rule);
        let text = format!("off {}", tail(&place, width.saturating_sub(6), seen.model.theme.marks()));
        lines.push(Line::new().glyph(Role::VerdictNone, Glyph::None).text(Role::TextDim, text).rule(id));
    }
    if lines.is_empty() {
        lines.push(Line::dim("no preconditions"));
    }
    lines
}

/// Other state at the turn's start: limits, deadlines, steps of sequences, and the record of tool policies.
fn counters(lines: &mut Vec<Line>, seen: Seen<'_>, framed: &Framed, width: usize) {
    let model = seen.model;
    let Some(session) = model.session() else { return };
    let rules = framed.replay.policy().rules();
    let mut counted = Vec::new();
    for item in &framed.frame.state {
        let Some(counter) = counters::of(item, rules, session) else { continue };
        // The limit of a tool that cannot be called would only be in the way.
        if item.tool().is_none_or(|tool| offered(framed, tool)) || counters::is_pending(&counter) {
            counters::lines(&mut counted, seen, item, &counter, width);
        }
    }
    if !counted.is_empty() {
        lines.push(Line::dim("as the turn begins:").part(Key::Part("counters")));
        lines.append(&mut counted);
    }
    for item in framed.frame.state.iter().filter(|item| matches!(item, StateItem::Kept { .. })) {
        let Some(explanation) = item.explain(rules, session) else { continue };
        if let Some(label) = explanation.label.filter(|_| explanation.lines.is_empty()) {
            lines.push(heading(&label, ""));
            let text = explanation.headline.to_string();
            paragraph(lines, &model.theme, Role::TextDim, &text, width, 0, Link::default());
        }
    }
}

/// The note beside the title: how many are satisfied.
fn note(seen: Seen<'_>) -> String {
    let Some(framed) = seen.framed() else { return String::new() };
    let (mut all, mut held) = (0, 0);
    for item in &framed.frame.state {
        if let StateItem::Precondition { satisfied, tool, .. } = item
            && offered(framed, tool)
        {
            all += 1;
            held += usize::from(*satisfied);
        }
    }
    if all == 0 { String::new() } else { format!("{held} of {all}") }
}

/// Whether the model could have thought of the tool in this turn: the rules of other tools would only be in the way.
fn offered(framed: &Framed, tool: &str) -> bool {
    framed.frame.narrowing.tools.iter().any(|offered| &*offered.tool == tool)
}

fn heading(tool: &str, note: &str) -> Line {
    let line = Line::new().text(Role::TextStrong, tool).right(Role::TextDim, note);
    line.part(Key::Tool(tool.into()))
}
