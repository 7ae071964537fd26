//! Why a pattern is refused.

/// Why a pattern cannot be searched for. Offsets are in bytes of the pattern as given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    /// JavaScript refuses it too.
    #[error("{message} at offset {offset}")]
    Syntax {
        /// Where the offending piece begins.
        offset: usize,
        /// What is wrong with it.
        message: &'static str,
    },
    /// Its meaning depends on which JavaScript, or which flags, it meets.
    #[error("`{construct}` at offset {offset} is not supported")]
    Unsupported {
        /// Where it begins.
        offset: usize,
        /// Its first letters, such as `\p{` or `(?i:`.
        construct: String,
    },
    /// It would take too much memory.
    #[error("the pattern is too large: {what}")]
    TooLarge {
        /// In which respect.
        what: &'static str,
    },
}
