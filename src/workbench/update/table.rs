//! The list of sessions: filtered, sorted, grouped, folded.

use crossterm::event::KeyCode;

use super::{derive, go};
use crate::explore::filter::Filter;
use crate::explore::table::{Column, GroupKind};
use crate::workbench::keys::{Command, Key, Meaning, Scope};
use crate::workbench::layout::Pane;
use crate::workbench::model::supposed::Ask;
use crate::workbench::model::table::{FILE_ORDER, TableLine};
use crate::workbench::model::{Model, Prompt};

/// Begins to type the filter.
pub fn begin_filter(model: &mut Model) {
    go::focus(model, Pane::Sessions);
    let text = model.archive.table.filter.text().to_owned();
    let input = tui_input::Input::new(text.clone());
    let before = Some(text);
    model.dialog.prompt =
        Some(Prompt { input, from: 0, before, ask: Some(Ask::Filter), refused: None, cut: None });
}

/// The typed text is applied at once. An invalid filter changes nothing, and its problem is shown.
pub fn typed(model: &mut Model) {
    let Some(prompt) = &model.dialog.prompt else { return };
    let text = prompt.input.value().to_owned();
    let refused = filter(model, &text).err();
    if let Some(prompt) = &mut model.dialog.prompt {
        prompt.refused = refused;
    }
}

/// Back to the filter from before.
pub fn give_up(model: &mut Model, before: &str) {
    // It was a valid filter then.
    let _ = filter(model, before);
}

/// Keeps the sessions that pass; or says why the text is no filter.
pub fn filter(model: &mut Model, text: &str) -> Result<(), String> {
    let filter = Filter::parse(text, model.work.now).map_err(|wrong| wrong.in_line(text))?;
    model.archive.table.filter = filter;
    arrange(model);
    let (asks, rules) = (&model.archive.table.filter, &model.basis);
    if asks.asks_changes() && rules.changes.comparison.is_none() {
        let key = model.key(Command::Base);
        model.say(format!("nothing is compared, so `is:changed` finds nothing; {key} chooses a base"));
    } else if asks.asks_decisions() && rules.rules.policy.is_none() {
        model.say("no policy decides, so terms about decisions find nothing");
    }
    Ok(())
}

/// Sorts them by the column of this name: first as most people want it, chosen again backwards.
pub fn sort(model: &mut Model, word: &str) -> Result<(), String> {
    let table = &mut model.archive.table;
    table.sort = match Column::ALL.into_iter().find(|column| column.word() == word) {
        None if word == FILE_ORDER => None,
        None => return Err(format!("no column `{word}`")),
        Some(column) => Some(match table.sort {
            Some((sorted, reverse)) if sorted == column => (column, !reverse),
            _ => (column, column.is_most_first()),
        }),
    };
    arrange(model);
    go::focus(model, Pane::Sessions);
    let note = match model.archive.table.sort {
        None => "sessions in the order of their files".to_owned(),
        Some((column, reverse)) => {
            format!("sessions sorted by {}{}", column.word(), if reverse { ", descending" } else { "" })
        }
    };
    model.say(note);
    Ok(())
}

/// Whether a key, pressed while a column is to be chosen, reverses the order of the list: the key that began the
/// choice, pressed again before anything is typed.
pub fn turns_order(model: &Model, key: Key) -> bool {
    let Some(prompt) = &model.dialog.prompt else { return false };
    let line = format!("{} ", Command::SortSessions.row().name);
    // A letter that begins a column's name is typed for it, whatever command it is bound to.
    let names = Column::ALL.map(|column| column.word());
    let types = matches!(key.code, KeyCode::Char(c) if names.iter().any(|name| name.starts_with(c)));
    let meaning = model.preferences.keymap.meaning(&[key], Scope::Panes);
    prompt.input.value() == line && !types && meaning == Meaning::Command(Command::SortSessions)
}

/// Sorts the other way round. Choosing the same column again does that.
pub fn turn_order(model: &mut Model) {
    if let Some((column, _)) = model.archive.table.sort {
        let _ = sort(model, column.word());
    }
}

/// Groups the sessions by the next thing.
pub fn group(model: &mut Model) {
    go::focus(model, Pane::Sessions);
    let table = &mut model.archive.table;
    let kinds = GroupKind::ALL.map(Some);
    table.group = match table.group {
        None => kinds.first().copied().flatten(),
        Some(kind) => {
            let at = kinds.iter().position(|known| *known == Some(kind));
            at.and_then(|at| kinds.get(at + 1)).copied().flatten()
        }
    };
    table.folded.clear();
    arrange(model);
    let (fold, all) = (model.key(Command::Open), model.key(Command::FoldSessions));
    model.say(match model.archive.table.group {
        None => "sessions are not grouped".to_owned(),
        Some(kind) => {
            format!("sessions grouped by {}; {fold} folds a group, {all} all of them", kind.word())
        }
    });
}

/// Enter on the heading of a group folds or unfolds it. Whether the cursor is on one.
pub fn fold(model: &mut Model) -> bool {
    let at = model.list(Pane::Sessions).cursor;
    let Some(TableLine::Group(group)) = model.table_line(at) else { return false };
    let Some(key) = model.archive.table.group_at(group).map(|group| group.key) else { return false };
    let folded = &mut model.archive.table.folded;
    if !folded.remove(&key) {
        folded.insert(key);
    }
    model.arrange();
    show(model, at);
    true
}

/// Folds all groups, or unfolds all.
pub fn fold_all(model: &mut Model) {
    if model.archive.table.group.is_none() {
        let key = model.key(Command::GroupSessions);
        return model.say(format!("the sessions are not grouped; {key} groups them"));
    }
    let groups = (0..).map_while(|at| model.archive.table.group_at(at)).map(|group| group.key).collect();
    let folded = &mut model.archive.table.folded;
    *folded = if folded.is_empty() { groups } else { std::collections::HashSet::new() };
    model.arrange();
    keep(model);
}

/// Lists the sessions again. The open one stays open if it is still listed; else the first one is opened.
pub fn arrange(model: &mut Model) {
    model.arrange();
    if !model.archive.table.keeps(model.place.open)
        && let Some(first) = model.scope().next()
    {
        go::open(model, first);
    }
    keep(model);
}

/// Keeps the cursor of the list on the open session.
pub fn keep(model: &mut Model) {
    let line = model.table_line_of(model.place.open).unwrap_or(model.list(Pane::Sessions).cursor);
    show(model, line);
}

fn show(model: &mut Model, line: usize) {
    let (len, height) = Pane::Sessions.extent(model);
    model.list_mut(Pane::Sessions).set(line, len, height);
    derive::keep_overlay(model);
}
