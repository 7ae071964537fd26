//! The one table of codes, with the page that `rulestep explain CODE` shows for each.
//!
//! Codes are stable: people script on them. A family of codes has a file of its own here and one line in
//! `TABLE`; the macro `codes!` makes the constants and the pages of a file.

use std::fmt;

use serde::Serialize;

use crate::source::nearest::nearest;

mod cases;
mod contracts;
mod documents;
mod rejection_plans;
mod sequence_policies;
mod sequence_rules;
mod sessions;
mod tool_policies;

pub use cases::*;
pub use contracts::*;
pub use documents::*;
pub use rejection_plans::*;
pub use sequence_policies::*;
pub use sequence_rules::*;
pub use sessions::*;
pub use tool_policies::*;

/// The families, in the order in which their pages are listed.
const TABLE: &[&[Page]] = &[
    contracts::PAGES,
    sequence_policies::PAGES,
    tool_policies::PAGES,
    rejection_plans::PAGES,
    sequence_rules::PAGES,
    documents::PAGES,
    sessions::PAGES,
    cases::PAGES,
];

/// A stable name for what a rule found, or for what is wrong with a text.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Code(&'static str);

/// What there is to say about a code.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The code.
    pub code: Code,
    /// What it says, in a few words.
    pub title: &'static str,
    /// Where people meet it.
    pub kind: PageKind,
    /// What it means, an example, and how it is mended. Lines end in LF; four blanks begin example lines.
    pub text: &'static str,
}

/// Where people meet a code.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PageKind {
    /// A rule speaks against a call.
    Finding,
    /// Something is wrong with a document, a recording, or what was asked for.
    Problem,
}

/// All pages, family by family.
pub fn pages() -> impl Iterator<Item = &'static Page> {
    TABLE.iter().copied().flatten()
}

/// The page of a code given by name.
pub fn page(name: &str) -> Option<&'static Page> {
    pages().find(|page| page.code.as_str() == name)
}

/// The code nearest to a misspelt one.
pub fn nearest_code(name: &str) -> Option<Code> {
    let name = nearest(name, pages().map(|page| page.code.as_str()))?;
    page(name).map(|page| page.code)
}

impl Code {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// What it says, in a few words.
    pub fn title(self) -> &'static str {
        self.page().map_or(self.0, |page| page.title)
    }

    /// Its page. Every code made by the table has one.
    pub fn page(self) -> Option<&'static Page> {
        page(self.0)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
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
macro_rules! codes {
    ($($(#[$doc:meta])* $kind:ident $name:ident = $code:literal: $title:literal, $text:expr;)+) => {
        $($(#[$doc])* #[doc = concat!("`", $code, "`: ", $title, ".")]
        pub const $name: $crate::diagnostic::Code = $crate::diagnostic::code::Code($code);)+

        pub(super) const PAGES: &[$crate::diagnostic::Page] = &[$($crate::diagnostic::Page {
            code: $name,
            title: $title,
            kind: $crate::diagnostic::PageKind::$kind,
            text: $text,
        }),+];
    };
}
use codes;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_has_one_page_fit_to_read() {
        let mut seen = BTreeSet::new();
        for page in pages() {
            let code = page.code.as_str();
            assert!(seen.insert(code), "{code} is in the table twice");
            assert!(code.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{code}");
            assert!(!page.title.is_empty() && !page.title.ends_with('.'), "{code}");
            let lines = page.text.lines().count();
            assert!((3..=17).contains(&lines), "{code} has {lines} lines");
            assert!(page.text.ends_with('\n'), "{code}");
            for line in page.text.lines() {
                assert!(line.chars().count() <= 110, "{code}: {line}");
                assert_eq!(line, line.trim_end(), "{code}");
            }
        }
    }

    #[test]
    fn a_misspelt_code_finds_the_nearest() {
        assert_eq!(nearest_code("prior-tool-mising"), Some(PRIOR_TOOL_MISSING));
        assert_eq!(nearest_code("nonsense_altogether"), None);
        assert_eq!(page("forbidden").map(|page| page.kind), Some(PageKind::Finding));
        assert_eq!(FORBIDDEN.page(), page("forbidden"));
    }
}
