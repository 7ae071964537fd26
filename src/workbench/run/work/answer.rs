//! Messages of background work to the loop.

use std::sync::mpsc::Sender;

use crate::workbench::message::{Arrived, Msg};

/// Sends the loop a message.
pub(super) fn tell(out: &Sender<Arrived>, message: Msg) {
    // The receiver is gone once the workbench is closed.
    let _ = out.send(Arrived::Work(message));
}

/// Sends the loop a bulk message about sessions.
pub(super) fn tell_later(out: &Sender<Arrived>, message: Msg) {
    let _ = out.send(Arrived::Bulk(message));
}

/// The note if the program itself failed.
pub(super) fn fault(what: &str) -> Msg {
    Msg::Note { failed: true, text: format!("a fault of the program while {what}; the rest goes on") }
}
