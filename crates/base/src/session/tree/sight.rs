//! Gaps in a session's tree, call by call.
//!
//! A gate records at each call that it decides which other sessions existed. For any other call this is inferred: every
//! named parent and every started subagent should have been read.

use std::sync::Arc;

use serde::Serialize;

use super::{Elsewhere, Happening, STARTERS, Tree, anchor};
use crate::session::{Call, CallRef, Outcome, Session};

/// How much is known of the other sessions of a session's tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TreeSight {
    /// They were not looked for.
    #[default]
    Unread,
    /// All sessions that are named anywhere were read.
    Whole,
    /// Some were not read; the gaps, by call.
    Partial(Arc<[Gap]>),
}

/// Calls before which events of an unread session may have happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The first of them (by index); calls before it are older than what is missing.
    from: u32,
    /// The first call after them.
    until: u32,
    /// The missing sessions, as a clause.
    why: Arc<str>,
}

/// What a gate saw of a session's tree when it decided one of its calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TreeSeen {
    /// The other sessions that existed. All their events until then were seen.
    pub sessions: Vec<Arc<str>>,
    /// What else was missing, as a clause.
    pub missing: Option<Arc<str>>,
}

impl TreeSight {
    /// A gap from this call (by index) on.
    #[cfg(test)]
    pub(super) fn since(from: u32, why: impl Into<Arc<str>>) -> TreeSight {
        TreeSight::Partial([Gap { from, until: u32::MAX, why: why.into() }].into())
    }

    /// Why unread events may have happened before this call (by index). `None`: nothing is missing.
    pub fn gap(&self, index: u32) -> Option<&str> {
        match self {
            TreeSight::Unread => Some(UNREAD),
            TreeSight::Partial(gaps) => {
                let gap = gaps.iter().find(|gap| gap.from <= index && index < gap.until);
                gap.map(|gap| &*gap.why)
            }
            TreeSight::Whole => None,
        }
    }

    /// The gap at the first call that has one.
    pub fn missing(&self) -> Option<&str> {
        match self {
            TreeSight::Unread => Some(UNREAD),
            TreeSight::Partial(gaps) => gaps.first().map(|gap| &*gap.why),
            TreeSight::Whole => None,
        }
    }
}

const UNREAD: &str = "the other sessions of its tree were not read";

impl Tree<'_> {
    /// The gaps of the tree. `now`: what a gate sees while it decides the session's last call.
    pub(super) fn sight(&self, elsewhere: &Elsewhere, now: Option<&TreeSeen>) -> TreeSight {
        let mut gaps: Vec<Gap> = Vec::new();
        let (mut from, end) = (0, self.own.calls.len() as u32);
        for call in &self.own.calls {
            let recorded = call.live.as_ref().and_then(|live| live.tree.as_deref());
            let Some(seen) = now.filter(|_| call.at.index + 1 == end).or(recorded) else { continue };
            // Calls made since the gate's last decision came before this one, too.
            let until = call.at.index + 1;
            if let Some(why) = self.lacks(seen) {
                match gaps.last_mut() {
                    Some(last) if last.until == from && last.why == why => last.until = until,
                    _ => gaps.push(Gap { from, until, why }),
                }
            }
            from = until;
        }
        if let Some((since, why)) = self.guess(elsewhere)
            && (from == 0 || since.max(from) < end)
        {
            gaps.push(Gap { from: since.max(from), until: u32::MAX, why: why.into() });
        }
        if gaps.is_empty() { TreeSight::Whole } else { TreeSight::Partial(gaps.into()) }
    }

    /// The gap in what a gate saw.
    fn lacks(&self, seen: &TreeSeen) -> Option<Arc<str>> {
        if let Some(parent) = self.own.parent.as_ref().filter(|parent| !seen.sessions.contains(parent)) {
            return Some(unread_parent(parent).into());
        }
        let is_read = |id: &Arc<str>| self.sessions.iter().any(|session| session.id == *id);
        let unread = seen.sessions.iter().find(|id| !is_read(id));
        seen.missing.clone().or_else(|| Some(format!("the session `{}` was not read", unread?).into()))
    }

    /// The apparent gap, and the first of the session's own calls (by index) that it affects.
    pub(super) fn guess(&self, elsewhere: &Elsewhere) -> Option<(u32, String)> {
        let mut missing: Option<(u32, String)> = None;
        let mut note = |since: u32, why: String| {
            if missing.as_ref().is_none_or(|(earliest, _)| since < *earliest) {
                missing = Some((since, why));
            }
        };
        let all = std::iter::once(self.own).chain(self.sessions.iter().map(|session| &**session));
        for session in all {
            if let Some(parent) = session.parent.as_ref().filter(|_| self.parent(session).is_none()) {
                note(0, unread_parent(parent));
            }
            let Some(call) = self.unread_child(session) else { continue };
            let turn = call.at.turn;
            if std::ptr::eq(session, self.own) {
                let why = format!("the session of the subagent that turn {turn} started was not read");
                note(call.at.index + 1, why);
                continue;
            }
            let began = |happening: &&Happening| {
                let of = elsewhere.call(happening.call);
                !happening.ended
                    && of.is_some_and(|(of, own)| std::ptr::eq(&**of, session) && own.at == call.at)
            };
            let since = elsewhere.happened.iter().find(began).map_or(0, |happening| happening.before);
            let of = &session.id;
            note(since, format!("the session of a subagent of session `{of}` was not read"));
        }
        missing
    }

    /// The first call that started a subagent without a session.
    fn unread_child<'s>(&self, session: &'s Session) -> Option<&'s Call> {
        let all = std::iter::once(self.own).chain(self.sessions.iter().map(|session| &**session));
        let is_parent =
            |child: &&Session| self.parent(child).is_some_and(|parent| std::ptr::eq(parent, session));
        let children: Vec<&Session> = all.filter(is_parent).collect();
        let anchors: Vec<Option<CallRef>> =
            children.iter().map(|child| anchor(session, child).map(|call| call.at)).collect();
        let unplaced = anchors.iter().filter(|anchor| anchor.is_none()).count();
        let starts = |call: &&Call| {
            STARTERS.contains(&&*call.tool)
                && call.outcome != Outcome::Refused
                && !anchors.contains(&Some(call.at))
        };
        let unread: Vec<&Call> = session.calls.iter().filter(starts).collect();
        unread.first().copied().filter(|_| unread.len() > unplaced)
    }
}

fn unread_parent(parent: &str) -> String {
    format!("the parent session `{parent}` was not read")
}
