//! The dialects: which there are, and which of them a document is written in.
//!
//! A dialect reads documents, one after the other in the order of a version's files, and gives units in the end. To add
//! one: a folder, a `mod` and a row of [`DIALECTS`]. `toy.rs` shows what such a folder consists of.

pub mod beside;
pub mod contracts;
pub mod limit;
pub mod lookalike;
pub mod rejection_plans;
pub mod sequence_policies;
pub mod sequence_rules;
pub mod tool_policies;
#[cfg(test)]
mod toy;

use std::sync::Arc;

use beside::Beside;

use crate::diagnostic::{Diagnostic, Page, code};
use crate::monitor::{Rule, Rules, Unit};
use crate::source::{Node, Source, Span};

/// A policy language.
pub struct Dialect {
    /// Its name in `dialect: NAME`, `--only NAME`, findings and reports.
    pub name: &'static str,
    /// What it is, in a line that begins with what people call it.
    pub title: &'static str,
    /// Its reference page, in Markdown: every key, what it means, and the codes. The module's documentation as well.
    pub reference: &'static str,
    /// The JSON Schema of its documents, for editors.
    pub schema: &'static str,
    /// Its codes, with their pages.
    pub codes: &'static [Page],
    /// Whether a document's keys are this dialect's.
    pub recognises: fn(&Node) -> bool,
    /// The keys at the top by which its documents are known.
    pub keys: &'static [&'static str],
    /// Whether its documents are there for their rules alone, so that one without any is a mistake.
    pub rules_only: bool,
    /// A reader for one version.
    pub reader: fn() -> Box<dyn Reader>,
    /// What people call a rule that has neither a description nor an id; `None`: its kind and its tools say it.
    pub phrase: fn(&Rule) -> Option<String>,
    /// Files that a document names and whose rules are then its own, as they are written there.
    pub references: fn(&Node) -> Vec<Arc<str>>,
}

/// No files: for dialects whose documents name none.
pub fn no_references(_: &Node) -> Vec<Arc<str>> {
    Vec::new()
}

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

/// One document as a dialect gets it.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    /// The file's text.
    pub source: &'a Source,
    /// The document in it.
    pub node: &'a Node,
    /// What its rules' ids begin with: `FILE#`, or `FILE#1` for the second document of a file.
    pub prefix: &'a str,
    /// The other texts of the version, for documents that name one.
    pub beside: &'a Beside,
    /// The file's path relative to the version's root.
    pub relative: &'a str,
    /// Whether it is the only document of its file.
    pub alone: bool,
}

impl<'a> Text<'a> {
    /// The name of the file without folders and its ending: `issue_refund` of `tools/issue_refund.yaml`.
    pub fn stem(&self) -> &'a str {
        let name = self.relative.rsplit(['/', '\\']).next().unwrap_or_default();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }

    /// The rule that is at this place of the document, without a description, a name, tools or a test of its own.
    pub fn rule(&self, dialect: &Dialect, kind: &'static str, pointer: &str, span: Span) -> Rule {
        Rule {
            id: format!("{}{pointer}", self.prefix).into(),
            dialect: dialect.name,
            kind,
            pointer: pointer.into(),
            source: self.source.clone(),
            span,
            description: None,
            name: None,
            tool: None,
            tools: Arc::default(),
            test: None,
            phrase: dialect.phrase,
        }
    }
}

impl Dialect {
    /// What people call it, in the plural: `sequence policies`.
    pub fn plural(&self) -> &'static str {
        self.title.split_once(':').map_or(self.name, |(plural, _)| plural)
    }
}

/// Collects the documents of one dialect in one version.
pub trait Reader {
    /// Reads a document: its rules get the next ids, what is wrong is said. Mistakes do not stop the reading.
    fn read(&mut self, text: Text<'_>, rules: &mut Rules, problems: &mut Vec<Diagnostic>);
    /// The units of all documents read, and what is wrong between them.
    fn finish(self: Box<Self>, problems: &mut Vec<Diagnostic>) -> Vec<Arc<dyn Unit>>;
}

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
    match node.get("dialect").and_then(Node::as_str) {
        Some(name) => named(name),
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
