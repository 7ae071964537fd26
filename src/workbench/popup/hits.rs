//! Hits in all sessions: a line for each row of a transcript.

use super::spec::{Popup, acts};
use crate::report::words;
use crate::workbench::effect::{Effect, Search};
use crate::workbench::layout::Pane;
use crate::workbench::list::List;
use crate::workbench::model::hits::{HitRow, HitsView, Pattern, SessionHits};
use crate::workbench::model::supposed::Ask;
use crate::workbench::model::{Dialog, Model, Overlay};
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::Role;
use crate::workbench::transcript::RowKind;
use crate::workbench::update::{go, jump, prompt, sideways};
use std::sync::Arc;

impl HitRow {
    /// The name of the session.
    fn title(&self) -> &str {
        self.session.title.as_deref().unwrap_or(&self.session.id)
    }
}

impl Rows for HitsView {
    fn len(&self, _: &Model) -> usize {
        self.rows.len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let Some(found) = self.rows.get(at) else { return Vec::new() };
        let mut row = space.columns(model);
        // The name of a session is on its first row only, and on the first one on screen.
        let before = at.checked_sub(1).filter(|_| at > space.window.start).and_then(|at| self.rows.get(at));
        let named = before.is_none_or(|before| before.rank != found.rank);
        let (names, places) = if space.width >= 60 { (space.width / 4, 20) } else { (space.width / 4, 8) };
        row.gap(1).column(Role::TextStrong, if named { found.title() } else { "" }, names).gap(1);
        row.column(Role::TextDim, &found.hit.place, places).gap(1);
        row.put_marked(
            Role::Text,
            &found.hit.line,
            std::slice::from_ref(&found.hit.found),
            at == space.cursor,
        );
        vec![row]
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        let found = self.rows.get(at)?;
        Some(format!("{} {} {}", found.title(), found.hit.place, found.hit.line))
    }

    fn instead(&self, model: &Model) -> Vec<(Role, String)> {
        let why = match self.done {
            (done, all) if done < all => "searching".to_owned(),
            (_, all) => {
                let listed = model.scope_note().map(|_| " that the filter keeps").unwrap_or_default();
                format!("not found in {}{listed}", words::count(all as u64, "session"))
            }
        };
        vec![(Role::TextDim, why)]
    }
}

impl Popup for HitsView {
    fn title(&self, model: &Model, width: usize) -> String {
        let (found, all) = (words::count((self.rows.len() + self.more) as u64, "row"), self.done.1);
        let title =
            format!("Found in {found} of {} of {}: ", self.sessions, words::count(all as u64, "session"));
        let room = width.saturating_sub(title.len() + self.note(model).len() + 8);
        format!("{title}{}", text::fit(&self.pattern.text, room, model.theme.marks()).text())
    }

    fn note(&self, _: &Model) -> String {
        let at = if self.rows.is_empty() { 0 } else { self.list.cursor + 1 };
        let kept =
            if self.more > 0 { format!("first {}", self.rows.len()) } else { self.rows.len().to_string() };
        match self.done {
            (done, all) if done < all => format!("searched {done}/{all}  {at}/{kept}"),
            _ => format!("{at}/{kept}"),
        }
    }

    fn hints(&self) -> &'static [Hint] {
        match self.rows.is_empty() {
            true => hints![Quit "close"],
            false => hints![Open "go there", Search "search", Quit "close"],
        }
    }

    acts![Open Do(enter)];
}

/// Opens the prompt for a search.
pub fn begin(model: &mut Model) {
    model.dialog.prompt = Some(prompt::prompt(Ask::Search, "", None));
}

/// Searches all listed sessions, and cancels an earlier search. With no text, shows the last list again.
pub fn search(model: &mut Model, text: &str, effects: &mut Vec<Effect>) -> Result<(), String> {
    if text.is_empty()
        && let Some(view) = model.dialog.hits.take()
    {
        model.dialog.open(*view);
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
    model.dialog.close_all::<HitsView>();
    model.dialog.open(view);
    effects.push(Effect::Search(Search { number, pattern, sessions }));
    Ok(())
}

/// Something was found, or not, in some sessions. What answers an older search is dropped.
pub fn found(model: &mut Model, number: u64, searched: usize, hits: Vec<SessionHits>) {
    let Dialog { overlays, hits: kept, .. } = &mut model.dialog;
    let open = overlays.iter_mut().find_map(Overlay::view_mut).or(kept.as_deref_mut());
    if let Some(view) = open.filter(|view: &&mut HitsView| view.number == number) {
        view.add(searched, hits);
    }
}

/// Goes to the hit under the cursor and makes the match visible. The list is kept for `g/` to open again.
fn enter(model: &mut Model) {
    let Some(view) = model.dialog.take::<HitsView>() else { return };
    let row = view.rows.get(view.list.cursor).cloned();
    model.dialog.hits = Some(view);
    let Some(row) = row else { return };
    let Some(entry) = model.place_of(&row.session, row.entry) else {
        return model.say("this session was recorded again since the search; search once more");
    };
    jump::leave(model);
    go::open(model, entry);
    go::focus(model, Pane::Transcript);
    let supposed = model.supposes();
    let at = match row.hit.row.kind {
        RowKind::Call(index) if supposed => jump::row_of_recorded(model, index),
        _ if supposed => model.derived.rows.of_turn(row.hit.row.turn),
        _ => model.derived.rows.place_of(row.hit.row),
    };
    let Some(at) = at else {
        return jump::say_left_out(model);
    };
    go::to_row(model, at);
    // Matches stay marked, and `n` continues from here.
    let query = row.hit.line.get(row.hit.found.clone()).unwrap_or_default().to_owned();
    if !query.is_empty() {
        let columns = Pane::Transcript.rows(model).columns_of(model, at, &query.to_lowercase());
        model.dialog.query = Some(query);
        sideways::show(model, Pane::Transcript, columns);
    }
}
