//! What monitors may know of a run besides the current call.

use std::sync::Arc;

use crate::monitor::{Cx, History, Trace};
use rulestep_base::session::{Facts, Message, Millis};

/// The context for monitors.
#[derive(Clone)]
pub(super) struct Context {
    pub enforcing: bool,
    /// Whether findings are ever wanted.
    pub want_findings: bool,
    pub turn: u32,
    pub now: Option<Millis>,
    pub facts: Arc<Facts>,
    /// The folder of the current call, if it is not the session's.
    pub folder: Option<Arc<str>>,
    pub history: History,
    /// The messages of the turn's own response.
    pub response: Vec<Message>,
    /// The calls that ran, in order.
    pub ran: Trace,
}

impl Context {
    /// Sets the folder, and returns the previous one.
    pub fn enter(&mut self, folder: Option<&Arc<str>>) -> Option<Arc<str>> {
        std::mem::replace(&mut self.folder, folder.cloned())
    }

    pub fn cx(&self) -> Cx<'_> {
        Cx {
            enforcing: self.enforcing,
            want_findings: self.want_findings,
            ran: &self.ran,
            now: self.now,
            facts: &self.facts,
            folder: self.folder.as_deref(),
            history: &self.history,
            response: &self.response,
        }
    }
}
