//! Which sessions lists and jumps are about.

use super::Model;

impl Model {
    /// The entries that the list of sessions keeps, in its order: what `F`, `O`, `]s` and pane 8 are about.
    pub fn scope(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        0..self.archive.entries.len()
    }
}
