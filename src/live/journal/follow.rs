//! A journal that one process uses repeatedly, while others write to it.

use std::sync::Arc;
use std::time::Duration;

use super::{Fault, Journal, Records};
use crate::live::index::Bodies;
use crate::live::lock;
use crate::live::outlines::Outlines;
use rulestep_base::session::body::Store;
use rulestep_recording::known::Known;

impl Journal {
    /// From now on, finding the records of a call costs the same however long the journal is.
    pub fn remember_calls(&mut self) {
        if let Records::Outlines(outlines, _) = &mut self.records {
            outlines.remember_calls();
        }
    }

    /// Plays records that it does not hold yet.
    pub fn play_added(&self, added: &Outlines, known: &mut Known) -> Option<()> {
        let Records::Outlines(_, bodies) = &self.records else { return None };
        let store: Arc<dyn Store> = Arc::<Bodies>::clone(bodies);
        added.play(0, Some(&store), known)
    }

    /// The number of its records, if they are read one by one.
    pub fn records(&self) -> Option<usize> {
        match &self.records {
            Records::Lines(_) => None,
            Records::Outlines(outlines, _) => Some(outlines.len()),
        }
    }

    /// Lets others write, until [`Journal::again`].
    pub fn rest(&self) {
        let _ = self.file.unlock();
    }

    /// Continues after [`Journal::rest`]: waits for the lock and reads what others wrote. False: it has to be opened
    /// again.
    ///
    /// # Errors It cannot be read or locked in time.
    pub fn again(&mut self, wait: Duration) -> Result<bool, Fault> {
        lock::lock(&self.file, &self.path, wait)?;
        let stamp = self.stamp()?;
        if !lock::is_named(&self.file, &self.path) || self.misread() {
            return Ok(false);
        }
        let (Records::Outlines(outlines, _), Some(index)) = (&mut self.records, &mut self.index) else {
            return Ok(false);
        };
        let added = index.follow(&stamp).and_then(|added| outlines.add(&added));
        Ok(added.is_some() && outlines.end() == self.length)
    }

    /// Plays its records from this one on; returns their number. `None`: that cannot be done one by one.
    pub fn play(&self, from: usize, known: &mut Known) -> Option<usize> {
        let Records::Outlines(outlines, bodies) = &self.records else { return None };
        let store: Arc<dyn Store> = Arc::<Bodies>::clone(bodies);
        outlines.play(from, Some(&store), known)?;
        Some(outlines.len())
    }
}
