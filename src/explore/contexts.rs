//! Values in the contexts of sessions at the keys of `when`: a value that no session has disables the rule.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use rulestep_base::session::{Session, value};
use rulestep_engine::monitor::Condition;

/// Most kept values of one key; beyond that, a missing one proves nothing.
const MOST: usize = 64;

/// Longer values are not kept.
const LONGEST: usize = 200;

/// The values by key, as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenContexts(BTreeMap<Arc<str>, SeenValues>);

/// The values of sessions at one key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SeenValues {
    values: BTreeSet<String>,
    /// Sessions that have a value there.
    sessions: u64,
    /// Whether there are more values than these.
    is_cut: bool,
}

impl SeenContexts {
    /// Those of one session, at the keys of these conditions.
    pub fn of(session: &Session, conditions: &[Condition]) -> SeenContexts {
        let mut seen = SeenContexts::default();
        let Some(context) = session.facts.context.as_ref().filter(|_| !conditions.is_empty()) else {
            return seen;
        };
        for condition in conditions {
            let found = value::dotted(context, &condition.key).filter(|found| !found.is_null());
            if let Some(found) = found.filter(|_| !seen.0.contains_key(&condition.key)) {
                let mut values = SeenValues { sessions: 1, ..SeenValues::default() };
                values.add(found.to_string());
                seen.0.insert(Arc::clone(&condition.key), values);
            }
        }
        seen
    }

    /// Adds those of others.
    pub fn merge(&mut self, other: &SeenContexts) {
        for (key, more) in &other.0 {
            let own = self.0.entry(Arc::clone(key)).or_default();
            own.sessions += more.sessions;
            own.is_cut |= more.is_cut;
            more.values.iter().for_each(|value| own.add(value.clone()));
        }
    }

    /// The values at the key of a condition that no session satisfies though some have one there, and how many have.
    /// `None`: some session may satisfy it, or none has the key.
    pub fn against(&self, condition: &Condition) -> Option<(Vec<Value>, u64)> {
        let seen = self.0.get(&condition.key).filter(|seen| !seen.is_cut)?;
        let values: Vec<Value> =
            seen.values.iter().map(|text| serde_json::from_str(text).ok()).collect::<Option<_>>()?;
        let is_met = values.iter().any(|found| value::equal(found, &condition.value));
        (!is_met).then_some((values, seen.sessions))
    }

    /// Whether all of this many sessions have a value at the key of a condition, and none the one that it wants.
    pub fn is_never_met(&self, condition: &Condition, sessions: u64) -> bool {
        let with_a_value = self.0.get(&condition.key).map_or(0, |seen| seen.sessions);
        with_a_value == sessions && (sessions == 0 || self.against(condition).is_some())
    }
}

impl SeenValues {
    fn add(&mut self, value: String) {
        if value.len() > LONGEST || (self.values.len() >= MOST && !self.values.contains(&value)) {
            self.is_cut = true;
        } else {
            self.values.insert(value);
        }
    }
}
