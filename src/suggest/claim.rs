//! What a suggested rule says, and what the recordings say of it.

use std::sync::Arc;

use crate::explore::occurrence::Extent;

/// Where a call has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// In its arguments.
    Arguments,
    /// In its result.
    Output,
}

/// When a rule is suggested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Independent observations at least: sessions, or different values that calls share.
    pub support: u64,
    /// Calls that may speak against it.
    pub against: u64,
    /// Suggestions at most.
    pub most: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { support: 10, against: 0, most: 15 }
    }
}

/// What a rule says of its tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Claim {
    /// It needs an earlier call of another tool.
    Needs(Need),
    /// It does not run twice in a session.
    Once,
    /// It does not run after another tool.
    NeverAfter(Arc<str>),
}

/// What a call needs before it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Need {
    /// The tool that must have succeeded.
    pub prior: Arc<str>,
    /// The value that both share; without one, any call of that tool does.
    pub shared: Option<SharedValue>,
    /// What its result must say: a path, and the value as JSON.
    pub result: Option<(Arc<str>, Arc<str>)>,
}

/// A value that two calls share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedValue {
    /// Where this call has it, in its arguments.
    pub path: Arc<str>,
    /// Where the earlier call has it.
    pub side: Side,
    /// The path there.
    pub prior_path: Arc<str>,
}

/// A rule for one tool, before it was tried.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Candidate {
    /// The tool that it governs.
    pub tool: Arc<str>,
    /// What it says.
    pub claim: Claim,
}

impl Suggestion {
    /// A rule that no recording says anything of.
    pub fn of(candidate: &Candidate) -> Suggestion {
        let (claim, tools) = (candidate.claim.clone(), vec![Arc::clone(&candidate.tool)]);
        Suggestion { claim, tools, calls: 0, sessions: 0, against: 0, extent: Extent::default() }
    }
}

/// One rule, or the same rule for several tools, with what the recordings say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// What it says.
    pub claim: Claim,
    /// The tools that it governs.
    pub tools: Vec<Arc<str>>,
    /// Calls that satisfy it.
    pub calls: u64,
    /// Sessions with such calls.
    pub sessions: u64,
    /// Calls that it would stop.
    pub against: u64,
    /// The first and the last of them.
    pub extent: Extent,
}
