//! The tools that sessions have: the rules of a policy about other tools can never have been asked.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use rulestep_base::session::Session;

/// More names than any set of tools has: beyond them nothing is concluded from a name that is missing.
const MOST: usize = 5_000;

/// The names of the tools that are called or offered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenTools {
    names: BTreeSet<Arc<str>>,
    /// Whether there are more than these.
    #[serde(default)]
    is_cut: bool,
}

impl SeenTools {
    /// Those of one session.
    pub fn of(session: &Session) -> SeenTools {
        let mut seen = SeenTools::default();
        session.calls.iter().for_each(|call| seen.add(&call.tool));
        let alternatives = session.alternatives.iter().flat_map(|other| other.calls());
        alternatives.for_each(|call| seen.add(&call.tool));
        session.offered.iter().flat_map(|from| from.tools.iter()).for_each(|tool| seen.add(&tool.name));
        seen
    }

    fn add(&mut self, tool: &Arc<str>) {
        if self.names.len() < MOST {
            if !self.names.contains(tool) {
                self.names.insert(Arc::clone(tool));
            }
        } else {
            self.is_cut |= !self.names.contains(tool);
        }
    }

    /// Adds those of others.
    pub fn merge(&mut self, other: &SeenTools) {
        self.is_cut |= other.is_cut;
        other.names.iter().for_each(|tool| self.add(tool));
    }

    /// All tools; `None` if there are too many to keep.
    pub fn all(&self) -> Option<BTreeSet<&str>> {
        (!self.is_cut).then(|| self.names.iter().map(|name| &**name).collect())
    }
}
