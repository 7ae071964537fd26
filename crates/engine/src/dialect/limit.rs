//! A limit on the calls of a tool at the beginning of a turn, shared by two dialects.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::monitor::explanation::state;
use crate::monitor::{About, Explain, Explanation, Line, LineState, RuleId, StateItem};
use rulestep_base::wording::sentence::name;
use rulestep_base::wording::{Sentence, count, thousands};

/// How far a tool's limit is used up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// The tool.
    pub tool: Arc<str>,
    /// Calls so far.
    pub used: u64,
    /// The most that may be.
    pub allowed: u64,
}

impl Limit {
    /// As an item of a turn's state.
    pub(super) fn kept(self, rule: RuleId) -> StateItem {
        StateItem::Kept { rule, tool: Some(Arc::clone(&self.tool)), facts: Arc::new(self) }
    }
}

impl Explain for Limit {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let Limit { tool, used, allowed } = self;
        let state = if used < allowed { LineState::Good } else { LineState::Bad };
        let value = Some(Sentence::new(format!("limit {used} of {allowed}")));
        let line = Line { value, state, ..Line::new(name(tool)) };
        let headline = format!("{}: {}", name(tool), used_of(*used, *allowed));
        Explanation { lines: vec![line], ..Explanation::new(about, headline) }
    }

    fn data(&self) -> Map<String, Value> {
        state("limit", self)
    }
}

/// `2 of 5 calls used`.
pub(super) fn used_of(used: u64, allowed: u64) -> String {
    format!("{} of {} used", thousands(used), count(allowed, "call"))
}
