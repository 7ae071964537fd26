//! The frames of the selected turn, and the next turn that hides a tool: requested here, made on another thread.

use std::sync::Arc;

use super::go;
use crate::compare::Side;
use crate::workbench::effect::{Effect, FrameRequest, HiddenSearch};
use crate::workbench::model::frame::{FrameQuery, Frames};
use crate::workbench::model::{Model, PendingHidden};

/// Requests the missing frames of the selected turn, unless that is the latest request.
pub fn ask(model: &mut Model, effects: &mut Vec<Effect>) {
    let wishes = [Side::New, Side::Base].into_iter().filter_map(|side| model.frame_wish(side));
    let wishes: Vec<_> = wishes.filter(|wish| !wish.is_met(model.frames(wish.side))).collect();
    if wishes.is_empty() {
        model.work.frames = None;
        return;
    }
    if model.work.frames.as_ref().is_some_and(|query| query.wishes == wishes) {
        return;
    }
    let number = model.work.next_number();
    effects.push(Effect::Frames(Box::new(FrameRequest { number, wishes: wishes.clone() })));
    model.work.frames = Some(FrameQuery { number, wishes, answered: false });
}

/// Frames arrived; those that are no longer wanted are dropped.
pub fn arrived(model: &mut Model, number: u64, made: Vec<(Side, Frames)>) {
    let Some(query) = model.work.frames.as_mut().filter(|query| query.number == number) else { return };
    query.answered = true;
    for (side, frames) in made {
        *model.frames_mut(side) = frames;
    }
}

/// Searches for the next turn that hides a tool which the turn before it showed.
pub fn hidden(model: &mut Model, forward: bool, effects: &mut Vec<Effect>) {
    let (Some(replay), Some(turn)) = (model.replay().cloned(), model.turn().map(|turn| turn.number)) else {
        return;
    };
    let number = model.work.next_number();
    model.work.hidden = Some(PendingHidden { number, replay: Arc::clone(&replay), turn, forward });
    effects.push(Effect::Hidden(Box::new(HiddenSearch { number, replay, turn, forward })));
}

/// It is found, or there is none. If the user has gone elsewhere meanwhile, nothing moves.
pub fn found(model: &mut Model, number: u64, found: Option<u32>) {
    let Some(pending) = model.work.hidden.take_if(|pending| pending.number == number) else { return };
    let is_here = model.replay().is_some_and(|replay| Arc::ptr_eq(replay, &pending.replay))
        && model.turn().is_some_and(|turn| turn.number == pending.turn);
    if !is_here {
        return;
    }
    match found.and_then(|turn| model.derived.rows.of_turn(turn)) {
        Some(row) => go::to_row(model, row),
        None if pending.forward => model.say("no tool is hidden after this"),
        None => model.say("no tool was hidden before this"),
    }
}
