//! Frames around panes and popups.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Row, tail};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, GlyphSet, Role, Theme};

/// Draws a frame with a title on its upper edge and a note, if any, at its right end.
pub fn frame(buf: &mut Buffer, rect: Rect, theme: &Theme, focus: bool, title: &str, note: &str) {
    let (line, name) =
        if focus { (Role::BorderFocus, Role::TitleFocus) } else { (Role::Border, Role::Title) };
    let [h, v, tl, tr, bl, br] = match (theme.glyphs, focus) {
        (GlyphSet::Unicode, false) => ["─", "│", "┌", "┐", "└", "┘"],
        (GlyphSet::Unicode, true) => ["═", "║", "╔", "╗", "╚", "╝"],
        (GlyphSet::Ascii, false) => ["-", "|", "+", "+", "+", "+"],
        (GlyphSet::Ascii, true) => ["=", "|", "+", "+", "+", "+"],
    };
    let style = theme.style(line);
    let (left, right) = (rect.left(), rect.right().saturating_sub(1));
    let (top, bottom) = (rect.top(), rect.bottom().saturating_sub(1));
    if rect.width < 2 || rect.height < 2 {
        return;
    }
    for x in left..=right {
        buf.set_string(x, top, h, style);
        buf.set_string(x, bottom, h, style);
    }
    for y in top..=bottom {
        buf.set_string(left, y, v, style);
        buf.set_string(right, y, v, style);
    }
    for (x, y, corner) in [(left, top, tl), (right, top, tr), (left, bottom, bl), (right, bottom, br)] {
        buf.set_string(x, y, corner, style);
    }
    let room = usize::from(rect.width.saturating_sub(4));
    let mut row = Row::new(theme, room);
    row.put(name, " ").put(name, title).put(name, " ");
    row.draw(buf, left + 2, top);
    if !note.is_empty() {
        let space = room.saturating_sub(row.used() + 3);
        let note = text::fit(&tail(note, space, theme.marks()), space, theme.marks());
        if note.width > 0 {
            let x = right.saturating_sub(u16::try_from(note.width).unwrap_or(0) + 3);
            let mut row = Row::new(theme, note.width + 2);
            row.put(Role::TextDim, " ").shown(Role::TextDim, note).put(Role::TextDim, " ");
            row.draw(buf, x, top);
        }
    }
}

/// Marks on the right edge of a framed list which part of it is visible.
pub fn scroll_mark(buf: &mut Buffer, rect: Rect, theme: &Theme, top: usize, len: usize) {
    let height = usize::from(rect.height.saturating_sub(2));
    if height == 0 || len <= height {
        return;
    }
    let size = (height * height / len).clamp(1, height);
    let from = (top * (height - size)).checked_div(len - height).unwrap_or(0).min(height - size);
    for at in from..from + size {
        let y = rect.y + 1 + u16::try_from(at).unwrap_or(0);
        let glyph = theme.glyph(Glyph::Thumb);
        buf.set_string(rect.right().saturating_sub(1), y, glyph, theme.style(Role::Scroll));
    }
}
