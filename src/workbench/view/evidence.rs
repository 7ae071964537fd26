//! The facts behind checks and findings, as labels and values. Sentences about findings are `report`'s.

use super::line::{Key, Line, Link, paragraph, place, tool_of};
use super::plan;
use super::preconditions::{index, sign};
use crate::monitor::finding::{Check, Comparison, DispatchRule, Output};
use crate::monitor::{Checked, Detail, Rule, RuleId};
use crate::report::words;
use crate::workbench::model::Seen;
use crate::workbench::theme::{Glyph, Role};

/// Whether a check that passed has something to say about the call: earlier calls it rests on, or a count.
#[must_use]
pub fn tells(check: &Check) -> bool {
    let counts = match &check.detail {
        Detail::Prior(_) | Detail::Steps { .. } | Detail::File(_) | Detail::Missing(_) => true,
        Detail::Dispatch(dispatch) => matches!(dispatch.rule, DispatchRule::Limit { .. }),
        _ => false,
    };
    counts || !check.found.is_empty()
}

/// `✓ 6 more rules passed`; nothing for none.
pub fn others(lines: &mut Vec<Line>, count: usize, more: bool) {
    if count == 0 {
        return;
    }
    let (role, glyph) = sign(true);
    let (more, s) = (if more { " more" } else { "" }, if count == 1 { "" } else { "s" });
    let text = format!("{count}{more} rule{s} passed");
    lines.push(Line::new().glyph(role, glyph).text(Role::TextDim, text).part(Key::Part("others")));
}

/// The lines of a check: what the rule is called, the call it rests on, what it looked at.
pub fn check(lines: &mut Vec<Line>, seen: Seen<'_>, check: &Check, width: usize) {
    let Some(rule) = seen.rule(check.rule) else { return };
    let one = check.found.first().filter(|_| check.passed && check.found.len() == 1);
    let call = one.map(|found| found.call);
    let link = Link { rule: Some(check.rule), call: call.map(|call| call.index), base: None };
    let right = call.map(place).unwrap_or_default();
    let key = Key::rule(seen, check.rule);
    named(lines, seen, sign(check.passed), &asks(rule, &check.detail), &right, (key, link), width);
    if let Some(code) = check.code {
        lines.push(Line::dim(code.as_str()).indent(2).rule(check.rule));
    }
    // Of several calls that satisfied it, each is a place to go to.
    for found in check.found.iter().filter(|_| check.passed && check.found.len() > 1) {
        let taking = seen.taking().map(|taking| taking.replay.session());
        let session = taking.or(seen.model.session());
        let tool = session.map(|session| tool_of(session, found.call)).unwrap_or_default();
        let by = Line::dim(tool).indent(2).right(Role::TextDim, place(found.call));
        lines.push(by.call(found.call).rule(check.rule));
    }
    self::lines(lines, seen, check.rule, check.checked.as_ref(), &check.detail, 2, width);
}

/// A sign, a name in as many lines as it needs, and a word or two at the right edge of the first, else below it.
pub fn named(
    lines: &mut Vec<Line>,
    seen: Seen<'_>,
    (role, glyph): (Role, Glyph),
    name: &str,
    right: &str,
    (key, link): (Key, Link),
    width: usize,
) {
    let mut line = Line::new().glyph(role, glyph).text(Role::Text, name).part(key.clone());
    line.link = link;
    let beside = if right.is_empty() { 0 } else { 1 + right.len() };
    if line.width() + beside <= width {
        lines.push(if right.is_empty() { line } else { line.right(Role::TextDim, right) });
        return;
    }
    let from = lines.len();
    paragraph(lines, &seen.model.theme, Role::Text, name, width, 2, link);
    if let Some(first) = lines.get_mut(from) {
        *first = std::mem::take(first).outdent().glyph(role, glyph).part(key);
    }
    if right.is_empty() {
        return;
    }
    match lines.last_mut() {
        Some(last) if lines_fit(last, right, width) => {
            *last = std::mem::take(last).right(Role::TextDim, right)
        }
        _ => {
            let mut below = Line::dim(right).indent(2);
            below.link = link;
            lines.push(below);
        }
    }
}

fn lines_fit(line: &Line, right: &str, width: usize) -> bool {
    line.width() + 1 + right.len() <= width
}

/// What a rule asks for, in a few words: its own name, else `[0] check_eligibility`, `[1] steps 2 of 3`.
#[must_use]
pub fn asks(rule: &Rule, detail: &Detail) -> String {
    if rule.description.is_some() || rule.name.is_some() {
        return words::rule_name(rule);
    }
    let index = index(rule).map(|index| format!("[{index}] ")).unwrap_or_default();
    match detail {
        Detail::Prior(prior) => format!("{index}{}", prior.tool),
        // More than were wanted is not a count out of them.
        Detail::Steps { completed, wanted } if wanted.as_u64().is_some_and(|wanted| *completed > wanted) => {
            format!("{index}steps {completed}, {wanted} wanted")
        }
        Detail::Steps { completed, wanted } => format!("{index}steps {completed} of {wanted}"),
        _ => words::rule_name(rule),
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
