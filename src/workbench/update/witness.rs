//! The smallest part of a session that still shows a denial or a change: requesting it, and opening it.

use std::sync::Arc;

use super::{go, jump};
use crate::compare::ChangePlace;
use crate::stored::StoredSession;
use crate::what_if::WhatIf;
use crate::witness::Witness;
use crate::workbench::effect::{Effect, Wanted};
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::model::supposed::{Land, Layer, Looking, Smallest};
use crate::workbench::model::{ChangeRow, Model};

/// Asks for the witness of the change under the cursor, else of the selected call's denial.
pub fn begin(model: &mut Model, effects: &mut Vec<Effect>) {
    match wanted(model) {
        Ok((looking, wanted)) => {
            model.work.requests = wanted.number;
            model.work.looking = Some(looking);
            model.say("looking for the smallest part of the session that still shows it");
            effects.push(Effect::Witness(Some(Box::new(wanted))));
        }
        Err(why) => model.say(why),
    }
}

fn wanted(model: &Model) -> Result<(Looking, Wanted), &'static str> {
    let number = model.work.requests + 1;
    let recorded = |entry: usize| -> Result<Arc<StoredSession>, &'static str> {
        model.archive.entries.get(entry).and_then(|entry| entry.session.clone()).ok_or("no session is open")
    };
    if model.place.focus == Pane::Changes {
        let row = model.change_rows(model.list(Pane::Changes).cursor).next();
        let Some(ChangeRow::Change(entry, change)) = row else {
            return Err("this row is not a change");
        };
        let ChangePlace::Call(at) = change.at else {
            return Err("only a call that is decided differently has a minimal example");
        };
        return of_change(model, entry, recorded(entry)?, at.index, true);
    }
    let call = model.call().ok_or("no call is selected")?.at.index;
    let stops = model.judged_call().is_some_and(|judged| judged.decision.verdict.stops());
    if !stops && model.change_here().is_some() {
        return of_change(model, model.place.open, recorded(model.place.open)?, call, false);
    }
    let replay = model
        .replay()
        .filter(|_| stops)
        .ok_or("this is neither stopped nor decided differently, so there is nothing to show")?;
    let (session, policy) = (Arc::clone(replay.session()), Arc::clone(replay.policy()));
    let wanted =
        Wanted { number, session: Arc::clone(&session), against: None, policy, mode: replay.mode(), call };
    let (entry, recorded) = (model.place.open, recorded(model.place.open)?);
    Ok((Looking { number, entry, recorded, session, call, change: false, listed: false }, wanted))
}

/// For a call that is decided differently in a recorded session.
fn of_change(
    model: &Model,
    entry: usize,
    recorded: Arc<StoredSession>,
    call: u32,
    listed: bool,
) -> Result<(Looking, Wanted), &'static str> {
    let number = model.work.requests + 1;
    let session = recorded.session().map_err(|_| "the session cannot be read back")?;
    let comparison = model.comparison().ok_or("there is nothing to compare with")?;
    let (against, policy) = (Some(Arc::clone(comparison)), Arc::clone(comparison.policy()));
    let wanted =
        Wanted { number, session: Arc::clone(&session), against, policy, mode: model.basis.mode, call };
    Ok((Looking { number, entry, recorded, session, call, change: true, listed }, wanted))
}

/// It is found, or there is none. An answer to an older request is dropped.
pub fn found(model: &mut Model, number: u64, found: Option<Box<Witness>>) {
    let Some(looking) = model.work.looking.take_if(|looking| looking.number == number) else { return };
    let Some(witness) = found else {
        model.fail("no part of the session is enough to show it");
        return;
    };
    let Some(entry) = model.place_of(&looking.recorded, looking.entry) else {
        return model.say("the session was recorded again meanwhile");
    };
    let still = model.session().is_some_and(|session| Arc::ptr_eq(session, &looking.session));
    let here = entry == model.place.open && still;
    if !(looking.listed || here) {
        return model.say("a minimal example was found, but something else was opened meanwhile");
    }
    if looking.listed {
        jump::leave(model);
        go::open(model, entry);
        go::focus(model, Pane::Transcript);
    }
    let mut what_if = WhatIf::default();
    if let Some((_, shown)) = model.shown_supposed().filter(|_| !looking.change) {
        // Rules that are switched off are off there, too.
        for rule in shown.what_if.off() {
            what_if.switch(rule);
        }
    }
    let (of, left) = (looking.session.calls.len(), witness.session().calls.len());
    let smallest = if witness.minimal { "minimal" } else { "not proven minimal" };
    let back = model.key(Command::Quit);
    model.say(format!("{left} of {of} calls show it, {smallest}; {back} goes back"));
    let land = witness.call(looking.call).map_or(Land::Stay, |at| Land::Call(at.index));
    let from = model.list(Pane::Transcript);
    let policy = model.basis.rules.policy.clone();
    let part =
        Smallest { witness: *witness, of, policy, recorded: looking.change, from, jumped: looking.listed };
    if let Some(entry) = model.archive.entries.get_mut(entry) {
        entry.supposed.push(Layer { part: Some(part), what_if, land, ..Layer::default() });
    }
}
