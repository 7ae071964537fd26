//! The running state of all units as text.

use std::cmp::Reverse;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Panel, Seat, Work};
use crate::monitor::fault::guarded;
use crate::monitor::{Depth, Timer};
use crate::policy::Policy;

/// The running state of all units as it is written down.
#[derive(Serialize, Deserialize)]
pub(in crate::run) struct SavedPanel {
    /// The units that something has woken, each with whether it rests.
    seats: Vec<(usize, bool, Box<RawValue>)>,
    timers: Vec<Timer>,
    armed: Vec<Timer>,
}

impl Panel {
    /// Its state, if all of it can be written.
    pub fn save(&self) -> Option<SavedPanel> {
        let Panel { policy: _, depth: _, work: Work { seats, timers, armed, set } } = self;
        let woken = seats.iter().filter(|(_, seat)| !matches!(seat, Seat::Empty));
        let saved = woken.map(|(number, seat)| {
            let (monitor, retired) = match seat {
                Seat::Working(monitor) => (monitor, false),
                Seat::Retired(monitor) => (monitor, true),
                Seat::Empty | Seat::Failed(_) => return None,
            };
            let own = guarded(|| monitor.save()).ok().flatten()?;
            Some((number, retired, RawValue::from_string(own).ok()?))
        });
        let seats: Option<Vec<_>> = saved.collect();
        let timers = timers.iter().map(|Reverse(timer)| *timer).collect();
        Some(SavedPanel { seats: seats.filter(|_| set.is_empty())?, timers, armed: armed.clone() })
    }

    /// The panel that was saved.
    pub fn resumed(policy: &Arc<Policy>, depth: Depth, saved: SavedPanel) -> Option<Panel> {
        let mut panel = Panel::new(policy, depth);
        for (number, retired, own) in saved.seats {
            let unit = Arc::clone(policy.units().get(number)?);
            let seat = Seat::Working(guarded(|| unit.resume(own.get())).ok().flatten()?);
            *panel.work.seats.get_mut(number)? = if retired { seat.retired() } else { seat };
        }
        panel.work.timers = saved.timers.into_iter().map(Reverse).collect();
        panel.work.armed = saved.armed;
        Some(panel)
    }
}
