//! What if: a session and a policy changed in memory, without touching a file.
//!
//! A [`WhatIf`] is a list of changes; [`WhatIf::suppose`] makes of them a session and a policy to be judged like any
//! other. Changes refer to the recorded session and its numbers, so they can be added and taken back in any order.

use std::collections::BTreeSet;
use std::sync::Arc;

use rulestep_base::session::Session;
use rulestep_base::session::edit::{self, Edit, EditResult};
use rulestep_engine::monitor::RuleId;
use rulestep_engine::policy::Policy;

/// Changes of a session and of the policy that judges it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WhatIf {
    edits: Vec<Edit>,
    /// Ids of rules: a version that is loaded again numbers its rules again.
    off: BTreeSet<Arc<str>>,
}

/// A session and a policy that are changed: neither was recorded or written so.
#[derive(Clone)]
pub struct Hypothesis {
    /// The session.
    pub session: Arc<Session>,
    /// The policy. [`Policy::off`] has the rules that are switched off.
    pub policy: Arc<Policy>,
    /// The mapping of the recorded calls and turns.
    pub edited: EditResult,
    /// Rules to be switched off that the policy does not have.
    pub unknown: Vec<Arc<str>>,
}

/// Why something cannot be supposed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// The policy was built by hand, of no documents.
    #[error("these rules cannot be switched off: the policy was not read from files")]
    NoFiles,
}

impl WhatIf {
    /// Whether nothing is changed: then nothing is hypothetical.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.off.is_empty()
    }

    /// The changes of the session, in the order in which they were made.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// The ids of the rules that are switched off.
    pub fn off(&self) -> impl Iterator<Item = &Arc<str>> {
        self.off.iter()
    }

    /// Changes the session. An earlier change of the same thing is replaced; changes of a removed call are dropped.
    pub fn edit(&mut self, edit: Edit) {
        self.edits.retain(|earlier| !replaces(&edit, earlier));
        self.edits.push(edit);
    }

    /// Changes the session at a place among [`WhatIf::edits`]: of calls added after the same one, the earlier is first.
    pub fn insert(&mut self, place: usize, edit: Edit) {
        self.edits.insert(place.min(self.edits.len()), edit);
    }

    /// Takes a change of the session back, by its place among [`WhatIf::edits`].
    pub fn take_back(&mut self, place: usize) -> Option<Edit> {
        (place < self.edits.len()).then(|| self.edits.remove(place))
    }

    /// Puts another change of the session in the place of one among [`WhatIf::edits`].
    pub fn replace(&mut self, place: usize, edit: Edit) {
        if let Some(known) = self.edits.get_mut(place) {
            *known = edit;
        }
    }

    /// Switches a rule off, or on again. Whether it is off now.
    pub fn switch(&mut self, rule: &str) -> bool {
        if self.off.remove(rule) {
            return false;
        }
        self.off.insert(rule.into())
    }

    /// The session and the policy as they would be.
    ///
    /// # Errors
    /// Rules are to be switched off in a policy that was not read from files.
    pub fn suppose(&self, session: &Session, policy: &Arc<Policy>) -> Result<Hypothesis, Impossible> {
        let mut off: BTreeSet<RuleId> = BTreeSet::new();
        let mut unknown = Vec::new();
        for id in &self.off {
            match policy.rules().iter().find(|(_, rule)| rule.id == *id) {
                Some((rule, _)) => drop(off.insert(rule)),
                None => unknown.push(Arc::clone(id)),
            }
        }
        let policy = match off.is_empty() {
            true => Arc::clone(policy),
            false => policy.without(&off).ok_or(Impossible::NoFiles)?,
        };
        let edited = edit::apply(session, &self.edits);
        Ok(Hypothesis { session: Arc::clone(&edited.session), policy, edited, unknown })
    }
}

impl Hypothesis {}

/// Whether nothing is left of an earlier change after a later one.
fn replaces(later: &Edit, earlier: &Edit) -> bool {
    match (later, earlier) {
        (Edit::Arguments { call, .. }, Edit::Arguments { call: other, .. })
        | (Edit::Result { call, .. }, Edit::Result { call: other, .. })
        | (
            Edit::DropCall(call),
            Edit::Arguments { call: other, .. } | Edit::Result { call: other, .. } | Edit::DropCall(other),
        ) => call == other,
        _ => false,
    }
}
