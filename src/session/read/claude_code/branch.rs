//! Which lines of a log are the conversation as it went on.
//!
//! Every line names the one it follows, so a log is a tree: where somebody went back and asked anew, it forks. The
//! conversation is the branch of the last line. Beside it stand lines that were not left: results of calls that ran
//! at once hang side by side, and so do the lines of one response.

use std::collections::{HashMap, HashSet};

use super::entry::{Entry, Kind};

/// The lines that are the conversation, and what there is to say about the others.
pub struct Branch {
    /// Of every line, whether it is.
    pub live: Vec<bool>,
    /// Lines that name a predecessor which is not there, beyond the first line.
    pub adrift: Vec<usize>,
    /// Whether the first line names one.
    pub continues: bool,
}

/// Finds the branch of the last line.
pub fn follow(entries: &[Entry]) -> Branch {
    let tree = Tree::grow(entries);
    let mut live = vec![false; entries.len()];
    let mut next = entries.iter().rposition(|entry| !matches!(entry.kind, Kind::Link));
    while let Some(at) = next {
        match live.get_mut(at) {
            Some(place) if !*place => *place = true,
            _ => break,
        }
        next = tree.parents.get(at).copied().flatten();
    }
    let mut beside = Beside::default();
    for (entry, _) in entries.iter().zip(&live).filter(|(_, live)| **live) {
        beside.know(entry);
    }
    for (at, entry) in entries.iter().enumerate() {
        let on_it = |parent: usize| live.get(parent).copied().unwrap_or(false);
        let hangs_on = tree.parents.get(at).copied().flatten().is_some_and(on_it);
        if !on_it(at) && hangs_on && beside.belongs(entry) {
            beside.know(entry);
            if let Some(place) = live.get_mut(at) {
                *place = true;
            }
        }
    }
    Branch { live, adrift: tree.adrift, continues: tree.continues }
}

/// Who follows whom.
struct Tree {
    parents: Vec<Option<usize>>,
    adrift: Vec<usize>,
    continues: bool,
}

impl Tree {
    fn grow(entries: &[Entry]) -> Tree {
        // Logs that do not say what a response follows do not say it at all.
        let flat = entries
            .iter()
            .skip(1)
            .any(|entry| entry.parent.is_none() && matches!(entry.kind, Kind::Response { .. }));
        let mut tree =
            Tree { parents: Vec::with_capacity(entries.len()), adrift: Vec::new(), continues: false };
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (at, entry) in entries.iter().enumerate() {
            let before = at.checked_sub(1);
            let named = entry.parent.as_deref().map(|parent| places.get(parent).copied());
            let parent = match named {
                Some(Some(parent)) => Some(parent),
                Some(None) => {
                    match before {
                        None => tree.continues = true,
                        Some(_) => tree.adrift.push(at),
                    }
                    before
                }
                // A question that follows nothing begins anew; a summary, and whatever is no question, goes on.
                None if !flat
                    && !entry.compacts
                    && matches!(entry.kind, Kind::Prompt { meta: false, .. }) =>
                {
                    None
                }
                None => before,
            };
            tree.parents.push(parent);
            if let Some(uuid) = entry.uuid.as_deref() {
                places.insert(uuid, at);
            }
        }
        tree
    }
}

/// What is known of the conversation, to tell what stands beside it and belongs to it.
#[derive(Default)]
struct Beside<'e> {
    calls: HashSet<&'e str>,
    responses: HashSet<&'e str>,
}

impl<'e> Beside<'e> {
    fn know(&mut self, entry: &'e Entry) {
        if let Kind::Response { key, blocks } = &entry.kind {
            self.responses.extend(key.as_deref());
            self.calls.extend(blocks.calls.iter().filter_map(|call| call.id.as_deref()));
        }
    }

    /// Whether a line that hangs on the conversation is a part of it.
    fn belongs(&self, entry: &Entry) -> bool {
        match &entry.kind {
            Kind::Link | Kind::Offer(_) | Kind::Prompt { meta: true, .. } => true,
            Kind::Answer { blocks, .. } => blocks
                .answers
                .iter()
                .filter_map(|answer| answer.id.as_deref())
                .any(|id| self.calls.contains(id)),
            Kind::Response { key, .. } => key.as_deref().is_some_and(|key| self.responses.contains(key)),
            Kind::Prompt { .. } | Kind::Failure(_) => false,
        }
    }
}
