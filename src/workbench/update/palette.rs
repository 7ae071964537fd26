//! Running commands by their names, with what may come after the name.

use crossterm::event::KeyCode;
use tui_input::Input;

use super::{compare, export, go, jump, marks, run, search, settle, table};
use crate::workbench::effect::Effect;
use crate::workbench::keys::{self, Command, Key, Place, Scope};
use crate::workbench::list::Go;
use crate::workbench::model::palette::{PaletteRow, PaletteView};
use crate::workbench::model::{Model, Overlay, Prompt};
use crate::workbench::theme::Theme;

/// Lines that are kept to be run again.
const KEPT: usize = 100;

/// Opens the list, with `line` typed already.
pub fn open(model: &mut Model, line: &str) {
    // The list of all commands gives way: what is run is meant for what lies below it.
    let scope = match model.dialog.overlays.last() {
        Some(Overlay::Help(help)) => help.scope.unwrap_or(Scope::Panes),
        top => top.map_or(Scope::Panes, Overlay::scope),
    };
    if matches!(model.dialog.overlays.last(), Some(Overlay::Help(_))) {
        model.dialog.overlays.pop();
    }
    let before = model.dialog.query.take();
    let view = PaletteView::new(model, scope);
    model.dialog.overlays.push(Overlay::Palette(view));
    let input = Input::new(line.to_owned());
    model.dialog.prompt = Some(Prompt { input, from: 0, before, ask: None, refused: None, cut: None });
    search::apply(model);
}

/// Whether the keys are those of the list.
pub fn is_open(model: &Model) -> bool {
    matches!(model.dialog.overlays.last(), Some(Overlay::Palette(_)))
}

fn view(model: &mut Model) -> Option<&mut PaletteView> {
    match model.dialog.overlays.last_mut()? {
        Overlay::Palette(view) => Some(view),
        _ => None,
    }
}

/// A key while a command is typed.
pub fn key(model: &mut Model, key: Key, effects: &mut Vec<Effect>) {
    let Some(prompt) = &mut model.dialog.prompt else { return };
    (prompt.cut, prompt.refused) = (None, None);
    let empty = prompt.input.value().is_empty();
    match (key.code, key.ctrl) {
        (KeyCode::Char('c'), true) => effects.push(Effect::Quit),
        (KeyCode::Esc, _) => close(model, true),
        (KeyCode::Backspace, _) if empty => close(model, true),
        (KeyCode::Enter, _) => enter(model, effects),
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
    preview(model);
}

fn step(model: &mut Model, by: Go) {
    go::rows(model, by);
}

/// Types a line in the place of what is typed.
fn replace(model: &mut Model, line: String) {
    if let Some(prompt) = &mut model.dialog.prompt {
        prompt.input = Input::new(line);
    }
    search::apply(model);
}

/// Up: the row above; above the first one the line that was run before.
fn recall(model: &mut Model) {
    let Some(view) = view(model) else { return };
    if view.list.cursor > 0 {
        return step(model, Go::By(-1));
    }
    let older = view.recalled.map_or(0, |recalled| recalled + 1);
    type_again(model, older);
}

/// Down: the line that was run after, where an older one was recalled; else the row below.
fn forget(model: &mut Model) {
    let Some(view) = view(model) else { return };
    match view.recalled {
        Some(0) => replace(model, String::new()),
        Some(recalled) => type_again(model, recalled - 1),
        None => step(model, Go::By(1)),
    }
}

fn type_again(model: &mut Model, recalled: usize) {
    let Some(line) = model.habits.history.iter().rev().nth(recalled).cloned() else { return };
    replace(model, line);
    if let Some(view) = view(model) {
        view.recalled = Some(recalled);
    }
}

/// Tab: types what the row under the cursor says.
fn complete(model: &mut Model) {
    let Some(row) = view(model).and_then(|view| view.row()) else { return };
    let line = match row {
        PaletteRow::Command(command) if command.row().argument.is_some() => format!("{} ", row.line()),
        row => row.line(),
    };
    replace(model, line);
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

fn theme(model: &Model, name: &str) -> Option<Theme> {
    let mut theme = Theme::builtin(name, model.habits.dress.depth).ok()?;
    theme.glyphs = model.habits.dress.glyphs.unwrap_or(theme.glyphs);
    Some(theme)
}

/// Closes the list; unless a theme is chosen, what was put on to be looked at is taken off.
fn close(model: &mut Model, undo: bool) {
    let Some(Overlay::Palette(view)) = model.dialog.overlays.pop() else { return };
    if let Some(prompt) = model.dialog.prompt.take() {
        model.dialog.query = prompt.before;
    }
    if let (Some(chosen), true) = (view.theme, undo) {
        model.theme = *chosen;
    }
    settle::keep_overlay(model);
}

/// Enter: runs the row under the cursor.
pub fn enter(model: &mut Model, effects: &mut Vec<Effect>) {
    // What the row says is of the model as it was drawn; whether it can be used is asked again when it runs.
    let facts = model.facts();
    let Some(open) = view(model) else { return };
    let Some(row) = open.row().cloned() else { return };
    let command = row.command();
    if let Some(missing) = open.missing(command, &facts) {
        let missing = model.habits.keymap.worded(missing).into_owned();
        return refuse(model, missing);
    }
    match row {
        PaletteRow::Command(command) => match command.row().argument {
            Some(argument) if !argument.is_optional() => complete(model),
            _ => {
                close(model, true);
                remember(model, row.line());
                run(model, command, effects);
            }
        },
        PaletteRow::Value { command, ref value, .. } => {
            let line = row.line();
            close(model, command != Command::Theme);
            remember(model, line.clone());
            if let Err(why) = run_with(model, command, value, effects) {
                open_again(model, &line, why);
            }
        }
    }
}

fn open_again(model: &mut Model, line: &str, why: String) {
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
    let history = &mut model.habits.history;
    history.retain(|known| *known != line);
    history.push(line);
    if history.len() > KEPT {
        history.remove(0);
    }
}

/// Runs a command with what was typed after its name, or says why that cannot be taken.
pub fn run_with(
    model: &mut Model,
    command: Command,
    value: &str,
    effects: &mut Vec<Effect>,
) -> Result<(), String> {
    match command {
        Command::Theme => {
            model.theme = theme(model, value).ok_or_else(|| format!("no theme `{value}`"))?;
            model.say(format!("theme {value}"));
        }
        Command::Base => compare::answered(model, value, effects),
        Command::GoTo => go_to(model, value)?,
        Command::SetMark => marks::set(model, letter(value)?),
        Command::GoMark => marks::go(model, letter(value)?)?,
        Command::Export => effects.push(export::export(model, value)?),
        Command::SortSessions => table::sort(model, value)?,
        Command::FilterSessions => table::filter(model, value)?,
        // A command that takes nothing.
        _ => run(model, command, effects),
    }
    Ok(())
}

fn letter(value: &str) -> Result<char, String> {
    let mut letters = value.chars().filter(char::is_ascii_alphanumeric);
    match (letters.next(), value.chars().count()) {
        (Some(letter), 1) => Ok(letter),
        _ => Err("a mark is one letter or digit".to_owned()),
    }
}

fn go_to(model: &mut Model, value: &str) -> Result<(), String> {
    let row = keys::place(value).and_then(|place| {
        let session = model.session()?;
        match place {
            Place::Call(number) => model.settled.rows.of_call(number - 1),
            Place::Turn(turn) => model.settled.rows.of_turn(turn),
            Place::CallOfTurn(turn, number) => {
                let call =
                    session.calls.iter().find(|call| (call.at.turn, call.at.call) == (turn, number))?;
                model.settled.rows.of_call(call.at.index)
            }
        }
    });
    let row = row.ok_or_else(|| format!("this session has no `{value}`"))?;
    jump::leave(model);
    go::to_row(model, row);
    Ok(())
}
