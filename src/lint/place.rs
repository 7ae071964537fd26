//! The places of names and paths in the text of a rule.

use std::collections::HashMap;
use std::sync::Arc;

use rulestep_base::source::{Node, NodeValue, Source, Span, parse};
use rulestep_engine::monitor::Rule;

/// The documents of texts that were looked into, parsed once.
#[derive(Default)]
pub struct Places {
    read: HashMap<Arc<str>, Texts>,
}

/// The keys and texts of a source with their places, in the order of the source. A rule is looked up once for each of
/// its names, so that a lookup must not go through all of it.
#[derive(Default)]
struct Texts {
    places: HashMap<String, Vec<Place>>,
}

#[derive(Clone, Copy)]
struct Place {
    span: Span,
    /// For a key, the span of its value.
    value: Option<Span>,
}

impl Places {
    /// The place of this text as a key or a value in a rule; below the key `under` first, if the rule has it.
    pub fn in_rule(&mut self, rule: &Rule, text: &str, under: Option<&str>) -> Option<Span> {
        let all = self.texts(&rule.source);
        let key = under.and_then(|key| all.within(key, rule.span));
        let below = key.and_then(|key| key.value).and_then(|value| all.within(text, value));
        below.or_else(|| all.within(text, rule.span)).map(|found| found.span)
    }

    /// The same, else the last place before the rule that has the text: the name of a contract's own tool is there.
    pub fn of(&mut self, rule: &Rule, text: &str) -> Option<Span> {
        self.in_rule(rule, text, None).or_else(|| {
            let all = self.texts(&rule.source).of(text);
            let before = all.partition_point(|place| place.span.start <= rule.span.start);
            before.checked_sub(1).and_then(|last| all.get(last)).or(all.first()).map(|found| found.span)
        })
    }

    /// The span of the value of this key of a rule.
    pub fn value_of(&mut self, rule: &Rule, key: &str) -> Option<Span> {
        self.texts(&rule.source).within(key, rule.span).and_then(|found| found.value)
    }

    fn texts(&mut self, source: &Source) -> &Texts {
        self.read.entry(source.shared_name()).or_insert_with(|| Texts::of_source(source))
    }
}

impl Texts {
    fn of_source(source: &Source) -> Texts {
        let mut made = Texts::default();
        parse(source).documents.iter().for_each(|document| made.walk(document));
        // The content of an alias is where its anchor is.
        made.places.values_mut().for_each(|places| places.sort_by_key(|place| place.span.start));
        made
    }

    fn walk(&mut self, node: &Node) {
        match &node.value {
            NodeValue::String(text) => self.add(text, Place { span: node.span, value: None }),
            NodeValue::Seq(items) => items.iter().for_each(|item| self.walk(item)),
            NodeValue::Map(entries) => entries.iter().for_each(|entry| {
                self.add(&entry.key, Place { span: entry.key_span, value: Some(entry.value.span) });
                self.walk(&entry.value);
            }),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) => {}
        }
    }

    fn add(&mut self, text: &str, place: Place) {
        match self.places.get_mut(text) {
            Some(places) => places.push(place),
            None => drop(self.places.insert(text.to_owned(), vec![place])),
        }
    }

    fn of(&self, text: &str) -> &[Place] {
        self.places.get(text).map_or(&[], Vec::as_slice)
    }

    /// The first place of a text within a part of the source.
    fn within(&self, text: &str, part: Span) -> Option<Place> {
        let all = self.of(text);
        let from = all.partition_point(|place| place.span.start < part.start);
        let places = all.get(from..).unwrap_or_default().iter();
        places
            .take_while(|place| place.span.start < part.end)
            .find(|place| place.span.end <= part.end)
            .copied()
    }
}
