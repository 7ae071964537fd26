//! The routes that the tools of one run take: those that rules name are the version's, the others are the run's own.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::policy::{Policy, Route};

/// Places of routes, by tool.
#[derive(Clone)]
pub(super) struct Routes {
    policy: Arc<Policy>,
    /// Routes of tools that no rule names, after those of the version.
    own: Vec<Arc<Route>>,
    places: HashMap<Arc<str>, u32>,
}

impl Routes {
    pub fn new(policy: &Arc<Policy>) -> Routes {
        Routes { policy: Arc::clone(policy), own: Vec::new(), places: HashMap::new() }
    }

    /// The place of a tool's route.
    pub fn place(&mut self, tool: &str) -> u32 {
        let roster = self.policy.roster();
        if let Some(place) = roster.place(tool).or_else(|| self.places.get(tool).copied()) {
            return place;
        }
        let (route, place) =
            (roster.other(self.policy.units(), tool), roster.places() + self.own.len() as u32);
        self.places.insert(Arc::clone(&route.tool), place);
        self.own.push(route);
        place
    }

    /// The route at a place.
    pub fn get(&self, place: u32) -> Option<&Route> {
        let roster = self.policy.roster();
        match place.checked_sub(roster.places()) {
            Some(own) => self.own.get(own as usize).map(|route| &**route),
            None => roster.get(self.policy.units(), place),
        }
    }
}
