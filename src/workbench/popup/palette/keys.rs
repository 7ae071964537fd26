//! Running commands by their names, with their arguments.

use crossterm::event::KeyCode;
use tui_input::Input;

use super::super::help::HelpView;
use super::state::{PaletteRow, PaletteView};
use super::themes;
use crate::workbench::effect::Effect;
use crate::workbench::keys::{Command, Key, Scope};
use crate::workbench::list::Go;
use crate::workbench::model::{Model, Prompt};
use crate::workbench::update::{derive, go, search, table};

/// Lines that are kept to be run again.
const KEPT: usize = 100;

/// Opens the list, with `line` typed already.
pub fn open(model: &mut Model, line: &str) {
    // The list of all commands closes: the command is meant for what is below it.
    let scope = match model.dialog.top::<HelpView>() {
        Some(help) => help.scope.unwrap_or(Scope::Panes),
        None => model.scope_of_keys(),
    };
    if model.dialog.top::<HelpView>().is_some() {
        model.dialog.overlays.pop();
    }
    let before = model.dialog.query.take();
    let view = PaletteView::new(model, scope);
    model.dialog.open(view);
    let input = Input::new(line.to_owned());
    model.dialog.prompt = Some(Prompt { input, from: 0, before, ask: None, refused: None, cut: None });
    search::apply(model);
}

/// Whether the keys are those of the list.
pub fn is_open(model: &Model) -> bool {
    model.dialog.top::<PaletteView>().is_some()
}

/// A command to be run, with the text typed after its name.
pub type Chosen = (Command, Option<String>);

/// A key while a command is typed; returns the command to run.
pub fn key(model: &mut Model, key: Key, effects: &mut Vec<Effect>) -> Option<Chosen> {
    let prompt = model.dialog.prompt.as_mut()?;
    (prompt.cut, prompt.refused) = (None, None);
    let empty = prompt.input.value().is_empty();
    if table::turns_order(model, key) {
        match model.archive.table.sort {
            Some(_) => {
                close(model, true);
                table::turn_order(model);
            }
            None => refuse(model, "the sessions are in the order of their files; choose a column".to_owned()),
        }
        return None;
    }
    match (key.code, key.ctrl) {
        (KeyCode::Char('c'), true) => effects.push(Effect::Quit),
        (KeyCode::Esc, _) => close(model, true),
        (KeyCode::Backspace, _) if empty => close(model, true),
        (KeyCode::Enter, _) => return enter(model),
        (KeyCode::Tab, _) => complete(model),
        (KeyCode::Up, _) => recall(model),
        (KeyCode::Down, _) => forget(model),
        (KeyCode::Char('p'), true) => step(model, Go::By(-1)),
        (KeyCode::Char('n'), true) => step(model, Go::By(1)),
        (KeyCode::PageUp, _) => step(model, Go::Halves(-2)),
        (KeyCode::PageDown, _) => step(model, Go::Halves(2)),
        _ => {
            if let (Some(request), Some(prompt)) = (search::request(key), &mut model.dialog.prompt) {
                let before = prompt.input.value().to_owned();
                prompt.input.handle(request);
                if prompt.input.value() != before {
                    search::apply(model);
                }
            }
        }
    }
    themes::preview(model);
    None
}

fn step(model: &mut Model, by: Go) {
    go::rows(model, by);
}

/// Types a line in place of the current text.
fn replace(model: &mut Model, line: String) {
    if let Some(prompt) = &mut model.dialog.prompt {
        prompt.input = Input::new(line);
    }
    search::apply(model);
}

/// Up: the row above; above the first one the line that was run before.
fn recall(model: &mut Model) {
    let Some(view) = model.dialog.top_mut::<PaletteView>() else { return };
    if view.list.cursor > 0 {
        return step(model, Go::By(-1));
    }
    let older = view.recalled.map_or(0, |recalled| recalled + 1);
    type_again(model, older);
}

/// Down: the line that was run after, if an older one was recalled; else the row below.
fn forget(model: &mut Model) {
    let Some(view) = model.dialog.top_mut::<PaletteView>() else { return };
    match view.recalled {
        Some(0) => replace(model, String::new()),
        Some(recalled) => type_again(model, recalled - 1),
        None => step(model, Go::By(1)),
    }
}

fn type_again(model: &mut Model, recalled: usize) {
    let Some(line) = model.preferences.history.iter().rev().nth(recalled).cloned() else { return };
    replace(model, line);
    if let Some(view) = model.dialog.top_mut::<PaletteView>() {
        view.recalled = Some(recalled);
    }
}

/// Tab: types what the row under the cursor says.
fn complete(model: &mut Model) {
    let Some(row) = model.dialog.top_mut::<PaletteView>().and_then(|view| view.row()) else { return };
    let line = match row {
        PaletteRow::Command(command) if command.row().argument.is_some() => format!("{} ", row.line()),
        row => row.line(),
    };
    replace(model, line);
}

/// Closes the list; unless a theme is chosen, its preview ends.
fn close(model: &mut Model, undo: bool) {
    let Some(view) = model.dialog.take::<PaletteView>() else { return };
    if let Some(prompt) = model.dialog.prompt.take() {
        model.dialog.query = prompt.before;
    }
    if let (Some(chosen), true) = (view.theme, undo) {
        model.theme = *chosen;
    }
    derive::keep_overlay(model);
}

/// Enter: closes the list and returns what the row under the cursor runs.
pub fn enter(model: &mut Model) -> Option<Chosen> {
    // The row describes the model as it was drawn; availability is checked again when it runs.
    let facts = model.facts();
    let open = model.dialog.top_mut::<PaletteView>()?;
    let row = open.row().cloned()?;
    let command = row.command();
    if let Some(missing) = open.missing(command, &facts) {
        let missing = model.preferences.keymap.worded(missing).into_owned();
        refuse(model, missing);
        return None;
    }
    match row {
        PaletteRow::Command(command) => match command.row().argument {
            Some(argument) if !argument.is_optional() => {
                complete(model);
                None
            }
            _ => {
                close(model, true);
                remember(model, row.line());
                Some((command, None))
            }
        },
        PaletteRow::Value { command, ref value, .. } => {
            close(model, command != Command::Theme);
            remember(model, row.line());
            Some((command, Some(value.clone())))
        }
    }
}

/// The typed text is invalid: it stays to be changed, with the reason beside it.
pub fn open_again(model: &mut Model, line: &str, why: String) {
    open(model, line);
    refuse(model, why);
}

/// The line stays to be changed, with the reason beside it.
fn refuse(model: &mut Model, why: String) {
    if let Some(prompt) = &mut model.dialog.prompt {
        prompt.refused = Some(why);
    }
}

fn remember(model: &mut Model, line: String) {
    let history = &mut model.preferences.history;
    history.retain(|known| *known != line);
    history.push(line);
    if history.len() > KEPT {
        history.remove(0);
    }
}
