//! How much of a file or folder a call affects.

/// How much of a file or folder is affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The path itself.
    Itself,
    /// The path with everything below it.
    Below,
    /// The path itself, if its parent is a folder: `b/a` of `cp a b`. Nothing of a pattern without a fixed place.
    IfFolder,
    /// Something in it, whatever its name: what the path itself matches, and what any name in it matches.
    Inside,
    /// Something below it, under a name that is not known: what an archive holds. Nothing of a pattern without a fixed place
    /// that does not mean any name there.
    Within,
    /// The same, if its parent is a folder: everything below `b/a` after `cp -r a b`.
    WithinIfFolder,
    /// Files that a search finds below it. If a pattern without a fixed place may match there, it is a sweep.
    Searched,
    /// Everything below it is deleted or sent elsewhere, so that a pattern without a fixed place may match if that is
    /// the session's folder, or one that holds it.
    Whole,
}

impl Extent {
    /// Whether it is the path with everything below it.
    pub fn is_deep(self) -> bool {
        matches!(self, Extent::Below | Extent::Searched | Extent::Whole)
    }
}
