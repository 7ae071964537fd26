//! The same recordings once more, from the start.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Sessions, Source};

impl Sessions {
    /// The same recordings once more; `None` where one of them can be read only once.
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
            strict: self.strict,
        })
    }
}
