//! Where something was found in all sessions: a line for each row of a transcript.

use super::Window;
use crate::report::words;
use crate::workbench::model::Model;
use crate::workbench::model::hits::{HitRow, HitsView};
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::Role;

impl HitRow {
    /// What the session is called.
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

impl Window for HitsView {
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
}
