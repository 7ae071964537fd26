//! The dialects: their parts, and the documents that they read.
//!
//! A dialect reads documents, one after the other in the order of a version's files, and finally returns units. To add
//! one: a folder, a `mod` and a row of [`DIALECTS`]. `toy.rs` shows the parts of such a folder.

pub mod beside;
pub mod contracts;
pub mod edits;
pub mod fact_rows;
pub mod limit;
pub mod lookalike;
pub mod lookup;
pub mod options;
pub mod pattern;
pub mod question;
pub mod rejection_plans;
pub mod sequence_policies;
pub mod sequence_rules;
mod table;
pub mod tool_policies;
#[cfg(test)]
mod toy;

use std::sync::Arc;

use beside::Beside;
pub use options::options;
pub use table::{DIALECTS, codes, meant, named, of, page};

use crate::monitor::{Rule, RuleOptions, Rules, Unit};
use rulestep_base::diagnostic::{Diagnostic, Page};
use rulestep_base::source::{Node, Source, Span};

/// A policy language.
pub struct Dialect {
    /// Its name in `dialect: NAME`, `--only NAME`, findings and reports.
    pub name: &'static str,
    /// Its title, a line that begins with its common name.
    pub title: &'static str,
    /// Its reference page, in Markdown: every key, what it means, and the codes. The module's documentation as well.
    pub reference: &'static str,
    /// Keys and kinds that are what the page calls by another name: `sequences` holds `rules`.
    pub places: &'static [(&'static str, &'static str)],
    /// Every kind of its rules, each with a document that has one, about calls of `a` and `b`: what the cost of a call is
    /// measured with.
    pub kinds: &'static [(&'static str, &'static str)],
    /// The JSON Schema of its documents, for editors.
    pub schema: &'static str,
    /// How an edit of a key changes a rule; a key without a row may change it in any way.
    pub edits: edits::Edits,
    /// A commented document to begin with. It loads without diagnostics.
    pub example: &'static str,
    /// Its codes, with their pages.
    pub codes: &'static [Page],
    /// Whether a document's keys are this dialect's.
    pub recognises: fn(&Node) -> bool,
    /// The top-level keys by which its documents are recognised.
    pub keys: &'static [&'static str],
    /// Whether its documents are there for their rules alone, so that one without any is a mistake.
    pub rules_only: bool,
    /// A reader for one version.
    pub reader: fn() -> Box<dyn Reader>,
    /// A name for a rule that has neither a description nor an id; `None`: its kind and its tools are the name.
    pub phrase: fn(&Rule) -> Option<String>,
    /// How a document names files whose rules belong to it; `None`: it names none.
    pub references: Option<References>,
}

/// How documents name files.
pub struct References {
    /// The key without which a document names none.
    pub key: &'static str,
    /// The files, as they are written there.
    pub of: fn(&Node) -> Vec<Arc<str>>,
}

/// The file name of the program's own rules beside a version, by which a gate guards itself.
pub const GUARD: &str = "<self_guard>";

/// One document as a dialect gets it.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    /// The file's text.
    pub source: &'a Source,
    /// The document in it.
    pub node: &'a Node,
    /// Prefix of its rules' ids: `FILE#`, or `FILE#1` for the second document of a file.
    pub prefix: &'a str,
    /// The other texts of the version, for documents that name one.
    pub beside: &'a Beside,
    /// The file's path relative to the version's root.
    pub relative: &'a str,
    /// Whether it is the only document of its file.
    pub alone: bool,
    /// Its dialect.
    pub dialect: &'a Dialect,
}

impl<'a> Text<'a> {
    /// The name of the file without folders and its ending: `issue_refund` of `tools/issue_refund.yaml`.
    pub fn stem(&self) -> &'a str {
        let name = self.relative.rsplit(['/', '\\']).next().unwrap_or_default();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }

    /// A rule at this place of the document, without a description, a name, tools or a test of its own.
    pub fn rule(&self, kind: &'static str, pointer: &str, span: Span) -> Rule {
        Rule {
            id: format!("{}{pointer}", self.prefix).into(),
            dialect: self.dialect.name,
            kind,
            pointer: pointer.into(),
            source: self.source.clone(),
            span,
            description: None,
            name: None,
            tool: None,
            tools: Arc::default(),
            test: None,
            options: RuleOptions::default(),
            phrase: self.dialect.phrase,
        }
    }
}

impl Dialect {
    /// The common name in the plural: `sequence policies`.
    pub fn plural(&self) -> &'static str {
        self.title.split_once(':').map_or(self.name, |(plural, _)| plural)
    }
}

/// Collects the documents of one dialect in one version.
pub trait Reader {
    /// Reads a document: its rules get the next ids, problems are reported. Mistakes do not stop the reading.
    fn read(&mut self, text: Text<'_>, rules: &mut Rules, problems: &mut Vec<Diagnostic>);
    /// The units of all documents read, and what is wrong between them.
    fn finish(self: Box<Self>, problems: &mut Vec<Diagnostic>) -> Vec<Arc<dyn Unit>>;
}
