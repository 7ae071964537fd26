//! Everything that is counted over sessions, in one pass.

use super::contexts::SeenContexts;
use super::coverage::Coverage;
use super::inventory::Inventory;
use super::sightings::Sightings;
use rulestep_engine::replay::Replay;

/// All counts of the same sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// How they exercise the rules.
    pub coverage: Coverage,
    /// Their content.
    pub inventory: Inventory,
    /// The tools and values that rules look at.
    pub sightings: Sightings,
    /// The values of their contexts at the keys of rules.
    pub contexts: SeenContexts,
}

impl Survey {
    /// For one session, replayed with its checks.
    pub fn of(replay: &Replay) -> Survey {
        Survey {
            coverage: Coverage::of(replay),
            inventory: Inventory::of(replay),
            sightings: Sightings::of(replay),
            contexts: SeenContexts::of(replay.session(), replay.policy().conditions()),
        }
    }

    /// Adds the counts of later sessions.
    pub fn merge(&mut self, later: &Survey) {
        self.coverage.merge(&later.coverage);
        self.inventory.merge(&later.inventory);
        self.sightings.merge(&later.sightings);
        self.contexts.merge(&later.contexts);
    }
}
