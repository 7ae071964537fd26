//! A file of recordings, and what is known of it.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::files::Input;
use crate::files::stamp::Stamp;
use crate::workspace::opener::{open, open_sample};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_recording::{Options, Reading};

/// A file to read.
pub struct File {
    pub name: Arc<str>,
    pub source: Source,
}

/// The source of its bytes.
pub enum Source {
    Input(Input, Option<Stamp>),
    Sample(&'static [u8]),
}

/// A file that was read.
pub struct Read {
    /// Its stamp before reading; `None` for a source that is not on disk, or can be read only once.
    pub stamp: Option<Stamp>,
    /// When that was.
    pub at: SystemTime,
    /// Whether it is being written: it has grown since the program started watching.
    pub grows: bool,
    /// Notices about a file that is not a recording.
    pub notices: Vec<Diagnostic>,
}

impl File {
    /// Its size in bytes, if it is on disk.
    pub fn length(&self) -> u64 {
        match &self.source {
            Source::Input(_, stamp) => stamp.map_or(0, |stamp| stamp.length()),
            Source::Sample(_) => 0,
        }
    }

    /// The file, unless it is a sample.
    pub fn input(&self) -> Option<&Input> {
        match &self.source {
            Source::Input(input, _) => Some(input),
            Source::Sample(_) => None,
        }
    }

    /// Begins to read it.
    pub fn open(&self, options: &Options, following: bool) -> Result<Reading, Diagnostic> {
        let options = Options { following, places: true, ..options.clone() };
        match &self.source {
            Source::Sample(bytes) => open_sample(Arc::clone(&self.name), bytes, &options),
            Source::Input(input, _) => {
                let mut input = input.clone();
                input.name = Arc::clone(&self.name);
                open(input, &options)
            }
        }
    }
}

impl Read {
    /// How long it has been unchanged.
    pub fn age(&self, now: SystemTime) -> Duration {
        let modified = self.stamp.and_then(|stamp| stamp.modified()).unwrap_or(self.at);
        now.duration_since(modified).unwrap_or_default()
    }
}
