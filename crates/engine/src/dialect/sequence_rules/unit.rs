//! One sequence rule as a unit: turns the answers of its kind into findings, checks and outcomes.
//!
//! A [`Kind`] is a small state machine that knows nothing of findings. Each of its functions costs the same however
//! long the session is, except [`Kind::standing`], which lists the calls that it rests on.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use smallvec::SmallVec;

use super::asks::{Copies, Doubts, OnDoubt, Part};
use super::facts::Order;
use super::monitor::{Interventions, RuleMonitor};
use super::operand::{Look, Operand, read_arguments};
use super::when::When;
use crate::dialect::question::Table;
use crate::monitor::finding::RuleOutcome;
use crate::monitor::saved;
use crate::monitor::{
    CallPart, Condition, Cx, Digest, Effect, Enablers, End, Monitor, Probe, Prospect, Read, RuleId,
    RuleOptions, Says, SessionEvents, StateItem, Statement, Timers, Unit, Wakes,
};
use rulestep_base::diagnostic::code::Code;
use rulestep_base::session::{Body, CallRef, Facts, Session};

/// A kind of rule.
pub(super) trait Kind: Send + Sync + 'static {
    /// The state over a session.
    type State: Clone + Send + Sync + Default + Serialize + DeserializeOwned + 'static;
    /// Whether [`Kind::begins`] has something to do.
    const BEGINS: bool = false;
    /// Whether its gate looks at earlier calls.
    const REMEMBERS: bool = true;
    /// The meaning of a tool's name to the rule. Its operands know whether it looks at arguments.
    fn wakes(&self, tool: &str) -> Wakes;
    /// See [`Unit::wakes_by_name`].
    fn wakes_by_name(&self) -> bool {
        true
    }
    /// Exact tool names that the rule has.
    fn names(&self, out: &mut Vec<Arc<str>>);
    /// Its statements about tools.
    fn says(&self, _out: &mut Vec<Says>) {}
    /// The operands, some of which look at arguments.
    fn operands(&self) -> Vec<&Operand> {
        Vec::new()
    }
    /// The objection to a call; for a look without arguments, to every call of the tool.
    fn gate(&self, _state: &Self::State, _look: Look<'_>, _cx: &Cx<'_>) -> Option<Objection> {
        None
    }
    /// See [`Unit::enablers`].
    fn enablers(&self, _call: Prospect<'_>, _out: &mut Enablers) {}
    /// For a refused call: whether it always will be.
    fn is_final(&self, _state: &Self::State, _cx: &Cx<'_>) -> bool {
        false
    }
    /// The part of the state that the gate looks at, for a kind that has a gate.
    fn digest(&self, _state: &Self::State, _cx: &Cx<'_>, _out: &mut Digest) {}
    /// The evidence of an allowed call: the calls that satisfied the rule, or that it counted.
    fn rests(&self, _state: &Self::State, _look: Look<'_>, _cx: &Cx<'_>) -> Support {
        Support::default()
    }
    /// The objection to a call because of events that may be in an unread session.
    fn unseen(&self, _state: &Self::State, _look: Look<'_>) -> Option<Objection> {
        None
    }
    /// A deadline that passes with this call, which no gate could save.
    fn passes(&self, _state: &Self::State, _look: Look<'_>, _cx: &Cx<'_>) -> Option<Objection> {
        None
    }
    /// Before the first turn.
    fn begins(&self, _timers: &mut Timers<'_>) {}
    /// A call runs, or may have run. `place` is its place in the trace, from 1.
    fn started(
        &self,
        state: &mut Self::State,
        look: Look<'_>,
        at: CallRef,
        cx: &Cx<'_>,
        timers: &mut Timers<'_>,
    );
    /// A call has its result.
    fn resolved(&self, _state: &mut Self::State, _look: Look<'_>, _at: CallRef, _ok: bool, _cx: &Cx<'_>) {}
    /// A call that counted as running was refused after all: it never ran.
    fn refused(&self, _state: &mut Self::State, _look: Look<'_>, _at: CallRef, _cx: &Cx<'_>) {}
    /// A timer that was set with this number is due.
    fn due(&self, _state: &mut Self::State, _timer: u32, _cx: &Cx<'_>, _timers: &mut Timers<'_>) {}
    /// Whether the rule is settled: it refuses no call any more, and its outcome cannot change.
    fn is_kept(&self, _state: &Self::State) -> bool {
        false
    }
    /// The rule's current outcome.
    fn standing(&self, state: &Self::State, end: End, cx: &Cx<'_>) -> RuleStanding;
    /// The state to show.
    fn shows(&self, _state: &Self::State, _rule: RuleId, _cx: &Cx<'_>, _out: &mut Vec<StateItem>) {}
}

/// The objection to a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Objection {
    pub code: Code,
    /// The earlier calls it rests on.
    pub found: SmallVec<[CallRef; 4]>,
    /// Calls or steps so far.
    pub count: u64,
    /// The matching part of the call, if the rule asks what calls do.
    pub part: Option<Box<Part>>,
}

/// The evidence of an allowed call.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Support {
    pub found: Vec<CallRef>,
    /// Calls or steps so far.
    pub count: u64,
}

/// A rule's current outcome.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RuleStanding {
    pub outcome: RuleOutcome,
    pub code: Option<Code>,
    pub position: Option<u32>,
    pub calls: Vec<u32>,
    pub count: u64,
}

impl Objection {
    pub fn new(code: Code, found: impl IntoIterator<Item = CallRef>) -> Objection {
        Objection { code, found: found.into_iter().collect(), count: 0, part: None }
    }

    pub fn part(self, part: Option<Part>) -> Objection {
        Objection { part: part.map(Box::new), ..self }
    }

    pub fn count(self, count: u64) -> Objection {
        Objection { count, ..self }
    }
}

impl RuleStanding {
    pub fn as_it_is(outcome: RuleOutcome) -> RuleStanding {
        RuleStanding { outcome, code: None, position: None, calls: Vec::new(), count: 0 }
    }

    pub fn violated(
        code: Code,
        position: Option<CallRef>,
        calls: impl IntoIterator<Item = CallRef>,
    ) -> RuleStanding {
        RuleStanding {
            outcome: RuleOutcome::Violated,
            code: Some(code),
            position: position.map(|call| call.index),
            calls: calls.into_iter().map(|call| call.index).collect(),
            count: 0,
        }
    }

    pub fn count(self, count: u64) -> RuleStanding {
        RuleStanding { count, ..self }
    }
}

/// A rule: its kind, what it asks in facts, and when it applies.
pub(super) struct RuleUnit<K> {
    pub rule: [RuleId; 1],
    pub order: Arc<Order>,
    pub when: Vec<When>,
    pub options: RuleOptions,
    pub doubts: Doubts,
    /// The number of its operands with questions about what calls do.
    pub asking: usize,
    /// The facts about programs and tools.
    pub facts: Table,
    pub kind: K,
}

impl<K> RuleUnit<K> {
    /// Whether a person may be asked about a call for it.
    pub fn may_ask(&self) -> bool {
        let Doubts { unsure, opaque, sweeps } = self.doubts;
        let asks = [opaque, sweeps].iter().any(|response| response.effect() == Effect::Ask);
        self.options.effect == Effect::Ask || unsure == OnDoubt::Ask || asks
    }
}

impl<K: Kind> Unit for RuleUnit<K> {
    fn rules(&self) -> &[RuleId] {
        &self.rule
    }

    fn wakes(&self, tool: &str) -> Wakes {
        let mut wakes = self.kind.wakes(tool);
        let looks = || self.kind.operands().iter().any(|operand| operand.looks());
        wakes.observe.arguments = wakes.observe.any() && looks();
        wakes
    }

    fn wakes_by_name(&self) -> bool {
        self.kind.wakes_by_name() && !self.kind.operands().iter().any(|operand| operand.any_tool)
    }

    fn subscriptions(&self) -> SessionEvents {
        SessionEvents { first_turn: K::BEGINS, ..SessionEvents::default() }
    }

    fn remembers(&self) -> bool {
        K::REMEMBERS
    }

    fn sees_tree(&self) -> bool {
        self.options.tree
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        self.kind.names(out);
    }

    fn reads(&self, session: &Session, out: &mut Vec<Read>) {
        out.extend(self.when.iter().map(|when| Read::Context(Arc::clone(&when.key))));
        let means = |tool: &str| {
            let wakes = self.kind.wakes(tool);
            wakes.decide || wakes.observe.any()
        };
        read_arguments(&self.kind.operands(), means, session, out);
    }

    fn enablers(&self, call: Prospect<'_>, out: &mut Enablers) {
        self.kind.enablers(call, out);
    }

    fn statements(&self, out: &mut Vec<Statement>) {
        let ([rule], mut says) = (self.rule, Vec::new());
        self.kind.says(&mut says);
        let when: Arc<[_]> =
            self.when.iter().map(|when| (Arc::clone(&when.key), when.value.clone())).collect();
        out.extend(says.into_iter().map(|says| Statement { rule, when: Arc::clone(&when), says }));
    }

    fn conditions(&self, out: &mut Vec<Condition>) {
        let [rule] = self.rule;
        out.extend(self.when.iter().map(|when| Condition {
            rule,
            key: Arc::clone(&when.key),
            value: when.value.clone(),
        }));
    }

    fn probes(&self, out: &mut Vec<Probe>) {
        let [rule] = self.rule;
        for operand in self.kind.operands() {
            for (tool, argument) in
                operand.tools.iter().flat_map(|tool| operand.args.iter().map(move |arg| (tool, arg)))
            {
                let (path, condition) = (Arc::clone(&argument.name), argument.asks());
                let argument = argument.clone();
                let look = Arc::new(move |arguments: &Body| argument.look(arguments));
                let tool = Arc::clone(tool);
                out.push(Probe {
                    rule,
                    tool,
                    part: CallPart::Arguments,
                    path,
                    condition,
                    is_required: false,
                    look,
                });
            }
        }
    }

    fn start(self: Arc<Self>, facts: &Arc<Facts>) -> Box<dyn Monitor> {
        let applies = self.when.iter().all(|when| when.allows(facts.context.as_ref()));
        let state = applies.then(K::State::default);
        let lenient = if self.doubts.unsure == OnDoubt::Ask { state.clone() } else { None };
        let copies = vec![Copies::default(); self.asking];
        let past = Interventions::default();
        Box::new(RuleMonitor { state, lenient, swept: None, copies, past, unit: self })
    }

    fn resume(self: Arc<Self>, saved: &str) -> Option<Box<dyn Monitor>> {
        let (state, lenient, swept, copies, past): (_, _, _, Vec<()>, _) = saved::read(saved)?;
        let copies: Vec<Copies> = copies.iter().map(|()| Copies::default()).collect();
        (copies.len() == self.asking)
            .then(|| Box::new(RuleMonitor { state, lenient, swept, copies, past, unit: self }) as _)
    }

    fn reads_history(&self) -> bool {
        false
    }

    fn refusal_texts(&self, _out: &mut Vec<(Arc<str>, RuleId)>) {}
}
