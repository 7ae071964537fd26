//! What is known at the end of an output.

use super::{Total, ci, words};
use crate::engine::{Mode, Verdict};
use crate::policy::Policy;

/// What is known once all sessions are judged.
pub struct End<'a> {
    /// What they come to.
    pub total: &'a Total,
    /// The policy that judged them.
    pub policy: &'a Policy,
    /// The mode they were judged in.
    pub mode: Mode,
    /// The findings, where an output gathers them.
    pub gathered: &'a ci::Issues,
    /// The command that does it again.
    pub command: &'a str,
}

impl End<'_> {
    pub(super) fn run(&self) -> ci::Run<'_> {
        let total = self.total;
        let did = words::stopped(self.mode);
        let mut summary = match total.deny + total.halt {
            0 => format!("no call {did}"),
            stopped => format!("{} {did}", words::count(stopped, "call")),
        };
        if total.alternatives_stopped > 0 {
            let others = words::thousands(total.alternatives_stopped);
            summary.push_str(&format!(
                ", {others} {} in choices not taken",
                words::decided(Verdict::Deny, self.mode)
            ));
        }
        let violated = total.tables.violated();
        if violated > 0 {
            summary.push_str(&format!(", {} violated", words::count(violated, "session rule")));
        }
        summary.push_str(&format!(" in {}", words::count(total.sessions, "session")));
        ci::Run { gathered: self.gathered, told: total, summary, command: self.command }
    }
}
