//! The correspondence of rules between two versions.
//!
//! Content first: a rule with the same content is the same, wherever it moved. Of the rest, an edited rule is
//! identified by its `id`, else its description, else its content without texts; a rule without any of these that is
//! the only one of its kind for its tool is that one. The position in a list does not count. Files are identified by
//! their path within the version, not by the name they were read under, so `git:HEAD:contracts/a.yaml` and
//! `contracts/a.yaml` are one. The result is symmetric.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::Hash;
use std::sync::Arc;

use serde_json::Value;

use super::meaning::Meaning;
use rulestep_engine::monitor::{Rule, RuleId};
use rulestep_engine::policy::Policy;

/// Pairs of rules of two versions. A rule that only one version has is in no pair.
#[derive(Debug, Clone, Default)]
pub struct Correspondence {
    /// By the base's number: the rule of the new version, and whether its content is the same.
    new: Vec<Option<(RuleId, bool)>>,
    /// By the new version's number.
    base: Vec<Option<(RuleId, bool)>>,
}

/// The identity of a rule.
struct RuleIdentity {
    /// The file's path within the version, and the document's place in it.
    document: (Arc<str>, usize),
    /// Dialect, kind, tool and test: what an edit does not change.
    sort: (&'static str, &'static str, Option<Arc<str>>, Option<Arc<str>>),
    /// The author's id and description.
    id: Option<Arc<str>>,
    description: Option<Arc<str>>,
    /// The path in the document, without the indices of lists.
    path: String,
    /// Its content, without layout, comments and the order of keys.
    content: Arc<str>,
    /// The same without texts for people and models.
    bare: Arc<str>,
}

impl Correspondence {
    /// Finds the pairs.
    pub(super) fn between(base: &[Meaning], old: &Policy, new: &[Meaning], young: &Policy) -> Correspondence {
        let (old, young) = (known(old, base), known(young, new));
        let mut pairs = Correspondence { new: vec![None; old.len()], base: vec![None; young.len()] };
        let own = |rule: &RuleIdentity| (rule.document.clone(), rule.sort.clone());
        pairs.pair(&old, &young, false, |rule| Some((own(rule), Arc::clone(&rule.content))));
        pairs.pair(&old, &young, false, |rule| Some((rule.sort.clone(), Arc::clone(&rule.content))));
        for by_id in [true, false] {
            // Several rules may have one name, like those of one sequence policy; then the name does not identify them.
            let name = |rule: &RuleIdentity| if by_id { rule.id.clone() } else { rule.description.clone() };
            let sort = |rule: &RuleIdentity| (rule.sort.0, rule.sort.3.clone());
            pairs.pair(&old, &young, true, |rule| Some((own(rule), name(rule)?)));
            pairs.pair(&old, &young, true, |rule| Some((sort(rule), rule.document.clone(), name(rule)?)));
            pairs.pair(&old, &young, true, |rule| Some((rule.sort.0, name(rule)?)));
        }
        pairs.pair(&old, &young, false, |rule| Some((own(rule), Arc::clone(&rule.bare))));
        pairs.pair(&old, &young, false, |rule| Some((rule.sort.clone(), Arc::clone(&rule.bare))));
        let nameless = |rule: &RuleIdentity| {
            let place = (rule.sort.clone(), rule.path.clone());
            Some(place).filter(|_| rule.own_name().is_none())
        };
        pairs.pair(&old, &young, true, |rule| Some((rule.document.clone(), nameless(rule)?)));
        pairs.pair(&old, &young, true, nameless);
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
    /// one. A rule without a key stays alone.
    fn pair<K: Hash + Eq>(
        &mut self,
        old: &[RuleIdentity],
        young: &[RuleIdentity],
        alone: bool,
        key: impl Fn(&RuleIdentity) -> Option<K>,
    ) {
        let mut free: HashMap<K, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for (place, rule) in unpaired(old, &self.new) {
            if let Some(key) = key(rule) {
                free.entry(key).or_default().0.push(place);
            }
        }
        for (place, rule) in unpaired(young, &self.base) {
            if let Some(key) = key(rule) {
                free.entry(key).or_default().1.push(place);
            }
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

impl RuleIdentity {
    fn own_name(&self) -> Option<&Arc<str>> {
        self.id.as_ref().or(self.description.as_ref())
    }
}

/// The rules of a version, in the order of their numbers.
fn known(policy: &Policy, meanings: &[Meaning]) -> Vec<RuleIdentity> {
    let known = |(rule, meaning): (&Rule, &Meaning)| {
        let words = |text: &Option<Arc<str>>| text.clone().filter(|text| !text.trim().is_empty());
        let bare = canonical(&Value::Object(meaning.bare(rule)));
        let head = (&rule.kind, &rule.tool, &rule.name, &rule.description);
        let content = format!("{bare}{head:?}{}", canonical(&meaning.value()));
        RuleIdentity {
            document: meaning.document.clone(),
            sort: (rule.dialect, rule.kind, rule.tool.clone(), rule.test.clone()),
            // The name of a whole document is not the name of a rule.
            id: words(&rule.name)
                .filter(|_| ["id", "name"].iter().any(|key| meaning.keys().contains_key(*key))),
            description: words(&rule.description),
            path: path(&rule.pointer),
            content: content.into(),
            bare: bare.into(),
        }
    };
    policy.rules().iter().map(|(_, rule)| rule).zip(meanings).map(known).collect()
}

/// A pointer without its steps into lists.
fn path(pointer: &str) -> String {
    let steps = pointer.split('/').filter(|step| step.parse::<u64>().is_err());
    steps.collect::<Vec<_>>().join("/")
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
