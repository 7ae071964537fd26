//! Results that do not say how their call ended, and their calls. A session holds them as results of no call, so that
//! none is taken for a success; code that copies, cuts or writes a session has to distinguish them from results that no call
//! waited for.

use std::collections::{HashMap, HashSet};

use super::waiting::Waiting;
use crate::session::{MessageKind, Session};

/// The results of a session that do not say how their call ended.
#[derive(Debug, Default)]
pub struct Unsettled {
    /// The call (by index) of each, by the position of its message. A later result may have settled it.
    pub of: HashMap<usize, u32>,
    /// Calls (by index) that no longer wait, though no result says how they ended.
    pub over: HashSet<u32>,
}

impl Session {
    /// Pairs them as [`Builder::unsure`](super::Builder::unsure) did, which is also how a reader of the native form does.
    pub fn unsettled(&self) -> Unsettled {
        let mut found = Unsettled::default();
        if !self.messages.iter().any(|message| matches!(message.kind, MessageKind::Result(None, _))) {
            return found;
        }
        let mut waiting: HashMap<Option<&str>, Waiting> = HashMap::new();
        let mut unsure: HashSet<u32> = HashSet::new();
        for (place, message) in self.messages.iter().enumerate() {
            match &message.kind {
                MessageKind::Response(number) => {
                    // The native form has the calls of a turn with its last message.
                    let turn = self.turn(*number).filter(|turn| turn.messages.end == place + 1);
                    for call in turn.map(|turn| self.calls_of(turn)).unwrap_or_default() {
                        let same = waiting.entry(call.id.as_deref()).or_default();
                        let older: Vec<u32> = same.calls().filter(|older| unsure.contains(older)).collect();
                        found.over.extend(older.into_iter().filter_map(|older| same.take(older)));
                        same.push(call.at.index);
                    }
                }
                MessageKind::Result(Some(call), id) => {
                    waiting.get_mut(&id.as_deref()).map(|waiting| waiting.take(*call));
                }
                MessageKind::Result(None, id) => {
                    let Some(waiting) = waiting.get_mut(&id.as_deref()) else { continue };
                    let Some(call) = waiting.first() else { continue };
                    found.of.insert(place, call);
                    match id {
                        Some(_) => drop(unsure.insert(call)),
                        None => found.over.extend(waiting.pop()),
                    }
                }
                MessageKind::Said | MessageKind::Operation(_) => {}
            }
        }
        found
    }
}
