//! The reference page of a key: the text of `rulestep explain DIALECT.KEY`.

use super::spec::Popup;
use crate::report::{Look, reference as page};
use crate::workbench::layout::Pane;
use crate::workbench::list::List;
use crate::workbench::model::Model;
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::theme::Role;
use rulestep_engine::dialect::lookup;

/// The reference page of a key, or of several on one line.
pub struct ReferenceView {
    /// The key, as in a query.
    pub title: String,
    /// The page.
    pub lines: Vec<String>,
    /// The cursor.
    pub list: List,
}

impl Rows for ReferenceView {
    fn len(&self, _: &Model) -> usize {
        self.lines.len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let mut row = space.row(model);
        if let Some(line) = self.lines.get(at) {
            // A line without indentation is a heading.
            let role = if line.starts_with(' ') { Role::Text } else { Role::TextStrong };
            row.gap(1).put(role, line);
        }
        vec![row]
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        self.lines.get(at).cloned()
    }
}

impl Popup for ReferenceView {
    fn title(&self, _: &Model, _: usize) -> String {
        self.title.clone()
    }

    fn hints(&self) -> &'static [Hint] {
        hints![CopyRow "copy", Quit "close"]
    }
}

/// The reference page of the keys on the selected line of the policy.
pub fn open(model: &mut Model) {
    let line = u32::try_from(model.list(Pane::Policy).cursor + 1).unwrap_or(u32::MAX);
    let found = model.document().map(|shown| lookup::on_line(shown.source, line)).unwrap_or_default();
    let Some(first) = found.first() else {
        return model.say("no reference page is about this line");
    };
    let width = usize::from(model.layout().overlay.width).saturating_sub(6).min(page::WIDTH);
    let mut text = Vec::new();
    for (at, found) in found.iter().enumerate() {
        if at > 0 {
            text.push(b'\n');
        }
        // Writing into memory does not fail.
        let _ = page::entry(found, &Look::default(), width, &mut text);
    }
    let lines = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
    let title = format!("rulestep explain {}", first.path());
    model.dialog.open(ReferenceView { title, lines, list: List::default() });
}
