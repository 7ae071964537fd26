//! All findings of all sessions in one list, under headings. Draws only the rows on screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::tail;
use super::paint::{Row, frame, scroll_mark};
use super::status::problem_place;
use crate::diagnostic::Severity;
use crate::engine::Mode;
use crate::monitor::Effect;
use crate::report::words;
use crate::workbench::layout::shrink;
use crate::workbench::model::overlay::{FindingsView, ProblemsView};
use crate::workbench::model::{FindingRow, GroupBy, Model};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};

/// Draws the list into `area`.
pub fn draw(model: &Model, view: &FindingsView, buf: &mut Buffer, area: Rect) {
    let theme = &model.theme;
    super::clear(buf, area, theme, Role::Overlay);
    let would = if model.mode == Mode::Shadow { ", what would stop" } else { "" };
    let mut title = format!("Findings by {}{would}", view.by.word());
    if !view.filter.is_empty() {
        title.push_str(&format!("  /{}", view.filter));
    }
    let at = if view.shown.is_empty() { 0 } else { view.list.cursor + 1 };
    let note = format!("{at}/{}", view.shown.len());
    // Several files may hold sessions of one name: the file of the row under the cursor stands above the list.
    if let Some(entry) = view.row().and_then(|row| model.entries.get(row.entry)) {
        let room =
            usize::from(area.width).saturating_sub(text::width(&title, theme.marks(), 80) + note.len() + 12);
        if room >= 8 {
            title.push_str(&format!("   {}", tail(&entry.file, room, theme.marks())));
        }
    }
    frame(buf, area, theme, true, &title, &note);
    scroll_mark(buf, area, theme, view.list.top, view.shown.len());
    let inner = shrink(area);
    let width = usize::from(inner.width);
    if view.shown.is_empty() {
        let mut row = Row::new(theme, width);
        let why = if view.rows.is_empty() {
            "no rule speaks against any call or session"
        } else {
            "none passes the filter"
        };
        row.gap(1).put(Role::TextDim, why);
        row.draw(buf, inner.x, inner.y);
    }
    // The column of names is as wide as the names on screen.
    let visible = || view.shown.iter().skip(view.list.top).take(usize::from(inner.height));
    let longest = visible()
        .filter_map(|at| view.rows.get(*at))
        .map(|row| text::width(row.group(view.by, model), theme.marks(), 60))
        .max()
        .unwrap_or(0);
    let column = longest.clamp(8, (width * 40 / 100).max(8));
    let mut before: Option<&str> = view
        .list
        .top
        .checked_sub(1)
        .and_then(|at| view.rows.get(*view.shown.get(at)?))
        .map(|row| row.group(view.by, model));
    for offset in 0..usize::from(inner.height) {
        let at = view.list.top + offset;
        let Some(found) = view.shown.get(at).and_then(|at| view.rows.get(*at)) else { break };
        let group = found.group(view.by, model);
        // The name of a group stands on its first row only, and on the first one on screen.
        let named = before != Some(group) || offset == 0;
        before = Some(group);
        let row = one(model, found, view.by, named.then_some(group), column, width);
        let cursor = (at == view.list.cursor).then_some(Role::Cursor);
        row.draw_under(buf, inner.x, inner.y + u16::try_from(offset).unwrap_or(0), cursor);
    }
}

fn one<'m>(
    model: &'m Model,
    found: &FindingRow,
    by: GroupBy,
    group: Option<&str>,
    column: usize,
    width: usize,
) -> Row<'m> {
    let theme = &model.theme;
    let mut row = Row::new(theme, width);
    let (role, glyph) = match found.effect {
        Effect::Halt => (Role::VerdictHalt, Glyph::Halt),
        Effect::Deny if found.counterfactual => (Role::VerdictAfter, Glyph::After),
        Effect::Deny => (Role::VerdictDeny, Glyph::Deny),
        Effect::Report => (Role::VerdictReport, Glyph::Problem),
        Effect::Also | Effect::None => (Role::TextDim, Glyph::Dot),
    };
    row.gap(1).column(Role::TextStrong, group.unwrap_or_default(), column).gap(1);
    row.glyph(role, glyph).gap(1).column(Role::TextDim, &found.place(), 6).gap(1);
    // The call, then the rule that speaks against it, then the code where there is room for it.
    let code = if row.left() >= ROOMY { CODE } else { 0 };
    let session = if by == GroupBy::Session || row.left() < ROOMY { 0 } else { SESSION };
    let end = row.used() + row.left() - code - session;
    let room = end.saturating_sub(row.used());
    let rule = if by == GroupBy::Rule || room < 40 { 0 } else { room * 2 / 5 };
    let call = room - rule;
    match (found.call(model), found.violation(model)) {
        (Some(call_of), _) if call < NARROW => {
            row.put_at_most(Role::Text, call_of.0, call.saturating_sub(1));
        }
        (Some(call_of), _) => {
            let shown = words::call::in_line(call_of.0, call_of.1, call.saturating_sub(1), theme.marks());
            row.shown(Role::Text, shown);
        }
        (None, Some((replay, state))) => {
            let actual = words::violation(state, replay).map(|violation| violation.actual.to_string());
            row.put_at_most(Role::Text, &actual.unwrap_or_default(), call.saturating_sub(1));
        }
        (None, None) => {}
    }
    row.to(end - rule);
    if rule > 0 {
        row.column(Role::TextDim, &found.name, rule.saturating_sub(1)).gap(1);
    }
    if session > 0 {
        row.column(Role::TextDim, found.session(model), session - 1).gap(1);
    }
    if code > 0 {
        row.column(Role::TextDim, found.code.as_str(), code);
    }
    row
}

/// Columns left for a finding from which its code and its session have columns of their own.
const ROOMY: usize = 76;
/// Columns in which there is no room for more of a call than its tool.
const NARROW: usize = 24;
/// Columns of a code.
const CODE: usize = 22;
/// Columns of a session's name, with the space after it.
const SESSION: usize = 18;

/// Draws the list of what is wrong with policies and recordings into `area`.
pub fn draw_problems(model: &Model, view: &ProblemsView, buf: &mut Buffer, area: Rect) {
    let theme = &model.theme;
    super::clear(buf, area, theme, Role::Overlay);
    let at = if view.rows.is_empty() { 0 } else { view.list.cursor + 1 };
    frame(buf, area, theme, true, "Problems", &format!("{at}/{}", view.rows.len()));
    scroll_mark(buf, area, theme, view.list.top, view.rows.len());
    let inner = shrink(area);
    let width = usize::from(inner.width);
    if view.rows.is_empty() {
        let mut row = Row::new(theme, width);
        row.gap(1).put(Role::TextDim, "nothing is wrong with the policy or the recordings");
        row.draw(buf, inner.x, inner.y);
    }
    let shown = view.rows.iter().enumerate().skip(view.list.top);
    for (offset, (at, problem)) in shown.take(usize::from(inner.height) / PROBLEM).enumerate() {
        let y = inner.y + u16::try_from(offset * PROBLEM).unwrap_or(0);
        let cursor = (at == view.list.cursor).then_some(Role::Cursor);
        let role = if problem.severity == Severity::Error { Role::VerdictDeny } else { Role::VerdictReport };
        let mut row = Row::new(theme, width);
        row.gap(1)
            .put(role, problem.severity.name())
            .gap(1)
            .put(Role::TextStrong, problem.code.as_str())
            .gap(2);
        row.put(Role::TextDim, &tail(&problem_place(problem), row.left(), theme.marks()));
        row.draw_under(buf, inner.x, y, cursor);
        let mut message = problem.message.clone();
        if let Some(help) = &problem.help {
            message.push_str("; ");
            message.push_str(help);
        }
        let lines = text::wrap(&message, width.saturating_sub(3), PROBLEM - 1, theme.marks());
        for (y, shown) in (y + 1..).zip(lines) {
            let mut row = Row::new(theme, width);
            row.gap(3).shown(Role::Text, shown);
            row.draw_under(buf, inner.x, y, cursor);
        }
    }
}

/// Rows that a problem takes: one for what and where, two for the message.
pub const PROBLEM: usize = 3;
