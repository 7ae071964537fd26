//! The saved state of contracts.

use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

use super::standings::SavedStandings;
use super::{Contracts, ContractsMonitor, Copies, GoodCall, RunningCall, ToolState};
use crate::monitor::collections::Pages;
use crate::monitor::saved;

/// The parts in order: the tools, the standings, complete turns, running calls, resolved calls, and the number of
/// operands with copies.
type State =
    (Vec<(usize, ToolState)>, Vec<(usize, SavedStandings)>, u64, Vec<RunningCall>, Vec<GoodCall>, usize);

impl ContractsMonitor {
    /// See [`Monitor::save`](crate::monitor::Monitor::save).
    pub(super) fn save_state(&self) -> Option<String> {
        let ContractsMonitor { unit: _, hasher: _, tools, standings, completed, running, resolved, copies } =
            self;
        // Copies of files are rare, and are not saved.
        if copies.iter().any(|copies| *copies != Copies::default()) {
            return None;
        }
        let tools: Vec<_> = tools.iter().collect();
        let standings: Vec<_> = standings.iter().map(|(place, own)| (place, own.saved())).collect();
        saved::save(&(tools, standings, completed, running, resolved, copies.len()))
    }

    /// See [`Unit::resume`](crate::monitor::Unit::resume).
    pub fn resumed(unit: Arc<Contracts>, saved: &str) -> Option<ContractsMonitor> {
        let (tools, standings, completed, running, resolved, copies): State = saved::read(saved)?;
        let hasher = DefaultHashBuilder::default();
        let standings = standings.into_iter().map(|(place, saved)| (place, saved.standings(&hasher)));
        Some(ContractsMonitor {
            tools: Pages::with(unit.tools.len(), tools)?,
            standings: Pages::with(unit.groups.len(), standings)?,
            completed,
            running,
            resolved,
            copies: vec![Copies::default(); Some(copies).filter(|copies| *copies == unit.asking)?],
            hasher,
            unit,
        })
    }
}
