//! Codes, with the page that `rulestep explain CODE` shows for each.
//!
//! Codes are stable: people script on them. Those of a dialect are in its folder and its row of
//! [`DIALECTS`](crate::dialect::DIALECTS); the others are here, a file and a line of `TABLE` for each family. The macro
//! `codes!` makes the constants and the pages of a file.

mod cases;
mod documents;
mod page;
mod rules;
mod sessions;
mod settings;

pub use cases::*;
pub use documents::*;
pub(crate) use page::codes;
pub use page::{Code, Page, PageKind};
pub use rules::*;
pub use sessions::*;
pub use settings::*;

/// The families, in the order in which their pages are listed.
const TABLE: &[&[Page]] = &[rules::PAGES, documents::PAGES, sessions::PAGES, cases::PAGES, settings::PAGES];

/// The pages of codes that no dialect owns, family by family.
pub fn shared() -> impl Iterator<Item = &'static Page> {
    TABLE.iter().copied().flatten()
}
