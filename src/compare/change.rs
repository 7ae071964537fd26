//! One change: its place, both sides, its kind, its origin and its rule.

use std::sync::Arc;

use rulestep_base::diagnostic::Code;
use rulestep_base::session::{AlternativeRef, CallRef};
use rulestep_engine::monitor::RuleId;
use rulestep_engine::monitor::finding::RuleOutcome;
use rulestep_engine::replay::{Replay, Status};
use rulestep_engine::run::{Decision, Verdict};

/// One thing that is different under the new version.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Its place: a call, a turn's start, or the session's end.
    pub at: ChangePlace,
    /// The tool of the call, or the one that is shown or hidden.
    pub tool: Option<Arc<str>>,
    /// The base's side.
    pub base: Stand,
    /// The new version's side.
    pub new: Stand,
    /// Its kind.
    pub kind: Kind,
    /// Whether the versions' histories had parted before.
    pub origin: Origin,
    /// The rule it is about: the one that stops, hides or ends under the stricter version. If both are as strict, and
    /// if a rule's outcome changed, that of the new version if it has one.
    pub rule: Option<RuleAt>,
    /// Under one of the versions the model had seen something else by then than the recording says.
    pub counterfactual: bool,
    /// Whether it is about a tool that the recording neither lists nor calls: it may never have been offered. Such a
    /// change is counted separately and is not a failure.
    pub inferred: bool,
}

/// The place of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangePlace {
    /// At a call.
    Call(CallRef),
    /// At a call of a choice that was not taken.
    Alternative(AlternativeRef),
    /// At the start of a turn, from 1.
    Turn(u32),
    /// At the session's end.
    End,
}

/// One side of a change.
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
        /// Whether it is visible.
        visible: bool,
    },
    /// Whether a rule reports a call that both versions allow.
    Report {
        /// Whether it reports the call.
        reported: bool,
    },
    /// A session's status.
    Session(Status),
    /// The outcome of a session rule; `None` if the version has no such rule.
    Rule(Option<RuleOutcome>),
    /// A session rule is violated without failing the session: it only reports, is in shadow mode, or a person was
    /// asked.
    RuleReported,
}

/// A rule of one of the two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleAt {
    /// The version with the rule.
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

/// Kinds of change, in the order in which they are shown: the most important for a reviewer come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Stopped under the base, allowed now.
    NewlyAllowed,
    /// A person was asked under the base; allowed now.
    NoLongerAsked,
    /// A rule of the base that the new version does not have.
    RuleRemoved,
    /// An edited rule that objects to less.
    RuleWeakened,
    /// An edited rule whose direction is unknown (it may object to more calls or to fewer), or of which only the words
    /// changed.
    RuleEdited,
    /// Allowed under the base, stopped now.
    NewlyBlocked,
    /// Allowed under the base, asked about now.
    NewlyAsked,
    /// Denied under the base, halted now; or asked about under the base, stopped now.
    Harder,
    /// Halted under the base, denied now; or stopped under the base, asked about now.
    Softer,
    /// Stopped under both in the same way, by another rule or with another code, reason or message to the model; or
    /// reported under both by one rule with another code or reason.
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
    /// An edited rule that objects to more, and to nothing less.
    RuleTightened,
    /// A rule that the base does not have.
    RuleAdded,
    /// Allowed under both, and reported by a rule now.
    NewlyReported,
    /// Allowed under both, and reported by a rule under the base alone.
    NoLongerReported,
}

/// Whether a change is the versions' own or follows from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The histories were still the same.
    Primary,
    /// They had parted.
    Downstream,
}

impl Change {
    /// Its group: its kind and its rule.
    pub fn group(&self) -> (Kind, Option<RuleAt>) {
        (self.kind, self.rule)
    }

    /// The side of a version.
    pub fn stand(&self, side: Side) -> Stand {
        match side {
            Side::Base => self.base,
            Side::New => self.new,
        }
    }
}

impl Stand {
    /// The side of a decision about a call; after a halt, with the rule that ended the session.
    pub(super) fn of(decision: &Decision, replay: Option<&Replay>) -> Stand {
        let finding = match decision.verdict {
            Verdict::Allow => None,
            Verdict::Ask | Verdict::Deny | Verdict::Halt => decision.deciding(),
            Verdict::NotReached => replay.and_then(|replay| replay.halt()?.finding.as_ref()),
        };
        Stand {
            answer: Answer::Call(decision.verdict),
            rule: finding.map(|finding| finding.rule),
            code: finding.map(|finding| finding.code),
        }
    }
}

impl ChangePlace {
    /// The turn, if it is at one.
    pub fn turn(self) -> Option<u32> {
        match self {
            ChangePlace::Call(call) => Some(call.turn),
            ChangePlace::Alternative(call) => Some(call.turn),
            ChangePlace::Turn(turn) => Some(turn),
            ChangePlace::End => None,
        }
    }

    /// The call, if it is at one that was chosen.
    pub fn call(self) -> Option<CallRef> {
        match self {
            ChangePlace::Call(call) => Some(call),
            ChangePlace::Alternative(_) | ChangePlace::Turn(_) | ChangePlace::End => None,
        }
    }

    /// The call, if it is at one of a choice that was not taken.
    pub fn alternative(self) -> Option<AlternativeRef> {
        match self {
            ChangePlace::Alternative(call) => Some(call),
            ChangePlace::Call(_) | ChangePlace::Turn(_) | ChangePlace::End => None,
        }
    }
}

impl Answer {
    /// The word of the JSON output and the screen; `None` if a version has no such rule.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Answer::Call(verdict) => Some(verdict.word()),
            Answer::Tool { visible: true } => Some("visible"),
            Answer::Tool { visible: false } => Some("hidden"),
            Answer::Report { reported: true } => Some("report"),
            Answer::Report { reported: false } => Some(Verdict::Allow.word()),
            Answer::Session(status) => Some(status.word()),
            Answer::Rule(outcome) => outcome.map(RuleOutcome::word),
            Answer::RuleReported => Some("reported"),
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
    pub const ALL: [Kind; 19] = [
        Kind::NewlyAllowed,
        Kind::NoLongerAsked,
        Kind::RuleRemoved,
        Kind::RuleWeakened,
        Kind::RuleEdited,
        Kind::NewlyBlocked,
        Kind::NewlyAsked,
        Kind::Harder,
        Kind::Softer,
        Kind::OtherReason,
        Kind::NowReached,
        Kind::NowUnreached,
        Kind::NewlyVisible,
        Kind::NewlyHidden,
        Kind::OutcomeChanged,
        Kind::RuleTightened,
        Kind::RuleAdded,
        Kind::NewlyReported,
        Kind::NoLongerReported,
    ];

    /// Whether it is about the text of a rule, and so about no session.
    pub fn is_of_rules(self) -> bool {
        use Kind::{RuleAdded, RuleEdited, RuleRemoved, RuleTightened, RuleWeakened};
        matches!(self, RuleAdded | RuleEdited | RuleRemoved | RuleTightened | RuleWeakened)
    }

    /// The word of the JSON output and the command line.
    pub fn word(self) -> &'static str {
        match self {
            Kind::NewlyAllowed => "newly_allowed",
            Kind::NoLongerAsked => "no_longer_asked",
            Kind::RuleRemoved => "rule_removed",
            Kind::RuleWeakened => "rule_weakened",
            Kind::RuleEdited => "rule_edited",
            Kind::NewlyBlocked => "newly_blocked",
            Kind::NewlyAsked => "newly_asked",
            Kind::Harder => "harder",
            Kind::Softer => "softer",
            Kind::OtherReason => "other_reason",
            Kind::NowReached => "now_reached",
            Kind::NowUnreached => "now_unreached",
            Kind::NewlyVisible => "newly_visible",
            Kind::NewlyHidden => "newly_hidden",
            Kind::OutcomeChanged => "outcome_changed",
            Kind::RuleTightened => "rule_tightened",
            Kind::RuleAdded => "rule_added",
            Kind::NewlyReported => "newly_reported",
            Kind::NoLongerReported => "no_longer_reported",
        }
    }

    /// Its meaning, for people.
    pub fn meaning(self) -> &'static str {
        match self {
            Kind::NewlyAllowed => "The base stops the call, but now it is allowed",
            Kind::NoLongerAsked => "The base asks a person about the call, but now it is allowed",
            Kind::RuleRemoved => {
                "The new version does not have the rule, whether or not a recording exercises it"
            }
            Kind::RuleWeakened => {
                "The rule was edited and objects to less: its effect or mode is softer, a condition, tool or pattern is gone, or a limit is higher"
            }
            Kind::RuleEdited => {
                "The rule was edited, and its keys do not say whether it is stricter; or only its words are different"
            }
            Kind::NewlyBlocked => "The base allows the call, but now it is stopped",
            Kind::NewlyAsked => "The base allows the call, but now a person is asked",
            Kind::Harder => {
                "The base denies the call, but now it also ends the session (halt); or the base asks a person, but now the call is stopped"
            }
            Kind::Softer => {
                "The base ends the session at the call (halt), but now it is only denied; or the base stops it, but now a person is asked"
            }
            Kind::OtherReason => {
                "Both stop the call, but with a different rule, code or message to the model; or both report it, but with a different code"
            }
            Kind::NowReached => "Under the base the session has ended before the call, but now it is decided",
            Kind::NowUnreached => "The base decides the call, but now the session has ended before it",
            Kind::NewlyVisible => "The base hides the tool, but now it is visible",
            Kind::NewlyHidden => "The base shows the tool, but now it is hidden",
            Kind::OutcomeChanged => {
                "The outcome of a session rule is different, or the status of a session: `fail` (a session rule is violated), `stopped` (a call is stopped), `pass` or `not_exercised` (no rule was checked)"
            }
            Kind::RuleTightened => "The rule was edited and objects to more, and to nothing less",
            Kind::RuleAdded => "The base does not have the rule, whether or not a recording exercises it",
            Kind::NewlyReported => "Both allow the call, but now a rule reports it",
            Kind::NoLongerReported => "Both allow the call, but only under the base a rule reports it",
        }
    }

    /// The kind for two different verdicts about a call.
    pub(super) fn of(base: Verdict, new: Verdict) -> Option<Kind> {
        use Verdict::{Allow, Ask, Deny, Halt, NotReached};
        Some(match (base, new) {
            (Allow, Allow) | (Ask, Ask) | (Deny, Deny) | (Halt, Halt) | (NotReached, NotReached) => {
                return None;
            }
            (NotReached, _) => Kind::NowReached,
            (_, NotReached) => Kind::NowUnreached,
            (Ask, Allow) => Kind::NoLongerAsked,
            (_, Allow) => Kind::NewlyAllowed,
            (Allow, Ask) => Kind::NewlyAsked,
            (Allow, _) => Kind::NewlyBlocked,
            (Deny, Halt) | (Ask, Deny | Halt) => Kind::Harder,
            (Halt, Deny) | (Deny | Halt, Ask) => Kind::Softer,
        })
    }

    /// The version whose rule the change is about, if both have one.
    pub(super) fn side(self) -> Side {
        match self {
            Kind::NewlyAllowed
            | Kind::NoLongerAsked
            | Kind::Softer
            | Kind::NowReached
            | Kind::NewlyVisible
            | Kind::RuleRemoved
            | Kind::NoLongerReported => Side::Base,
            Kind::NewlyBlocked
            | Kind::NewlyAsked
            | Kind::Harder
            | Kind::OtherReason
            | Kind::NowUnreached
            | Kind::NewlyHidden
            | Kind::OutcomeChanged
            | Kind::RuleWeakened
            | Kind::RuleEdited
            | Kind::RuleTightened
            | Kind::RuleAdded
            | Kind::NewlyReported => Side::New,
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
