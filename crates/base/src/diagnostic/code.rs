//! Codes, with the page that `rulestep explain CODE` shows for each.
//!
//! Codes are stable: people script on them. Those of a dialect are in its folder and its row of
//! the table of dialects; the others are here, a file and a line of `TABLE` for each family. The macro
//! `codes!` makes the constants and the pages of a file.

mod cases;
mod documents;
mod lints;
mod page;
mod rules;
mod sessions;
mod settings;

pub use cases::*;
pub use documents::*;
pub use lints::*;
pub use page::{Code, Page, PageKind};
pub use rules::*;
pub use sessions::*;
pub use settings::*;

/// The families, in the order in which their pages are listed.
const TABLE: &[&[Page]] =
    &[rules::PAGES, documents::PAGES, lints::PAGES, sessions::PAGES, cases::PAGES, settings::PAGES];

/// The pages of codes for documents that cannot be used as they are, in every dialect.
pub fn of_documents() -> impl Iterator<Item = &'static Page> {
    documents::PAGES.iter()
}

/// The pages of codes that policies of every dialect can have.
pub fn of_policies() -> impl Iterator<Item = &'static Page> {
    of_documents().chain(lints::PAGES)
}

/// The pages of codes that no dialect owns, family by family.
pub fn shared() -> impl Iterator<Item = &'static Page> {
    TABLE.iter().copied().flatten()
}
