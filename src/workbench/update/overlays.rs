//! Actions of all overlays: closing, and continuing in an editor.

use crate::workbench::effect::Effect;
use crate::workbench::model::{Model, Overlay};
use std::any::Any;

/// Opens in an editor what the cursor is on, and says what that is.
pub fn edit(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(target) = model.editable() else {
        return model.say("nothing here is in a file");
    };
    let (word, file, line) = (target.word, target.file, target.line);
    if if target.recording { model.archive.built_in.sessions } else { model.archive.built_in.policy } {
        return model.say(format!("this {word} is a sample inside the program, not a file on disk"));
    }
    model.say(format!("opened the {word}, {file}:{line}"));
    effects.push(Effect::Edit { file, line });
}

/// Closes the topmost popup; without one, ends a search, then a zoom. Returns whether there was any.
pub fn close(model: &mut Model) -> bool {
    model.dialog.overlays.pop().is_some()
        || model.dialog.query.take().is_some()
        || std::mem::take(&mut model.place.zoom)
}

/// Renews the open ones.
pub fn renew(model: &mut Model) {
    let mut open = std::mem::take(&mut model.dialog.overlays);
    open.iter_mut().filter_map(Overlay::popup_mut).for_each(|popup| popup.renew(model));
    model.dialog.overlays = open;
}

/// Changes those of a kind.
pub fn each<V: Any>(model: &mut Model, mut change: impl FnMut(&mut V, &Model)) {
    let mut open = std::mem::take(&mut model.dialog.overlays);
    open.iter_mut().filter_map(Overlay::view_mut).for_each(|view| change(view, model));
    model.dialog.overlays = open;
}

/// Asks for what those that are open need.
pub fn ask(model: &mut Model, effects: &mut Vec<Effect>) {
    let open = model.dialog.overlays.iter();
    let asks: Vec<_> = open.filter_map(|overlay| overlay.popup()?.asks()).collect();
    asks.into_iter().for_each(|ask| ask(model, effects));
}
