//! Weakens policies on purpose: a test that passes under such a mutant would not notice the mistake.
//!
//! Each rule is removed, and each part of a rule that a row of the table names is weakened in the text of its document.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Number, Value};

use rulestep_base::source::edit::{Edits, Refused};
use rulestep_base::source::{Entry, Node, NodeValue, Source, parse};
use rulestep_engine::dialect;
use rulestep_engine::monitor::rule_name;
use rulestep_engine::policy::{Policy, PolicyFile};

/// How the value of a key is weakened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weakening {
    /// Each item of a list is left out, and so for each list of a mapping of lists. The only item is removed with its
    /// key.
    Without,
    /// The key is left out.
    Gone,
    /// The key is left out, unless it says what holds without it.
    Unless(&'static str),
    /// The key is left out if the call has another condition as well.
    Beside,
    /// A number is one more.
    More,
    /// A number is one less.
    Less,
    /// `true` is `false`, and `false` is `true`.
    Not,
    /// It is swapped with the value of this other key of the same mapping.
    Swapped(&'static str),
}
use Weakening::{Beside, Gone, Less, More, Not, Swapped, Unless, Without};

/// The keys that ask what a call does, in the dialects that have them.
const CALLS: &[(&str, Weakening)] = &[
    ("runs", Beside),
    ("args", Gone),
    ("flags", Gone),
    ("without", Gone),
    ("env", Gone),
    ("in", Gone),
    ("reads", Beside),
    ("reads", Without),
    ("writes", Beside),
    ("writes", Without),
    ("deletes", Beside),
    ("deletes", Without),
    ("reaches", Beside),
    ("reaches", Without),
    ("except", Gone),
    ("agent", Beside),
    ("facts", Without),
    ("case", Unless("exact")),
];

/// Keys that make a mapping a condition on a call.
const ASKS: [&str; 7] = ["tool", "runs", "reads", "writes", "deletes", "reaches", "agent"];

/// The weakenings of a dialect's documents, by key.
const TABLE: &[(&str, &[(&str, Weakening)])] = &[
    (
        "contract",
        &[("with_output", Without), ("gte", Less), ("lte", More), ("exists", Not), ("resource", Gone)],
    ),
    ("sequence_policy", &[("maxPerSession", More)]),
    ("tool_policy", &[("dependencies", Without), ("write_tools", Without)]),
    ("rejection_plan", &[("conditions", Without), ("negate", Not)]),
    (
        "sequence_rule",
        &[
            ("first", Swapped("then")),
            ("trigger", Swapped("forbidden")),
            ("then", Without),
            ("tools", Without),
            ("max", More),
            ("within", More),
            ("strict", Not),
            ("same", Gone),
            ("unsure", Unless("deny")),
            ("opaque", Unless("report")),
            ("sweeps", Unless("report")),
            ("ended", Gone),
            ("until", Gone),
        ],
    ),
];

/// A policy that is weaker in one place.
pub struct Mutant {
    /// `FILE:LINE`.
    pub place: String,
    /// The position in the file, in bytes.
    pub start: usize,
    /// The difference: `without this rule: …`, `gte: 3 becomes 2`.
    pub what: String,
    /// Whether a whole rule is removed.
    pub removal: bool,
    change: Change,
}

enum Change {
    /// The rule with this id, in a file of this text, is off. Policies that cases hold are all named as their file.
    Off(Arc<str>, Arc<str>),
    /// The file with this name and this text has another one; `None`: it cannot be changed in place.
    Text(Arc<str>, Arc<str>, Option<Arc<str>>),
}

/// A version with a mutant's change.
pub enum Mutated {
    /// It does not have the changed part.
    Elsewhere,
    /// It does not load.
    Invalid,
    /// It loads.
    Policy(Arc<Policy>),
}

impl Mutant {
    /// A version with the change.
    pub fn apply(&self, policy: &Policy) -> Mutated {
        let changed = match &self.change {
            Change::Off(id, text) => match policy
                .rules()
                .iter()
                .find(|(_, rule)| plain(&rule.id) == plain(id) && rule.source.text() == &**text)
            {
                Some((rule, _)) => policy.without(&BTreeSet::from([rule])),
                None => return Mutated::Elsewhere,
            },
            Change::Text(file, before, text) => {
                let is_it = |known: &&PolicyFile| plain(&known.name) == plain(file) && known.text == *before;
                let same = policy.files().iter().find(is_it);
                let Some(known) = same else { return Mutated::Elsewhere };
                text.as_ref().and_then(|text| policy.with_text(&known.name, text))
            }
        };
        changed.map_or(Mutated::Invalid, Mutated::Policy)
    }
}

/// A file's name, however it was named.
fn plain(name: &str) -> &str {
    name.trim_start_matches("./")
}

/// Every mutant of a version: the removals first, in the order of the rules.
pub fn mutants(policy: &Policy) -> Vec<Mutant> {
    let removals = policy.rules().iter().map(|(_, rule)| Mutant {
        place: plain(&rule.place()).to_owned(),
        start: rule.span.start,
        what: format!("without this rule: {}", rule_name(rule)),
        removal: true,
        change: Change::Off(Arc::clone(&rule.id), rule.source.text().into()),
    });
    let mut mutants: Vec<Mutant> = removals.collect();
    policy.files().iter().for_each(|file| weakened(file, &mut mutants));
    mutants
}

/// The weakenings of one file.
fn weakened(file: &PolicyFile, out: &mut Vec<Mutant>) {
    let source = Source::new(Arc::clone(&file.name), Arc::clone(&file.text));
    let parsed = parse(&source);
    let mut making = Making { source: &source, documents: &parsed.documents, out };
    for document in &parsed.documents {
        let Some(dialect) = dialect::of(document) else { continue };
        let rows = TABLE.iter().filter(|(name, _)| *name == dialect.name).flat_map(|(_, rows)| *rows);
        let asks = matches!(dialect.name, "contract" | "sequence_rule");
        let rows = rows.chain(if asks { CALLS } else { &[] });
        for (key, weakening) in rows {
            let mut found = Vec::new();
            entries(document, key, &mut found);
            found.into_iter().for_each(|(map, entry)| making.weaken(*weakening, map, entry));
        }
    }
}

/// Makes the mutants of one text.
struct Making<'d, 'o> {
    source: &'d Source,
    documents: &'d [Node],
    out: &'o mut Vec<Mutant>,
}

impl<'d> Making<'d, '_> {
    /// Adds a mutant: its change, its place, and the edit of the text.
    fn add(&mut self, what: String, at: &Node, edit: impl FnOnce(&mut Edits<'d>) -> Result<(), Refused>) {
        let mut edits = Edits::new(self.source, self.documents);
        let text = edit(&mut edits).and_then(|()| edits.finish()).ok();
        let line = self.source.position(at.span.start).line;
        let (name, before) = (self.source.name().into(), self.source.text().into());
        let change = Change::Text(name, before, text.map(Arc::from));
        self.out.push(Mutant {
            place: format!("{}:{line}", plain(self.source.name())),
            start: at.span.start,
            what,
            removal: false,
            change,
        });
    }

    fn weaken(&mut self, weakening: Weakening, map: &'d Node, entry: &'d Entry) {
        let (key, value) = (&entry.key, &entry.value);
        // If the key is left out.
        let gone = match weakening {
            Unless(usual) => value.as_str() != Some(usual),
            Beside => ASKS.iter().any(|other| *other != key.as_str() && map.entry(other).is_some()),
            other => other == Gone,
        };
        match (weakening, &value.value) {
            (Without, NodeValue::Seq(items)) if items.len() > 1 => {
                for (place, item) in items.iter().enumerate() {
                    self.add(format!("`{key}` without {}", item.to_json()), item, |edits| {
                        edits.replace(value, place, Vec::new());
                        Ok(())
                    });
                }
            }
            (Without, NodeValue::Map(lists)) => {
                lists.iter().for_each(|list| self.weaken(Without, value, list));
            }
            (Unless(_) | Beside, _) if !gone => {}
            (Without, NodeValue::Seq(_)) | (Gone | Unless(_) | Beside, _) => {
                self.add(format!("without `{key}`"), value, |edits| {
                    edits.remove_key(map, key);
                    Ok(())
                });
            }
            (More | Less, _) => {
                if let Some(other) = value.as_number().and_then(|number| moved(number, weakening == More)) {
                    self.add(format!("`{key}: {}` becomes {other}", value.to_json()), value, |edits| {
                        edits.set(entry, Value::Number(other))
                    });
                }
            }
            (Not, _) => {
                if let Some(is) = value.as_bool() {
                    self.add(format!("`{key}: {is}` becomes {}", !is), value, |edits| {
                        edits.set(entry, Value::Bool(!is))
                    });
                }
            }
            (Swapped(other), _) => {
                if let Some(theirs) = map.entry(other) {
                    self.add(format!("`{key}` and `{other}` swapped"), value, |edits| {
                        edits.set(entry, theirs.value.to_json())?;
                        edits.set(theirs, value.to_json())
                    });
                }
            }
            (Without, _) => {}
        }
    }
}

/// The entries with this key, wherever they are, each with its mapping.
fn entries<'d>(node: &'d Node, key: &str, out: &mut Vec<(&'d Node, &'d Entry)>) {
    match &node.value {
        NodeValue::Seq(items) => items.iter().for_each(|item| entries(item, key, out)),
        NodeValue::Map(members) => {
            for entry in members.iter() {
                if entry.key == key {
                    out.push((node, entry));
                }
                entries(&entry.value, key, out);
            }
        }
        _ => {}
    }
}

fn moved(number: &Number, more: bool) -> Option<Number> {
    let step = if more { 1 } else { -1 };
    match number.as_i64() {
        Some(whole) => Some(whole.checked_add(step)?.into()),
        None => Number::from_f64(number.as_f64()? + step as f64),
    }
}
