//! Information about the cursor's position, and code lenses above rules.

use std::sync::Arc;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, CodeLens, CodeLensParams, Command, DocumentChanges,
    GotoDefinitionParams, Hover, HoverContents, HoverParams, Location, MarkupContent, MarkupKind, OneOf,
    OptionalVersionedTextDocumentIdentifier, Position, Range, ReferenceParams, TextDocumentEdit,
    TextDocumentPositionParams, TextEdit, WorkspaceEdit,
};

use super::evidence::{Counts, RecordedAt, RuleCount};
use super::{Buffer, Server, place};
use crate::report::reference::markdown;
use crate::report::suggest::{sentence, support};
use crate::suggest::insert::into_contract;
use crate::suggest::{Candidate, Suggestion};
use rulestep_base::diagnostic::{Diagnostic, Place};
use rulestep_base::source::{Node, NodeValue, Source, Span, parse};
use rulestep_base::wording::{count, line};
use rulestep_engine::dialect;
use rulestep_engine::dialect::lookup::{Reference, Step, TOP_LIST};
use rulestep_engine::monitor::{Rule, RuleId, rule_name};
use rulestep_engine::policy::Policy;

/// A key or a value of a document.
struct Spot<'n> {
    way: Vec<Step>,
    /// The key, and whether the cursor is on it rather than on its value.
    key: Option<(&'n str, bool)>,
    /// The text, if the cursor is on one.
    text: Option<&'n str>,
    span: Span,
}

/// The element at the cursor.
struct Here<'s> {
    path: String,
    buffer: &'s Buffer,
    offset: usize,
}

impl Server {
    fn here(&self, at: &TextDocumentPositionParams) -> Option<Here<'_>> {
        let path = place::path(at.text_document.uri.as_str())?;
        let buffer = self.buffers.get(&path).filter(|buffer| buffer.ours)?;
        let offset = self.encoding.offset(&buffer.text, at.position);
        Some(Here { path, buffer, offset })
    }

    fn policy(&self, path: &str) -> Option<&Policy> {
        self.folders.get(place::folder(path))?.loaded.policy.as_deref()
    }

    /// The counts of the version as it is now; none while it is counted.
    fn counted(&self, path: &str) -> Option<&Counts> {
        let counts = self.counts.get(place::folder(path))?;
        self.policy(path).filter(|policy| counts.digest == *policy.digest())?;
        Some(counts)
    }

    /// The innermost rule that the cursor is in.
    fn rule(&self, here: &Here<'_>) -> Option<(RuleId, &Rule)> {
        let rules = self.policy(&here.path)?.rules().iter();
        let around = rules.filter(|(_, rule)| {
            rule.source.name() == here.path && rule.span.start <= here.offset && here.offset <= rule.span.end
        });
        around.min_by_key(|(_, rule)| rule.span.end - rule.span.start)
    }

    /// The remark in every count if recordings could not be read completely.
    fn gaps(&self) -> &'static str {
        if self.recorded.problems.lose_calls() { " · recordings incomplete" } else { "" }
    }

    /// Information about the key, the rule, the tool and the mistake at the cursor.
    pub(super) fn hover(&self, asked: &HoverParams) -> Option<Hover> {
        let here = self.here(&asked.text_document_position_params)?;
        let source = Source::new(here.path.as_str(), &*here.buffer.text);
        let parsed = parse(&source);
        let document = parsed.documents.iter().find(|node| holds(node.span, here.offset));
        let spot = document.and_then(|node| spot(node, here.offset));
        let mut parts: Vec<String> = Vec::new();
        if let (Some(document), Some(spot)) = (document, &spot) {
            let page = dialect::of(document).and_then(Reference::of);
            if let (Some(page), Some((key, _))) = (page, spot.key) {
                parts.extend(page.keys_at(&spot.way, key).iter().map(markdown));
            }
            let tool = spot.text.and_then(|text| Some((text, self.recorded.inventory.tools.get(text)?)));
            if let Some((name, calls)) = tool {
                let sessions = count(self.recorded.inventory.sessions, "session");
                parts.push(format!(
                    "`{}` is called {} in {sessions}{}.",
                    line(name),
                    times(calls.calls),
                    self.gaps()
                ));
            }
        }
        if let (Some((id, rule)), Some(counts)) = (self.rule(&here), self.counted(&here.path)) {
            let said = counts.rules.get(&id).map(answers).unwrap_or_default();
            parts.push(format!("**{}**: {}{}{said}", rule_name(rule), evidence(counts, id), self.gaps()));
        }
        parts.extend(self.pages(&here));
        let range = spot.map(|spot| self.encoding.range(&here.buffer.text, spot.span));
        let value = parts.join("\n\n---\n\n");
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
        (!parts.is_empty()).then_some(Hover { contents, range })
    }

    /// The pages of the mistakes at the cursor.
    fn pages(&self, here: &Here<'_>) -> Vec<String> {
        let at = self.problems(&here.path).into_iter().filter(|told| match told.place() {
            Some(Place::Text { span, .. }) => holds(*span, here.offset),
            _ => false,
        });
        let pages = at.filter_map(|told| dialect::page(told.code.as_str()));
        pages.map(|page| format!("**{}**: {}\n\n{}", page.code, page.title, page.text)).collect()
    }

    /// The document of a tool; without one, the first rule that names it.
    pub(super) fn definition(&self, asked: &GotoDefinitionParams) -> Option<Location> {
        let here = self.here(&asked.text_document_position_params)?;
        let name = self.text_at(&here)?;
        let policy = self.policy(&here.path)?;
        let current = self.rule(&here).map(|(id, _)| id);
        let document = policy.documents().iter().find_map(|document| {
            let nodes = parse(&document.source).documents;
            let entry = nodes.get(document.index)?.entry("tool").cloned()?;
            let is_it = entry.value.as_str() == Some(&name);
            is_it.then(|| self.location(&document.source, entry.value.span)).flatten()
        });
        let rule = || {
            let names = |rule: &Rule| rule.tools.iter().any(|tool| **tool == *name);
            let found = policy.rules().iter().find(|(id, rule)| Some(*id) != current && names(rule));
            found.and_then(|(_, rule)| self.location(&rule.source, rule.span))
        };
        document.or_else(rule)
    }

    /// The calls that a rule stops; on a tool's name, its calls.
    pub(super) fn references(&self, asked: &ReferenceParams) -> Vec<Location> {
        let Some(here) = self.here(&asked.text_document_position) else { return Vec::new() };
        let of_tool = self.text_at(&here).and_then(|name| self.recorded.calls.get(&*name));
        let of_rule = || {
            let (id, _) = self.rule(&here)?;
            self.counted(&here.path)?.rules.get(&id).map(|counted| &counted.places)
        };
        let mut places: Vec<&RecordedAt> = of_tool.or_else(of_rule).into_iter().flatten().collect();
        places.dedup();
        let location = |at: &RecordedAt| {
            let start = Position { line: at.line.saturating_sub(1), character: 0 };
            Some(Location { uri: place::uri(&at.file)?, range: Range { start, end: start } })
        };
        places.into_iter().filter_map(location).collect()
    }

    fn text_at(&self, here: &Here<'_>) -> Option<String> {
        let parsed = parse(&Source::new(here.path.as_str(), &*here.buffer.text));
        let document = parsed.documents.iter().find(|node| holds(node.span, here.offset))?;
        let spot = spot(document, here.offset)?;
        spot.text.or(spot.key.map(|(key, _)| key)).map(str::to_owned)
    }

    fn location(&self, source: &Source, span: Span) -> Option<Location> {
        Some(Location { uri: place::uri(source.name())?, range: self.encoding.range(source.text(), span) })
    }

    /// Above every rule, its counts in the recordings. None while they are being counted.
    pub(super) fn lenses(&self, asked: &CodeLensParams) -> Vec<CodeLens> {
        let path = place::path(asked.text_document.uri.as_str());
        let found = path.as_ref().and_then(|path| Some((path, self.policy(path)?, self.counted(path)?)));
        let Some((path, policy, counts)) = found else { return Vec::new() };
        let own = policy.rules().iter().filter(|(_, rule)| rule.source.name() == path);
        let lens = |(id, rule): (RuleId, &Rule)| {
            let start = self.encoding.position(rule.source.text(), rule.span.start);
            let command = Command {
                title: evidence(counts, id) + self.gaps(),
                command: String::new(),
                arguments: None,
            };
            CodeLens { range: Range { start, end: start }, command: Some(command), data: None }
        };
        own.map(lens).collect()
    }

    /// Fixes for the mistakes in a range, and rules that the recordings suggest about the tool of a contract.
    pub(super) fn actions(&self, asked: &CodeActionParams) -> Vec<CodeAction> {
        let path = place::path(asked.text_document.uri.as_str());
        let found = path.as_ref().and_then(|path| self.buffers.get(path)).filter(|buffer| buffer.ours);
        let (Some(path), Some(buffer)) = (&path, found) else { return Vec::new() };
        let wanted = |kind: &CodeActionKind| {
            let only = asked.context.only.as_ref();
            only.is_none_or(|only| only.iter().any(|only| kind.as_str().starts_with(only.as_str())))
        };
        let mut actions = Vec::new();
        if wanted(&CodeActionKind::QUICKFIX) {
            actions.extend(self.fixes(path, buffer, asked));
        }
        if wanted(&CodeActionKind::REFACTOR) {
            actions.extend(self.suggestions(path, buffer, asked));
        }
        actions
    }

    /// The fixes of the mistakes in a range.
    fn fixes(&self, path: &str, buffer: &Buffer, asked: &CodeActionParams) -> Vec<CodeAction> {
        let action = |told: &Diagnostic| {
            let shown = self.diagnostic(told, &asked.text_document.uri);
            let meets = shown.range.start <= asked.range.end && asked.range.start <= shown.range.end;
            let fix = told.fix.as_ref().filter(|fix| meets && *fix.source.text() == *buffer.text)?;
            let edits = fix.edits.iter().map(|(span, text)| {
                OneOf::Left(TextEdit {
                    range: self.encoding.range(&buffer.text, *span),
                    new_text: text.clone(),
                })
            });
            Some(CodeAction {
                title: fix.title.clone(),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![shown]),
                edit: Some(edit(asked, buffer, edits.collect())),
                is_preferred: Some(fix.is_safe),
                ..CodeAction::default()
            })
        };
        self.problems(path).into_iter().filter_map(action).collect()
    }

    fn suggestions(&self, path: &str, buffer: &Buffer, asked: &CodeActionParams) -> Vec<CodeAction> {
        let source = Source::new(path, &*buffer.text);
        let parsed = parse(&source);
        let at = self.encoding.offset(&buffer.text, asked.range.start);
        let own = parsed.documents.iter().enumerate().filter(|_| parsed.problems.is_empty());
        let here = own.clone().find(|(_, node)| holds(node.span, at)).or_else(|| own.clone().next());
        let Some((index, contract)) = here else { return Vec::new() };
        if dialect::of(contract).is_none_or(|dialect| dialect.name != "contract") {
            return Vec::new();
        }
        let Some(tool) = contract.get("tool").and_then(Node::as_str) else { return Vec::new() };
        let action = |suggestion: &Suggestion| {
            let (sentence, support) = (sentence(suggestion), support(suggestion));
            let candidate =
                |of: &Arc<str>| Candidate { tool: Arc::clone(of), claim: suggestion.claim.clone() };
            let mut candidates: Vec<Candidate> = suggestion.tools.iter().map(candidate).collect();
            candidates.retain(|candidate| **candidate.home() == *tool);
            let notes = [sentence.clone(), support.clone()];
            let text = into_contract(&candidates, &notes, &source, index).ok()?;
            let range = self.encoding.range(&buffer.text, Span::new(0, buffer.text.len()));
            let edits = vec![OneOf::Left(TextEdit { range, new_text: text })];
            Some(CodeAction {
                title: format!("add: {sentence} ({support})"),
                kind: Some(CodeActionKind::REFACTOR),
                edit: Some(edit(asked, buffer, edits)),
                ..CodeAction::default()
            })
        };
        self.recorded.suggestions.iter().filter_map(action).collect()
    }
}

type Edit = OneOf<TextEdit, lsp_types::AnnotatedTextEdit>;

/// Edits of the text as it is in the editor now.
fn edit(asked: &CodeActionParams, buffer: &Buffer, edits: Vec<Edit>) -> WorkspaceEdit {
    let uri = asked.text_document.uri.clone();
    let text_document = OptionalVersionedTextDocumentIdentifier { uri, version: Some(buffer.version) };
    let changes = vec![TextDocumentEdit { text_document, edits }];
    WorkspaceEdit { document_changes: Some(DocumentChanges::Edits(changes)), ..WorkspaceEdit::default() }
}

/// `stops 14 calls in 9 of 68 sessions · 2 newly since HEAD`.
fn evidence(counts: &Counts, rule: RuleId) -> String {
    let sessions = count(counts.sessions, "session");
    let of = |some: u64| format!("in {some} of {sessions}");
    let Some(RuleCount { answers, stopped_in, newly, .. }) = counts.rules.get(&rule) else {
        return format!("never checked in {sessions}");
    };
    let said = match (answers.stopped, answers.violated, answers.objected) {
        (0, 0, 0) if answers.sessions == 0 => format!("never checked in {sessions}"),
        (0, 0, 0) => format!("stops nothing; checked {}", of(answers.sessions)),
        (0, 0, objected) => format!("objects to {}; others decide", count(objected, "call")),
        (0, violated, _) => format!("violated {}", of(violated)),
        (stopped, 0, _) => format!("stops {} {}", count(stopped, "call"), of(*stopped_in)),
        (stopped, violated, _) => {
            format!("stops {} {}, violated in {violated}", count(stopped, "call"), of(*stopped_in))
        }
    };
    match newly {
        newly if *newly > 0 && counts.compared => format!("{said} · {newly} newly since HEAD"),
        _ => said,
    }
}

fn answers(counted: &RuleCount) -> String {
    let answers = &counted.answers;
    let first = counted.places.first().map(|at| format!(", first in {}:{}", line(&at.file), at.line));
    let asked = count(answers.calls, "call");
    format!(". It was checked for {asked}, and {} satisfied it{}.", answers.passed, first.unwrap_or_default())
}

fn times(calls: u64) -> String {
    count(calls, "time")
}

/// Whether a byte is in a part of a text, or directly after it.
fn holds(span: Span, offset: usize) -> bool {
    span.start <= offset && offset <= span.end
}

/// The innermost key or scalar at a byte.
fn spot(document: &Node, offset: usize) -> Option<Spot<'_>> {
    let mut spot = Spot { way: Vec::new(), key: None, text: None, span: document.span };
    let mut node = document;
    loop {
        match &node.value {
            NodeValue::Map(entries) => {
                let kind = node.get("type").and_then(Node::as_str).map(str::to_owned);
                let outer = spot.key.map(|(key, _)| Step { key: key.to_owned(), kind });
                spot.way.extend(outer);
                let on_key = entries.iter().find(|entry| holds(entry.key_span, offset));
                let on_value = || entries.iter().find(|entry| holds(entry.value.span, offset));
                let entry = on_key.or_else(on_value)?;
                spot.key = Some((&entry.key, on_key.is_some()));
                spot.span = if on_key.is_some() { entry.key_span } else { entry.value.span };
                if on_key.is_some() {
                    return Some(spot);
                }
                node = &entry.value;
            }
            NodeValue::Seq(items) => {
                if spot.way.is_empty() && spot.key.is_none() {
                    spot.key = Some((TOP_LIST, false));
                }
                node = items.iter().find(|item| holds(item.span, offset))?;
                spot.span = node.span;
            }
            _ => {
                spot.text = node.as_str();
                return Some(spot);
            }
        }
    }
}
