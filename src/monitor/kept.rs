//! What grows with a session and is shared between a run, its forks and its findings: copying any of it costs nothing.

use std::ops::Bound;
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;
use rpds::{HashTrieSetSync, RedBlackTreeMapSync, RedBlackTreeSetSync, VectorSync};

use crate::session::CallRef;

/// The calls that ran and have a result, by their place in the session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dispatched {
    /// Those whose results came in the order of the calls: nearly all.
    in_order: VectorSync<(u32, Arc<str>)>,
    /// The others, so that one of them moves nothing.
    late: RedBlackTreeMapSync<u32, Arc<str>>,
}

impl Dispatched {
    /// Adds a call; a result that comes late puts it between those that are there.
    pub fn add(&mut self, index: u32, tool: Arc<str>) {
        match self.in_order.last() {
            Some((last, _)) if *last > index => self.late.insert_mut(index, tool),
            _ => self.in_order.push_back_mut((index, tool)),
        }
    }

    /// Their tools, in call order.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<str>> {
        let mut in_order = self.in_order.iter().peekable();
        let mut late = self.late.iter().peekable();
        std::iter::from_fn(move || match (in_order.peek(), late.peek()) {
            (Some((first, _)), Some((second, _))) if first > *second => late.next().map(|(_, tool)| tool),
            (None, _) => late.next().map(|(_, tool)| tool),
            _ => in_order.next().map(|(_, tool)| tool),
        })
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.in_order.len() + self.late.size()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.in_order.is_empty() && self.late.is_empty()
    }
}

/// The recorded state of tool policies: which tools have succeeded, and what was read with which tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recorded {
    tools: RedBlackTreeSetSync<Arc<str>>,
    keys: RedBlackTreeMapSync<Arc<str>, Keys>,
}

/// As many as a session has files: found by hash, and sorted only to be shown.
type Keys = HashTrieSetSync<Arc<str>, DefaultHashBuilder>;

impl Recorded {
    /// Records that a tool has succeeded.
    pub fn add_tool(&mut self, tool: &Arc<str>) {
        // Most calls say nothing new, and a set that is shared would be copied in part.
        if !self.tools.contains(tool) {
            self.tools.insert_mut(Arc::clone(tool));
        }
    }

    /// Records that a tool has read what this key names.
    pub fn add_key(&mut self, tool: &Arc<str>, key: &str) {
        match self.keys.get_mut(tool) {
            Some(keys) if keys.contains(key) => {}
            Some(keys) => keys.insert_mut(key.into()),
            None => {
                let mut keys = Keys::new_with_hasher_with_ptr_kind(DefaultHashBuilder::default());
                keys.insert_mut(key.into());
                self.keys.insert_mut(Arc::clone(tool), keys);
            }
        }
    }

    /// Whether a tool has succeeded.
    pub fn has_tool(&self, tool: &str) -> bool {
        self.tools.contains(tool)
    }

    /// Whether a tool has read what this key names.
    pub fn has_key(&self, tool: &str, key: &str) -> bool {
        self.keys.get(tool).is_some_and(|keys| keys.contains(key))
    }

    /// The tools, sorted.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<str>> {
        self.tools.iter()
    }

    /// Tools with the keys they have read, sorted.
    pub fn keys(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.keys.iter().flat_map(|(tool, keys)| {
            let mut keys: Vec<&Arc<str>> = keys.iter().collect();
            keys.sort();
            keys.into_iter().map(move |key| (tool, key))
        })
    }

    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.keys.is_empty()
    }
}

/// The files that exist as far as calls and lists tell, by their folded paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Files(RedBlackTreeMapSync<Arc<str>, Standing>);

/// Why a file exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Standing {
    /// It was there when the session began, or has been read.
    lasting: bool,
    /// Writes that made it, or may have.
    writes: u32,
    /// The newest call that showed it.
    by: Option<CallRef>,
}

impl Files {
    /// A file that is there whatever becomes of writes; `by` the call that has read it, if one did.
    pub fn keep(&mut self, path: &str, by: Option<CallRef>) {
        self.change(path, |file| (file.lasting, file.by) = (true, by.or(file.by)));
    }

    /// A write of this file is on its way.
    pub fn begin_write(&mut self, path: &str, by: CallRef) {
        self.change(path, |file| (file.writes, file.by) = (file.writes.saturating_add(1), Some(by)));
    }

    /// A write of this file has failed: what it alone made is gone.
    pub fn take_back(&mut self, path: &str, by: CallRef) {
        let Some(file) = self.0.get_mut(path) else { return };
        file.writes = file.writes.saturating_sub(1);
        file.by = file.by.filter(|newest| *newest != by);
        if file.writes == 0 && !file.lasting {
            self.0.remove_mut(path);
        }
    }

    /// Whether the folded path is a file or a directory that holds one; the root always is. If so, the call that
    /// showed it, where one did.
    pub fn exists(&self, path: &str) -> Option<Option<CallRef>> {
        if let Some(file) = self.0.get(path) {
            return Some(file.by);
        }
        if path.is_empty() {
            return Some(None);
        }
        let within = format!("{path}/");
        let range = (Bound::Included(within.as_str()), Bound::Unbounded);
        let (first, file) = self.0.range::<str, _>(range).next()?;
        first.starts_with(&within).then_some(file.by)
    }

    /// The files, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.keys()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.size()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn change(&mut self, path: &str, change: impl FnOnce(&mut Standing)) {
        match self.0.get_mut(path) {
            Some(file) => change(file),
            None => {
                let mut file = Standing::default();
                change(&mut file);
                self.0.insert_mut(path.into(), file);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(index: u32) -> CallRef {
        CallRef { turn: index + 1, call: 1, index }
    }

    #[test]
    fn a_late_result_stands_where_its_call_does() {
        let mut dispatched = Dispatched::default();
        for (index, tool) in [(0, "a"), (2, "c"), (1, "b")] {
            dispatched.add(index, tool.into());
        }
        let copy = dispatched.clone();
        dispatched.add(3, "d".into());
        let names = |of: &Dispatched| of.tools().map(|tool| tool.to_string()).collect::<Vec<_>>();
        assert_eq!(
            (names(&dispatched), names(&copy)),
            (vec!["a".into(), "b".into(), "c".into(), "d".into()], vec!["a".into(), "b".into(), "c".into()])
        );
    }

    #[test]
    fn keys_are_sorted_by_tool_then_key() {
        let mut recorded = Recorded::default();
        for (tool, key) in [("read", "b"), ("cat", "z"), ("read", "a"), ("read", "b")] {
            recorded.add_key(&tool.into(), key);
        }
        let keys: Vec<_> = recorded.keys().map(|(tool, key)| (&**tool, &**key)).collect();
        assert_eq!(keys, [("cat", "z"), ("read", "a"), ("read", "b")]);
        assert!(recorded.has_key("read", "a") && !recorded.has_key("cat", "a"));
    }

    #[test]
    fn a_directory_exists_as_long_as_it_holds_a_file() {
        let mut files = Files::default();
        files.keep("a-b", None);
        files.begin_write("a/b/c", call(1));
        assert_eq!(files.exists("a/b"), Some(Some(call(1))));
        assert_eq!(files.exists("a"), Some(Some(call(1))));
        assert_eq!((files.exists("a/"), files.exists("a/b/c/d"), files.exists("")), (None, None, Some(None)));
        files.take_back("a/b/c", call(1));
        assert_eq!(files.exists("a"), None);
    }

    #[test]
    fn a_failed_write_takes_back_only_what_it_made() {
        let mut files = Files::default();
        files.keep("old", None);
        files.begin_write("old", call(1));
        files.take_back("old", call(1));
        assert_eq!(files.exists("old"), Some(None));
        files.begin_write("new", call(2));
        files.begin_write("new", call(3));
        files.take_back("new", call(2));
        assert_eq!(files.exists("new"), Some(Some(call(3))));
        files.take_back("new", call(3));
        assert_eq!(files.exists("new"), None);
    }
}
