//! What lies over the panes: opening, closing and moving in it.

use std::sync::Arc;

use super::go;
use crate::compare::ChangePlace;
use crate::report::{Look, reference as page, words};
use crate::workbench::effect::Effect;
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::list::List;
use crate::workbench::model::overlay::{BodyView, FindingsView, HelpView, ProblemsView, ReferenceView};
use crate::workbench::model::{FindingRow, Model, Overlay};
use crate::workbench::transcript::Rows;
use crate::workspace::cases::NOT_LOADED;
use rulestep_base::diagnostic::{Diagnostic, Severity};
use rulestep_base::session::Session;
use rulestep_engine::dialect::lookup;

/// Opens in an editor what the cursor is on, and says what that is.
pub fn edit(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(target) = model.editable() else {
        return model.say("nothing here is in a file");
    };
    let (word, file, line) = (target.word, target.file, target.line);
    if if target.recording { model.archive.built_in.sessions } else { model.archive.built_in.policy } {
        return model.say(format!("this {word} is a sample inside the program, not a file on disk"));
    }
    model.say(format!("opened the {word}, {file}:{line}"));
    effects.push(Effect::Edit { file, line });
}

/// The body of the selected row.
pub fn body(model: &mut Model) {
    let row = model.list(Pane::Transcript).cursor;
    if let Some(view) = BodyView::of(model, row) {
        model.dialog.overlays.push(Overlay::Body(Box::new(view)));
    }
}

/// The body of the next row that has one.
pub fn next_body(model: &mut Model, forward: bool) {
    let Some(Overlay::Body(view)) = model.dialog.overlays.last() else { return };
    let target = if forward { view.row.checked_add(1) } else { view.row.checked_sub(1) };
    let Some(next) = target.and_then(|row| BodyView::of(model, row)) else {
        return model.say(if forward { "this is the last row" } else { "this is the first row" });
    };
    go::to_row(model, next.row);
    model.dialog.overlays.pop();
    model.dialog.overlays.push(Overlay::Body(Box::new(next)));
}

/// The reference page of the keys on the selected line of the policy.
pub fn reference(model: &mut Model) {
    let line = u32::try_from(model.list(Pane::Policy).cursor + 1).unwrap_or(u32::MAX);
    let found = model.document().map(|shown| lookup::on_line(shown.source, line)).unwrap_or_default();
    let Some(first) = found.first() else {
        return model.say("no reference page is about this line");
    };
    let width = usize::from(model.layout().overlay.width).saturating_sub(6).min(page::WIDTH);
    let mut text = Vec::new();
    for (at, found) in found.iter().enumerate() {
        if at > 0 {
            text.push(b'\n');
        }
        // Writing into memory does not fail.
        let _ = page::entry(found, &Look::default(), width, &mut text);
    }
    let lines = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
    let title = format!("rulestep explain {}", first.path());
    model.dialog.overlays.push(Overlay::Reference(ReferenceView { title, lines, list: List::default() }));
}

/// Folds and unfolds.
pub fn fold(model: &mut Model, command: Command) {
    if let Some(Overlay::Body(view)) = model.dialog.overlays.last_mut() {
        let at = view.list.cursor;
        view.list.cursor = match command {
            Command::FoldAll => view.document.fold_all(at),
            Command::UnfoldAll => view.document.unfold_all(at),
            _ => view.document.toggle(at),
        };
    }
}

pub fn findings(model: &mut Model) {
    findings_of(model, FindingsView::default());
}

/// The findings that a view asks for.
pub fn findings_of(model: &mut Model, mut view: FindingsView) {
    view.collect(model);
    // The cursor begins at the selected call, or rule about the session, if there is a finding.
    let rule = model.violation().map(|state| state.rule);
    let not_taken = model.not_taken().map(ChangePlace::Alternative);
    let here = not_taken.or_else(|| model.call().map(|call| ChangePlace::Call(call.at)));
    let here = if rule.is_some() { Some(ChangePlace::End) } else { here };
    let row = |at: &usize| {
        view.rows.get(*at).is_some_and(|row| {
            let same = rule.is_none_or(|rule| row.rule_id == rule);
            row.entry == model.place.open && Some(row.at) == here && same
        })
    };
    view.list.cursor = view.shown.iter().position(row).unwrap_or(0);
    model.dialog.overlays.push(Overlay::Findings(view));
}

/// Groups findings by the next property, staying on the same one.
pub fn group(model: &mut Model) {
    let Some(Overlay::Findings(mut view)) = model.dialog.overlays.pop() else { return };
    let here = view.row().map(|row| (row.entry, row.at, row.rule_id));
    view.by = view.by.next();
    view.collect(model);
    let same = |at: &usize| view.rows.get(*at).map(|row| (row.entry, row.at, row.rule_id)) == here;
    view.list.cursor = view.shown.iter().position(same).unwrap_or(0);
    model.dialog.overlays.push(Overlay::Findings(view));
}

/// Takes into the list of findings, if it is open, what is new, staying on the same one: `moved` says where an entry
/// is now.
pub fn recollect(model: &mut Model, moved: &dyn Fn(usize) -> Option<usize>) {
    collect(model, moved, false);
}

/// With `top`, whoever is on the first row, perhaps never having moved, stays on the first row.
fn collect(model: &mut Model, moved: &dyn Fn(usize) -> Option<usize>, top: bool) {
    for place in 0..model.dialog.overlays.len() {
        if !matches!(model.dialog.overlays.get(place), Some(Overlay::Findings(_))) {
            continue;
        }
        let Overlay::Findings(mut view) = model.dialog.overlays.remove(place) else { continue };
        let here = view.row().filter(|_| !top || view.list.cursor > 0);
        let here = here.map(|row| (moved(row.entry), row.at, row.code, Arc::clone(&row.rule)));
        view.collect(model);
        if let Some((Some(entry), at, code, rule)) = here {
            let row =
                |row: &FindingRow| (row.entry, row.at, row.code) == (entry, at, code) && row.rule == rule;
            let same = |at: &usize| view.rows.get(*at).is_some_and(row);
            if let Some(at) = view.shown.iter().position(same) {
                view.list.cursor = at;
            }
        }
        model.dialog.overlays.insert(place, Overlay::Findings(view));
    }
}

/// The same while sessions are being judged: each time half as many more are, so that a long list is not made anew
/// for every session.
pub fn recollect_at_times(model: &mut Model) {
    let judged = model.work.judged;
    let due = model.dialog.overlays.iter().any(|overlay| match overlay {
        Overlay::Findings(view) => judged >= view.judged + view.judged / 2 || judged < view.judged,
        _ => false,
    });
    if due || model.judging().is_none() {
        collect(model, &Some, true);
    }
}

/// The bodies that are open show what their rows hold now; one whose text is the same stays as it is, folds and all.
/// `rows` and `session` are those from before.
pub fn renew_bodies(model: &mut Model, rows: &Rows, session: Option<&Arc<Session>>) {
    let before = std::mem::take(&mut model.dialog.overlays);
    for overlay in before {
        let Overlay::Body(mut view) = overlay else {
            model.dialog.overlays.push(overlay);
            continue;
        };
        let Some(row) = rows.get(view.row) else { continue };
        let Some(now) = model.settled.rows.place_of(row) else { continue };
        let body = session.and_then(|session| row.body(session));
        if body.is_some() && body == model.session().and_then(|session| row.body(session)) {
            view.row = now;
        } else if let Some(renewed) = BodyView::of(model, now) {
            *view = BodyView { list: view.list, ..renewed };
        }
        model.dialog.overlays.push(Overlay::Body(view));
    }
}

/// Everything that is wrong: the policy first, then the recordings; errors before the rest.
pub fn problems(model: &mut Model) {
    let view = ProblemsView { rows: all_problems(model), list: List::default() };
    model.dialog.overlays.push(Overlay::Problems(view));
}

/// The list of problems, if it is open, shows those that are left.
pub fn renew_problems(model: &mut Model) {
    if !model.dialog.overlays.iter().any(|overlay| matches!(overlay, Overlay::Problems(_))) {
        return;
    }
    let rows = all_problems(model);
    for overlay in &mut model.dialog.overlays {
        if let Overlay::Problems(view) = overlay {
            view.rows.clone_from(&rows);
        }
    }
}

fn all_problems(model: &Model) -> Vec<Diagnostic> {
    let mut rows = model.basis.rules.problems.clone();
    let caused = |row: &&Diagnostic| row.message == NOT_LOADED;
    let (following, of_cases): (Vec<&Diagnostic>, Vec<&Diagnostic>) =
        model.basis.cases.problems.iter().partition(caused);
    if rows.iter().any(|row| row.severity == Severity::Error) {
        rows.extend(consequence(&following));
    } else {
        rows.extend(following.into_iter().cloned());
    }
    // Of the version and the sessions that are open now; others are counted anew.
    let counted = model.work.survey.as_ref().filter(|query| query.wish.is(&model.survey_wish()));
    rows.extend(counted.iter().flat_map(|query| query.findings.iter().cloned()));
    rows.extend(model.habits.problems.iter().cloned());
    rows.extend(of_cases.into_iter().cloned());
    rows.extend(model.archive.problems.iter().cloned());
    for entry in &model.archive.entries {
        rows.extend(entry.diagnostics.iter().cloned());
        rows.extend(entry.session.iter().flat_map(|session| session.diagnostics.iter().cloned()));
        let notices = entry.judgement.iter().flat_map(|judgement| judgement.notices.iter());
        rows.extend(notices.cloned());
    }
    // Stable: the policy's errors come before those of the recordings.
    rows.sort_by_key(|row| row.severity != Severity::Error);
    rows
}

/// That cases cannot be judged because of the errors before it: one row for all of them, at the first.
fn consequence(cases: &[&Diagnostic]) -> Option<Diagnostic> {
    let first = cases.first().copied()?.clone();
    let counted = words::count(cases.len() as u64, "case");
    let message = format!("{counted} cannot be judged until the policy loads, because of the errors above");
    Some(Diagnostic { message, ..first })
}

pub fn help(model: &mut Model) {
    if matches!(model.dialog.overlays.last(), Some(Overlay::Help(_))) {
        close(model);
        return;
    }
    let scope = Some(model.scope_of_keys());
    model.dialog.overlays.push(Overlay::Help(HelpView { scope, ..HelpView::default() }));
}

/// Closes what lies on top; with nothing there, ends a search, then a zoom. Whether there was anything.
pub fn close(model: &mut Model) -> bool {
    model.dialog.overlays.pop().is_some()
        || model.dialog.query.take().is_some()
        || std::mem::take(&mut model.place.zoom)
}
