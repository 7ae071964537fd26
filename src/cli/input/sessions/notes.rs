//! Facts about files once all of them was read, besides the answers for their sessions.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::cli::input::kept;
use crate::files::digested::Beginning;
use rulestep_base::diagnostic::Diagnostic;

/// Facts about files apart from their sessions, once all of them was read.
#[derive(Default, Serialize, Deserialize)]
pub struct FileNotes {
    #[serde(with = "kept::diagnostics")]
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) count: u64,
    /// Those that gave no session, by the names that they are shown under.
    pub(super) skipped: Vec<String>,
}

impl FileNotes {
    /// Adds those of files that come after these.
    pub fn append(&mut self, later: &FileNotes) {
        self.diagnostics.extend_from_slice(&later.diagnostics);
        self.count += later.count;
        self.skipped.extend_from_slice(&later.skipped);
    }
}

/// How far a file was read that may only have grown since.
#[derive(Serialize, Deserialize)]
pub struct Growth {
    pub(super) beginning: Beginning,
    /// A [`Checkpoint`](rulestep_recording::Checkpoint), as its text: of most files it is never read, and it has a digest for every session.
    pub(super) checkpoint: Box<RawValue>,
}

impl Growth {
    /// Whether a file of this length may be one that has grown.
    pub fn may_be_of(&self, length: u64) -> bool {
        length >= self.beginning.bytes
    }
}
