//! Background work on single turns: their frames, and the search for one that hides a tool.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::workbench::effect::{FrameRequest, HiddenSearch};
use crate::workbench::message::Msg;
use crate::workbench::model::frame::{FrameWish, Framed, Frames, Taking};
use rulestep_engine::replay::{Frame, Replay};

/// Turns before and after the selected one whose frames are made together with its own.
const NEAR: u32 = 8;
/// Turns searched together when a search goes backwards.
const CHUNK: u32 = 64;

/// Makes frames, as long as `newest` is the number of this request.
pub fn make(request: &FrameRequest, newest: &AtomicU64) -> Option<Msg> {
    let is_newest = || newest.load(Ordering::SeqCst) == request.number;
    let mut made = Vec::with_capacity(request.wishes.len());
    for wish in request.wishes.iter() {
        if !is_newest() {
            return None;
        }
        made.push((wish.side, frames(wish)));
    }
    Some(Msg::Frames { number: request.number, made })
}

/// A turn with those around it, so that going to and fro stays inside.
fn frames(wish: &FrameWish) -> Frames {
    let FrameWish { replay, turn, choice, .. } = wish;
    let near = replay.frames(turn.saturating_sub(NEAR).max(1), turn.saturating_add(NEAR));
    let frame = near.iter().find(|frame| frame.turn == *turn).cloned();
    let framed = frame.map(|frame| Framed { replay: Arc::clone(replay), turn: *turn, frame, near });
    let taking = choice.and_then(|at| {
        let (taken, call) = replay.not_taken(at)?;
        Some(Taking { of: Arc::clone(replay), at, replay: taken, call })
    });
    Frames { framed, taking }
}

/// Searches for the next turn that hides a tool which the turn before it showed, as long as `newest` is the number of
/// this search.
pub fn look(search: &HiddenSearch, newest: &AtomicU64) -> Option<Msg> {
    let HiddenSearch { number, replay, turn, forward } = search;
    let is_over = || newest.load(Ordering::SeqCst) != *number;
    let found = match forward {
        true => hiding(replay, *turn, u32::MAX, &is_over, true),
        false => {
            let mut last = turn.saturating_sub(1);
            loop {
                // Each part begins with the turn before the first one asked about.
                let first = last.saturating_sub(CHUNK).max(1);
                match hiding(replay, first, last, &is_over, false) {
                    None if first > 1 && !is_over() => last = first,
                    found => break found,
                }
            }
        }
    };
    (!is_over()).then_some(Msg::Hidden { number: *number, turn: found })
}

/// The first or the last turn after `from`, up to `to`, that hides a tool which the turn before it showed.
fn hiding(replay: &Replay, from: u32, to: u32, is_over: &dyn Fn() -> bool, is_first: bool) -> Option<u32> {
    let (mut before, mut found): (Option<Frame>, _) = (None, None);
    replay.each_frame(from, to, &mut |frame| {
        if before.as_ref().is_some_and(|before| hides_more(before, &frame)) {
            found = Some(frame.turn);
        }
        before = Some(frame);
        match is_over() || is_first && found.is_some() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    found
}

fn hides_more(before: &Frame, after: &Frame) -> bool {
    let is_visible = |name: &str| {
        before.narrowing.tools.iter().find(|tool| &*tool.tool == name).is_none_or(|tool| tool.visible())
    };
    after.narrowing.tools.iter().any(|tool| !tool.visible() && is_visible(&tool.tool))
}
