//! Rules that an edit added, changed or removed.

use super::{Correspondence, RuleAt, Side};
use rulestep_engine::policy::Policy;

/// A rule that is not the same in both versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlteredRule {
    /// The rule, in the new version if that has it.
    pub at: RuleAt,
    /// The effect of the edit.
    pub fate: Fate,
}

/// The effect of an edit on a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Only the new version has it.
    Added,
    /// Both have it, and it says something else.
    Edited,
    /// Only the base has it.
    Removed,
}

impl Fate {
    /// The word of the JSON output and the screen.
    pub fn word(self) -> &'static str {
        match self {
            Fate::Added => "added",
            Fate::Edited => "edited",
            Fate::Removed => "removed",
        }
    }
}

/// The rules that differ between the versions, in the order of the new version, then the removed ones.
pub(super) fn altered(base: &Policy, new: &Policy, pairs: &Correspondence) -> Vec<AlteredRule> {
    let new = new.rules().iter().filter_map(|(rule, _)| {
        let fate = match pairs.in_base(rule) {
            None => Fate::Added,
            Some(base) if pairs.is_edited(base) => Fate::Edited,
            Some(_) => return None,
        };
        Some(AlteredRule { at: RuleAt { side: Side::New, rule }, fate })
    });
    let gone = base.rules().iter().filter(|(rule, _)| pairs.in_new(*rule).is_none());
    let gone =
        gone.map(|(rule, _)| AlteredRule { at: RuleAt { side: Side::Base, rule }, fate: Fate::Removed });
    new.chain(gone).collect()
}
