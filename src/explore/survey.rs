//! What sessions say of the rules and what they hold, counted in one go.

use super::contexts::SeenContexts;
use super::coverage::Coverage;
use super::inventory::Inventory;
use super::sightings::Sightings;
use rulestep_engine::replay::Replay;

/// All counts of the same sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// What they say of the rules.
    pub coverage: Coverage,
    /// What they hold.
    pub inventory: Inventory,
    /// Which tools and values that rules look at they have.
    pub sightings: Sightings,
    /// What their contexts have where rules look.
    pub contexts: SeenContexts,
}

impl Survey {
    /// Of one session, replayed with its checks.
    pub fn of(replay: &Replay) -> Survey {
        Survey {
            coverage: Coverage::of(replay),
            inventory: Inventory::of(replay),
            sightings: Sightings::of(replay),
            contexts: SeenContexts::of(replay.session(), replay.policy().conditions()),
        }
    }

    /// Adds what was counted of later sessions.
    pub fn merge(&mut self, later: &Survey) {
        self.coverage.merge(&later.coverage);
        self.inventory.merge(&later.inventory);
        self.sightings.merge(&later.sightings);
        self.contexts.merge(&later.contexts);
    }
}
