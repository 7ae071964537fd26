//! Faults of rules. The rule panicked, so its answer is unknown, and it allows nothing.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Unit;
use super::explanation::{About, Explain, Explanation, Line, LineState, detail, state};
use rulestep_base::diagnostic::code;
use rulestep_base::wording::Sentence;
use rulestep_base::wording::clean::{self, Marks};

/// Columns that a panic's message may take: it may hold recorded text of any length.
const WHY: usize = 160;
/// The fix: nothing in the policy, and nothing the agent can do.
const WAY_OUT: &str =
    "this is a defect in the program, not in the agent: please report it with the policy and the session";
/// The expectation of a session rule that failed.
const EXPECTED: &str = "the rule can be evaluated for the whole session";

/// A failure inside a rule: a defect of the program, never of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The stage in which the rule failed.
    pub stage: Stage,
    /// The rule's local number. `None`: the rules of the unit share one state, and any of them may have failed.
    pub rule: Option<usize>,
    /// The panic's own message, as it was written: it may hold recorded text.
    pub why: Arc<str>,
}

/// A task of a rule for the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Making its state before the first turn.
    Start,
    /// Giving the meaning of a tool's name.
    Wake,
    /// Deciding whether a tool is visible.
    Narrow,
    /// Deciding a call.
    Decide,
    /// Recording an event.
    Observe,
    /// Listing its state for people.
    State,
    /// Reporting its outcome for the whole session.
    Report,
    /// Forking the monitor.
    Fork,
}

/// A unit that has failed: its state is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostUnit(pub Arc<Fault>);

impl Fault {
    /// The fault of a unit. If the unit has one rule, it can only be that one.
    pub fn of(unit: &dyn Unit, stage: Stage, rule: Option<usize>, why: Arc<str>) -> Arc<Fault> {
        let only = (unit.rules().len() == 1).then_some(0);
        Arc::new(Fault { stage, rule: rule.or(only), why })
    }

    /// What failed and why, in a line.
    #[must_use]
    pub fn sentence(&self) -> String {
        let rule = match self.rule {
            Some(_) => "the rule",
            None => "this rule, or one that shares its state,",
        };
        let stage = match self.stage {
            Stage::Start => "when the session started",
            Stage::Wake => "while it looked up the tool's name",
            Stage::Narrow => "while it checked whether the tool is visible",
            Stage::Decide => "while it checked the call",
            Stage::Observe => "while it recorded what happened",
            Stage::State => "while it listed its state",
            Stage::Report => "while it checked the whole session",
            Stage::Fork => "while its state was copied",
        };
        format!("{rule} failed {stage}: {}", self.why())
    }

    /// As data.
    #[must_use]
    pub fn data(&self) -> Value {
        json!({"stage": self.stage, "why": self.why()})
    }

    /// The panic's own message, on one line, cut and safe.
    fn why(&self) -> String {
        clean::fit(&self.why, WHY, Marks::Unicode).text()
    }
}

impl Explain for Fault {
    fn explain(&self, about: &About<'_>) -> Explanation {
        Explanation {
            // The only expectation of a call is that it is checked.
            expected: about.ran.is_some().then(|| Sentence::new(EXPECTED)),
            way_out: Some(Sentence::new(WAY_OUT)),
            ..Explanation::new(about, self.sentence())
        }
    }

    fn data(&self) -> Map<String, Value> {
        detail(&Fault::data(self))
    }
}

impl Explain for LostUnit {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let sentence = self.0.sentence();
        let mut line = Line::new(code::RULE_FAULT.as_str());
        (line.state, line.lines) = (LineState::Bad, vec![Line::new(&*sentence)]);
        Explanation { lines: vec![line], ..Explanation::new(about, sentence) }
    }

    fn data(&self) -> Map<String, Value> {
        state("fault", &json!({"fault": self.0.data()}))
    }
}

/// The message of a panic without one.
const UNSAID: &str = "no message";

/// Runs what may panic; returns the panic's message.
///
/// # Errors `work` panicked. Its changes up to then must not be relied on.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Arc<str>> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| message(&*payload))
}

fn message(payload: &(dyn Any + Send)) -> Arc<str> {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or(UNSAID).into()
}
