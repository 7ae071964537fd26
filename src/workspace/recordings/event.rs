//! Events of reading recordings.

use std::sync::Arc;

use crate::stored::StoredSession;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;

/// Looks at each session as soon as it is read, on the thread that reads it.
pub trait Look: Sync {
    /// The result of looking at a session.
    type Seen: Send;

    /// Looks at a session; `known`: it may be of a file that was read before. Returns whether that is all for now, so
    /// that the session may leave memory at once.
    fn look(&self, session: &Arc<StoredSession>, content: &Arc<Session>, known: bool) -> (Self::Seen, bool);
}

/// Events of reading recordings, in this order.
#[derive(Debug)]
pub enum Event<S> {
    /// The recordings are about to be read, again or for the first time.
    Listing {
        /// All their files, each once, in order. Others were removed.
        files: Vec<Arc<str>>,
    },
    /// A part of a file was read for the first time: what follows on the parts before.
    Sessions {
        /// The file, as it was named.
        file: Arc<str>,
        /// Its sessions.
        sessions: Vec<S>,
        /// Problems of the file, besides the diagnostics of its sessions.
        diagnostics: Vec<Diagnostic>,
        /// Files read so far, and how many there are.
        progress: (usize, usize),
    },
    /// A file was read again, whole: its new content.
    File {
        /// The file, as it was named.
        file: Arc<str>,
        /// Its sessions.
        sessions: Vec<S>,
        /// Problems of the file, besides the diagnostics of its sessions.
        diagnostics: Vec<Diagnostic>,
        /// Files read so far, and how many there are to read.
        progress: (usize, usize),
    },
    /// Every file that had to be was read.
    End {
        /// All that is wrong besides: paths that are not there, folders without recordings.
        diagnostics: Vec<Diagnostic>,
    },
}
