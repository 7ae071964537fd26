//! The effect of a policy edit on its rules, independent of the recordings.
//!
//! Every rule that differs between the versions is one [`RuleChange`]: added, removed, or edited; an edited rule is
//! tightened or weakened if the directions of its keys ([`rulestep_engine::dialect::edits`]) say so. A weakened part
//! makes a rule weakened, whatever else became stricter: some call may pass that did not. Keys of a document outside
//! rules that rules depend on are changes of their own, once for the document.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::meaning::{Meaning, Passage, dialect_of};
use super::{Correspondence, Kind, RuleAt, Side};
use rulestep_base::source::{Node, pointer_push, pointer_segments};
use rulestep_engine::dialect::edits::{Likely, Reach, by_key};
use rulestep_engine::dialect::{self, Dialect};
use rulestep_engine::monitor::{Rule, RuleId};
use rulestep_engine::policy::{Document, Policy};

/// A rule that is not the same in both versions.
#[derive(Debug, Clone)]
pub struct RuleChange {
    /// The effect of the edit.
    pub kind: Kind,
    /// The rule or document.
    pub subject: Subject,
    /// The keys of an edited rule that differ, and the effect of each by itself.
    pub keys: Vec<(String, Kind)>,
    /// The place of its text in the base and in the new version, then the texts around it that belong to it.
    pub passages: Vec<(Option<Passage>, Option<Passage>)>,
}

/// The subject of a change of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A rule, in the new version if that has it.
    Rule(RuleAt),
    /// A key of a document, which its rules rest on.
    Document {
        /// The document's file as it is shown.
        file: Arc<str>,
        /// The key.
        key: String,
    },
}

impl RuleChange {
    /// The rule, if it is about one.
    pub fn rule(&self) -> Option<RuleAt> {
        match self.subject {
            Subject::Rule(at) => Some(at),
            Subject::Document { .. } => None,
        }
    }
}

/// One version, with what its rules say.
#[derive(Clone, Copy)]
pub struct Version<'a> {
    /// The version.
    pub policy: &'a Policy,
    /// The meanings of its rules, by number.
    pub meanings: &'a [Meaning],
}

/// The changes of rules, by kind, then in the order of the new version, then removed rules.
pub fn changes(base: Version<'_>, new: Version<'_>, pairs: &Correspondence) -> Vec<RuleChange> {
    let mut changes = Vec::new();
    for (id, rule) in new.policy.rules().iter() {
        let change = match pairs.in_base(id) {
            None => RuleChange::alone(Side::New, id, rule),
            Some(other) if pairs.is_edited(other) => match edited(base, other, new, id) {
                Some(change) => change,
                None => continue,
            },
            Some(_) => continue,
        };
        changes.push(change);
    }
    let gone = base.policy.rules().iter().filter(|(id, _)| pairs.in_new(*id).is_none());
    changes.extend(gone.map(|(id, rule)| RuleChange::alone(Side::Base, id, rule)));
    changes.extend(documents(base, new, pairs));
    changes.sort_by_key(|change| change.kind);
    changes
}

impl RuleChange {
    /// For a rule that only one version has.
    fn alone(side: Side, rule: RuleId, text: &Rule) -> RuleChange {
        let passage = Some(passage(text));
        let (kind, passages) = match side {
            Side::Base => (Kind::RuleRemoved, (passage, None)),
            Side::New => (Kind::RuleAdded, (None, passage)),
        };
        let subject = Subject::Rule(RuleAt { side, rule });
        RuleChange { kind, subject, keys: Vec::new(), passages: vec![passages] }
    }
}

fn passage(rule: &Rule) -> Passage {
    Passage { source: rule.source.clone(), span: rule.span }
}

fn edited(base: Version<'_>, old: RuleId, new: Version<'_>, id: RuleId) -> Option<RuleChange> {
    let (then, now) = (base.meanings.get(old.0 as usize)?, new.meanings.get(id.0 as usize)?);
    let (old, rule) = (base.policy.rules().get(old)?, new.policy.rules().get(id)?);
    let rows = dialect_of(rule).map(|dialect| dialect.edits.rows(rule.kind)).unwrap_or_default();
    let mut keys = by_key(&rows, then.keys(), now.keys());
    // If the kind of rule or the tool changed, keys are not compared.
    let unknown = Reach { more: Likely::Maybe, less: Likely::Maybe };
    let others =
        [("type", (old.dialect, old.kind) != (rule.dialect, rule.kind)), ("tool", old.tool != rule.tool)];
    for (key, _) in others.into_iter().filter(|(_, differs)| *differs) {
        keys.insert(key.to_owned(), unknown);
        keys.values_mut().for_each(|reach| *reach = unknown);
    }
    let kind = kind(keys.values().copied().fold(Reach::default(), Reach::with));
    let mut passages = vec![(Some(passage(old)), Some(passage(rule)))];
    if then.keys() != now.keys() {
        passages.extend(around((then, old), (now, rule)));
    }
    let keys = keys.into_iter().map(|(key, reach)| (key, self::kind(reach))).collect();
    let subject = Subject::Rule(RuleAt { side: Side::New, rule: id });
    Some(RuleChange { kind, subject, keys, passages })
}

/// The kind of change of a rule that matches more, or less.
fn kind(reach: Reach) -> Kind {
    match (reach.more, reach.less) {
        (_, Likely::Yes) => Kind::RuleWeakened,
        (_, Likely::Maybe) | (Likely::No | Likely::Maybe, Likely::No) => Kind::RuleEdited,
        (Likely::Yes, Likely::No) => Kind::RuleTightened,
    }
}

/// The differences around a rule: keys beside the path that leads to it.
fn around(
    (then, old): (&Meaning, &Rule),
    (now, rule): (&Meaning, &Rule),
) -> Vec<(Option<Passage>, Option<Passage>)> {
    let entries = |meaning: &Meaning, rule: &Rule| {
        let mut found = BTreeMap::new();
        let Some(tree) = &meaning.tree else { return found };
        let steps: Vec<_> = pointer_segments(&rule.pointer).into_iter().flatten().collect();
        let mut pointer = String::new();
        for (depth, step) in steps.iter().enumerate() {
            let map = tree.at(&pointer).and_then(Node::as_map).unwrap_or_default();
            for entry in map.iter().filter(|entry| entry.key != **step) {
                let span = entry.key_span.to(entry.value.span);
                let passage = Passage { source: rule.source.clone(), span };
                found.insert((depth, entry.key.clone()), (entry.value.to_json(), passage));
            }
            pointer_push(&mut pointer, step);
        }
        found
    };
    let (mut then, now) = (entries(then, old), entries(now, rule));
    let is_rules = |key: &str| {
        dialect_of(rule)
            .and_then(|dialect| dialect.edits.idle)
            .is_some_and(|idle| idle.contains(&key) && !matches!(key, "aliases" | "tool"))
    };
    let mut passages = Vec::new();
    for ((depth, key), (value, passage)) in now {
        match then.remove(&(depth, key.clone())) {
            Some((before, _)) if before == value => {}
            _ if is_rules(&key) => {}
            before => passages.push((before.map(|(_, passage)| passage), Some(passage))),
        }
    }
    let gone = then.into_iter().filter(|((_, key), _)| !is_rules(key));
    passages.extend(gone.map(|(_, (_, passage))| (Some(passage), None)));
    passages
}

/// Keys of documents outside their rules that differ.
fn documents(base: Version<'_>, new: Version<'_>, pairs: &Correspondence) -> Vec<RuleChange> {
    let mut changes = Vec::new();
    for document in new.policy.documents() {
        let Some(other) = partner(document, base, new, pairs) else { continue };
        let Some(idle) = dialect::named(document.dialect).and_then(|dialect: &Dialect| dialect.edits.idle)
        else {
            continue;
        };
        let (Some(then), Some(now)) = (tree(other), tree(document)) else { continue };
        let keys: BTreeSet<&str> = [&then, &now]
            .into_iter()
            .flat_map(|node| node.as_map().unwrap_or_default())
            .map(|entry| &*entry.key)
            .collect();
        for key in keys {
            let held = |version: Version<'_>, document: &Document| {
                let start = format!("/{key}/");
                version.policy.rules().iter().any(|(_, rule)| {
                    rule.source.name() == document.source.name() && rule.pointer.starts_with(&start)
                })
            };
            let value = |node: &Node| node.get(key).map(Node::to_json);
            if idle.contains(&key) || value(&then) == value(&now) || held(base, other) || held(new, document)
            {
                continue;
            }
            let passage = |document: &Document, node: &Node| {
                let entry = node.entry(key)?;
                let span = entry.key_span.to(entry.value.span);
                Some(Passage { source: document.source.clone(), span })
            };
            changes.push(RuleChange {
                kind: Kind::RuleEdited,
                subject: Subject::Document { file: document.source.name().into(), key: key.to_owned() },
                keys: Vec::new(),
                passages: vec![(passage(other, &then), passage(document, &now))],
            });
        }
    }
    changes
}

fn tree(document: &Document) -> Option<Node> {
    rulestep_base::source::parse(&document.source).documents.into_iter().nth(document.index)
}

/// The document of the base that is this one: the one that its rules were in, else the one at its place.
fn partner<'a>(
    document: &Document,
    base: Version<'a>,
    new: Version<'_>,
    pairs: &Correspondence,
) -> Option<&'a Document> {
    let holds = |document: &Document, meaning: &Meaning| {
        (&document.relative, document.index) == (&meaning.document.0, meaning.document.1)
    };
    let own = new.policy.rules().iter().zip(new.meanings).filter(|(_, meaning)| holds(document, meaning));
    let mut old = own.filter_map(|((id, _), _)| base.meanings.get(pairs.in_base(id)?.0 as usize));
    let documents = base.policy.documents();
    old.next().and_then(|meaning| documents.iter().find(|document| holds(document, meaning))).or_else(|| {
        let same = |other: &&Document| (&other.relative, other.index) == (&document.relative, document.index);
        documents.iter().find(same)
    })
}
