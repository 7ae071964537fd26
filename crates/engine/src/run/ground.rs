//! What monitors may know of a run besides the call that they are asked about.

use std::sync::Arc;

use crate::monitor::{Cx, History, Trace};
use rulestep_base::session::{Facts, Message, Millis};

/// What the monitors may know when they are asked or told.
#[derive(Clone)]
pub(super) struct Ground {
    pub enforcing: bool,
    /// Whether findings are ever wanted.
    pub telling: bool,
    pub turn: u32,
    pub now: Option<Millis>,
    pub facts: Arc<Facts>,
    /// The folder of the call that is asked about or told, where it is not the session's.
    pub folder: Option<Arc<str>>,
    pub history: History,
    /// The messages of the turn's own response.
    pub response: Vec<Message>,
    /// The calls that ran, in order.
    pub ran: Trace,
}

impl Ground {
    /// Puts another folder in the place of this one, which is given back.
    pub fn enter(&mut self, folder: Option<&Arc<str>>) -> Option<Arc<str>> {
        std::mem::replace(&mut self.folder, folder.cloned())
    }

    pub fn cx(&self) -> Cx<'_> {
        Cx {
            enforcing: self.enforcing,
            telling: self.telling,
            ran: &self.ran,
            now: self.now,
            facts: &self.facts,
            folder: self.folder.as_deref(),
            history: &self.history,
            response: &self.response,
        }
    }
}
