//! Searching, and filtering if rows are single: typing, and going from match to match.

use crossterm::event::KeyCode;
use tui_input::{Input, InputRequest};

use super::{derive, go, sideways, table};
use crate::workbench::document::COUNTED;
use crate::workbench::effect::Effect;
use crate::workbench::keys::Key;
use crate::workbench::layout::Pane;
use crate::workbench::model::overlay::BodyView;
use crate::workbench::model::supposed::Ask;
use crate::workbench::model::{Model, Prompt};
use crate::workbench::popup::palette::themes;
use crate::workbench::popup::tester;

/// Begins to type.
pub fn begin(model: &mut Model) {
    let filter = model.dialog.popup().and_then(|popup| popup.filter());
    // Of popups whose rows are not filtered, only a body is searched.
    let searched = model.dialog.overlays.is_empty() || model.dialog.top::<BodyView>().is_some();
    if filter.is_none() && !searched {
        return model.say("this list is not searched");
    }
    let (from, value) = (cursor(model), filter.unwrap_or_default().to_owned());
    let input = Input::new(value);
    let before = model.dialog.query.take();
    model.dialog.prompt = Some(Prompt { input, from, before, ask: None, refused: None, cut: None });
}

/// A key while text is typed.
pub fn key(model: &mut Model, key: Key, effects: &mut Vec<Effect>) {
    let empty = match &mut model.dialog.prompt {
        Some(prompt) => {
            prompt.cut = None;
            prompt.input.value().is_empty()
        }
        None => return,
    };
    match (key.code, key.ctrl) {
        (KeyCode::Char('c'), true) => return effects.push(Effect::Quit),
        (KeyCode::Enter, _) => return keep(model),
        (KeyCode::Esc, _) => return give_up(model),
        (KeyCode::Backspace, _) if empty => return give_up(model),
        _ => {}
    }
    let Some(request) = request(key) else { return };
    if let Some(prompt) = &mut model.dialog.prompt {
        prompt.input.handle(request);
    }
    apply(model);
}

/// The effect of a key on a typed line.
pub fn request(key: Key) -> Option<InputRequest> {
    Some(match (key.code, key.ctrl, key.alt) {
        (KeyCode::Char('u'), true, _) => InputRequest::DeleteLine,
        (KeyCode::Char('w'), true, _) => InputRequest::DeletePrevWord,
        (KeyCode::Char('a'), true, _) | (KeyCode::Home, ..) => InputRequest::GoToStart,
        (KeyCode::Char('e'), true, _) | (KeyCode::End, ..) => InputRequest::GoToEnd,
        (KeyCode::Left, ..) => InputRequest::GoToPrevChar,
        (KeyCode::Right, ..) => InputRequest::GoToNextChar,
        (KeyCode::Delete, ..) => InputRequest::DeleteNextChar,
        (KeyCode::Backspace, ..) => InputRequest::DeletePrevChar,
        (KeyCode::Char(c), false, false) => InputRequest::InsertChar(c),
        _ => return None,
    })
}

/// The typed text takes effect at once: a filter is applied, a search goes to the first match from where it began.
pub fn apply(model: &mut Model) {
    match model.dialog.prompt.as_ref().map(|prompt| &prompt.ask) {
        Some(None) => {}
        Some(Some(Ask::Filter)) => return table::typed(model),
        Some(Some(Ask::Expression)) => return tester::typed(model),
        Some(Some(_)) | None => return,
    }
    let Some((value, from)) =
        model.dialog.prompt.as_ref().map(|prompt| (prompt.input.value().to_owned(), prompt.from))
    else {
        return;
    };
    if !sift(model, &value) {
        search(model, value, from);
    }
    themes::preview(model);
    derive::keep_overlay(model);
}

/// Keeps the rows that contain these words in the list on top, if it is one that sifts.
fn sift(model: &mut Model, words: &str) -> bool {
    let Some(mut overlay) = model.dialog.overlays.pop() else { return false };
    let (mut sifts, mut refused) = (false, None);
    if let Some(popup) = overlay.popup_mut() {
        sifts = popup.filter().is_some();
        if sifts {
            popup.sift(model, words.to_owned());
            popup.list_mut().cursor = 0;
        }
        refused = popup.refused().map(str::to_owned);
    }
    model.dialog.overlays.push(overlay);
    if let Some(prompt) = &mut model.dialog.prompt {
        prompt.refused = refused;
    }
    sifts
}

fn search(model: &mut Model, value: String, from: usize) {
    if value.is_empty() {
        model.dialog.query = None;
        set(model, from);
        return;
    }
    model.dialog.query = Some(value);
    // The place where it began counts too.
    if !hit(model, from) {
        match find(model, from, true) {
            Some(row) => set(model, row),
            None => set(model, from),
        }
    } else {
        set(model, from);
    }
}

fn keep(model: &mut Model) {
    // An invalid filter can be changed or given up.
    if model.dialog.popup().is_some_and(|popup| popup.refused().is_some()) {
        return;
    }
    let Some(prompt) = model.dialog.prompt.take() else { return };
    if model.dialog.popup().is_some_and(|popup| popup.filter().is_some()) {
        model.dialog.query = prompt.before;
    } else if prompt.input.value().is_empty() {
        // An empty search repeats the one before.
        model.dialog.query = prompt.before;
        if model.dialog.query.is_some() {
            again(model, true);
        }
    } else {
        let cursor = cursor(model);
        if hit(model, cursor) {
            say_which(model, "");
        } else {
            model.say(format!("`{}` is not found", prompt.input.value()));
        }
    }
}

fn give_up(model: &mut Model) {
    let Some(prompt) = model.dialog.prompt.take() else { return };
    sift(model, "");
    model.dialog.query = prompt.before;
    set(model, prompt.from);
}

/// The next place found, around the end.
pub fn again(model: &mut Model, forward: bool) {
    let from = cursor(model);
    match find(model, from, forward) {
        Some(row) => {
            let around = (forward && row <= from) || (!forward && row >= from);
            set(model, row);
            say_which(
                model,
                match (around, forward) {
                    (false, _) => "",
                    (true, true) => "found again from the start",
                    (true, false) => "found again from the end",
                },
            );
        }
        None => {
            let query = model.dialog.query.clone().unwrap_or_default();
            model.say(format!("`{query}` is not found"));
        }
    }
}

/// Shows which hit the cursor is on, and of how many, if they are quickly counted.
fn say_which(model: &mut Model, more: &str) {
    let which = places(model).map(|(nth, all)| format!("{nth} of {all}"));
    let parts: Vec<&str> =
        which.as_deref().into_iter().chain(Some(more).filter(|more| !more.is_empty())).collect();
    if !parts.is_empty() {
        let text = parts.join(", ");
        model.say(text);
    }
}

fn places(model: &Model) -> Option<(usize, usize)> {
    let query = model.dialog.query.as_ref()?.to_lowercase();
    if let Some(view) = model.dialog.top::<BodyView>() {
        return view.document.places(&query, view.list.cursor);
    }
    let (rows, here) = (model.place.focus.rows(model), cursor(model));
    let count = rows.len(model);
    let found: Vec<usize> = (0..count.min(COUNTED)).filter(|at| rows.matches(model, *at, &query)).collect();
    (count <= COUNTED).then(|| (found.iter().filter(|at| **at <= here).count(), found.len()))
}

fn cursor(model: &Model) -> usize {
    model.dialog.popup().map_or_else(|| model.list(model.place.focus), |popup| popup.list()).cursor
}

fn set(model: &mut Model, row: usize) {
    let query = model.dialog.query.clone().unwrap_or_default();
    if let Some(view) = model.dialog.top_mut::<BodyView>() {
        view.list.cursor = row;
        let lines = view.document.lines_of(&query, row);
        return keep_lines(model, lines);
    }
    if !model.dialog.overlays.is_empty() {
        return;
    }
    match model.place.focus {
        Pane::Transcript => go::to_row(model, row),
        Pane::Sessions => go::open(model, row),
        pane => {
            let (len, height) = pane.extent(model);
            model.list_mut(pane).set(row, len, height);
        }
    }
    let query = model.dialog.query.as_ref().map(|query| query.to_lowercase());
    if let Some(query) = query {
        // The match is made visible if the pane is narrower than the row.
        let columns = model.place.focus.rows(model).columns_of(model, row, &query);
        sideways::show(model, model.place.focus, columns);
    }
}

/// The next row with a hit, around the end.
fn find(model: &mut Model, from: usize, forward: bool) -> Option<usize> {
    let query = model.dialog.query.clone()?;
    if let Some(view) = model.dialog.top_mut::<BodyView>() {
        return view.document.find(&query, from, forward);
    }
    let (rows, query) = (model.place.focus.rows(model), query.to_lowercase());
    let count = rows.len(model);
    (1..=count)
        .map(|by| if forward { (from + by) % count } else { (from + count - by % count) % count })
        .find(|at| rows.matches(model, *at, &query))
}

fn hit(model: &Model, row: usize) -> bool {
    let Some(query) = model.dialog.query.as_ref().map(|query| query.to_lowercase()) else { return false };
    if let Some(view) = model.dialog.top::<BodyView>() {
        return view.document.begins_at(row, &query);
    }
    model.place.focus.rows(model).matches(model, row, &query)
}

/// Keeps some lines of a body visible, from the one under the cursor on, as many of them as there is room for.
fn keep_lines(model: &mut Model, lines: usize) {
    let Some(view) = model.dialog.top_mut::<BodyView>() else { return };
    let cursor = view.list.cursor;
    view.list.cursor = cursor + lines.saturating_sub(1);
    derive::keep_overlay(model);
    if let Some(view) = model.dialog.top_mut::<BodyView>() {
        view.list.cursor = cursor;
    }
    derive::keep_overlay(model);
}
