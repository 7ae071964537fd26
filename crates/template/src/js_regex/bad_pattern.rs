//! Why a pattern is refused.

/// Why a pattern cannot be searched for. Offsets are in bytes of the pattern as given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    /// JavaScript refuses it too.
    #[error("{message} at offset {offset}")]
    Syntax {
        /// The beginning of the offending piece.
        offset: usize,
        /// The problem.
        message: &'static str,
    },
    /// Its meaning depends on the version of JavaScript, or on flags.
    #[error("`{construct}` at offset {offset} is not supported")]
    Unsupported {
        /// Its beginning.
        offset: usize,
        /// Its first letters, such as `\p{` or `(?i:`.
        construct: String,
    },
    /// It would take too much memory.
    #[error("the pattern is too large: {what}")]
    TooLarge {
        /// The part that is too large.
        what: &'static str,
    },
}
