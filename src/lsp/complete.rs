//! Completions at the cursor: keys from the reference page, words, and names and paths from the recordings.

use std::collections::BTreeSet;
use std::sync::Arc;

use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionParams, CompletionTextEdit, Documentation, MarkupContent,
    MarkupKind, TextEdit,
};

use super::context::{Context, Role};
use super::{Server, place};
use crate::report::reference::markdown;
use rulestep_base::source::Node;
use rulestep_base::source::inline::scalar;
use rulestep_engine::dialect::lookup::{Match, Reference, Values};
use rulestep_engine::dialect::{self, DIALECTS};

impl Server {
    /// The completions here.
    pub(super) fn completion(&self, asked: &CompletionParams) -> Vec<CompletionItem> {
        let at = &asked.text_document_position;
        let Some(path) = place::path(at.text_document.uri.as_str()) else { return Vec::new() };
        let Some(buffer) = self.buffers.get(&path) else { return Vec::new() };
        let offset = self.encoding.offset(&buffer.text, at.position);
        let Some(context) = Context::of(&buffer.text, offset) else { return Vec::new() };
        let range = self.encoding.range(&buffer.text, context.typed);
        let typed = buffer.text.get(context.typed.start..context.typed.end).unwrap_or_default();
        let json = path.ends_with(".json");
        let mut items = Items { context: &context, typed, json, range, found: Vec::new() };
        match dialect::of(&context.document).and_then(Reference::of) {
            Some(page) => self.fill(page, &mut items),
            None if buffer.ours || self.has_policies(place::folder(&path)) => beginnings(&mut items),
            None => {}
        }
        items.found
    }

    fn has_policies(&self, folder: &str) -> bool {
        self.folders.get(folder).is_some_and(|folder| !folder.loaded.documents.is_empty())
    }

    fn fill(&self, page: &'static Reference, items: &mut Items<'_>) {
        let context = items.context;
        match &context.role {
            Role::Key { siblings, first } => {
                let sections = page.sections_at(&context.way);
                for section in &sections {
                    for found in page.keys_of(section) {
                        if !siblings.iter().any(|sibling| sibling == found.key.name) {
                            items.key(found.key.name, Some(&found));
                        }
                    }
                }
                if sections.is_empty() {
                    self.free_keys(page, items);
                }
                if *first {
                    self.list_items(page, items);
                }
            }
            Role::Item => {
                for section in page.sections_at(&context.way) {
                    page.keys_of(section).for_each(|found| items.key(found.key.name, Some(&found)));
                }
                self.list_items(page, items);
            }
            Role::Value(key) => {
                let found = page.keys_at(&context.way, key);
                found.iter().for_each(|found| self.values(found, items));
                if found.is_empty() {
                    self.free_values(key, items);
                }
            }
        }
    }

    /// The items of the list that the way ends in.
    fn list_items(&self, page: &'static Reference, items: &mut Items<'_>) {
        let Some((last, before)) = items.context.way.split_last() else { return };
        let found = page.keys_at(before, &last.key);
        found.iter().for_each(|found| self.values(found, items));
        // `dependencies: {deploy: [test]}`: a list under a key of the author's own.
        if let (true, Some((outer, before))) = (found.is_empty(), before.split_last()) {
            let outer = page.keys_at(before, &outer.key);
            if outer.iter().any(|found| found.key.form.contains("to a list of tool names")) {
                self.tools(items);
            }
        }
    }

    /// Keys of the author's own: names of tools, or of arguments.
    fn free_keys(&self, page: &'static Reference, items: &mut Items<'_>) {
        let Some((last, before)) = items.context.way.split_last() else { return };
        if page
            .keys_at(before, &last.key)
            .iter()
            .any(|found| found.key.form.starts_with("mapping from a tool name"))
        {
            self.tool_names().iter().for_each(|tool| items.key(tool, None));
        }
        if last.key == "args_match" {
            let paths = self.paths_of(&self.recorded.arguments, items.context.named("tool"));
            let names = paths.iter().filter_map(|path| path.strip_prefix("$."));
            names.filter(|name| !name.contains(['.', '['])).for_each(|name| items.key(name, None));
        }
    }

    /// Values of arguments: what the recordings have where such an argument is expected.
    fn free_values(&self, key: &str, items: &mut Items<'_>) {
        if items.context.way.last().is_none_or(|last| last.key != "args_match") {
            return;
        }
        let inventory = &self.recorded.inventory;
        match key {
            "command" | "cmd" => inventory.programs.keys().for_each(|name| items.value(name, "program")),
            "url" | "uri" | "host" => inventory.hosts.keys().for_each(|name| items.value(name, "host")),
            _ => {}
        }
    }

    fn values(&self, found: &Match<'_>, items: &mut Items<'_>) {
        match found.key.values() {
            Values::Words(words) => words.iter().for_each(|word| items.value(word, &found.key.form)),
            Values::Tools => self.tools(items),
            Values::Paths => {
                let context = items.context;
                let of_result = context.way.iter().any(|step| step.key == "with_output")
                    || context.around.last().and_then(|node| node.get("bind_from")).and_then(Node::as_str)
                        == Some("output");
                let prior = of_result || context.way.iter().any(|step| step.key == "prior");
                let tool = context.named(if prior { "requires_prior_tool" } else { "tool" });
                let paths = if of_result { &self.recorded.results } else { &self.recorded.arguments };
                self.paths_of(paths, tool).iter().for_each(|path| items.value(path, "in the recordings"));
            }
            Values::Other => {}
        }
    }

    fn tools(&self, items: &mut Items<'_>) {
        let recorded = &self.recorded.inventory.tools;
        for tool in self.tool_names() {
            let calls = recorded.get(&*tool).map(|calls| rulestep_base::wording::count(calls.calls, "call"));
            items.value(&tool, &calls.unwrap_or_else(|| "in the policies".to_owned()));
        }
    }

    /// Of the recordings and of the open policies.
    fn tool_names(&self) -> BTreeSet<Arc<str>> {
        let policies = self.folders.values().filter_map(|folder| folder.loaded.policy.as_ref());
        let named = policies.flat_map(|policy| policy.names().iter().cloned());
        self.recorded.inventory.tools.keys().cloned().chain(named).collect()
    }

    /// The paths of a tool; of all tools if it has none.
    fn paths_of(
        &self,
        recorded: &std::collections::BTreeMap<Arc<str>, BTreeSet<String>>,
        tool: Option<&str>,
    ) -> BTreeSet<String> {
        match tool.and_then(|tool| recorded.get(tool)) {
            Some(paths) => paths.clone(),
            None => recorded.values().flatten().cloned().collect(),
        }
    }
}

impl Context {
    /// The text under this key in the innermost mapping that has it.
    fn named(&self, key: &str) -> Option<&str> {
        self.around.iter().rev().find_map(|node| node.get(key)?.as_str())
    }
}

/// The first key of a document that has none.
fn beginnings(items: &mut Items<'_>) {
    match &items.context.role {
        Role::Key { .. } if items.context.way.is_empty() => {
            for page in DIALECTS.iter().filter_map(Reference::of) {
                let known = |found: &Match<'_>| {
                    page.dialect.keys.contains(&found.key.name) || found.key.name == "tool"
                };
                let top = page.sections_at(&[]).into_iter().flat_map(|section| page.keys_of(section));
                top.filter(known).for_each(|found| items.key(found.key.name, Some(&found)));
            }
            items.key("dialect", None);
        }
        Role::Value(key) if key == "dialect" && items.context.way.is_empty() => {
            DIALECTS.iter().for_each(|dialect| items.value(dialect.name, dialect.title));
        }
        _ => {}
    }
}

struct Items<'c> {
    context: &'c Context,
    typed: &'c str,
    /// Whether every text is in quotes.
    json: bool,
    range: lsp_types::Range,
    found: Vec<CompletionItem>,
}

impl Items<'_> {
    fn key(&mut self, name: &str, entry: Option<&Match<'_>>) {
        let quoted = self.json || self.typed.starts_with(['"', '\'']);
        let colon = if self.context.has_colon { "" } else { ": " };
        let text = format!("{}{colon}", scalar(name, quoted));
        self.push(CompletionItem {
            kind: Some(CompletionItemKind::PROPERTY),
            detail: entry.map(|found| format!("{}, {}", found.key.form, found.key.presence)),
            documentation: entry.map(|found| documentation(markdown(found))),
            ..self.item(name, text)
        });
    }

    fn value(&mut self, word: &str, detail: &str) {
        // In a flow collection a path with brackets needs quotes, which do no harm elsewhere.
        let quoted =
            self.json || self.typed.starts_with(['"', '\'']) || word.contains(['[', ']', '{', '}', ',']);
        let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '$' | '.' | '_');
        let plain = matches!(word, "true" | "false") || word.starts_with('$') && word.chars().all(is_path);
        let text = if plain && !quoted { word.to_owned() } else { scalar(word, quoted) };
        let detail = Some(detail.to_owned());
        self.push(CompletionItem { kind: Some(CompletionItemKind::VALUE), detail, ..self.item(word, text) });
    }

    fn item(&self, name: &str, new_text: String) -> CompletionItem {
        let filter = match self.typed.chars().next().filter(|sign| matches!(sign, '"' | '\'')) {
            Some(sign) => format!("{sign}{name}"),
            None => name.to_owned(),
        };
        CompletionItem {
            label: rulestep_base::wording::line(name).to_string(),
            filter_text: Some(filter),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit { range: self.range, new_text })),
            ..CompletionItem::default()
        }
    }

    fn push(&mut self, item: CompletionItem) {
        if !self.found.iter().any(|known| known.label == item.label) {
            self.found.push(item);
        }
    }
}

fn documentation(value: String) -> Documentation {
    Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value })
}
