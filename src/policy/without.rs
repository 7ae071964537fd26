//! A version with some of its rules switched off, as if their text were not there.
//!
//! Rules share state and precedence: one that is off must forbid nothing, count nothing and hide no other behind it. So
//! the documents are read again without it, rather than its findings being passed over. The ids of all rules stay.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Policy, beside, digest_of, is_alone, prefix};
use crate::diagnostic::Severity;
use crate::dialect::{DIALECTS, Reader, Text};
use crate::monitor::fault::guarded;
use crate::monitor::{RuleId, Rules};
use crate::source::{Entry, Node, NodeValue, parse, pointer_push};

impl Policy {
    /// This version without some of its rules, and without those that were off before. It is marked by [`Policy::off`], and its digest is another one. Documents,
    /// rules and their ids are the same, those that are off included.
    ///
    /// `None` where a rule cannot be told apart in its document: a pair of names in a list of the old sequence form.
    pub fn without(&self, off: &BTreeSet<RuleId>) -> Option<Arc<Policy>> {
        let off: BTreeSet<RuleId> = off.union(&self.off).copied().collect();
        let mut readers: Vec<Box<dyn Reader>> = DIALECTS.iter().map(|dialect| (dialect.reader)()).collect();
        let (mut rules, mut problems) = (Rules::again(&self.rules, &off), Vec::new());
        let mut texts: Vec<beside::Text> = Vec::new();
        let mut pruned_documents = Vec::new();
        for document in &self.documents {
            let parsed = parse(&document.source);
            let prefix = prefix(document.source.name(), document.index);
            let gone = off.iter().filter_map(|rule| self.rules.get(*rule));
            let gone = gone.filter(|rule| rule.id.strip_prefix(&*prefix) == Some(&*rule.pointer));
            let gone: BTreeSet<&str> = gone.map(|rule| &*rule.pointer).collect();
            let node = pruned(parsed.documents.get(document.index)?, "", &gone);
            match texts.last_mut().filter(|(source, _)| *source == document.source) {
                Some((_, documents)) => documents.push((node.clone(), prefix.clone())),
                None => texts.push((document.source.clone(), vec![(node.clone(), prefix.clone())])),
            }
            pruned_documents.push((document, node, prefix, is_alone(&parsed.documents)));
        }
        let beside = beside::beside(texts, None);
        for (document, node, prefix, alone) in &pruned_documents {
            if beside.get(document.source.name()).is_some() {
                continue;
            }
            // Without its rules a document may not look like what it is.
            let place = DIALECTS.iter().position(|dialect| dialect.name == document.dialect)?;
            let (source, relative) = (&document.source, &*document.relative);
            let text = Text { source, node, prefix, beside: &beside, relative, alone: *alone };
            let reader = readers.get_mut(place)?;
            guarded(|| reader.read(text, &mut rules, &mut problems)).ok()?;
        }
        let mut units = Vec::new();
        for reader in readers {
            units.extend(guarded(|| reader.finish(&mut problems)).ok()?);
        }
        if problems.iter().any(|told| told.severity == Severity::Error) || !rules.is_whole() {
            return None;
        }
        let names = off.iter().filter_map(|rule| Some(&*self.rules.get(*rule)?.id));
        let digest = digest_of(std::iter::once(&*self.digest).chain(names));
        let mut policy = Policy::assemble(self.documents.clone(), rules, units, digest);
        policy.off = off;
        Some(Arc::new(policy))
    }

    /// The rules that are switched off: with any, this is a hypothesis and no version that somebody wrote.
    pub fn off(&self) -> &BTreeSet<RuleId> {
        &self.off
    }
}

/// The value without the items and entries at these pointers.
fn pruned(node: &Node, pointer: &str, gone: &BTreeSet<&str>) -> Node {
    let below = |step: &str| {
        let mut below = pointer.to_owned();
        pointer_push(&mut below, step);
        below
    };
    let value = match &node.value {
        NodeValue::Seq(items) => {
            let items = items.iter().enumerate().map(|(index, item)| (below(&index.to_string()), item));
            let stay = items.filter(|(pointer, _)| !gone.contains(pointer.as_str()));
            NodeValue::Seq(stay.map(|(pointer, item)| pruned(item, &pointer, gone)).collect())
        }
        NodeValue::Map(entries) => {
            let entries = entries.iter().map(|entry| (below(&entry.key), entry));
            let stay = entries.filter(|(pointer, _)| !gone.contains(pointer.as_str()));
            let entry = |(pointer, entry): (String, &Entry)| Entry {
                value: pruned(&entry.value, &pointer, gone),
                ..entry.clone()
            };
            NodeValue::Map(stay.map(entry).collect())
        }
        _ => return node.clone(),
    };
    Node { span: node.span, value }
}
