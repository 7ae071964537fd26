//! What happens to a file.

use serde::{Deserialize, Serialize};

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Act {
    /// Its content is read.
    Reads,
    /// It is written, or made.
    Writes,
    /// It is deleted.
    Deletes,
}

impl Act {
    /// All of them.
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
