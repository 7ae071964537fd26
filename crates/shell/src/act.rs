//! Actions on a file.

use serde::{Deserialize, Serialize};

/// An action on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Act {
    /// Its content is read.
    Reads,
    /// It is written or created.
    Writes,
    /// It is deleted.
    Deletes,
}

impl Act {
    /// All actions.
    pub const ALL: [Act; 3] = [Act::Reads, Act::Writes, Act::Deletes];

    /// The name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Act::Reads => "reads",
            Act::Writes => "writes",
            Act::Deletes => "deletes",
        }
    }
}
