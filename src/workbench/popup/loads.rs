//! The earlier loaded versions of the policy.

use super::spec::{Popup, acts};
use crate::report::words;
use crate::workbench::effect::Effect;
use crate::workbench::list::List;
use crate::workbench::model::{Load, Model};
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::theme::Role;
use crate::workbench::update::compare;

/// The list of earlier versions.
#[derive(Default)]
pub struct LoadsView {
    /// The cursor.
    pub list: List,
}

fn load(model: &Model, at: usize) -> Option<&Load> {
    model.basis.rules.loads.newest_first().nth(at + 1)
}

impl Rows for LoadsView {
    fn len(&self, model: &Model) -> usize {
        model.basis.rules.loads.newest_first().len().saturating_sub(1)
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let Some(load) = load(model, at) else { return Vec::new() };
        let mut row = space.row(model);
        let (documents, rules) = (load.policy.documents().len() as u64, load.policy.rules().len() as u64);
        let size = format!("  {}, {}", words::count(documents, "document"), words::count(rules, "rule"));
        row.gap(1).put(Role::TextStrong, &load.at).put(Role::Text, &size);
        if at == 0 {
            row.put(Role::TextDim, "  the one before");
        }
        vec![row]
    }

    fn text(&self, model: &Model, at: usize) -> Option<String> {
        load(model, at).map(|load| load.at.clone())
    }
}

impl Popup for LoadsView {
    fn title(&self, _: &Model, _: usize) -> String {
        "Compare with an earlier load".to_owned()
    }

    fn note(&self, model: &Model) -> String {
        self.len(model).to_string()
    }

    fn hints(&self) -> &'static [Hint] {
        hints![Open "compare", Quit "close"]
    }

    acts![Open Ask(enter)];
}

/// Compares with an earlier load: if there are several, the user chooses.
pub fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.basis.rules.loads.newest_first().len() > 2 {
        return model.dialog.open(LoadsView::default());
    }
    compare::load_before(model, 0, effects);
}

fn enter(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(view) = model.dialog.take::<LoadsView>() else { return };
    compare::load_before(model, view.list.cursor, effects);
}
