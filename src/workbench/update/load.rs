//! Policies and recordings arrive, and what was decided by the ones on the others.

use std::rc::Rc;
use std::sync::Arc;

use super::{go, say};
use crate::diagnostic::{Diagnostic, Severity};
use crate::policy::Loaded;
use crate::replay::Replay;
use crate::report::words;
use crate::session::Session;
use crate::workbench::effect::{Effect, Judge};
use crate::workbench::keys::Command;
use crate::workbench::model::{Entry, Model, Note, Overlay, sort_problems};

/// A policy was read. One that is not whole decides nothing: the last whole one goes on.
pub fn policy(model: &mut Model, loaded: Loaded, at: String, effects: &mut Vec<Effect>) {
    let asked = std::mem::take(&mut model.asked);
    model.rules.read = true;
    model.rules.problems = loaded.diagnostics;
    sort_problems(&mut model.rules.problems);
    match loaded.policy {
        Some(policy) => {
            let same = model.rules.policy.as_ref().is_some_and(|old| old.digest() == policy.digest());
            let was_stale = model.rules.stale;
            model.rules.stale = false;
            model.rules.documents = loaded.documents;
            if same && !was_stale {
                if asked {
                    say(model, "the policy is unchanged");
                }
                return;
            }
            let first = model.rules.policy.is_none();
            model.rules.policy = Some(policy);
            model.rules.since = at;
            if !first {
                say(model, format!("policy read at {}", model.rules.since));
            }
            judge_all(model, effects);
            model.changed = (!first).then_some(0);
        }
        None => {
            model.rules.stale = true;
            let errors = model.rules.problems.iter().filter(|told| told.severity == Severity::Error).count();
            if asked {
                let text = format!(
                    "the policy does not load: {}, {} lists them",
                    words::count(errors as u64, "error"),
                    Command::Problems.key()
                );
                model.note = Some(Note { failed: true, text });
            }
            if model.rules.policy.is_none() {
                model.rules.documents = loaded.documents;
            }
        }
    }
    go::keep_all(model);
}

/// A file was read.
pub fn sessions(
    model: &mut Model,
    file: &Arc<str>,
    sessions: Vec<Arc<Session>>,
    diagnostics: Vec<Diagnostic>,
    progress: (usize, usize),
    effects: &mut Vec<Effect>,
) {
    model.reading = Some(progress);
    let before = model.entries.len();
    if sessions.is_empty() {
        if diagnostics.is_empty() {
            return;
        }
        // Something at the end of a file whose sessions are here already.
        if let Some(entry) = model.entries.iter_mut().rev().find(|entry| entry.file == *file) {
            entry.diagnostics.extend(diagnostics);
            return;
        }
        model.entries.push(Entry {
            name: Arc::clone(file),
            file: Arc::clone(file),
            session: None,
            diagnostics,
            replay: None,
            left_at: None,
        });
    } else {
        let mut diagnostics = Some(diagnostics);
        for session in sessions {
            model.entries.push(Entry {
                name: Arc::clone(&session.id),
                file: Arc::clone(file),
                session: Some(session),
                diagnostics: diagnostics.take().unwrap_or_default(),
                replay: None,
                left_at: None,
            });
        }
    }
    if before == 0 {
        go::show_open(model);
    }
    judge(model, before, effects);
}

/// Judges everything anew, the open session first.
pub fn judge_all(model: &mut Model, effects: &mut Vec<Effect>) {
    model.generation += 1;
    model.judged = 0;
    model.changed = None;
    judge(model, 0, effects);
}

/// Asks for the sessions from this entry on to be judged.
fn judge(model: &Model, from: usize, effects: &mut Vec<Effect>) {
    let Some(policy) = &model.rules.policy else { return };
    let place = |at: usize| Some((at, Arc::clone(model.entries.get(at)?.session.as_ref()?)));
    let open = (model.open >= from).then_some(model.open);
    let others = (from..model.entries.len()).filter(|at| Some(*at) != open);
    let sessions: Vec<_> = open.into_iter().chain(others).filter_map(place).collect();
    if !sessions.is_empty() {
        let (generation, mode) = (model.generation, model.mode);
        effects.push(Effect::Judge(Judge { generation, policy: Arc::clone(policy), mode, sessions }));
    }
}

/// Sessions were judged; what answers an older request is dropped.
pub fn judged(model: &mut Model, generation: u64, replays: Vec<(usize, Box<Replay>)>) {
    if generation != model.generation {
        return;
    }
    for (at, replay) in replays {
        if let Some(entry) = model.entries.get_mut(at) {
            let new = entry.replay.as_ref().is_none_or(|(old, _)| *old != generation);
            model.judged += usize::from(new);
            if new && let (Some(changed), Some((_, old))) = (&mut model.changed, &entry.replay) {
                *changed += differing(old, &replay);
            }
            if at == model.open {
                // Another policy gives its rules other numbers.
                model.pinned = None;
            }
            entry.replay = Some((generation, Rc::from(replay)));
        }
    }
    if model.judging().is_none()
        && let Some(changed) = model.changed.take()
    {
        let changed = match changed {
            0 => "no decision changed".to_owned(),
            changed => format!("{} changed", words::count(changed as u64, "decision")),
        };
        say(model, format!("policy read at {}: {changed}", model.rules.since));
    }
    // The list of findings, if it is open, takes in what is new.
    let Some(place) = model.overlays.iter().position(|overlay| matches!(overlay, Overlay::Findings(_)))
    else {
        return;
    };
    let Overlay::Findings(mut view) = model.overlays.remove(place) else { return };
    view.collect(model);
    model.overlays.insert(place, Overlay::Findings(view));
    go::keep_all(model);
}

/// How many calls the two decide otherwise.
fn differing(old: &Replay, new: &Replay) -> usize {
    let pairs = old.calls().iter().zip(new.calls());
    pairs.filter(|(old, new)| old.decision.verdict != new.decision.verdict).count()
}
