//! What results of parts of a corpus have in common, so that they can be added.

use std::collections::HashMap;
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Provenance;

/// A result that others of its kind can be added to.
pub(super) trait Mergeable: Serialize + DeserializeOwned {
    /// Adds another one; an error says why the two do not add up.
    fn merge(&mut self, other: Self) -> Result<(), String>;
    /// Brings lists into their order, which depends on their rows alone.
    fn settle(&mut self);
    /// Sessions counted.
    fn sessions(&self) -> u64;
    /// Which sessions those are.
    fn provenance(&self) -> &Provenance;
    /// Whether something that was named was not read.
    fn incomplete(&self) -> bool;
    /// Whether it has findings that decide the exit code.
    fn found(&self) -> bool {
        false
    }
}

/// Adds rows with the same key, and takes the others over.
pub(super) fn rows<R, K: Eq + Hash>(
    known: &mut Vec<R>,
    more: Vec<R>,
    key: impl Fn(&R) -> K,
    mut add: impl FnMut(&mut R, R),
) {
    let mut places: HashMap<K, usize> = known.iter().enumerate().map(|(at, row)| (key(row), at)).collect();
    for row in more {
        match places.get(&key(&row)).and_then(|at| known.get_mut(*at)) {
            Some(known) => add(known, row),
            None => {
                places.insert(key(&row), known.len());
                known.push(row);
            }
        }
    }
}
