//! Which of the tools and values that rules look at occur in recordings.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use rulestep_base::session::Outcome;
use rulestep_engine::monitor::CallPart;
use rulestep_engine::replay::Replay;

/// Their occurrences in sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sightings {
    /// Tools in lists of offered ones.
    pub offered: BTreeSet<Arc<str>>,
    /// The results of the policy's probes, by index; those without a call are left out.
    pub probes: BTreeMap<usize, ProbeUse>,
}

/// The results of one probe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProbeUse {
    /// Calls, or results, it looked at.
    pub calls: u64,
    /// Those with something at its path.
    pub present: u64,
    /// Those that pass its condition.
    pub passed: u64,
}

impl Sightings {
    /// For one session.
    pub fn of(replay: &Replay) -> Sightings {
        let session = replay.session();
        let offered = session.offered.iter().flat_map(|from| from.tools.iter());
        let mut seen = Sightings {
            offered: offered.map(|tool| Arc::clone(&tool.name)).collect(),
            ..Sightings::default()
        };
        let mut by_tool: HashMap<&str, Vec<usize>> = HashMap::new();
        let probes = replay.policy().probes();
        for (number, probe) in probes.iter().enumerate() {
            by_tool.entry(&*probe.tool).or_default().push(number);
        }
        for call in session.made() {
            for number in by_tool.get(&*call.tool).into_iter().flatten() {
                let Some(probe) = probes.get(*number) else { continue };
                let body = match probe.part {
                    CallPart::Arguments => &call.arguments,
                    // A call that failed, or never ran, has no result that a rule reads.
                    CallPart::Result if call.outcome != Outcome::Ok => continue,
                    CallPart::Result => &call.output,
                };
                let look = (probe.look)(body);
                let used = seen.probes.entry(*number).or_default();
                used.calls += 1;
                used.present += u64::from(look.present);
                used.passed += u64::from(look.passes);
            }
        }
        seen
    }

    /// Adds the sightings in later sessions.
    pub fn merge(&mut self, later: &Sightings) {
        self.offered.extend(later.offered.iter().cloned());
        for (probe, more) in &later.probes {
            let used = self.probes.entry(*probe).or_default();
            used.calls += more.calls;
            used.present += more.present;
            used.passed += more.passed;
        }
    }
}
