//! Searching all sessions: asking for it, taking in what is found, going there.

use std::sync::Arc;

use super::{go, jump, prompt, sideways};
use crate::workbench::effect::{Effect, Search};
use crate::workbench::layout::Pane;
use crate::workbench::list::List;
use crate::workbench::model::hits::{HitsView, Pattern, SessionHits};
use crate::workbench::model::supposed::Ask;
use crate::workbench::model::{Model, Overlay};
use crate::workbench::transcript::RowKind;

/// Begins to type what to look for.
pub fn begin(model: &mut Model) {
    model.dialog.prompt = Some(prompt::prompt(Ask::Search, "", None));
}

/// Looks for it in all listed sessions, and no longer for what was looked for before. Nothing typed: the last list again.
pub fn search(model: &mut Model, text: &str, effects: &mut Vec<Effect>) -> Result<(), String> {
    if text.is_empty()
        && let Some(view) = model.dialog.hits.take()
    {
        model.dialog.overlays.push(Overlay::Hits(view));
        return Ok(());
    }
    let pattern = Arc::new(Pattern::parse(text)?);
    let number = model.work.next_number();
    let session = |at: usize| Some((at, Arc::clone(model.archive.entries.get(at)?.session.as_ref()?)));
    let sessions: Vec<_> = model.scope().filter_map(session).collect();
    let view = HitsView {
        number,
        pattern: Arc::clone(&pattern),
        rows: Vec::new(),
        sessions: 0,
        done: (0, sessions.len()),
        more: 0,
        list: List::default(),
    };
    model.dialog.hits = None;
    model.dialog.overlays.retain(|overlay| !matches!(overlay, Overlay::Hits(_)));
    model.dialog.overlays.push(Overlay::Hits(Box::new(view)));
    effects.push(Effect::Search(Search { number, pattern, sessions }));
    Ok(())
}

/// Something was found, or not, in some sessions. What answers an older search is dropped.
pub fn found(model: &mut Model, number: u64, searched: usize, hits: Vec<SessionHits>) {
    let open = model.dialog.overlays.iter_mut().find_map(|overlay| match overlay {
        Overlay::Hits(view) => Some(view),
        _ => None,
    });
    if let Some(view) = open.or(model.dialog.hits.as_mut()).filter(|view| view.number == number) {
        view.add(searched, hits);
    }
}

/// Goes to the hit under the cursor, with the place found in sight. The list is kept for `g/` to open again.
pub fn enter(model: &mut Model) {
    let Some(Overlay::Hits(view)) = model.dialog.overlays.pop() else { return };
    let Some(row) = view.rows.get(view.list.cursor).cloned() else {
        model.dialog.hits = Some(view);
        return;
    };
    model.dialog.hits = Some(view);
    let Some(entry) = model.place_of(&row.session, row.entry) else {
        return model.say("this session was recorded again since the search; search once more");
    };
    jump::leave(model);
    go::open(model, entry);
    go::focus(model, Pane::Transcript);
    let supposed = model.supposes();
    let at = match row.hit.row.kind {
        RowKind::Call(index) if supposed => jump::row_of_recorded(model, index),
        _ if supposed => model.settled.rows.of_turn(row.hit.row.turn),
        _ => model.settled.rows.place_of(row.hit.row),
    };
    let Some(at) = at else {
        return jump::say_left_out(model);
    };
    go::to_row(model, at);
    // What is found stays marked, and `n` goes on from here.
    let query = row.hit.line.get(row.hit.found.clone()).unwrap_or_default().to_owned();
    if !query.is_empty() {
        let columns = Pane::Transcript.rows(model).columns_of(model, at, &query.to_lowercase());
        model.dialog.query = Some(query);
        sideways::show(model, Pane::Transcript, columns);
    }
}
