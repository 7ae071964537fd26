//! Puts text on the screen: rows of parts in roles, and frames. Every text goes through [`text`], so that no recorded
//! control character gets through.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::workbench::text::{self, CleanLine, Run};
use crate::workbench::theme::{Glyph, Role, Theme};

mod frame;

pub use frame::{frame, scroll_mark};

/// One row of the screen, filled from the left.
#[derive(Debug, Clone)]
pub struct Row<'t> {
    theme: &'t Theme,
    room: usize,
    width: usize,
    parts: Vec<(String, Style)>,
    /// Columns that are scrolled out of sight at the left, after the first `held` ones.
    out: usize,
    held: usize,
    /// Whether it is made of columns, which become whole texts once it is scrolled.
    columns: bool,
    /// `Some` if there was no room for all of it, and whether a mark for that is still missing.
    cut: bool,
    bare: bool,
    /// The role of a highlighted row that the cursor is not on.
    under: Option<Role>,
}

impl<'t> Row<'t> {
    /// An empty row of `room` columns.
    pub fn new(theme: &'t Theme, room: usize) -> Self {
        Self {
            theme,
            room,
            width: 0,
            parts: Vec::new(),
            out: 0,
            held: 0,
            columns: false,
            cut: false,
            bare: false,
            under: None,
        }
    }

    /// An empty row of `room` columns on screen, with `out` more that are scrolled out of sight at the left.
    pub fn scrolled(theme: &'t Theme, room: usize, out: usize) -> Self {
        Self { out, ..Self::new(theme, room + out) }
    }

    /// The same for a row in columns: once it is scrolled, its texts follow each other whole, whatever columns they are
    /// given.
    pub fn flowing(theme: &'t Theme, room: usize, out: usize) -> Self {
        Self { columns: true, ..Self::scrolled(theme, room, out) }
    }

    /// Its content so far stays visible when the rest is scrolled.
    pub fn hold(&mut self) -> &mut Self {
        self.held = self.width;
        self
    }

    /// Whether it is scrolled.
    pub fn is_scrolled(&self) -> bool {
        self.out > 0
    }

    /// Whether more of it is visible after scrolling.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Columns for a text that has at most `most` of them while it is not scrolled.
    pub fn most(&self, most: usize) -> usize {
        if self.flows() { WHOLE } else { most }
    }

    fn flows(&self) -> bool {
        self.columns && self.out > 0
    }

    /// Notes that a column is narrower than its text.
    fn narrow(&mut self, text: &str, most: usize) {
        self.cut |= self.columns && text::width(text.trim_end(), self.theme.marks(), most + 1) > most;
    }

    /// Marks it as cut.
    pub fn cut(&mut self) -> &mut Self {
        self.cut = true;
        self
    }

    /// Columns still free.
    pub fn left(&self) -> usize {
        self.room.saturating_sub(self.width)
    }

    /// Columns used.
    pub fn used(&self) -> usize {
        self.width
    }

    /// The theme it is drawn in.
    pub fn theme(&self) -> &'t Theme {
        self.theme
    }

    /// Appends `text`, cut to what fits.
    pub fn put(&mut self, role: Role, text: &str) -> &mut Self {
        self.put_at_most(role, text, usize::MAX)
    }

    /// Appends `text`, cut to at most `most` columns.
    pub fn put_at_most(&mut self, role: Role, text: &str, most: usize) -> &mut Self {
        let (room, marks) = (self.left(), self.theme.marks());
        let most = if self.flows() { room } else { most };
        if most >= room {
            self.missing(text, room);
        } else {
            self.narrow(text, most);
        }
        let shown = text::fit(text, most.min(room), marks);
        self.shown(role, shown)
    }

    /// Appends a file's name in at most `most` columns, cut at its beginning.
    pub fn put_tail(&mut self, role: Role, path: &str, most: usize) -> &mut Self {
        let most = most.min(self.left());
        if self.flows() {
            return self.put(role, path);
        }
        self.narrow(path, most);
        let shown = tail(path, most, self.theme.marks());
        self.put(role, &shown)
    }

    /// Notes that `text` does not fit into `room`.
    fn missing(&mut self, text: &str, room: usize) {
        // Blanks at the end are never missed.
        let cut = text::width(text.trim_end(), self.theme.marks(), room + 1) > room;
        self.cut |= cut;
        self.bare |= cut && room == 0;
    }

    /// Appends text that is already fit for the screen.
    pub fn shown(&mut self, role: Role, shown: CleanLine) -> &mut Self {
        if shown.width > self.left() {
            (self.cut, self.bare) = (true, true);
            return self;
        }
        self.width += shown.width;
        let style = self.theme.style(role);
        for run in shown.runs {
            let style = self.run_style(style, &run);
            self.parts.push((run.text, style));
        }
        self
    }

    /// Marks are highlighted in the text around them; the mark of a cut is not.
    fn run_style(&self, style: Style, run: &Run) -> Style {
        let cut = run.text == self.theme.marks().ellipsis();
        match (run.mark, cut) {
            (false, _) => style,
            (true, true) => style.patch(self.theme.style(Role::TextDim)),
            (true, false) => style.patch(self.theme.style(Role::TextMark)),
        }
    }

    /// Appends `text` in exactly `width` columns, cut or filled up.
    pub fn column(&mut self, role: Role, text: &str, width: usize) -> &mut Self {
        let end = self.width.saturating_add(width);
        self.put_at_most(role, text, width);
        self.to(end)
    }

    /// Appends `text` with every place that `query` is found in marked.
    pub fn put_found(&mut self, role: Role, text: &str, query: Option<&str>, current: bool) -> &mut Self {
        let Some(query) = query.filter(|query| !query.is_empty()) else { return self.put(role, text) };
        self.missing(text, self.left());
        // The mark is laid over the shown text, so a long text is cut before it is searched.
        let shown = text::fit(text, self.left(), self.theme.marks());
        self.put_shown(role, shown, Some(query), current)
    }

    /// The same with text that is already safe for the screen.
    pub fn put_shown(
        &mut self,
        role: Role,
        shown: CleanLine,
        query: Option<&str>,
        current: bool,
    ) -> &mut Self {
        let Some(query) = query.filter(|query| !query.is_empty()) else { return self.shown(role, shown) };
        if shown.width > self.left() {
            (self.cut, self.bare) = (true, true);
            return self;
        }
        let found = if current { Role::MatchCurrent } else { Role::Match };
        let (style, over) = (self.theme.style(role), self.theme.style(found));
        self.width += shown.width;
        for run in shown.runs {
            let style = self.run_style(style, &run);
            let mut rest = run.text.as_str();
            while let Some(at) = find_ignoring_case(rest, query) {
                let (before, from) = rest.split_at(at);
                let (hit, after) = from.split_at(same_length(from, query));
                self.parts.push((before.to_owned(), style));
                self.parts.push((hit.to_owned(), style.patch(over)));
                rest = after;
            }
            self.parts.push((rest.to_owned(), style));
        }
        self
    }

    /// Appends `text` with these of its bytes marked as found.
    pub fn put_marked(&mut self, role: Role, text: &str, found: &[Range<usize>], current: bool) -> &mut Self {
        let over = self.theme.style(if current { Role::MatchCurrent } else { Role::Match });
        let mut at = 0;
        for range in found {
            self.put(role, text.get(at..range.start).unwrap_or_default());
            let parts = self.parts.len();
            self.put(role, text.get(range.clone()).unwrap_or_default());
            for (_, style) in self.parts.iter_mut().skip(parts) {
                *style = style.patch(over);
            }
            at = range.end;
        }
        self.put(role, text.get(at..).unwrap_or_default())
    }

    /// Appends what another row holds.
    pub fn append(&mut self, other: Row<'t>) -> &mut Self {
        let other = if other.is_scrolled() { other.cropped() } else { other };
        self.width += other.width;
        self.cut |= other.cut;
        self.parts.extend(other.parts);
        self
    }

    /// The visible part of a scrolled row, as a row that is not scrolled.
    fn cropped(self) -> Row<'t> {
        let room = self.room - self.out;
        let mut buf = Buffer::empty(Rect::new(0, 0, u16::try_from(room).unwrap_or(u16::MAX), 1));
        self.draw(&mut buf, 0, 0);
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(cell) = buf.cell((at, 0)) {
            parts.push((cell.symbol().to_owned(), cell.style()));
            // The cells that a wide letter covers are blank.
            let columns = unicode_width::UnicodeWidthStr::width(cell.symbol()).max(1);
            at = at.saturating_add(u16::try_from(columns).unwrap_or(1));
        }
        Row { width: room, room, parts, out: 0, held: 0, ..self }
    }

    /// Appends what `put` does, struck out.
    pub fn struck(&mut self, put: impl FnOnce(&mut Self)) -> &mut Self {
        let parts = self.parts.len();
        put(self);
        for (_, style) in self.parts.iter_mut().skip(parts) {
            *style = style.add_modifier(Modifier::CROSSED_OUT);
        }
        self
    }

    /// Highlights it, even if the cursor is not on it.
    pub fn stand_out(&mut self, role: Role) -> &mut Self {
        self.under = Some(role);
        self
    }

    /// Appends a glyph.
    pub fn glyph(&mut self, role: Role, glyph: Glyph) -> &mut Self {
        let text = self.theme.glyph(glyph);
        let width = if text.is_ascii() { text.len() } else { 1 };
        if self.left() >= width {
            self.parts.push((text.to_owned(), self.theme.style(role)));
            self.width += width;
        }
        self
    }

    /// Appends `count` spaces.
    pub fn gap(&mut self, count: usize) -> &mut Self {
        let count = count.min(self.left());
        self.parts.push((" ".repeat(count), self.theme.style(Role::Text)));
        self.width += count;
        self
    }

    /// Fills up to this column; where texts follow each other, leaves two columns between them.
    pub fn to(&mut self, column: usize) -> &mut Self {
        let gap = column.saturating_sub(self.width);
        self.gap(if self.flows() { gap.min(2) } else { gap })
    }

    /// The same row with room up to `room` columns.
    pub fn widen(mut self, room: usize) -> Self {
        self.room = self.room.max(room);
        self
    }

    /// The same row with room for at most `room` columns.
    pub fn within(mut self, room: usize) -> Self {
        self.room = room;
        self
    }

    /// Draws it from `(x, y)` on, with a mark at each edge at which it is cut.
    pub fn draw(&self, buf: &mut Buffer, x: u16, y: u16) {
        let columns = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        if self.out == 0 {
            self.lay(buf, x, y);
            if self.bare && self.room > 0 {
                self.mark(buf, x.saturating_add(columns(self.room - 1)), y);
            }
            return;
        }
        let mut whole = Buffer::empty(Rect::new(0, 0, columns(self.room), 1));
        self.lay(&mut whole, 0, 0);
        let (held, out) = (columns(self.held.min(self.room - self.out)), columns(self.out));
        let hidden = (held..=held.saturating_add(out))
            .any(|at| whole.cell((at, 0)).is_some_and(|cell| !matches!(cell.symbol(), " " | "")));
        for at in 0..columns(self.room - self.out) {
            let from = if at < held { at } else { at.saturating_add(out) };
            if let (Some(cell), Some(to)) = (whole.cell((from, 0)), buf.cell_mut((x.saturating_add(at), y))) {
                // Empty cells are transparent.
                let (symbol, style) = (cell.symbol().to_owned(), cell.style());
                to.set_symbol(&symbol).set_style(style);
            }
        }
        if hidden {
            self.mark(buf, x.saturating_add(held), y);
        }
        if self.bare {
            self.mark(buf, x.saturating_add(columns(self.room - self.out - 1)), y);
        }
    }

    fn lay(&self, buf: &mut Buffer, x: u16, y: u16) {
        let mut at = x;
        for (text, style) in &self.parts {
            let end = x.saturating_add(u16::try_from(self.room).unwrap_or(u16::MAX));
            let (next, _) = buf.set_stringn(at, y, text, usize::from(end.saturating_sub(at)), *style);
            at = next;
        }
    }

    fn mark(&self, buf: &mut Buffer, x: u16, y: u16) {
        buf.set_string(x, y, self.theme.marks().ellipsis(), self.theme.style(Role::TextDim));
    }

    /// Draws it as the row under a cursor.
    pub fn draw_under(&self, buf: &mut Buffer, x: u16, y: u16, cursor: Option<Role>) {
        self.draw(buf, x, y);
        if let Some(cursor) = cursor.or(self.under) {
            let width = u16::try_from(self.room.saturating_sub(self.out)).unwrap_or(u16::MAX);
            lay_under(buf, Rect::new(x, y, width, 1), self.theme.style(cursor));
        }
    }
}

/// Columns of a text in a row that flows; the rest is read elsewhere, as a body.
pub const WHOLE: usize = 4096;

/// Lays the style of a selected row under what is drawn in `area`. Where the theme reverses such rows, colours
/// of single words would become patches of background; they take the row's instead.
pub fn lay_under(buf: &mut Buffer, area: Rect, style: Style) {
    let area = area.intersection(buf.area);
    let plain = style.add_modifier.contains(Modifier::REVERSED) || style.fg.is_some();
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            let Some(cell) = buf.cell_mut((x, y)) else { continue };
            if plain {
                cell.fg = style.fg.unwrap_or_default();
                cell.bg = style.bg.unwrap_or_default();
                cell.modifier.remove(Modifier::DIM | Modifier::REVERSED);
            }
            if style.bg.is_some() {
                // Dim text would be invisible on another background.
                cell.modifier.remove(Modifier::DIM);
            }
            cell.set_style(style);
        }
    }
}

/// A file's name in at most `width` columns, cut at its beginning.
pub fn tail(path: &str, width: usize, marks: text::Marks) -> String {
    if text::width(path, marks, width + 1) <= width {
        return path.to_owned();
    }
    let parts = path.match_indices(['/', '\\']).map(|(at, _)| path.get(at..).unwrap_or_default());
    let mut fitting = parts.filter(|part| text::width(part, marks, width) < width);
    if let Some(part) = fitting.next() {
        return format!("{}{part}", marks.ellipsis());
    }
    let from = path.char_indices().rev().map(|(at, _)| path.get(at..).unwrap_or_default());
    let end = from.take_while(|end| text::width(end, marks, width) < width).last();
    format!("{}{}", marks.ellipsis(), end.unwrap_or_default())
}

/// The position of `query` in `text`, in any case.
fn find_ignoring_case(text: &str, query: &str) -> Option<usize> {
    text.char_indices().map(|(at, _)| at).find(|at| {
        let mut rest = text.get(*at..).unwrap_or_default().chars().flat_map(char::to_lowercase);
        query.chars().flat_map(char::to_lowercase).all(|c| rest.next() == Some(c))
    })
}

/// Bytes at the start of `text` that `query` was found in.
fn same_length(text: &str, query: &str) -> usize {
    text.chars().take(query.chars().count()).map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests;
