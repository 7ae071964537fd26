//! The cases beside the policy: asked for, taken in, and opened as sessions over the one that is open.

use std::sync::Arc;

use super::{go, overlays, suppose};
use crate::workbench::effect::Effect;
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::model::cases::{CaseList, CasesView};
use crate::workbench::model::supposed::{Land, Layer, OpenCase};
use crate::workbench::model::{Model, Overlay};

/// Asks for all of them to be judged.
pub fn ask(model: &mut Model, effects: &mut Vec<Effect>) {
    // A policy inside the program has no files that cases could be beside.
    if !model.basis.paths.is_empty() {
        effects.push(Effect::Cases(model.basis.cases.ask()));
    }
}

/// They were judged. The list that is open and the cases that are open show what came of that.
pub fn arrived(model: &mut Model, number: u64, list: CaseList) {
    let before = std::mem::take(&mut model.basis.cases.cases);
    model.basis.cases.take(number, list);
    let cases = &model.basis.cases;
    for overlay in &mut model.dialog.overlays {
        let Overlay::Cases(view) = overlay else { continue };
        let here = view.line().and_then(|line| before.get(line.case()));
        let is = |at: usize| {
            let now = cases.cases.get(at);
            here.zip(now).is_some_and(|(here, now)| here.is(now))
        };
        view.collect(cases);
        let at = view.lines.iter().position(|line| is(line.case()));
        view.list.cursor = at.unwrap_or(view.list.cursor);
    }
    for entry in &mut model.archive.entries {
        let Some(open) = entry.supposed.top_mut().and_then(|layer| layer.case.as_mut()) else { continue };
        // Of one that cannot be judged any more, what came last stays on screen.
        if let Some(now) = cases.same(&open.case).filter(|now| now.judged.is_some()) {
            open.case = Arc::clone(now);
        }
    }
    overlays::renew_problems(model);
}

/// Opens the list.
pub fn open(model: &mut Model) {
    let mut view = CasesView::default();
    view.collect(&model.basis.cases);
    model.dialog.overlays.push(Overlay::Cases(view));
}

/// Opens the case under the cursor, at the call that is not as expected.
pub fn enter(model: &mut Model) {
    let Some(Overlay::Cases(view)) = model.dialog.overlays.last() else { return };
    let Some(line) = view.line() else { return };
    let Some(case) = model.basis.cases.cases.get(line.case()).cloned() else { return };
    let Some(judged) = &case.judged else {
        let text = format!("this case could not be judged; {} opens its file", model.key(Command::Edit));
        return model.say(text);
    };
    let failed = (!judged.report.passed).then_some(line.unmet().unwrap_or(0));
    let land = Land::Call(judged.call(failed).unwrap_or(0));
    let from = model.list(Pane::Transcript);
    let said = match failed.and_then(|at| case.unmet(at)) {
        Some(unmet) => unmet,
        None => format!("the case {} {}", case.name, case.state_word()),
    };
    if model.entry().is_none() {
        return model.say("a case is opened over a session, and none is open");
    }
    suppose::exchange(model, |model| {
        let Some(entry) = model.archive.entries.get_mut(model.place.open) else { return Land::Stay };
        // Of two cases the second takes the place of the first.
        let first = entry.supposed.top().and_then(|layer| layer.case.as_ref()).map(|open| open.from);
        if first.is_some() {
            entry.supposed.pop();
        }
        let open = OpenCase { case: Arc::clone(&case), from: first.unwrap_or(from) };
        entry.supposed.push(Layer { case: Some(open), land, ..Layer::default() });
        Land::Stay
    });
    model.dialog.overlays.pop();
    go::focus(model, Pane::Transcript);
    let back = model.key(Command::Quit);
    let text = format!("{said}; {back} goes back");
    model.say(text);
}
