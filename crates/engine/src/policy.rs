//! A version: documents of any dialect that are evaluated together.
//!
//! A version with an error does not decide: [`LoadResult::policy`] is there only if every document could be used. The
//! documents that could be read are in [`LoadResult::documents`] all the same, so a half-broken version still shows.

mod beside;
mod cases;
mod dispatch;
mod loading;
mod texts;
mod without;

use std::fmt::Write as _;
use std::sync::Arc;

use hmac_sha256::Hash;

use crate::dialect::Dialect;
pub use crate::dialect::GUARD;
use crate::dialect::question::Table;
use crate::monitor::{Condition, Probe, RuleId, Rules, Unit};
pub use beside::named_in;
pub use dispatch::{Dispatch, Route, Subscription};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Body;
use rulestep_base::source::{Node, Source, Span};
use texts::Texts;

/// One file of a version.
#[derive(Debug, Clone)]
pub struct PolicyFile {
    /// The path as shown to people; rules' ids begin with it.
    pub name: Arc<str>,
    /// The path relative to the version's root, with `/`: what the digest and the order rest on.
    pub relative: Arc<str>,
    /// The file's text.
    pub text: Arc<str>,
    /// Given by name rather than found in a folder: then it must be a policy.
    pub named: bool,
}

/// One document of a version.
#[derive(Debug, Clone)]
pub struct Document {
    /// The file's text under its shown name.
    pub source: Source,
    /// The file's path relative to the version's root.
    pub relative: Arc<str>,
    /// Place in the file, from 0.
    pub index: usize,
    /// Its span in the file.
    pub span: Span,
    /// The dialect's name.
    pub dialect: &'static str,
    /// The facts about programs and tools for its rules.
    pub facts: Table,
}

/// A version that decides.
pub struct Policy {
    /// Its files, in the order of its rules.
    files: Vec<PolicyFile>,
    only: Option<&'static Dialect>,
    documents: Vec<Document>,
    rules: Rules,
    units: Vec<Arc<dyn Unit>>,
    digest: Arc<str>,
    names: Vec<Arc<str>>,
    dispatch: Dispatch,
    texts: Texts,
    probes: Vec<Probe>,
    conditions: Vec<Condition>,
    reads_history: bool,
    sees_trees: bool,
    facts: Table,
    diagnostics: Vec<Diagnostic>,
}

/// The result of loading a version.
#[derive(Default)]
pub struct LoadResult {
    /// The version, unless something is an error.
    pub policy: Option<Arc<Policy>>,
    /// The documents that some dialect claims, broken ones included.
    pub documents: Vec<Document>,
    /// Files with cases, which are kept beside policies and are not part of them.
    pub cases: Vec<Source>,
    /// Its diagnostics, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
}

impl Policy {
    /// A version without documents: everything is allowed.
    pub fn empty() -> Arc<Policy> {
        Policy::of_units(Rules::default(), Vec::new())
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The number of its rules, without the program's own.
    pub fn rule_count(&self) -> usize {
        self.rules.iter().filter(|(_, rule)| rule.source.name() != GUARD).count()
    }

    /// The text of the program's own rules beside it.
    pub fn guard(&self) -> Option<&str> {
        self.documents.iter().find(|own| own.source.name() == GUARD).map(|own| own.source.text())
    }

    /// `sha256:…` over relative paths and bytes.
    pub fn digest(&self) -> &Arc<str> {
        &self.digest
    }

    /// Diagnostics of a version that loads: warnings, rules that can never match, skipped files.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Whether some rule has a text of its author for the model.
    pub fn has_texts(&self) -> bool {
        !self.texts.rules.is_empty()
    }

    /// The rule whose message to the model this result is; of several, the first that stops calls of the tool.
    pub fn tells(&self, result: &Body, tool: &str) -> Option<RuleId> {
        let rules = self.texts.get(result);
        let stops = |rule: &&RuleId| {
            let last = self.rules.get(**rule).and_then(|rule| rule.tools.last());
            last.is_some_and(|last| match last.strip_suffix('…') {
                Some(prefix) => tool.starts_with(prefix),
                None => **last == *tool,
            })
        };
        rules.iter().find(stops).or(rules.first()).copied()
    }
}

/// For the other crates of Rulestep; it uses types that are not part of the front door.
#[doc(hidden)]
impl Policy {
    /// A version of units that were built by hand, for tests of the engine.
    pub fn of_units(rules: Rules, units: Vec<Arc<dyn Unit>>) -> Arc<Policy> {
        Arc::new(Policy::assemble(Vec::new(), rules, units, digest(&[])))
    }

    /// The units, each with its own precedence and state.
    pub fn units(&self) -> &[Arc<dyn Unit>] {
        &self.units
    }

    /// Which units are asked and receive events.
    pub fn dispatch(&self) -> &Dispatch {
        &self.dispatch
    }

    /// Every exact tool name that a rule has, sorted: what was offered, where a recording does not say.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The values of calls that the rules look at.
    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// The conditions of the rules on a session's context.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Whether some unit looks at what was said.
    pub fn reads_history(&self) -> bool {
        self.reads_history
    }

    /// Whether calls that came before may change what is decided about calls of this tool.
    pub fn remembers(&self, tool: &str) -> bool {
        // A command may match any rule about commands, and so may an unlisted tool.
        let subscribed = |unit: &Arc<dyn Unit>| {
            let mut names = vec![Arc::from(tool), Arc::from("Bash"), Arc::from("(any)")];
            unit.names(&mut names);
            unit.reads_history() || names.iter().any(|name| unit.wakes(name).observe.any())
        };
        self.units.iter().any(|unit| unit.wakes(tool).decide && unit.remembers() && subscribed(unit))
    }

    /// Whether some rule looks at all sessions of a tree.
    pub fn sees_trees(&self) -> bool {
        self.sees_trees
    }

    /// The documents, by relative path, then place in the file.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// The facts about programs and tools for a rule; without one, those that all documents add.
    pub fn facts(&self, rule: Option<RuleId>) -> Table {
        let own = rule.and_then(|rule| self.rules.get(rule)).and_then(|rule| {
            let holds = |document: &&Document| {
                document.source.name() == rule.source.name()
                    && document.span.start <= rule.span.start
                    && rule.span.end <= document.span.end
            };
            self.documents.iter().find(holds)
        });
        own.map_or_else(|| self.facts.clone(), |document| document.facts.clone())
    }

    /// Those of its diagnostics that are worth a word in every report.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let warns = |told: &&Diagnostic| told.severity == rulestep_base::diagnostic::Severity::Warning;
        self.diagnostics.iter().filter(warns).cloned().collect()
    }

    pub fn set_diagnostics(&mut self, diagnostics: Vec<Diagnostic>) {
        self.diagnostics = diagnostics;
    }

    fn assemble(
        documents: Vec<Document>,
        rules: Rules,
        units: Vec<Arc<dyn Unit>>,
        digest: Arc<str>,
    ) -> Policy {
        let dispatch = Dispatch::of(&units);
        let mut probes = Vec::new();
        units.iter().for_each(|unit| unit.probes(&mut probes));
        let mut conditions = Vec::new();
        units.iter().for_each(|unit| unit.conditions(&mut conditions));
        let reads_history = units.iter().any(|unit| unit.reads_history());
        let sees_trees = units.iter().any(|unit| unit.sees_tree());
        let facts = Table::union(documents.iter().map(|document| &document.facts));
        Policy {
            files: Vec::new(),
            only: None,
            documents,
            texts: Texts::of(&units, &rules),
            rules,
            digest,
            names: dispatch.names(),
            dispatch,
            probes,
            conditions,
            units,
            reads_history,
            sees_trees,
            facts,
            diagnostics: Vec::new(),
        }
    }
}

impl std::fmt::Debug for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Policy").field("digest", &self.digest).finish_non_exhaustive()
    }
}

/// Whether a document is a case: it says what is expected of a session under a policy. One of the three keys may be
/// missing or misspelt, so that a broken case is reported as one.
pub fn is_case(node: &Node) -> bool {
    let has = |key: &str| node.get(key).is_some();
    let keys = ["policy", "session", "expect"].into_iter().filter(|key| has(key)).count();
    keys >= 2 && !has("dialect")
}

/// Whether a text is a policy or a case, or would be one but for a mistake in its keys.
pub fn is_policy(name: &str, text: &str) -> bool {
    use crate::dialect::{self, lookalike};
    let source = Source::new(name, text);
    let ours = |node: &Node| {
        dialect::of(node).is_some()
            || is_case(node)
            || !lookalike::refused(node, &source, None, None).is_empty()
            || node.get("dialect").and_then(Node::as_str).and_then(dialect::named).is_some()
    };
    rulestep_base::source::parse(&source).documents.iter().any(ours)
}

/// Whether a file is named as one of cases: `NAME.case.yaml`, `.yml` or `.json`. If no case can be recognised in it, it
/// is broken, and not an unrelated file.
pub fn is_case_file(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".case.yaml", ".case.yml", ".case.json"].iter().any(|end| name.ends_with(end))
}

/// Over each file's relative path and bytes, so that nothing can pass for something else.
fn digest(files: &[PolicyFile]) -> Arc<str> {
    let parts = files.iter().flat_map(|file| [&*file.relative, &*file.text]);
    digest_of(parts)
}

/// Over texts, each with its length.
fn digest_of<'t>(parts: impl Iterator<Item = &'t str>) -> Arc<str> {
    let mut hash = Hash::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let mut text = "sha256:".to_owned();
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    text.into()
}
