//! What is read: recordings, one after the other, and their sessions.

use std::convert::Infallible;

use rulestep_base::session::Session;
use rulestep_recording::Stretch;

/// Something that a recording gives, to be judged.
pub trait Weigh: Send {
    /// Its bytes, about.
    fn weight(&self) -> usize;
}

impl Weigh for Session {
    fn weight(&self) -> usize {
        weight(self)
    }
}

/// The sessions of one recording, in their order.
pub trait Recording: Iterator<Item: Weigh> + Send {
    /// What may be cut off it.
    type Part: Part;

    /// Its bytes, about.
    fn size(&self) -> u64;

    /// What comes next, where any thread can read that; it is much less work to cut it off than to read it. The next session is
    /// asked for only when all that was cut off is joined again.
    fn cut(&mut self) -> Option<Self::Part>;

    /// Takes back what was cut off, in the order of the recording; gives the sessions that are complete with it.
    fn join(&mut self, part: Self::Part) -> Vec<Self::Item>;
}

/// A part of a recording.
pub trait Part: Send {
    /// Does the work.
    fn read(&mut self);
}

impl Part for Stretch {
    fn read(&mut self) {
        Stretch::read(self);
    }
}

impl Part for Infallible {
    fn read(&mut self) {
        match *self {}
    }
}

/// Where recordings come from.
pub trait Recordings {
    /// One of them.
    type Recording: Recording;

    /// The next one. It may be waited for only where `no_other` is being read.
    fn begin(&mut self, no_other: bool) -> Option<Self::Recording>;

    /// Takes back one that was read, or whose reading was broken off.
    fn end(&mut self, recording: Self::Recording);
}

/// Bytes of recorded text, about.
pub fn weight(session: &Session) -> usize {
    let messages = session.messages.iter().map(|message| message.content.size() + 128);
    let calls = session.calls.iter().map(|call| call.arguments.size() + 256);
    messages.chain(calls).sum()
}
