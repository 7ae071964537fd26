//! The overlays, and the line in which text is typed.

use crate::workbench::layout::Pane;
use rulestep_engine::monitor::RuleId;
use std::any::Any;
use std::collections::BTreeSet;

use tui_input::Input;

use super::hits::HitsView;
use super::supposed::Ask;
use super::tester::Expression;
use crate::workbench::document::Document;
use crate::workbench::keys::Key;
use crate::workbench::list::{List, Listed};

/// The typed text and the overlays.
#[derive(Default)]
pub struct Dialog {
    /// The overlays, the topmost last.
    pub overlays: Vec<Overlay>,
    /// The number of overlays when the topmost one was scrolled sideways, and the scroll position.
    pub sideways: (usize, usize),
    /// A line of text being typed.
    pub prompt: Option<Prompt>,
    /// The latest search.
    pub query: Option<String>,
    /// Keys of a chord pressed so far.
    pub pending: Vec<Key>,
    /// Whether quitting was requested and has to be repeated, because something would be lost.
    pub leaving: bool,
    /// The digits pressed before that.
    pub count: Option<Count>,
    /// Whether the continuations of the chord are shown.
    pub which_key: bool,
    /// An answer to the last key.
    pub note: Option<Note>,
    /// The latest hits in all sessions.
    pub hits: Option<Box<HitsView>>,
    /// The latest tried expression in each language.
    pub tested: Vec<Expression>,
}

impl Dialog {
    /// Columns of the topmost overlay that are scrolled out of sight at its left edge. One that is opened over it, or seen
    /// again after it, begins at its own.
    pub fn out(&self) -> usize {
        let (overlays, out) = self.sideways;
        if overlays == self.overlays.len() { out } else { 0 }
    }

    /// Opens a popup with this state, over all others.
    pub fn open(&mut self, view: impl Listed + Any) {
        self.overlays.push(Overlay(Box::new(view)));
    }

    /// The topmost popup, if it is of this kind.
    pub fn top<V: Any>(&self) -> Option<&V> {
        self.overlays.last()?.view()
    }

    /// The same, to change it.
    pub fn top_mut<V: Any>(&mut self) -> Option<&mut V> {
        self.overlays.last_mut()?.view_mut()
    }

    /// Closes the topmost popup, and returns it if it is of this kind.
    pub fn take<V: Any>(&mut self) -> Option<Box<V>> {
        self.overlays.pop()?.0.downcast().ok()
    }

    /// The popups of this kind, to change them.
    pub fn views_mut<V: Any>(&mut self) -> impl Iterator<Item = &mut V> {
        self.overlays.iter_mut().filter_map(Overlay::view_mut)
    }

    /// Closes the popups of this kind.
    pub fn close_all<V: Any>(&mut self) {
        self.overlays.retain(|overlay| !overlay.0.is::<V>());
    }
}

/// The state of any popup. Its content and keys are in its own file.
pub struct Overlay(pub Box<dyn Any>);

impl Overlay {
    /// The state, if it is of this kind.
    pub fn view<V: Any>(&self) -> Option<&V> {
        self.0.downcast_ref()
    }

    /// The same, to change it.
    pub fn view_mut<V: Any>(&mut self) -> Option<&mut V> {
        self.0.downcast_mut()
    }
}

/// A body being read.
pub struct BodyView {
    /// Its name.
    pub title: String,
    /// The row of the transcript it belongs to.
    pub row: usize,
    /// Its lines.
    pub document: Document,
    /// The cursor.
    pub list: List,
}

/// A line of answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Something did not work.
    pub failed: bool,
    /// The text.
    pub text: String,
}

/// A line of text being typed, and its purpose.
pub struct Prompt {
    /// The text.
    pub input: Input,
    /// The row where typing began, to go back to.
    pub from: usize,
    /// The search before this one.
    pub before: Option<String>,
    /// The purpose; `None`: a search.
    pub ask: Option<Ask>,
    /// Why the typed text cannot be taken.
    pub refused: Option<String>,
    /// How much of the last paste was used, if not all.
    pub cut: Option<String>,
}

/// The words of a filter, each once: a pasted one may repeat a word a thousand times.
pub fn words_of(filter: &str) -> Vec<&str> {
    let words: BTreeSet<&str> = filter.split_whitespace().collect();
    words.into_iter().collect()
}

/// Digits that were pressed before a command, and the pane that had the keys before the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// The number.
    pub number: u32,
    /// The number of digits.
    pub digits: u32,
    /// The pane that had the keys.
    pub focus: Pane,
    /// The pane that was beside the transcript.
    pub side: Pane,
    /// One pane took all the room.
    pub zoom: bool,
    /// The selected rule.
    pub pinned: Option<RuleId>,
}

impl Count {
    /// Whether it may just as well be the number of a pane.
    pub const fn is_pane(&self) -> bool {
        self.digits == 1 && matches!(self.number, 1..=8)
    }
}
