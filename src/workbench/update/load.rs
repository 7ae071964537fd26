//! A policy arrives, and its decisions about the recordings.

use std::sync::Arc;

use super::{compare, judge, jump, overlays};
use crate::report::words;
use crate::workbench::effect::Effect;
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::list::List;
use crate::workbench::message::{ComparedSession, JudgedSession};
use crate::workbench::model::{Load, Model, SessionChanges, SessionDecisions, sort_problems};
use crate::workbench::popup::{findings, texts};
use rulestep_base::diagnostic::Severity;
use rulestep_engine::policy::{LoadResult, Policy};

/// A policy was read. One that is not complete decides nothing: the last complete one stays in use.
pub fn policy(model: &mut Model, loaded: LoadResult, at: String, effects: &mut Vec<Effect>) {
    let asked = std::mem::take(&mut model.work.asked);
    model.basis.rules.read = true;
    model.basis.rules.problems = loaded.diagnostics;
    sort_problems(&mut model.basis.rules.problems);
    match loaded.policy {
        Some(policy) => {
            let same = model.basis.rules.policy.as_ref().is_some_and(|old| old.digest() == policy.digest());
            let fixed = std::mem::take(&mut model.basis.rules.stale);
            if same {
                // Its decisions still hold; nothing is judged again.
                if fixed {
                    model.say(format!("the policy loads again, as it was at {}", model.basis.rules.since));
                } else if asked {
                    model.say("the policy is unchanged");
                }
            } else {
                let edited = model.basis.rules.loads.newest().is_some();
                model.basis.rules.documents = loaded.documents;
                model.basis.rules.since = at.clone();
                model.basis.rules.loads.push(Load { at, policy: Arc::clone(&policy) });
                model.basis.rules.policy = Some(policy);
                compare::renew(model);
                model.basis.changes.to_tell = model.basis.changes.comparison.is_some();
                if edited {
                    *model.list_mut(Pane::Changes) = List::default();
                    model.say(format!("policy read at {}", model.basis.rules.since));
                }
                judge::judge_all(model, effects);
                texts::renew(model, effects);
            }
        }
        None => {
            model.basis.rules.stale = true;
            let errors =
                model.basis.rules.problems.iter().filter(|told| told.severity == Severity::Error).count();
            if asked {
                let text = format!(
                    "the policy does not load: {}, {} lists them",
                    words::count(errors as u64, "error"),
                    model.key(Command::Problems)
                );
                model.fail(text);
            } else {
                // The note about an earlier load no longer holds; the problem line has the current state.
                model.dialog.note = None;
            }
            if model.basis.rules.policy.is_none() {
                model.basis.rules.documents = loaded.documents;
            }
        }
    }
    overlays::renew(model);
}

/// Sessions were judged; what answers an older request, or is about an older version of a session, is dropped.
pub fn judged(model: &mut Model, generation: u64, sessions: Vec<JudgedSession>) {
    if generation != model.work.generation {
        return;
    }
    for JudgedSession { place, decisions } in sessions {
        if let Some(at) = model.place_of(&decisions.judgement.of, place) {
            decide(model, at, decisions);
        }
    }
    decided(model);
}

/// Takes the decisions on the session of an entry in the newest request.
pub fn decide(model: &mut Model, at: usize, decisions: SessionDecisions) {
    let SessionDecisions { judgement, row, replay } = decisions;
    // The numbers of a what-if are known when it is judged.
    if at == model.place.open && model.shown_supposed().is_none() {
        renumber_pinned(model, &judgement.policy);
    }
    let Some(entry) = model.archive.entries.get_mut(at) else { return };
    entry.row.decide(&row, judgement.policy.rules(), &mut model.archive.names);
    model.archive.table.note_change();
    model.work.judged += usize::from(!entry.is_judged(judgement.generation));
    // If the session was restored for it, that copy is the one on screen from now on.
    if at == model.place.open
        && let Some(opened) =
            model.place.opened.as_mut().filter(|opened| Arc::ptr_eq(&opened.of, &judgement.of))
        && let Some(replay) = &replay
    {
        opened.content = Ok(Arc::clone(replay.session()));
    }
    entry.judge(judgement, replay);
    if at == model.place.open {
        jump::arrive(model);
    } else {
        entry.shed();
    }
}

/// After sessions were judged.
pub fn decided(model: &mut Model) {
    shed(model);
    findings::recollect_at_times(model);
    if model.judging().is_none() {
        // The policy may have something to say about recordings.
        overlays::renew(model);
    }
}

/// Entries whose replays leave memory at a time: dropping one takes some microseconds.
const SHED: usize = 64;

/// Once the sessions do not all fit into memory, earlier replays leave it too, a few at a time.
fn shed(model: &mut Model) {
    let open = model.place.open;
    let (from, all) = (model.archive.shed, model.archive.entries.len());
    let first = model.archive.entries.get(from).and_then(|entry| entry.session.as_ref());
    if !first.is_some_and(|session| session.may_leave()) && from < all {
        return;
    }
    let to = all.min(from + SHED);
    let entries = model.archive.entries.get_mut(from..to).unwrap_or_default().iter_mut();
    entries.zip(from..).filter(|(_, at)| *at != open).for_each(|(entry, _)| entry.shed());
    model.archive.shed = to;
}

/// Another policy has other rule numbers: the selected one is shown under its new number.
fn renumber_pinned(model: &mut Model, policy: &Policy) {
    let known = model.place.pinned.and_then(|pinned| model.rule(pinned)).map(|rule| Arc::clone(&rule.id));
    let rules = policy.rules();
    model.place.pinned =
        known.and_then(|known| rules.iter().find(|(_, rule)| rule.id == known)).map(|(id, _)| id);
}

/// Sessions were compared; as with [`judged`], old answers are dropped.
pub fn compared(model: &mut Model, generation: u64, sessions: Vec<ComparedSession>) {
    if generation != model.work.generation {
        return;
    }
    for ComparedSession { place, session, changes } in sessions {
        if let Some(at) = model.place_of(&session, place) {
            change(model, at, changes);
        }
    }
    judge::tell_changed(model);
}

/// Takes in what changed in the session of an entry.
pub fn change(model: &mut Model, at: usize, SessionChanges { base, changes }: SessionChanges) {
    if let (Some(entry), Some(base)) = (model.archive.entries.get_mut(at), base)
        && (at == model.place.open || entry.session.as_ref().is_some_and(|session| !session.may_leave()))
    {
        entry.base = Some(base);
    }
    model.set_changes(at, changes);
}
