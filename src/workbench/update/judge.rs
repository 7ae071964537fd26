//! Requests judging of sessions, and reports the changes once all are judged.

use std::sync::Arc;

use crate::compare::Base;
use crate::report::{diff, words};
use crate::stored::StoredSession;
use crate::workbench::effect::{Effect, Judge, Judging};
use crate::workbench::model::changed::Changed;
use crate::workbench::model::{JudgedAgain, Model};

/// Judges everything again, the open session first.
pub fn judge_all(model: &mut Model, effects: &mut Vec<Effect>) {
    model.work.generation += 1;
    model.work.judged = 0;
    model.forget_changes();
    match model.archive.entries.is_empty() {
        // Those that are read from now on are judged so.
        true => {
            effects.extend(by(model).map(|by| Effect::Judge(Judge { by, open: false, sessions: Vec::new() })))
        }
        false => judge(model, (0..model.archive.entries.len()).collect(), effects),
    }
}

/// Asks for these entries to be judged, the open one first if it is among them.
pub fn judge(model: &Model, places: Vec<usize>, effects: &mut Vec<Effect>) {
    let place = |at: usize| Some((at, Arc::clone(model.archive.entries.get(at)?.session.as_ref()?)));
    let on_screen = places.contains(&model.place.open).then(|| place(model.place.open)).flatten();
    let open = on_screen.is_some();
    let others = places.into_iter().filter(|at| *at != model.place.open).filter_map(place);
    let sessions: Vec<_> = on_screen.into_iter().chain(others).collect();
    ask(model, open, sessions, effects);
}

/// Asks for the open session to be judged before all others, if its decisions have left memory or its turn would come
/// late.
pub fn again(model: &mut Model, effects: &mut Vec<Effect>) {
    let generation = model.work.generation;
    let wanted = model.entry().filter(|entry| entry.replay.is_none());
    let session = wanted.and_then(|entry| entry.session.clone()).filter(|session| session.may_leave());
    let (Some(of), true) = (session, model.basis.rules.policy.is_some()) else {
        model.work.again = None;
        return;
    };
    let is = |asked: &JudgedAgain| asked.generation == generation && Arc::ptr_eq(&asked.of, &of);
    if model.work.again.as_ref().is_some_and(is) {
        return;
    }
    ask(model, true, vec![(model.place.open, Arc::clone(&of))], effects);
    model.work.again = Some(JudgedAgain { of, generation });
}

fn ask(model: &Model, open: bool, sessions: Vec<(usize, Arc<StoredSession>)>, effects: &mut Vec<Effect>) {
    if let Some(by) = by(model).filter(|_| !sessions.is_empty()) {
        effects.push(Effect::Judge(Judge { by, open, sessions }));
    }
}

/// The current settings for judging.
fn by(model: &Model) -> Option<Arc<Judging>> {
    let policy = Arc::clone(model.basis.rules.policy.as_ref()?);
    let (generation, mode) = (model.work.generation, model.basis.mode);
    let (against, beside) = (model.basis.changes.comparison.clone(), model.splits());
    Some(Arc::new(Judging { generation, policy, mode, against, beside }))
}

/// The note if the base is the decisions of gates, and there are none.
pub const NOTHING_LIVE: &str =
    "no gate decided a call of these sessions, so there is nothing to compare with";

/// Whether the base is what gates decided, and says something of no call at all.
fn is_nothing_live(model: &Model) -> bool {
    let live = model.comparison().is_some_and(|comparison| matches!(comparison.base(), Base::Live));
    let calls: usize = model
        .archive
        .entries
        .iter()
        .filter_map(|entry| entry.session.as_ref())
        .map(|session| session.calls)
        .sum();
    live && calls > 0 && model.basis.changes.uncompared() == calls
}

/// Says how many decisions and reports changed, once every session is read and compared.
pub fn tell_changed(model: &mut Model) {
    let all = model.work.reading.is_none() && model.basis.changes.counts().0 == model.session_count();
    if model.basis.changes.to_tell && all {
        model.basis.changes.to_tell = false;
        let wrote = model.basis.wrote.take();
        let when = match &model.basis.compare.base {
            _ if wrote.is_some() => wrote.unwrap_or_default(),
            Some(chosen) => format!("compared with {}", chosen.name),
            None => format!("policy read at {}", model.basis.rules.since),
        };
        if is_nothing_live(model) {
            return model.say(format!("{when}: {NOTHING_LIVE}"));
        }
        let Changed { decisions, downstream, reports, rules, tools } = model.changed();
        let changed = match decisions {
            0 => "no decision changed".to_owned(),
            changed => format!("{} changed", words::count(changed as u64, "decision")),
        };
        let changed = match downstream {
            0 => changed,
            all if all == decisions => format!("{changed}, all of them downstream"),
            some => format!("{changed}, {} of them downstream", words::thousands(some as u64)),
        };
        // Other changes must not be hidden if no decision changes.
        let also = [(rules, "session rule outcome"), (reports, "report")].into_iter();
        let also = also.filter(|(count, _)| *count > 0);
        let mut others: String =
            also.map(|(count, what)| format!(", {} changed", words::count(count as u64, what))).collect();
        if tools > 0 {
            others += &format!(", a tool became visible or hidden {}", words::count(tools as u64, "time"));
        }
        // A rule that no session exercises changes no decision.
        if let Some(edited) = model.comparison().and_then(|comparison| diff::rules_summary(comparison)) {
            others += &format!(", {edited}");
        }
        model.say(format!("{when}: {changed}{others}"));
    }
}
