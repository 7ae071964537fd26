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
    /// Places of these, once there are more than are looked through.
    places: HashMap<Arc<str>, u32>,
}

/// Tools that are looked through: few sessions have more that no rule names.
const FEW: usize = 8;

impl Routes {
    pub fn new(policy: &Arc<Policy>) -> Routes {
        Routes { policy: Arc::clone(policy), own: Vec::new(), places: HashMap::new() }
    }

    /// The place of a tool's route.
    pub fn place(&mut self, tool: &str) -> u32 {
        let dispatch = self.policy.dispatch();
        if let Some(place) = dispatch.place(tool) {
            return place;
        }
        let known = match self.own.len() {
            ..=FEW => self.own.iter().position(|route| *route.tool == *tool).map(|place| place as u32),
            _ => self.places.get(tool).copied(),
        };
        dispatch.places() + known.unwrap_or_else(|| self.add(tool))
    }

    /// The place of a new tool's route among the run's own.
    fn add(&mut self, tool: &str) -> u32 {
        self.own.push(self.policy.dispatch().other(self.policy.units(), tool));
        if self.own.len() > FEW {
            let known = self.places.len();
            let added = (known as u32..).zip(self.own.iter().skip(known));
            self.places.extend(added.map(|(place, route)| (Arc::clone(&route.tool), place)));
        }
        self.own.len() as u32 - 1
    }

    /// The tools that no rule names, in the order of their places.
    pub fn own_tools(&self) -> impl Iterator<Item = &Arc<str>> {
        self.own.iter().map(|route| &route.tool)
    }

    /// The route at a place.
    pub fn get(&self, place: u32) -> Option<&Route> {
        let dispatch = self.policy.dispatch();
        match place.checked_sub(dispatch.places()) {
            Some(own) => self.own.get(own as usize).map(|route| &**route),
            None => dispatch.get(self.policy.units(), place),
        }
    }
}
