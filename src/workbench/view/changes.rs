//! What the last edit changed: a row for each call, newly allowed ones first. Draws only the rows on screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::{Link, place, tail};
use super::paint::Row;
use crate::compare::{Answer, At, Change, Kind, Stand};
use crate::engine::Verdict;
use crate::report::words;
use crate::workbench::layout::Pane;
use crate::workbench::model::Model;
use crate::workbench::theme::{Glyph, Role};

/// Draws the pane's rows into `inner`.
pub fn draw(model: &Model, buf: &mut Buffer, inner: Rect, focus: bool) {
    let list = model.list(Pane::Changes);
    let (width, height) = (usize::from(inner.width), usize::from(inner.height));
    let mut ys = inner.y..inner.bottom();
    let query = model.query.as_deref().filter(|_| focus);
    let shown = model.changes_from(list.top).take(height);
    let mut drawn = 0;
    for ((y, (entry, change)), at) in ys.clone().zip(shown).zip(list.top..) {
        let cursor = (focus && at == list.cursor).then_some(Role::Cursor);
        one(model, entry, change, width, query).draw_under(buf, inner.x, y, cursor);
        drawn += 1;
    }
    if drawn < height
        && let Some(y) = ys.nth(drawn)
    {
        let mut row = Row::new(&model.theme, width);
        row.put(Role::TextDim, &rest(model));
        let cursor = (focus && list.cursor >= model.changes.len()).then_some(Role::Cursor);
        row.draw_under(buf, inner.x, y, cursor);
    }
}

/// Rows of the pane: the changes, and one about all other sessions.
#[must_use]
pub fn len(model: &Model) -> usize {
    model.changes.len() + 1
}

/// What stands beside the title: since when.
#[must_use]
pub fn note(model: &Model) -> String {
    match &model.changes.comparison {
        Some(_) => format!("since {}", model.changes.since),
        None => String::new(),
    }
}

/// What the row under the cursor points at: the rule that decides now.
#[must_use]
pub fn link(model: &Model) -> Link {
    let row = model.changes_from(model.list(Pane::Changes).cursor).next();
    Link { call: None, rule: row.and_then(|(_, change)| change.new.rule) }
}

/// A row's text, for copying and searching.
#[must_use]
pub fn plain(model: &Model, at: usize) -> String {
    match model.changes_from(at).next() {
        Some((entry, change)) => {
            let name = model.entries.get(entry).map_or("", |entry| &*entry.name);
            let (base, new) = (word(change.base), word(change.new));
            format!("{name} {} {base} > {new} {}", subject(change), change.origin.word())
        }
        None => rest(model),
    }
}

/// Columns from which a row has room for where a change comes from.
const ROOMY: usize = 60;
/// What a call shows that is stopped under both, otherwise than before.
const OTHER_REASON: &str = "other reason";

fn one<'m>(model: &'m Model, entry: usize, change: &Change, width: usize, query: Option<&str>) -> Row<'m> {
    let mut row = Row::new(&model.theme, width);
    let (role, glyph) = sign(change);
    row.glyph(role, glyph).gap(1);
    // What it was and what it is must be seen; what is cut are names, of a session's the beginning.
    let (base, new) = (word(change.base), word(change.new));
    let same = change.kind == Kind::OtherReason;
    let end = if same { OTHER_REASON.len() } else { base.len() + new.len() + 3 };
    let origin = if width >= ROOMY { 2 + "downstream".len() } else { 0 };
    let room = row.left().saturating_sub(end + origin + 1);
    let name = model.entries.get(entry).map_or("", |entry| &*entry.name);
    let subject = subject(change);
    let most = (room * 2 / 5).max(room.saturating_sub(subject.len() + 1));
    row.put_found(Role::Text, &tail(name, most, model.theme.marks()), query, false).gap(1);
    let names = 2 + room;
    row = row.within(names);
    row.put_found(Role::TextStrong, &subject, query, false);
    row = row.within(width);
    row.to(names + 1);
    if same {
        row.put(role, OTHER_REASON);
    } else {
        row.put(Role::TextDim, base).put(Role::TextDim, " > ").put(role, new);
    }
    if origin > 0 {
        row.gap(2).put(Role::TextDim, change.origin.word());
    }
    row
}

/// The call, the turn's tool or the end that it is about.
fn subject(change: &Change) -> String {
    let tool = change.tool.as_deref().unwrap_or_default();
    match change.at {
        At::Call(call) => format!("{} {tool}", place(call)),
        At::Turn(turn) => format!("T{turn} {tool}"),
        At::End => "at the end".to_owned(),
    }
}

/// What a version makes of it: stops in capitals, as everywhere.
fn word(stand: Stand) -> &'static str {
    match stand.answer {
        Answer::Call(Verdict::Deny) => "DENY",
        Answer::Call(Verdict::Halt) => "HALT",
        Answer::Call(Verdict::NotReached) => "not reached",
        other => other.word().unwrap_or("no rule"),
    }
}

/// By what stands now.
fn sign(change: &Change) -> (Role, Glyph) {
    match change.new.answer {
        Answer::Call(Verdict::Allow) | Answer::Tool { visible: true } => (Role::VerdictAllow, Glyph::Allow),
        Answer::Call(Verdict::Deny) if change.counterfactual => (Role::VerdictAfter, Glyph::After),
        Answer::Call(Verdict::Deny) => (Role::VerdictDeny, Glyph::Deny),
        Answer::Call(Verdict::Halt) => (Role::VerdictHalt, Glyph::Halt),
        Answer::Call(Verdict::NotReached) | Answer::Tool { visible: false } => {
            (Role::VerdictNone, Glyph::None)
        }
        Answer::Session(_) | Answer::Rule(_) => (Role::VerdictReport, Glyph::Problem),
    }
}

/// What there is to say of all other sessions.
fn rest(model: &Model) -> String {
    if model.changes.comparison.is_none() {
        return "no edit yet: what one changes is listed here".to_owned();
    }
    let (compared, unchanged) = model.changes.counts();
    let all = model.session_count();
    if compared < all {
        return format!("compared {compared} of {}", words::count(all as u64, "session"));
    }
    format!("{} unchanged", words::count(unchanged as u64, "session"))
}
