//! Two versions over one session: what changes between them, each with its own state and history.
//!
//! A [`Comparison`] is made once for two versions and asked about any number of sessions, in either mode. Both sides are
//! replayed by the engine, which alone decides; here decisions are only laid side by side. The base may also be the
//! recording itself ([`Base::Recorded`]): what was refused at the time against what the policy decides. A recording says
//! nothing of narrowing or of rules, so only decisions are compared with it, and its changes are exactly the calls whose
//! decision does not agree with the recording (SEMANTICS 2).
//!
//! # Origin
//!
//! The *history* of a version at a moment is what its rules can look at: the calls that ran until then (a call that was
//! recorded as refused runs under no version), whether the session is over, and, where a version reads what was said, the
//! text the model saw in place of results. Results and words of the recording are the same for both versions. A change is
//! *primary* while both histories are the same: the versions judge the same thing differently. It is *downstream* once
//! they have parted:
//!
//! - In `enforce` they part right behind the first call that runs under one version and not under the other, or that ends
//!   the session under one alone. The call itself is primary; later siblings are downstream, since rules see them so.
//! - In `enforce`, and only if one of the versions reads what was said, they part as well where a call is stopped under both
//!   and the model is told something else: in the first turn that begins behind the place of the call's result.
//! - In `shadow` they never part: what the recording says happened, happened under both.
//!
//! A decision is judged by what stood before its call, narrowing by what stood before its turn, an outcome by what stands
//! at the session's end. This looks at both versions alike, so the comparison of B with A is that of A with B with every
//! kind turned around ([`Kind::inverse`]) and every origin kept.
//!
//! # Which rule is which
//!
//! Rules are numbered, and their pointers counted, in each version anew; [`Correspondence`] says which rule of one version is
//! which of the other, by content before place, so a rule that moved because another was inserted is still itself.
//!
//! Nothing here words sentences: changes carry verdicts, codes and rules, and the replays of both sides stand in
//! [`Compared`] for whoever does.

mod rules;
mod session;
mod totals;

use std::collections::HashMap;
use std::sync::Arc;

pub use rules::Correspondence;
pub use totals::{Count, Totals};

use crate::diagnostic::Code;
use crate::engine::{Mode, Verdict};
use crate::monitor::RuleId;
use crate::monitor::finding::RuleOutcome;
use crate::policy::Policy;
use crate::replay::{Replay, Status};
use crate::session::{CallRef, Session};

/// What a new version is compared with.
#[derive(Clone)]
pub enum Base {
    /// Another version.
    Version(Arc<Policy>),
    /// What the recording says was refused at the time.
    Recorded,
}

/// Two versions to be compared over sessions.
pub struct Comparison {
    base: Base,
    new: Arc<Policy>,
    rules: Correspondence,
    same: bool,
}

/// One session under both versions.
pub struct Compared {
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

/// One thing that is otherwise under the new version.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Where: a call, a turn's start, or the session's end.
    pub at: At,
    /// The tool of the call, or the one that is shown or hidden.
    pub tool: Option<Arc<str>>,
    /// What stands under the base.
    pub base: Stand,
    /// What stands under the new version.
    pub new: Stand,
    /// What kind of change.
    pub kind: Kind,
    /// Whether the versions' histories had parted before.
    pub origin: Origin,
    /// The rule it is about: the one that stops, hides or ends under the stricter version. Where both are as strict, and
    /// where a rule's outcome changed, that of the new version if it has one.
    pub rule: Option<RuleAt>,
    /// Under one of the versions the model had seen something else by then than the recording says (SEMANTICS 2, frontier).
    pub counterfactual: bool,
}

/// Where a change stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At {
    /// At a call.
    Call(CallRef),
    /// At the start of a turn, from 1.
    Turn(u32),
    /// At the session's end.
    End,
}

/// What one version makes of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stand {
    /// The answer.
    pub answer: Answer,
    /// The rule that decided so, in this version's numbers: that stopped the call, hides the tool, or ended so. For a call
    /// that is not reached, the one that ended the session.
    pub rule: Option<RuleId>,
    /// Why, as a stable code.
    pub code: Option<Code>,
}

/// The answer of one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A decision about a call. Of the recording: `deny` for a call that was refused, else `allow`.
    Call(Verdict),
    /// Whether a tool is visible.
    Tool {
        /// It is.
        visible: bool,
    },
    /// A session's status.
    Session(Status),
    /// How a rule about the session ended; `None` where the version has no such rule.
    Rule(Option<RuleOutcome>),
}

/// A rule of one of the two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleAt {
    /// Whose it is.
    pub side: Side,
    /// The rule.
    pub rule: RuleId,
}

/// One of the two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The base.
    Base,
    /// The new version.
    New,
}

/// Kinds of change, in the order in which they are shown: what a reviewer must not miss comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Stopped under the base, allowed now.
    NewlyAllowed,
    /// Allowed under the base, stopped now.
    NewlyBlocked,
    /// Denied under the base, halted now.
    Harder,
    /// Halted under the base, denied now.
    Softer,
    /// Stopped under both in the same way, by another rule or for another code, reason or told text.
    OtherReason,
    /// The session was over under the base, and is not now.
    NowReached,
    /// The session is over now, and was not under the base.
    NowUnreached,
    /// A tool that was hidden is visible.
    NewlyVisible,
    /// A tool that was visible is hidden.
    NewlyHidden,
    /// A session's status, or how a rule about it ended.
    OutcomeChanged,
}

/// Whether a change is the versions' own or follows from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The histories were still the same.
    Primary,
    /// They had parted.
    Downstream,
}

impl Base {
    /// The version, unless the base is the recording.
    pub fn policy(&self) -> Option<&Arc<Policy>> {
        match self {
            Base::Version(policy) => Some(policy),
            Base::Recorded => None,
        }
    }
}

impl Comparison {
    /// Of two versions. What both have in common is found here, once.
    pub fn new(base: Base, new: Arc<Policy>) -> Comparison {
        let (rules, same) = match &base {
            Base::Recorded => (Correspondence::default(), false),
            Base::Version(policy) => (Correspondence::of(policy, &new), same(policy, &new)),
        };
        Comparison { base, new, rules, same }
    }

    /// The base.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// The new version.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.new
    }

    /// The version of a side; none where the base is the recording.
    pub fn side(&self, side: Side) -> Option<&Arc<Policy>> {
        match side {
            Side::Base => self.base.policy(),
            Side::New => Some(&self.new),
        }
    }

    /// Which rule is which.
    pub fn rules(&self) -> &Correspondence {
        &self.rules
    }

    /// Whether both versions are one and the same, so that nothing can change.
    pub fn is_same(&self) -> bool {
        self.same
    }

    /// What is otherwise in a session that was replayed already, in one mode, under the base (`None` where that is the
    /// recording) and under the new version: by kind, primary before downstream, then in the order of the session. The
    /// calls cost nothing; for narrowing both sides are played once more.
    pub fn changes(&self, base: Option<&Replay>, new: &Replay) -> Vec<Change> {
        if self.same { Vec::new() } else { session::changes(self, base, new) }
    }

    /// Replays a session under both versions and compares. Where nothing can change, nothing is replayed.
    pub fn session(&self, session: &Arc<Session>, mode: Mode) -> Compared {
        let mut compared =
            Compared { session: Arc::clone(session), mode, base: None, new: None, changes: Vec::new() };
        if !self.same {
            let base = self.base.policy().map(|policy| Box::new(Replay::new(session, policy, mode)));
            let new = Box::new(Replay::new(session, &self.new, mode));
            compared.changes = self.changes(base.as_deref(), &new);
            (compared.base, compared.new) = (base, Some(new));
        }
        compared
    }
}

impl Compared {
    /// The session.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The mode of both sides.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What changed, in the order of [`Comparison::changes`].
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The replay of a side; none of the recording, nor where nothing had to be replayed.
    pub fn replay(&self, side: Side) -> Option<&Replay> {
        match side {
            Side::Base => self.base.as_deref(),
            Side::New => self.new.as_deref(),
        }
    }
}

/// Changes of one kind that are about one rule together, in the order in which they are shown.
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

impl Change {
    /// What it is shown under: its kind and the rule it is about.
    pub fn group(&self) -> (Kind, Option<RuleAt>) {
        (self.kind, self.rule)
    }

    /// What stands under a version.
    pub fn stand(&self, side: Side) -> Stand {
        match side {
            Side::Base => self.base,
            Side::New => self.new,
        }
    }
}

impl At {
    /// The turn, where it is at one.
    pub fn turn(self) -> Option<u32> {
        match self {
            At::Call(call) => Some(call.turn),
            At::Turn(turn) => Some(turn),
            At::End => None,
        }
    }

    /// The call, where it is at one.
    pub fn call(self) -> Option<CallRef> {
        match self {
            At::Call(call) => Some(call),
            At::Turn(_) | At::End => None,
        }
    }
}

impl Answer {
    /// The word of the JSON output and the screen; none where a version has no such rule.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Answer::Call(verdict) => Some(verdict.word()),
            Answer::Tool { visible: true } => Some("visible"),
            Answer::Tool { visible: false } => Some("hidden"),
            Answer::Session(status) => Some(status.word()),
            Answer::Rule(outcome) => outcome.map(RuleOutcome::word),
        }
    }
}

impl Side {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::Base => Side::New,
            Side::New => Side::Base,
        }
    }
}

impl Kind {
    /// Every kind, in the order in which they are shown.
    pub const ALL: [Kind; 10] = [
        Kind::NewlyAllowed,
        Kind::NewlyBlocked,
        Kind::Harder,
        Kind::Softer,
        Kind::OtherReason,
        Kind::NowReached,
        Kind::NowUnreached,
        Kind::NewlyVisible,
        Kind::NewlyHidden,
        Kind::OutcomeChanged,
    ];

    /// The word of the JSON output and the command line.
    pub fn word(self) -> &'static str {
        match self {
            Kind::NewlyAllowed => "newly_allowed",
            Kind::NewlyBlocked => "newly_blocked",
            Kind::Harder => "harder",
            Kind::Softer => "softer",
            Kind::OtherReason => "other_reason",
            Kind::NowReached => "now_reached",
            Kind::NowUnreached => "now_unreached",
            Kind::NewlyVisible => "newly_visible",
            Kind::NewlyHidden => "newly_hidden",
            Kind::OutcomeChanged => "outcome_changed",
        }
    }

    /// The kind of the same change seen from the other version.
    #[must_use]
    pub fn inverse(self) -> Kind {
        match self {
            Kind::NewlyAllowed => Kind::NewlyBlocked,
            Kind::NewlyBlocked => Kind::NewlyAllowed,
            Kind::Harder => Kind::Softer,
            Kind::Softer => Kind::Harder,
            Kind::NowReached => Kind::NowUnreached,
            Kind::NowUnreached => Kind::NowReached,
            Kind::NewlyVisible => Kind::NewlyHidden,
            Kind::NewlyHidden => Kind::NewlyVisible,
            Kind::OtherReason | Kind::OutcomeChanged => self,
        }
    }

    /// Of a call with these decisions, neither the same as the other.
    fn of(base: Verdict, new: Verdict) -> Option<Kind> {
        use Verdict::{Allow, Deny, Halt, NotReached};
        Some(match (base, new) {
            (Allow, Allow) | (Deny, Deny) | (Halt, Halt) | (NotReached, NotReached) => return None,
            (NotReached, _) => Kind::NowReached,
            (_, NotReached) => Kind::NowUnreached,
            (_, Allow) => Kind::NewlyAllowed,
            (Allow, _) => Kind::NewlyBlocked,
            (Deny, Halt) => Kind::Harder,
            (Halt, Deny) => Kind::Softer,
        })
    }

    /// The version whose rule the change is about, where both have one.
    fn side(self) -> Side {
        match self {
            Kind::NewlyAllowed | Kind::Softer | Kind::NowReached | Kind::NewlyVisible => Side::Base,
            Kind::NewlyBlocked
            | Kind::Harder
            | Kind::OtherReason
            | Kind::NowUnreached
            | Kind::NewlyHidden
            | Kind::OutcomeChanged => Side::New,
        }
    }
}

impl Origin {
    /// The word of the JSON output and the screen.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Primary => "primary",
            Origin::Downstream => "downstream",
        }
    }
}

/// Whether two versions cannot differ in anything. A digest stands for texts, so units built by hand have none.
fn same(base: &Arc<Policy>, new: &Arc<Policy>) -> bool {
    let texts = |policy: &Policy| policy.documents().len();
    Arc::ptr_eq(base, new) || (texts(base) > 0 && texts(base) == texts(new) && base.digest() == new.digest())
}
