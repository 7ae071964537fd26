//! Themes: previewed while their names are chosen, and then applied.

use super::state::{PaletteRow, PaletteView};
use crate::workbench::keys::Command;
use crate::workbench::model::Model;
use crate::workbench::theme::Theme;

/// A theme under the cursor is applied at once; otherwise the chosen one returns.
pub fn preview(model: &mut Model) {
    let wanted = match model.dialog.top_mut::<PaletteView>().and_then(|view| view.row()) {
        Some(PaletteRow::Value { command: Command::Theme, value, .. }) => Some(value.clone()),
        _ => None,
    };
    let theme = wanted.and_then(|name| theme(model, &name));
    let current = model.theme.clone();
    let Some(view) = model.dialog.top_mut::<PaletteView>() else { return };
    match theme {
        Some(theme) => {
            view.theme.get_or_insert_with(|| Box::new(current));
            model.theme = theme;
        }
        None => {
            if let Some(chosen) = view.theme.take() {
                model.theme = *chosen;
            }
        }
    }
}

/// A theme as this terminal can show it.
pub fn theme(model: &Model, name: &str) -> Option<Theme> {
    let mut theme = Theme::builtin(name, model.preferences.caps.depth).ok()?;
    theme.glyphs = model.preferences.caps.glyphs.unwrap_or(theme.glyphs);
    Some(theme)
}
