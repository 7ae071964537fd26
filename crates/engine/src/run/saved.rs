//! The saved state of a run between two turns, from which a later process continues.
//!
//! Every part of a run is named when it is saved. If some part cannot be written, nothing is: the session is then
//! played again from its beginning.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::context::Context;
use super::in_flight::{Flights, InFlight};
use super::panel::Panel;
use super::panel::saved::SavedPanel;
use super::routes::Routes;
use super::{Clock, Mode, Run, elsewhere::Heard};
use crate::monitor::{Depth, Trace};
use crate::policy::Policy;
use rulestep_base::session::{Body, CallRef, Facts};

/// A run as it is written down.
#[derive(Serialize, Deserialize)]
struct SavedRun {
    turn: u32,
    ran: Trace,
    clock: Clock,
    /// Tools that no rule names, in order of first use.
    tools: Vec<Arc<str>>,
    /// Place of the first call in flight, and all calls from there on: place, route, arguments, working directory.
    first: u32,
    flights: VecDeque<Option<SavedCall>>,
    panel: SavedPanel,
}

type SavedCall = (CallRef, u32, Body, Option<Arc<str>>);

impl SavedRun {
    /// Whether it may be of a run of these turns and calls. The text may be forged, and too large numbers would
    /// allocate without bound.
    fn fits(&self, (turns, calls): (u32, u32)) -> bool {
        let mut flights = (self.first..).zip(&self.flights);
        let are_here = |(place, call): (u32, &Option<SavedCall>)| {
            call.as_ref().is_none_or(|(at, ..)| at.index == place && place < calls && at.turn <= turns)
        };
        (self.turn, self.clock.index) == (turns, calls)
            && self.ran.len() <= calls as usize
            && self.flights.len() <= calls as usize
            && flights.all(are_here)
    }
}

impl Run {
    /// Its state as text, if it is between two turns and [`Run::resumed`] can restore it.
    pub fn save(&self) -> Option<String> {
        let Run { mode: _, panel, context, routes, clock, waiting, pending, in_flight, halt, heard } = self;
        let Context {
            enforcing: _,
            want_findings,
            turn,
            now: _,
            facts: _,
            folder: _,
            history,
            response,
            ran,
        } = context;
        let policy = &panel.policy;
        let is_plain = !policy.reads_history() && !policy.dispatch().time && *want_findings;
        let between = !clock.in_turn && waiting.is_empty() && pending.is_none() && response.is_empty();
        if !is_plain || !between || halt.is_some() || !heard.is_empty() || !history.is_empty() {
            return None;
        }
        let Flights { first, calls } = in_flight;
        let flights = calls.iter().map(|call| {
            let saved = |call: &InFlight| {
                let InFlight { at, route, arguments, folder } = call;
                (*at, *route, arguments.clone(), folder.clone())
            };
            call.as_ref().map(saved)
        });
        let saved = SavedRun {
            turn: *turn,
            ran: ran.clone(),
            clock: *clock,
            tools: routes.own_tools().cloned().collect(),
            first: *first,
            flights: flights.collect(),
            panel: panel.save()?,
        };
        serde_json::to_string(&saved).ok()
    }

    /// The run that was saved after `been` turns and calls, in shadow mode and with findings. `None`: the text is of none.
    pub fn resumed(policy: &Arc<Policy>, facts: &Arc<Facts>, been: (u32, u32), saved: &str) -> Option<Run> {
        let saved: SavedRun = serde_json::from_str(saved).ok()?;
        if !saved.fits(been) {
            return None;
        }
        let mut run = Run::new(policy, Mode::Shadow, Depth::Findings, facts);
        let mut routes = Routes::new(policy);
        for tool in &saved.tools {
            routes.place(tool);
        }
        let flights = saved.flights.into_iter();
        let calls = flights
            .map(|call| call.map(|(at, route, arguments, folder)| InFlight { at, route, arguments, folder }))
            .collect();
        run.context.turn = saved.turn;
        run.context.now = facts.now;
        run.context.ran = saved.ran;
        run.clock = saved.clock;
        run.routes = routes;
        run.in_flight = Flights { first: saved.first, calls };
        run.panel = Panel::resumed(policy, run.panel.depth, saved.panel)?;
        run.heard = Heard::default();
        Some(run)
    }
}
