//! The argument of a command, and how it is parsed.

/// The argument of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Argument {
    /// A theme's name.
    Theme,
    /// A policy version to compare with.
    Version,
    /// A letter that marks a row; a key, if the command is run by keys.
    Letter,
    /// A call by its number, a turn (`T7`), or a call of a turn (`T7.2`).
    Place,
    /// A file to be written, whose name determines the content.
    File,
    /// A filter.
    Filter,
    /// A column of the list of sessions.
    Column,
}

impl Argument {
    /// Its placeholder in help.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Theme => "NAME",
            Self::Version => "VERSION",
            Self::Letter => "LETTER",
            Self::Place => "PLACE",
            Self::File => "FILE",
            Self::Filter => "FILTER",
            Self::Column => "COLUMN",
        }
    }

    /// Whether the command can be run without it: then it asks, or acts on all.
    pub const fn is_optional(self) -> bool {
        matches!(self, Self::Version | Self::Filter)
    }

    /// Whether only listed values can be taken. Otherwise the typed text is one, too.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Theme | Self::Place | Self::Column)
    }
}

/// A place of the open session, as people type it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A call by its number, from 1.
    Call(u32),
    /// A turn by its number.
    Turn(u32),
    /// A call of a turn.
    CallOfTurn(u32, u32),
}

/// Reads `42`, `T7` and `T7.2`; `None` for everything else.
pub fn place(text: &str) -> Option<Place> {
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|number| digits && *number > 0)
    };
    let Some(turn) = text.strip_prefix(['T', 't']) else { return number(text).map(Place::Call) };
    match turn.split_once('.') {
        Some((turn, call)) => Some(Place::CallOfTurn(number(turn)?, number(call)?)),
        None => number(turn).map(Place::Turn),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_as_people_type_them() {
        let cases = [
            ("42", Some(Place::Call(42))),
            ("T7", Some(Place::Turn(7))),
            ("t7.2", Some(Place::CallOfTurn(7, 2))),
            ("0", None),
            ("T", None),
            ("T7.", None),
            ("7.2", None),
            ("+7", None),
            ("99999999999", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(place(text), expected, "{text}");
        }
    }
}
