//! How much is shown, and whether in colour.

/// How much of a session is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Only its result.
    Summary,
    /// Turns, calls and findings.
    #[default]
    Findings,
    /// Also preconditions, state and every check.
    Full,
}

/// The look of an output.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look {
    /// How much is shown.
    pub scope: Scope,
    /// Whether it may be coloured.
    pub color: bool,
}
