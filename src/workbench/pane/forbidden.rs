//! The tools that earlier calls forbade, at the beginning of the selected turn.

use std::sync::Arc;

use super::spec::{Enter, OF_LINES, PaneSpec};
use super::split;
use crate::workbench::line::{Key, Line, place, tool_of};
use crate::workbench::model::seen::Seen;
use crate::workbench::theme::{Glyph, Role};
use rulestep_engine::monitor::StateItem;

/// The pane.
pub(super) const SPEC: PaneSpec = PaneSpec {
    title: "Forbidden",
    short: "Forb",
    note: |model| split::note(model, note),
    lines: |model, width| Some(split::lines(model, width, lines, true)),
    enter: Enter::Call,
    ..OF_LINES
};

/// The lines of the pane.
pub fn lines(seen: Seen<'_>, _: usize) -> Vec<Line> {
    let (Some(framed), Some(session)) = (seen.framed(), seen.model.session()) else {
        let none = seen.model.basis.rules.none();
        let lines = if none { &["no policy:", "nothing is forbidden"][..] } else { &[] };
        return lines.iter().copied().map(Line::dim).collect();
    };
    let mut lines = Vec::new();
    for item in &framed.frame.state {
        if let StateItem::Forbidden { tool, since, rule } = item {
            let first = Line::new().glyph(Role::VerdictDeny, Glyph::Deny).text(Role::Text, &**tool);
            lines.push(first.call(*since).rule(*rule).part(Key::Tool(Arc::clone(tool))));
            let since_what = format!("since {} {}", place(*since), tool_of(session, *since));
            lines.push(Line::dim(since_what).indent(2).call(*since).rule(*rule));
        }
    }
    if lines.is_empty() {
        lines.push(Line::dim("nothing is forbidden"));
    }
    lines
}

/// The note beside the title: the count.
fn note(seen: Seen<'_>) -> String {
    let Some(framed) = seen.framed() else { return String::new() };
    let count = framed.frame.state.iter().filter(|item| matches!(item, StateItem::Forbidden { .. })).count();
    if count == 0 { String::new() } else { count.to_string() }
}
