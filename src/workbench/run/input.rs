//! The thread that reads keys. It reads only when it is told to, once: while somebody's editor has the terminal,
//! every key is the editor's.

use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use crossterm::event::{Event, KeyEventKind, poll, read};
use ratatui::layout::Size;

use super::Arrived;
use crate::workbench::keys::Key;
use crate::workbench::message::Msg;

/// The means to let the thread read.
pub struct Input {
    tokens: Sender<()>,
}

/// Events that are handed over together at most.
const TOGETHER: usize = 64;
/// How long more events are waited for. Not zero: then events that were read but not handed out yet do not count, and
/// every key of a paste would have a frame of its own.
const MORE: Duration = Duration::from_millis(1);

impl Input {
    /// Starts the thread; it answers each token with [`Arrived::Input`] once.
    #[must_use]
    pub fn start(out: Sender<Arrived>) -> Self {
        let (tokens, waiting) = channel();
        thread::spawn(move || {
            while waiting.recv().is_ok() {
                if out.send(Arrived::Input(batch())).is_err() {
                    return;
                }
            }
        });
        Self { tokens }
    }

    /// Lets it read. An error means that the thread is gone; then nothing more is read, and the loop is told by others.
    pub fn allow(&self) {
        let _ = self.tokens.send(());
    }
}

/// What was typed: waits for the first event, takes what is there besides. A paste typed as keys comes in few batches.
fn batch() -> Vec<Msg> {
    let mut messages = Vec::new();
    loop {
        match read() {
            Ok(event) => messages.extend(message(event)),
            Err(_) => {
                messages.push(Msg::End);
                return messages;
            }
        }
        if messages.len() >= TOGETHER || !poll(MORE).unwrap_or(false) {
            return messages;
        }
    }
}

fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(Msg::Key(Key::from(key))),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Resize(width, height) => Some(Msg::Resize(Size::new(width, height))),
        Event::Key(_) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
    }
}
