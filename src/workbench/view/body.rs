//! A whole body: JSON laid out in lines, the path of the line under the cursor on the title.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

mod found;

use super::paint::{Row, frame, scroll_mark};
use crate::report::words;
use crate::workbench::document::{Line, Token};
use crate::workbench::layout::shrink;
use crate::workbench::model::Model;
use crate::workbench::model::overlay::BodyView;
use crate::workbench::text::{self, Marks, Shown};
use crate::workbench::theme::{Glyph, Role};

/// Columns before a line: the sign of what can be folded.
const GUTTER: usize = 2;
/// Columns a level of nesting is moved in.
const STEP: usize = 2;

/// Draws the body into `area`.
pub fn draw(model: &Model, view: &BodyView, buf: &mut Buffer, area: Rect) {
    let theme = &model.theme;
    super::clear(buf, area, theme, Role::Overlay);
    let path = view.document.path(view.list.cursor);
    let room = usize::from(area.width).saturating_sub(18);
    let title = match &path {
        // Where both do not fit, the path is what nobody can do without.
        Some(path) if view.title.len() + path.len() + 3 > room => tail_of_path(path, room, theme.marks()),
        Some(path) => format!("{}   {path}", view.title),
        None => view.title.clone(),
    };
    let note = format!("{}/{}", view.list.cursor + 1, view.document.len());
    frame(buf, area, theme, true, &title, &note);
    scroll_mark(buf, area, theme, view.list.top, view.document.len());
    let inner = shrink(area);
    let mut y = inner.y;
    for at in view.list.top..view.document.len() {
        let Some(line) = view.document.line(at) else { break };
        let cursor = (at == view.list.cursor).then_some(Role::Cursor);
        let sign = match view.document.folded(at) {
            Some(_) => Some(Glyph::Folded),
            None => line.opens().then_some(Glyph::Open),
        };
        let rows = wrapped(line, view.document.folded(at), usize::from(inner.width), theme.marks());
        let mut found = match model.query.as_deref().filter(|query| !query.is_empty()) {
            Some(query) => found::in_rows(&view.document, at, &rows, query, theme.marks()),
            None => Vec::new(),
        }
        .into_iter();
        for (part, (role, shown)) in rows.into_iter().enumerate() {
            let found = found.next().unwrap_or_default();
            if y >= inner.bottom() {
                return;
            }
            let mut row = Row::new(theme, usize::from(inner.width));
            match sign.filter(|_| part == 0) {
                Some(glyph) => row.glyph(Role::TextDim, glyph).gap(1),
                None => row.gap(GUTTER),
            };
            row.gap(indent(line, usize::from(inner.width)));
            colour(&mut row, line, role, part == 0, shown, &found, cursor.is_some());
            row.to(usize::from(inner.width));
            row.draw_under(buf, inner.x, y, cursor);
            y += 1;
        }
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

/// Rows of the screen that a line takes.
#[must_use]
pub fn height(line: &Line, folded: Option<usize>, width: usize, marks: Marks) -> usize {
    wrapped(line, folded, width, marks).len()
}

/// Deep nesting is not moved in further than half the width.
fn indent(line: &Line, width: usize) -> usize {
    (line.depth * STEP).min(width / 2)
}

fn wrapped(line: &Line, folded: Option<usize>, width: usize, marks: Marks) -> Vec<(Role, Shown)> {
    let room = width.saturating_sub(GUTTER + indent(line, width)).max(1);
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
    text::wrap(&text, room, 400, marks).into_iter().map(|shown| (role, shown)).collect()
}

/// Puts a row of a line, its key in the colour of keys; what was searched for is marked instead of coloured.
fn colour(
    row: &mut Row<'_>,
    line: &Line,
    role: Role,
    first: bool,
    shown: Shown,
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
