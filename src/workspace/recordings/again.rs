//! Sessions that are read again from their recording.

use std::io;
use std::sync::Arc;

use super::file::{File, Source};
use crate::files::Input;
use crate::stored::{NotRestored, RecordedAt};
use rulestep_base::session::Session;
use rulestep_recording::{LineReader, Reading, SessionLine};

/// A file whose lines can be read again.
pub struct RecordedLines {
    input: Input,
    lines: LineReader,
}

impl RecordedLines {
    /// For a file that is being read, if it has such lines.
    pub fn of(file: &File, reading: &Reading) -> Option<Arc<RecordedLines>> {
        let Source::Input(input, Some(_)) = &file.source else { return None };
        Some(Arc::new(RecordedLines { input: input.clone(), lines: reading.lines()? }))
    }
}

/// A line of it.
pub struct RecordedLine {
    of: Arc<RecordedLines>,
    line: SessionLine,
}

impl RecordedLine {
    /// The line that the latest session of a reading is.
    pub fn latest(of: Option<&Arc<RecordedLines>>, reading: &Reading) -> Option<Box<dyn RecordedAt>> {
        let (of, line) = (Arc::clone(of?), reading.latest_line()?);
        Some(Box::new(RecordedLine { of, line }))
    }
}

impl RecordedAt for RecordedLine {
    fn read(&self) -> Result<Session, NotRestored> {
        let RecordedLines { input, lines } = &*self.of;
        let bytes = input.read_part(self.line.at, self.line.length).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof => NotRestored::Recording,
            _ => NotRestored::System(error),
        })?;
        lines.read(&self.line, bytes).ok_or(NotRestored::Recording)
    }

    fn mark(&self) -> u64 {
        self.line.mark()
    }
}
