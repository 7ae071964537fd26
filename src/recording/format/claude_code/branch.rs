//! Which lines of a log are the conversation as it went on.
//!
//! Every line names the one it follows, so a log is a tree: where somebody went back and asked anew, it forks. The
//! conversation is the branch of the last line. Beside it stand lines that were not left: results of calls that ran
//! at once hang side by side, and so do the lines of one response.
//!
//! Of a log that is too long to be held the oldest lines are settled: taken for what they are by then. Whether that was
//! right shows when the later ones are followed.

use std::collections::HashSet;

use super::entry::{Entry, Follows, Kind};
use crate::recording::input::digest::digest;

/// The lines that are the conversation, and what there is to say about the others. Places are those of the entries given.
pub struct Branch {
    /// Of every line, whether it is.
    pub live: Vec<bool>,
    /// Lines that name a predecessor which is not there, beyond the first line.
    pub adrift: Vec<usize>,
    /// Whether the first line names one.
    pub continues: bool,
    /// The lines that lead to the last one, in the whole log, the last one first.
    path: Vec<usize>,
    parents: Vec<Option<usize>>,
    flat: bool,
}

/// The lines that are settled, the first ones of a log.
#[derive(Default)]
pub struct Settled {
    /// Of every line, whether it is the conversation.
    live: Vec<bool>,
    /// The last of them that leads on.
    tip: Option<usize>,
    /// Hashes of what the conversation has of calls and responses.
    known: HashSet<u64>,
    /// Hashes of what would have made other lines a part of the conversation.
    wanted: HashSet<u64>,
    flat: bool,
}

/// Finds the branch of the last line. `entries` are those after the settled ones; `None` where these would not be what
/// they were taken for.
pub fn follow(entries: &[Entry], settled: &Settled) -> Option<Branch> {
    let base = settled.live.len();
    let mut branch = Branch::grow(entries, settled);
    let mut next = entries.iter().rposition(|entry| !matches!(entry.kind, Kind::Link)).map(|at| base + at);
    while let Some(at) = next.and_then(|place| place.checked_sub(base)) {
        match branch.live.get_mut(at) {
            Some(place) if !*place => *place = true,
            _ => break,
        }
        branch.path.push(base + at);
        next = branch.parents.get(at).copied().flatten();
    }
    if base > 0 && (next != settled.tip || branch.flat != settled.flat) {
        return None;
    }
    let mut known = HashSet::new();
    for (entry, _) in entries.iter().zip(&branch.live).filter(|(_, live)| **live) {
        known.extend(entry.makes_known());
    }
    for (at, entry) in entries.iter().enumerate() {
        let on_it = |parent: usize| match parent.checked_sub(base) {
            Some(at) => branch.live.get(at).copied().unwrap_or(false),
            None => settled.live.get(parent).copied().unwrap_or(false),
        };
        let hangs_on = branch.parents.get(at).copied().flatten().is_some_and(on_it);
        let belongs = match entry.belongs() {
            Belongs::Always => true,
            Belongs::With(names) => {
                names.iter().any(|name| known.contains(name) || settled.known.contains(name))
            }
        };
        if !on_it(base + at) && hangs_on && belongs {
            known.extend(entry.makes_known());
            if let Some(place) = branch.live.get_mut(at) {
                *place = true;
            }
        }
    }
    (base == 0 || known.is_disjoint(&settled.wanted)).then_some(branch)
}

impl Branch {
    /// Who follows whom.
    fn grow(entries: &[Entry], settled: &Settled) -> Branch {
        let base = settled.live.len();
        // Logs that do not say what a response follows do not say it at all.
        let silent = || base == 0 && entries.iter().all(|entry| matches!(entry.follows, Follows::Nothing));
        let flat = settled.flat
            || silent()
            || entries.iter().skip(usize::from(base == 0)).any(|entry| {
                matches!((&entry.follows, &entry.kind), (Follows::Nothing, Kind::Response { .. }))
            });
        let mut branch = Branch {
            live: vec![false; entries.len()],
            adrift: Vec::new(),
            continues: false,
            path: Vec::new(),
            parents: Vec::with_capacity(entries.len()),
            flat,
        };
        for (at, entry) in entries.iter().enumerate() {
            let before = (base + at).checked_sub(1);
            let parent = match entry.follows {
                Follows::Line(parent) => Some(parent),
                Follows::Missing => {
                    match before {
                        None => branch.continues = true,
                        // What was summarised is often written nowhere, and its place in the tree with it.
                        Some(_) if entry.compacts => {}
                        Some(_) => branch.adrift.push(at),
                    }
                    before
                }
                // A question that follows nothing begins anew; a summary, and whatever is no question, goes on.
                Follows::Nothing
                    if !flat && !entry.compacts && matches!(entry.kind, Kind::Prompt { meta: false, .. }) =>
                {
                    None
                }
                Follows::Nothing => before,
            };
            branch.parents.push(parent);
        }
        branch
    }
}

impl Settled {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Whether a response is among them: no later line may belong to it.
    pub fn has_response(&self, key: &str) -> bool {
        self.known.contains(&digest(key))
    }

    /// Whether one of the first `count` entries is a part of the conversation for nothing but what a later one has, which
    /// may be left yet.
    pub fn leans_on_later(&self, entries: &[Entry], branch: &Branch, count: usize) -> bool {
        let base = self.live.len();
        let live =
            || entries.iter().zip(&branch.live).enumerate().take(count).filter(|(_, (_, live))| **live);
        let known: HashSet<u64> = live().flat_map(|(_, (entry, _))| entry.makes_known()).collect();
        let path: HashSet<usize> = branch.path.iter().copied().collect();
        let mut beside = live().filter(|(at, _)| !path.contains(&(base + at)));
        beside.any(|(_, (entry, _))| match entry.belongs() {
            Belongs::Always => false,
            Belongs::With(names) => {
                !names.iter().any(|name| known.contains(name) || self.known.contains(name))
            }
        })
    }

    /// Settles the first `count` of the entries that were followed.
    pub fn add(&mut self, entries: &[Entry], branch: &Branch, count: usize) {
        let base = self.live.len();
        self.flat = branch.flat;
        self.tip = branch.path.iter().copied().find(|place| *place < base + count);
        for (at, entry) in entries.iter().enumerate().take(count) {
            let live = branch.live.get(at).copied().unwrap_or(false);
            if live {
                self.known.extend(entry.makes_known());
            }
            self.live.push(live);
            let parent = branch.parents.get(at).copied().flatten();
            let hangs_on = parent.is_some_and(|parent| self.live.get(parent).copied().unwrap_or(false));
            if let (false, true, Belongs::With(names)) = (live, hangs_on, entry.belongs()) {
                self.wanted.extend(names);
            }
        }
    }
}

/// What makes a line that hangs on the conversation a part of it.
enum Belongs {
    Always,
    /// One of these being known: a call, or a response.
    With(Vec<u64>),
}

impl Entry {
    /// Hashes of what it has that others may belong to.
    fn makes_known(&self) -> Vec<u64> {
        match &self.kind {
            Kind::Response { key, blocks } => {
                let calls = blocks.calls.iter().filter_map(|call| call.id.as_deref());
                key.as_deref().into_iter().chain(calls).map(digest).collect()
            }
            _ => Vec::new(),
        }
    }

    fn belongs(&self) -> Belongs {
        match &self.kind {
            Kind::Link | Kind::Offer(_) | Kind::Prompt { meta: true, .. } => Belongs::Always,
            Kind::Answer { blocks, .. } => Belongs::With(
                blocks.answers.iter().filter_map(|answer| answer.id.as_deref()).map(digest).collect(),
            ),
            Kind::Response { key, .. } => Belongs::With(key.as_deref().into_iter().map(digest).collect()),
            Kind::Prompt { .. } | Kind::Failure(_) => Belongs::With(Vec::new()),
        }
    }
}
