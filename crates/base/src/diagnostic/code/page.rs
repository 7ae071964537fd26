//! A code, its page, and the macro that makes both.

use std::fmt;

use serde::{Serialize, Serializer};

/// A stable name for a finding of a rule or for a problem of a text.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code {
    name: &'static str,
    title: &'static str,
}

/// What `rulestep explain` shows for a code.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The code.
    pub code: Code,
    /// Its meaning, in a few words.
    pub title: &'static str,
    /// Where users see it.
    pub kind: PageKind,
    /// What it means, why it happens, an example and the fix. Lines end in LF; four blanks begin example lines.
    pub text: &'static str,
}

/// Where users see a code.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PageKind {
    /// A rule objects to a call.
    Finding,
    /// A problem of a document, a recording or a command line.
    Problem,
}

impl Code {
    /// For `codes!` alone, so that every code has a page.
    pub const fn new(name: &'static str, title: &'static str) -> Code {
        Code { name, title }
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        self.name
    }

    /// Its meaning, in a few words.
    pub fn title(self) -> &'static str {
        self.title
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Makes a family of codes: a constant for each, and `PAGES`.
///
/// ```text
/// codes! {
///     /// Doc of the constant.
///     Finding FORBIDDEN = "forbidden": "an earlier call forbade this tool", "text of the page";
/// }
/// ```
#[macro_export]
macro_rules! codes {
    ($($(#[$doc:meta])* $kind:ident $name:ident = $code:literal: $title:literal, $text:expr;)+) => {
        $($(#[$doc])* #[doc = concat!("`", $code, "`: ", $title, ".")]
        pub const $name: $crate::diagnostic::Code = $crate::diagnostic::Code::new($code, $title);)+

        pub(super) const PAGES: &[$crate::diagnostic::Page] = &[$($crate::diagnostic::Page {
            code: $name,
            title: $title,
            kind: $crate::diagnostic::PageKind::$kind,
            text: $text,
        }),+];
    };
}
