//! Jumps: to the next finding or change, to a cause, and back.

use std::sync::Arc;

use super::{derive, go};
use crate::compare::{Change, ChangePlace, Kind};
use crate::report::{diff, words};
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::line::{Key, place, place_not_taken};
use crate::workbench::model::judgement::CallMark;
use crate::workbench::model::{ChangeRow, Entry, Model, PendingRule, Spot};
use crate::workbench::pane::{origin_word, rule_name, words_of};
use crate::workbench::theme::Glyph;
use crate::workbench::transcript::{Row, RowKind};
use rulestep_engine::monitor::RuleId;
use rulestep_engine::replay::{DecidedCall, Replay};

/// Places that are kept to go back to.
const KEPT: usize = 100;

/// The next stopped call or violated session rule, if necessary in another session: the border of sessions does not
/// matter.
pub fn finding(model: &mut Model, forward: bool) {
    let stops = |judged: &DecidedCall| judged.decision.verdict.stops();
    across(model, forward, (stops, |mark| mark.stops, true), "stopped call or violated session rule");
}

/// The next call that is only reported, in the same way. There may be many of them, so they are not among the stops.
pub fn report(model: &mut Model, forward: bool) {
    let reports = |judged: &DecidedCall| judged.decision.reports();
    let what = "reported call or violated session rule that is not enforced";
    across(model, forward, (reports, |mark| mark.reports, false), what);
}

/// The target of a jump: calls, by decision and by mark, and whether violated rules are the enforced ones.
type Wanted = (fn(&DecidedCall) -> bool, fn(&CallMark) -> bool, bool);

/// The next call or violated rule that matches.
fn across(model: &mut Model, forward: bool, wanted: Wanted, what: &str) {
    let (is_wanted, is_marked, enforced) = wanted;
    let Some(replay) = model.replay().cloned() else { return };
    let here = model.list(Pane::Transcript).cursor;
    let wanted = |row: Row| match row.kind {
        RowKind::Call(_) | RowKind::Choice(..) => judged_at(&replay, row).is_some_and(is_wanted),
        RowKind::Rule(rule) => {
            replay.rules().iter().any(|state| state.rule == rule && state.enforced == enforced)
        }
        RowKind::Message(_) | RowKind::Result(_) => false,
    };
    if let Some(row) = model.derived.rows.seek(here, forward, wanted) {
        go::to_row(model, row);
        return show_decision(model);
    }
    let in_entry = |at: usize| {
        let judgement = model.archive.entries.get(at)?.judgement.as_ref()?;
        let marked = || judgement.marks.iter().filter(|mark| is_marked(mark)).map(|mark| mark.at);
        let mut calls = marked().filter(|at| matches!(at, ChangePlace::Call(_)));
        let call = if forward { calls.next() } else { calls.next_back() };
        let mut others = marked().filter(|at| matches!(at, ChangePlace::Alternative(_)));
        let other = if forward { others.next() } else { others.next_back() };
        // In a turn, its calls come before those of other choices.
        let both = [call, other].into_iter().flatten();
        let call = if forward { both.min_by_key(|at| at.turn()) } else { both.max_by_key(|at| at.turn()) };
        let violations = judgement.violations.iter();
        let mut rules = violations.filter(|other| other.enforced == enforced).map(|other| other.rule);
        let rule = if forward { rules.next() } else { rules.next_back() };
        // Session rules come after the session's end.
        let (call, rule) = (call.map(Ok), rule.map(Err));
        Some((at, if forward { call.or(rule) } else { rule.or(call) }?))
    };
    let found = others(model, forward).find_map(in_entry);
    match found {
        Some((entry, at)) => {
            to(model, entry, at);
            show_decision(model);
        }
        None => {
            let verdicts = model.scope().filter_map(|at| model.archive.entries.get(at)?.verdict());
            let others = verdicts.map(|verdict| verdict.reports()).sum::<u64>();
            let others = match others {
                0 => String::new(),
                _ if !enforced => String::new(),
                count => {
                    format!("; {} goes to {}", model.key(Command::NextReport), words::count(count, "report"))
                }
            };
            model.say(format!("no {what} {} this in any session{}{others}", side(forward), so_far(model)));
        }
    }
}

/// If only one pane fits beside the transcript, the one with the reason.
fn show_decision(model: &mut Model) {
    model.place.side = Pane::Decision;
}

/// The entries that are listed after the open one, or those before it from there on.
fn others(model: &Model, forward: bool) -> impl Iterator<Item = usize> + use<> {
    let scope: Vec<usize> = model.scope().collect();
    let here = model.place_in_scope(model.place.open);
    let way = move |by: usize| match (here, forward) {
        (Some(here), true) => scope.get(here + by).copied(),
        (Some(here), false) => scope.get(here.checked_sub(by)?).copied(),
        // It is not listed itself, so all others are candidates.
        (None, true) => scope.get(by - 1).copied(),
        (None, false) => scope.get(scope.len().checked_sub(by)?).copied(),
    };
    (1..).map_while(way)
}

/// The end of a note that a search found nothing, while not all is judged.
fn so_far(model: &Model) -> &'static str {
    if model.work.reading.is_some() || model.judging().is_some() { " so far" } else { "" }
}

fn side(forward: bool) -> &'static str {
    if forward { "after" } else { "before" }
}

pub fn disagreement(model: &mut Model, forward: bool) {
    calls(model, forward, "disagreement with the recording", |judged| !judged.agrees);
}

pub fn same_rule(model: &mut Model, forward: bool) {
    let rule = model.finding().map(|finding| finding.rule).or(model.violation().map(|state| state.rule));
    let (Some(rule), Some(replay)) = (rule, model.replay().cloned()) else { return };
    let speaks = |judged: &DecidedCall| judged.decision.findings.iter().any(|finding| finding.rule == rule);
    seek(model, forward, "finding of this rule", |row| match row.kind {
        RowKind::Call(_) | RowKind::Choice(..) => judged_at(&replay, row).is_some_and(speaks),
        RowKind::Rule(violated) => violated == rule,
        RowKind::Message(_) | RowKind::Result(_) => false,
    });
}

pub fn error(model: &mut Model, forward: bool) {
    let Some(session) = model.session().cloned() else { return };
    seek(model, forward, "error", |row| row.is_error(&session));
}

/// The decision about the call of a row, also of a choice that was not taken.
fn judged_at(replay: &Replay, row: Row) -> Option<&DecidedCall> {
    match row.kind {
        RowKind::Call(index) => replay.call(index),
        RowKind::Choice(place, number) => replay.alternative(place).get((number? as usize).checked_sub(1)?),
        RowKind::Message(_) | RowKind::Result(_) | RowKind::Rule(_) => None,
    }
}

fn calls(model: &mut Model, forward: bool, what: &str, wanted: impl Fn(&DecidedCall) -> bool) {
    let Some(replay) = model.replay().cloned() else { return };
    seek(model, forward, what, |row| match row.kind {
        RowKind::Call(index) => replay.call(index).is_some_and(&wanted),
        _ => false,
    });
}

fn seek(model: &mut Model, forward: bool, what: &str, wanted: impl FnMut(Row) -> bool) {
    match model.derived.rows.seek(model.list(Pane::Transcript).cursor, forward, wanted) {
        Some(row) => go::to_row(model, row),
        None => model.say(format!("no {what} {} this in the session", side(forward))),
    }
}

/// The next session with an objection, at the first stopped call, else at the first violated rule.
pub fn stop(model: &mut Model, forward: bool) {
    let stopped = |at: &usize| {
        model
            .archive
            .entries
            .get(*at)
            .and_then(|entry| entry.verdict())
            .is_some_and(|verdict| verdict.objects())
    };
    let Some(entry) = others(model, forward).find(stopped) else {
        let text = format!(
            "no session with a stopped call or a violated rule {} this one{}",
            side(forward),
            so_far(model)
        );
        return model.say(text);
    };
    leave(model);
    go::open(model, entry);
    let marks = model.entry().and_then(|entry| entry.judgement.as_ref()).map(|judgement| &judgement.marks);
    let stops = marks.into_iter().flatten().filter(|mark| mark.stops);
    let rows = stops.filter_map(|mark| match mark.at {
        ChangePlace::Call(call) => model.derived.rows.of_call(call.index),
        ChangePlace::Alternative(other) => model.derived.rows.of_choice(other, model.content()?),
        ChangePlace::Turn(_) | ChangePlace::End => None,
    });
    let violated = || {
        let violations = &model.entry()?.judgement.as_ref()?.violations;
        violations.iter().find(|violation| violation.enforced).or(violations.first())
    };
    match (rows.min().or_else(|| model.derived.rows.of_rules().next()), violated().map(|first| first.rule)) {
        (Some(row), _) => go::to_row(model, row),
        (None, Some(rule)) => land_at(model, rule),
        (None, None) => {}
    }
}

/// To a violated rule of the open session, as soon as its decisions are there again.
fn land_at(model: &mut Model, rule: RuleId) {
    let of = model.entry().filter(|entry| entry.replay.is_none()).and_then(|entry| entry.session.clone());
    model.place.landing = of.map(|of| PendingRule { of, rule });
}

/// The decisions about the open session arrived: a pending jump to one of its rules is made.
pub fn arrive(model: &mut Model) {
    let Some(landing) = model.place.landing.take() else { return };
    let own = model.entry().and_then(|entry| entry.session.as_ref());
    if own.is_some_and(|own| Arc::ptr_eq(own, &landing.of)) {
        derive::end_rows(model);
        if let Some(row) = model.derived.rows.of_rule(landing.rule) {
            go::to_row(model, row);
        }
    }
}

/// To the earlier call that the row under the cursor, else the first finding, rests on.
pub fn cause(model: &mut Model) {
    let Some(index) = model.derived.link.call.or_else(|| model.cause().map(|at| at.index)) else { return };
    let finding = based(model).filter(|_| model.derived.rows.of_call(index).is_some());
    let attempt = model.attempts().into_iter().find(|attempt| attempt.call.at.index == index);
    let attempt = attempt.map(|attempt| attempt.why);
    to_call(model, index);
    if let Some(finding) = finding {
        // From the earlier call nothing else leads to its effects.
        let back = model.key(Command::Back);
        model.say(match attempt {
            Some(why) => format!("{finding}: this call does not count ({why}); {back} goes back"),
            None => format!("{finding} is based on this call; {back} goes back"),
        });
    }
}

/// The selected finding, or what passed: `T2.2 resource_unmatched`.
fn based(model: &Model) -> Option<String> {
    let first = || model.finding().map(|finding| finding.rule).or(model.violation().map(|state| state.rule));
    let rule = model.derived.link.rule.or_else(first)?;
    let name = || model.rule(rule).map(words::rule_name).unwrap_or_default();
    if let Some(state) = model.violation() {
        let code = state.code.filter(|_| state.rule == rule);
        return Some(format!("violated {}", code.map_or_else(name, |code| code.as_str().to_owned())));
    }
    let findings = model.judged_call().map(|judged| judged.decision.findings.as_slice()).unwrap_or_default();
    let code = findings.iter().find(|finding| finding.rule == rule).map(|finding| finding.code);
    let at = match model.not_taken() {
        Some(at) => place_not_taken(at),
        None => place(model.call()?.at),
    };
    Some(format!("{at} {}", code.map_or_else(name, |code| code.as_str().to_owned())))
}

/// Goes to the place of the change under the cursor.
pub fn change(model: &mut Model) {
    let at = model.list(Pane::Changes).cursor;
    // After a heading comes the first change under it.
    let found = model.change_rows(at).take(2).find_map(|row| match row {
        ChangeRow::Change(entry, change) => Some((entry, change.at)),
        ChangeRow::Group(..) => None,
    });
    let Some((entry, at)) = found else {
        return model.say("this row is not a change");
    };
    leave(model);
    go::open(model, entry);
    go::focus(model, Pane::Transcript);
    if let Some(row) = row_of(model, at) {
        go::to_row(model, row);
        show_change(model, row);
    }
    // The subject of the change is beside the transcript, which a zoomed pane would hide.
    model.place.zoom = false;
}

/// The next change in the order of the transcript, if need be in another session. Changes of one place are one.
pub fn next_change(model: &mut Model, forward: bool) {
    let here = model.list(Pane::Transcript).cursor;
    let rows = |entry: &Entry| {
        let changes = entry.changes.iter().flatten().map(|change| change.at);
        changes.filter_map(|at| row_of(model, at)).collect::<Vec<_>>()
    };
    let own = model.entry().map(rows).unwrap_or_default().into_iter();
    let row = if forward { own.filter(|row| *row > here).min() } else { own.filter(|row| *row < here).max() };
    if let Some(row) = row {
        go::to_row(model, row);
        show_change(model, row);
        return tell_change(model, row);
    }
    let in_entry = |at: usize| {
        let changes = model.archive.entries.get(at)?.changes.iter().flatten().map(|change| change.at);
        // Changes at the end come after every turn and call.
        let key = |at: &ChangePlace| (at.turn().unwrap_or(u32::MAX), at.alternative(), at.call());
        let found = if forward { changes.min_by_key(key) } else { changes.max_by_key(key) };
        Some((at, found?))
    };
    let found = others(model, forward).find_map(in_entry);
    let Some((entry, at)) = found else {
        let so_far = if model.basis.changes.counts().0 < model.session_count() { " so far" } else { "" };
        let back = if forward { Command::PreviousChange } else { Command::NextChange };
        let others = match model.basis.changes.is_empty() {
            true => String::new(),
            false => format!("; {} goes to those {} it", model.key(back), side(!forward)),
        };
        return model.say(format!("no change {} this in any session{so_far}{others}", side(forward)));
    };
    leave(model);
    go::open(model, entry);
    if let Some(row) = row_of(model, at) {
        go::to_row(model, row);
        show_change(model, row);
        tell_change(model, row);
    }
}

/// Makes the pane visible that shows the change at a row beside the transcript, if not all are: the decision, or the
/// tools with the first one that is shown or hidden.
fn show_change(model: &mut Model, row: usize) {
    let changes = model.entry().and_then(|entry| entry.changes.as_ref());
    let here: Vec<&Change> =
        changes.into_iter().flatten().filter(|change| row_of(model, change.at) == Some(row)).collect();
    let decided =
        here.iter().any(|change| matches!(change.at, ChangePlace::Call(_) | ChangePlace::Alternative(_)));
    let tool = here
        .iter()
        .find(|change| matches!(change.at, ChangePlace::Turn(_)))
        .and_then(|change| change.tool.clone());
    let (pane, tool) = match tool {
        _ if decided => (Pane::Decision, None),
        Some(tool) => (Pane::Tools, Some(tool)),
        None => return,
    };
    if model.layout().pane(pane).is_none() && !model.place.zoom {
        match model.place.focus {
            Pane::Transcript => model.place.side = pane,
            focus if focus.is_about_call() => model.place.focus = pane,
            // Lists that the user goes through.
            _ => {}
        }
        go::focus(model, model.place.focus);
    }
    // The frame of that turn is what the tools are listed by.
    model.place.sought = tool.map(|tool| (pane, Key::Tool(tool)));
}

/// Reports the change at a row: for tools that are shown or hidden only this does.
fn tell_change(model: &mut Model, row: usize) {
    let changes = model.entry().and_then(|entry| entry.changes.as_ref());
    let here = changes.into_iter().flatten().filter(|change| row_of(model, change.at) == Some(row));
    let said = here.map(|change| {
        let tool = change.tool.as_deref().map(|tool| format!(" {tool}")).unwrap_or_default();
        // An outcome has no row beside it with the old and the new one.
        let ways = match change.kind {
            Kind::OutcomeChanged => {
                let rule = change.rule.and_then(|rule| rule_name(model, rule));
                let whose = rule.map_or_else(|| " of the session".to_owned(), |rule| format!(" of {rule}"));
                let [base, new] = words_of(model, change);
                format!("{whose}: {base} {} {new}", model.theme.glyph(Glyph::Arrow))
            }
            _ => String::new(),
        };
        format!("{}{tool}{ways} ({})", diff::title(change.kind), origin_word(change))
    });
    let said: Vec<String> = said.collect();
    model.say(said.join(", "));
}

/// The row of the transcript for a change of the open session.
fn row_of(model: &Model, at: ChangePlace) -> Option<usize> {
    match at {
        ChangePlace::Call(call) => row_of_recorded(model, call.index),
        ChangePlace::Alternative(other) => model.derived.rows.of_choice(other, model.session()?),
        ChangePlace::Turn(turn) => model.derived.rows.of_turn(turn),
        ChangePlace::End => model.derived.rows.len().checked_sub(1),
    }
}

/// To a call of the open session, leaving the place to come back to.
pub fn to_call(model: &mut Model, index: u32) {
    let Some(row) = model.derived.rows.of_call(index) else { return };
    leave(model);
    go::to_row(model, row);
}

/// To a call of some entry, or to a rule about its session, leaving the place to come back to.
pub fn to(model: &mut Model, entry: usize, at: Result<ChangePlace, RuleId>) {
    leave(model);
    go::open(model, entry);
    // Decisions may just have come.
    derive::end_rows(model);
    let row = match at {
        Ok(at) => row_of(model, at),
        Err(rule) => model.derived.rows.of_rule(rule),
    };
    match (row, at) {
        (Some(row), _) => go::to_row(model, row),
        (None, Err(rule)) if model.replay().is_none() => land_at(model, rule),
        (None, Err(_)) => {
            let back = model.key(Command::Quit);
            model.say(format!("with this what-if the rule holds; {back} shows the recording"));
        }
        (None, Ok(_)) => say_left_out(model),
    }
}

/// The what-if has no such call.
pub fn say_left_out(model: &mut Model) {
    let back = model.key(Command::Quit);
    let case = model.shown_supposed().is_some_and(|(layer, _)| layer.case.is_some());
    let what =
        if case { "the case on screen does not have this call" } else { "this what-if leaves the call out" };
    model.say(format!("{what}; {back} shows the recording"));
}

/// The row of a recorded call, which may be elsewhere in a what-if.
pub fn row_of_recorded(model: &Model, recorded: u32) -> Option<usize> {
    model.derived.rows.of_call(model.entry()?.supposed.now(recorded)?)
}

/// Leaves the place to come back to.
pub fn leave(model: &mut Model) {
    let spot = model.spot();
    model.place.back.push(spot);
    if model.place.back.len() > KEPT {
        model.place.back.remove(0);
    }
    model.place.forward.clear();
}

pub fn back(model: &mut Model) {
    if let Some(spot) = model.place.back.pop() {
        model.place.forward.push(model.spot());
        land(model, spot);
    }
}

pub fn forward(model: &mut Model) {
    if let Some(spot) = model.place.forward.pop() {
        model.place.back.push(model.spot());
        land(model, spot);
    }
}

fn land(model: &mut Model, spot: Spot) {
    go::open(model, spot.entry);
    go::to_row(model, spot.row);
}
