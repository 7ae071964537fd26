//! Sessions whose lines stand among those of others: each is found by its key, and those that were added to longest ago
//! are given out when too much is held.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The sessions of one file that are being read.
pub struct Interleaved<T> {
    open: HashMap<Box<str>, Held<T>>,
    bytes: usize,
    most: usize,
    clock: u64,
    /// Digests of the keys that were given out.
    closed: HashSet<u64>,
}

struct Held<T> {
    session: T,
    bytes: usize,
    /// When it began, and when it was added to last.
    began: u64,
    touched: u64,
}

/// Bytes of lines that are held, about.
const MOST_HELD: usize = 8 << 20;

impl<T> Default for Interleaved<T> {
    fn default() -> Self {
        Interleaved { open: HashMap::new(), bytes: 0, most: MOST_HELD, clock: 0, closed: HashSet::new() }
    }
}

impl<T> Interleaved<T> {
    /// The session of this key, to which `bytes` are added. `begin` makes a new one; it is told whether the key was
    /// given out before.
    pub fn get(&mut self, key: &str, bytes: usize, begin: impl FnOnce(bool) -> T) -> &mut T {
        self.clock += 1;
        self.bytes += bytes;
        let (clock, closed) = (self.clock, &self.closed);
        let held = self.open.entry(key.into()).or_insert_with(|| Held {
            session: begin(closed.contains(&digest(key))),
            bytes: 0,
            began: clock,
            touched: clock,
        });
        held.touched = clock;
        held.bytes += bytes;
        &mut held.session
    }

    /// The session of this key, which is complete.
    pub fn take(&mut self, key: &str) -> Option<T> {
        let held = self.open.remove(key)?;
        self.bytes -= held.bytes;
        self.closed.insert(digest(key));
        Some(held.session)
    }

    /// Sessions that must be given out now, since too much is held; never the latest one.
    pub fn overdue(&mut self) -> Vec<T> {
        if self.bytes <= self.most {
            return Vec::new();
        }
        let mut keys: Vec<_> = self.open.iter().map(|(key, held)| (held.touched, key.clone())).collect();
        keys.sort_unstable();
        keys.pop();
        let mut gone = Vec::new();
        for (_, key) in keys {
            if self.bytes <= MOST_HELD / 2 {
                break;
            }
            gone.extend(self.take(&key));
        }
        self.most = MOST_HELD.max(2 * self.bytes);
        gone
    }

    /// All that are left, in the order in which they began.
    pub fn rest(&mut self) -> Vec<T> {
        let mut held: Vec<_> = std::mem::take(&mut self.open).into_values().collect();
        held.sort_unstable_by_key(|held| held.began);
        self.bytes = 0;
        held.into_iter().map(|held| held.session).collect()
    }
}

fn digest(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
