//! Draws the model; changes nothing.
//!
//! Each pane has a file. What the panes around the transcript say is made as [`line::Line`]s, which `update`
//! asks too: for how many there are, and for what the one under the cursor points at.

pub mod body;
pub mod changes;
pub mod counters;
pub mod decision;
pub mod evidence;
pub mod findings;
pub mod forbidden;
pub mod help;
pub mod line;
pub mod paint;
pub mod policy;
pub mod preconditions;
pub mod rules;
pub mod session_rules;
pub mod sessions;
pub mod split;
pub mod status;
pub mod supposed;
pub mod texts;
pub mod timeline;
pub mod tools;
pub mod transcript;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use self::line::{Line, Link};
use super::layout::{Layout, Pane, Shape};
use super::model::{Model, Overlay, Seen};
use super::theme::{Glyph, Role, Theme};
use crate::compare::Side;

/// Draws everything; gives where the text cursor is, while text is typed.
pub fn draw(model: &Model, buf: &mut Buffer) -> Option<Position> {
    clear(buf, buf.area, &model.theme, Role::Text);
    if buf.area.as_size() != model.size {
        // The terminal has changed its size and the message of it is on its way.
        return None;
    }
    let layout = model.layout();
    if layout.shape == Shape::TooSmall {
        status::too_small(model, buf, &layout);
        return None;
    }
    status::header(model, buf, layout.header);
    if let Some(area) = layout.tabs {
        status::tabs(model, buf, area, &layout);
    }
    for (pane, area) in &layout.panes {
        draw_pane(model, buf, *pane, *area, &layout);
    }
    if let Some(area) = layout.timeline {
        timeline::draw(model, buf, area);
    }
    match model.overlays.last() {
        Some(Overlay::Body(view)) => body::draw(model, view, buf, layout.overlay),
        Some(Overlay::Findings(view)) => findings::draw(model, view, buf, layout.overlay),
        Some(Overlay::Help(view)) => help::draw(model, view, buf, layout.overlay),
        Some(Overlay::Problems(view)) => findings::draw_problems(model, view, buf, layout.overlay),
        Some(Overlay::Loads(list)) => help::draw_loads(model, *list, buf, layout.overlay),
        Some(Overlay::Texts(view)) => texts::draw(model, view, buf, layout.overlay),
        None => {}
    }
    if model.which_key {
        help::which_key(model, buf, layout.overlay);
    }
    if let Some(area) = layout.problem {
        status::problem(model, buf, area);
    }
    layout.footer.and_then(|area| status::footer(model, buf, area))
}

/// The lines of a pane that is made of lines, at most `width` columns wide; none for the others.
#[must_use]
pub fn lines(model: &Model, pane: Pane, width: usize) -> Vec<Line> {
    match pane {
        Pane::Sessions | Pane::Transcript | Pane::Changes => Vec::new(),
        Pane::Policy if model.splits() => rules::lines(model, width),
        Pane::Policy => Vec::new(),
        pane if model.splits() => split::lines(model, pane, width),
        Pane::Decision => {
            let mut lines = Vec::new();
            split::change(&mut lines, model, width);
            lines.extend(of_version(model.seen(Side::New), pane, width));
            lines
        }
        pane => of_version(model.seen(Side::New), pane, width),
    }
}

/// The lines of one of the four panes in the middle, under one version.
#[must_use]
pub fn of_version(seen: Seen<'_>, pane: Pane, width: usize) -> Vec<Line> {
    match pane {
        Pane::Tools => tools::lines(seen, width),
        Pane::Forbidden => forbidden::lines(seen),
        Pane::Preconditions => preconditions::lines(seen, width),
        Pane::Decision => decision::lines(seen, width),
        Pane::Sessions | Pane::Transcript | Pane::Policy | Pane::Changes => Vec::new(),
    }
}

/// Columns that a pane has for its lines.
#[must_use]
pub fn width(layout: &Layout, pane: Pane) -> usize {
    layout.inner(pane).map_or(0, |inner| usize::from(inner.width))
}

/// The part of a pane in which the rows of its list stand.
#[must_use]
pub fn rows(layout: &Layout, pane: Pane) -> Option<Rect> {
    let inner = layout.inner(pane)?;
    Some(if pane == Pane::Sessions { sessions::split(inner).0 } else { inner })
}

/// What the line under a pane's cursor points at.
#[must_use]
pub fn link(model: &Model, pane: Pane) -> Option<Link> {
    if pane == Pane::Changes {
        return Some(changes::link(model));
    }
    if pane == Pane::Policy {
        return None;
    }
    let width = width(&model.layout(), pane);
    lines(model, pane, width).get(model.list(pane).cursor).map(|line| line.link)
}

/// What stands beside a pane's title.
#[must_use]
pub fn note(model: &Model, pane: Pane) -> String {
    match pane {
        Pane::Sessions => sessions::note(model),
        Pane::Transcript => transcript::note(model),
        Pane::Tools => of_both(model, tools::note),
        Pane::Forbidden => of_both(model, forbidden::note),
        Pane::Preconditions => of_both(model, preconditions::note),
        Pane::Decision => String::new(),
        Pane::Policy if model.splits() => rules::title(model),
        Pane::Policy => policy::title(model),
        Pane::Changes => changes::note(model),
    }
}

/// A note about the new version; where another one is compared and says otherwise, from what to what.
fn of_both(model: &Model, note: fn(Seen<'_>) -> String) -> String {
    let new = note(model.seen(Side::New));
    if !model.splits() || model.seen(Side::Base).frame().is_none() {
        return new;
    }
    let base = note(model.seen(Side::Base));
    let none = |text: String| if text.is_empty() { "0".to_owned() } else { text };
    if base == new {
        return new;
    }
    // `8 of 12` and `7 of 12`: what they are out of is said once.
    let base = match (base.split_once(' '), new.split_once(' ')) {
        (Some((count, rest)), Some((_, other))) if rest == other => count.to_owned(),
        _ => none(base),
    };
    format!("{base} {} {}", model.theme.glyph(Glyph::Arrow), none(new))
}

/// How many rows a pane's list has.
#[must_use]
pub fn len(model: &Model, pane: Pane, width: usize) -> usize {
    match pane {
        Pane::Sessions => model.entries.len(),
        Pane::Transcript => model.rows.len(),
        Pane::Policy if !model.splits() => policy::len(model),
        Pane::Changes => changes::len(model),
        _ => lines(model, pane, width).len(),
    }
}

/// Empties an area, in the look of a role.
pub fn clear(buf: &mut Buffer, area: Rect, theme: &Theme, role: Role) {
    let area = area.intersection(buf.area);
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            if let Some(cell) = buf.cell_mut((x, y)) {
                cell.reset();
                cell.set_style(theme.ground(role));
            }
        }
    }
}

/// Whether anything on screen of a pane is cut at its right edge.
#[must_use]
pub fn is_cut(model: &Model, pane: Pane) -> bool {
    let layout = model.layout();
    let mut buf = Buffer::empty(Rect::new(0, 0, model.size.width, model.size.height));
    layout.pane(pane).is_some_and(|area| draw_pane(model, &mut buf, pane, area, &layout))
}

/// Draws a pane; gives whether anything of it is cut at the right.
fn draw_pane(model: &Model, buf: &mut Buffer, pane: Pane, area: Rect, layout: &Layout) -> bool {
    let focus = pane == model.focus && model.overlays.is_empty();
    let inner = layout.inner(pane).unwrap_or(area);
    if layout.framed() {
        let title = format!("{} {}{}", pane.number(), pane.title(), supposed::title(model, pane));
        paint::frame(buf, area, &model.theme, focus, &title, &note(model, pane));
    }
    let list = model.list(pane);
    let cut = match pane {
        Pane::Sessions => sessions::draw(model, buf, inner, focus),
        Pane::Transcript => transcript::draw(model, buf, inner, focus),
        Pane::Policy if !model.splits() => policy::draw(model, buf, inner, focus),
        Pane::Changes => changes::draw(model, buf, inner, focus),
        _ => {
            let lines = lines(model, pane, usize::from(inner.width));
            let cut = line::draw(model, pane, buf, inner, &lines, focus);
            line::draw_scroll(buf, area, layout.framed(), &model.theme, list, lines.len());
            return cut;
        }
    };
    // Below the list of sessions stands what is no part of it.
    let rows = rows(layout, pane).unwrap_or(inner);
    let beside = Rect { height: area.height - (inner.height - rows.height), ..area };
    line::draw_scroll(
        buf,
        beside,
        layout.framed(),
        &model.theme,
        list,
        len(model, pane, usize::from(inner.width)),
    );
    cut
}

#[cfg(test)]
mod tests;
