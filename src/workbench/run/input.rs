//! The thread that reads keys. It reads only on request, once: while the user's editor has the terminal, every key
//! belongs to the editor.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEventKind, MouseButton, MouseEvent, MouseEventKind, poll, read};
use ratatui::layout::{Position, Size};

use crate::workbench::keys::Key;
use crate::workbench::message::{Arrived, Mouse, MouseAct, Msg};
use crate::workbench::run::work::background::Precedence;

/// The means to let the thread read.
pub struct Input {
    tokens: Sender<()>,
}

/// How long further events are waited for. Not zero: otherwise events that were read but not returned yet would not
/// count, and every key of a paste would have a frame of its own.
const MORE: Duration = Duration::from_millis(1);
/// The same within a paste, which may come over a slow line: its end must not be taken for commands.
const MORE_OF_PASTE: Duration = Duration::from_millis(30);
/// Most keys that arrive together without being a paste: repeated ones that waited, or those of a script.
const TYPED: usize = 128;

impl Input {
    /// Starts the thread; it answers each token with [`Arrived::Input`] once.
    pub fn start(keys: Arc<Precedence>, out: Sender<Arrived>) -> Self {
        let (tokens, waiting) = channel();
        thread::spawn(move || {
            while waiting.recv().is_ok() {
                if out.send(Arrived::Input(batch(&keys))).is_err() {
                    return;
                }
            }
        });
        Self { tokens }
    }

    /// Lets it read. An error means that the thread is gone; then nothing more is read, and other threads end the loop.
    pub fn allow(&self) {
        let _ = self.tokens.send(());
    }
}

/// Typed input: waits for the first event, and adds those that are already there.
fn batch(keys: &Precedence) -> Vec<Msg> {
    let mut burst = Burst::default();
    loop {
        match read() {
            Ok(event) => {
                keys.begin();
                burst.add(event);
            }
            Err(_) => burst.end(Msg::End),
        }
        if burst.ended || !poll(burst.patience()).unwrap_or(false) {
            return burst.messages();
        }
    }
}

/// Events that arrive without a pause. A terminal that does not mark pastes sends them as keys; more of them than a
/// person types at once are a paste, so that they are not commands and `Ctrl-c` does not wait for all of them.
#[derive(Default)]
struct Burst {
    messages: Vec<Msg>,
    /// The number of them that are keys of text.
    keys: usize,
    /// The text after the number of keys that a person types.
    pasted: String,
    ended: bool,
}

/// The key that is a command whatever it arrives with.
const QUIT: Key = Key { code: KeyCode::Char('c'), ctrl: true, alt: false };

impl Burst {
    fn add(&mut self, event: Event) {
        let message = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => return self.key(Key::from(key)),
            Event::Paste(text) => Msg::Paste(text),
            Event::Resize(width, height) => Msg::Resize(Size::new(width, height)),
            Event::Mouse(MouseEvent { kind, column, row, .. }) => {
                let act = match kind {
                    MouseEventKind::Down(MouseButton::Left) => MouseAct::Click,
                    MouseEventKind::ScrollUp => MouseAct::Up,
                    MouseEventKind::ScrollDown => MouseAct::Down,
                    _ => return,
                };
                Msg::Mouse(Mouse { at: Position::new(column, row), act })
            }
            Event::Key(_) | Event::FocusGained | Event::FocusLost => return,
        };
        self.messages.push(message);
    }

    fn key(&mut self, key: Key) {
        self.ended |= key == QUIT;
        match text_of(key) {
            Some(c) if self.is_paste() => self.pasted.push(c),
            text => {
                self.keys += usize::from(text.is_some());
                self.messages.push(Msg::Key(key));
            }
        }
    }

    fn end(&mut self, message: Msg) {
        self.messages.push(message);
        self.ended = true;
    }

    fn is_paste(&self) -> bool {
        self.keys > TYPED
    }

    fn patience(&self) -> Duration {
        if self.is_paste() { MORE_OF_PASTE } else { MORE }
    }

    /// The messages for the loop: consecutive characters are one message.
    fn messages(self) -> Vec<Msg> {
        let paste = self.is_paste();
        let (mut messages, mut text) = (Vec::new(), String::new());
        for message in self.messages {
            match message {
                Msg::Key(key) if paste => match text_of(key) {
                    Some(c) => text.push(c),
                    // A control character in the midst of a paste is no command either.
                    None if key == QUIT => messages.push(Msg::Key(key)),
                    None => {}
                },
                Msg::Key(Key { code: KeyCode::Char(c), ctrl: false, alt: false }) => {
                    match messages.last_mut() {
                        Some(Msg::Typed(typed)) => typed.push(c),
                        _ => messages.push(Msg::Typed(c.into())),
                    }
                }
                other => messages.push(other),
            }
        }
        if paste {
            messages.insert(0, Msg::Paste(text + &self.pasted));
        }
        messages
    }
}

/// The text of a key: ends of lines come as `Enter`, or as the control character that they are.
fn text_of(key: Key) -> Option<char> {
    match (key.code, key.ctrl, key.alt) {
        (KeyCode::Char(c), false, false) => Some(c),
        (KeyCode::Enter, ..) | (KeyCode::Char('j'), true, false) => Some('\n'),
        (KeyCode::Tab, ..) => Some('\t'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn burst(text: &str, more: &[Key]) -> Vec<String> {
        let mut burst = Burst::default();
        let keys = text.chars().map(|c| match c {
            '\r' => Key { code: KeyCode::Enter, ..QUIT },
            c => Key::char(c),
        });
        keys.chain(more.iter().copied()).for_each(|key| burst.key(key));
        let spelt = |message| match message {
            Msg::Key(key) => key.to_string(),
            Msg::Typed(text) => format!("typed {text}"),
            Msg::Paste(text) => format!("pasted {text}"),
            _ => "else".to_owned(),
        };
        burst.messages().into_iter().map(spelt).collect()
    }

    #[test]
    fn more_keys_than_anybody_types_are_a_paste() {
        let up = Key { code: KeyCode::Up, ctrl: false, alt: false };
        assert_eq!(burst("]f", &[up, Key::char('j')]), ["typed ]f", "Up", "typed j"]);
        assert_eq!(burst("/ab\rn", &[]), ["typed /ab", "Ctrl-Enter", "typed n"]);
        let long = "q".repeat(TYPED);
        assert_eq!(burst(&long, &[]), [format!("typed {long}")]);
        assert_eq!(burst(&format!("{long}\rq"), &[up]), [format!("pasted {long}\nq")]);
        assert_eq!(burst(&format!("{long}qq"), &[QUIT]), [format!("pasted {long}qq"), "Ctrl-c".to_owned()]);
    }

    #[test]
    fn a_burst_is_over_where_somebody_wants_to_leave() {
        let mut burst = Burst::default();
        for _ in 0..1_000 {
            burst.key(Key::char('x'));
        }
        assert!(!burst.ended && burst.patience() == MORE_OF_PASTE);
        burst.key(QUIT);
        assert!(burst.ended);
    }
}
