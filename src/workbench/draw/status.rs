//! The lines above and below the panes: position and counts, numbers of panes, problems.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::files::watch::{ChangedFiles, Way};
use crate::workbench::keys::Command;
use crate::workbench::layout::{Layout, MEDIUM, NARROW, Pane};
use crate::workbench::line::{place, problem_place};
use crate::workbench::model::{Model, SessionVerdict};
use crate::workbench::paint::{Row, tail};
use crate::workbench::pane::part::supposed;
use crate::workbench::pane::tabs as tabs_of;
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role, Theme};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// Columns from which the header names the program and the policy.
const ROOMY: u16 = 100;
/// Columns from which it has room for long names and for what the policy holds.
const WHOLE: u16 = 110;
/// Columns of the supposed changes before the session's name.
const LABEL: usize = 12;
/// Columns that are kept for the beginning of the session's name, with a blank at either end.
const NAMED: usize = 5;
/// Fewest columns in which a base is identifiable.
const SHORTEST: usize = 4;
/// Columns from which an id is whole.
const LARGE: u16 = 180;

/// Draws the line at the top.
pub fn header(model: &Model, buf: &mut Buffer, area: Rect) {
    let theme = &model.theme;
    let width = usize::from(area.width);
    let (counted, label) = (verdicts(model), supposed::label(model));
    let sample = if model.archive.built_in.sessions { " sample" } else { "" };
    let position = format!("{sample} {}/{}", model.place.open + 1, model.archive.entries.len());
    let turn = model.turn().zip(model.session()).map(|(turn, session)| {
        let (gap, word) = if area.width >= MEDIUM.width { (2, "turn ") } else { (1, "T") };
        (gap, format!("{word}{}/{}", turn.number, session.turns.len()))
    });
    // The place, and that this is not the recording, matter more than names.
    let beside = position.len()
        + label.as_ref().map_or(0, |label| label.chars().count().min(LABEL) + 1)
        + turn.as_ref().map_or(0, |(gap, turn)| gap + turn.len());
    let mut right = basis(model, area.width, width.saturating_sub(counted.used() + beside + NAMED));
    right.append(counted);
    let mut row = Row::new(theme, width.saturating_sub(right.used() + 1));
    row.gap(1);
    let roomy = area.width >= ROOMY;
    if roomy {
        row.put(Role::StatusStrong, "rulestep").gap(2);
    }
    if let Some(entry) = model.entry() {
        let most = match roomy {
            true if area.width >= LARGE => 90,
            true if area.width >= WHOLE => 36,
            true => 24,
            false => 18.min(width / 3),
        };
        let called = entry.called(&model.archive.names);
        let name = match called {
            Cow::Owned(_) if area.width >= LARGE => {
                Cow::Owned(format!("{} {}", entry.row.title(&model.archive.names), entry.name))
            }
            called => called,
        };
        row.shown(
            Role::StatusStrong,
            text::ends(&name, most.min(row.left().saturating_sub(beside).max(3)), theme.marks()),
        );
        row.put(Role::Status, &position);
        // If the list is not on screen, nothing else says that parts of the file are lost.
        let listed = model.layout().pane(Pane::Sessions).is_some();
        let damaged = if listed { 0 } else { model.archive.files.held(&entry.file).problems };
        if damaged > 0 {
            row.put(Role::StatusProblem, &format!(" {}{damaged}", theme.glyph(Glyph::Problem)));
        }
    } else {
        row.put(Role::Status, if model.work.reading.is_some() { "reading sessions" } else { "no session" });
    }
    if let Some(label) = label.filter(|_| row.left() > 2) {
        row.gap(1).put(Role::StatusProblem, &label);
    }
    // A text for which there is no room would cut the one before it.
    if let Some((gap, turn)) = turn.filter(|(gap, turn)| row.left() >= gap + turn.len()) {
        row.gap(gap).put(Role::Status, &turn);
    }
    let call = model.call().zip(model.session()).filter(|_| area.width >= MEDIUM.width);
    let call = call.map(|(call, session)| format!(" call {}/{}", call.at.index + 1, session.calls.len()));
    if let Some(call) = call.filter(|call| row.left() >= call.len()) {
        row.put(Role::Status, &call);
    }
    if roomy {
        row.gap(2);
        if model.basis.rules.none() {
            row.put(Role::StatusProblem, "no policy");
        } else {
            row.put_at_most(Role::Status, &model.basis.name, 30);
            if area.width >= WHOLE {
                documents(model, &mut row);
            }
        }
    }
    if area.width >= MEDIUM.width {
        live(model, &mut row);
    }
    row.draw(buf, area.x, area.y);
    let x = area.right().saturating_sub(u16::try_from(right.used()).unwrap_or(0));
    right.draw(buf, x.max(area.x), area.y);
}

/// What the counts after it depend on, so that nothing before it pushes it off the line: the mode (with little room
/// only shadow), and the chosen base, as far as there is room for it in `free` columns: pane 8 has it as well.
fn basis(model: &Model, width: u16, free: usize) -> Row<'_> {
    let mut row = Row::new(&model.theme, usize::from(width));
    if width >= MEDIUM.width || model.basis.mode == Mode::Shadow {
        row.put(Role::StatusStrong, model.basis.mode.word()).gap(1);
    }
    let (word, role, name) = match (&model.basis.compare.reading, &model.basis.compare.base) {
        (Some(name), _) => ("reading base ", Role::StatusNote, name),
        (None, Some(chosen)) => ("base ", Role::StatusStrong, &chosen.name),
        (None, None) => return row,
    };
    let most = free.saturating_sub(row.used() + word.len() + 1).min(usize::from(width) / 5);
    if most >= SHORTEST {
        let own = if role == Role::StatusNote { role } else { Role::Status };
        row.put(own, word).put_at_most(role, name, most).gap(1);
    }
    row
}

/// Whether edits are picked up, and when the version that decides was.
fn live(model: &Model, row: &mut Row<'_>) {
    let Some(way) = model.basis.live.way else { return };
    if model.basis.live.off {
        row.gap(2).put(Role::StatusNote, "live off");
        if model.basis.live.missed != ChangedFiles::default() {
            row.put(Role::StatusProblem, ", edits wait");
        }
        return;
    }
    let word = match way {
        Way::System => "live",
        Way::Polling(_) => "polling",
    };
    // The default is not worth cutting the text before it.
    if row.left() < word.len() + 2 {
        return;
    }
    row.gap(2).put(Role::Status, word);
    // Half a time says nothing.
    if row.left() > model.basis.rules.since.len() {
        row.gap(1).put(Role::Status, &model.basis.rules.since);
    }
}

fn documents(model: &Model, row: &mut Row<'_>) {
    let documents = model.basis.rules.documents.len();
    let rules = model.basis.rules.policy.as_ref().map_or(0, |policy| policy.rules().len());
    let (s, t) = (if documents == 1 { "" } else { "s" }, if rules == 1 { "" } else { "s" });
    row.put(Role::Status, &format!(" {documents} doc{s} {rules} rule{t}"));
}

/// Stopped or violated, stopped hypothetically, reported, allowed: of the open session.
fn verdicts(model: &Model) -> Row<'_> {
    let mut row = Row::new(&model.theme, 60);
    warnings(model, &mut row);
    cases(model, &mut row);
    // Of the what-if, if there is one; the list of sessions has those of the recording.
    let Some(replay) = model.replay() else { return row };
    counts(&mut row, model, replay);
    row.gap(1);
    row
}

/// The number of warnings about the policy, which decides all the same, and the key that lists them.
fn warnings(model: &Model, row: &mut Row<'_>) {
    let count = model.policy_warnings();
    if count == 0 {
        return;
    }
    let key = model.key(Command::Problems);
    let text = match (model.size.width >= ROOMY, count) {
        (true, 1) => format!("{key} 1 warning"),
        (true, count) => format!("{key} {count} warnings"),
        (false, count) => format!("{key}{count}"),
    };
    row.put(Role::StatusProblem, &text).put(Role::Status, " ").glyph(Role::Border, Glyph::Between).gap(1);
}

/// The number of cases that pass; with little room, only of those that do not.
fn cases(model: &Model, row: &mut Row<'_>) {
    let (cases, roomy) = (&model.basis.cases, model.size.width >= ROOMY);
    let mut parts = cases
        .counts()
        .parts()
        .filter(|(_, glyph, ..)| roomy || matches!(glyph, Glyph::Problem | Glyph::Deny))
        .peekable();
    if parts.peek().is_none() {
        return;
    }
    let word = if model.size.width >= MEDIUM.width { "cases" } else { "case" };
    row.put(Role::Status, word);
    for (role, glyph, count, _) in parts {
        row.put(role, &format!(" {}{count}", model.theme.glyph(glyph)));
    }
    if cases.is_asked() {
        row.put(Role::StatusNote, model.theme.marks().ellipsis());
    }
    row.put(Role::Status, " ").glyph(Role::Border, Glyph::Between);
}

/// The counts of the open session, and the number of lost parts of its recording, about which there are no decisions.
fn counts(row: &mut Row<'_>, model: &Model, replay: &Replay) {
    let theme: &Theme = row.theme();
    let (summary, verdict) = (replay.summary(), SessionVerdict::of(replay));
    let damaged = model.entry().map_or(0, |entry| entry.damaged() as u64);
    let parts = [
        (Role::StatusProblem, Glyph::Problem, damaged, false),
        (Role::VerdictDeny, Glyph::Deny, verdict.against(), true),
        (Role::VerdictAfter, Glyph::After, verdict.after, false),
        (Role::VerdictReport, Glyph::Ask, summary.ask, false),
        (Role::VerdictReport, Glyph::Report, verdict.reports(), false),
        (Role::VerdictAllow, Glyph::Allow, summary.allow.saturating_sub(replay.reported()), true),
        (Role::VerdictNone, Glyph::None, summary.not_reached, false),
        (Role::Disagree, Glyph::Disagree, summary.disagree, false),
    ];
    for (role, glyph, count, always) in parts {
        if always || count > 0 {
            let role = if count == 0 { Role::TextDim } else { role };
            row.put(role, &format!(" {}{count}", theme.glyph(glyph)));
        }
    }
}

/// Draws the numbers and short names of all panes, the ones that are seen marked; of the names as much as there is room
/// for.
pub fn tabs(model: &Model, buf: &mut Buffer, area: Rect, layout: &Layout) {
    let mut row = Row::new(&model.theme, usize::from(area.width));
    for (pane, text) in tabs_of(area.width, model, layout) {
        let seen = layout.pane(pane).is_some();
        let role = match (seen, pane == model.place.focus) {
            (true, true) => Role::TitleFocus,
            (true, false) => Role::Title,
            _ => Role::TextDim,
        };
        row.put(role, &text);
        row.gap(1);
    }
    let note = model.place.focus.note(model);
    if !layout.framed() && row.left() > 1 {
        row.gap(1);
        let note = tail(&note, row.left(), model.theme.marks());
        row.put(Role::TextDim, &note);
    }
    row.draw(buf, area.x, area.y);
}

/// Draws the policy's error, its place, and which version decides instead.
pub fn problem(model: &Model, buf: &mut Buffer, area: Rect) {
    let mut row = Row::new(&model.theme, usize::from(area.width));
    row.gap(1).put(Role::StatusProblem, model.theme.glyph(Glyph::Problem)).gap(1);
    let rules = &model.basis.rules;
    let of_policy = rules.read && (rules.stale || rules.policy.is_none());
    let all = if of_policy { rules.problems.len() } else { model.preferences.problems.len() };
    let since = &model.basis.rules.since;
    let decides = match (model.basis.rules.policy.is_some(), area.width >= ROOMY) {
        _ if !of_policy && area.width >= MEDIUM.width => "the other settings hold".to_owned(),
        _ if !of_policy => String::new(),
        (true, true) => format!("the policy of {since} decides"),
        (true, false) => format!("policy of {since}"),
        (false, _) if model.basis.rules.none() => "not judged: no policy".to_owned(),
        (false, true) => "nothing is judged".to_owned(),
        (false, false) => "not judged".to_owned(),
    };
    let mut end = format!("  {decides}");
    if area.width >= MEDIUM.width {
        let what = if all == 1 { "shows it".to_owned() } else { format!("lists all {all}") };
        end.push_str(&format!("  {} {what}", model.key(Command::Problems)));
    }
    let first = if of_policy { rules.first_problem() } else { model.preferences.problems.first() };
    if let Some(problem) = first {
        let room = row.left().saturating_sub(end.len());
        let mut place = problem_place(problem);
        // The place is cut at its beginning, the cause at its end.
        let marks = model.theme.marks();
        if text::width(&place, marks, room) + problem.message.len() + 1 > room {
            place = tail(&place, room * 3 / 5, marks);
        }
        let end = row.used() + room;
        row.put_at_most(Role::StatusProblem, &place, room);
        let left = end.saturating_sub(row.used() + 1);
        if left > 0 {
            row.gap(1).put_at_most(Role::StatusProblem, &problem.message, left);
        }
    }
    row.put(Role::Status, &end);
    row.draw(buf, area.x, area.y);
}

/// Draws on a terminal that is too small for panes.
pub fn too_small(model: &Model, buf: &mut Buffer, layout: &Layout) {
    let mut row = Row::new(&model.theme, usize::from(layout.header.width));
    let size = model.size;
    let text = format!("{}x{} needed, this is {}x{}", NARROW.width, NARROW.height, size.width, size.height);
    row.put(Role::StatusProblem, &text);
    row.draw(buf, layout.header.x, layout.header.y);
    if let Some(area) = layout.footer {
        let mut row = Row::new(&model.theme, usize::from(area.width));
        if let Some(at) = model.call().map(|call| call.at) {
            row.put(
                Role::Status,
                &format!("{}/{} {}", model.place.open + 1, model.archive.entries.len(), place(at)),
            );
        }
        if let Some(replay) = model.replay() {
            counts(&mut row, model, replay);
        }
        row.gap(1);
        cases(model, &mut row);
        row.draw(buf, area.x, area.y);
    }
    if let Some(area) = layout.problem {
        problem(model, buf, area);
    }
}
