//! Where a rule has a name or a path in its text.

use std::collections::HashMap;

use crate::monitor::Rule;
use crate::source::{Node, NodeValue, Source, Span, parse};

/// The documents of texts that were looked into, parsed once.
#[derive(Default)]
pub struct Places {
    parsed: HashMap<String, Vec<Node>>,
}

impl Places {
    /// Where a rule has this text as a key or a value; in what is below the key `under` first, if it has that.
    pub fn in_rule(&mut self, rule: &Rule, text: &str, under: Option<&str>) -> Option<Span> {
        let all = self.texts(&rule.source);
        let within = |span: &Span| rule.span.start <= span.start && span.end <= rule.span.end;
        let key =
            all.iter().find(|found| under.is_some_and(|key| *found.text == *key) && within(&found.span));
        let below = key.and_then(|key| key.value).and_then(|value| {
            all.iter().find(|found| {
                *found.text == *text && value.start <= found.span.start && found.span.end <= value.end
            })
        });
        let own = || all.iter().find(|found| *found.text == *text && within(&found.span));
        below.or_else(own).map(|found| found.span)
    }

    /// The same, else the last place before the rule that has the text: the name of a contract's own tool is there.
    pub fn of(&mut self, rule: &Rule, text: &str) -> Option<Span> {
        self.in_rule(rule, text, None).or_else(|| {
            let all = self.texts(&rule.source);
            let named = |found: &&FoundText<'_>| *found.text == *text;
            let before = all.iter().filter(named).rfind(|found| found.span.start <= rule.span.start);
            before.or_else(|| all.iter().find(named)).map(|found| found.span)
        })
    }

    /// Where the value of this key of a rule is.
    pub fn value_of(&mut self, rule: &Rule, key: &str) -> Option<Span> {
        let all = self.texts(&rule.source);
        let within = |span: &Span| rule.span.start <= span.start && span.end <= rule.span.end;
        all.iter().find(|found| *found.text == *key && within(&found.span)).and_then(|found| found.value)
    }

    fn texts(&mut self, source: &Source) -> Vec<FoundText<'_>> {
        let documents =
            self.parsed.entry(source.name().to_owned()).or_insert_with(|| parse(source).documents);
        let mut found = Vec::new();
        documents.iter().for_each(|document| walk(document, &mut found));
        found
    }
}

/// A key or a text of a document.
struct FoundText<'d> {
    text: &'d str,
    span: Span,
    /// Of a key, where its value is.
    value: Option<Span>,
}

fn walk<'d>(node: &'d Node, out: &mut Vec<FoundText<'d>>) {
    match &node.value {
        NodeValue::String(text) => out.push(FoundText { text, span: node.span, value: None }),
        NodeValue::Seq(items) => items.iter().for_each(|item| walk(item, out)),
        NodeValue::Map(entries) => entries.iter().for_each(|entry| {
            out.push(FoundText { text: &entry.key, span: entry.key_span, value: Some(entry.value.span) });
            walk(&entry.value, out);
        }),
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) => {}
    }
}
