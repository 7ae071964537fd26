//! The subject of a comparison, and its look.

use crate::compare::{Comparison, Kind, Side};
use crate::report::{Look, Scope};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_engine::run::Mode;

/// The subject of a comparison, and its look.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The versions.
    pub comparison: &'a Comparison,
    /// The name of the base.
    pub base: &'a str,
    /// The name of the new version.
    pub new: &'a str,
    /// How sessions are judged.
    pub mode: Mode,
    /// The look; in full, every change is worded.
    pub look: Look,
    /// Kinds of change that are a failure.
    pub fails: &'a [Kind],
    /// The command that does it again.
    pub command: &'a str,
}

/// Changes of one kind and one rule that are worded.
const SHOWN: usize = 10;

impl View<'_> {
    /// The warnings about the new version.
    pub fn of_policy(&self) -> Vec<Diagnostic> {
        self.comparison.side(Side::New).map(|policy| policy.warnings()).unwrap_or_default()
    }

    /// The number of rules edited in this way.
    pub fn rules(&self, kind: Kind) -> u64 {
        self.comparison.edited(kind)
    }

    /// Most changes of a kind and a rule that are worded.
    pub fn most(&self) -> usize {
        if self.look.scope == Scope::Full { usize::MAX } else { SHOWN }
    }
}
