//! The reference page of a key: the text of `rulestep explain DIALECT.KEY`.

use super::Window;
use crate::workbench::model::Model;
use crate::workbench::model::overlay::ReferenceView;
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::theme::Role;

impl Rows for ReferenceView {
    fn len(&self, _: &Model) -> usize {
        self.lines.len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let mut row = space.row(model);
        if let Some(line) = self.lines.get(at) {
            // What is not moved in is a heading.
            let role = if line.starts_with(' ') { Role::Text } else { Role::TextStrong };
            row.gap(1).put(role, line);
        }
        vec![row]
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        self.lines.get(at).cloned()
    }
}

impl Window for ReferenceView {
    fn title(&self, _: &Model, _: usize) -> String {
        self.title.clone()
    }

    fn note(&self, _: &Model) -> String {
        format!("{}/{}", self.list.cursor + 1, self.lines.len())
    }

    fn hints(&self) -> &'static [Hint] {
        hints![CopyRow "copy", Quit "close"]
    }
}
