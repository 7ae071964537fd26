//! The sessions of one tree, each with the events of the others in the order of time.
//!
//! A subagent's session names its parent, so an agent, its subagents and theirs are one tree. Events of other sessions
//! are placed between the calls of a session by the recorded times. At equal times the beginning of a call counts as
//! earlier and its result as later, so that a call that may have happened forbids and one that may not have succeeded
//! satisfies nothing. Without times the calls of a subagent are placed at the call that started it; if that is not
//! known either, they may have begun before everything and ended after it.

mod sight;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
pub use sight::{TreeSeen, TreeSight};

use super::{Call, CallRef, Facts, MessageKind, Millis, Outcome, Session, Turn};
use crate::diagnostic::{Diagnostic, code};

/// Events of the other sessions of a tree, seen from one of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Elsewhere {
    sessions: Arc<[Arc<Session>]>,
    /// The calls that began, in the order of the history, each as the indices of its session and of itself.
    calls: Vec<(usize, usize)>,
    happened: Vec<Happening>,
}

/// An event of another session: a call begins, or its result arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Happening {
    /// It comes before the session's own call with this index.
    pub before: u32,
    /// Whether it is the result.
    pub ended: bool,
    /// The number of the call among all calls of the other sessions.
    pub call: u32,
}

/// The first index of calls of other sessions; no session has as many calls.
const ELSEWHERE: u32 = 1 << 31;
/// Tools that start a subagent.
const STARTERS: [&str; 4] = ["Task", "Agent", "spawn_agent", "delegate_to_agent"];
/// The shortest id that is searched for in a result: a shorter one would match by accident.
const TELLING: usize = 6;

impl CallRef {
    /// A reference to a call of another session, by its number there, that comes after this session's call with this
    /// turn and number. It sorts with the session's own calls accordingly.
    pub fn from_elsewhere(after: (u32, u32), number: u32) -> CallRef {
        CallRef { turn: after.0, call: after.1, index: ELSEWHERE.saturating_add(number) }
    }

    /// The number of a call of another session; `None` for a session's own.
    pub fn elsewhere(self) -> Option<u32> {
        self.index.checked_sub(ELSEWHERE)
    }
}

impl Elsewhere {
    /// All events, in order.
    pub fn happened(&self) -> &[Happening] {
        &self.happened
    }

    /// The other sessions.
    pub fn sessions(&self) -> &Arc<[Arc<Session>]> {
        &self.sessions
    }

    /// The call with this number, and its session.
    pub fn call(&self, number: u32) -> Option<(&Arc<Session>, &Call)> {
        let (session, call) = self.calls.get(number as usize)?;
        let session = self.sessions.get(*session)?;
        Some((session, session.calls.get(*call)?))
    }

    fn of(own: &Session, sessions: &Arc<[Arc<Session>]>) -> Elsewhere {
        let tree = Tree { own, sessions };
        let mut placed = Vec::new();
        for (session, other) in sessions.iter().enumerate() {
            let began = |call: &&Call| call.outcome != Outcome::Refused;
            let places = tree.places(other);
            for (call, place) in other.calls.iter().zip(places).filter(|(call, _)| began(call)) {
                placed.push((place.began, call.time, session, call.at.index as usize, place.ended));
            }
        }
        placed.sort_by_key(|(began, time, session, call, _)| (*began, *time, *session, *call));
        let mut happened = Vec::with_capacity(placed.len() * 2);
        let mut calls = Vec::with_capacity(placed.len());
        for (number, (before, _, session, call, ended)) in (0..).zip(placed) {
            happened.push(Happening { before, ended: false, call: number });
            happened.extend(ended.map(|at| Happening { before: at.max(before), ended: true, call: number }));
            calls.push((session, call));
        }
        happened.sort_unstable();
        Elsewhere { sessions: Arc::clone(sessions), calls, happened }
    }
}

impl Session {
    /// The session of a call, and its reference there: this session's own, or that of another session of its tree.
    pub fn whose(&self, at: CallRef) -> (&Session, CallRef) {
        let other = || self.elsewhere.as_ref()?.call(at.elsewhere()?);
        other().map_or((self, at), |(session, call)| (session, call.at))
    }

    /// Places the events of the other sessions of its tree between its calls.
    pub fn look_around(&mut self, others: &Arc<[Arc<Session>]>) {
        let elsewhere = Elsewhere::of(self, others);
        let tree = Tree { own: self, sessions: others }.sight(&elsewhere, None);
        self.facts = Arc::new(Facts { tree, ..Facts::clone(&self.facts) });
        self.elsewhere = Some(Arc::new(elsewhere));
    }

    /// The same while a gate decides this session's last call. `seen` gets the apparent gaps of the tree at that time
    /// and returns what the gate records, which counts.
    pub fn look_around_now(
        &mut self,
        others: &Arc<[Arc<Session>]>,
        seen: impl FnOnce(Option<&str>) -> TreeSeen,
    ) -> TreeSeen {
        let elsewhere = Elsewhere::of(self, others);
        let tree = Tree { own: self, sessions: others };
        let last = self.calls.last().map_or(0, |call| call.at.index);
        let guess = tree.guess(&elsewhere).filter(|(since, _)| *since <= last);
        let seen = seen(guess.as_ref().map(|(_, why)| why.as_str()));
        let tree = tree.sight(&elsewhere, Some(&seen));
        self.facts = Arc::new(Facts { tree, ..Facts::clone(&self.facts) });
        self.elsewhere = Some(Arc::new(elsewhere));
        seen
    }
}

/// Joins sessions that were read together: each then has the events of the others of its tree. A gap in a tree is a
/// diagnostic of each of its sessions.
pub fn join(sessions: Vec<Session>) -> Vec<Session> {
    let sessions: Vec<Arc<Session>> = sessions.into_iter().map(Arc::new).collect();
    let mut trees: HashMap<Root<'_>, Vec<usize>> = HashMap::new();
    let parents = parents(&sessions);
    let roots: Vec<Root<'_>> = (0..sessions.len()).map(|place| root(place, &sessions, &parents)).collect();
    for (place, root) in roots.iter().enumerate() {
        trees.entry(*root).or_default().push(place);
    }
    let mut joined = Vec::with_capacity(sessions.len());
    for (place, (session, root)) in sessions.iter().zip(&roots).enumerate() {
        let tree = trees.get(root).map(Vec::as_slice).unwrap_or_default();
        let others = tree.iter().filter(|other| **other != place).filter_map(|other| sessions.get(*other));
        let others: Arc<[Arc<Session>]> = others.cloned().collect();
        let mut session = Session::clone(session);
        session.look_around(&others);
        if let Some(why) = session.facts.tree.missing().filter(|_| session.facts.tree != TreeSight::Unread) {
            let told = format!("{why}, so rules with `scope: tree` do not know all that happened");
            let told = Diagnostic::warning(code::TREE_INCOMPLETE, told);
            let line = u64::from(session.origin.line);
            session.diagnostics.push(told.on_line(Arc::clone(&session.origin.file), line));
        }
        joined.push(session);
    }
    joined
}

/// The root that all sessions of a tree share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Root<'a> {
    /// The session at this place.
    Read(usize),
    /// A session with this id that was not read, or is ambiguous.
    Unread(&'a str),
}

/// The index of each session's parent, if it is known.
fn parents(sessions: &[Arc<Session>]) -> Vec<Option<usize>> {
    let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, session) in sessions.iter().enumerate() {
        named.entry(&session.id).or_default().push(place);
    }
    let parent = |(place, session): (usize, &Arc<Session>)| {
        let candidates = named.get(&**session.parent.as_ref()?)?;
        let candidates: Vec<usize> = candidates.iter().copied().filter(|other| *other != place).collect();
        // Of sessions with the same name it is the one in the same file, else the nearest one.
        let near = |other: &usize| sessions.get(*other).map(|other| nearness(session, other));
        let nearest = candidates.iter().filter_map(near).max()?;
        let mut found = candidates.iter().filter(|other| near(other) == Some(nearest));
        found.next().copied().filter(|_| found.next().is_none())
    };
    sessions.iter().enumerate().map(parent).collect()
}

/// Distance between the files of two sessions: the same file is nearest, else the longest common folder counts.
fn nearness(one: &Session, other: &Session) -> (bool, usize) {
    let (one, other) = (&one.origin.file, &other.origin.file);
    let folders = |file: &str| file.split(['/', '\\']).map(str::to_owned).collect::<Vec<_>>();
    let common = folders(one).into_iter().zip(folders(other)).take_while(|(one, other)| one == other);
    (one == other, common.count())
}

fn root<'a>(place: usize, sessions: &'a [Arc<Session>], parents: &[Option<usize>]) -> Root<'a> {
    let (mut at, mut seen) = (place, vec![place]);
    while let Some(parent) = parents.get(at).copied().flatten() {
        if seen.contains(&parent) {
            // Sessions that name each other are one tree.
            return Root::Read(seen.iter().copied().min().unwrap_or(place));
        }
        seen.push(parent);
        at = parent;
    }
    match sessions.get(at).and_then(|session| session.parent.as_deref()) {
        Some(unread) => Root::Unread(unread),
        None => Root::Read(at),
    }
}

/// One session, and the others of its tree.
struct Tree<'a> {
    own: &'a Session,
    sessions: &'a [Arc<Session>],
}

/// The position of a call of another session among a session's own: its events, each as the index of the own call that
/// follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    began: u32,
    /// `None`: no result is known.
    ended: Option<u32>,
}

impl<'a> Tree<'a> {
    fn parent(&self, session: &Session) -> Option<&'a Session> {
        let parent = session.parent.as_ref()?;
        let all = std::iter::once(self.own).chain(self.sessions.iter().map(|session| &**session));
        let mut named = all.filter(|other| other.id == *parent && !std::ptr::eq(*other, session));
        named.next()
    }

    /// A session and its ancestors, from the lowest up.
    fn line(&self, session: &'a Session) -> Vec<&'a Session> {
        let mut line = vec![session];
        while let Some(parent) = line.last().and_then(|last| self.parent(last)) {
            if line.iter().any(|known| std::ptr::eq(*known, parent)) {
                break;
            }
            line.push(parent);
        }
        line
    }

    /// The positions of the calls of another session.
    fn places(&self, other: &'a Session) -> Vec<Place> {
        let (own, theirs) = (clock(self.own), clock(other));
        let timed = own.iter().any(Option::is_some);
        let apart = self.apart(other);
        let end = self.own.calls.len() as u32;
        let place = |(call, time): (&Call, &Option<Millis>)| {
            let known = matches!(call.outcome, Outcome::Ok | Outcome::Error);
            let Some(time) = time.filter(|_| timed) else {
                let place = apart(call);
                return Place { ended: place.ended.filter(|_| known), ..place };
            };
            let first = |later: &dyn Fn(Millis) -> bool| {
                own.partition_point(|own| own.is_none_or(|own| !later(own))) as u32
            };
            let began = first(&|own| own >= time);
            let result = call.result.and_then(|place| other.messages.get(place)?.at);
            // A result without a time was there when the model continued.
            let next = || {
                let mut later = other.calls.iter().zip(&theirs);
                later.find(|(next, _)| next.at.turn > call.at.turn).and_then(|(_, time)| *time)
            };
            let ended = result.or_else(next).map_or(end, |time| first(&|own| own > time));
            Place { began, ended: known.then_some(ended.max(began)) }
        };
        other.calls.iter().zip(&theirs).map(place).collect()
    }

    /// The positions of the calls of another session, derived from the calls that started sessions if there are no
    /// times.
    fn apart(&self, other: &'a Session) -> Box<dyn Fn(&Call) -> Place + 'a> {
        let end = self.own.calls.len() as u32;
        let (before, after) = (Place { began: 0, ended: Some(0) }, Place { began: end, ended: Some(end) });
        // It may have begun before everything, and ended after it.
        let unknown = Place { began: 0, ended: Some(end) };
        let (ours, theirs) = (self.line(self.own), self.line(other));
        let common = ours.iter().position(|one| theirs.iter().any(|other| std::ptr::eq(*one, *other)));
        let Some((at, above)) = common.and_then(|at| Some((at, *ours.get(at)?))) else {
            return Box::new(move |_| unknown);
        };
        let below =
            |line: &[&'a Session], at: usize| at.checked_sub(1).and_then(|below| line.get(below).copied());
        let started = |child: Option<&Session>| child.map(|child| anchor(above, child));
        let their_place = theirs.iter().position(|session| std::ptr::eq(*session, above)).unwrap_or_default();
        let (own, their) = (started(below(&ours, at)), started(below(&theirs, their_place)));
        match (own, their) {
            (None, Some(Some(call))) => {
                let turn = above.turn(call.at.turn).map_or(end, |turn: &Turn| turn.calls.end as u32);
                // A call that has its result before the model continues waited for the subagent.
                let ended = if call.in_turn { turn } else { end };
                let place = Place { began: call.at.index + 1, ended: Some(ended) };
                Box::new(move |_| place)
            }
            (Some(Some(started)), None) => {
                let (turn, waited) = (started.at.turn, started.in_turn);
                Box::new(move |call| match call.at.turn.cmp(&turn) {
                    std::cmp::Ordering::Less if call.in_turn => before,
                    std::cmp::Ordering::Greater if waited => after,
                    _ => unknown,
                })
            }
            (Some(Some(ours)), Some(Some(theirs))) => {
                let place = match theirs.at.turn.cmp(&ours.at.turn) {
                    std::cmp::Ordering::Less if theirs.in_turn => before,
                    std::cmp::Ordering::Greater if ours.in_turn => after,
                    _ => unknown,
                };
                Box::new(move |_| place)
            }
            _ => Box::new(move |_| unknown),
        }
    }
}

/// Whether a tool starts a subagent.
pub fn is_starter(tool: &str) -> bool {
    STARTERS.contains(&tool)
}

/// When each call was proposed, as far as it is recorded; a call without a time takes the one before.
fn clock(session: &Session) -> Vec<Option<Millis>> {
    let mut latest = None;
    let time = |call: &Call| {
        latest = latest.max(call.time);
        latest
    };
    session.calls.iter().map(time).collect()
}

/// The call that started a subagent: the one that has its name or names it in the result, else the only one whose
/// arguments hold the subagent's first message.
fn anchor<'s>(parent: &'s Session, child: &Session) -> Option<&'s Call> {
    let named = |call: &&Call| call.id.as_ref() == Some(&child.id);
    if let Some(call) = parent.calls.iter().find(named) {
        return Some(call);
    }
    let starters = || parent.calls.iter().filter(|call| STARTERS.contains(&&*call.tool));
    let tells = |call: &&Call| child.id.len() >= TELLING && call.output.raw().contains(&*child.id);
    if let Some(call) = starters().find(tells) {
        return Some(call);
    }
    let mut said = child.messages.iter().filter(|message| message.kind == MessageKind::Said);
    let asked = said.find(|message| &*message.role == "user")?.content.said()?.trim().to_owned();
    let hands_over = |call: &&Call| {
        let Some(Value::Object(arguments)) = call.arguments.value() else { return false };
        !asked.is_empty()
            && arguments.values().any(|value| value.as_str().is_some_and(|text| text.trim() == asked))
    };
    let mut found = starters().filter(hands_over);
    found.next().filter(|_| found.next().is_none())
}

#[cfg(test)]
mod tests;
