//! Sessions of one file that are read in parallel: when too many or too large ones are held, the one that was not added
//! to for longest is closed.

/// The open sessions, in the order in which they began.
pub struct Open<T> {
    slots: Vec<Slot<T>>,
    clock: u64,
}

struct Slot<T> {
    item: T,
    bytes: usize,
    touched: u64,
}

/// Sessions, and their bytes of the file, that may be held besides those that are needed.
const MOST: usize = 32;
const MOST_BYTES: usize = 2 << 20;

impl<T> Default for Open<T> {
    fn default() -> Open<T> {
        Open { slots: Vec::new(), clock: 0 }
    }
}

impl<T> Open<T> {
    /// The index of the first one that satisfies a test.
    pub fn position(&self, mut asked: impl FnMut(&T) -> bool) -> Option<usize> {
        self.slots.iter().position(|slot| asked(&slot.item))
    }

    /// The one of these that was added to last.
    pub fn latest(&self, mut among: impl FnMut(&T) -> bool) -> Option<usize> {
        let among = self.slots.iter().enumerate().filter(|(_, slot)| among(&slot.item));
        among.max_by_key(|(_, slot)| slot.touched).map(|(at, _)| at)
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The one at this place.
    pub fn get(&self, at: usize) -> Option<&T> {
        self.slots.get(at).map(|slot| &slot.item)
    }

    /// The one at this index, without adding to it.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.slots.get_mut(at).map(|slot| &mut slot.item)
    }

    /// The one at this index, to which this many bytes are added.
    pub fn add_to(&mut self, at: usize, bytes: usize) -> Option<&mut T> {
        self.clock += 1;
        let slot = self.slots.get_mut(at)?;
        slot.touched = self.clock;
        slot.bytes += bytes;
        Some(&mut slot.item)
    }

    /// Takes the one at this index, to be put back there.
    pub fn take(&mut self, at: usize) -> Option<T> {
        (at < self.slots.len()).then(|| self.slots.remove(at).item)
    }

    /// Puts one that holds this many bytes at this index, or after the others; returns its index.
    pub fn put(&mut self, at: usize, item: T, bytes: usize) -> usize {
        self.clock += 1;
        let at = at.min(self.slots.len());
        self.slots.insert(at, Slot { item, bytes, touched: self.clock });
        at
    }

    /// One that is to be closed, if too much is held besides those that are needed.
    pub fn too_much(&mut self, needed: impl Fn(&T) -> bool) -> Option<T> {
        let others = || self.slots.iter().enumerate().filter(|(_, slot)| !needed(&slot.item));
        if others().count() <= MOST && others().map(|(_, slot)| slot.bytes).sum::<usize>() <= MOST_BYTES {
            return None;
        }
        let (oldest, _) = others().min_by_key(|(_, slot)| slot.touched)?;
        Some(self.slots.remove(oldest).item)
    }

    /// All, in their order.
    pub fn close(&mut self) -> impl Iterator<Item = T> + use<T> {
        std::mem::take(&mut self.slots).into_iter().map(|slot| slot.item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_added_to_for_longest_is_closed_first() {
        let mut open = Open::default();
        for (at, name) in ["a", "b", "c", "large"].into_iter().enumerate() {
            open.put(at, name, MOST_BYTES / 2);
        }
        open.add_to(0, 0);
        let needed = |name: &&str| *name == "large";
        open.add_to(3, MOST_BYTES);
        assert_eq!(open.too_much(needed), Some("b"));
        assert_eq!(open.too_much(needed), None);
        assert_eq!(open.latest(|name| *name != "large"), Some(0));
        assert_eq!((open.take(0), open.take(7)), (Some("a"), None));
        open.put(0, "d", 0);
        assert_eq!(open.close().collect::<Vec<_>>(), ["d", "c", "large"]);
    }
}
