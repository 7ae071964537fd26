//! How completely recordings were read.

use serde::{Deserialize, Serialize};

use rulestep_base::diagnostic::{Diagnostic, Severity};
use rulestep_base::merged;

merged! {
    /// How completely the recordings were read.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Completeness {
        /// Files that gave no session.
        pub skipped: u64,
        /// Diagnostics about recordings and policies.
        pub diagnostics: DiagnosticCounts,
        /// The work was broken off.
        pub interrupted: bool,
    }

    /// Diagnostics by their severity.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct DiagnosticCounts {
        /// Something was not read.
        pub errors: u64,
        /// Something is probably not meant.
        pub warnings: u64,
        /// Something is worth knowing.
        pub notices: u64,
    }
}

impl DiagnosticCounts {
    /// Counts one.
    pub fn note(&mut self, diagnostic: &Diagnostic) {
        *match diagnostic.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Notice => &mut self.notices,
        } += 1;
    }
}

impl Completeness {
    /// Whether something that was named was not read.
    pub fn is_incomplete(&self) -> bool {
        self.interrupted || self.diagnostics.errors > 0
    }
}
