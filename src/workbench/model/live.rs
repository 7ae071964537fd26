//! The files of the policy and the recordings: whether they are watched, and what was loaded.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::files::watch::{ChangedFiles, Way};
use rulestep_engine::policy::Policy;

/// Whether edits are picked up.
#[derive(Debug, Default)]
pub struct Live {
    /// How the files are watched; `None` if nothing on disk can change, or before the watch has begun.
    pub way: Option<Way>,
    /// Edits are not picked up, because the user turned that off.
    pub off: bool,
    /// Changes while reloading is paused.
    pub missed: ChangedFiles,
}

/// A version of the policy that loaded whole.
#[derive(Clone)]
pub struct Load {
    /// When, as people write it.
    pub at: String,
    /// The policy; its digest identifies it.
    pub policy: Arc<Policy>,
}

/// The versions of the policy that loaded completely, the newest last: the last [`Loads::KEPT`] of them.
#[derive(Default)]
pub struct Loads {
    kept: VecDeque<Load>,
}

impl Loads {
    /// Most versions that are kept.
    pub const KEPT: usize = 20;

    /// Takes in the newest.
    pub fn push(&mut self, load: Load) {
        if self.kept.len() == Self::KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(load);
    }

    /// All versions, the newest first: the first decides, the second did before.
    pub fn newest_first(&self) -> impl ExactSizeIterator<Item = &Load> {
        self.kept.iter().rev()
    }

    /// The one that decides.
    pub fn newest(&self) -> Option<&Load> {
        self.kept.back()
    }

    /// The one before it: what an edit is compared with.
    pub fn before(&self) -> Option<&Load> {
        self.newest_first().nth(1)
    }
}
