//! The frame of the selected turn, and the selection in choices that were not taken.
//!
//! A frame replays a part of its session, so it is made on another thread: until it arrives, the previous one is shown
//! with a remark.

use std::sync::Arc;

use super::Model;
use crate::compare::Side;
use rulestep_base::session::{AlternativeRef, Call};
use rulestep_engine::replay::{Frame, Replay};

/// The frames of a version around the selected turn.
#[derive(Default)]
pub struct Frames {
    /// The turn.
    pub framed: Option<Framed>,
    /// The selected call of a choice that was not taken.
    pub taking: Option<Taking>,
}

/// The frame of a turn, with its version.
pub struct Framed {
    /// The replay it was made of.
    pub replay: Arc<Replay>,
    /// The turn, from 1.
    pub turn: u32,
    /// The frame.
    pub frame: Frame,
    /// The frames around it: in a long session one frame costs nearly as much as a few in a row.
    pub near: Vec<Frame>,
}

/// A call of a choice that was not taken, in the session that takes it: its evidence may be calls beside it, which are
/// not in the open session.
pub struct Taking {
    /// The replay it was made of.
    pub of: Arc<Replay>,
    /// Its reference.
    pub at: AlternativeRef,
    /// The judgement of that session.
    pub replay: Replay,
    /// The call in it.
    pub call: Call,
}

/// The requested frames of one version.
#[derive(Clone)]
pub struct FrameWish {
    /// The version.
    pub side: Side,
    /// Its replay.
    pub replay: Arc<Replay>,
    /// The turn, from 1.
    pub turn: u32,
    /// The call of a choice that was not taken.
    pub choice: Option<AlternativeRef>,
}

/// The newest request for frames.
pub struct FrameQuery {
    /// Its number.
    pub number: u64,
    /// Its wishes.
    pub wishes: Vec<FrameWish>,
    /// Whether it is answered.
    pub answered: bool,
}

impl Framed {
    /// The frame of the turn before.
    pub fn before(&self) -> Option<&Frame> {
        self.near.iter().find(|frame| frame.turn + 1 == self.turn)
    }

    /// Goes to another turn, if its frame and the one before it are there: the turn before shows which tools have
    /// become visible or hidden.
    pub fn go(&mut self, turn: u32) {
        let has_before = turn == 1 || self.near.iter().any(|frame| frame.turn + 1 == turn);
        if let Some(frame) = self.near.iter().find(|frame| frame.turn == turn).filter(|_| has_before) {
            (self.turn, self.frame) = (turn, frame.clone());
        }
    }
}

impl FrameWish {
    /// Whether the known frames are those requested.
    pub fn is_met(&self, frames: &Frames) -> bool {
        let is_framed =
            |framed: &Framed| Arc::ptr_eq(&framed.replay, &self.replay) && framed.turn == self.turn;
        let is_taken =
            |taking: &Taking| Arc::ptr_eq(&taking.of, &self.replay) && Some(taking.at) == self.choice;
        frames.framed.as_ref().is_some_and(is_framed)
            && (self.choice.is_none() || frames.taking.as_ref().is_some_and(is_taken))
    }
}

impl PartialEq for FrameWish {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.replay, &other.replay)
            && (self.side, self.turn, self.choice) == (other.side, other.turn, other.choice)
    }
}

impl Model {
    /// The frames that the current selection needs from a version.
    pub fn frame_wish(&self, side: Side) -> Option<FrameWish> {
        let replay = match side {
            Side::New => self.replay()?,
            Side::Base => self.entry()?.base.as_ref().filter(|_| self.splits())?,
        };
        let (replay, turn, choice) = (Arc::clone(replay), self.turn()?.number, self.not_taken());
        Some(FrameWish { side, replay, turn, choice })
    }

    /// The frames of a version.
    pub fn frames(&self, side: Side) -> &Frames {
        match side {
            Side::New => &self.place.frames,
            Side::Base => &self.place.base_frames,
        }
    }

    /// The same, to change it.
    pub fn frames_mut(&mut self, side: Side) -> &mut Frames {
        match side {
            Side::New => &mut self.place.frames,
            Side::Base => &mut self.place.base_frames,
        }
    }

    /// Whether an answer about the selected turn is under way.
    pub fn awaits_frames(&self) -> bool {
        self.work.frames.as_ref().is_some_and(|query| !query.answered)
    }
}
