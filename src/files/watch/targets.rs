//! The watched files, and which side changed.

/// What to watch, as the command line names it. Git revisions and standard input do not change.
#[derive(Clone, Debug, Default)]
pub struct WatchTargets {
    /// Files and folders of policies.
    pub policies: Vec<String>,
    /// Files, folders and globs of recordings.
    pub sessions: Vec<String>,
}

impl WatchTargets {
    /// The sides on which there is anything to watch.
    #[must_use]
    pub fn sides(&self) -> ChangedFiles {
        ChangedFiles { policies: !self.policies.is_empty(), sessions: !self.sessions.is_empty() }
    }
}

/// The sides that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ChangedFiles {
    /// Some policy.
    pub policies: bool,
    /// Some recording.
    pub sessions: bool,
}
