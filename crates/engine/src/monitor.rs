//! What a dialect gives the engine: units, which are immutable, and monitors, which are their running state.
//!
//! A unit is the rules that share one precedence and one state. The engine asks a monitor only about tools that wake
//! its unit, and reports events to it; a monitor never looks back at the recording.

pub mod collections;
pub mod enabler;
pub mod evidence;
pub mod explanation;
pub mod fault;
pub mod finding;
pub mod history;
pub mod options;
pub mod read;
pub mod rule;
pub mod saved;
pub mod sink;
pub mod statement;
pub mod trace;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use rulestep_base::diagnostic::code::Code;
use rulestep_base::session::{Body, CallRef, Facts, Message, Millis, Operation, Outcome, Session};

pub use enabler::{Choice, Digest, Enabler, Enablers, Prospect};
pub use evidence::{CheckedValue, EarlierCall, Effect, effect_word};
pub use explanation::{About, Explain, Explanation, Line, LineState};
pub use fault::{Fault, Stage};
pub use finding::{Check, Finding, StateItem};
pub use history::History;
pub use options::RuleOptions;
pub use read::{AskedCall, Learns, Read};
pub use rule::{Rule, RuleId, Rules, rule_name};
pub use sink::{Depth, Hidden, Reason, Sink, strongest};
pub use statement::{CallPart, Condition, Look, NameTest, Probe, Says, Statement};
pub use trace::Trace;

/// Rules that share one precedence and one running state. Built when a policy is loaded.
///
/// Nothing is answered for a language by default: one that forgets what it reads, what helps or how it resumes does not compile.
pub trait Unit: Send + Sync {
    /// The rules, in the order of their local numbers.
    fn rules(&self) -> &[RuleId];
    /// The meaning of a tool's name to this unit; called once for a name that the rules have, however many runs there
    /// are.
    fn wakes(&self, tool: &str) -> Wakes;
    /// Whether only the names of [`Unit::names`] wake it, so that it need not be asked about any other.
    fn wakes_by_name(&self) -> bool;
    /// The events without a call that its monitors receive. A unit that receives none is started by the first call that
    /// wakes it.
    fn subscriptions(&self) -> SessionEvents;
    /// Whether the monitors receive messages, which are then kept for [`Cx::history`].
    fn reads_history(&self) -> bool;
    /// Whether what it decides may rest on earlier calls.
    fn remembers(&self) -> bool;
    /// Whether it also receives the events of other sessions of the same tree.
    fn sees_tree(&self) -> bool;
    /// Exact tool names that the rules name, for sessions that do not record what was offered.
    fn names(&self, out: &mut Vec<Arc<str>>);
    /// The recorded values that the rules may look at in a session: no other value can change a decision. A unit that leaves
    /// one out has it blanked where a session is redacted.
    fn reads(&self, session: &Session, out: &mut Vec<Read>);
    /// The messages to the model that the author wrote, each with its rule. Published texts are not among them: readers
    /// recognise a refusal by those.
    fn refusal_texts(&self, out: &mut Vec<(Arc<str>, RuleId)>);
    /// The calls that can make this one allowed, whatever happened before; any other call can only count against it.
    fn enablers(&self, call: Prospect<'_>, out: &mut Enablers);
    /// The statements of the rules about tools, as far as other rules can contradict them.
    fn statements(&self, out: &mut Vec<Statement>);
    /// The conditions of the rules on a session's context.
    fn conditions(&self, out: &mut Vec<Condition>);
    /// The values of calls that the rules look at, so that recordings can show which of them exist.
    fn probes(&self, out: &mut Vec<Probe>);
    /// The state before the first turn.
    fn start(self: Arc<Self>, facts: &Arc<Facts>) -> Box<dyn Monitor>;
    /// Restores the state written by [`Monitor::save`]. `None`: the text is not such a state.
    fn resume(self: Arc<Self>, saved: &str) -> Option<Box<dyn Monitor>>;
}

/// The meaning of a tool's name to a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wakes {
    /// Calls of this tool are decided by [`Monitor::decide`], and the tool by [`Monitor::narrow`].
    pub decide: bool,
    /// Outcomes of calls of this tool are reported to [`Monitor::observe`].
    pub observe: Observes,
    /// The unit's own name for the tool, handed back with every question about it.
    pub slot: Slot,
}

/// The events that a unit receives of the calls of a tool. A unit that receives any also receives calls that were
/// stopped or refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Observes {
    /// A call starts.
    pub starts: bool,
    /// A call has its result.
    pub results: bool,
    /// Whether it then looks at the call's arguments; else they may be missing.
    pub arguments: bool,
}

impl Observes {
    /// Everything, or nothing.
    pub fn all(any: bool) -> Observes {
        Observes { starts: any, results: any, arguments: any }
    }

    /// Whether it receives any.
    pub fn any(self) -> bool {
        self.starts || self.results
    }
}

/// The events without a call that a unit receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionEvents {
    /// [`Event::TurnStart`] and [`Event::TurnEnd`] of every turn.
    pub turns: bool,
    /// [`Event::TurnStart`] of the first turn, to set a timer.
    pub first_turn: bool,
    /// [`Event::Operation`].
    pub operations: bool,
    /// [`Event::Message`].
    pub messages: bool,
    /// The current time: [`Cx::now`].
    pub time: bool,
}

/// A unit's own name for a tool (an index, or a set of bits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Slot(pub u64);

/// A call as a monitor sees it.
#[derive(Debug, Clone, Copy)]
pub struct ProposedCall<'a> {
    /// Its place.
    pub at: CallRef,
    /// The tool's name.
    pub tool: &'a str,
    /// The unit's own name for the tool.
    pub slot: Slot,
    /// Its arguments.
    pub arguments: &'a Body,
}

/// An event of a session.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A turn begins.
    TurnStart,
    /// A message was added to the history; for units that read it.
    Message(&'a Message),
    /// An operation on recorded state, between turns.
    Operation(&'a Operation),
    /// A call runs, or may have run.
    Started(ProposedCall<'a>),
    /// A call does not run: stopped here, or refused at the time.
    Stopped(ProposedCall<'a>),
    /// A call has its result. One that is after its turn's end comes between turns.
    Resolved {
        /// The call.
        call: ProposedCall<'a>,
        /// Never [`Outcome::Unknown`].
        outcome: Outcome,
        /// The result's content.
        output: &'a Body,
    },
    /// A timer set with [`Timers::set`] is due.
    Due(u32),
    /// The turn ends.
    TurnEnd {
        /// Calls it proposed.
        proposed: u32,
        /// Its calls that ran.
        started: u32,
    },
}

/// What a monitor may know when it is called.
#[derive(Debug, Clone, Copy)]
pub struct Cx<'a> {
    /// The calls that ran so far.
    pub ran: &'a Trace,
    /// Whether a call that is stopped does not run: in `shadow` decisions are made all the same.
    pub enforcing: bool,
    /// Whether findings of this run are ever wanted; otherwise evidence need not be kept.
    pub want_findings: bool,
    /// The instant: the turn's own time, else the session's, else none. Known if some unit needs the time.
    pub now: Option<Millis>,
    /// The surroundings of the session.
    pub facts: &'a Facts,
    /// The folder of the current call, if it is not the session's.
    pub folder: Option<&'a str>,
    /// All messages before this turn. Empty unless some unit reads history.
    pub history: &'a History,
    /// The turn's own response, once it is known: one message, or several that are one turn. As `history`.
    pub response: &'a [Message],
}

/// The running state of a unit over one session.
pub trait Monitor: Send + Sync {
    /// Forks the monitor.
    fn fork(&self) -> Box<dyn Monitor>;
    /// The whole state as text, from which [`Unit::resume`] makes a monitor that continues as this one would. `None`:
    /// the events have to be replayed instead.
    fn save(&self) -> Option<String>;
    /// Which rules alone refuse the tool for every argument, if it were the turn's first call.
    fn narrow(&self, tool: &str, slot: Slot, cx: &Cx<'_>, out: &mut Hidden<'_>);
    /// The findings and checks for a call. At most one effect above `also`.
    fn decide(&self, call: ProposedCall<'_>, cx: &Cx<'_>, out: &mut Sink<'_>);
    /// Something happened.
    fn observe(&mut self, event: &Event<'_>, cx: &Cx<'_>, timers: &mut Timers<'_>);
    /// The current state, for people: forbidden tools, preconditions, limits, deadlines, recorded state.
    fn state(&self, cx: &Cx<'_>, out: &mut Vec<StateItem>);
    /// The rule that stops the call whatever happens from now on, if one does. `enforced` knows which rules of the unit can
    /// stop anything at all: one that only reports is never the answer.
    fn permanent_denial(
        &self,
        call: ProposedCall<'_>,
        cx: &Cx<'_>,
        enforced: &dyn Fn(usize) -> bool,
    ) -> Option<usize>;
    /// The part of the state that can still matter to decisions about these calls, if no others run. The place of a
    /// call is unknown.
    fn digest(&self, calls: &[ProposedCall<'_>], cx: &Cx<'_>, out: &mut Digest);
    /// The state of the session rules, for rules that speak about sessions.
    fn report(&self, end: End, cx: &Cx<'_>, out: &mut Vec<finding::RuleState>);
}

/// Whether a report is made at the session's end or before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The session is complete.
    Complete,
    /// More calls may come.
    SoFar,
}

/// Where a monitor requests to be woken when the trace has a certain length, so that a deadline costs nothing until
/// then.
pub struct Timers<'a> {
    unit: u32,
    set: &'a mut Vec<Timer>,
    retired: bool,
}

/// A wake-up: when the trace reaches `due` calls, `unit` gets [`Event::Due`] with `id`. If findings are wanted, the
/// unit also decides the call that makes the trace that long, whatever its tool, with [`Monitor::decide`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Timer {
    /// Length of the trace, in calls that ran.
    pub due: u32,
    /// The unit's number in the engine.
    pub unit: u32,
    /// The unit's own number for it.
    pub id: u32,
}

impl<'a> Timers<'a> {
    /// Timers of one unit.
    pub fn new(unit: u32, set: &'a mut Vec<Timer>) -> Self {
        Timers { unit, set, retired: false }
    }

    /// Retires the unit: it allows every call, whatever happens. It receives no more events, and is asked only if every
    /// check is wanted.
    pub fn retire(&mut self) {
        self.retired = true;
    }

    /// Whether the unit rests from now on.
    pub fn retired(&self) -> bool {
        self.retired
    }

    /// Wake me when `due` calls have run.
    pub fn set(&mut self, due: u32, id: u32) {
        self.set.push(Timer { due, unit: self.unit, id });
    }
}
