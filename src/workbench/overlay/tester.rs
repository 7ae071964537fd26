//! An expression that is tried: in a sentence what came of it, with the place where it is wrong; then what was found.

use super::Window;
use crate::report::words;
use crate::tester::{Answer, MOST, State};
use crate::workbench::model::Model;
use crate::workbench::model::tester::TesterView;
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};
use rulestep_base::source::floor_boundary;

/// Rows of the screen that a sentence may take.
const TALL: usize = 6;
/// Characters of an expression that are shown before the place where it is wrong.
const BEFORE: usize = 30;

impl TesterView {
    fn headline<'m>(&self, answer: &Answer, model: &'m Model, space: &Space<'_>) -> Vec<Row<'m>> {
        let marks = model.theme.marks();
        let (role, glyph) = match answer.state {
            State::Match => (Role::VerdictAllow, Glyph::Allow),
            State::NoMatch => (Role::TextDim, Glyph::None),
            State::Unsure => (Role::VerdictReport, Glyph::Report),
            State::Refused if self.expression.text.is_empty() => (Role::TextDim, Glyph::None),
            State::Refused => (Role::StatusProblem, Glyph::Problem),
        };
        let lines = text::wrap(&answer.sentence, space.width.saturating_sub(4), TALL, marks);
        let line = |(at, shown): (usize, _)| {
            let mut row = Row::new(&model.theme, space.width);
            row.gap(1);
            if at == 0 {
                row.glyph(role, glyph).gap(1)
            } else {
                row.gap(2)
            };
            row.shown(Role::TextStrong, shown);
            row
        };
        let mut rows: Vec<Row<'m>> = lines.into_iter().enumerate().map(line).collect();
        if let Some(fault) = answer.fault {
            rows.extend(self.pointed(fault, model, space));
        }
        rows
    }

    /// The expression around a place, and a mark below it.
    fn pointed<'m>(&self, fault: usize, model: &'m Model, space: &Space<'_>) -> [Row<'m>; 2] {
        let text = &self.expression.text;
        let (before, rest) = text.split_at(floor_boundary(text, fault));
        let from = before.char_indices().nth_back(BEFORE).map_or(0, |(at, _)| at);
        let before = before.get(from..).unwrap_or_default();
        let mut shown = Row::new(&model.theme, space.width);
        shown.gap(3).put(Role::Text, before);
        let column = shown.used();
        // What follows is cut where the row ends, and nobody needs it.
        let room = shown.left();
        shown.shown(Role::Text, text::fit(rest, room, model.theme.marks()));
        let mut mark = Row::new(&model.theme, space.width);
        mark.gap(column).put(Role::StatusProblem, "^");
        [shown, mark]
    }
}

impl Rows for TesterView {
    fn len(&self, _: &Model) -> usize {
        self.answer().map_or(0, |answer| 1 + answer.parts.len())
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let Some(answer) = self.answer() else { return Vec::new() };
        let Some(at_part) = at.checked_sub(1) else { return self.headline(answer, model, space) };
        let Some(part) = answer.parts.get(at_part) else { return Vec::new() };
        let mut row = space.row(model);
        row.gap(3);
        if !part.label.is_empty() {
            row.put(Role::TextDim, &part.label).gap(2);
        }
        row.put_marked(Role::Text, &part.text, &part.found, at == space.cursor);
        vec![row]
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        let answer = self.answer()?;
        match at.checked_sub(1) {
            None => Some(answer.sentence.clone()),
            Some(at) => answer.parts.get(at).map(|part| part.text.clone()),
        }
    }

    fn instead(&self, _: &Model) -> Vec<(Role, String)> {
        vec![(Role::TextDim, "trying it".to_owned())]
    }
}

impl Window for TesterView {
    fn title(&self, _: &Model, _: usize) -> String {
        format!("{} on {}", self.expression.language.name(), words::line(&self.of))
    }

    fn note(&self, model: &Model) -> String {
        match Rows::len(self, model).saturating_sub(1) {
            0 => String::new(),
            MOST => format!("the first {MOST}"),
            parts => format!("{}/{parts}", self.list.cursor),
        }
    }

    fn height(&self, model: &Model, at: usize, space: &Space<'_>) -> usize {
        self.rows(model, at, space).len().max(1)
    }

    fn hints(&self) -> &'static [Hint] {
        hints![Open "type on", CopyRow "copy", Quit "close"]
    }
}
