//! What-ifs of a session: a part of it, other arguments and results, rules switched off.
//!
//! The recording and the policy files are never touched: what-ifs are layers over an entry, each a session and a policy
//! made of the layer below, judged by the same engine.

use std::sync::Arc;

use super::cases::{CaseEntry, JudgedCase};
use crate::stored::StoredSession;
use crate::what_if::{Hypothesis, WhatIf};
use crate::witness::Witness;
use crate::workbench::list::List;
use rulestep_base::session::Session;
use rulestep_base::session::edit::Edit;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// The what-ifs of one session, the topmost layer last. Closing a layer goes back to the one below.
#[derive(Default)]
pub struct Supposed {
    layers: Vec<Layer>,
}

/// Something supposed.
#[derive(Default)]
pub struct Layer {
    /// The part of the session that it begins with; `None`: all of it, as it was recorded.
    pub part: Option<Smallest>,
    /// The case whose session and policy it begins with in place of the recording.
    pub case: Option<OpenCase>,
    /// The changes.
    pub what_if: WhatIf,
    /// The changes before the last one, and so on.
    pub undo: Vec<WhatIf>,
    /// The latest request, with its premise.
    pub asked: Option<(u64, Premise)>,
    /// The result of it, or of an earlier request.
    pub shown: Option<JudgedLayer>,
    /// Where the cursor goes when the result arrives.
    pub land: Land,
}

/// The smallest part of a session that still shows something.
pub struct Smallest {
    /// The part.
    pub witness: Witness,
    /// The number of calls of the whole.
    pub of: usize,
    /// The policy that it shows something of.
    pub policy: Option<Arc<Policy>>,
    /// Whether it is a part of the session as it was recorded, and not of the layer below.
    pub recorded: bool,
    /// The position in the transcript before.
    pub from: List,
    /// Whether it was opened from another place of the program, to which closing it goes back.
    pub jumped: bool,
}

/// A case on screen.
pub struct OpenCase {
    /// The case, judged.
    pub case: Arc<CaseEntry>,
    /// The position in the transcript before.
    pub from: List,
}

/// Where the cursor goes when a what-if is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Land {
    /// It stays on the same element.
    #[default]
    Stay,
    /// To this call, by its index in what the layer begins with.
    Call(u32),
    /// To the call that was added by the change at this place.
    Added(usize),
}

/// The premise of a layer. The same premise has the same result.
#[derive(Clone)]
pub struct Premise {
    /// The session that it begins with.
    pub session: Arc<Session>,
    /// The version that decides.
    pub policy: Arc<Policy>,
    /// Whether decisions take effect.
    pub mode: Mode,
    /// The changes.
    pub what_if: WhatIf,
}

/// Something supposed, judged.
pub struct JudgedLayer {
    /// The changes that it was made with.
    pub what_if: WhatIf,
    /// The session and the policy.
    pub hypothesis: Hypothesis,
    /// The decisions.
    pub replay: Arc<Replay>,
}

/// A call that is to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// One that the layer begins with, by its index there.
    Known(u32),
    /// One that was added, by the place of that change.
    Added(usize),
}

/// The purpose of a typed line of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// The file that a case is saved in.
    Save,
    /// The version to compare with.
    Base,
    /// The filter of the list of sessions.
    Filter,
    /// A search in all sessions.
    Search,
    /// An expression to try on the selected row.
    Expression,
    /// Other arguments.
    Arguments(Target),
    /// Another result.
    Result(Target),
    /// The file with a suggested rule.
    Rule,
    /// A call more.
    NewCall {
        /// The turn (from 1) of what the layer begins with.
        turn: u32,
        /// The call of the turn that it comes after; `None`: after all of them.
        behind: Option<Target>,
    },
}

impl Ask {
    /// Whether it is a text that may be long, and then is changed in an editor.
    pub fn is_text(&self) -> bool {
        !matches!(self, Ask::Save | Ask::Base | Ask::Filter | Ask::Search | Ask::Expression)
    }
}

/// A witness that is being looked for.
pub struct Looking {
    /// Its number.
    pub number: u64,
    /// The place that the session's entry had.
    pub entry: usize,
    /// The session as it was recorded.
    pub recorded: Arc<StoredSession>,
    /// The session that it is looked for in.
    pub session: Arc<Session>,
    /// The call that it is about.
    pub call: u32,
    /// Whether it is about a change of the session as it was recorded, ignoring what-ifs.
    pub change: bool,
    /// Whether it was requested in the list of changes.
    pub listed: bool,
}

impl Premise {
    /// Whether it is the same one.
    pub fn is(&self, other: &Premise) -> bool {
        Arc::ptr_eq(&self.session, &other.session)
            && Arc::ptr_eq(&self.policy, &other.policy)
            && self.mode == other.mode
            && self.what_if == other.what_if
    }
}

impl Layer {
    /// Whether it changes anything: one whose changes were all undone does not, but can still be redone.
    pub fn is_hypothetical(&self) -> bool {
        self.part.is_some() || self.case.is_some() || !self.what_if.is_empty()
    }

    /// Whether it begins with the whole session as it was recorded.
    pub fn begins_as_recorded(&self) -> bool {
        self.part.is_none() && self.case.is_none()
    }

    /// Forgets a change that was reversed by the next one, so that undo goes to the state before both.
    pub fn forget_back_and_forth(&mut self) {
        if let [.., before, _] = self.undo.as_slice()
            && *before == self.what_if
        {
            self.undo.truncate(self.undo.len() - 2);
        }
    }

    /// The case that it begins with.
    pub fn of_case(&self) -> Option<&JudgedCase> {
        self.case.as_ref()?.case.judged.as_ref()
    }
}

impl Supposed {
    /// The topmost layer.
    pub fn top(&self) -> Option<&Layer> {
        self.layers.last()
    }

    /// The same, to change it.
    pub fn top_mut(&mut self) -> Option<&mut Layer> {
        self.layers.last_mut()
    }

    /// The same, created if there is none.
    pub fn top_or_new(&mut self) -> &mut Layer {
        if self.layers.is_empty() {
            self.layers.push(Layer::default());
        }
        let at = self.layers.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "there is one now")]
        &mut self.layers[at]
    }

    /// Lays something over all others.
    pub fn push(&mut self, layer: Layer) {
        self.layers.push(layer);
    }

    /// Takes the topmost away.
    pub fn pop(&mut self) -> Option<Layer> {
        self.layers.pop()
    }

    /// The what-if on screen in place of the recording; `None`: the recording is.
    pub fn shown(&self) -> Option<&JudgedLayer> {
        self.top().filter(|layer| layer.is_hypothetical())?.shown.as_ref()
    }

    /// The recorded index of a call on screen; `None`: it was added.
    pub fn recorded(&self, now: u32) -> Option<u32> {
        let mut call = now;
        for layer in self.shown_layers() {
            // No call of a case was recorded.
            if layer.case.is_some() {
                return None;
            }
            call = layer.shown.as_ref().map_or(Some(call), |shown| shown.hypothesis.edited.before(call))?;
            if let Some(part) = &layer.part {
                call = part.witness.edited.before(call)?;
            }
        }
        Some(call)
    }

    /// The index on screen of a recorded call; `None`: it is not there.
    pub fn now(&self, recorded: u32) -> Option<u32> {
        let mut call = recorded;
        for layer in self.shown_layers().into_iter().rev() {
            if layer.case.is_some() {
                return None;
            }
            if let Some(part) = &layer.part {
                call = part.witness.edited.call(call)?;
            }
            call = layer.shown.as_ref().map_or(Some(call), |shown| shown.hypothesis.edited.call(call))?;
        }
        Some(call)
    }

    /// The layers of the shown session, the topmost first.
    fn shown_layers(&self) -> Vec<&Layer> {
        let mut layers = Vec::new();
        if self.shown().is_none() {
            return layers;
        }
        for layer in self.layers.iter().rev() {
            layers.push(layer);
            if layer.part.as_ref().is_some_and(|part| part.recorded) {
                break;
            }
        }
        layers
    }
}

/// A summary of changes: `1 changed, 1 dropped, 1 new, 1 rule off`.
pub fn summary(what_if: &WhatIf) -> String {
    let (mut changed, mut dropped, mut new) = (Vec::new(), 0, 0);
    for edit in what_if.edits() {
        match edit {
            Edit::Arguments { call, .. } | Edit::Result { call, .. } => changed.push(*call),
            Edit::DropCall(_) => dropped += 1,
            Edit::AddCall { .. } | Edit::AddTurn { .. } => new += 1,
            Edit::NextTurn(call) => changed.push(*call),
        }
    }
    changed.sort_unstable();
    changed.dedup();
    let off = what_if.off().count();
    let rules = if off == 1 { "rule off" } else { "rules off" };
    let parts = [(changed.len(), "changed"), (dropped, "dropped"), (new, "new"), (off, rules)];
    let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    parts.collect::<Vec<_>>().join(", ")
}
