//! A line of an input that is a session of its own.

use crate::input::digest::digest;
use crate::input::units::Piece;

/// The place of a session that is a line of its own: enough to read it again, and to notice that it changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionLine {
    /// Bytes of the input that come before it.
    pub at: u64,
    /// Its bytes.
    pub length: usize,
    /// Its number, from 1.
    pub number: u64,
    /// Whether its file holds no results, and the line does not say so itself.
    pub without_results: bool,
    digest: u64,
}

impl SessionLine {
    /// The line that a piece is, with its bytes; `None` where its place is not known, or it is no line.
    pub fn of(piece: &Piece, bytes: &[u8]) -> Option<SessionLine> {
        let at = piece.at.filter(|_| piece.list.is_none())?;
        let bytes = bytes.trim_ascii_end();
        let (length, digest) = (bytes.len(), digest(bytes));
        Some(SessionLine { at, length, number: piece.line, without_results: false, digest })
    }

    /// Whether these are its bytes.
    pub fn is(&self, bytes: &[u8]) -> bool {
        bytes.len() == self.length && digest(bytes) == self.digest
    }

    /// Distinguishes it from other lines of its file, and from its content before a change.
    pub fn mark(&self) -> u64 {
        digest(self)
    }
}
