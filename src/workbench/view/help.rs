//! The list of all commands, and the box that shows how a chord can go on.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::paint::{Row, frame, scroll_mark};
use crate::report::words;
use crate::workbench::keys::{self, Facts, Meaning, Scope};
use crate::workbench::layout::shrink;
use crate::workbench::list::List;
use crate::workbench::model::overlay::HelpView;
use crate::workbench::model::{Model, Overlay};
use crate::workbench::text::{self, Marks, Shown};
use crate::workbench::theme::Role;

/// Columns of the keys.
const KEYS: usize = 11;
/// Columns from which groups of commands are named beside them; below that, what they do needs the room.
const NAMED: usize = 96;

/// Draws the list into `area`.
pub fn draw(model: &Model, view: &HelpView, buf: &mut Buffer, area: Rect) {
    let theme = &model.theme;
    super::clear(buf, area, theme, Role::Overlay);
    let rows: Vec<&keys::Row> = view.shown().collect();
    let mut title = "Commands".to_owned();
    if !view.filter.is_empty() {
        title.push_str(&format!("  /{}", view.filter));
    }
    frame(buf, area, theme, true, &title, &format!("{}", rows.len()));
    scroll_mark(buf, area, theme, view.list.top, rows.len());
    let inner = shrink(area);
    let width = usize::from(inner.width);
    let heading = heading(width);
    let facts = model.facts();
    let mut before = None;
    let mut ys = inner.top()..inner.bottom();
    for (at, command) in rows.iter().enumerate().skip(view.list.top) {
        let missing = (command.missing)(&facts).is_some();
        let (role, said) = if missing { (Role::TextDim, Role::TextDim) } else { (Role::Key, Role::Text) };
        let cursor = (at == view.list.cursor).then_some(Role::Cursor);
        let lines = lines(&facts, command, width, theme.marks());
        for (place, line) in lines.into_iter().enumerate() {
            let Some(y) = ys.next() else { return };
            let mut row = Row::new(theme, width);
            row.gap(1);
            let named = place == 0 && before != Some(command.group);
            row.column(Role::TextDim, if named { keys::heading(command.group) } else { "" }, heading);
            let keys = if place == 0 { command.keys.join(" ") } else { String::new() };
            row.column(role, &keys, KEYS).shown(said, line);
            row.draw_under(buf, inner.x, y, cursor);
        }
        before = Some(command.group);
    }
}

/// Rows that each command of the list takes in a box of this width.
#[must_use]
pub fn heights(model: &Model, view: &HelpView, width: usize) -> Vec<usize> {
    let (facts, marks) = (model.facts(), model.theme.marks());
    view.shown().map(|command| lines(&facts, command, width, marks).len()).collect()
}

/// What a command does, and what it misses, beside its keys.
fn lines(facts: &Facts, command: &keys::Row, width: usize, marks: Marks) -> Vec<Shown> {
    let room = width.saturating_sub(1 + heading(width) + KEYS).max(1);
    let missing = (command.missing)(facts).map(|missing| format!("  ({missing})")).unwrap_or_default();
    text::wrap(&format!("{}{missing}", command.doc), room, usize::MAX, marks)
}

/// Columns of the names of groups.
fn heading(width: usize) -> usize {
    if width >= NAMED { 21 } else { 0 }
}

/// Draws the list of versions loaded before the one that decides into `area`.
pub fn draw_loads(model: &Model, list: List, buf: &mut Buffer, area: Rect) {
    let theme = &model.theme;
    super::clear(buf, area, theme, Role::Overlay);
    let loads: Vec<_> = model.rules.loads.newest_first().skip(1).collect();
    frame(buf, area, theme, true, "Compare with an earlier load", &format!("{}", loads.len()));
    scroll_mark(buf, area, theme, list.top, loads.len());
    let inner = shrink(area);
    for (offset, load) in loads.iter().skip(list.top).take(usize::from(inner.height)).enumerate() {
        let at = list.top + offset;
        let mut row = Row::new(theme, usize::from(inner.width));
        let (documents, rules) = (load.policy.documents().len() as u64, load.policy.rules().len() as u64);
        let size = format!("  {}, {}", words::count(documents, "document"), words::count(rules, "rule"));
        row.gap(1).put(Role::TextStrong, &load.at).put(Role::Text, &size);
        if at == 0 {
            row.put(Role::TextDim, "  the one before");
        }
        let cursor = (at == list.cursor).then_some(Role::Cursor);
        row.draw_under(buf, inner.x, inner.y + u16::try_from(offset).unwrap_or(0), cursor);
    }
}

/// Draws how the pending chord can go on, at the lower edge of `area`.
pub fn which_key(model: &Model, buf: &mut Buffer, area: Rect) {
    let scope = model.overlays.last().map_or(Scope::Panes, Overlay::scope);
    let Meaning::Prefix(rest) = keys::meaning(&model.pending, scope) else { return };
    let rows = u16::try_from(rest.len()).unwrap_or(u16::MAX);
    let height = rows.saturating_add(2).min(area.height);
    let longest = rest.iter().map(|(_, command)| command.row().doc.len()).max().unwrap_or(0);
    let width = u16::try_from(longest + 9).unwrap_or(u16::MAX).min(area.width);
    let place = Rect::new(area.right() - width, area.bottom() - height, width, height);
    super::clear(buf, place, &model.theme, Role::Overlay);
    frame(buf, place, &model.theme, false, &keys::chord::spell(&model.pending), "");
    let inner = shrink(place);
    for (y, (keys, command)) in (inner.top()..inner.bottom()).zip(rest) {
        let mut row = Row::new(&model.theme, usize::from(inner.width));
        row.gap(1).column(Role::Key, &keys, 4).put(Role::KeyDoc, command.row().doc);
        row.draw(buf, inner.x, y);
    }
}
