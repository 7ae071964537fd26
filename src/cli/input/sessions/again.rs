//! The same recordings again, from the start.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{ReadFile, Sessions, Source};
use crate::explore::repeats::SessionPlace;
use crate::files::Input;
use crate::workspace::opener;
use rulestep_base::session::Session;
use rulestep_recording::{Options, Reading};

/// Reads single sessions again. `None` if no session can be.
pub struct Again(Option<Options>);

impl Again {
    /// The session that was read there, as it is by itself. `None` where it cannot be read again.
    pub fn read(&self, (file, index): &SessionPlace) -> Option<Session> {
        let mut reading = opener::open(Input::found(file)?, self.0.as_ref()?).ok()?;
        reading.nth(*index)
    }
}

impl ReadFile {
    /// Whether what was read of it depends on other files.
    pub fn has_asked_others(&self) -> bool {
        self.reading.as_ref().is_some_and(Reading::has_asked_others)
    }
}

impl Sessions {
    /// For single ones of these, those that can be read again. Sessions that were joined cannot, nor those in the program.
    pub fn again(&self) -> Again {
        let is_sample = |source: &Source| matches!(source, Source::Sample(..));
        let can_be = !self.joins && !self.sources.iter().any(is_sample);
        Again(can_be.then(|| self.options.clone()))
    }

    /// The same recordings again; `None` if one of them can be read only once.
    pub fn copy(&self) -> Option<Sessions> {
        let again = |source: &Source| match source {
            Source::File(input) if input.stamp().is_some() => Some(Source::File(input.clone())),
            Source::Sample(name, bytes) => Some(Source::Sample(name.clone(), bytes)),
            Source::File(_) | Source::Opening(_) => None,
        };
        Some(Sessions {
            sources: self.sources.iter().map(again).collect::<Option<_>>()?,
            options: self.options.clone(),
            current: None,
            diagnostics: self.diagnostics.clone(),
            count: 0,
            skipped: BTreeMap::new(),
            so_far: Arc::default(),
            progress: self.progress.clone(),
            patience: self.patience.clone(),
            joins: self.joins,
            digests: false,
        })
    }
}
