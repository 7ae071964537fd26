//! What a call costs under each kind of rule, in short and in long sessions. The kinds are those of the dialects' own tables.

use std::sync::Arc;

use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Facts, Origin, Outcome, Session};
use rulestep_engine::dialect::DIALECTS;
use rulestep_engine::monitor::Depth;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay;
use rulestep_engine::run::{Mode, NewCall, Run, Verdict};

use crate::clock;

/// Calls that every measurement plays.
const ALL: usize = 100_000;
/// Calls of a session of each measurement.
const LENGTHS: [usize; 2] = [1_000, ALL];

/// One kind of rule.
pub struct Kind {
    pub dialect: &'static str,
    pub kind: &'static str,
    /// Nanoseconds a call, in sessions of [`LENGTHS`].
    pub costs: [f64; 2],
    /// Of a thousand allowed calls of a run that tells verdicts alone, after as many others: how often memory was asked for.
    pub allocations: usize,
}

/// Every kind of every dialect. `allocations` counts how often memory was asked for so far.
pub fn measure(allocations: impl Fn() -> usize) -> Vec<Kind> {
    let kinds = DIALECTS.iter().flat_map(|dialect| dialect.kinds.iter().map(|kind| (dialect.name, *kind)));
    let sessions = LENGTHS.map(|calls| (0..ALL / calls).map(|_| session(calls)).collect::<Vec<_>>());
    kinds
        .map(|(dialect, (kind, text))| {
            let policy = policy(kind, text);
            // In turn, so that what slows the machine down slows both.
            let [short, long] = &sessions;
            let play = |sessions: &[Session]| {
                for session in sessions {
                    std::hint::black_box(replay::outcomes(session, &policy, Mode::Enforce));
                }
            };
            let costs = clock::side_by_side([&mut || play(short), &mut || play(long)]);
            let costs = costs.map(|time| time.as_nanos() as f64 / ALL as f64);
            Kind { dialect, kind, costs, allocations: allocated(&policy, &allocations) }
        })
        .collect()
}

/// A policy of one file.
pub fn policy(name: &str, text: &str) -> Arc<Policy> {
    let name = format!("{name}.yaml");
    let file =
        PolicyFile { name: name.as_str().into(), relative: name.into(), text: text.into(), named: true };
    let loaded = Policy::load(&[file], None);
    loaded.policy.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// Turns of one call, of `a` and of `b` by turns, about a hundred orders. What calls hold is parsed before any clock starts.
fn session(calls: usize) -> Session {
    let origin = Origin { file: "bench".into(), index: 0, format: "native", line: 1 };
    let mut build = Builder::new("bench", origin);
    build.said("user", Body::text("hello"), None);
    for number in 0..calls {
        let (id, [tool, arguments, output]) = (number.to_string(), call(number));
        build.response(None, Body::MISSING, None);
        build.call(Some(&id), &tool, Body::text(arguments), None);
        build.result(Some(&id), Body::text(output), Mark::default(), None);
    }
    let session = build.finish();
    for call in &session.calls {
        let _ = (call.arguments.value(), call.output.value());
    }
    session
}

/// Tool, arguments and result of a call.
fn call(number: usize) -> [String; 3] {
    let order = number / 2 % 100;
    let tool = if number.is_multiple_of(2) { "a" } else { "b" };
    let arguments = format!(r#"{{"order_id": "ORD-{order}", "path": "/w/file-{order}"}}"#);
    [tool.into(), arguments, r#"{"eligible": true}"#.into()]
}

fn allocated(policy: &Arc<Policy>, allocations: &impl Fn() -> usize) -> usize {
    const MEASURED: usize = 1_000;
    let mut run = Run::new(policy, Mode::Enforce, Depth::Verdict, &Arc::new(Facts::default()));
    let bodies: Vec<(String, Body, Body)> = (0..200)
        .map(|number| {
            let [tool, arguments, output] = call(number);
            let (arguments, output) = (Body::text(arguments), Body::text(output));
            let _ = (arguments.value(), output.value());
            (tool, arguments, output)
        })
        .collect();
    let mut counted = 0;
    for (number, (tool, arguments, output)) in bodies.iter().cycle().take(2 * MEASURED).enumerate() {
        let before = allocations();
        run.begin_turn(None);
        let (ticket, decision) = run.propose(NewCall { tool, arguments });
        if decision.verdict == Verdict::Allow {
            run.resolve(ticket, Outcome::Ok, output);
        }
        run.end_turn();
        if number >= MEASURED && decision.verdict == Verdict::Allow {
            counted += allocations() - before;
        }
    }
    counted
}
