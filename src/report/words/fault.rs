//! Sentences about rules that failed by themselves.

use crate::monitor::{Fault, Stage};
use crate::wording::clean::{self, Marks};

/// Columns that a panic's message may take: it may hold recorded text of any length.
const WHY: usize = 160;

/// What can be done about it: nothing in the policy, and nothing by the agent.
pub const WAY_OUT: &str =
    "this is a defect in the program, not in the agent: please report it with the policy and the session";

/// What a session rule that failed was expected to do.
pub(super) const EXPECTED: &str = "the rule can be evaluated for the whole session";

/// What failed and why, in a line.
pub fn against(fault: &Fault) -> String {
    let rule = match fault.rule {
        Some(_) => "the rule",
        None => "this rule, or one that shares its state,",
    };
    let stage = match fault.stage {
        Stage::Start => "when the session started",
        Stage::Wake => "while it looked up the tool's name",
        Stage::Narrow => "while it checked whether the tool is visible",
        Stage::Decide => "while it checked the call",
        Stage::Observe => "while it recorded what happened",
        Stage::State => "while it listed its state",
        Stage::Report => "while it checked the whole session",
        Stage::Fork => "while its state was copied",
    };
    format!("{rule} failed {stage}: {}", why(fault))
}

/// The panic's own message, on one line, cut and safe.
pub fn why(fault: &Fault) -> String {
    clean::fit(&fault.why, WHY, Marks::Unicode).text()
}
