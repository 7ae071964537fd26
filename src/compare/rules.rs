//! Which rule of one version is which of the other.
//!
//! Content before place: a rule that says the same is the same, wherever it moved; of those left, one that is where the
//! other was is the other, edited. Files are known by their path within the version, not by the name they were read
//! under, so `git:HEAD:contracts/a.yaml` and `contracts/a.yaml` are one. The answer does not depend on which version is asked
//! for first.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::Hash;
use std::sync::Arc;

use serde_json::Value;

use crate::monitor::{Rule, RuleId};
use crate::policy::Policy;
use crate::source::{Node, parse};

/// Pairs of rules of two versions. A rule that only one version has is in no pair.
#[derive(Debug, Clone, Default)]
pub struct Correspondence {
    /// By the base's number: the rule of the new version, and whether it says the same.
    new: Vec<Option<(RuleId, bool)>>,
    /// By the new version's number.
    base: Vec<Option<(RuleId, bool)>>,
}

/// What a rule is known by.
struct RuleIdentity {
    /// The file's path within the version, and the document's place in it.
    document: (Arc<str>, usize),
    /// Dialect, kind, tool and test: what an edit does not change.
    sort: (&'static str, &'static str, Option<Arc<str>>, Option<Arc<str>>),
    /// Where in the document.
    pointer: Arc<str>,
    /// What it says, without layout, comments and the order of keys.
    content: Arc<str>,
}

impl Correspondence {
    /// Finds the pairs.
    pub fn of(base: &Policy, new: &Policy) -> Correspondence {
        let (old, young) = (known(base), known(new));
        let mut pairs = Correspondence { new: vec![None; old.len()], base: vec![None; young.len()] };
        let own = |rule: &RuleIdentity| (rule.document.clone(), rule.sort.clone());
        pairs.pair(&old, &young, false, |rule| (own(rule), Arc::clone(&rule.content)));
        pairs.pair(&old, &young, false, |rule| (rule.sort.clone(), Arc::clone(&rule.content)));
        pairs.pair(&old, &young, false, |rule| (own(rule), Arc::clone(&rule.pointer)));
        // In a file of another name. Several such files may have the same pointers, and then nobody knows.
        pairs.pair(&old, &young, true, |rule| (rule.sort.clone(), Arc::clone(&rule.pointer)));
        pairs
    }

    /// The rule of the new version that is this one of the base.
    pub fn in_new(&self, base: RuleId) -> Option<RuleId> {
        self.new.get(base.0 as usize).copied().flatten().map(|(rule, _)| rule)
    }

    /// The rule of the base that is this one of the new version.
    pub fn in_base(&self, new: RuleId) -> Option<RuleId> {
        self.base.get(new.0 as usize).copied().flatten().map(|(rule, _)| rule)
    }

    /// Whether a rule of the base says something else in the new version. One that is not there any more does not.
    pub fn is_edited(&self, base: RuleId) -> bool {
        self.new.get(base.0 as usize).copied().flatten().is_some_and(|(_, same)| !same)
    }

    /// Pairs the rules with one key that are in no pair yet, the first with the first; if `alone`, only where each side has
    /// one.
    fn pair<K: Hash + Eq>(
        &mut self,
        old: &[RuleIdentity],
        young: &[RuleIdentity],
        alone: bool,
        key: impl Fn(&RuleIdentity) -> K,
    ) {
        let mut free: HashMap<K, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for (place, rule) in unpaired(old, &self.new) {
            free.entry(key(rule)).or_default().0.push(place);
        }
        for (place, rule) in unpaired(young, &self.base) {
            free.entry(key(rule)).or_default().1.push(place);
        }
        for (base, new) in free.into_values() {
            if alone && (base.len() != 1 || new.len() != 1) {
                continue;
            }
            for (base, new) in base.into_iter().zip(new) {
                let content = |rules: &[RuleIdentity], place: usize| {
                    rules.get(place).map(|rule| Arc::clone(&rule.content))
                };
                let same = content(old, base) == content(young, new);
                set(&mut self.new, base, (RuleId(new as u32), same));
                set(&mut self.base, new, (RuleId(base as u32), same));
            }
        }
    }
}

fn unpaired<'k>(
    rules: &'k [RuleIdentity],
    pairs: &[Option<(RuleId, bool)>],
) -> impl Iterator<Item = (usize, &'k RuleIdentity)> {
    let free: Vec<usize> = (0..rules.len()).filter(|place| pairs.get(*place) == Some(&None)).collect();
    free.into_iter().filter_map(|place| Some((place, rules.get(place)?)))
}

fn set(pairs: &mut [Option<(RuleId, bool)>], place: usize, pair: (RuleId, bool)) {
    if let Some(slot) = pairs.get_mut(place) {
        *slot = Some(pair);
    }
}

/// The rules of a version, in the order of their numbers.
fn known(policy: &Policy) -> Vec<RuleIdentity> {
    let mut trees: HashMap<&str, Vec<Node>> = HashMap::new();
    for document in policy.documents() {
        let source = &document.source;
        trees.entry(source.name()).or_insert_with(|| parse(source).documents);
    }
    let known = |rule: &Rule| {
        let document = policy.documents().iter().find(|document| {
            document.source.name() == rule.source.name()
                && document.span.start <= rule.span.start
                && rule.span.end <= document.span.end
        });
        let document = match document {
            Some(document) => (Arc::clone(&document.relative), document.index),
            None => (rule.source.name().into(), 0),
        };
        let node = trees.get(rule.source.name()).and_then(|trees| trees.get(document.1)?.at(&rule.pointer));
        let content = match node {
            Some(node) => canonical(&node.to_json()),
            None => rule.source.slice(rule.span).to_owned(),
        };
        RuleIdentity {
            document,
            sort: (rule.dialect, rule.kind, rule.tool.clone(), rule.test.clone()),
            pointer: Arc::clone(&rule.pointer),
            content: content.into(),
        }
    };
    policy.rules().iter().map(|(_, rule)| known(rule)).collect()
}

/// JSON text with the keys of every object sorted.
fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (key, value) in entries {
                let _ = write!(text, "{}:", Value::from(key.as_str()));
                write(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write(item, text);
                text.push(',');
            }
            text.push(']');
        }
        scalar => {
            let _ = write!(text, "{scalar}");
        }
    }
}
