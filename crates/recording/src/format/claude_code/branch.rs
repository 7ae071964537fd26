//! Which lines of a log are the conversation as it continued.
//!
//! Every line names the one it follows, so a log is a tree: it forks where the user went back and asked again. The
//! conversation is the branch of the last line. Lines outside that branch may belong to it as well: results of parallel
//! calls are siblings, and so are the lines of one response.

use std::collections::HashSet;

use super::entry::{Entry, Kind, Predecessor};
use crate::input::digest::digest;

/// The lines of the conversation, and diagnostics about the others.
pub struct Branch {
    /// For every line, whether it belongs to the conversation.
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
    /// The successors of each line.
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
                        // What was summarised is often not in the log, nor is its position in the tree.
                        Some(_) if entry.compacts => {}
                        Some(_) => branch.adrift.push(at),
                    }
                    before
                }
                // A question that follows nothing begins again; a summary, and any other line, continues.
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

/// Why a line next to the branch belongs to the conversation.
enum Belongs {
    Always,
    /// One of these being known: a call, or a response.
    With(Vec<u64>),
}

impl Entry {
    /// Hashes of its ids that later lines may refer to.
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
