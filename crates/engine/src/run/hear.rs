//! Delivers events of other sessions of the same tree to a run.

use super::Run;
use rulestep_base::session::Session;

impl Run {
    /// Delivers the events of other sessions of the same tree before this session's call with this index. They are
    /// taken as recorded: a refused call never ran, and any other did.
    pub fn hear(&mut self, session: &Session, before: u32) {
        let elsewhere = session.elsewhere.as_deref().filter(|_| self.panel.policy.sees_trees());
        let Some(elsewhere) = elsewhere else { return };
        while let Some(told) = self.heard.next(elsewhere, before, self.clock.last) {
            // Calls that were allowed here came before.
            self.start_pending();
            let place = self.routes.place(&told.call.tool);
            if let Some(route) = self.routes.get(place) {
                told.tell(route, &mut self.panel, &mut self.context);
            }
        }
    }
}
