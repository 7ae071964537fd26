//! The kinds of JSON values.

/// The kind of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A text.
    Text,
    /// A list.
    List,
    /// An object.
    Object,
}

/// Types that a value may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// One type.
    pub const fn one(kind: Kind) -> Kinds {
        Kinds(1 << kind as u8)
    }

    /// These and those.
    pub const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// None at all.
    pub const NONE: Kinds = Kinds(0);

    /// Whether it is one of them.
    pub fn has(self, kind: Kind) -> bool {
        self.0 & Kinds::one(kind).0 != 0
    }

    /// The words for them.
    pub fn words(self) -> String {
        let words: Vec<_> = Kind::ALL.into_iter().filter(|kind| self.has(*kind)).map(Kind::word).collect();
        words.join(" or ")
    }
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] = [Kind::Null, Kind::Bool, Kind::Number, Kind::Text, Kind::List, Kind::Object];

    /// The kind of a JSON value, by its first byte.
    pub fn of(json: &str) -> Kind {
        match json.as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::List,
            Some(b'"') => Kind::Text,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "a truth value",
            Kind::Number => "a number",
            Kind::Text => "a text",
            Kind::List => "a list",
            Kind::Object => "an object",
        }
    }
}
