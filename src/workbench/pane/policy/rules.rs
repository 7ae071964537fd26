//! The text of a rule in both versions: the one under the cursor, else the deciding ones of either side.

use std::ops::Range;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

use crate::compare::Side;
use crate::workbench::line::{Line, half, mark_of, rule_place};
use crate::workbench::model::Model;
use crate::workbench::model::texts::lines_of;
use crate::workbench::paint::tail;
use crate::workbench::theme::{Glyph, Role};
use rulestep_engine::monitor::Rule;

/// Columns from which the two texts are side by side.
const BESIDE: usize = 80;

/// The lines of the pane, at most `width` columns wide.
pub fn lines(model: &Model, width: usize) -> Vec<Line> {
    let pair = model.shown_pair();
    let [base, new] =
        [(Side::Base, pair.base), (Side::New, pair.new)].map(|(side, rule)| model.seen(side).rule(rule?));
    if base.is_none() && new.is_none() {
        return vec![Line::dim("no rule is about the selected call")];
    }
    let (olds, news) = (text(base), text(new));
    let operations = capture_diff_slices(Algorithm::Myers, &olds, &news);
    if width < BESIDE {
        let mut lines = vec![heading(model, Side::Base, base, width)];
        lines.extend(numbered(base, &operations, DiffOp::old_range));
        lines.push(heading(model, Side::New, new, width));
        lines.extend(numbered(new, &operations, DiffOp::new_range));
        return lines;
    }
    let room = half(width);
    let headings =
        [(Side::Base, base), (Side::New, new)].map(|(side, rule)| heading(model, side, rule, room));
    let [of_base, of_new] = headings;
    let mut lines = vec![Line::beside(of_base, of_new, false)];
    let mut olds = numbered(base, &operations, DiffOp::old_range).into_iter();
    let mut news = numbered(new, &operations, DiffOp::new_range).into_iter();
    for operation in operations {
        let (tag, old, new) = operation.as_tag_tuple();
        for at in 0..old.len().max(new.len()) {
            let base = if at < old.len() { olds.next() } else { None };
            let new = if at < new.len() { news.next() } else { None };
            let differs = tag != DiffTag::Equal;
            lines.push(Line::beside(base.unwrap_or_default(), new.unwrap_or_default(), differs));
        }
    }
    lines
}

/// The pane's title: the place of the rule in the new version, else in the base.
pub fn title(model: &Model) -> String {
    let pair = model.shown_pair();
    let new = pair.new.and_then(|rule| model.seen(Side::New).rule(rule));
    let rule = new.or_else(|| pair.base.and_then(|rule| model.seen(Side::Base).rule(rule)));
    rule.map(rule_place).unwrap_or_default()
}

fn heading(model: &Model, side: Side, rule: Option<&Rule>, width: usize) -> Line {
    let (role, glyph) = mark_of(side);
    let word = if side == Side::Base { "base" } else { "new" };
    let line = Line::new().glyph(role, glyph).text(Role::TextStrong, word);
    match rule {
        None => line.text(Role::TextDim, "  no such rule"),
        Some(rule) => {
            let room = width.saturating_sub(line.width() + 2);
            line.text(Role::TextDim, format!("  {}", tail(&rule_place(rule), room, model.theme.marks())))
        }
    }
}

/// The lines of a rule.
fn text(rule: Option<&Rule>) -> Vec<&str> {
    let Some(rule) = rule else { return Vec::new() };
    let (first, last) = lines_of(&rule.source, rule.span);
    (first..=last).map(|number| rule.source.line(number).unwrap_or_default()).collect()
}

/// The same with their numbers; those that differ are marked.
fn numbered(rule: Option<&Rule>, operations: &[DiffOp], range: fn(&DiffOp) -> Range<usize>) -> Vec<Line> {
    let Some(rule) = rule else { return Vec::new() };
    let (first, last) = lines_of(&rule.source, rule.span);
    let digits = last.to_string().len().max(2);
    let differing = operations.iter().filter(|operation| operation.tag() != DiffTag::Equal);
    let differing: Vec<Range<usize>> = differing.map(range).collect();
    let line = |(at, (number, text)): (usize, (u32, &str))| {
        let differs = differing.iter().any(|range| range.contains(&at));
        let (role, glyph) =
            if differs { (Role::ChangeNew, Glyph::Changed) } else { (Role::StatusNote, Glyph::Rule) };
        let line = Line::new().glyph(role, glyph).text(Role::CodeLine, format!("{number:>digits$} "));
        line.text(Role::Text, text)
    };
    (first..=last).zip(text(Some(rule))).enumerate().map(line).collect()
}
