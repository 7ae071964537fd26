//! The loop: waits for something to happen, changes the model, does what that asks for, draws once. Idle it sleeps.

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
pub(crate) mod tester;
mod work;

use std::io::{self, stdout};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crossterm::clipboard::CopyToClipboard;
use crossterm::execute;

use self::environment::Environment;
use self::input::Input;
use self::terminal::Screen;
use self::work::Workers;
use super::config::Config;
use super::effect::Effect;
use super::message::{Arrived, Msg};
use super::model::saved::SavedPlace;
use super::model::{BuiltIn, Chosen, Dress, Model, Opening};
use super::theme::{GlyphSet, Theme, ThemeError};
use super::update::{restore, update};
use crate::engine::Mode;
use crate::files::watch::{Watch, WatchTargets, Way, watch};
use crate::report::words;
use crate::workspace::Workspace;

/// What the workbench is started with.
pub struct Settings {
    /// Where policies and recordings come from. Read on threads of the workbench, never on the one that draws.
    pub workspace: Arc<Workspace>,
    /// The files behind both, and how to watch them; `None` where none can change, or nobody wants to know.
    pub watch: Option<(WatchTargets, Way)>,
    /// The policy's name, for the header.
    pub policy_name: String,
    /// The paths that the policy is read from; none where it is inside the program.
    pub policy_paths: Vec<String>,
    /// The options that say how both are read, as a command takes them.
    pub flags: Vec<String>,
    /// What of both the program carries.
    pub built_in: BuiltIn,
    /// What to compare with from the start.
    pub base: Option<Chosen>,
    /// Whether decisions take effect.
    pub mode: Mode,
    /// What the person chose once and for all.
    pub config: Config,
    /// The file in which the place is kept where these recordings were left; `None` where none is.
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
    /// Nobody would give the terminal back when the program is told to end.
    #[error("cannot watch for signals: {0}")]
    Signals(#[from] ctrlc::Error),
    /// The system gives no threads.
    #[error("no thread can be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// How long a chord waits before the ways it can go on are shown.
const CHORD: Duration = Duration::from_millis(400);
/// How long the screen waits for what is in the turn that a key went to, before it is drawn without.
const BLINK: Duration = Duration::from_millis(16);
/// Messages taken together before the screen is drawn again.
const TOGETHER: usize = 512;

/// Runs the workbench until it is closed. The terminal is as before afterwards, whatever happens.
///
/// # Errors
/// There is no terminal, the theme is none, or the terminal fails on the way.
pub fn run(settings: Settings) -> Result<(), RunError> {
    let environment = Environment::read();
    if let Some(reason) = terminal::unsuitable(environment.term.as_deref()) {
        return Err(RunError::NoTerminal(reason));
    }
    let name = settings.theme.as_deref().unwrap_or_else(|| environment.theme());
    let dress = Dress {
        depth: environment.depth(),
        glyphs: if settings.config.ascii == Some(true) {
            Some(GlyphSet::Ascii)
        } else {
            environment.glyphs()
        },
    };
    let mut theme = Theme::builtin(name, dress.depth)?;
    theme.glyphs = dress.glyphs.unwrap_or(theme.glyphs);
    // The theme has no colours then; bold and reverse must come through all the same.
    crossterm::style::force_color_output(true);
    let (out, arriving) = channel();
    let workers = Workers::start(Arc::clone(&settings.workspace), out.clone())?;
    terminal::hook_panics();
    end_on_signals(out.clone())?;
    // The wheel and clicks are what most people try; `M` gives the terminal its own selection back.
    let mouse = settings.config.mouse != Some(false);
    terminal::listen_to_mouse(mouse)?;
    let screen = Screen::enter()?;
    let mut model = Model::new(Opening {
        theme,
        size: screen.size()?,
        policy_name: settings.policy_name,
        mode: settings.mode,
    });
    model.habits.dress = dress;
    model.habits.mouse = mouse;
    model.habits.keymap = settings.config.keymap;
    model.habits.problems = settings.config.problems;
    model.basis.live.off = settings.config.live == Some(false);
    model.archive.built_in = settings.built_in;
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
    let input = Input::start(out);
    let mut running = Loop { model, screen, workers, arriving, editor: environment.editor().to_owned() };
    running.run(&input)?;
    if let Some((file, place)) = settings.place.zip(SavedPlace::of(&running.model)) {
        // Without it the next start is at the first session, which needs no excuse.
        let _ = state::write(&file, &place);
    }
    Ok(())
}

fn begin_watch(watched: WatchTargets, way: Way, out: Sender<Arrived>) -> io::Result<Watch> {
    watch(watched, way, move |told| {
        // Nobody listens once the loop has ended.
        let _ = out.send(Arrived::Work(Msg::Watch(told)));
    })
}

/// From now on an interrupt, a termination or a hang-up ends the loop, which gives the terminal back. While an editor
/// has the terminal, an interrupt typed there is the editor's.
fn end_on_signals(out: Sender<Arrived>) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || {
        if terminal::is_taken() {
            // Nobody listens once the loop has ended.
            let _ = out.send(Arrived::Work(Msg::End));
        }
    })
}

struct Loop {
    model: Model,
    screen: Screen,
    workers: Workers,
    arriving: Receiver<Arrived>,
    editor: String,
}

impl Loop {
    fn run(&mut self, input: &Input) -> io::Result<()> {
        self.draw()?;
        input.allow();
        loop {
            let Some(first) = self.wait() else { return Ok(()) };
            let mut read = false;
            let mut arrived = Some(first);
            let (mut taken, mut until) = (0, None);
            while let Some(next) = arrived {
                let messages = match next {
                    Arrived::Input(messages) => {
                        read = true;
                        self.model.work.now = jiff::Timestamp::now().as_millisecond();
                        messages
                    }
                    Arrived::Work(message) => vec![message],
                };
                for message in messages {
                    for effect in update(&mut self.model, message) {
                        if self.perform(effect)?.is_break() {
                            return Ok(());
                        }
                    }
                }
                taken += 1;
                arrived = if taken < TOGETHER { self.more(&mut until) } else { None };
            }
            self.draw()?;
            if read {
                // Only now may keys be read again: an editor that an effect started got all of them.
                input.allow();
            }
        }
    }

    /// What has arrived besides. What is in the turn that a key went to is waited for, but not for long: so nobody sees the
    /// panes of another turn for a blink.
    fn more(&self, until: &mut Option<Instant>) -> Option<Arrived> {
        self.arriving.try_recv().ok().or_else(|| {
            let until = *until.get_or_insert_with(|| Instant::now() + BLINK);
            let rest = until.saturating_duration_since(Instant::now());
            (self.model.awaits_frames() || self.model.work.again.is_some())
                .then(|| self.arriving.recv_timeout(rest).ok())?
        })
    }

    fn draw(&mut self) -> io::Result<()> {
        // The size is asked for, not remembered: a message about it may still be waiting to be read.
        let size = self.screen.size()?;
        if size != self.model.size {
            update(&mut self.model, Msg::Resize(size));
        }
        self.screen.draw(&self.model)
    }

    /// The next thing that happens; `None` when nothing can any more. The only timer is that of a pending chord.
    fn wait(&self) -> Option<Arrived> {
        let dialog = &self.model.dialog;
        let waits = !dialog.pending.is_empty() && !dialog.which_key;
        if !waits && !dialog.count.is_some_and(|count| count.is_pane()) {
            return self.arriving.recv().ok();
        }
        match self.arriving.recv_timeout(CHORD) {
            Ok(arrived) => Some(arrived),
            Err(RecvTimeoutError::Timeout) => Some(Arrived::Work(Msg::ChordWaits)),
            Err(RecvTimeoutError::Disconnected) => None,
        }
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
                            // What is composed asks for nothing that ends the loop.
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

    /// Stops the program as the shell would, and goes on when the shell says so.
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
