//! Rejection plans: the cases with known verdicts, what is said of a plan's text, and how plans meet a session.

mod conformance;
mod sessions;
mod texts;
mod words;

use std::io::Cursor;
use std::sync::Arc;

use rulestep_base::session::Session;
use rulestep_engine::dialect::rejection_plans::facts::Plan;
use rulestep_engine::monitor::Check;
use rulestep_engine::policy::{LoadResult, Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_recording::{self as recording, Options};
use serde_json::Value;

fn load(name: &str, text: &str) -> LoadResult {
    let file = PolicyFile { name: name.into(), relative: name.into(), text: text.into(), named: true };
    Policy::load(&[file], None)
}

/// A plan on the tool `act`, which may have warnings.
fn policy(plan: &Value) -> Arc<Policy> {
    let document = serde_json::json!({"tool": "act", "rejectionPlan": plan});
    let loaded = load("plan.json", &document.to_string());
    loaded.policy.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn session(native: &Value) -> Arc<Session> {
    let text = Cursor::new(native.to_string().into_bytes());
    let mut reading = recording::open("session.json", Box::new(text), &Options::default()).unwrap();
    Arc::new(reading.next().unwrap())
}

/// The check of the plan about the last call of a session.
fn check(session: &Arc<Session>, policy: &Arc<Policy>, mode: Mode) -> Check {
    let replay = Replay::new(session, policy, mode);
    let frame = replay.frame(session.turns.len() as u32).unwrap();
    frame.calls.last().unwrap().checks[0].clone()
}

fn facts(check: &Check) -> &Plan {
    check.facts.as_deref().and_then(|facts| facts.downcast_ref()).unwrap()
}
