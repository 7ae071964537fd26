//! The table of dialects, and recognition of a document's dialect.

#[cfg(test)]
use super::toy;
use super::{Dialect, contracts, rejection_plans, sequence_policies, sequence_rules, tool_policies};
use rulestep_base::diagnostic::{Page, code};
use rulestep_base::source::Node;

/// Every dialect, in the order in which documents are recognised.
pub static DIALECTS: &[Dialect] = &[
    contracts::DIALECT,
    sequence_policies::DIALECT,
    tool_policies::DIALECT,
    rejection_plans::DIALECT,
    sequence_rules::DIALECT,
    #[cfg(test)]
    toy::DIALECT,
];

/// The dialect with this name.
pub fn named(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.name == name)
}

/// The dialect that a person means: by its name or its plural, with spaces, hyphens or underscores.
pub fn meant(name: &str) -> Option<&'static Dialect> {
    let plain = |name: &str| name.to_lowercase().replace(['-', ' '], "_");
    let name = plain(name);
    DIALECTS.iter().find(|dialect| dialect.name == name || plain(dialect.plural()) == name)
}

/// The dialect of a document: by `dialect: NAME`, else by its keys.
pub fn of(node: &Node) -> Option<&'static Dialect> {
    match node.get("dialect") {
        Some(name) => named(name.as_str()?),
        None => DIALECTS.iter().find(|dialect| (dialect.recognises)(node)),
    }
}

/// Every code with its page: those of the dialects, then those of texts and recordings.
pub fn codes() -> impl Iterator<Item = &'static Page> {
    DIALECTS.iter().flat_map(|dialect| dialect.codes).chain(code::shared())
}

/// The page of a code given by name.
pub fn page(name: &str) -> Option<&'static Page> {
    codes().find(|page| page.code.as_str() == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_has_one_page_fit_to_read() {
        let mut seen = BTreeSet::new();
        for page in codes() {
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
}
