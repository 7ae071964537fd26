//! Opens a prompt for a line of text, or an editor.

use serde_json::Value;
use tui_input::Input;

use crate::workbench::effect::Effect;
use crate::workbench::model::supposed::Ask;
use crate::workbench::model::{Model, Prompt};

/// From this many characters on a text is changed in an editor.
const LONG: usize = 400;

/// Opens a prompt with `text`; a long text, or one of several lines, goes to the editor at once.
pub fn begin(model: &mut Model, ask: Ask, text: &str, effects: &mut Vec<Effect>) {
    let long = text.chars().nth(LONG).is_some();
    if ask.is_text() && (long || text.contains('\n')) {
        return compose(ask, text, effects);
    }
    model.dialog.prompt = Some(prompt(ask, text, None));
}

/// A line with `text` in it; `refused`: why it cannot be taken.
pub fn prompt(ask: Ask, text: &str, refused: Option<String>) -> Prompt {
    Prompt { input: Input::new(text.to_owned()), from: 0, before: None, ask: Some(ask), refused, cut: None }
}

/// Lets a text be written in an editor.
pub fn compose(ask: Ask, text: &str, effects: &mut Vec<Effect>) {
    let pretty = serde_json::from_str::<Value>(text).ok().and_then(|value| {
        let pretty = serde_json::to_string_pretty(&value).ok()?;
        (value.is_object() || value.is_array()).then_some(pretty)
    });
    effects.push(Effect::Compose { ask, text: pretty.unwrap_or_else(|| text.to_owned()) });
}
