//! What precedes calls in recordings: values shared with earlier calls, and the order of tools.
//!
//! Counts here only name candidates, so they may be rough where the engine is exact (results that arrive late, numbers
//! in unusual spellings). The state of a session is dropped with it: an index of the values so far, so that a call
//! costs what its own arguments and result cost.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;
use serde_json::Value;

use super::claim::Side;
use rulestep_base::session::{Body, Call, Outcome, Session, value};

/// Depth to which the values of a body are read.
const DEPTH: usize = 4;
/// Values of one body that are looked at.
const LEAVES: usize = 256;
/// Longest text that counts as a shared value; longer ones are too specific.
const LONGEST: usize = 256;
/// Longest text that a result may have to say for a call to be allowed.
const LONGEST_RESULT: usize = 40;
/// Different values of one place of results that are counted one by one.
const DISTINCT: usize = 32;

/// A place of a tool's calls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field {
    /// The tool.
    pub tool: Arc<str>,
    /// Arguments or result.
    pub side: Side,
    /// The path there.
    pub path: Arc<str>,
}

/// Observations of an argument over all calls of its tool.
#[derive(Debug, Default)]
pub struct Shared {
    /// Calls that have it.
    pub calls: u64,
    /// Sessions with such calls.
    pub sessions: u64,
    last_session: u64,
    values: HashSet<u64>,
    /// Places of earlier calls that had the same value, each with the calls for which none had it there. Only those
    /// that few enough calls contradict.
    pub priors: BTreeMap<Field, Prior>,
}

/// An earlier place with the same value.
#[derive(Debug)]
pub struct Prior {
    /// Calls without the value there.
    pub misses: u64,
    /// The values that the results of the earlier calls all have, by path, as JSON.
    pub constants: Option<BTreeMap<Arc<str>, Value>>,
}

impl Shared {
    /// Different values that calls had.
    pub fn values(&self) -> u64 {
        self.values.len() as u64
    }
}

/// Observations of a tool.
#[derive(Debug, Default)]
pub struct ToolFacts {
    /// Its calls.
    pub calls: u64,
    /// Sessions in which it succeeded.
    pub sessions: u64,
    /// Sessions in which it was called again after it had succeeded.
    pub repeated: u64,
    /// Its successful results.
    results: u64,
    /// Their values, by path: how often each of a few values.
    said: HashMap<Arc<str>, HashMap<u64, u64>>,
}

/// Observations over all sessions.
pub struct Observations {
    allowed: u64,
    /// The one tool whose calls are examined; `None`: all.
    only: Option<Arc<str>>,
    hasher: DefaultHashBuilder,
    /// Sessions seen.
    pub sessions: u64,
    /// By tool.
    pub tools: BTreeMap<Arc<str>, ToolFacts>,
    /// By tool and path in its arguments.
    pub shared: BTreeMap<(Arc<str>, Arc<str>), Shared>,
    /// Sessions in which the second tool was called after the first had succeeded.
    pub after: BTreeMap<(Arc<str>, Arc<str>), u64>,
    /// Sessions in which both succeeded.
    pub both: BTreeMap<(Arc<str>, Arc<str>), u64>,
    /// Calls of the one tool that came after a success of another.
    pub before: BTreeMap<Arc<str>, u64>,
}

/// The earlier calls of one session.
#[derive(Default)]
struct Past {
    /// The newest call of each place that had a value, by the value's hash.
    seen: HashMap<u64, BTreeMap<Field, u32>>,
    succeeded: BTreeSet<Arc<str>>,
    /// Those of them that succeeded in this session, not only in one that it is forked from.
    made: BTreeSet<Arc<str>>,
    after: BTreeSet<(Arc<str>, Arc<str>)>,
    repeated: BTreeSet<Arc<str>>,
}

impl Observations {
    /// Before any session. A place that more calls than `allowed` contradict is dropped.
    pub fn new(allowed: u64) -> Observations {
        Observations {
            allowed,
            only: None,
            hasher: DefaultHashBuilder::default(),
            sessions: 0,
            tools: BTreeMap::new(),
            shared: BTreeMap::new(),
            after: BTreeMap::new(),
            both: BTreeMap::new(),
            before: BTreeMap::new(),
        }
    }

    /// The same, about one tool.
    pub fn about(tool: &Arc<str>, allowed: u64) -> Observations {
        Observations { only: Some(Arc::clone(tool)), ..Observations::new(allowed) }
    }

    /// Adds a session.
    pub fn add(&mut self, session: &Session) {
        self.sessions += 1;
        let mut past = Past::default();
        for turn in &session.turns {
            let calls = session.calls_of(turn);
            calls.iter().filter(|call| !call.copied).for_each(|call| self.call(session, call, &mut past));
            // The calls of a response were proposed before its results were known.
            calls
                .iter()
                .filter(|call| call.outcome == Outcome::Ok)
                .for_each(|call| self.succeed(call, &mut past));
        }
        for tool in &past.made {
            self.tools.entry(Arc::clone(tool)).or_default().sessions += 1;
            for other in past.succeeded.iter().filter(|other| *other != tool) {
                *self.both.entry((Arc::clone(tool), Arc::clone(other))).or_default() += 1;
            }
        }
        for tool in &past.repeated {
            self.tools.entry(Arc::clone(tool)).or_default().repeated += 1;
        }
        for pair in past.after {
            *self.after.entry(pair).or_default() += 1;
        }
    }

    fn call(&mut self, session: &Session, call: &Call, past: &mut Past) {
        let facts = self.tools.entry(Arc::clone(&call.tool)).or_default();
        let before = facts.calls;
        facts.calls += 1;
        for earlier in &past.succeeded {
            past.after.insert((Arc::clone(earlier), Arc::clone(&call.tool)));
        }
        if past.succeeded.contains(&call.tool) {
            past.repeated.insert(Arc::clone(&call.tool));
        }
        match &self.only {
            Some(only) if *only != call.tool => return,
            Some(_) => {
                for earlier in &past.succeeded {
                    *self.before.entry(Arc::clone(earlier)).or_default() += 1;
                }
            }
            None => {}
        }
        let leaves = leaves(&call.arguments);
        let paths: BTreeSet<&Arc<str>> = leaves.iter().map(|(path, _)| path).collect();
        let known = (call.tool.clone(), Arc::from(""))..(next(&call.tool), Arc::from(""));
        for ((_, path), shared) in self.shared.range_mut(known) {
            if !paths.contains(path) {
                shared.miss(self.allowed, |_| false);
            }
        }
        for (path, leaf) in leaves {
            let hash = value::hash(leaf, &self.hasher);
            let shared = self.shared.entry((Arc::clone(&call.tool), path)).or_default();
            shared.calls += 1;
            if shared.last_session != self.sessions {
                shared.last_session = self.sessions;
                shared.sessions += 1;
            }
            shared.values.insert(hash);
            let nothing = BTreeMap::new();
            let found = if is_telling(leaf) { past.seen.get(&hash).unwrap_or(&nothing) } else { &nothing };
            shared.miss(self.allowed, |field| found.contains_key(field));
            for (field, index) in found {
                let prior = match shared.priors.entry(field.clone()) {
                    std::collections::btree_map::Entry::Occupied(prior) => prior.into_mut(),
                    // All earlier calls contradict it.
                    std::collections::btree_map::Entry::Vacant(free) if before <= self.allowed => {
                        free.insert(Prior { misses: before, constants: None })
                    }
                    std::collections::btree_map::Entry::Vacant(_) => continue,
                };
                let said =
                    session.calls.get(*index as usize).map(|call| results(&call.output)).unwrap_or_default();
                match &mut prior.constants {
                    None => {
                        prior.constants =
                            Some(said.into_iter().map(|(path, value)| (path, value.clone())).collect())
                    }
                    Some(constants) => constants.retain(|path, constant| {
                        said.iter().any(|(other, value)| other == path && value::equal(value, constant))
                    }),
                }
            }
        }
    }

    fn succeed(&mut self, call: &Call, past: &mut Past) {
        past.succeeded.insert(Arc::clone(&call.tool));
        for (side, body) in [(Side::Arguments, &call.arguments), (Side::Output, &call.output)] {
            for (path, leaf) in leaves(body).into_iter().filter(|(_, leaf)| is_telling(leaf)) {
                let field = Field { tool: Arc::clone(&call.tool), side, path };
                past.seen.entry(value::hash(leaf, &self.hasher)).or_default().insert(field, call.at.index);
            }
        }
        if call.copied {
            return;
        }
        past.made.insert(Arc::clone(&call.tool));
        let facts = self.tools.entry(Arc::clone(&call.tool)).or_default();
        facts.results += 1;
        for (path, leaf) in results(&call.output) {
            let said = facts.said.entry(path).or_default();
            let many = said.len() >= DISTINCT;
            match said.entry(value::hash(leaf, &self.hasher)) {
                Entry::Occupied(mut count) => *count.get_mut() += 1,
                Entry::Vacant(free) if !many => {
                    free.insert(1);
                }
                Entry::Vacant(_) => {}
            }
        }
    }

    /// The number of results of a tool that do not have this value at this path.
    pub fn says_otherwise(&self, tool: &str, path: &str, constant: &Value) -> u64 {
        let Some(facts) = self.tools.get(tool) else { return 0 };
        let hash = value::hash(constant, &self.hasher);
        let same = facts.said.get(path).and_then(|said| said.get(&hash)).copied();
        facts.results.saturating_sub(same.unwrap_or_default())
    }
}

impl Shared {
    /// A call that has the value at no place but these.
    fn miss(&mut self, allowed: u64, has: impl Fn(&Field) -> bool) {
        self.priors.retain(|field, prior| {
            prior.misses += u64::from(!has(field));
            prior.misses <= allowed
        });
    }
}

/// The name after all keys that begin with this one.
fn next(tool: &str) -> Arc<str> {
    format!("{tool}\0").into()
}

/// Whether a value is distinctive, so that two calls with it are about the same thing.
fn is_telling(value: &Value) -> bool {
    match value {
        Value::String(text) => (2..=LONGEST).contains(&text.len()),
        Value::Number(_) => true,
        _ => false,
    }
}

/// The short values of a result.
fn results(output: &Body) -> Vec<(Arc<str>, &Value)> {
    let mut leaves = leaves(output);
    leaves.retain(|(path, leaf)| {
        let short = match leaf {
            Value::String(text) => text.len() <= LONGEST_RESULT,
            Value::Bool(_) | Value::Number(_) => true,
            _ => false,
        };
        short && &**path != "$"
    });
    leaves
}

/// The plain values of a body with their paths. Members only: an item of a list has no place that stays the same.
fn leaves(body: &Body) -> Vec<(Arc<str>, &Value)> {
    let mut found = Vec::new();
    if let Some(value) = body.value() {
        let mut path = String::from("$");
        gather(value, &mut path, 0, &mut found);
    }
    found
}

fn gather<'a>(value: &'a Value, path: &mut String, depth: usize, found: &mut Vec<(Arc<str>, &'a Value)>) {
    match value {
        Value::Object(members) if depth < DEPTH => {
            for (key, member) in members {
                let length = path.len();
                step(path, key);
                gather(member, path, depth + 1, found);
                path.truncate(length);
            }
        }
        Value::String(_) | Value::Number(_) | Value::Bool(_) if found.len() < LEAVES => {
            found.push((path.as_str().into(), value));
        }
        _ => {}
    }
}

/// One member further, in the spelling of RFC 9535.
fn step(path: &mut String, key: &str) {
    let plain = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain {
        path.push('.');
        path.push_str(key);
    } else {
        path.push('[');
        path.push_str(&Value::from(key).to_string());
        path.push(']');
    }
}
