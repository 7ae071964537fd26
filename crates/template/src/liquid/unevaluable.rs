//! Why a template has no result.

pub(super) type Outcome<T> = Result<T, Unevaluable>;

/// Why a template has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unevaluable {
    /// Not a template. `offset` counts bytes.
    #[error("{message} (at byte {offset})")]
    Syntax {
        /// The problem.
        message: String,
        /// Its position.
        offset: usize,
    },
    /// A filter that LiquidJS does not have, or that is left out here. `offset` counts bytes.
    #[error("unknown filter `{name}` (at byte {offset})")]
    UnknownFilter {
        /// Its name.
        name: String,
        /// Its position.
        offset: usize,
    },
    /// A tag that LiquidJS does not have. `offset` counts bytes.
    #[error("unknown tag `{name}` (at byte {offset})")]
    UnknownTag {
        /// Its name.
        name: String,
        /// Its position.
        offset: usize,
    },
    /// LiquidJS has it, a guard condition cannot.
    #[error("not supported in a condition: {what}")]
    Unsupported {
        /// The construct.
        what: String,
    },
    /// LiquidJS fails here too.
    #[error("{message}")]
    Failed {
        /// Why.
        message: String,
    },
    /// The rendering took more steps than it was given.
    #[error("the template took more steps than allowed")]
    Budget,
    /// The rendering made more values and text than allowed.
    #[error("the template made more text and values than allowed")]
    Memory,
    /// Tags, brackets or values nest too deep.
    #[error("nested too deep")]
    TooDeep,
    /// The template asks for the current time, and the session has none.
    #[error("the template reads the clock, and the session has no time")]
    NoClock,
    /// The result holds half a surrogate pair, which no UTF-8 text can.
    #[error("the result is not text: it holds half a surrogate pair")]
    NotText,
}

impl Unevaluable {
    pub(super) fn unsupported(kind: &str, name: &str) -> Self {
        Self::Unsupported { what: format!("the {kind} `{name}`") }
    }

    /// Turns an offset in UTF-16 units into one in bytes.
    pub(super) fn at_bytes(mut self, template: &str) -> Self {
        if let Self::Syntax { offset, .. }
        | Self::UnknownFilter { offset, .. }
        | Self::UnknownTag { offset, .. } = &mut self
        {
            let mut units = 0;
            let before = template.chars().take_while(|letter| {
                units += letter.len_utf16();
                units <= *offset
            });
            *offset = before.map(char::len_utf8).sum();
        }
        self
    }
}
