//! What is compared, and how it is to look.

use crate::compare::{Comparison, Kind, Side};
use crate::report::{Look, Scope};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_engine::run::Mode;

/// What is compared, and how it is to look.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The versions.
    pub comparison: &'a Comparison,
    /// What the base was called.
    pub base: &'a str,
    /// What the new version was called.
    pub new: &'a str,
    /// How sessions are judged.
    pub mode: Mode,
    /// How it is to look; in full, every change is worded.
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

    /// How many rules were edited so.
    pub fn rules(&self, kind: Kind) -> u64 {
        self.comparison.edited(kind)
    }

    /// How many changes of a kind and a rule are worded.
    pub fn most(&self) -> usize {
        if self.look.scope == Scope::Full { usize::MAX } else { SHOWN }
    }
}
