//! Policies and recordings arrive, and what was decided by the ones on the others.

use std::rc::Rc;
use std::sync::Arc;

use super::go;
use crate::diagnostic::Diagnostic;
use crate::policy::Loaded;
use crate::replay::Replay;
use crate::session::Session;
use crate::workbench::effect::{Effect, Judge};
use crate::workbench::model::{Entry, Model, Note, Overlay, sort_problems};

/// A policy was read. One that is not whole decides nothing: the last whole one goes on.
pub fn policy(model: &mut Model, loaded: Loaded, at: String, effects: &mut Vec<Effect>) {
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
                return;
            }
            let first = model.rules.policy.is_none();
            model.rules.policy = Some(policy);
            model.rules.since = at;
            if !first {
                model.note =
                    Some(Note { failed: false, text: format!("policy read at {}", model.rules.since) });
            }
            judge_all(model, effects);
        }
        None => {
            model.rules.stale = true;
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
            entry.replay = Some((generation, Rc::from(replay)));
        }
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
