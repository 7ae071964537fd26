//! A rule that failed by itself. It panicked, so what it would have said is not known, and nothing passes on its word.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Serialize;

/// A failure inside a rule: a defect of the program, never of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What the rule was doing.
    pub stage: Stage,
    /// The rule's local number. `None`: the rules of the unit keep one state together, and any of them may have failed.
    pub rule: Option<usize>,
    /// The panic's own message, as it was written: it may hold recorded text.
    pub why: Arc<str>,
}

/// What a rule does for the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It makes its state before the first turn.
    Start,
    /// It says what a tool's name means to it.
    Wake,
    /// It says whether a tool is visible.
    Narrow,
    /// It decides a call.
    Decide,
    /// It records what happened.
    Observe,
    /// It lists its state for people.
    State,
    /// It says how it stands over the whole session.
    Report,
    /// It copies its state for another run.
    Fork,
}

/// The message of a panic that nobody gave one.
const UNSAID: &str = "no message";

/// Runs what may panic; the panic's message where it does.
///
/// # Errors
/// `work` panicked. What it has changed by then must not be relied on.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Arc<str>> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| message(&*payload))
}

fn message(payload: &(dyn Any + Send)) -> Arc<str> {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or(UNSAID).into()
}
