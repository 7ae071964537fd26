//! Which commands precede others in recordings. Counts here only name candidates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::claim::Action;
use super::verbs::{is_check, matters};
use crate::explore::inventory::Zone;
use rulestep_base::session::{Call, Outcome, Session};
use rulestep_shell::facts::{self, Role, Table};
use rulestep_shell::reading::{Made, reading};
use rulestep_shell::{Act, Host, Line};

/// Most different actions that are counted, and most of them that get rules.
const ACTIONS: usize = 4096;
const SUBJECTS: usize = 256;
/// Different sets of checks before an action.
const SETS: usize = 1024;

/// Observations of an action.
#[derive(Debug, Default)]
pub struct ActionCounts {
    /// Sessions in which it is known to have succeeded.
    pub sessions: u64,
    /// Sessions in which it ran again after that.
    pub repeated: u64,
}

/// Observations of an action that may get rules.
#[derive(Debug, Default)]
pub struct SubjectCounts {
    /// How often it ran.
    pub calls: u64,
    /// In how many sessions.
    pub sessions: u64,
    /// How often each action had succeeded before.
    pub had: BTreeMap<Action, u64>,
    /// The sessions with it in which each action succeeded.
    pub with: BTreeMap<Action, u64>,
    /// The checks that had succeeded before, and how often just these.
    pub checks: BTreeMap<BTreeSet<Action>, u64>,
    /// How often there were too many different ones.
    pub other_checks: u64,
}

/// Observations over all sessions.
#[derive(Debug, Default)]
pub struct Observations {
    /// Sessions with a command.
    pub sessions: u64,
    /// Every action.
    pub actions: BTreeMap<Action, ActionCounts>,
    /// Those that rules are looked for about.
    pub subjects: BTreeMap<Action, SubjectCounts>,
    /// Sessions in which the second one ran after the first one had succeeded.
    pub after: BTreeMap<(Action, Action), u64>,
    /// Sessions in which a tool wrote a file whose name is known, by tool.
    pub writers: BTreeMap<Arc<str>, u64>,
    /// Sessions with files that are certainly deleted, written; and those with a secret that is read and a host that is reached.
    pub deletes: u64,
    /// See `deletes`.
    pub writes: u64,
    /// See `deletes`.
    pub secrets: u64,
}

/// The state of one session.
#[derive(Default)]
struct Past {
    succeeded: BTreeSet<Action>,
    /// Those of them that succeeded in this session, not only in one that it is forked from.
    made: BTreeSet<Action>,
    ran: BTreeSet<Action>,
    repeated: BTreeSet<Action>,
    after: BTreeSet<(Action, Action)>,
    writers: BTreeSet<Arc<str>>,
    did: Did,
}

/// The certain effects of one call, or one session.
#[derive(Debug, Default, Clone, Copy)]
pub struct Did {
    /// It deletes a file with a known place.
    pub deletes: bool,
    /// It writes one.
    pub writes: bool,
    /// It reads a file that is usually secret.
    pub secret: bool,
    /// It connects to another machine.
    pub reaches: bool,
}

impl Did {
    /// The effects of a line.
    pub fn of(line: &Line) -> Did {
        let mut did = Did::default();
        for touch in line.calls.iter().flat_map(|call| &call.touches) {
            let (zone, secret) = Zone::of(&touch.place);
            let known = zone != Zone::Unknown;
            did.deletes |= known && touch.act == Act::Deletes;
            did.writes |= known && touch.act == Act::Writes;
            did.secret |= secret && touch.act == Act::Reads;
        }
        let is_other = |host: &Host| match host {
            Host::Named(word) => {
                word.known().is_some_and(|name| !matches!(name, "localhost" | "127.0.0.1" | "::1"))
            }
            Host::Elsewhere(_) => true,
            Host::Unknown(_) => false,
        };
        did.reaches = line.calls.iter().flat_map(|call| &call.reaches).any(is_other);
        did
    }

    fn add(&mut self, other: Did) {
        self.deletes |= other.deletes;
        self.writes |= other.writes;
        self.secret |= other.secret;
        self.reaches |= other.reaches;
    }
}

impl Observations {
    /// Adds a session.
    pub fn add(&mut self, session: &Session) {
        let mut past = Past::default();
        for turn in &session.turns {
            let mut succeeded = Vec::new();
            let calls = session.calls_of(turn).iter().filter(|call| call.outcome != Outcome::Refused);
            for call in calls {
                let before = succeeded.len();
                self.call(session, call, &mut past, &mut succeeded);
                if !call.copied {
                    past.made.extend(succeeded.iter().skip(before).cloned());
                }
            }
            // The calls of a response were proposed before its results were known.
            past.succeeded.extend(succeeded);
        }
        self.sessions += u64::from(!past.ran.is_empty());
        for action in &past.made {
            if let Some(counts) = self.counts(action) {
                counts.sessions += 1;
                counts.repeated += u64::from(past.repeated.contains(action));
            }
        }
        for subject in &past.ran {
            if let Some(counts) = self.subjects.get_mut(subject) {
                counts.sessions += 1;
                for other in &past.succeeded {
                    *counts.with.entry(other.clone()).or_default() += 1;
                }
            }
        }
        for pair in past.after {
            *self.after.entry(pair).or_default() += 1;
        }
        for tool in past.writers {
            *self.writers.entry(tool).or_default() += 1;
        }
        self.deletes += u64::from(past.did.deletes);
        self.writes += u64::from(past.did.writes);
        self.secrets += u64::from(past.did.secret && past.did.reaches);
    }

    fn counts(&mut self, action: &Action) -> Option<&mut ActionCounts> {
        if self.actions.len() >= ACTIONS && !self.actions.contains_key(action) {
            return None;
        }
        Some(self.actions.entry(action.clone()).or_default())
    }

    fn call(&mut self, session: &Session, call: &Call, past: &mut Past, succeeded: &mut Vec<Action>) {
        let known = Table::default();
        let line = reading(Made::of(call, &session.facts), &known);
        if call.copied {
            let proven = line.calls.iter().filter(|small| call.outcome == Outcome::Ok && small.proven);
            return succeeded.extend(proven.filter_map(Action::of));
        }
        past.did.add(Did::of(&line));
        if is_writer(&call.tool)
            && line.calls.iter().flat_map(|call| &call.touches).any(|touch| touch.act == Act::Writes)
        {
            past.writers.insert(Arc::clone(&call.tool));
        }
        let actions: Vec<Option<Action>> = line.calls.iter().map(Action::of).collect();
        for (small, action) in line.calls.iter().zip(&actions) {
            let Some(action) = action else { continue };
            // Commands that are known to have succeeded earlier in the line.
            let within = || small.after.iter().filter_map(|at| actions.get(*at)?.as_ref());
            if matters(action) && (self.subjects.len() < SUBJECTS || self.subjects.contains_key(action)) {
                let before: BTreeSet<&Action> = past.succeeded.iter().chain(within()).collect();
                let counts = self.subjects.entry(action.clone()).or_default();
                counts.calls += 1;
                let checks: BTreeSet<Action> =
                    before.iter().filter(|one| is_check(one)).map(|one| (*one).clone()).collect();
                if counts.checks.len() < SETS || counts.checks.contains_key(&checks) {
                    *counts.checks.entry(checks).or_default() += 1;
                } else {
                    counts.other_checks += 1;
                }
                for one in before {
                    *counts.had.entry(one.clone()).or_default() += 1;
                    if matters(one) && one != action {
                        past.after.insert((one.clone(), action.clone()));
                    }
                }
                if past.succeeded.contains(action) {
                    past.repeated.insert(action.clone());
                }
            }
            past.ran.insert(action.clone());
            if call.outcome == Outcome::Ok && small.proven {
                succeeded.push(action.clone());
            }
        }
    }
}

/// Whether a tool is known to write the file that one of its arguments names.
fn is_writer(tool: &str) -> bool {
    facts::tool(tool).is_some_and(|row| row.has(Role::Writes))
}
