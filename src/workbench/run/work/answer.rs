//! What work beside the loop tells it.

use std::sync::mpsc::Sender;

use crate::workbench::message::{Arrived, Msg};

/// Tells the loop.
pub(super) fn tell(out: &Sender<Arrived>, message: Msg) {
    // Nobody listens once the workbench is closed.
    let _ = out.send(Arrived::Work(message));
}

/// Tells the loop something about very many sessions, that nobody waits for.
pub(super) fn tell_later(out: &Sender<Arrived>, message: Msg) {
    let _ = out.send(Arrived::Bulk(message));
}

/// The note where the program itself failed.
pub(super) fn fault(what: &str) -> Msg {
    Msg::Note { failed: true, text: format!("a fault of the program while {what}; the rest goes on") }
}
