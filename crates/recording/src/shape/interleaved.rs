//! Sessions whose lines are interleaved with those of others: each is found by its key.

use std::collections::HashSet;

use crate::input::digest::digest;
use crate::shape::open::Open;

/// The sessions of one file that are being read.
pub struct Interleaved<T> {
    open: Open<OpenSession<T>>,
    /// Digests of the keys that were given out.
    closed: HashSet<u64>,
}

struct OpenSession<T> {
    key: Box<str>,
    session: T,
}

impl<T> Default for Interleaved<T> {
    fn default() -> Self {
        Interleaved { open: Open::default(), closed: HashSet::new() }
    }
}

impl<T> Interleaved<T> {
    /// The session of this key, to which this many bytes are added. `begin` makes a new one; its argument is whether
    /// one of this key was returned before.
    pub fn get(&mut self, key: &str, bytes: usize, begin: impl FnOnce(bool) -> T) -> Option<&mut T> {
        let at = self.open.position(|open| &*open.key == key).unwrap_or_else(|| {
            let session = begin(self.closed.contains(&digest(key)));
            self.open.put(usize::MAX, OpenSession { key: key.into(), session }, 0)
        });
        self.open.add_to(at, bytes).map(|open| &mut open.session)
    }

    /// The session of this key, without adding to it.
    pub fn known(&mut self, key: &str) -> Option<&mut T> {
        let at = self.open.position(|open| &*open.key == key)?;
        self.open.get_mut(at).map(|open| &mut open.session)
    }

    /// The session of this key, which is complete.
    pub fn take(&mut self, key: &str) -> Option<T> {
        let at = self.open.position(|open| &*open.key == key)?;
        self.closed.insert(digest(key));
        self.open.take(at).map(|open| open.session)
    }

    /// A session that has to be returned now, since too much is held besides the one of this key.
    pub fn too_much(&mut self, latest: &str) -> Option<T> {
        let gone = self.open.too_much(|open| &*open.key == latest)?;
        self.closed.insert(digest(&gone.key));
        Some(gone.session)
    }

    /// All remaining sessions, in the order in which they began.
    pub fn close(&mut self) -> impl Iterator<Item = T> + use<T> {
        self.open.close().map(|open| open.session)
    }
}
