//! The tools offered in the selected turn: visible ones, and hidden ones with the codes of the rules that hide them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::spec::{OF_LINES, PaneSpec};
use super::split;
use crate::report::words;
use crate::workbench::line::{Key, Line, Link, paragraph};
use crate::workbench::model::Model;
use crate::workbench::model::seen::Seen;
use crate::workbench::theme::{Glyph, Role};
use rulestep_engine::monitor::StateItem;

/// The pane.
pub(super) const SPEC: PaneSpec = PaneSpec {
    title: "Tools",
    short: "Tools",
    note: |model| split::note(model, note),
    lines: |model, width| Some(split::lines(model, width, lines, true)),
    ..OF_LINES
};

/// The lines of the pane, at most `width` columns wide.
pub fn lines(seen: Seen<'_>, width: usize) -> Vec<Line> {
    let model = seen.model;
    let Some(framed) = seen.framed() else { return without_policy(model) };
    let mut lines = Vec::new();
    let mut tools: Vec<_> = framed.frame.narrowing.tools.iter().collect();
    if framed.frame.narrowing.inferred {
        // The order is not recorded: tools that the session calls come first.
        tools.sort_by_key(|tool| !model.derived.called.contains(&tool.tool));
        // Before the first of them: a name from a rule alone may not be a tool at all.
        lines.push(Line::dim("inferred, not recorded:").part(split::INFERRED));
    }
    let before = framed.before();
    let forbidden = framed.frame.state.iter().filter_map(|item| match item {
        StateItem::Forbidden { tool, .. } => Some(tool),
        _ => None,
    });
    let forbidden: Vec<_> = forbidden.collect();
    for tool in tools {
        // Tools that became visible or hidden since the turn before.
        let was = before.and_then(|frame| frame.narrowing.tools.iter().find(|known| known.tool == tool.tool));
        let now = match (was.map(|was| was.visible()), tool.visible()) {
            (Some(true), false) => " gone",
            (Some(false), true) => " new",
            _ => "",
        };
        let wanted = model.call().is_some_and(|call| call.tool == tool.tool);
        let role = if wanted { Role::TextStrong } else { Role::Text };
        let Some(first) = tool.reasons.first() else {
            let line = Line::new().glyph(Role::VerdictAllow, Glyph::Allow).text(role, &*tool.tool);
            let line = line.text(Role::StatusNote, now);
            lines.push(line.part(Key::Tool(tool.tool.clone())));
            continue;
        };
        let forbidden = forbidden.contains(&&tool.tool);
        let (sign, glyph) =
            if forbidden { (Role::VerdictDeny, Glyph::Deny) } else { (Role::VerdictNone, Glyph::None) };
        let line = Line::new().glyph(sign, glyph).text(role, &*tool.tool).rule(first.rule);
        let line = line.text(Role::StatusNote, now);
        let line = line.part(Key::Tool(tool.tool.clone()));
        if tool.reasons.len() == 1 && line.width() + 1 + first.code.as_str().len() <= width {
            lines.push(line.text(Role::TextDim, format!(" {}", first.code)));
            continue;
        }
        lines.push(line);
        let mut before = None;
        for reason in &tool.reasons {
            // Rules with one code are one line, which links to the first of them.
            if before != Some(reason.code) {
                lines.push(Line::dim(reason.code.as_str()).indent(2).rule(reason.rule));
            }
            before = Some(reason.code);
        }
    }
    if framed.frame.narrowing.tools.is_empty() {
        lines = vec![Line::dim("no tool was offered")];
    } else if framed.frame.narrowing.inferred {
        let text = "these are the names that rules and calls have; a name that is misspelt there is here too";
        lines.push(Line::new().part(Key::Part("note")));
        paragraph(&mut lines, &model.theme, Role::TextDim, text, width, 0, Link::default());
    }
    lines
}

/// The note beside the title: how many are visible.
fn note(seen: Seen<'_>) -> String {
    let Some(framed) = seen.framed() else { return String::new() };
    let narrowing = &framed.frame.narrowing;
    let visible = narrowing.tools.iter().filter(|tool| tool.visible()).count();
    format!("{visible} of {}", narrowing.tools.len())
}

/// Without a policy no tool is hidden: the called ones, the most often called first.
fn without_policy(model: &Model) -> Vec<Line> {
    let Some(session) = model.session().filter(|_| model.basis.rules.none()) else { return Vec::new() };
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    session.calls.iter().for_each(|call| *counts.entry(&call.tool).or_default() += 1);
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    let called = counts.into_iter().map(|(tool, count)| {
        Line::new().text(Role::Text, tool).text(Role::TextDim, format!(" {}", words::count(count, "call")))
    });
    ["no policy hides a tool;", "this session calls:"].map(Line::dim).into_iter().chain(called).collect()
}
