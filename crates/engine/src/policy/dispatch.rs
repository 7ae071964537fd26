//! Dispatch: which units are asked and receive events, worked out once for a version, however many runs there are.
//!
//! A run looks a tool's name up and has its route. Units that only their own names wake are found by name; the others
//! are asked about every new name, and the answers are cached for a limited number of names.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use hashbrown::HashMap;

use crate::monitor::fault::guarded;
use crate::monitor::{Fault, Observes, ProposedCall, Slot, Stage, Unit, Wakes};
use rulestep_base::session::{Body, CallRef};

/// Names that no rule has and whose routes are cached: recordings may hold any number of them.
const KEPT: usize = 1024;

/// A unit's number, and its own name for a tool.
pub type Subscription = (u32, Slot);

/// The units of a version by what wakes them.
pub struct Dispatch {
    /// Units that hear when a turn begins and ends.
    pub turns: Vec<u32>,
    /// Of the others, those that receive the beginning of the first turn.
    pub first_turn: Vec<u32>,
    /// Units that hear operations.
    pub operations: Vec<u32>,
    /// Units that hear messages.
    pub messages: Vec<u32>,
    /// Whether some unit asks for the instant of a turn.
    pub time: bool,
    /// Places of the names that rules have.
    places: HashMap<Arc<str>, u32>,
    named: Vec<Named>,
    /// Units that any name may wake.
    open: Vec<u32>,
    /// The route of a name that wakes no unit.
    nobody: Route,
    other: RwLock<HashMap<Arc<str>, Arc<Route>>>,
}

/// A name that rules have.
struct Named {
    tool: Arc<str>,
    /// The units whose rules have it, in order.
    units: Vec<u32>,
    route: OnceLock<Route>,
}

/// The units that a tool wakes, each with its own slot for the tool.
#[derive(Default)]
pub struct Route {
    /// The tool; empty if it wakes no unit.
    pub tool: Arc<str>,
    /// Units that decide about its calls.
    pub decide: Vec<Subscription>,
    /// Units that receive events of its calls.
    pub observe: Vec<Subscription>,
    /// Those that hear that one runs.
    pub starts: Vec<Subscription>,
    /// Those that hear its result.
    pub results: Vec<Subscription>,
    /// Whether one of them looks at the arguments of a call's events.
    pub arguments: bool,
    /// Units that failed when they were asked for the meaning of the name: as if the tool woke them.
    pub unknown: Vec<(u32, Arc<Fault>)>,
}

impl Dispatch {
    /// For the units of a version.
    pub fn of(units: &[Arc<dyn Unit>]) -> Dispatch {
        let mut dispatch = Dispatch {
            turns: Vec::new(),
            first_turn: Vec::new(),
            operations: Vec::new(),
            messages: Vec::new(),
            time: false,
            places: HashMap::new(),
            named: Vec::new(),
            open: Vec::new(),
            nobody: Route::default(),
            other: RwLock::default(),
        };
        let mut names = Vec::new();
        for (number, unit) in (0..).zip(units) {
            let subscriptions = unit.subscriptions();
            let lists = [
                (subscriptions.turns, &mut dispatch.turns),
                (subscriptions.first_turn && !subscriptions.turns, &mut dispatch.first_turn),
                (subscriptions.operations, &mut dispatch.operations),
                (subscriptions.messages, &mut dispatch.messages),
            ];
            for (_, list) in lists.into_iter().filter(|(wanted, _)| *wanted) {
                list.push(number);
            }
            dispatch.time |= subscriptions.time;
            if !unit.wakes_by_name() {
                dispatch.open.push(number);
            }
            unit.names(&mut names);
            for name in names.drain(..) {
                dispatch.name(name, number);
            }
        }
        dispatch
    }

    fn name(&mut self, tool: Arc<str>, unit: u32) {
        let next = self.named.len() as u32;
        let place = *self.places.entry(Arc::clone(&tool)).or_insert(next);
        if place == next {
            self.named.push(Named { tool, units: Vec::new(), route: OnceLock::new() });
        }
        if let Some(named) = self.named.get_mut(place as usize)
            && named.units.last() != Some(&unit)
        {
            named.units.push(unit);
        }
    }

    /// Every name that a rule has, sorted.
    pub fn names(&self) -> Vec<Arc<str>> {
        let mut names: Vec<Arc<str>> = self.named.iter().map(|named| Arc::clone(&named.tool)).collect();
        names.sort();
        names
    }

    /// The place of a tool's route, unless units that any name may wake have to be asked.
    pub fn place(&self, tool: &str) -> Option<u32> {
        match self.places.get(tool) {
            Some(place) => Some(place + 1),
            None => self.open.is_empty().then_some(0),
        }
    }

    /// The number of routes.
    pub fn places(&self) -> u32 {
        self.named.len() as u32 + 1
    }

    /// The route at a place.
    pub fn get(&self, units: &[Arc<dyn Unit>], place: u32) -> Option<&Route> {
        let Some(place) = place.checked_sub(1) else { return Some(&self.nobody) };
        let named = self.named.get(place as usize)?;
        Some(named.route.get_or_init(|| {
            let mut woken = [&*self.open, &*named.units].concat();
            woken.sort_unstable();
            woken.dedup();
            Route::of(units, &woken, &named.tool)
        }))
    }

    /// The route of a tool that no rule names.
    pub fn other(&self, units: &[Arc<dyn Unit>], tool: &str) -> Arc<Route> {
        let known = self.other.read().unwrap_or_else(PoisonError::into_inner).get(tool).map(Arc::clone);
        known.unwrap_or_else(|| {
            let route = Arc::new(Route::of(units, &self.open, &tool.into()));
            let mut other = self.other.write().unwrap_or_else(PoisonError::into_inner);
            if other.len() < KEPT {
                other.insert(Arc::clone(&route.tool), Arc::clone(&route));
            }
            route
        })
    }
}

impl Route {
    /// The route of a tool. No other unit is woken by it.
    fn of(units: &[Arc<dyn Unit>], woken: &[u32], tool: &Arc<str>) -> Route {
        let mut route = Route { tool: Arc::clone(tool), ..Route::default() };
        debug_assert!(
            (0..).zip(units).all(|(number, unit)| {
                woken.contains(&number) || {
                    let wakes = unit.wakes(tool);
                    !wakes.decide && !wakes.observe.any()
                }
            }),
            "a unit that is woken by name is woken by none but its names"
        );
        for number in woken {
            let Some(unit) = units.get(*number as usize) else { continue };
            let wakes = guarded(|| unit.wakes(tool)).unwrap_or_else(|why| {
                route.unknown.push((*number, Fault::of(&**unit, Stage::Wake, None, why)));
                Wakes { decide: true, observe: Observes::all(true), slot: Slot::default() }
            });
            let post = (*number, wakes.slot);
            let lists = [
                (wakes.decide, &mut route.decide),
                (wakes.observe.any(), &mut route.observe),
                (wakes.observe.starts, &mut route.starts),
                (wakes.observe.results, &mut route.results),
            ];
            for (_, list) in lists.into_iter().filter(|(wakes, _)| *wakes) {
                list.push(post);
            }
            route.arguments |= wakes.observe.arguments;
        }
        route
    }

    /// Why it is not known what the name means to a unit.
    pub fn unknown(&self, number: u32) -> Option<&Arc<Fault>> {
        self.unknown.iter().find(|(unit, _)| *unit == number).map(|(_, fault)| fault)
    }

    /// A call of this tool. Each unit gets its own slot for the tool when it is asked.
    pub fn asked<'a>(&'a self, at: CallRef, arguments: &'a Body) -> ProposedCall<'a> {
        ProposedCall { at, tool: &self.tool, slot: Slot::default(), arguments }
    }
}
