//! Which lines of a log are the conversation as it went on.
//!
//! Every line names the one it follows, so a log is a tree: where somebody went back and asked anew, it forks. The
//! conversation is the branch of the last line. Beside it stand lines that were not left: results of calls that ran
//! at once hang side by side, and so do the lines of one response.

use std::collections::HashSet;

use super::entry::{Entry, Kind, Predecessor};
use crate::input::digest::digest;

/// The lines that are the conversation, and what there is to say about the others.
pub struct Branch {
    /// Of every line, whether it is.
    pub live: Vec<bool>,
    /// Lines that name a predecessor which is not there, beyond the first line.
    pub adrift: Vec<usize>,
    /// Whether the first line names one.
    pub continues: bool,
    parents: Vec<Option<usize>>,
}

/// Finds the branch of the last line.
pub fn follow(entries: &[Entry]) -> Branch {
    let mut branch = Branch::grow(entries);
    let mut next = entries.iter().rposition(|entry| !matches!(entry.kind, Kind::Link));
    while let Some(at) = next {
        match branch.live.get_mut(at) {
            Some(place) if !*place => *place = true,
            _ => break,
        }
        next = branch.parents.get(at).copied().flatten();
    }
    let mut known = HashSet::new();
    for (entry, _) in entries.iter().zip(&branch.live).filter(|(_, live)| **live) {
        known.extend(entry.makes_known());
    }
    for (at, entry) in entries.iter().enumerate() {
        let on_it = |place: usize| branch.live.get(place).copied().unwrap_or(false);
        let hangs_on = branch.parents.get(at).copied().flatten().is_some_and(on_it);
        let belongs = match entry.belongs() {
            Belongs::Always => true,
            Belongs::With(names) => names.iter().any(|name| known.contains(name)),
        };
        if !on_it(at) && hangs_on && belongs {
            known.extend(entry.makes_known());
            if let Some(place) = branch.live.get_mut(at) {
                *place = true;
            }
        }
    }
    branch
}

impl Branch {
    /// Who follows whom.
    fn grow(entries: &[Entry]) -> Branch {
        // Logs that do not say what a response follows do not say it at all.
        let silent = || entries.iter().all(|entry| matches!(entry.follows, Predecessor::Nothing));
        let flat = silent()
            || entries.iter().skip(1).any(|entry| {
                matches!((&entry.follows, &entry.kind), (Predecessor::Nothing, Kind::Response { .. }))
            });
        let mut branch = Branch {
            live: vec![false; entries.len()],
            adrift: Vec::new(),
            continues: false,
            parents: Vec::with_capacity(entries.len()),
        };
        for (at, entry) in entries.iter().enumerate() {
            let before = at.checked_sub(1);
            let parent = match entry.follows {
                Predecessor::Line(parent) => Some(parent),
                Predecessor::Missing => {
                    match before {
                        None => branch.continues = true,
                        // What was summarised is often written nowhere, and its place in the tree with it.
                        Some(_) if entry.compacts => {}
                        Some(_) => branch.adrift.push(at),
                    }
                    before
                }
                // A question that follows nothing begins anew; a summary, and whatever is no question, goes on.
                Predecessor::Nothing
                    if !flat && !entry.compacts && matches!(entry.kind, Kind::Prompt { meta: false, .. }) =>
                {
                    None
                }
                Predecessor::Nothing => before,
            };
            branch.parents.push(parent);
        }
        branch
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
            Kind::Response { key, blocks, .. } => {
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
