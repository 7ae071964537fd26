//! Searching, and filtering where rows stand alone: typing, and going from place to place.

use crossterm::event::KeyCode;
use tui_input::{Input, InputRequest};

use super::{asking, go, overlays, run, say, sideways};
use crate::workbench::document::COUNTED;
use crate::workbench::effect::Effect;
use crate::workbench::keys::{Command, Key};
use crate::workbench::layout::Pane;
use crate::workbench::model::{Model, Overlay, Prompt};
use crate::workbench::transcript::contains;
use crate::workbench::view;

/// Begins to type.
pub fn begin(model: &mut Model) {
    let (from, value) = match model.overlays.last() {
        Some(Overlay::Findings(view)) => (view.list.cursor, view.filter.clone()),
        Some(Overlay::Help(view)) => (view.list.cursor, view.filter.clone()),
        Some(Overlay::Problems(_) | Overlay::Loads(_) | Overlay::Texts(_)) => {
            return say(model, "this list is not searched");
        }
        Some(Overlay::Body(view)) => (view.list.cursor, String::new()),
        None => (model.list(model.focus).cursor, String::new()),
    };
    let input = Input::new(value);
    let before = model.query.take();
    model.prompt = Some(Prompt { input, from, before, ask: None, refused: None, cut: None });
}

/// A key while text is typed.
pub fn key(model: &mut Model, key: Key, effects: &mut Vec<Effect>) {
    let empty = match &mut model.prompt {
        Some(prompt) if prompt.ask.is_some() => return asking::key(model, key, effects),
        Some(prompt) => {
            prompt.cut = None;
            prompt.input.value().is_empty()
        }
        None => return,
    };
    match (key.code, key.ctrl) {
        (KeyCode::Char('c'), true) => return run(model, Command::QuitNow, effects),
        (KeyCode::Enter, _) => return keep(model),
        (KeyCode::Esc, _) => return give_up(model),
        (KeyCode::Backspace, _) if empty => return give_up(model),
        _ => {}
    }
    let Some(request) = request(key) else { return };
    if let Some(prompt) = &mut model.prompt {
        prompt.input.handle(request);
    }
    apply(model);
}

/// What a key does to a line that is typed.
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

/// What is typed takes effect at once: a filter sifts, a search goes to the first place from where it began.
pub fn apply(model: &mut Model) {
    let Some((value, from)) =
        model.prompt.as_ref().map(|prompt| (prompt.input.value().to_owned(), prompt.from))
    else {
        return;
    };
    match model.overlays.pop() {
        Some(Overlay::Findings(mut view)) => {
            view.filter = value;
            view.sift(model);
            view.list.cursor = 0;
            model.overlays.push(Overlay::Findings(view));
        }
        Some(Overlay::Help(mut view)) => {
            view.filter = value;
            view.list.cursor = 0;
            model.overlays.push(Overlay::Help(view));
        }
        Some(other) => {
            model.overlays.push(other);
            search(model, value, from);
        }
        None => search(model, value, from),
    }
    overlays::keep(model);
}

fn search(model: &mut Model, value: String, from: usize) {
    if value.is_empty() {
        model.query = None;
        set(model, from);
        return;
    }
    model.query = Some(value);
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
    let Some(prompt) = model.prompt.take() else { return };
    let filters = matches!(model.overlays.last(), Some(Overlay::Findings(_) | Overlay::Help(_)));
    if filters {
        model.query = prompt.before;
    } else if prompt.input.value().is_empty() {
        // An empty search repeats the one before.
        model.query = prompt.before;
        if model.query.is_some() {
            again(model, true);
        }
    } else {
        let cursor = cursor(model);
        if hit(model, cursor) {
            say_which(model, "");
        } else {
            say(model, format!("`{}` is not found", prompt.input.value()));
        }
    }
}

fn give_up(model: &mut Model) {
    let Some(prompt) = model.prompt.take() else { return };
    match model.overlays.pop() {
        Some(Overlay::Findings(mut view)) => {
            view.filter.clear();
            view.sift(model);
            model.overlays.push(Overlay::Findings(view));
        }
        Some(Overlay::Help(mut view)) => {
            view.filter.clear();
            model.overlays.push(Overlay::Help(view));
        }
        other => model.overlays.extend(other),
    }
    model.query = prompt.before;
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
            let query = model.query.clone().unwrap_or_default();
            say(model, format!("`{query}` is not found"));
        }
    }
}

/// Says which of the places found the cursor is on, and of how many, where they are quickly counted.
fn say_which(model: &mut Model, more: &str) {
    let which = places(model).map(|(nth, all)| format!("{nth} of {all}"));
    let parts: Vec<&str> =
        which.as_deref().into_iter().chain(Some(more).filter(|more| !more.is_empty())).collect();
    if !parts.is_empty() {
        let text = parts.join(", ");
        say(model, text);
    }
}

fn places(model: &Model) -> Option<(usize, usize)> {
    let query = model.query.as_ref()?.to_lowercase();
    if let Some(Overlay::Body(view)) = model.overlays.last() {
        return view.document.places(&query, view.list.cursor);
    }
    let (count, _) = go::extent(model, model.focus);
    let (texts, here) = (texts(model), cursor(model));
    let found: Vec<usize> =
        (0..count.min(COUNTED)).filter(|at| matches(model, texts.as_deref(), *at, &query)).collect();
    (count <= COUNTED).then(|| (found.iter().filter(|at| **at <= here).count(), found.len()))
}

fn cursor(model: &Model) -> usize {
    match model.overlays.last() {
        Some(Overlay::Body(view)) => view.list.cursor,
        _ => model.list(model.focus).cursor,
    }
}

fn set(model: &mut Model, row: usize) {
    match model.overlays.last_mut() {
        Some(Overlay::Body(view)) => {
            view.list.cursor = row;
            let query = model.query.as_deref().unwrap_or_default();
            let lines = view.document.lines_of(query, row);
            return overlays::keep_lines(model, lines);
        }
        Some(_) => return,
        None => match model.focus {
            Pane::Transcript => go::to_row(model, row),
            Pane::Sessions => go::open(model, row),
            pane => {
                let (len, height) = go::extent(model, pane);
                model.list_mut(pane).set(row, len, height);
            }
        },
    }
    overlays::keep(model);
    sideways(model, row);
}

/// Brings the place found in a row into view where the pane is narrower than the row.
fn sideways(model: &mut Model, row: usize) {
    let pane = model.focus;
    let Some(query) = model.query.as_ref().map(|query| query.to_lowercase()) else { return };
    let columns = match pane {
        // These rows begin where they are found.
        Pane::Sessions | Pane::Transcript | Pane::Changes => None,
        Pane::Policy if !model.splits() => view::policy::columns_of(model, row, &query),
        _ => {
            let width = view::width(&model.layout(), pane);
            view::lines(model, pane, width).get(row).and_then(|line| line.columns_of(&query))
        }
    };
    sideways::show(model, pane, columns.unwrap_or_default());
}

/// The next row that contains what is searched for, around the end.
fn find(model: &mut Model, from: usize, forward: bool) -> Option<usize> {
    let query = model.query.clone()?;
    if let Some(Overlay::Body(view)) = model.overlays.last_mut() {
        return view.document.find(&query, from, forward);
    }
    let (count, _) = go::extent(model, model.focus);
    let texts = texts(model);
    let query = query.to_lowercase();
    (1..=count)
        .map(|by| if forward { (from + by) % count } else { (from + count - by % count) % count })
        .find(|at| matches(model, texts.as_deref(), *at, &query))
}

fn hit(model: &Model, row: usize) -> bool {
    let Some(query) = model.query.as_ref().map(|query| query.to_lowercase()) else { return false };
    if let Some(Overlay::Body(view)) = model.overlays.last() {
        return view.document.begins_at(row, &query);
    }
    matches(model, texts(model).as_deref(), row, &query)
}

/// The texts of the focused pane, where it is made of lines.
fn texts(model: &Model) -> Option<Vec<String>> {
    let pane = model.focus;
    let lines = pane == Pane::Policy && model.splits();
    if !lines && matches!(pane, Pane::Sessions | Pane::Transcript | Pane::Policy | Pane::Changes) {
        return None;
    }
    let width = view::width(&model.layout(), pane);
    Some(view::lines(model, pane, width).iter().map(view::line::Line::plain).collect())
}

fn matches(model: &Model, texts: Option<&[String]>, row: usize, query: &str) -> bool {
    if let Some(texts) = texts {
        return texts.get(row).is_some_and(|text| contains(text, query));
    }
    match model.focus {
        Pane::Sessions => {
            model.entries.get(row).is_some_and(|entry| contains(&view::sessions::plain(entry), query))
        }
        Pane::Changes => contains(&view::changes::plain(model, row), query),
        Pane::Policy => {
            let line = u32::try_from(row + 1).ok();
            view::policy::shown(model)
                .and_then(|shown| Some(contains(shown.source.line(line?)?, query)))
                .unwrap_or(false)
        }
        _ => match (model.rows.get(row), model.session()) {
            (Some(row), Some(session)) => row.contains(session, query),
            _ => false,
        },
    }
}
