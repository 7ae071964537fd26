//! The lists of rules and of what sessions hold: opened, asked for, filled as the counts arrive, left for a call.

use std::sync::Arc;

use super::{go, jump, overlays, table};
use crate::compare::ChangePlace;
use crate::explore::occurrence::{Occurrence, Place};
use crate::explore::survey::Survey;
use crate::report::words;
use crate::workbench::effect::{Effect, SurveyRequest};
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::model::overlay::FindingsView;
use crate::workbench::model::survey::{SurveyView, Tab};
use crate::workbench::model::{Model, Overlay, SurveyQuery};
use rulestep_base::diagnostic::Diagnostic;

/// Opens a list.
pub fn open(model: &mut Model, tab: Tab) {
    let mut view = SurveyView::new(tab);
    view.collect(model);
    model.dialog.overlays.push(Overlay::Survey(view));
}

/// The next list.
pub fn tab(model: &mut Model, by: isize) {
    let Some(Overlay::Survey(view)) = model.dialog.overlays.last() else { return };
    let tab = view.tab_after(by);
    model.dialog.overlays.pop();
    open(model, tab);
}

/// Sorts by the next number, staying on the same row.
pub fn sort(model: &mut Model) {
    let Some(Overlay::Survey(mut view)) = model.dialog.overlays.pop() else { return };
    view.sort = view.next_sort();
    view.list = Default::default();
    view.sift(model);
    model.dialog.overlays.push(Overlay::Survey(view));
}

/// While a list is open, what it shows is to be counted of the sessions that are in scope now.
pub fn ask(model: &mut Model, effects: &mut Vec<Effect>) {
    // What recordings say against the policy is among its problems.
    let asks = |overlay: &Overlay| matches!(overlay, Overlay::Survey(_) | Overlay::Problems(_));
    let open = model.dialog.overlays.iter().any(asks);
    if !open || model.work.reading.is_some() {
        return;
    }
    let wish = model.survey_wish();
    if model.work.survey.as_ref().is_some_and(|query| query.wish.is(&wish)) {
        return;
    }
    let number = model.work.next_number();
    let query =
        SurveyQuery { number, wish: wish.clone(), counted: 0, survey: Arc::default(), findings: Vec::new() };
    model.work.survey = Some(query);
    effects.push(Effect::Survey(Box::new(SurveyRequest { number, wish })));
    renew(model);
}

/// Sessions were counted; what answers an older request is dropped.
pub fn arrived(model: &mut Model, number: u64, done: (usize, Arc<Survey>), findings: Vec<Diagnostic>) {
    let Some(query) = model.work.survey.as_mut().filter(|query| query.number == number) else { return };
    ((query.counted, query.survey), query.findings) = (done, findings);
    overlays::renew_problems(model);
    renew(model);
}

fn renew(model: &mut Model) {
    for at in 0..model.dialog.overlays.len() {
        if !matches!(model.dialog.overlays.get(at), Some(Overlay::Survey(_))) {
            continue;
        }
        let Overlay::Survey(mut view) = model.dialog.overlays.remove(at) else { continue };
        view.collect(model);
        model.dialog.overlays.insert(at, Overlay::Survey(view));
    }
}

/// To the findings of the rule under the cursor, or to the first call of what the row counts.
pub fn enter(model: &mut Model) {
    let Some(Overlay::Survey(view)) = model.dialog.overlays.last() else { return };
    let Some(row) = view.row() else { return };
    match (&row.rule, &row.first) {
        (Some(rule), Some(_)) => {
            let only = Some((Arc::clone(&rule.id), row.name.clone()));
            overlays::findings_of(model, FindingsView { only, ..FindingsView::default() });
        }
        (Some(_), None) => model.say("this rule has no findings"),
        (None, _) => match row.term.clone() {
            Some(term) => list(model, &term),
            None => model.say("no filter selects this row"),
        },
    }
}

/// Lists the sessions that a row counts: its term is added to the filter.
fn list(model: &mut Model, term: &str) {
    let before = model.archive.table.filter.text().trim().to_owned();
    let text = match format!(" {before} ").contains(&format!(" {term} ")) {
        true => before,
        false => format!("{before} {term}").trim().to_owned(),
    };
    if let Err(why) = table::filter(model, &text) {
        return model.fail(format!("the filter `{text}` cannot be read: {why}"));
    }
    model.dialog.overlays.clear();
    go::focus(model, Pane::Sessions);
    let (listed, key) = (model.scope_len() as u64, model.key(Command::FilterSessions));
    model.say(format!("{} listed; {key} changes the filter", words::count(listed, "session")));
}

/// Goes to the first call of what the row under the cursor counts, or to its first session.
pub fn first(model: &mut Model) {
    let Some(Overlay::Survey(view)) = model.dialog.overlays.last() else { return };
    match view.row().map(|row| row.first.clone()) {
        Some(Some(first)) => visit(model, &first),
        Some(None) => model.say("no call that was taken is counted here"),
        None => {}
    }
}

/// Goes to a call, or to a session.
fn visit(model: &mut Model, first: &Occurrence) {
    let Some(entry) = model.entry_of(first) else {
        return model.say("this session is no longer in the list");
    };
    model.dialog.overlays.pop();
    match first.place {
        Place::Call(call) => jump::to(model, entry, Ok(ChangePlace::Call(call))),
        Place::Choice(at) => jump::to(model, entry, Ok(ChangePlace::Alternative(at))),
        Place::Session => {
            jump::leave(model);
            go::open(model, entry);
        }
    }
    go::focus(model, Pane::Transcript);
}
