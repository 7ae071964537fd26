//! Restores the position when the workbench was closed: the list and the panes at once, the session when it is read.

use std::ops::Range;

use super::go;
use crate::explore::filter::Filter;
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::model::saved::{Restore, SavedPlace};
use crate::workbench::model::{Model, Welcome};

/// Restores the list and the panes, and waits for the session from now on.
pub fn begin(model: &mut Model, place: SavedPlace) {
    let pane = |number| Pane::ALL.into_iter().find(|pane| pane.number() == number);
    let focus = pane(place.focus).unwrap_or(Pane::Transcript);
    (model.place.focus, model.place.side) = (focus, pane(place.side).unwrap_or(Pane::Decision));
    model.place.zoom = place.zoom;
    (model.archive.table.sort, model.archive.table.group) = (place.order(), place.groups());
    match Filter::parse(&place.filter, model.work.now) {
        Ok(filter) => model.archive.table.filter = filter,
        Err(why) => model.fail(format!("the filter of the last visit cannot be read: {why}")),
    }
    model.arrange();
    model.preferences.restore = Some(Restore { place, passed: 0 });
    model.preferences.welcome = Welcome::Over;
}

/// Goes to the session if it has been read by now; when all is read, to the nearest one.
pub fn go_back(model: &mut Model) {
    let Some(restore) = &model.preferences.restore else { return };
    let (place, passed) = (restore.place.clone(), restore.passed);
    let own = model.entries_of(&place.file);
    let is = |at: &usize| {
        let entry = model.archive.entries.get(*at);
        entry.is_some_and(|entry| entry.name == place.session && entry.session.is_some())
    };
    let found = (own.start + passed.min(own.len())..own.end).find(is);
    match (found, model.work.reading) {
        (Some(at), _) => arrive(model, at),
        // Sessions of a file that is read for the first time are appended.
        (None, Some(_)) => model.preferences.restore = Some(Restore { place, passed: own.len() }),
        (None, None) => nearest(model, own),
    }
}

/// The session is there.
fn arrive(model: &mut Model, entry: usize) {
    let Some(Restore { place, .. }) = model.preferences.restore.take() else { return };
    go::open(model, entry);
    let session = model.session().cloned();
    let found = place.call.as_ref().zip(session.as_ref()).map(|(call, session)| (call, call.find(session)));
    let last = model.derived.rows.len().saturating_sub(1);
    let (row, same) = match found {
        Some((call, Some((index, same)))) => {
            let row = model.derived.rows.of_call(index).unwrap_or(0);
            (row + if same { call.below } else { 0 }, same)
        }
        Some((_, None)) => (0, false),
        None => (place.row, place.row <= last),
    };
    go::to_row(model, row.min(last));
    let at = model.call().map_or_else(String::new, |call| format!(", call {}", call.at.index + 1));
    let filtered = if place.filter.trim().is_empty() {
        String::new()
    } else {
        format!(", filtered; {} changes the filter", model.key(Command::FilterSessions))
    };
    match same {
        true => model.say(format!("back in {}{at}{filtered}", place.session)),
        false => model.say(format!(
            "the session {} has changed since the last visit; this is the nearest place{at}{filtered}",
            place.session
        )),
    }
}

/// The session no longer exists: the first one of its file, if there is any.
fn nearest(model: &mut Model, own: Range<usize>) {
    let Some(Restore { place, .. }) = model.preferences.restore.take() else { return };
    if model.archive.entries.is_empty() {
        return;
    }
    if !own.is_empty() {
        go::open(model, own.start);
    }
    let what = if own.is_empty() { "so is its file" } else { "this is the first session of its file" };
    model.say(format!("the session {} of the last visit is gone; {what}", place.session));
}
