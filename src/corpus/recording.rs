//! The input: recordings, one after the other, and their sessions.

use std::convert::Infallible;

use rulestep_base::session::Session;
use rulestep_recording::Stretch;

/// An item of a recording, to be judged.
pub trait Weigh: Send {
    /// Its approximate size in bytes.
    fn weight(&self) -> usize;
}

impl Weigh for Session {
    fn weight(&self) -> usize {
        weight(self)
    }
}

/// The sessions of one recording, in their order.
pub trait Recording: Iterator<Item: Weigh> + Send {
    /// A part that can be cut off.
    type Part: Part;

    /// Its approximate size in bytes.
    fn size(&self) -> u64;

    /// Cuts off the next part, if any thread can read it; cutting is much less work than reading. The next session is
    /// requested only when all parts are joined again.
    fn cut(&mut self) -> Option<Self::Part>;

    /// Joins a part, in the order of the recording; returns the sessions that are complete with it.
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

/// A source of recordings.
pub trait Recordings {
    /// Its kind of recording.
    type Recording: Recording;

    /// The next one. It may be waited for only where `no_other` is being read.
    fn begin(&mut self, no_other: bool) -> Option<Self::Recording>;

    /// Takes back one that was read, or whose reading was aborted.
    fn end(&mut self, recording: Self::Recording);
}

/// Bytes of recorded text, about.
pub fn weight(session: &Session) -> usize {
    let messages = session.messages.iter().map(|message| message.content.size() + 128);
    let calls = session.calls.iter().map(|call| call.arguments.size() + 256);
    messages.chain(calls).sum()
}
