//! The event loop: waits for an event, changes the model, executes effects, draws once. It sleeps while idle.

mod arrivals;
mod cases;
mod editor;
pub mod environment;
pub(crate) mod export;
pub mod frames;
#[cfg(test)]
pub(crate) mod headless;
mod input;
pub mod state;
pub(crate) mod suggest;
pub(crate) mod suppose;
pub(crate) mod survey;
mod terminal;
mod work;

use std::io::{self, stdout};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use crossterm::clipboard::CopyToClipboard;
use crossterm::execute;

use self::arrivals::{Arrivals, Next, TICK};
use self::environment::Environment;
use self::input::Input;
use self::terminal::Screen;
use self::work::Workers;
use self::work::background::Precedence;
use super::config::Config;
use super::effect::Effect;
use super::message::{Arrived, Msg};
use super::model::saved::SavedPlace;
use super::model::{BuiltIn, Chosen, Model, Opening, TerminalCaps, Welcome};
use super::theme::{GlyphSet, Theme, ThemeError};
use super::update::{restore, update, update_all};
use crate::files::watch::{Watch, WatchTargets, Way, watch};
use crate::report::words;
use crate::workspace::Workspace;
use rulestep_engine::run::Mode;

/// The settings at the start.
pub struct Settings {
    /// The source of policies and recordings. Read on background threads, never on the one that draws.
    pub workspace: Arc<Workspace>,
    /// The files of both, and how to watch them; `None` if none can change, or watching is off.
    pub watch: Option<(WatchTargets, Way)>,
    /// The policy's name, for the header.
    pub policy_name: String,
    /// The paths that the policy is read from; none if it is inside the program.
    pub policy_paths: Vec<String>,
    /// The options that say how both are read, as a command takes them.
    pub flags: Vec<String>,
    /// The built-in parts.
    pub built_in: BuiltIn,
    /// The initial base.
    pub base: Option<Chosen>,
    /// Whether decisions take effect.
    pub mode: Mode,
    /// The user's configuration.
    pub config: Config,
    /// The file for the last position in these recordings; `None` if there is none.
    pub place: Option<PathBuf>,
    /// Whether it begins there.
    pub restore: bool,
    /// A theme's name; without one the environment decides.
    pub theme: Option<String>,
}

/// Why the workbench did not run, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is no terminal to draw on. Nothing was written; print what `replay` prints instead.
    #[error("{0}")]
    NoTerminal(&'static str),
    /// The theme asked for cannot be used.
    #[error(transparent)]
    Theme(#[from] ThemeError),
    /// The terminal failed.
    #[error("the terminal failed: {0}")]
    Terminal(#[from] io::Error),
    /// The terminal could not be restored when the program is terminated.
    #[error("cannot watch for signals: {0}")]
    Signals(#[from] ctrlc::Error),
    /// The system provides no threads.
    #[error("no thread can be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// Delay until the continuations of a chord are shown.
const CHORD: Duration = Duration::from_millis(400);
/// How long drawing waits for the frame of the turn that a key went to.
const BLINK: Duration = Duration::from_millis(16);
/// Messages taken together before the screen is drawn again.
const TOGETHER: usize = 512;

/// Runs the workbench until it is closed. The terminal is restored afterwards, whatever happens.
///
/// # Errors There is no terminal, the theme is invalid, or the terminal fails.
pub fn run(settings: Settings) -> Result<(), RunError> {
    let environment = Environment::read();
    if let Some(reason) = terminal::unsuitable(environment.term.as_deref()) {
        return Err(RunError::NoTerminal(reason));
    }
    let name = settings.theme.as_deref().unwrap_or_else(|| environment.theme());
    let caps = TerminalCaps {
        depth: environment.depth(),
        glyphs: if settings.config.ascii == Some(true) {
            Some(GlyphSet::Ascii)
        } else {
            environment.glyphs()
        },
    };
    let mut theme = Theme::builtin(name, caps.depth)?;
    theme.glyphs = caps.glyphs.unwrap_or(theme.glyphs);
    // The theme has no colours then; bold and reverse must come through all the same.
    crossterm::style::force_color_output(true);
    let (out, arriving) = channel();
    let keys: Arc<Precedence> = Arc::default();
    let workers = Workers::start(Arc::clone(&settings.workspace), Arc::clone(&keys), out.clone())?;
    terminal::hook_panics();
    end_on_signals(out.clone())?;
    // Most users try the wheel and clicks; `M` restores the terminal's own selection.
    let mouse = settings.config.mouse != Some(false);
    terminal::listen_to_mouse(mouse)?;
    let screen = Screen::enter()?;
    let mut model = Model::new(Opening {
        theme,
        size: screen.size()?,
        policy_name: settings.policy_name,
        mode: settings.mode,
    });
    model.preferences.caps = caps;
    model.preferences.mouse = mouse;
    model.preferences.keymap = settings.config.keymap;
    model.preferences.problems = settings.config.problems;
    model.basis.live.off = settings.config.live == Some(false);
    model.archive.built_in = settings.built_in;
    model.preferences.welcome = match (settings.built_in.sessions, &settings.base) {
        (true, _) => Welcome::Samples,
        (false, None) => Welcome::Recordings,
        // With a base, the user wants to see the changes.
        (false, Some(_)) => Welcome::Over,
    };
    model.basis.compare.base = settings.base;
    model.basis.paths = settings.policy_paths;
    model.basis.flags = settings.flags;
    let size = model.size;
    model.archive.table.sort = settings.config.sort;
    model.archive.table.columns = settings.config.columns;
    model.work.now = jiff::Timestamp::now().as_millisecond();
    match settings.place.as_deref().filter(|_| settings.restore).map(state::read) {
        Some(Ok(Some(place))) => restore::begin(&mut model, place),
        Some(Err(why)) => model.fail(format!("the place of the last visit cannot be read: {why}")),
        Some(Ok(None)) | None => {}
    }
    update(&mut model, Msg::Resize(size));
    workers.policy();
    workers.sessions();
    workers.cases(&mut model);
    let _watch = settings.watch.map(|(watched, way)| begin_watch(watched, way, out.clone())).transpose()?;
    let input = Input::start(Arc::clone(&keys), out);
    let arrivals = Arrivals::new(arriving);
    let editor = environment.editor().to_owned();
    let mut running = Loop { model, screen, workers, keys, arrivals, editor, drawn: Instant::now() };
    running.run(&input)?;
    if let Some((file, place)) = settings.place.zip(SavedPlace::of(&running.model)) {
        // Without it the next start is at the first stopped call, which is fine.
        let _ = state::write(&file, &place);
    }
    Ok(())
}

fn begin_watch(watched: WatchTargets, way: Way, out: Sender<Arrived>) -> io::Result<Watch> {
    watch(watched, way, move |told| {
        // The receiver is gone once the loop has ended.
        let _ = out.send(Arrived::Work(Msg::Watch(told)));
    })
}

/// From now on an interrupt, a termination or a hang-up ends the loop, which restores the terminal. While an editor has
/// the terminal, an interrupt typed there belongs to the editor.
fn end_on_signals(out: Sender<Arrived>) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || {
        if terminal::is_taken() {
            // The receiver is gone once the loop has ended.
            let _ = out.send(Arrived::Work(Msg::End));
        }
    })
}

struct Loop {
    model: Model,
    screen: Screen,
    workers: Workers,
    keys: Arc<Precedence>,
    arrivals: Arrivals,
    editor: String,
    /// When the screen was drawn last.
    drawn: Instant,
}

impl Loop {
    fn run(&mut self, input: &Input) -> io::Result<()> {
        self.draw()?;
        input.allow();
        loop {
            let mut next = Some(self.wait());
            let (mut read, mut seen, mut taken, begun) = (false, false, 0, Instant::now());
            while let Some(now) = next {
                seen |= !matches!(now, Next::Bulk);
                let ended = match now {
                    Next::Input(messages) => {
                        read = true;
                        self.model.work.now = jiff::Timestamp::now().as_millisecond();
                        let mut messages = messages.into_iter();
                        messages.try_fold(false, |ended, message| {
                            Ok::<_, io::Error>(ended || self.take(message)?)
                        })?
                    }
                    Next::Work(message) => self.take(message)?,
                    Next::Nothing => self.take(Msg::ChordWaits)?,
                    Next::Bulk => {
                        let effects = update_all(&mut self.model, self.arrivals.bulk());
                        self.perform_all(effects)?
                    }
                    Next::End => true,
                };
                if ended {
                    return Ok(());
                }
                taken += 1;
                next = if taken < TOGETHER { self.more(begun + BLINK) } else { None };
            }
            // More frames than this would not be visible while more messages arrive.
            if !seen && self.arrivals.has_bulk() && self.drawn.elapsed() < TICK {
                continue;
            }
            self.draw()?;
            if read {
                self.keys.end();
                // Only now may keys be read again: an editor that an effect started got all of them.
                input.allow();
            }
        }
    }

    /// Applies a message and executes its effects; returns whether that ends the loop.
    fn take(&mut self, message: Msg) -> io::Result<bool> {
        let effects = update(&mut self.model, message);
        self.perform_all(effects)
    }

    fn perform_all(&mut self, effects: Vec<Effect>) -> io::Result<bool> {
        for effect in effects {
            if self.perform(effect)?.is_break() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Further messages. The frame of the turn that a key went to is waited for, but not for long, so that the panes of
    /// another turn do not flash up.
    fn more(&mut self, until: Instant) -> Option<Next> {
        let awaited = self.model.awaits_frames() || self.model.work.again.is_some();
        self.arrivals.more().or_else(|| match awaited {
            true => self.arrivals.next_work(until).map(Next::Work),
            false => None,
        })
    }

    fn draw(&mut self) -> io::Result<()> {
        // The size is read again: a message about it may not have arrived yet.
        let size = self.screen.size()?;
        if size != self.model.size {
            update(&mut self.model, Msg::Resize(size));
        }
        self.screen.draw(&self.model)?;
        self.drawn = Instant::now();
        Ok(())
    }

    /// The next thing that happens. The only timer is that of a pending chord.
    fn wait(&mut self) -> Next {
        let dialog = &self.model.dialog;
        let waits = !dialog.pending.is_empty() && !dialog.which_key;
        let timed = waits || dialog.count.is_some_and(|count| count.is_pane());
        self.arrivals.next(timed.then(|| Instant::now() + CHORD))
    }

    fn perform(&mut self, effect: Effect) -> io::Result<ControlFlow<()>> {
        match effect {
            Effect::Quit => return Ok(ControlFlow::Break(())),
            Effect::Redraw => self.screen.forget()?,
            Effect::Mouse(on) => terminal::listen_to_mouse(on)?,
            Effect::Suspend => self.suspend()?,
            Effect::Compose { ask, text } => {
                let editor = self.editor.clone();
                match self.screen.lend(|| editor::compose(&editor, &text))? {
                    Ok(text) => {
                        for effect in update(&mut self.model, Msg::Composed { ask, text }) {
                            // Composing has no effect that ends the loop.
                            let _ = self.perform(effect)?;
                        }
                    }
                    Err(text) => self.tell(true, text),
                }
            }
            Effect::Edit { file, line } => {
                let editor = self.editor.clone();
                // Files of a git revision have names too.
                if !std::path::Path::new(&file).is_file() {
                    self.tell(true, format!("`{file}` is not a file on disk"));
                    return Ok(ControlFlow::Continue(()));
                }
                let edited = self.screen.lend(|| editor::edit(&editor, &file, line))?;
                if let Err(text) = edited {
                    self.tell(true, text);
                }
                self.workers.policy();
                self.workers.sessions();
                self.workers.cases(&mut self.model);
            }
            Effect::Picture { file, replace } => {
                let told = export::picture(&self.model, &file, replace);
                update(&mut self.model, told);
            }
            Effect::Copy { text, what } => {
                let characters = text.chars().count();
                execute!(stdout(), CopyToClipboard::to_clipboard_from(text))?;
                let length = words::count(characters as u64, "character");
                self.tell(false, format!("copied the {what}, {length}"));
            }
            other => drop(self.workers.perform(other)),
        }
        Ok(ControlFlow::Continue(()))
    }

    fn tell(&mut self, failed: bool, text: String) {
        update(&mut self.model, Msg::Note { failed, text });
    }

    /// Suspends the program as the shell would, and continues on the shell's signal.
    #[cfg(unix)]
    fn suspend(&mut self) -> io::Result<()> {
        let own = std::process::id().to_string();
        let stopped =
            self.screen.lend(|| std::process::Command::new("kill").args(["-TSTP", &own]).status())?;
        if stopped.is_err() {
            self.tell(true, "cannot be suspended: no `kill` program".to_owned());
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn suspend(&mut self) -> io::Result<()> {
        self.tell(true, "this system has no background to go to".to_owned());
        Ok(())
    }
}
