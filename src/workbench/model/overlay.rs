//! What lies over the panes, and the line in which text is typed.

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

/// What is being typed or lies over the panes.
#[derive(Default)]
pub struct Dialog {
    /// What lies over the panes, the topmost last.
    pub overlays: Vec<Overlay>,
    /// How many overlays there were when the topmost one was scrolled sideways, and how far.
    pub sideways: (usize, usize),
    /// A line of text being typed.
    pub prompt: Option<Prompt>,
    /// What was searched for last.
    pub query: Option<String>,
    /// Keys of a chord pressed so far.
    pub pending: Vec<Key>,
    /// Quitting was asked for and has to be asked for again: something would be lost.
    pub leaving: bool,
    /// The digits pressed before that.
    pub count: Option<Count>,
    /// How the chord can go on is shown.
    pub which_key: bool,
    /// An answer to the last key.
    pub note: Option<Note>,
    /// What was found last in all sessions.
    pub hits: Option<Box<HitsView>>,
    /// What was tried last, in each language.
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

    /// Closes the topmost popup, and gives it if it is of this kind.
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

/// The state of a popup, whichever it is. What is seen of it and done in it is its own file's.
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
    /// What it is.
    pub title: String,
    /// The row of the transcript it belongs to.
    pub row: usize,
    /// Its lines.
    pub document: Document,
    /// Where in them.
    pub list: List,
}

/// A line of answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Something did not work.
    pub failed: bool,
    /// What there is to say.
    pub text: String,
}

/// A line of text being typed, and what it is for.
pub struct Prompt {
    /// The text.
    pub input: Input,
    /// Where the cursor stood when typing began, to go back to.
    pub from: usize,
    /// The search before this one.
    pub before: Option<String>,
    /// What it is for; `None`: it is searched for.
    pub ask: Option<Ask>,
    /// Why what was typed cannot be taken.
    pub refused: Option<String>,
    /// How much of the last paste was taken, where that is not all of it.
    pub cut: Option<String>,
}

/// The words of a filter, each once: a pasted one may repeat a word a thousand times.
pub fn words_of(filter: &str) -> Vec<&str> {
    let words: BTreeSet<&str> = filter.split_whitespace().collect();
    words.into_iter().collect()
}

/// Digits that were pressed before a command, and what had the keys before the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// The number.
    pub number: u32,
    /// How many digits it has.
    pub digits: u32,
    /// The pane that had the keys.
    pub focus: Pane,
    /// The pane that was beside the transcript.
    pub side: Pane,
    /// One pane took all the room.
    pub zoom: bool,
    /// The rule that was asked for.
    pub pinned: Option<RuleId>,
}

impl Count {
    /// Whether it may just as well be the number of a pane.
    pub const fn is_pane(&self) -> bool {
        self.digits == 1 && matches!(self.number, 1..=8)
    }
}
