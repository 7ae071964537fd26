//! The tools offered in the selected turn: visible, and hidden with the codes of the rules that hide them.

use super::line::Line;
use crate::diagnostic::code;
use crate::workbench::model::Model;
use crate::workbench::theme::{Glyph, Role};

/// The lines of the pane, at most `width` columns wide.
#[must_use]
pub fn lines(model: &Model, width: usize) -> Vec<Line> {
    let Some(framed) = &model.frame else { return Vec::new() };
    let mut lines = Vec::new();
    for tool in &framed.frame.narrowing.tools {
        let wanted = model.call().is_some_and(|call| call.tool == tool.tool);
        let role = if wanted { Role::TextStrong } else { Role::Text };
        let Some(first) = tool.reasons.first() else {
            lines.push(Line::new().glyph(Role::VerdictAllow, Glyph::Allow).text(role, &*tool.tool));
            continue;
        };
        let forbidden = tool.reasons.iter().any(|reason| reason.code == code::FORBIDDEN);
        let (sign, glyph) =
            if forbidden { (Role::VerdictDeny, Glyph::Deny) } else { (Role::VerdictNone, Glyph::None) };
        let mut codes: Vec<&str> = tool.reasons.iter().map(|reason| reason.code.as_str()).collect();
        codes.dedup();
        let codes = codes.join(" ");
        let line = Line::new().glyph(sign, glyph).text(role, &*tool.tool).rule(first.rule);
        if line.width() + 1 + codes.len() <= width {
            lines.push(line.text(Role::TextDim, format!(" {codes}")));
        } else {
            lines.push(line);
            lines.push(Line::dim(codes).indent(4).rule(first.rule));
        }
    }
    if lines.is_empty() {
        lines.push(Line::dim("no tool was offered"));
    }
    lines
}

/// What stands beside the title: how many are visible.
#[must_use]
pub fn note(model: &Model) -> String {
    let Some(framed) = &model.frame else { return String::new() };
    let narrowing = &framed.frame.narrowing;
    let visible = narrowing.tools.iter().filter(|tool| tool.visible()).count();
    let inferred = if narrowing.inferred { " inferred" } else { "" };
    format!("{visible} of {}{inferred}", narrowing.tools.len())
}
