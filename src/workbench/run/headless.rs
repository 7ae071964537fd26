//! The loop without a terminal, for tests: the same threads, the same watch, the same model.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use ratatui::layout::Size;

use super::begin_watch;
use super::work::Workers;
use crate::files::watch::{Watch, WatchTargets, Way};
use crate::workbench::message::{Arrived, Msg};
use crate::workbench::model::{Model, Opening};
use crate::workbench::testing::press;
use crate::workbench::theme::{Depth, Theme};
use crate::workbench::update::update;
use crate::workspace::Workspace;
use rulestep_engine::run::Mode;

/// A workbench without a screen.
pub(crate) struct Headless {
    pub model: Model,
    workers: Workers,
    arriving: Receiver<Arrived>,
    _watch: Option<Watch>,
}

impl Headless {
    pub fn start(workspace: Arc<Workspace>, watch: Option<(WatchTargets, Way)>) -> Self {
        let (out, arriving) = channel();
        let workers = Workers::start(workspace, Default::default(), out.clone()).expect("threads");
        workers.policy();
        workers.sessions();
        let watch = watch.map(|(watched, way)| begin_watch(watched, way, out).expect("a thread"));
        let model = Model::new(Opening {
            theme: Theme::builtin("mono", Depth::None).expect("a theme inside the program"),
            size: Size::new(120, 40),
            policy_name: "contracts".to_owned(),
            mode: Mode::Enforce,
        });
        Self { model, workers, arriving, _watch: watch }
    }

    /// Handles a message; effects outside the program are left out. Returns how long that took.
    pub fn take(&mut self, message: Msg) -> Duration {
        let begun = Instant::now();
        for effect in update(&mut self.model, message) {
            self.workers.perform(effect);
        }
        begun.elapsed()
    }

    /// Presses keys, and executes their effects.
    pub fn press(&mut self, keys: &str) {
        for effect in press(&mut self.model, keys) {
            self.workers.perform(effect);
        }
    }

    /// Reads the changed recordings again.
    pub fn reads_again(&self) {
        self.workers.sessions();
    }

    /// Takes in what has arrived.
    pub fn drain(&mut self) {
        while let Ok(Arrived::Work(message) | Arrived::Bulk(message)) = self.arriving.try_recv() {
            self.take(message);
        }
    }

    /// Takes in what arrives, until nothing has for as long as `quiet`.
    pub fn settle(&mut self, quiet: Duration) {
        while let Ok(Arrived::Work(message) | Arrived::Bulk(message)) = self.arriving.recv_timeout(quiet) {
            self.take(message);
        }
    }
}
