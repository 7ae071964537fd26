//! What is otherwise under the new version: groups by kind, origin and rule, newly allowed ones first, a row for each
//! change. Draws only the rows on screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::line::{Link, mark_of, place, place_not_taken, rule_place, tail};
use super::paint::Row;
use crate::compare::{Answer, At, Base, Change, Kind, Origin, RuleAt, Side, Stand};
use crate::engine::Verdict;
use crate::report::{diff, words};
use crate::session::Body;
use crate::workbench::layout::Pane;
use crate::workbench::model::changes::Group;
use crate::workbench::model::verdict::headline;
use crate::workbench::model::{ChangeRow, Model, Pair, overlay};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};

/// Draws the pane's rows into `inner`; gives whether any of them is cut at the right.
pub fn draw(model: &Model, buf: &mut Buffer, inner: Rect, focus: bool) -> bool {
    let mut cut = false;
    let list = model.list(Pane::Changes);
    let (width, height) = (usize::from(inner.width), usize::from(inner.height));
    let ys = inner.y..inner.bottom();
    let query = model.query.as_deref().filter(|_| focus);
    let shown = model.change_rows(list.top).take(height);
    let mut drawn = 0;
    for ((y, shown), at) in ys.clone().zip(shown).zip(list.top..) {
        let cursor = (focus && at == list.cursor).then_some(Role::Cursor);
        let row = match shown {
            ChangeRow::Group(group, count) => heading(model, group, count, width),
            ChangeRow::Change(entry, change) => one(model, entry, change, width, query),
        };
        cut |= row.is_cut();
        row.draw_under(buf, inner.x, y, cursor);
        drawn += 1;
    }
    // The row about all others may take what is left of the pane.
    let others = text::wrap(&rest(model), width, height - drawn, model.theme.marks());
    for (line, y) in others.into_iter().zip(ys.skip(drawn)) {
        let mut row = Row::new(&model.theme, width);
        row.shown(Role::TextDim, line);
        let cursor = (focus && list.cursor >= model.changes.rows()).then_some(Role::Cursor);
        row.draw_under(buf, inner.x, y, cursor);
    }
    cut
}

/// Rows of the pane: the changes under their headings, and one about all other sessions.
#[must_use]
pub fn len(model: &Model) -> usize {
    model.changes.rows() + 1
}

/// What stands beside the title: since when, or from which base.
#[must_use]
pub fn note(model: &Model) -> String {
    match (&model.changes.comparison, &model.compare.base) {
        (Some(_), Some(chosen)) => format!("from {}", chosen.name),
        (Some(_), None) => format!("since {}", model.changes.since),
        (None, _) => String::new(),
    }
}

/// What the row under the cursor points at: the rules that decide.
#[must_use]
pub fn link(model: &Model) -> Link {
    let pair = match model.change_rows(model.list(Pane::Changes).cursor).next() {
        Some(ChangeRow::Change(_, change)) => Pair { base: change.base.rule, new: change.new.rule },
        Some(ChangeRow::Group(group, _)) => group.rule.map(|rule| model.pair(rule)).unwrap_or_default(),
        None => Pair::default(),
    };
    Link { call: None, rule: pair.new, base: pair.base.filter(|_| model.splits()) }
}

/// A rule of either version, where it stands; in the base alone, that it does.
#[must_use]
pub fn rule_name(model: &Model, rule: RuleAt) -> Option<String> {
    let place = rule_place_of(model, rule)?;
    Some(match rule.side {
        Side::Base => format!("{place} of the base"),
        Side::New => place,
    })
}

fn rule_place_of(model: &Model, rule: RuleAt) -> Option<String> {
    Some(rule_place(model.comparison()?.side(rule.side)?.rules().get(rule.rule)?))
}

/// A row's text, for copying and searching.
#[must_use]
pub fn plain(model: &Model, at: usize) -> String {
    match model.change_rows(at).next() {
        Some(ChangeRow::Group(group, count)) => {
            let rule = group.rule.and_then(|rule| rule_name(model, rule)).unwrap_or_default();
            format!("{} {}", titled(group, count), rule)
        }
        Some(ChangeRow::Change(entry, change)) => {
            let name = model.entries.get(entry).map_or("", |entry| &*entry.name);
            let [base, new] = words_of(model, change);
            format!("{name} {} {base} > {new} {}", subject(change), origin_word(change))
        }
        None => rest(model),
    }
}

/// Columns from which a row has room for where a change comes from.
const ROOMY: usize = 60;
/// What a call shows that is stopped under both, otherwise than before.
const OTHER_REASON: &str = "other reason";

/// `newly allowed: 2 calls`, and of those that follow from others that they do.
fn titled(group: Group, count: usize) -> String {
    let downstream = match group.origin {
        _ if group.inferred => ", inferred",
        Origin::Downstream => ", downstream",
        Origin::Primary => "",
    };
    format!("{}: {}{downstream}", diff::title(group.kind), words::count(count as u64, diff::noun(group.kind)))
}

fn heading(model: &Model, group: Group, count: usize, width: usize) -> Row<'_> {
    let mut row = Row::new(&model.theme, width);
    row.put(Role::TextStrong, &titled(group, count));
    let rule = match group.rule {
        Some(rule) => rule_name(model, rule).unwrap_or_default(),
        None if group.kind == Kind::OutcomeChanged => "the session's status".to_owned(),
        None => "refused in the recording".to_owned(),
    };
    let room = row.left().saturating_sub(2);
    let of_base = group.rule.filter(|of| of.side == Side::Base && rule.chars().count() > room);
    match of_base.and_then(|rule| rule_place_of(model, rule)) {
        // Where there is little room, the rule matters more than the words for whose it is.
        Some(place) if room >= 8 => {
            let (role, glyph) = mark_of(Side::Base);
            row.gap(2).glyph(role, glyph);
            let place = tail(&place, row.left(), model.theme.marks());
            row.put(Role::TextDim, &place);
        }
        _ if room >= 6 => {
            row.gap(2).put(Role::TextDim, &tail(&rule, room, model.theme.marks()));
        }
        _ => {}
    }
    row
}

fn one<'m>(model: &'m Model, entry: usize, change: &Change, width: usize, query: Option<&str>) -> Row<'m> {
    let mut row = Row::new(&model.theme, width);
    let (role, glyph) = sign(change);
    row.glyph(role, glyph).gap(1);
    // What it was and what it is must be seen; what is cut are names, of a session's the beginning.
    let [base, new] = words_of(model, change);
    let same = change.kind == Kind::OtherReason;
    let end = if same { OTHER_REASON.len() } else { base.len() + new.len() + 3 };
    let origin = if width >= ROOMY { 2 + "downstream".len() } else { 0 };
    let room = row.left().saturating_sub(end + origin + 1);
    let name = model.entries.get(entry).map_or("", |entry| &*entry.name);
    let subject = match called(model, entry, change) {
        Some((tool, arguments)) => {
            // A session's name needs no more than a third.
            let place = match change.at {
                At::Alternative(at) => place_not_taken(at),
                at => at.call().map(place).unwrap_or_default(),
            };
            let most = room.saturating_sub(name.len().min(room / 3) + place.len() + 2);
            let shown = words::call::in_line(tool, arguments, most, model.theme.marks());
            format!("{place} {}", if most < NARROW { tool.to_owned() } else { shown.text() })
        }
        None => subject(change),
    };
    // The rule of the heading often says the tool, nothing else says the session.
    let columns = text::width(&subject, model.theme.marks(), room);
    let most = (room / 3).max(room.saturating_sub(columns + 1));
    row.put_found(Role::Text, &tail(name, most, model.theme.marks()), query, false).gap(1);
    let names = 2 + room;
    row = row.within(names);
    row.put_found(Role::TextStrong, &subject, query, false);
    row = row.within(width);
    row.to(names + 1);
    if same {
        row.put(role, OTHER_REASON);
    } else {
        row.put(Role::TextDim, &base).put(Role::TextDim, " > ").put(role, &new);
    }
    if origin > 0 {
        row.gap(2).put(Role::TextDim, origin_word(change));
    }
    row
}

/// Columns in which there is no room for more of a call than its tool.
const NARROW: usize = 24;

/// The call that a change is about.
fn called<'m>(model: &'m Model, entry: usize, change: &Change) -> Option<(&'m str, &'m Body)> {
    overlay::called(model.entries.get(entry)?.session.as_ref()?, change.at)
}

/// The call, the turn's tool or the end that it is about.
fn subject(change: &Change) -> String {
    let tool = change.tool.as_deref().unwrap_or_default();
    match change.at {
        At::Call(call) => format!("{} {tool}", place(call)),
        At::Alternative(other) => format!("T{} choice {} {tool}", other.turn, other.choice),
        At::Turn(turn) => format!("T{turn} {tool}"),
        At::End => "at the end".to_owned(),
    }
}

/// What the base and the new version decide, in a word each: stops in capitals, as everywhere. In shadow no version
/// stops anything; what a recording refused was refused in any mode.
#[must_use]
pub fn words_of(model: &Model, change: &Change) -> [String; 2] {
    let word = |stand: Stand| match stand.answer {
        Answer::Call(verdict) if verdict.stops() => headline(verdict, model.mode),
        Answer::Call(Verdict::NotReached) => "not reached".to_owned(),
        other => other.word().unwrap_or("no rule").to_owned(),
    };
    let refused = change.base.answer == Answer::Call(Verdict::Deny)
        && model.comparison().is_some_and(|comparison| matches!(comparison.base(), Base::Recorded));
    [if refused { "refused".to_owned() } else { word(change.base) }, word(change.new)]
}

/// What makes a change count for less, if anything does.
#[must_use]
pub fn origin_word(change: &Change) -> &'static str {
    if change.inferred { "inferred" } else { change.origin.word() }
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
        return "no edit yet, and no base: what changes is listed here".to_owned();
    }
    let (compared, unchanged) = model.changes.counts();
    let all = model.session_count();
    if compared < all {
        return format!("compared {compared} of {}", words::count(all as u64, "session"));
    }
    let inferred: usize =
        model.changes.groups().filter(|(group, _)| group.inferred).map(|(_, count)| count).sum();
    let apart = match inferred {
        0 => String::new(),
        turns => format!("; inferred tools in {}", words::count(turns as u64, "turn")),
    };
    format!("{} unchanged{apart}", words::count(unchanged as u64, "session"))
}
