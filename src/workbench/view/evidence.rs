//! The facts behind checks and findings, as labels and values. Sentences about findings are `report`'s.

use super::line::{Line, Link, paragraph};
use super::plan;
use super::preconditions::{index, sign};
use crate::monitor::finding::{Comparison, Output};
use crate::monitor::{Checked, Detail, Rule, RuleId};
use crate::report::words;
use crate::workbench::model::Seen;
use crate::workbench::theme::Role;

/// What a rule asks for, in a few words: `[0] check_eligibility`, `[1] steps 2 of 3`.
#[must_use]
pub fn asks(rule: &Rule, detail: &Detail) -> String {
    let index = index(rule).map(|index| format!("[{index}] ")).unwrap_or_default();
    match detail {
        Detail::Prior(prior) => format!("{index}{}", prior.tool),
        // More than were wanted is not a count out of them.
        Detail::Steps { completed, wanted } if wanted.as_u64().is_some_and(|wanted| *completed > wanted) => {
            format!("{index}steps {completed}, {wanted} wanted")
        }
        Detail::Steps { completed, wanted } => format!("{index}steps {completed} of {wanted}"),
        _ => format!("{index}{}", rule.kind),
    }
}

/// What was compared and what stood there.
pub fn lines(
    lines: &mut Vec<Line>,
    seen: Seen<'_>,
    rule: RuleId,
    checked: Option<&Checked>,
    detail: &Detail,
    indent: usize,
    width: usize,
) {
    let model = seen.model;
    let link = Link { rule: Some(rule), ..Link::default() };
    if let Some(checked) = checked {
        let value = checked.value.as_ref().map_or_else(|| "not one value".to_owned(), ToString::to_string);
        let text = format!("{} {value}", checked.path);
        paragraph(lines, &model.theme, Role::TextDim, &text, width, indent, link);
    }
    if let Detail::Plan(made) = detail {
        plan::tree(lines, model, rule, made, indent, width);
    }
    if let Detail::Prior(prior) = detail {
        for output in &prior.outputs {
            lines.push(condition(output).indent(indent).rule(rule));
        }
        if prior.other_reading {
            let other = if prior.matching == "newest" { "any" } else { "newest" };
            let text = format!("match: {other} would decide otherwise");
            paragraph(lines, &model.theme, Role::VerdictReport, &text, width, indent, link);
        }
        if let Some(hint) = &prior.hint {
            let text = format!("{hint} would hold");
            paragraph(lines, &model.theme, Role::VerdictReport, &text, width, indent, link);
        }
    } else if !matches!(detail, Detail::Steps { .. }) {
        for text in words::details(detail) {
            let text = text.to_string();
            paragraph(lines, &model.theme, Role::TextDim, &text, width, indent, link);
        }
    }
}

/// A condition on a result: what was wanted, and what stood there when that is something else.
fn condition(output: &Output) -> Line {
    let (role, glyph) = sign(output.holds);
    let wanted = match output.comparison {
        Comparison::Exists => format!("{} exists: {}", output.path, output.wanted),
        comparison => format!("{} {} {}", output.path, comparison.word(), output.wanted),
    };
    let mut line = Line::new().glyph(role, glyph).text(Role::TextDim, wanted);
    if !output.holds {
        let mut got: Vec<String> = output.got.iter().map(ToString::to_string).collect();
        if got.is_empty() {
            got.push("nothing".to_owned());
        }
        if output.nodes > output.got.len() {
            got.push(format!("({} in all)", output.nodes));
        }
        line = line.text(Role::Text, format!(" got {}", got.join(", ")));
    }
    line
}
