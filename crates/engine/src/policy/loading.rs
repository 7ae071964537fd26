//! Loads a version: file by file, document by document, each by the reader of its dialect.

use std::sync::Arc;

use super::{Document, LoadResult, Policy, PolicyFile, beside, cases, digest, is_case, is_case_file};
use crate::dialect::beside::Beside;
use crate::dialect::question::{self, Table};
use crate::dialect::{self, DIALECTS, Dialect, Reader, Text, lookalike, rejection_plans};
use crate::monitor::Rules;
use crate::monitor::fault::guarded;
use rulestep_base::diagnostic::{Diagnostic, Severity, code};
use rulestep_base::source::{Field, Node, Parse, Problem, ProblemKind, Source, parse, quoted};

/// A version that is being read.
pub(super) struct Loading {
    /// Those that are a part of the version.
    pub(super) files: Vec<PolicyFile>,
    /// The files that documents name, read with them.
    beside: Arc<Beside>,
    /// One for each dialect, in the order of the table.
    readers: Vec<Box<dyn Reader>>,
    rules: Rules,
    documents: Vec<Document>,
    cases: Vec<Source>,
    diagnostics: Vec<Diagnostic>,
    only: Option<&'static Dialect>,
}

#[doc(hidden)]
impl Policy {
    /// Reads a version. `only` keeps the documents of one dialect. Files that a document names ([`super::named_in`]) are among
    /// the files as well.
    pub fn load(files: &[PolicyFile], only: Option<&'static Dialect>) -> LoadResult {
        Policy::load_guarded(files, only, None)
    }

    /// The same with rules of the program beside the version, called [`super::GUARD`]. They decide like its own, and
    /// are no part of its digest.
    pub fn load_guarded(
        files: &[PolicyFile],
        only: Option<&'static Dialect>,
        guard: Option<&PolicyFile>,
    ) -> LoadResult {
        let mut files = files.to_vec();
        // Named twice, for example by itself and with its folder, a file is still one.
        files.sort_by(|a, b| (&a.name, !a.named).cmp(&(&b.name, !b.named)));
        files.dedup_by(|a, b| a.name == b.name && a.text == b.text);
        // By the bytes of the relative paths. Several folders may share one; then the names decide, not the order of
        // arguments.
        files.sort_by(|a, b| (&a.relative, &a.name).cmp(&(&b.relative, &b.name)));
        let mut loading = Loading::of(&files, only, Rules::default());
        let digest = digest(&loading.files);
        if let Some(guard) = guard {
            let (source, parsed) = parsed(guard);
            loading.file(guard, source, parsed);
        }
        loading.finish(digest)
    }
}

impl Loading {
    /// Reads files, which are in the order of their rules.
    pub(super) fn of(files: &[PolicyFile], only: Option<&'static Dialect>, rules: Rules) -> Loading {
        let texts: Vec<(Source, Option<Parse>)> = files.iter().map(parsed).collect();
        let mut loading = Loading {
            files: Vec::new(),
            beside: Arc::new(beside::beside(&texts, only)),
            readers: DIALECTS.iter().map(|dialect| (dialect.reader)()).collect(),
            rules,
            documents: Vec::new(),
            cases: Vec::new(),
            diagnostics: Vec::new(),
            only,
        };
        for (file, (source, parsed)) in files.iter().zip(texts) {
            // A file of cases alone is no part of the version.
            if loading.file(file, source, parsed) {
                loading.files.push(file.clone());
            }
        }
        loading
    }

    /// Reads a file; whether it is a part of the version.
    fn file(&mut self, file: &PolicyFile, source: Source, parsed: Option<Parse>) -> bool {
        let is_named = self.beside.get(&file.name).is_some();
        let Some(parsed) = parsed.or_else(|| is_named.then(|| parse(&source))) else {
            self.cases.push(source);
            return false;
        };
        if is_named {
            self.named_elsewhere(file, &source, parsed);
            return true;
        }
        let cases = parsed.documents.iter().filter(|node| is_case(node)).count();
        if cases > 0 || is_case_file(&file.name) {
            self.cases.push(source.clone());
        }
        // Problems of a case are reported when it is run; an unreadable document beside one might have been a policy.
        let whole = parsed.documents.len() == 1 || !parsed.problems.iter().any(cut_short);
        if !file.named && cases > 0 && cases == parsed.documents.len() && whole {
            return false;
        }
        // A file that no dialect claims is unrelated, unless it was named. One that cannot be read to its end might
        // have been a policy, and leaving out a policy allows what it forbids.
        let ours =
            file.named || parsed.documents.iter().any(claimed) || parsed.problems.iter().any(cut_short);
        if !ours {
            let documents = || parsed.documents.iter();
            // An editor empties a file before it writes it: that must not pass for a version without its guards.
            if documents().all(Node::is_null) && !is_case_file(&file.name) {
                let help = "delete the file, or keep it out of the folder of policies";
                self.diagnostics.push(empty(file).help(help));
                return true;
            }
            let refused = documents().flat_map(|node| lookalike::refused(node, &source, self.only, None));
            let mut refused: Vec<Diagnostic> = refused.collect();
            if refused.is_empty() {
                refused.extend(documents().filter_map(|node| self.wrapped(file, &source, node)));
            }
            if !refused.is_empty() {
                self.diagnostics.extend(refused);
                return true;
            }
            let message = "not a policy in any known language, left out";
            self.diagnostics.push(
                Diagnostic::notice(code::UNRECOGNISED_DOCUMENT, message).in_file(Arc::clone(&file.name)),
            );
            return true;
        }
        let broken = !parsed.problems.is_empty();
        self.diagnostics
            .extend(parsed.problems.into_iter().map(|problem| Diagnostic::from_problem(problem, &source)));
        // An empty document, between two `---` or after the last one, forbids nothing.
        let mut written = parsed.documents.iter().enumerate().filter(|(_, node)| !node.is_null()).peekable();
        if written.peek().is_none() && !broken {
            self.diagnostics.push(empty(file));
        }
        let alone = is_alone(&parsed.documents);
        for (index, node) in written {
            if file.named || !is_case(node) {
                self.document(file, &source, node, (index, alone));
            }
        }
        true
    }

    /// The diagnostic for a document which no dialect claims but which has policies in it, in a list or under keys: its
    /// author believes that they are enforced.
    fn wrapped(&self, file: &PolicyFile, source: &Source, node: &Node) -> Option<Diagnostic> {
        const DEEPEST: usize = 6;
        /// Deeper down, something that resembles a policy is more often unrelated: the limits of a container, or a
        /// contract in a table of results. So items of lists are not entered there, and a document with errors does not
        /// count.
        const NEAR: usize = 2;
        let mut level = vec![(node, false)];
        let found = (1..=DEEPEST).find_map(|depth| {
            let entered = level.iter().filter(|(_, in_list)| depth <= NEAR || !in_list);
            level = entered
                .flat_map(|(node, in_list)| {
                    parts(node).map(move |(key, part)| (part, *in_list || key.is_none()))
                })
                .collect();
            let parts = level.iter().map(|(part, _)| *part);
            { parts }.find(|part| self.has_rules(file, source, part, depth > NEAR))
        })?;
        let key = parts(node).find(|(_, part)| part.span.contains(found.span.start)).and_then(|(key, _)| key);
        let within = key.map_or_else(|| "a list".to_owned(), quoted);
        let message = format!("a policy inside {within} is not read: it would not be enforced");
        let help = "write each policy as a document of its own, without a list or a key around it; `---` on a line of its own \
                    ends a document";
        let told = Diagnostic::error(code::NOT_ENFORCED, message);
        Some(told.at(source, found.span.first_line(source.text())).help(help))
    }

    /// Whether some dialect finds a rule in it. `strictly`: one without errors, if its keys alone are too common.
    fn has_rules(&self, file: &PolicyFile, source: &Source, node: &Node, strictly: bool) -> bool {
        let Some(dialect) =
            dialect::of(node).filter(|own| self.only.is_none_or(|only| only.name == own.name))
        else {
            return false;
        };
        let (mut rules, mut told) = (Rules::default(), Vec::new());
        let (beside, relative) = (&self.beside, &*file.relative);
        let text = Text { source, node, prefix: "", beside, relative, alone: false, dialect };
        // If its reader fails, there may be some.
        if guarded(|| (dialect.reader)().read(text, &mut rules, &mut told)).is_err() {
            return true;
        }
        // A rule of a sequence has a type and what it is about; `count`, `after` and bare lists are other people's words.
        let fails = told.iter().any(|told| told.severity == Severity::Error);
        let own = dialect.name == "sequence_rule" && lookalike::has_whole_rule(node);
        let sound = !fails && node.get("sequences").is_none();
        rules.iter().next().is_some() && (!strictly || own || sound)
    }

    /// A file that a document names: read there, listed here.
    fn named_elsewhere(&mut self, file: &PolicyFile, source: &Source, parsed: Parse) {
        let told = parsed.problems.into_iter().map(|problem| Diagnostic::from_problem(problem, source));
        self.diagnostics.extend(told);
        let Some(dialect) = self.beside.get(&file.name).map(|text| text.dialect) else { return };
        for (index, node) in parsed.documents.iter().enumerate().filter(|(_, node)| !node.is_null()) {
            self.documents.push(Document {
                source: source.clone(),
                relative: Arc::clone(&file.relative),
                index,
                span: node.span,
                dialect,
                facts: facts(node),
            });
        }
    }

    /// Reads the document at this place of the file; the other part says whether it is the only one there.
    fn document(&mut self, file: &PolicyFile, source: &Source, node: &Node, (index, alone): (usize, bool)) {
        let dialect = dialect::of(node);
        let refused = lookalike::refused(node, source, self.only, dialect);
        if !refused.is_empty() {
            self.diagnostics.extend(refused);
            return;
        }
        let Some(dialect) = dialect else {
            self.diagnostics.push(unrecognised(source, node));
            return;
        };
        if self.only.is_some_and(|only| only.name != dialect.name) {
            return;
        }
        let prefix = beside::prefix(&file.name, index);
        let (rules, diagnostics) = (&mut self.rules, &mut self.diagnostics);
        let (before, told) = (rules.len(), diagnostics.len());
        let place = DIALECTS.iter().position(|row| row.name == dialect.name);
        let (beside, relative) = (&self.beside, &*file.relative);
        let text = Text { source, node, prefix: &prefix, beside, relative, alone, dialect };
        if let Some(reader) = place.and_then(|place| self.readers.get_mut(place))
            && let Err(why) = guarded(|| reader.read(text, rules, diagnostics))
        {
            self.diagnostics.push(reader_fault(&why).at(source, node.span));
        }
        let is_broken = |told: &Diagnostic| told.severity == Severity::Error;
        let mut broken = self.diagnostics.iter().skip(told).any(is_broken);
        if !broken && let Some(misplaced) = rejection_plans::misplaced(source, node, dialect) {
            self.diagnostics.push(misplaced);
            broken = true;
        }
        if self.rules.len() == before && !broken {
            self.diagnostics.push(without_rules(dialect, file, source, node));
        }
        self.documents.push(Document {
            source: source.clone(),
            relative: Arc::clone(&file.relative),
            index,
            span: node.span,
            dialect: dialect.name,
            facts: facts(node),
        });
    }

    pub(super) fn finish(mut self, digest: Arc<str>) -> LoadResult {
        debug_assert!(
            self.rules.iter().all(|(_, rule)| dialect::named(rule.dialect)
                .is_some_and(|dialect| dialect.kinds.iter().any(|(kind, _)| *kind == rule.kind))),
            "every kind of rule is in its dialect's table, or nobody measures it"
        );
        let mut units = Vec::new();
        for reader in self.readers {
            match guarded(|| reader.finish(&mut self.diagnostics)) {
                Ok(more) => units.extend(more),
                Err(why) => self.diagnostics.push(reader_fault(&why)),
            }
        }
        let usable = self.diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error);
        let (documents, cases) = (self.documents.clone(), self.cases);
        let policy = usable.then(|| {
            let mut policy = Policy::assemble(self.documents, self.rules, units, digest);
            (policy.files, policy.only) = (self.files, self.only);
            policy.set_diagnostics(self.diagnostics.clone());
            Arc::new(policy)
        });
        LoadResult { policy, documents, cases, diagnostics: self.diagnostics }
    }
}

/// The rows that a document adds to the facts of programs and tools: its reader reports problems in them.
fn facts(node: &Node) -> Table {
    let mut ignored = Vec::new();
    let fields = node
        .get("facts")
        .or_else(|| node.get("case"))
        .and_then(|_| Field::document(node).fields(&mut ignored));
    fields.map(|mut fields| question::facts(&mut fields, &mut Vec::new())).unwrap_or_default()
}

/// The problem of an empty file.
fn empty(file: &PolicyFile) -> Diagnostic {
    Diagnostic::error(code::EMPTY_DOCUMENT, "the file holds no document").in_file(Arc::clone(&file.name))
}

/// The items of a list, or the values of a mapping with their keys.
fn parts(node: &Node) -> impl Iterator<Item = (Option<&str>, &Node)> {
    let items = node.as_seq().unwrap_or_default().iter().map(|item| (None, item));
    let entries = node.as_map().unwrap_or_default().iter();
    items.chain(entries.map(|entry| (Some(entry.key.as_str()), &entry.value)))
}

/// Whether some dialect would take the document, or the document says that one should.
fn claimed(node: &Node) -> bool {
    dialect::of(node).is_some() || node.get("dialect").is_some()
}

/// Whether the rest of the text was not read.
fn cut_short(problem: &Problem) -> bool {
    matches!(
        problem.kind,
        ProblemKind::Syntax | ProblemKind::TooDeep | ProblemKind::TooLarge | ProblemKind::BadAlias
    )
}

/// A document whose rules are unknown must not count as one without rules.
fn reader_fault(why: &str) -> Diagnostic {
    let message = format!("the policy cannot be read: its reader failed: {why}");
    let help = "this is a defect in the program: please report it with the policy";
    Diagnostic::error(code::READER_FAULT, message).help(help)
}

/// The text of a file with its documents; without them, if they are all cases.
fn parsed(file: &PolicyFile) -> (Source, Option<Parse>) {
    let source = Source::new(Arc::clone(&file.name), Arc::clone(&file.text));
    let parsed = (file.named || !cases::are_all_of(&file.name, &file.text)).then(|| parse(&source));
    (source, parsed)
}

/// Whether a file holds one document; nothing is between two `---`, or after the last one.
fn is_alone(documents: &[Node]) -> bool {
    documents.iter().filter(|node| !node.is_null()).count() < 2
}

/// A document that stops nothing. The configuration of an assistant mostly has no plan, and is in the folder for other
/// reasons; every other document was written for its rules.
fn without_rules(dialect: &Dialect, file: &PolicyFile, source: &Source, node: &Node) -> Diagnostic {
    let message = "nothing in this document is a rule, so it stops no call";
    let told = Diagnostic::warning(code::NO_RULES, message);
    let told = if file.named || dialect.rules_only { told } else { told.severity(Severity::Notice) };
    told.at(source, node.span.first_line(source.text()))
}

fn unrecognised(source: &Source, node: &Node) -> Diagnostic {
    let names: Vec<String> = DIALECTS.iter().map(|dialect| format!("`{}`", dialect.name)).collect();
    let help = format!("policy languages: {}", names.join(", "));
    if is_case(node) {
        let message = "this is a case, not a policy";
        let case = Diagnostic::error(code::UNRECOGNISED_DOCUMENT, message).at(source, node.span);
        return case.help("`rulestep test` runs it; in a folder of policies it is skipped");
    }
    let (message, span) = match node.entry("dialect") {
        Some(entry) => {
            let named = entry.value.as_str().map_or_else(|| entry.value.kind().to_owned(), quoted);
            (format!("there is no policy language {named}"), entry.value.span)
        }
        None => ("no policy language has a document with these keys".to_owned(), node.span),
    };
    Diagnostic::error(code::UNRECOGNISED_DOCUMENT, message).at(source, span).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::Unit;

    /// Fails on the document, or on the text between documents.
    struct FailingReader {
        on_document: bool,
    }

    impl Reader for FailingReader {
        fn read(&mut self, _text: Text<'_>, _rules: &mut Rules, _problems: &mut Vec<Diagnostic>) {
            assert!(!self.on_document, "not this\nagain");
        }

        fn finish(self: Box<Self>, _problems: &mut Vec<Diagnostic>) -> Vec<Arc<dyn Unit>> {
            assert!(self.on_document, "not this\nagain");
            Vec::new()
        }
    }

    /// A version that lost a document to a panic would allow what the document forbids.
    #[test]
    fn a_version_whose_reader_panics_does_not_decide() {
        for on_document in [true, false] {
            let mut loading = Loading {
                files: Vec::new(),
                beside: Arc::default(),
                readers: DIALECTS
                    .iter()
                    .map(|_| Box::new(FailingReader { on_document }) as Box<dyn Reader>)
                    .collect(),
                rules: Rules::default(),
                documents: Vec::new(),
                cases: Vec::new(),
                diagnostics: Vec::new(),
                only: None,
            };
            let text = "tool: pay\npreconditions: [{requires_prior_tool: check}]\n";
            let file = PolicyFile {
                name: "p.yaml".into(),
                relative: "p.yaml".into(),
                text: text.into(),
                named: false,
            };
            let (source, parsed) = parsed(&file);
            loading.file(&file, source, parsed);
            let loaded = loading.finish("sha256:0".into());
            assert!(loaded.policy.is_none(), "{on_document}");
            let told = loaded.diagnostics.iter().filter(|told| told.code == code::READER_FAULT);
            let told: Vec<&Diagnostic> = told.collect();
            assert!(!told.is_empty() && told.iter().all(|told| told.severity == Severity::Error));
            assert!(told[0].message.ends_with("its reader failed: not this\nagain"), "{}", told[0].message);
        }
    }
}
