//! Two versions over one session: what changes between them, each with its own state and history.
//!
//! A [`Comparison`] is made once for two versions and asked about any number of sessions, in either mode. Both sides are
//! replayed by the engine, which alone decides; here decisions are only laid side by side. The base may also be the
//! recording itself ([`Base::Recorded`]): what was refused at the time against what the policy decides. A recording says
//! nothing of narrowing or of rules, so only decisions are compared with it, and its changes are exactly the calls whose
//! decision does not agree with the recording. What a gate decided live ([`Base::Live`]) is a base of that kind: each call has
//! the decision of then, by a policy that may be gone, and histories part where a call runs that did not, or the reverse.
//!
//! # Origin
//!
//! The *history* of a version at a moment is what its rules can look at: the calls that ran until then (a call that was
//! recorded as refused runs under no version), whether the session is over, and, where a version reads what was said, the
//! text the model saw in place of results. Results and words of the recording are the same for both versions. A change is
//! *primary* while both histories are the same: the versions judge the same thing differently. It is *downstream* once
//! they have parted:
//!
//! - In `enforce` they part right after the first call that runs under one version and not under the other, or that ends
//!   the session under one alone. The call itself is primary; later siblings are downstream, since rules see them so.
//! - In `enforce`, and only if one of the versions reads what was said, they part as well where a call runs under neither and
//!   the model sees another text in place of its result: in the first turn that begins after the place of that result.
//! - In `shadow` they never part: what the recording says happened, happened under both.
//!
//! A decision is judged by what was before its call, narrowing by what was before its turn, an outcome by what is
//! at the session's end. This looks at both versions alike, so the comparison of B with A is that of A with B with every
//! kind turned around (`Kind::inverse`) and every origin kept.
//!
//! # Which rule is which
//!
//! Rules are numbered, and their pointers counted, in each version again; [`Correspondence`] says which rule of one version is
//! which of the other, by content before place, so a rule that moved because another was inserted is still itself.
//!
//! Nothing here words sentences: changes carry verdicts, codes and rules, and the replays of both sides are in
//! [`SessionDiff`] for the code that words them.

mod altered;
mod base;
mod change;
pub mod edit;
mod effects;
pub mod live;
mod meaning;
mod rules;
mod session;
mod totals;

use std::collections::HashMap;
use std::sync::Arc;

pub use altered::AlteredRule;
pub use base::Base;
pub use change::{Answer, Change, ChangePlace, Kind, Origin, RuleAt, Side, Stand};
pub use edit::{RuleChange, Subject};
pub use effects::{Effects, Matches};
pub use meaning::Passage;
pub use rules::Correspondence;
pub use totals::{Count, Totals};

use edit::Version;
use meaning::meanings;
use rulestep_base::session::{Call, Session};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::{DecidedCall, Replay};
use rulestep_engine::run::{Decision, Mode};

/// Two versions to be compared over sessions.
pub struct Comparison {
    base: Base,
    new: Arc<Policy>,
    rules: Correspondence,
    same: bool,
    altered: Vec<AlteredRule>,
    edits: Vec<RuleChange>,
}

/// One session under both versions.
pub struct SessionDiff {
    session: Arc<Session>,
    mode: Mode,
    base: Option<Box<Replay>>,
    new: Option<Box<Replay>>,
    changes: Vec<Change>,
}

/// Changes of one kind that are about one rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Group<'a> {
    /// Their kind.
    pub kind: Kind,
    /// Their rule.
    pub rule: Option<RuleAt>,
    /// The changes, in the order of [`Comparison::changes`].
    pub changes: Vec<&'a Change>,
}

impl Comparison {
    /// Compares two versions. Facts about both are computed here, once.
    pub fn new(base: Base, new: Arc<Policy>) -> Comparison {
        let same = base.policy().is_some_and(|base| same(base, &new));
        let Some(old) = base.policy() else {
            let (rules, altered, edits) = (Correspondence::default(), Vec::new(), Vec::new());
            return Comparison { base, new, rules, same, altered, edits };
        };
        let (then, now) = (meanings(old), meanings(&new));
        let rules = Correspondence::between(&then, old, &now, &new);
        let (mut altered, mut edits) = (Vec::new(), Vec::new());
        if !same {
            altered = altered::altered(old, &new, &rules);
            let (then, now) =
                (Version { policy: old, meanings: &then }, Version { policy: &new, meanings: &now });
            edits = edit::changes(then, now, &rules);
        }
        Comparison { base, new, rules, same, altered, edits }
    }

    /// The effects of the edit on rules, by kind, independent of the recordings.
    pub fn edits(&self) -> &[RuleChange] {
        &self.edits
    }

    /// The number of rules edited in this way.
    pub fn edited(&self, kind: Kind) -> u64 {
        self.edits.iter().filter(|edit| edit.kind == kind).count() as u64
    }

    /// The rules that are not the same in both versions.
    pub fn altered(&self) -> &[AlteredRule] {
        &self.altered
    }

    /// The base.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// The new version.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.new
    }

    /// The version of a side; `None` if the base is the recording.
    pub fn side(&self, side: Side) -> Option<&Arc<Policy>> {
        match side {
            Side::Base => self.base.policy(),
            Side::New => Some(&self.new),
        }
    }

    /// The correspondence of rules.
    pub fn rules(&self) -> &Correspondence {
        &self.rules
    }

    /// Whether both versions are one and the same, so that nothing can change.
    pub fn is_same(&self) -> bool {
        self.same
    }

    /// The changes of a session that was replayed already, in one mode, under the base (`None`: the recording) and
    /// under the new version: by kind, primary before downstream, then in the order of the session. The calls cost
    /// nothing; for narrowing both sides are played again.
    pub fn changes(&self, base: Option<&Replay>, new: &Replay) -> Vec<Change> {
        if self.same { Vec::new() } else { session::changes(&self.rules, &self.base, base, new) }
    }

    /// The kind of change for a call, from the base's decision (`None`: the recording) to the new version's; `None`:
    /// both decide the same.
    pub fn kind(&self, call: &Call, base: Option<&Decision>, new: &DecidedCall) -> Option<Kind> {
        match self.base {
            Base::Live => live::kind(call.live.as_deref()?, &new.decision, self.new.rules()),
            Base::Version(_) | Base::Recorded => session::kind(&self.rules, call, base, new),
        }
    }

    /// The same for two decisions about one call, neither of them from a recording.
    pub fn kind_of(&self, base: &Decision, new: &Decision) -> Option<Kind> {
        session::differs(&self.rules, base, new)
    }

    /// Replays a session under both versions and compares. Where nothing can change, nothing is replayed.
    pub fn session(&self, session: &Arc<Session>, mode: Mode) -> SessionDiff {
        if self.same {
            let session = Arc::clone(session);
            return SessionDiff { session, mode, base: None, new: None, changes: Vec::new() };
        }
        self.replayed(Replay::new(session, &self.new, mode))
    }

    /// The same for a session that was replayed under the new version already.
    pub fn replayed(&self, new: Replay) -> SessionDiff {
        let (session, mode) = (Arc::clone(new.session()), new.mode());
        let base = self.base.policy().filter(|_| !self.same);
        let base = base.map(|policy| Box::new(Replay::new(&session, policy, mode)));
        let changes = self.changes(base.as_deref(), &new);
        SessionDiff { session, mode, base, new: Some(Box::new(new)), changes }
    }
}

impl SessionDiff {
    /// The session.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The mode of both sides.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The changes, in the order of [`Comparison::changes`].
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The replay of a side; `None` for the recording, and if nothing had to be replayed.
    pub fn replay(&self, side: Side) -> Option<&Replay> {
        match side {
            Side::Base => self.base.as_deref(),
            Side::New => self.new.as_deref(),
        }
    }
}

/// Groups changes of one kind about one rule, in the order in which they are shown.
pub fn groups(changes: &[Change]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: HashMap<(Kind, Option<RuleAt>), usize> = HashMap::new();
    for change in changes {
        let place = *places.entry(change.group()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.changes.push(change),
            None => groups.push(Group { kind: change.kind, rule: change.rule, changes: vec![change] }),
        }
    }
    groups.sort_by_key(|group| group.kind);
    groups
}

/// Whether two versions cannot differ in anything. A digest identifies texts, so units built by hand have none.
fn same(base: &Arc<Policy>, new: &Arc<Policy>) -> bool {
    let texts = |policy: &Policy| policy.documents().len();
    Arc::ptr_eq(base, new) || (texts(base) > 0 && texts(base) == texts(new) && base.digest() == new.digest())
}
