//! The lines above and below the panes: position and counts, numbers of panes, what is wrong, keys.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::line::{place, tail};
use super::paint::Row;
use crate::diagnostic::Diagnostic;
use crate::files::watch::{Touched, Way};
use crate::replay::Replay;
use crate::workbench::keys::{Command, Scope};
use crate::workbench::layout::{Layout, MEDIUM, NARROW, Pane, Shape};
use crate::workbench::model::supposed::Ask;
use crate::workbench::model::verdict::stopped_word;
use crate::workbench::model::{Model, Overlay, Prompt, SessionVerdict};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role, Theme};

/// Columns from which the header names the program and the policy.
const ROOMY: u16 = 100;
/// Columns from which it has room for long names and for what the policy holds.
const WHOLE: u16 = 110;

/// Draws the line at the top.
pub fn header(model: &Model, buf: &mut Buffer, area: Rect) {
    let theme = &model.theme;
    let width = usize::from(area.width);
    let right = verdicts(model);
    let mut row = Row::new(theme, width.saturating_sub(right.used() + 1));
    row.gap(1);
    let roomy = area.width >= ROOMY;
    if roomy {
        row.put(Role::StatusStrong, "rulestep").gap(2);
    }
    if let Some(entry) = model.entry() {
        let most = match roomy {
            true if area.width >= WHOLE => 36,
            true => 24,
            false => 18.min(width / 3),
        };
        row.shown(Role::StatusStrong, text::ends(&entry.name, most.min(row.left()), theme.marks()));
        let sample = if model.built_in.sessions { " sample" } else { "" };
        row.put(Role::Status, &format!("{sample} {}/{}", model.open + 1, model.entries.len()));
    } else {
        row.put(Role::Status, if model.reading.is_some() { "reading sessions" } else { "no session" });
    }
    if let Some(label) = super::supposed::label(model) {
        row.gap(1).put(Role::StatusProblem, &label);
    }
    if let (Some(turn), Some(session)) = (model.turn(), model.session()) {
        let (number, turns) = (turn.number, session.turns.len());
        if area.width >= MEDIUM.width {
            row.gap(2).put(Role::Status, &format!("turn {number}/{turns}"));
        } else {
            row.gap(1).put(Role::Status, &format!("T{number}/{turns}"));
        }
        if let Some(call) = model.call().filter(|_| area.width >= MEDIUM.width) {
            row.put(Role::Status, &format!(" call {}/{}", call.at.index + 1, session.calls.len()));
        }
    }
    if roomy {
        row.gap(2);
        if model.rules.none() {
            row.put(Role::StatusProblem, "no policy");
        } else {
            row.put_at_most(Role::Status, &model.policy_name, 30);
            if area.width >= WHOLE {
                documents(model, &mut row);
            }
        }
    }
    if area.width >= MEDIUM.width {
        row.gap(2).put(Role::StatusStrong, model.mode.word());
    }
    against(model, &mut row);
    if area.width >= MEDIUM.width {
        live(model, &mut row);
    }
    row.draw(buf, area.x, area.y);
    let x = area.right().saturating_sub(u16::try_from(right.used()).unwrap_or(0));
    right.draw(buf, x.max(area.x), area.y);
}

/// The base that was chosen.
fn against(model: &Model, row: &mut Row<'_>) {
    if let Some(name) = &model.compare.reading {
        row.gap(2).put(Role::StatusNote, &format!("reading base {name}"));
    } else if let Some(chosen) = &model.compare.base {
        row.gap(2).put(Role::Status, "base ").put_at_most(Role::StatusStrong, &chosen.name, 30);
    }
}

/// Whether edits are picked up, and when the version that decides was.
fn live(model: &Model, row: &mut Row<'_>) {
    let Some(way) = model.live.way else { return };
    row.gap(2);
    if model.live.off {
        row.put(Role::StatusNote, "live off");
        if model.live.missed != Touched::default() {
            row.put(Role::StatusProblem, ", edits wait");
        }
        return;
    }
    let word = match way {
        Way::System => "live",
        Way::Polling(_) => "polling",
    };
    row.put(Role::Status, word).gap(1).put(Role::Status, &model.rules.since);
}

fn documents(model: &Model, row: &mut Row<'_>) {
    let documents = model.rules.documents.len();
    let rules = model.rules.policy.as_ref().map_or(0, |policy| policy.rules().len());
    let (s, t) = (if documents == 1 { "" } else { "s" }, if rules == 1 { "" } else { "s" });
    row.put(Role::Status, &format!(" {documents} doc{s} {rules} rule{t}"));
}

/// Stopped or violated, stopped hypothetically, allowed: of the open session.
fn verdicts(model: &Model) -> Row<'_> {
    let mut row = Row::new(&model.theme, 40);
    // Of what is supposed, where something is; the list of sessions has those of the recording.
    let Some(replay) = model.replay() else { return row };
    counts(&mut row, replay);
    row.gap(1);
    row
}

fn counts(row: &mut Row<'_>, replay: &Replay) {
    let theme: &Theme = row.theme();
    let (summary, verdict) = (replay.summary(), SessionVerdict::of(replay));
    let parts = [
        (Role::VerdictDeny, Glyph::Deny, verdict.against(), true),
        (Role::VerdictAfter, Glyph::After, verdict.after, false),
        (Role::VerdictAllow, Glyph::Allow, summary.allow, true),
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
    let beside = layout.shape == Shape::Medium && !model.zoom;
    let panes = || Pane::ALL.into_iter().filter(move |pane| !beside || *pane != Pane::Transcript);
    let tab = |pane: Pane, letters: usize| {
        format!("{}{}", pane.number(), pane.short().chars().take(letters).collect::<String>())
    };
    let fits =
        |letters: &usize| panes().map(|pane| tab(pane, *letters).len() + 1).sum::<usize>() <= row.left() + 1;
    let letters = [5, 3, 2].into_iter().find(fits).unwrap_or(0);
    for pane in panes() {
        let seen = layout.pane(pane).is_some();
        let role = match (seen, pane == model.focus) {
            (true, true) => Role::TitleFocus,
            (true, false) => Role::Title,
            _ => Role::TextDim,
        };
        row.put(role, &tab(pane, letters));
        row.gap(1);
    }
    let note = super::note(model, model.focus);
    if !layout.framed() && row.left() > 1 {
        row.gap(1);
        let note = tail(&note, row.left(), model.theme.marks());
        row.put(Role::TextDim, &note);
    }
    row.draw(buf, area.x, area.y);
}

/// Draws what is wrong with the policy, where, and which version decides instead.
pub fn problem(model: &Model, buf: &mut Buffer, area: Rect) {
    let mut row = Row::new(&model.theme, usize::from(area.width));
    row.gap(1).put(Role::StatusProblem, model.theme.glyph(Glyph::Problem)).gap(1);
    let all = model.rules.problems.len();
    let since = &model.rules.since;
    let decides = match (model.rules.policy.is_some(), area.width >= ROOMY) {
        (true, true) => format!("the policy of {since} decides"),
        (true, false) => format!("policy of {since}"),
        (false, _) if model.rules.none() => "not judged: no policy".to_owned(),
        (false, true) => "nothing is judged".to_owned(),
        (false, false) => "not judged".to_owned(),
    };
    let mut end = format!("  {decides}");
    if area.width >= MEDIUM.width {
        let what = if all == 1 { "shows it".to_owned() } else { format!("lists all {all}") };
        end.push_str(&format!("  {} {what}", Command::Problems.key()));
    }
    if let Some(problem) = model.rules.first_problem() {
        let room = row.left().saturating_sub(end.len());
        let mut place = problem_place(problem);
        // Of the place what is cut is its beginning, of the cause its end.
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

/// Where a problem is: `contracts/issue_refund.yaml:4:5`; empty where it has no place.
#[must_use]
pub fn problem_place(problem: &Diagnostic) -> String {
    let Some(place) = problem.place() else { return String::new() };
    match (place.position(), place.line()) {
        (Some(position), _) => format!("{}:{position}", place.file()),
        (None, Some(line)) => format!("{}:{line}", place.file()),
        (None, None) => format!("{}:", place.file()),
    }
}

/// Draws the line at the bottom; gives where the text cursor is, while text is typed.
pub fn footer(model: &Model, buf: &mut Buffer, area: Rect) -> Option<Position> {
    let theme = &model.theme;
    let width = usize::from(area.width);
    let work = work(model);
    let room = width.saturating_sub(if work.is_empty() { 0 } else { work.len() + 2 });
    let mut row = Row::new(theme, room);
    row.gap(1);
    let mut cursor = None;
    if let Some((prompt, ask)) = model.prompt.as_ref().and_then(|prompt| Some((prompt, prompt.ask.as_ref()?)))
    {
        cursor = asking(model, prompt, ask, &mut row).map(|at| Position::new(area.x + at, area.y));
    } else if let Some(prompt) = &model.prompt {
        row.put(Role::Key, "/");
        let (role, hint) = match &prompt.cut {
            Some(cut) => (Role::StatusProblem, cut.as_str()),
            None => (Role::KeyDoc, "Enter keeps, Esc goes back"),
        };
        // Where it is short of room, what was cut is said all the same.
        let kept = if prompt.cut.is_some() { hint.len() + 3 } else { 0 };
        let at = put_typed(prompt, &mut row, kept);
        cursor = Some(Position::new(area.x + u16::try_from(at).unwrap_or(0), area.y));
        row.gap(3).put(role, hint);
    } else if let Some(note) = &model.note {
        row.put(if note.failed { Role::StatusProblem } else { Role::StatusNote }, &note.text);
    } else if !model.pending.is_empty() {
        row.put(Role::Key, &crate::workbench::keys::chord::spell(&model.pending));
        row.gap(1).put(Role::KeyDoc, "waits for one more key");
    } else {
        hints(model, &mut row);
    }
    row.draw(buf, area.x, area.y);
    if !work.is_empty() {
        let mut row = Row::new(theme, work.len() + 1);
        row.put(Role::StatusNote, &work);
        row.draw(
            buf,
            area.right().saturating_sub(u16::try_from(work.len() + 1).unwrap_or(0)).max(area.x),
            area.y,
        );
    }
    cursor
}

/// A line that is typed for something: of a long text the part around the cursor. Gives the column of that.
fn asking(model: &Model, prompt: &Prompt, ask: &Ask, row: &mut Row<'_>) -> Option<u16> {
    const HINT: &str = "  Enter, Esc";
    const EDITOR: &str = ", Ctrl-x editor";
    let typed = text::width(prompt.input.value(), model.theme.marks(), row.left());
    let most = (row.left() * 2 / 5).max(row.left().saturating_sub(typed + 4));
    match &prompt.refused {
        Some(why) => row.put_at_most(Role::StatusProblem, why, most),
        None => row.put_at_most(Role::Key, &crate::workbench::update::asking_label(model, ask), most),
    };
    row.put(Role::Key, ": ");
    let (role, hint) = match (row.left(), ask, &prompt.cut) {
        (_, _, Some(cut)) => (Role::StatusProblem, format!("  {cut}")),
        (60.., Ask::Save | Ask::Base, _) | (40..=59, ..) => (Role::KeyDoc, HINT.to_owned()),
        (60.., ..) => (Role::KeyDoc, format!("{HINT}{EDITOR}")),
        _ => (Role::KeyDoc, String::new()),
    };
    let end = row.used() + row.left().saturating_sub(hint.len());
    let at = put_typed(prompt, row, hint.len());
    row.to(end).put(role, &hint);
    u16::try_from(at).ok()
}

/// Puts what was typed, leaving `kept` columns: of a long text the part around the cursor. Gives the cursor's column.
fn put_typed(prompt: &Prompt, row: &mut Row<'_>, kept: usize) -> usize {
    let (marks, room) = (row.theme().marks(), row.left().saturating_sub(kept));
    let value = prompt.input.value();
    let split = value.char_indices().nth(prompt.input.cursor()).map_or(value.len(), |(at, _)| at);
    let (before, rest) = value.split_at(split);
    let before = if text::width(before, marks, room + 1) >= room {
        tail_of(before, room * 2 / 3, marks)
    } else {
        before.to_owned()
    };
    let at = row.used() + text::width(&before, marks, room);
    row.put_at_most(Role::Text, &format!("{before}{rest}"), room);
    at
}

/// The end of a text that fits, with a mark before it. It is looked for from the end on: the text may be a long paste.
fn tail_of(value: &str, room: usize, marks: text::Marks) -> String {
    let ends = value.char_indices().rev().map(|(at, _)| value.get(at..).unwrap_or_default());
    let fitting = ends.take_while(|end| text::width(end, marks, room + 1) < room);
    format!("{}{}", marks.ellipsis(), fitting.last().unwrap_or_default())
}

/// Work under way, in a few words.
fn work(model: &Model) -> String {
    if model.looking.is_some() {
        return "looking for a witness".to_owned();
    }
    if let Some((done, all)) = model.reading {
        return if all == 0 { "reading".to_owned() } else { format!("reading {done}/{all}") };
    }
    let compared = model.changes.counts().0;
    match model.judging() {
        Some((done, all)) => format!("judging {done}/{all}"),
        None if model.comparison().is_some() && compared < model.session_count() => {
            format!("comparing {compared}/{}", model.session_count())
        }
        None => String::new(),
    }
}

/// The keys most wanted here, each pair with one word.
fn hints(model: &Model, row: &mut Row<'_>) {
    use Command as C;
    let scope = model.overlays.last().map_or(Scope::Panes, Overlay::scope);
    if let Some(Overlay::Problems(_) | Overlay::Loads(_)) = model.overlays.last() {
        let word = if matches!(model.overlays.last(), Some(Overlay::Loads(_))) { "compare" } else { "edit" };
        row.put(Role::Key, C::Open.key()).gap(1).put(Role::KeyDoc, word).gap(2);
        row.put(Role::Key, C::Quit.key()).gap(1).put(Role::KeyDoc, "close");
        return;
    }
    let wanted: &[(&[Command], &str)] = match (scope, model.focus) {
        (Scope::Body, _) => &[
            (&[C::CopyPath], "copy path"),
            (&[C::Fold], "fold"),
            (&[C::FoldAll, C::UnfoldAll], "all"),
            (&[C::NextBody, C::PreviousBody], "next"),
            (&[C::Search], "search"),
            (&[C::CopyJson], "copy"),
            (&[C::Quit], "close"),
        ],
        (Scope::Findings, _) if nothing_found(model) => &[(&[C::Quit], "close")],
        (Scope::Findings, _) => &[
            (&[C::Open], "go there"),
            (&[C::GroupBy], "group"),
            (&[C::Search], "filter"),
            (&[C::CopyRule], "copy rule"),
            (&[C::Quit], "close"),
        ],
        (Scope::Texts, _) => &[
            (&[C::NextHunk, C::PreviousHunk], "hunk"),
            (&[C::Open], "to its changes"),
            (&[C::Edit], "edit"),
            (&[C::Quit], "close"),
        ],
        (Scope::Help, _) => &[(&[C::Open], "run it"), (&[C::Search], "filter"), (&[C::Quit], "close")],
        (_, Pane::Sessions) => &[
            (&[C::NextCall, C::PreviousCall], "session"),
            (&[C::NextStop], stopped_word(model.mode)),
            (&[C::Open], "open"),
            (&[C::Findings], "findings"),
            (&[C::NextPane], "pane"),
            (&[C::Edit], "edit"),
            (&[C::Mode], "mode"),
            (&[C::Help], "help"),
            (&[C::Quit], "quit"),
        ],
        (_, Pane::Transcript) => &[
            (&[C::NextCall, C::PreviousCall], "call"),
            (&[C::NextTurn, C::PreviousTurn], "turn"),
            (&[C::NextFinding], "finding"),
            (&[C::NextChange], "change"),
            (&[C::Cause], "cause"),
            (&[C::WhatIfUndo], "take back"),
            (&[C::Body], "body"),
            (&[C::NextPane], "pane"),
            (&[C::Search], "search"),
            (&[C::Edit], "edit"),
            (&[C::Mode], "mode"),
            (&[C::Witness], "witness"),
            (&[C::Save], "save"),
            (&[C::WhatIfArguments], "what if"),
            (&[C::Right], "sideways"),
            (&[C::Zoom], "zoom"),
            (&[C::Help], "help"),
            (&[C::Quit], "quit"),
        ],
        (_, Pane::Changes) if model.changes.is_empty() => &[
            (&[C::NextPane], "pane"),
            (&[C::Base], "base"),
            (&[C::Edit], "edit"),
            (&[C::Live], "live"),
            (&[C::Zoom], "zoom"),
            (&[C::Help], "help"),
            (&[C::Quit], "quit"),
        ],
        (_, Pane::Changes) => &[
            (&[C::NextCall, C::PreviousCall], "change"),
            (&[C::Open], "go there"),
            (&[C::Texts], "text"),
            (&[C::Witness], "witness"),
            (&[C::NextPane], "pane"),
            (&[C::Search], "search"),
            (&[C::Base], "base"),
            (&[C::Edit], "edit"),
            (&[C::Live], "live"),
            (&[C::Zoom], "zoom"),
            (&[C::Help], "help"),
            (&[C::Quit], "quit"),
        ],
        (_, Pane::Policy) => &[
            (&[C::NextCall, C::PreviousCall], "line"),
            (&[C::NextTurn, C::PreviousTurn], "turn"),
            (&[C::NextFinding], "finding"),
            (&[C::NextPane], "pane"),
            (&[C::Right], "sideways"),
            (&[C::Search], "search"),
            (&[C::Edit], "edit"),
            (&[C::CopyRule], "copy rule"),
            (&[C::Zoom], "zoom"),
            (&[C::Help], "help"),
            (&[C::Quit], "quit"),
        ],
        _ => &[
            (&[C::NextCall, C::PreviousCall], "row"),
            (&[C::NextTurn, C::PreviousTurn], "turn"),
            (&[C::NextFinding], "finding"),
            (&[C::Open], "go there"),
            (&[C::NextPane], "pane"),
            (&[C::Right], "sideways"),
            (&[C::Edit], "edit"),
            (&[C::Zoom], "zoom"),
            (&[C::Help], "help"),
            (&[C::Quit], "quit"),
        ],
    };
    let facts = model.facts();
    let edit = match model.editable() {
        Some(target) if target.recording => "edit recording",
        _ => "edit rule",
    };
    let usable: Vec<(String, &str)> = wanted
        .iter()
        .filter(|(commands, _)| commands.iter().all(|command| (command.row().missing)(&facts).is_none()))
        .map(|(commands, word)| {
            let word = if *commands == [C::Edit] { edit } else { *word };
            let keys: Vec<&str> = commands.iter().map(|command| command.key()).collect();
            (keys.join("/"), word)
        })
        .collect();
    // The way to help and the way out stand last and are never what is cut.
    let width = |(keys, word): &(String, &str)| keys.chars().count() + 1 + word.len() + 2;
    let mut total: usize = usable.iter().map(width).sum();
    let keep = usable.len().saturating_sub(2);
    let mut shown: Vec<bool> = vec![true; usable.len()];
    for at in (0..keep).rev() {
        if total <= row.left() {
            break;
        }
        total -= usable.get(at).map_or(0, width);
        if let Some(shown) = shown.get_mut(at) {
            *shown = false;
        }
    }
    for ((keys, word), shown) in usable.iter().zip(shown) {
        if shown {
            row.put(Role::Key, keys).gap(1).put(Role::KeyDoc, word).gap(2);
        }
    }
}

fn nothing_found(model: &Model) -> bool {
    matches!(model.overlays.last(), Some(Overlay::Findings(found)) if found.row().is_none())
}

/// Draws what there is room for on a terminal that is too small for panes.
pub fn too_small(model: &Model, buf: &mut Buffer, layout: &Layout) {
    let mut row = Row::new(&model.theme, usize::from(layout.header.width));
    let size = model.size;
    let text = format!("{}x{} needed, this is {}x{}", NARROW.width, NARROW.height, size.width, size.height);
    row.put(Role::StatusProblem, &text);
    row.draw(buf, layout.header.x, layout.header.y);
    if let Some(area) = layout.footer {
        let mut row = Row::new(&model.theme, usize::from(area.width));
        if let Some(at) = model.call().map(|call| call.at) {
            row.put(Role::Status, &format!("{}/{} {}", model.open + 1, model.entries.len(), place(at)));
        }
        if let Some(replay) = model.replay() {
            counts(&mut row, replay);
        }
        row.draw(buf, area.x, area.y);
    }
    if let Some(area) = layout.problem {
        problem(model, buf, area);
    }
}
