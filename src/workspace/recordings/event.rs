//! What comes of reading recordings.

use std::sync::Arc;

use crate::stored::StoredSession;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;

/// Looks at each session as soon as it is read, on the thread that reads it.
pub trait Look: Sync {
    /// What is made of one.
    type Seen: Send;

    /// Looks at one; `known` where it may be of a file that was read before. Gives whether that is all for now, so that it may
    /// leave memory at once.
    fn look(&self, session: &Arc<StoredSession>, content: &Arc<Session>, known: bool) -> (Self::Seen, bool);
}

/// What comes of reading recordings, in this order.
#[derive(Debug)]
pub enum Event<S> {
    /// The recordings are about to be read, again or for the first time.
    Listing {
        /// All files of them that there are, each once, in their order. Others are gone.
        files: Vec<Arc<str>>,
    },
    /// A part of a file was read for the first time: what follows on the parts before.
    Sessions {
        /// The file, as it was named.
        file: Arc<str>,
        /// Its sessions.
        sessions: Vec<S>,
        /// What is wrong with the file, beyond what its sessions say of themselves.
        diagnostics: Vec<Diagnostic>,
        /// Files read so far, and how many there are.
        progress: (usize, usize),
    },
    /// A file was read again, whole: this is what it holds now.
    File {
        /// The file, as it was named.
        file: Arc<str>,
        /// Its sessions.
        sessions: Vec<S>,
        /// What is wrong with the file, beyond what its sessions say of themselves.
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
