//! A minimal example: a part of a session that still shows something, and from which nothing can be left out.
//!
//! Found by delta debugging: halves, quarters and so on of the turns are left out, then of the calls, then of other
//! messages, and the engine judges the rest. It ends with a sweep that tries to leave out each element again.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::compare::Comparison;
use rulestep_base::diagnostic::Code;
use rulestep_base::session::edit::{self, EditResult, Part};
use rulestep_base::session::{Alternative, AlternativeRef, CallRef, MessageKind, Session};
use rulestep_engine::monitor::RuleId;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{Decision, Mode, Verdict};

/// This many replays are enough for a recording of some hundred calls.
pub const BUDGET: u32 = 2000;

/// The budget of a search.
#[derive(Clone, Copy)]
pub struct Budget<'b> {
    /// How often a session may be judged, at least once.
    pub replays: u32,
    /// Checked before each time: whether the result is no longer needed.
    pub over: &'b dyn Fn() -> bool,
}

impl From<u32> for Budget<'static> {
    fn from(replays: u32) -> Self {
        Budget { replays, over: &|| false }
    }
}

/// A small part of a session that still shows it.
#[derive(Debug, Clone)]
pub struct Witness {
    /// The part, as a session of its own, with the mapping of its calls.
    pub edited: EditResult,
    /// The part of the whole.
    pub part: Part,
    /// Whether no turn, call or message can be left out of it. `false`: the budget was too small to know.
    pub minimal: bool,
    /// How often a session was judged.
    pub replays: u32,
}

impl Witness {
    /// The part, as a session of its own.
    pub fn session(&self) -> &Arc<Session> {
        &self.edited.session
    }

    /// The place in the part of a call of the whole.
    pub fn call(&self, index: u32) -> Option<CallRef> {
        let index = self.edited.call(index)?;
        self.edited.session.calls.get(index as usize).map(|call| call.at)
    }
}

/// The smallest part found of a session for which `shows` is true. `None`: it is not even true for the whole.
///
/// `until` may name a turn after which nothing is expected to matter; it saves replays. `budget` says how often `shows` may
/// be asked.
pub fn shrink<'b>(
    session: &Session,
    until: Option<u32>,
    budget: impl Into<Budget<'b>>,
    shows: &mut dyn FnMut(&EditResult) -> bool,
) -> Option<Witness> {
    let budget = budget.into();
    let part = Part::whole(session);
    let edited = edit::part(session, &part);
    if !shows(&edited) {
        return None;
    }
    let mut search = Search { session, shows, part, edited, replays: 1, budget, failed: HashSet::new() };
    if let Some(turn) = until {
        search.attempt(Part::up_to(session, turn));
    }
    for level in [Level::Turns, Level::Calls, Level::Messages] {
        search.halve(level);
    }
    let minimal = search.sweep();
    let Search { part, edited, replays, .. } = search;
    Some(Witness { edited, part, minimal, replays })
}

/// A part in which a stopped call is still stopped: by the same rule, for the same reason. `None`: it is not.
pub fn denial<'b>(
    session: &Session,
    policy: &Arc<Policy>,
    mode: Mode,
    call: u32,
    budget: impl Into<Budget<'b>>,
) -> Option<Witness> {
    let turn = session.calls.get(call as usize)?.at.turn;
    let decided =
        |edited: &EditResult| decision(edited, policy, mode, call).filter(|decided| decided.verdict.stops());
    let whole = edit::part(session, &Part::whole(session));
    let wanted = decided(&whole)?;
    shrink(session, Some(turn), budget, &mut |edited| decided(edited).as_ref() == Some(&wanted))
}

/// A part in which two versions (or, if that is the base, the recording and a version) still decide differently about a
/// call: each by the same rule for the same reason, and as the same kind of change. `None`: they do not differ.
pub fn change<'b>(
    session: &Session,
    comparison: &Comparison,
    mode: Mode,
    call: u32,
    budget: impl Into<Budget<'b>>,
) -> Option<Witness> {
    let turn = session.calls.get(call as usize)?.at.turn;
    let decided = |edited: &EditResult| {
        let index = edited.call(call)?;
        let replay = |policy| Replay::new(&edited.session, policy, mode);
        let (base, new) = (comparison.base().policy().map(replay), replay(comparison.policy()));
        let (theirs, ours) = (base.as_ref().and_then(|base| base.call(index)), new.call(index)?);
        let theirs = theirs.map(|theirs| &theirs.decision);
        let kind = comparison.kind(edited.session.calls.get(index as usize)?, theirs, ours)?;
        Some((kind, theirs.map(Outline::of), Outline::of(&ours.decision)))
    };
    let whole = edit::part(session, &Part::whole(session));
    let wanted = decided(&whole)?;
    shrink(session, Some(turn), budget, &mut |edited| decided(edited).as_ref() == Some(&wanted))
}

/// The same for a call of a choice that was not taken, in which the rest of the choice stays. `None`: they do not
/// differ, or the base is the recording, which has no decision about it.
pub fn change_not_taken<'b>(
    session: &Session,
    comparison: &Comparison,
    mode: Mode,
    at: AlternativeRef,
    budget: impl Into<Budget<'b>>,
) -> Option<(Witness, AlternativeRef)> {
    let base = comparison.base().policy()?;
    let is_meant = |other: &Alternative| other.turn == at.turn && other.choice == at.choice;
    let place = session.alternatives.iter().position(is_meant)?;
    let now = |edited: &EditResult| {
        let other = edited.session.alternatives.get(edited.alternative(place)?)?;
        Some(other.at(at.call))
    };
    let decided = |edited: &EditResult| {
        let at = now(edited)?;
        let decided = |policy: &Arc<Policy>| {
            let replay = Replay::new(&edited.session, policy, mode);
            let other = replay.alternatives(Some(at.turn)).find(|other| other.at() == at)?;
            Some(other.judged.decision.clone())
        };
        let (theirs, ours) = (decided(base)?, decided(comparison.policy())?);
        let kind = comparison.kind_of(&theirs, &ours)?;
        Some((kind, Outline::of(&theirs), Outline::of(&ours)))
    };
    let wanted = decided(&edit::part(session, &Part::whole(session)))?;
    let mut shows = |edited: &EditResult| decided(edited).as_ref() == Some(&wanted);
    let found = shrink(session, Some(at.turn), budget, &mut shows)?;
    let at = now(&found.edited)?;
    Some((found, at))
}

/// The compared parts of two decisions by one version: the verdict, and all findings. A part in which another rule
/// objects as well would still fail once the first one is fixed.
#[derive(Debug, PartialEq, Eq)]
struct Outline {
    verdict: Verdict,
    by: Option<(RuleId, Code)>,
    findings: BTreeSet<(RuleId, &'static str)>,
}

impl Outline {
    fn of(decision: &Decision) -> Outline {
        let by = decision.deciding().map(|finding| (finding.rule, finding.code));
        let findings = decision.findings.iter().map(|finding| (finding.rule, finding.code.as_str()));
        Outline { verdict: decision.verdict, by, findings: findings.collect() }
    }
}

fn decision(edited: &EditResult, policy: &Arc<Policy>, mode: Mode, call: u32) -> Option<Outline> {
    let index = edited.call(call)?;
    Some(Outline::of(&Replay::new(&edited.session, policy, mode).call(index)?.decision))
}

/// The elements that are left out together.
#[derive(Debug, Clone, Copy)]
enum Level {
    Turns,
    Calls,
    Messages,
}

/// Something that can be left out.
#[derive(Debug, Clone, Copy)]
enum Atom {
    Turn(u32),
    Call(u32),
    Message(usize),
    Alternative(usize),
}

struct Search<'s> {
    session: &'s Session,
    shows: &'s mut dyn FnMut(&EditResult) -> bool,
    /// The smallest part so far.
    part: Part,
    edited: EditResult,
    replays: u32,
    budget: Budget<'s>,
    /// Parts that do not show it.
    failed: HashSet<Part>,
}

impl Search<'_> {
    /// Leaves out halves, quarters and so on, as long as it is shown.
    fn halve(&mut self, level: Level) {
        let mut size = self.atoms(level).len().div_ceil(2);
        while size > 0 {
            // The later ones first: the last calls matter least.
            for atoms in self.atoms(level).rchunks(size) {
                self.without(atoms);
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
    }

    /// Tries to leave out each element, until nothing more can be left out. Returns whether that is certain.
    fn sweep(&mut self) -> bool {
        loop {
            let mut smaller = false;
            for level in [Level::Turns, Level::Calls, Level::Messages] {
                for atom in self.atoms(level).into_iter().rev() {
                    match self.without(&[atom]) {
                        Some(left_out) => smaller |= left_out,
                        None => return false,
                    }
                }
            }
            if !smaller {
                return true;
            }
        }
    }

    /// The elements that can be left out.
    fn atoms(&self, level: Level) -> Vec<Atom> {
        let session = self.session;
        match level {
            Level::Turns => {
                let turns = session.turns.iter().map(|turn| turn.number);
                turns.filter(|turn| self.part.has_turn(*turn)).map(Atom::Turn).collect()
            }
            Level::Calls => {
                let calls = session.calls.iter().filter(|call| self.part.has_call(call));
                calls.map(|call| Atom::Call(call.at.index)).collect()
            }
            Level::Messages => {
                let others = session.messages.iter().enumerate().filter(|(place, message)| {
                    let own =
                        !matches!(message.kind, MessageKind::Response(_) | MessageKind::Result(Some(_), _));
                    own && self.part.has_message(*place)
                });
                let beside = 0..session.alternatives.len();
                let beside = beside.filter(|place| self.part.has_alternative(*place));
                let messages = others.map(|(place, _)| Atom::Message(place));
                messages.chain(beside.map(Atom::Alternative)).collect()
            }
        }
    }

    fn without(&mut self, atoms: &[Atom]) -> Option<bool> {
        let mut part = self.part.clone();
        for atom in atoms {
            match atom {
                Atom::Turn(turn) => part.drop_turn(*turn),
                Atom::Call(call) => part.drop_call(*call),
                Atom::Message(message) => part.drop_message(*message),
                Atom::Alternative(place) => part.drop_alternative(*place),
            }
        }
        self.attempt(part)
    }

    /// Keeps a part if it still shows it. `None`: the budget is used up.
    fn attempt(&mut self, part: Part) -> Option<bool> {
        if part == self.part || self.failed.contains(&part) {
            return Some(false);
        }
        if self.replays >= self.budget.replays || (self.budget.over)() {
            return None;
        }
        let edited = edit::part(self.session, &part);
        self.replays += 1;
        let shows = (self.shows)(&edited);
        if shows {
            (self.part, self.edited) = (part, edited);
        } else {
            self.failed.insert(part);
        }
        Some(shows)
    }
}
