//! What is in the selected turn, and what is selected of what was not taken.

use std::rc::Rc;

use crate::replay::{Frame, Replay};
use crate::session::{AlternativeRef, Call};

/// The frame of a turn, and of which one it is.
pub struct Framed {
    /// The replay it was made of.
    pub replay: Rc<Replay>,
    /// The turn, from 1.
    pub turn: u32,
    /// The frame.
    pub frame: Frame,
    /// The frames around it: in a long session one frame costs nearly as much as a few in a row.
    pub near: Vec<Frame>,
}

/// A call of a choice that was not taken, in the session that takes it: its evidence may be calls beside it, which the
/// open session has not.
pub struct Taking {
    /// The replay it was made of.
    pub of: Rc<Replay>,
    /// How it is named.
    pub at: AlternativeRef,
    /// The judgement of that session.
    pub replay: Replay,
    /// The call in it.
    pub call: Call,
}

impl Framed {
    /// The frame of the turn before.
    pub fn before(&self) -> Option<&Frame> {
        self.near.iter().find(|frame| frame.turn + 1 == self.turn)
    }
}
