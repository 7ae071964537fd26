//! All that is wrong with policies and recordings: what and where, and below it the message.

use super::Window;
use crate::workbench::line::problem_place;
use crate::workbench::model::Model;
use crate::workbench::model::overlay::ProblemsView;
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::Role;
use rulestep_base::diagnostic::Severity;

/// Rows that a problem takes at least: one for what and where, two for the message.
const TALL: usize = 3;
/// Rows that its message takes at most: some quote a document.
const MOST: usize = 12;

impl Rows for ProblemsView {
    fn len(&self, _: &Model) -> usize {
        self.rows.len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let Some(problem) = self.rows.get(at) else { return Vec::new() };
        let (theme, width) = (&model.theme, space.width);
        let role = if problem.severity == Severity::Error { Role::VerdictDeny } else { Role::VerdictReport };
        let mut row = space.columns(model);
        row.gap(1)
            .put(role, problem.severity.name())
            .gap(1)
            .put(Role::TextStrong, problem.code.as_str())
            .gap(2);
        row.put_tail(Role::TextDim, &problem_place(problem), usize::MAX);
        let mut rows = vec![row];
        let mut message = problem.message.clone();
        if let Some(help) = &problem.help {
            message.push_str(if message.ends_with('?') { " " } else { "; " });
            message.push_str(help);
        }
        for shown in text::wrap(&message, width.saturating_sub(3), MOST, theme.marks()) {
            let mut row = Row::new(theme, width);
            row.gap(3).shown(Role::Text, shown);
            rows.push(row);
        }
        rows.resize(TALL.max(rows.len()), Row::new(theme, width));
        rows
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        self.rows.get(at).map(ToString::to_string)
    }

    fn instead(&self, model: &Model) -> Vec<(Role, String)> {
        let text = match model.surveying() {
            Some(_) => "the policy is being compared with the recordings",
            None => "no problems in the policy or the recordings",
        };
        vec![(Role::TextDim, text.to_owned())]
    }
}

impl Window for ProblemsView {
    fn title(&self, _: &Model, _: usize) -> String {
        "Problems".to_owned()
    }

    fn note(&self, model: &Model) -> String {
        let at = if self.rows.is_empty() { 0 } else { self.list.cursor + 1 };
        let place = format!("{at}/{}", self.rows.len());
        match model.surveying() {
            Some((counted, all)) => format!("{place}, {counted} of {all} sessions compared"),
            None => place,
        }
    }

    fn tall(&self) -> usize {
        TALL
    }

    fn height(&self, model: &Model, at: usize, space: &Space<'_>) -> usize {
        self.rows(model, at, space).len()
    }

    fn hints(&self) -> &'static [Hint] {
        hints![Open "edit", Quit "close"]
    }
}
