//! The verdict of a session, shown by the list, the header, the timeline and the jumps.

pub use crate::explore::verdict::{SessionVerdict, violations};
use crate::workbench::theme::{Glyph, Role};
use rulestep_engine::monitor::finding::{RuleOutcome, RuleState};
use rulestep_engine::run::{Mode, Verdict};

impl SessionVerdict {
    /// The count of `!`: reported calls, and violated rules that fail nothing.
    pub fn reports(self) -> u64 {
        self.reported.saturating_add(self.unenforced)
    }

    /// Its mark: that of the worst.
    pub fn look(self) -> (Role, Glyph) {
        if self.halted {
            (Role::VerdictHalt, Glyph::Halt)
        } else if self.against() > 0 {
            (Role::VerdictDeny, Glyph::Deny)
        } else if self.after > 0 {
            (Role::VerdictAfter, Glyph::After)
        } else if self.asked > 0 {
            (Role::VerdictReport, Glyph::Ask)
        } else if self.reports() > 0 {
            (Role::VerdictReport, Glyph::Report)
        } else if self.disagree > 0 {
            (Role::Disagree, Glyph::Disagree)
        } else if self.not_exercised {
            (Role::VerdictNone, Glyph::None)
        } else {
            (Role::VerdictAllow, Glyph::Allow)
        }
    }
}

/// The mark of a session rule's outcome.
pub fn outcome_look(outcome: RuleOutcome) -> (Role, Glyph) {
    match outcome {
        RuleOutcome::Violated => (Role::VerdictDeny, Glyph::Deny),
        RuleOutcome::Pending => (Role::VerdictReport, Glyph::Dot),
        RuleOutcome::Held => (Role::VerdictAllow, Glyph::Allow),
        RuleOutcome::NotExercised => (Role::VerdictNone, Glyph::None),
    }
}

/// The same, for a rule whose violation may fail no session.
pub fn state_look(state: &RuleState) -> (Role, Glyph) {
    match state.outcome {
        RuleOutcome::Violated if !state.enforced => (Role::VerdictReport, Glyph::Report),
        outcome => outcome_look(outcome),
    }
}

/// The call that the outcome of a rule rests on, if it rests on one.
pub fn rests_on(state: &RuleState) -> Option<u32> {
    state.position.or_else(|| state.calls.first().copied())
}

/// The word for calls that are stopped: in shadow none is.
pub fn stopped_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Enforce => "stopped",
        Mode::Shadow => "would stop",
    }
}

/// The word in capitals that heads a decision.
pub fn headline(verdict: Verdict, mode: Mode) -> String {
    match (verdict, mode) {
        (Verdict::Deny, Mode::Shadow) => "WOULD STOP".to_owned(),
        (Verdict::Ask, Mode::Shadow) => "WOULD ASK".to_owned(),
        (Verdict::Halt, Mode::Shadow) => "WOULD HALT".to_owned(),
        _ => verdict.word().replace('_', " ").to_uppercase(),
    }
}
