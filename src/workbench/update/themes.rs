//! Themes put on: to be looked at while their names are chosen, and then to stay.

use crate::workbench::keys::Command;
use crate::workbench::model::palette::{PaletteRow, PaletteView};
use crate::workbench::model::{Model, Overlay};
use crate::workbench::theme::Theme;

fn view(model: &mut Model) -> Option<&mut PaletteView> {
    match model.dialog.overlays.last_mut()? {
        Overlay::Palette(view) => Some(view),
        _ => None,
    }
}

/// A theme under the cursor is put on at once; otherwise the chosen one is back.
pub fn preview(model: &mut Model) {
    let wanted = match view(model).and_then(|view| view.row()) {
        Some(PaletteRow::Value { command: Command::Theme, value, .. }) => Some(value.clone()),
        _ => None,
    };
    let theme = wanted.and_then(|name| theme(model, &name));
    let current = model.theme.clone();
    let Some(view) = view(model) else { return };
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
    let mut theme = Theme::builtin(name, model.habits.dress.depth).ok()?;
    theme.glyphs = model.habits.dress.glyphs.unwrap_or(theme.glyphs);
    Some(theme)
}
