//! The record, shared between a run, its forks and its findings: copying it costs nothing.

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};

use super::layered::Layered;
use crate::monitor::saved;
use rulestep_base::session::CallRef;

/// The recorded state of tool policies: which tools have succeeded, and what was read with which tool. Of each the first
/// call is kept that did it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Record {
    #[serde(with = "saved::sorted")]
    tools: RedBlackTreeMapSync<Arc<str>, CallRef>,
    #[serde(with = "saved::sorted")]
    keys: RedBlackTreeMapSync<Arc<str>, Keys>,
}

/// As many as a session has files: found by hash, and sorted only to be shown.
type Keys = Layered<Arc<str>, CallRef>;

impl Record {
    /// Records that a tool has succeeded with this call.
    pub fn add_tool(&mut self, tool: &Arc<str>, call: CallRef) {
        // Most calls say nothing new, and a map that is shared would be copied in part.
        if self.tool(tool).is_none() {
            self.tools.insert_mut(Arc::clone(tool), call);
        }
    }

    /// Records that a tool has read what this key names, with this call.
    pub fn add_key(&mut self, tool: &Arc<str>, key: &str, call: CallRef) {
        match self.keys.get_mut(tool) {
            Some(keys) if keys.contains(key) => {}
            Some(keys) => keys.insert(key.into(), call),
            None => {
                let mut keys = Keys::default();
                keys.insert(key.into(), call);
                self.keys.insert_mut(Arc::clone(tool), keys);
            }
        }
    }

    /// The first call with which a tool has succeeded.
    pub fn tool(&self, tool: &str) -> Option<CallRef> {
        self.tools.get(tool).copied()
    }

    /// The first call with which a tool has read what this key names.
    pub fn key(&self, tool: &str, key: &str) -> Option<CallRef> {
        self.keys.get(tool).and_then(|keys| keys.get(key)).copied()
    }

    /// The tools, sorted.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<str>> {
        self.tools.keys()
    }

    /// Tools with the keys they have read, sorted.
    pub fn keys(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.keys.iter().flat_map(|(tool, keys)| {
            let mut keys: Vec<&Arc<str>> = keys.iter().map(|(key, _)| key).collect();
            keys.sort();
            keys.into_iter().map(move |key| (tool, key))
        })
    }

    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.keys.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_by_tool_then_key() {
        let mut recorded = Record::default();
        for (index, (tool, key)) in
            [("read", "b"), ("cat", "z"), ("read", "a"), ("read", "b")].into_iter().enumerate()
        {
            recorded.add_key(&tool.into(), key, CallRef { turn: 1, call: 1, index: index as u32 });
        }
        let keys: Vec<_> = recorded.keys().map(|(tool, key)| (&**tool, &**key)).collect();
        assert_eq!(keys, [("cat", "z"), ("read", "a"), ("read", "b")]);
        assert_eq!(recorded.key("cat", "a"), None);
        assert_eq!(recorded.key("read", "b").map(|call| call.index), Some(0), "the first call that read it");
    }
}
