//! How much is shown, and in colour or not.

/// How much of a session is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// What it comes to, alone.
    Summary,
    /// Turns, calls and findings.
    #[default]
    Findings,
    /// Also preconditions, state and every check.
    Full,
}

/// How an output is to look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look {
    /// How much is shown.
    pub scope: Scope,
    /// Whether it may be coloured.
    pub color: bool,
}
