//! Whether an edit of a rule makes it stricter: every key of every language has a direction, as data.
//!
//! A rule objects to a set of calls. An edit makes the set larger (the rule is tightened), smaller (weakened), or its direction is
//! unknown. A [`Row`] gives the direction of one key; rows nest, as keys do. A key without a row has no
//! direction: unknown keys and changed expressions may do either.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::condition::glob::Glob;
use rulestep_base::source::Node;

/// The rows of a dialect for edits of its documents.
pub struct Edits {
    /// By kind of rule: the rows of its keys.
    pub kinds: &'static [(&'static str, &'static [&'static [Row]])],
    /// Keys around a rule that are part of what it means: the document, and the rule's pointer in it.
    pub around: fn(&Node, &str) -> Map<String, Value>,
    /// Keys of a document that change no rule. Any other key beside rules may; `None`: keys beside rules are ignored.
    pub idle: Option<&'static [&'static str]>,
}

impl Edits {
    /// Nothing is known: every edit may do anything.
    pub const NONE: Edits = Edits { kinds: &[], around: |_, _| Map::new(), idle: None };

    /// The rows of a kind; none if nothing is known of it.
    pub fn rows(&self, kind: &str) -> Vec<&'static Row> {
        let rows = self.kinds.iter().find(|(name, _)| *name == kind);
        rows.into_iter().flat_map(|(_, rows)| rows.iter().copied().flatten()).collect()
    }
}

/// How a key of a rule affects the set of calls that the rule objects to.
pub struct Row {
    /// The key.
    pub key: &'static str,
    /// A larger value makes the set smaller.
    pub inverse: bool,
    /// The meaning of a rule without the key.
    pub absent: Absent,
    /// How two values are compared.
    pub shape: Shape,
    /// If the rule has this key as well, the row does not apply.
    pub unless: &'static str,
}

/// The meaning of a missing key.
#[derive(Clone, Copy)]
pub enum Absent {
    /// No value at all: the key takes part in no comparison by size.
    Unknown,
    /// As if its value matched nothing.
    Nothing,
    /// As if its value matched everything.
    Everything,
    /// These names.
    Names(&'static [&'static str]),
}

/// How two values of a key are compared: which of them matches more.
#[derive(Clone, Copy)]
pub enum Shape {
    /// Words for people and models; they decide nothing.
    Words,
    /// Equal or not.
    Exact,
    /// The later word means more; the second is the default.
    Rank(&'static [&'static str], &'static str),
    /// The larger number means more, with the default.
    Number(Option<f64>),
    /// Text that is contained in a name: the shorter means more.
    Contained,
    /// Any of these names, with `*` and `?` as wildcards; `!` excludes names.
    Names,
    /// Any of these patterns, of which only the exclusion by `!` is understood.
    Patterns,
    /// An item or a list of items, any of which is enough.
    Any(&'static Shape),
    /// Items all of which must hold.
    All(&'static Shape),
    /// The same, where no item matches nothing.
    Conditions,
    /// The first words: each further one means less.
    Prefix,
    /// Keys all of which must hold; a value that is not a mapping is that of the key named second.
    Keys(&'static [&'static [Row]], &'static str),
    /// Any keys, all of which must hold.
    Entries,
    /// Any keys, each with a list of its own.
    Each,
}

/// A three-valued truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Likely {
    /// It is not so.
    #[default]
    No,
    /// Unknown.
    Maybe,
    /// It is so.
    Yes,
}

/// How a new value differs from an old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reach {
    /// Whether it matches something that the old one did not.
    pub more: Likely,
    /// Whether it fails to match something that the old one did.
    pub less: Likely,
}

impl Reach {
    const SAME: Reach = Reach { more: Likely::No, less: Likely::No };
    const MORE: Reach = Reach { more: Likely::Yes, less: Likely::No };
    const LESS: Reach = Reach { more: Likely::No, less: Likely::Yes };
    const OTHER: Reach = Reach { more: Likely::Yes, less: Likely::Yes };
    const UNKNOWN: Reach = Reach { more: Likely::Maybe, less: Likely::Maybe };

    /// The same for an excluded set.
    fn inverted(self) -> Reach {
        Reach { more: self.less, less: self.more }
    }

    /// Combines two parts of one value.
    pub fn with(self, other: Reach) -> Reach {
        Reach { more: self.more.max(other.more), less: self.less.max(other.less) }
    }

    /// `Some(true)` for a growing set.
    fn of(more: Option<bool>) -> Reach {
        match more {
            None => Reach::SAME,
            Some(true) => Reach::MORE,
            Some(false) => Reach::LESS,
        }
    }
}

impl Row {
    /// More of it: more calls are objected to.
    pub const fn stops(key: &'static str, absent: Absent, shape: Shape) -> Row {
        Row { key, inverse: false, absent, shape, unless: "" }
    }

    /// More of it: fewer calls are objected to.
    pub const fn allows(key: &'static str, absent: Absent, shape: Shape) -> Row {
        Row { key, inverse: true, absent, shape, unless: "" }
    }

    /// Words for people and models.
    pub const fn words(key: &'static str) -> Row {
        Row::stops(key, Absent::Unknown, Shape::Words)
    }

    /// A key whose values are not compared by size.
    pub const fn exact(key: &'static str) -> Row {
        Row::stops(key, Absent::Unknown, Shape::Exact)
    }

    /// How an edit of this key's value changes the set of matched calls.
    fn reach(&self, old: Option<&Value>, new: Option<&Value>) -> Reach {
        let names = match self.absent {
            Absent::Names(names) => Some(Value::from(names)),
            _ => None,
        };
        let (old, new) = (old.or(names.as_ref()), new.or(names.as_ref()));
        let reach = match (old, new) {
            (old, new) if old == new => Reach::SAME,
            (Some(old), Some(new)) => self.shape.reach(old, new),
            (old, new) => self.shape.defaults(old, new).unwrap_or(match self.absent {
                Absent::Nothing => Reach::of(Some(new.is_some())),
                Absent::Everything => Reach::of(Some(new.is_none())),
                Absent::Unknown | Absent::Names(_) => Reach::UNKNOWN,
            }),
        };
        if self.inverse { reach.inverted() } else { reach }
    }

    /// Whether it only holds words for people and models.
    pub fn is_words(&self) -> bool {
        matches!(self.shape, Shape::Words)
    }
}

/// The effect of an edit by key, for the keys that differ. Keys that only hold words have `Reach::SAME`.
pub fn by_key(rows: &[&Row], old: &Map<String, Value>, new: &Map<String, Value>) -> BTreeMap<String, Reach> {
    let mut keys = BTreeMap::new();
    for key in old.keys().chain(new.keys()) {
        let (before, now) = (old.get(key), new.get(key));
        if before == now || keys.contains_key(key) {
            continue;
        }
        let row = rows.iter().find(|row| row.key == key);
        let has = |key: &str| old.contains_key(key) || new.contains_key(key);
        let reach = match row {
            Some(row) if row.unless.is_empty() || !has(row.unless) => row.reach(before, now),
            Some(row) if row.is_words() => Reach::SAME,
            _ => Reach::UNKNOWN,
        };
        keys.insert(key.clone(), reach);
    }
    keys
}

impl Shape {
    fn reach(self, old: &Value, new: &Value) -> Reach {
        if old == new {
            return Reach::SAME;
        }
        match self {
            Shape::Words => Reach::SAME,
            Shape::Exact => Reach::UNKNOWN,
            Shape::Rank(..) | Shape::Number(_) => {
                self.defaults(Some(old), Some(new)).unwrap_or(Reach::UNKNOWN)
            }
            Shape::Contained => match (old.as_str(), new.as_str()) {
                (Some(old), Some(new)) if old.contains(new) => Reach::MORE,
                (Some(old), Some(new)) if new.contains(old) => Reach::LESS,
                _ => Reach::UNKNOWN,
            },
            Shape::Names => names(&items(old), &items(new), name),
            Shape::Patterns => names(&items(old), &items(new), |_, _| Reach::UNKNOWN),
            Shape::Any(each) => any(&items(old), &items(new), |old, new| each.reach(old, new)),
            Shape::All(each) => all(&items(old), &items(new), |old, new| each.reach(old, new)),
            Shape::Conditions => {
                let (old, new) = (items(old), items(new));
                match (old.is_empty(), new.is_empty()) {
                    (false, false) => all(&old, &new, |_, _| Reach::UNKNOWN),
                    (was, is) => Reach::of((was != is).then_some(was)),
                }
            }
            Shape::Prefix => {
                let (old, new) = (items(old), items(new));
                let pairs = old.iter().zip(&new).map(|(old, new)| Shape::Names.reach(old, new));
                let longer = (old.len() != new.len()).then_some(old.len() > new.len());
                pairs.fold(Reach::of(longer), Reach::with)
            }
            Shape::Keys(rows, plain) => {
                let keys = |value: &Value| match value {
                    Value::Object(map) => map.clone(),
                    other => Map::from_iter([(plain.to_owned(), other.clone())]),
                };
                let rows: Vec<&Row> = rows.iter().copied().flatten().collect();
                by_key(&rows, &keys(old), &keys(new)).into_values().fold(Reach::SAME, Reach::with)
            }
            Shape::Entries => entries(old, new, |row| Reach::of(Some(row.is_none())), Shape::Exact),
            Shape::Each => entries(old, new, |row| Reach::of(Some(row.is_some())), Shape::Names),
        }
    }

    /// For values that have an order and a default.
    fn defaults(self, old: Option<&Value>, new: Option<&Value>) -> Option<Reach> {
        let (old, new) = match self {
            Shape::Rank(order, default) => {
                let place = |value: Option<&Value>| {
                    let word = value.map_or_else(|| default.to_owned(), scalar);
                    order.iter().position(|known| *known == word).map(|place| place as f64)
                };
                (place(old)?, place(new)?)
            }
            Shape::Number(default) => {
                let number = |value: Option<&Value>| value.map_or(default, Value::as_f64);
                (number(old)?, number(new)?)
            }
            _ => return None,
        };
        Some(Reach::of((old != new).then_some(new > old)))
    }
}

fn scalar(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A list, or the list of one item.
fn items(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items.clone(),
        Value::Null => Vec::new(),
        one => vec![one.clone()],
    }
}

/// For two names.
fn name(old: &Value, new: &Value) -> Reach {
    let (Some(old), Some(new)) = (old.as_str(), new.as_str()) else { return Reach::UNKNOWN };
    let open = |name: &str| name.contains(['*', '?', '[', '{']);
    match (open(old), open(new)) {
        _ if old == new => Reach::SAME,
        (_, _) if new == "*" => Reach::MORE,
        (_, _) if old == "*" => Reach::LESS,
        (false, false) => Reach::OTHER,
        (false, true) if Glob::new(new).matches(old) => Reach::MORE,
        (true, false) if Glob::new(old).matches(new) => Reach::LESS,
        _ => Reach::UNKNOWN,
    }
}

/// For lists of which any item is enough. An item that begins with `!` excludes from the items before it.
fn names(old: &[Value], new: &[Value], each: impl Fn(&Value, &Value) -> Reach) -> Reach {
    let taken = |item: &Value| item.as_str().is_some_and(|item| item.starts_with('!'));
    if !old.iter().chain(new).any(taken) {
        return any(old, new, each);
    }
    let gone: Vec<&Value> = old.iter().filter(|item| !new.contains(item)).collect();
    let come: Vec<&Value> = new.iter().filter(|item| !old.contains(item)).collect();
    let kept = |from: &[Value], other: &[Value]| -> Vec<Value> {
        from.iter().filter(|item| other.contains(item)).cloned().collect()
    };
    // The order of what is there in both decides as well.
    if kept(old, new) != kept(new, old) {
        return Reach::UNKNOWN;
    }
    let gone = gone.into_iter().map(|item| Reach::of(Some(taken(item))));
    let come = come.into_iter().map(|item| Reach::of(Some(!taken(item))));
    gone.chain(come).fold(Reach::SAME, Reach::with)
}

fn any(old: &[Value], new: &[Value], each: impl Fn(&Value, &Value) -> Reach) -> Reach {
    let lost = |item: &&Value| !new.iter().any(|now| each(item, now).less == Likely::No || now == *item);
    let gained = |item: &&Value| !old.iter().any(|then| each(then, item).more == Likely::No || then == *item);
    let lost: Vec<&Value> = old.iter().filter(lost).collect();
    let gained: Vec<&Value> = new.iter().filter(gained).collect();
    pairwise(&lost, &gained, each)
}

/// For lists of which every item must hold: a further one matches less.
fn all(old: &[Value], new: &[Value], each: impl Fn(&Value, &Value) -> Reach) -> Reach {
    let dropped = |item: &&Value| !new.iter().any(|now| each(item, now).more == Likely::No || now == *item);
    let added = |item: &&Value| !old.iter().any(|then| each(then, item).less == Likely::No || then == *item);
    let dropped: Vec<&Value> = old.iter().filter(dropped).collect();
    let added: Vec<&Value> = new.iter().filter(added).collect();
    pairwise(&dropped, &added, |old, new| each(old, new).inverted()).inverted()
}

/// Compares the rest of two lists once their common items are removed.
fn pairwise(old: &[&Value], new: &[&Value], each: impl Fn(&Value, &Value) -> Reach) -> Reach {
    match (old, new) {
        ([], []) => Reach::SAME,
        ([], _) => Reach::MORE,
        (_, []) => Reach::LESS,
        ([old], [new]) => each(old, new),
        _ => {
            let reach = |old: &&Value| new.iter().map(|new| each(old, new)).fold(Reach::OTHER, weaker);
            old.iter().map(reach).fold(Reach::OTHER, weaker)
        }
    }
}

/// Certain only where both are.
fn weaker(a: Reach, b: Reach) -> Reach {
    Reach { more: a.more.min(b.more), less: a.less.min(b.less) }
}

/// For mappings with any keys.
fn entries(old: &Value, new: &Value, alone: fn(Option<&Value>) -> Reach, both: Shape) -> Reach {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return Reach::UNKNOWN };
    let mut reach = Reach::SAME;
    for key in old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))) {
        reach = reach.with(match (old.get(key), new.get(key)) {
            (Some(old), Some(new)) => both.reach(old, new),
            (_, new) => alone(new),
        });
    }
    reach
}

/// The keys that a rule of every dialect may have.
pub const OPTIONS: &[Row] = &[
    Row::stops("effect", Absent::Unknown, Shape::Rank(&["report", "ask", "deny"], "deny")),
    Row::stops("mode", Absent::Unknown, Shape::Rank(&["shadow", "enforce"], "enforce")),
    Row::words("tell"),
    Row::words("description"),
    Row::words("id"),
    Row::words("name"),
];

/// A call by what it does, or a tool's name.
pub const CALL: Shape = Shape::Keys(
    &[&[
        Row::stops("tool", Absent::Everything, Shape::Names),
        Row::stops("args_match", Absent::Everything, Shape::Entries),
        Row::stops("runs", Absent::Everything, Shape::Any(&PROGRAM)),
        Row::stops("reads", Absent::Everything, Shape::Patterns),
        Row::stops("writes", Absent::Everything, Shape::Patterns),
        Row::stops("deletes", Absent::Everything, Shape::Patterns),
        Row::stops("reaches", Absent::Everything, Shape::Patterns),
        Row::allows("except", Absent::Nothing, Shape::Patterns),
        Row::stops("agent", Absent::Everything, Shape::Exact),
        Row::stops("ended", Absent::Everything, Shape::Exact),
    ]],
    "tool",
);

/// A program in `runs`.
const PROGRAM: Shape = Shape::Keys(
    &[&[
        Row::stops("program", Absent::Everything, Shape::Names),
        Row::stops("args", Absent::Everything, Shape::Prefix),
        Row::stops("flags", Absent::Everything, Shape::All(&Shape::Exact)),
        Row::stops("without", Absent::Everything, Shape::All(&Shape::Exact)),
        Row::stops("env", Absent::Everything, Shape::All(&Shape::Exact)),
        Row::stops("in", Absent::Everything, Shape::Patterns),
    ]],
    "program",
);

/// Any of several calls.
pub const CALLS: Shape = Shape::Any(&CALL);
