//! A whole body: JSON laid out in lines, the path of the line under the cursor on the title.

use super::suggest::acts as suggest;
use crate::workbench::layout::Pane;
use crate::workbench::transcript;
use crate::workbench::update::go;
use rulestep_base::session::Session;
use std::ops::Range;
use std::sync::Arc;

mod found;

use super::spec::{Popup, acts};
use crate::report::words;
use crate::workbench::document::{GUTTER, Line, Token};
use crate::workbench::keys::Command;
use crate::workbench::keys::Scope;
use crate::workbench::model::Model;
use crate::workbench::model::overlay::BodyView;
use crate::workbench::model::select::Editable;
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text::{self, CleanLine, Marks};
use crate::workbench::theme::{Glyph, Role};

impl Rows for BodyView {
    fn len(&self, _: &Model) -> usize {
        self.document.rows()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let (document, theme, width) = (&self.document, &model.theme, space.width);
        let Some(line) = document.line(at) else { return Vec::new() };
        let sign = match document.folded(at) {
            Some(_) => Some(Glyph::Folded),
            None => line.opens().then_some(Glyph::Open),
        };
        let rows = wrapped(line, document.folded(at), width, theme.marks());
        let mut found = match space.query.filter(|query| !query.is_empty()) {
            Some(query) => found::in_rows(document, at, &rows, query, theme.marks()),
            None => Vec::new(),
        }
        .into_iter();
        let row = |(part, (role, shown))| {
            let mut row = Row::new(theme, width);
            match sign.filter(|_| part == 0) {
                Some(glyph) => row.glyph(Role::TextDim, glyph).gap(1),
                None => row.gap(GUTTER),
            };
            row.gap(line.indent(width));
            let found = found.next().unwrap_or_default();
            colour(&mut row, line, role, part == 0, shown, &found, at == space.cursor);
            row.to(width);
            row
        };
        rows.into_iter().enumerate().map(row).collect()
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        self.document.line(at).map(Line::text)
    }
}

impl Popup for BodyView {
    fn title(&self, model: &Model, width: usize) -> String {
        let room = width.saturating_sub(18);
        match self.document.path(self.list.cursor) {
            // If both do not fit, the path is more important.
            Some(path) if self.title.len() + path.len() + 3 > room => {
                tail_of_path(&path, room, model.theme.marks())
            }
            Some(path) => format!("{}   {path}", self.title),
            None => self.title.clone(),
        }
    }

    fn height(&self, model: &Model, at: usize, space: &Space<'_>) -> usize {
        self.rows(model, at, space).len()
    }

    fn hints(&self) -> &'static [Hint] {
        hints![
            CopyPath "copy path", WithOutput "require it", Test "test", Fold "fold", FoldAll UnfoldAll "all", NextBody PreviousBody "next",
            Search "search", CopyJson "copy", Quit "close"
        ]
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    acts![
        Open Do(|model| fold(model, Command::Fold)),
        Fold Do(|model| fold(model, Command::Fold)),
        FoldAll Do(|model| fold(model, Command::FoldAll)),
        UnfoldAll Do(|model| fold(model, Command::UnfoldAll)),
        NextBody Do(|model| next(model, true)),
        PreviousBody Do(|model| next(model, false)),
        WithOutput Ask(suggest::open_field),
    ];

    fn editable(&self, model: &Model) -> Option<Editable> {
        let session = model.session()?;
        let line = model.derived.rows.get(self.row)?.line(session)?;
        Some(Editable::recording(&session.origin.file, line))
    }
}

/// A path in at most `width` columns, cut at its beginning.
fn tail_of_path(path: &str, width: usize, marks: Marks) -> String {
    if text::width(path, marks, width + 1) <= width {
        return path.to_owned();
    }
    let steps = path.match_indices(['.', '[']).map(|(at, _)| path.get(at..).unwrap_or_default());
    let mut fitting = steps.filter(|step| text::width(step, marks, width) < width);
    fitting.next().map_or_else(|| path.to_owned(), |step| format!("{}{step}", marks.ellipsis()))
}

fn wrapped(line: &Line, folded: Option<usize>, width: usize, marks: Marks) -> Vec<(Role, CleanLine)> {
    let mut text = line.text();
    if let (Some(size), Token::Open(sign)) = (folded, &line.token) {
        let (close, what) = if *sign == '{' { ('}', "key") } else { (']', "element") };
        let what = words::count(size as u64, what);
        let comma = if line.comma { "," } else { "" };
        text.push_str(&format!(" {} {what} {close}{comma}", marks.ellipsis()));
    }
    let role = match &line.token {
        Token::String(_) => Role::CodeString,
        Token::Word(word) if word.starts_with(['{', '[']) => Role::Text,
        Token::Word(_) => Role::CodeNumber,
        Token::Open(_) | Token::Close(_) | Token::Text(_) => Role::Text,
    };
    // The limit is never met: lines are cut to length when the document is made.
    let mut rows = text::wrap(&text, line.room(width), 400, marks);
    // The end of the row before took the place of the blank with which the line ends.
    if rows.len() > 1 && rows.last().is_some_and(|row| row.runs.is_empty()) {
        rows.pop();
    }
    rows.into_iter().map(|shown| (role, shown)).collect()
}

/// Puts a row of a line, its key in the colour of keys; hits of a search are marked instead of coloured.
fn colour(
    row: &mut Row<'_>,
    line: &Line,
    role: Role,
    first: bool,
    shown: CleanLine,
    found: &[Range<usize>],
    current: bool,
) {
    let plain = shown.text();
    if !found.is_empty() {
        row.put_marked(role, &plain, found, current);
        return;
    }
    let key = line.key.as_ref().filter(|_| first).map(String::as_str);
    match key.and_then(|key| plain.strip_prefix(key).map(|rest| (key, rest))) {
        Some((key, rest)) => {
            row.put(Role::CodeKey, key).put(Role::Text, ": ");
            row.put(role, rest.strip_prefix(": ").unwrap_or(rest));
        }
        None => {
            row.shown(role, shown);
        }
    }
}

/// The body of the selected row.
pub fn open(model: &mut Model) {
    let row = model.list(Pane::Transcript).cursor;
    if let Some(view) = BodyView::of(model, row) {
        model.dialog.open(view);
    }
}

/// The body of the next row that has one.
pub fn next(model: &mut Model, forward: bool) {
    let Some(view) = model.dialog.top::<BodyView>() else { return };
    let target = if forward { view.row.checked_add(1) } else { view.row.checked_sub(1) };
    let Some(next) = target.and_then(|row| BodyView::of(model, row)) else {
        return model.say(if forward { "this is the last row" } else { "this is the first row" });
    };
    go::to_row(model, next.row);
    model.dialog.overlays.pop();
    model.dialog.open(next);
}

/// Folds and unfolds.
fn fold(model: &mut Model, command: Command) {
    if let Some(view) = model.dialog.top_mut::<BodyView>() {
        let at = view.list.cursor;
        view.list.cursor = match command {
            Command::FoldAll => view.document.fold_all(at),
            Command::UnfoldAll => view.document.unfold_all(at),
            _ => view.document.toggle(at),
        };
    }
}

/// Updates the open bodies to the current content of their rows, and closes those whose rows are gone. `rows` and
/// `session` are those from before.
pub fn renew(model: &mut Model, rows: &transcript::Rows, session: Option<&Arc<Session>>) {
    let mut open = std::mem::take(&mut model.dialog.overlays);
    open.retain_mut(|overlay| match overlay.view_mut::<BodyView>() {
        Some(view) => view.renew(model, rows, session).is_some(),
        None => true,
    });
    model.dialog.overlays = open;
}

impl BodyView {
    /// A body with the same text stays as it is, folds and all. `None`: its row is gone.
    fn renew(
        &mut self,
        model: &Model,
        rows: &transcript::Rows,
        session: Option<&Arc<Session>>,
    ) -> Option<()> {
        let row = rows.get(self.row)?;
        let now = model.derived.rows.place_of(row)?;
        let body = session.and_then(|session| row.body(session));
        if body.is_some() && body == model.session().and_then(|session| row.body(session)) {
            self.row = now;
        } else if let Some(renewed) = BodyView::of(model, now) {
            *self = BodyView { list: self.list, ..renewed };
        }
        Some(())
    }
}
