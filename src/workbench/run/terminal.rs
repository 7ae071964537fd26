//! The terminal while the workbench has it, and restoring it: on leaving, on an error, on a panic.

use std::io::{self, IsTerminal, Stdout, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Rect, Size};

use crate::workbench::draw;
use crate::workbench::model::Model;

/// The terminal, taken over. Dropping it restores the terminal.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

/// Whether the terminal is taken over just now; read by the panic hook and the handler of signals.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether the workbench has the terminal just now, and not an editor or the shell.
pub fn is_taken() -> bool {
    TAKEN.load(Ordering::SeqCst)
}

/// Whether the mouse is listened to while the terminal is taken over.
static MOUSE: AtomicBool = AtomicBool::new(false);

/// Listens to the mouse from now on, or leaves it to the terminal.
///
/// # Errors
/// The terminal cannot be written to.
pub fn listen_to_mouse(on: bool) -> io::Result<()> {
    MOUSE.store(on, Ordering::SeqCst);
    match (is_taken(), on) {
        (false, _) => Ok(()),
        (true, true) => capture(),
        (true, false) => execute!(stdout(), DisableMouseCapture),
    }
}

/// Clicks and the wheel, and no movement: each would wake the program.
#[cfg(not(windows))]
fn capture() -> io::Result<()> {
    execute!(stdout(), crossterm::style::Print("\x1b[?1000h\x1b[?1006h"))
}

#[cfg(windows)]
fn capture() -> io::Result<()> {
    execute!(stdout(), crossterm::event::EnableMouseCapture)
}

/// Why the workbench cannot be drawn here; `None` if it can.
pub fn unsuitable(term: Option<&str>) -> Option<&'static str> {
    if !stdout().is_terminal() {
        Some("the output is not a terminal")
    } else if term == Some("dumb") {
        Some("TERM is `dumb`, which cannot place text")
    } else {
        None
    }
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors It cannot be put into raw mode or written to.
    pub fn enter() -> io::Result<Self> {
        take()?;
        match Terminal::new(CrosstermBackend::new(stdout())) {
            Ok(terminal) => {
                let mut screen = Self { terminal };
                screen.forget()?;
                Ok(screen)
            }
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// Its size.
    ///
    /// # Errors The terminal does not report it.
    pub fn size(&self) -> io::Result<Size> {
        self.terminal.size()
    }

    /// Draws the model, in one go if the terminal can.
    ///
    /// # Errors The terminal cannot be written to.
    pub fn draw(&mut self, model: &Model) -> io::Result<()> {
        if !is_taken() {
            // A caught panic restored the terminal.
            self.retake()?;
        }
        execute!(stdout(), BeginSynchronizedUpdate)?;
        self.terminal.draw(|frame| {
            if let Some(cursor) = draw::draw(model, frame.buffer_mut()) {
                frame.set_cursor_position(cursor);
            }
        })?;
        execute!(stdout(), EndSynchronizedUpdate)
    }

    /// Clears the screen, so that the next drawing draws everything.
    ///
    /// # Errors The terminal cannot be written to.
    pub fn forget(&mut self) -> io::Result<()> {
        // Not `clear`: that asks the terminal for the place of the cursor, and waits for a terminal that does not
        // answer.
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }

    /// Lends the terminal to something else that reads keys and draws.
    ///
    /// # Errors
    /// The terminal cannot be taken over again.
    pub fn lend<T>(&mut self, to: impl FnOnce() -> T) -> io::Result<T> {
        give_back();
        let out = to();
        self.retake()?;
        Ok(out)
    }

    fn retake(&mut self) -> io::Result<()> {
        take()?;
        self.forget()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    let taken = enable_raw_mode()
        .and_then(|()| execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste))
        .and_then(|()| if MOUSE.load(Ordering::SeqCst) { capture() } else { Ok(()) });
    if taken.is_err() {
        give_back();
    }
    taken
}

/// Restores everything: screen, cursor, mouse, paste, raw mode. Harmless when there is nothing to restore. Each part is
/// tried separately, so that a failure does not affect the rest.
fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = stdout();
    let _ = execute!(out, EndSynchronizedUpdate, DisableMouseCapture, DisableBracketedPaste);
    let _ = execute!(out, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    let _ = out.flush();
}

/// From now on a panic on this thread restores the terminal before it is reported; one on another thread is caught
/// there and shown as a note, so its text must not be printed over the screen.
pub fn hook_panics() {
    let drawing = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == drawing {
            give_back();
            before(info);
        } else if !is_taken() {
            before(info);
        }
    }));
}
