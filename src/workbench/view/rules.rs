//! The text of a rule in both versions: the one that the cursor is on, else those that decided on either side.

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::line::{Line, half, mark_of, paragraph, rule_place, tail};
use super::policy::lines_of;
use crate::compare::Side;
use crate::monitor::Rule;
use crate::workbench::model::Model;
use crate::workbench::theme::{Glyph, Role};

/// Columns from which the two texts stand beside each other.
const BESIDE: usize = 80;

/// The lines of the pane, at most `width` columns wide.
#[must_use]
pub fn lines(model: &Model, width: usize) -> Vec<Line> {
    let pair = model.shown_pair();
    let [base, new] =
        [(Side::Base, pair.base), (Side::New, pair.new)].map(|(side, rule)| model.seen(side).rule(rule?));
    if base.is_none() && new.is_none() {
        return vec![Line::dim("no rule is about the selected call")];
    }
    if width < BESIDE {
        let mut lines = Vec::new();
        for (side, rule) in [(Side::Base, base), (Side::New, new)] {
            lines.push(heading(model, side, rule, width));
            lines.extend(text(rule).into_iter().map(|(line, _)| line));
        }
        return lines;
    }
    let room = half(width);
    let mut lines = vec![Line::beside(
        heading(model, Side::Base, base, room),
        heading(model, Side::New, new, room),
        false,
    )];
    let (base, new) = (text(base), text(new));
    let texts = |lines: &[(Line, String)]| lines.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>();
    let operations = capture_diff_slices(Algorithm::Myers, &texts(&base), &texts(&new));
    for operation in operations {
        let (tag, olds, news) = operation.as_tag_tuple();
        let at = |lines: &[(Line, String)], at: Option<usize>| {
            at.and_then(|at| lines.get(at)).map(|(line, _)| line.clone()).unwrap_or_default()
        };
        let rows = olds.len().max(news.len());
        let (mut olds, mut news) = (olds, news);
        for _ in 0..rows {
            let (base, new) = (at(&base, olds.next()), at(&new, news.next()));
            lines.push(Line::beside(base, new, tag != DiffTag::Equal));
        }
    }
    if lines.len() == 1 {
        paragraph(&mut lines, &model.theme, Role::TextDim, "empty", width, 0, super::line::Link::default());
    }
    lines
}

/// The pane's title: where the rule stands in the new version, else in the base.
#[must_use]
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

/// The lines of a rule with their numbers, and without.
fn text(rule: Option<&Rule>) -> Vec<(Line, String)> {
    let Some(rule) = rule else { return Vec::new() };
    let (first, last) = lines_of(&rule.source, rule.span);
    let digits = last.to_string().len().max(2);
    let line = |number: u32| {
        let text = rule.source.line(number)?.to_owned();
        let line = Line::new().glyph(Role::StatusNote, Glyph::Rule);
        let line = line.text(Role::CodeLine, format!("{number:>digits$} ")).text(Role::Text, text.clone());
        Some((line, text))
    };
    (first..=last).filter_map(line).collect()
}
