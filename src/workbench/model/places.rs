//! Positions: entries in the list, calls in what-ifs; and questions about them.

use std::ops::Range;
use std::sync::Arc;

use super::supposed::{Ask, JudgedLayer, Layer, Target};
use super::tester::TesterView;
use super::{Location, Model};
use crate::stored::{NotRestored, StoredSession};
use crate::workbench::keys::Scope;
use crate::workbench::layout::{Layout, LayoutState, Pane, layout};
use crate::workbench::line::place;
use rulestep_base::diagnostic::{Diagnostic, Severity};
use rulestep_base::session::Session;
use rulestep_engine::replay::Replay;

/// The session that is on screen.
pub struct OpenedSession {
    /// The session.
    pub of: Arc<StoredSession>,
    /// Its content, or why that is not available.
    pub content: Result<Arc<Session>, String>,
}

impl Model {
    /// The content of the session of the open entry, as it was recorded.
    pub fn content(&self) -> Option<&Arc<Session>> {
        let own = self.entry()?.session.as_ref()?;
        let opened = self.place.opened.as_ref().filter(|opened| Arc::ptr_eq(&opened.of, own))?;
        opened.content.as_ref().ok()
    }

    /// The layout of the screen.
    pub fn layout(&self) -> Layout {
        let problem = self.basis.rules.read && (self.basis.rules.stale || self.basis.rules.policy.is_none());
        let problem = problem || !self.preferences.problems.is_empty();
        let Location { focus, side, zoom, .. } = self.place;
        let changes = self.basis.changes.comparison.is_some();
        let preview = self.dialog.popup().is_some_and(|popup| popup.preview().is_some());
        layout(self.size, &LayoutState { focus, side, zoom, problem, changes, preview })
    }

    /// Warnings about the version that decides. Problems of one that does not decide are on a line of its own.
    pub fn policy_warnings(&self) -> usize {
        let rules = &self.basis.rules;
        let warns = |told: &&Diagnostic| told.severity == Severity::Warning;
        if rules.stale { 0 } else { rules.problems.iter().filter(warns).count() }
    }

    /// The scope whose keys are active.
    pub fn scope_of_keys(&self) -> Scope {
        match (self.dialog.popup(), self.place.focus) {
            (Some(top), _) => top.scope(),
            (None, Pane::Policy) => Scope::Policy,
            (None, _) => Scope::Panes,
        }
    }

    /// The description of a row that the user marked.
    pub fn marked(&self, letter: char) -> String {
        let Some(spot) = self.place.marks.get(&letter) else { return String::new() };
        let name = self.archive.entries.get(spot.entry).map_or("", |entry| &entry.name);
        match self.derived.rows.get(spot.row).filter(|_| spot.entry == self.place.open) {
            Some(row) => format!("{name} T{}", row.turn),
            None => name.to_owned(),
        }
    }

    /// The entries of a file; if it has none, the place where they belong.
    pub fn entries_of(&self, file: &str) -> Range<usize> {
        let rank = self.archive.files.rank(file);
        let first = self.archive.entries.partition_point(|entry| self.archive.files.rank(&entry.file) < rank);
        let rest = self.archive.entries.get(first..).unwrap_or_default();
        first..first + rest.partition_point(|entry| self.archive.files.rank(&entry.file) == rank)
    }

    /// The current index of a session that was at `hint`. The list shifts little, so the search begins nearby.
    pub fn place_of(&self, session: &Arc<StoredSession>, hint: usize) -> Option<usize> {
        let is = |at: &usize| {
            let entry = self.archive.entries.get(*at).and_then(|entry| entry.session.as_ref());
            entry.is_some_and(|known| Arc::ptr_eq(known, session))
        };
        let farthest = self.archive.entries.len().max(hint);
        (0..=farthest).find_map(|by| [hint.checked_sub(by), Some(hint + by)].into_iter().flatten().find(is))
    }

    /// The open session, or the what-if in its place.
    pub fn session(&self) -> Option<&Arc<Session>> {
        let entry = self.entry()?;
        match entry.supposed.shown() {
            Some(shown) => Some(&shown.hypothesis.session),
            None => self.content(),
        }
    }

    /// The decisions about that, possibly from an earlier request.
    pub fn replay(&self) -> Option<&Arc<Replay>> {
        let entry = self.entry()?;
        match entry.supposed.shown() {
            Some(shown) => Some(&shown.replay),
            None => entry.replay.as_ref(),
        }
    }

    /// Fetches the content of the open entry's session, if that is another one than before.
    pub fn fetch(&mut self) {
        let own = self.entry().and_then(|entry| entry.session.clone());
        let opened = self.place.opened.as_ref().filter(|opened| opened.content.is_ok());
        if opened.map(|opened| Arc::as_ptr(&opened.of)) == own.as_ref().map(Arc::as_ptr) {
            return;
        }
        self.place.opened = own.map(|of| {
            let content = of.session().map_err(|error| self.unrestored(&of.id, &error));
            OpenedSession { of, content }
        });
    }

    /// Reports that the content of a session cannot be restored. If its recording has changed, that is read again,
    /// whether or not edits are loaded automatically: nothing else can be shown of it.
    pub fn unrestored(&mut self, id: &str, error: &NotRestored) -> String {
        let changed = matches!(error, NotRestored::Recording);
        self.work.outdated |= changed;
        let text = format!("{id}: {error}{}", if changed { "; reading it again" } else { "" });
        self.fail(text.clone());
        text
    }

    /// The what-if of the open session that is on screen in its place.
    pub fn shown_supposed(&self) -> Option<(&Layer, &JudgedLayer)> {
        let supposed = &self.entry()?.supposed;
        supposed.top().zip(supposed.shown())
    }

    /// The call under the cursor, as a target of a change; `None` while the shown session is about to be replaced.
    pub fn target(&self) -> Option<Target> {
        let call = self.call()?.at.index;
        let supposed = &self.entry()?.supposed;
        let Some(layer) = supposed.top() else { return Some(Target::Known(call)) };
        let Some(shown) = supposed.shown() else {
            return layer.begins_as_recorded().then_some(Target::Known(call));
        };
        match shown.hypothesis.edited.before(call) {
            Some(known) => Some(Target::Known(known)),
            None if layer.what_if == shown.what_if => {
                shown.hypothesis.edited.addition(call).map(Target::Added)
            }
            None => None,
        }
    }

    /// The number that the selected turn has in what the topmost layer begins with.
    pub fn target_turn(&self) -> Option<u32> {
        let turn = self.turn()?.number;
        let entry = self.entry()?;
        let Some(shown) = entry.supposed.shown() else {
            return entry.supposed.top().is_none_or(Layer::begins_as_recorded).then_some(turn);
        };
        let begun = entry.supposed_of(self.content())?;
        let edited = &shown.hypothesis.edited;
        begun.turns.iter().map(|turn| turn.number).find(|known| edited.turn(*known) == Some(turn))
    }
}

impl Ask {
    /// The label of the line that is typed.
    pub fn label(&self, model: &Model) -> String {
        let call = || match model.call() {
            Some(call) => format!("{} {}", place(call.at), call.tool),
            None => String::new(),
        };
        match self {
            Ask::Save => "save as".to_owned(),
            Ask::Filter => "filter".to_owned(),
            Ask::Search => "search all sessions, text or /regex/".to_owned(),
            Ask::Expression => {
                let view = model.dialog.top::<TesterView>();
                view.map(|view| view.expression.language.name().to_owned()).unwrap_or_default()
            }
            Ask::Base => "compare with git:REV, path, recorded, live (empty: none)".to_owned(),
            Ask::Rule => "the file with the rule".to_owned(),
            Ask::Arguments(_) => format!("{} arguments", call()),
            Ask::Result(_) => format!("{} result", call()),
            Ask::NewCall { turn, behind } => {
                let place = match (behind, model.call()) {
                    (Some(_), Some(call)) => place(call.at),
                    _ => format!("T{turn}"),
                };
                format!("new call after {place}, tool {{json}} => result")
            }
        }
    }
}
