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

/// Where its bytes are.
pub enum Source {
    Input(Input, Option<Stamp>),
    Sample(&'static [u8]),
}

/// What is known of a file that was read.
pub struct Read {
    /// As it was before reading; `None` for what is not on disk, or can be read once only.
    pub stamp: Option<Stamp>,
    /// When that was.
    pub at: SystemTime,
    /// It is being written: it has become longer while it was watched.
    pub grows: bool,
    /// What is worth knowing of a file that is no recording.
    pub notices: Vec<Diagnostic>,
}

impl File {
    /// Bytes of it, where they are on disk.
    pub fn length(&self) -> u64 {
        match &self.source {
            Source::Input(_, stamp) => stamp.map_or(0, |stamp| stamp.length()),
            Source::Sample(_) => 0,
        }
    }

    /// The file, if it is none of the samples.
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
    /// How long it has stayed as it is.
    pub fn age(&self, now: SystemTime) -> Duration {
        let modified = self.stamp.and_then(|stamp| stamp.modified()).unwrap_or(self.at);
        now.duration_since(modified).unwrap_or_default()
    }
}
