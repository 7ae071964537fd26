//! The way out of a stopped call: the sentence, then a row for each step with the rules that ask for it.

use super::Window;
use crate::workbench::model::Model;
use crate::workbench::model::way_out::WayOutView;
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::Role;

/// Rows of the screen that a sentence may take.
const MOST: usize = 12;

impl WayOutView {
    /// How a line is shown, what it says, and how far it is moved in.
    fn line(&self, at: usize) -> Option<(Role, String, usize)> {
        let answer = self.answer.as_ref()?;
        let Some(at) = at.checked_sub(1) else { return Some((Role::TextStrong, answer.sentence.clone(), 1)) };
        let (step, rules) = answer.steps.get(at / 2)?;
        match at % 2 {
            0 => Some((Role::Text, format!("{}. {step}", at / 2 + 1), 1)),
            _ => Some((Role::TextDim, rules.clone(), 4)),
        }
    }
}

impl Rows for WayOutView {
    fn len(&self, _: &Model) -> usize {
        self.answer.as_ref().map_or(0, |answer| 1 + 2 * answer.steps.len())
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let Some((role, said, gap)) = self.line(at) else { return Vec::new() };
        let width = space.width.saturating_sub(gap + 1);
        let lines = text::wrap(&said, width, MOST, model.theme.marks());
        let row = |shown| {
            let mut row = Row::new(&model.theme, space.width);
            row.gap(gap).shown(role, shown);
            row
        };
        lines.into_iter().map(row).collect()
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        self.line(at).map(|(_, said, _)| said)
    }

    fn instead(&self, _: &Model) -> Vec<(Role, String)> {
        vec![(Role::TextDim, "looking for calls after which this one is allowed".to_owned())]
    }
}

impl Window for WayOutView {
    fn title(&self, _: &Model, _: usize) -> String {
        format!("Way out for {}", self.of)
    }

    fn note(&self, _: &Model) -> String {
        String::new()
    }

    fn height(&self, model: &Model, at: usize, space: &Space<'_>) -> usize {
        self.rows(model, at, space).len().max(1)
    }

    fn hints(&self) -> &'static [Hint] {
        match self.answer.as_ref().is_some_and(|answer| !answer.edits.is_empty()) {
            true => hints![Open "try it (what-if)", CopyRow "copy", Quit "close"],
            false => hints![Quit "close"],
        }
    }
}
