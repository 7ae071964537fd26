//! The claim of a suggested rule, and its counts in the recordings.

use std::sync::Arc;

use crate::explore::occurrence::Extent;

/// The side of a call that has a value.
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
    /// Calls that may violate it.
    pub against: u64,
    /// Suggestions at most.
    pub most: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { support: 10, against: 0, most: 15 }
    }
}

/// The claim of a rule about its tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Claim {
    /// It needs an earlier call of another tool.
    Needs(Need),
    /// It does not run twice in a session.
    Once,
    /// It does not run after another tool.
    NeverAfter(Arc<str>),
}

/// The prior call that a call needs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Need {
    /// The tool that must have succeeded.
    pub prior: Arc<str>,
    /// The value that both share; without one, any call of that tool does.
    pub shared: Option<SharedValue>,
    /// The required value of its result: a path, and the value as JSON.
    pub result: Option<(Arc<str>, Arc<str>)>,
}

/// A value that two calls share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedValue {
    /// The path in this call's arguments.
    pub path: Arc<str>,
    /// The side of the earlier call that has it.
    pub side: Side,
    /// The path there.
    pub prior_path: Arc<str>,
}

/// A rule for one tool, before it was tried.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Candidate {
    /// The tool that it governs.
    pub tool: Arc<str>,
    /// Its claim.
    pub claim: Claim,
}

impl Suggestion {
    /// A rule that no recording says anything of.
    pub fn of(candidate: &Candidate) -> Suggestion {
        let (claim, tools) = (candidate.claim.clone(), vec![Arc::clone(&candidate.tool)]);
        Suggestion { claim, tools, calls: 0, sessions: 0, against: 0, extent: Extent::default() }
    }
}

/// One rule, or the same rule for several tools, with its counts in the recordings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// Its claim.
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
