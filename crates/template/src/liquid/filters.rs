//! The filters by name.
//!
//! `sample` is missing on purpose: it is random, so no two evaluations of a guard would agree.

mod arguments;
mod array;
mod code;
mod date;
mod html;
mod math;
mod select;
mod string;
mod url;

use super::tree::Filter;

const TABLES: [&[(&str, Filter)]; 8] = [
    array::TABLE,
    code::TABLE,
    date::TABLE,
    html::TABLE,
    math::TABLE,
    select::TABLE,
    string::TABLE,
    url::TABLE,
];

/// The filter called `name`.
pub(super) fn find(name: &str) -> Option<(&'static str, Filter)> {
    TABLES.iter().flat_map(|table| table.iter()).find(|(known, _)| *known == name).copied()
}
