//! Recordings of several files: each file is one line of the input.

use std::sync::Arc;

use rulestep_base::diagnostic::{Diagnostic, Place};

/// The files of an input, in their order.
pub struct Parts {
    /// The files, each on the line of the input with its number.
    pub files: Vec<Part>,
    /// Problems of the files as a whole.
    pub told: Vec<Diagnostic>,
    /// The line of a file, by its place, on which it ends to be JSON.
    pub broken_line: Box<dyn Fn(usize) -> Option<u64> + Send + Sync>,
}

/// A file of an input.
pub struct Part {
    /// Its name, as shown.
    pub file: Arc<str>,
    /// Whether calls may be in it.
    pub may_hold_calls: bool,
}

impl Parts {
    fn part(&self, line: u64) -> Option<(usize, &Part)> {
        let place = usize::try_from(line.checked_sub(1)?).ok()?;
        Some((place, self.files.get(place)?))
    }

    /// Moves a diagnostic on a line of the input to the file on that line.
    pub fn place(&self, input: &str, told: &mut Diagnostic) {
        for label in &mut told.labels {
            if let Place::Line { file, line, byte } = &mut label.place
                && **file == *input
                && let Some((place, part)) = self.part(*line)
            {
                *line = (self.broken_line)(place).unwrap_or(1);
                (*file, *byte) = (Arc::clone(&part.file), None);
            }
        }
    }

    /// Ignores the loss of a line if no part of it can hold calls.
    pub fn weigh(&self, told: &mut Diagnostic) {
        let held = told.labels.iter().any(|label| match &label.place {
            Place::Line { line, .. } => self.part(*line).is_none_or(|(_, part)| part.may_hold_calls),
            _ => true,
        });
        if !held {
            told.loss = None;
        }
    }
}
