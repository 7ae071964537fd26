//! Large policies: how long ten thousand contracts take to load, and what a call costs under them.

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;

use rulestep_engine::run::Mode;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Origin, Session};

use crate::clock;

/// Milliseconds to load, and nanoseconds a call in sessions of ten and of a thousand calls.
pub struct Large {
    pub contracts: usize,
    pub load: f64,
    pub short: f64,
    pub long: f64,
}

/// Ten contracts, and ten thousand of which the session concerns the same ten.
pub fn measure() -> [Large; 2] {
    [10, 10_000].map(|contracts| {
        let files: Vec<PolicyFile> = (0..contracts).map(file).collect();
        let load = || Policy::load(&files, None).policy.expect("the policy is sound");
        let policy = load();
        let [loading] = clock::side_by_side([&mut || drop(black_box(load()))]);
        let [short, long] = [10, 1_000].map(|calls| a_call(&policy, calls));
        Large { contracts, load: loading.as_secs_f64() * 1e3, short, long }
    })
}

fn file(number: usize) -> PolicyFile {
    let mut text = String::new();
    let _ = write!(
        text,
        "tool: act_{number}\npreconditions:\n  - requires_prior_tool: check_{number}\n    resource: {{bind_from: arguments, path: \
         $.order_id}}\n    with_output: [{{path: $.eligible, equals: true}}]\nforbids_after: [void_{number}]\n"
    );
    let name: Arc<str> = format!("act_{number:05}.yaml").into();
    PolicyFile { name: Arc::clone(&name), relative: name, text: text.into(), named: true }
}

fn a_call(policy: &Arc<Policy>, calls: usize) -> f64 {
    const ALL: usize = 100_000;
    let sessions: Vec<Session> = (0..ALL / calls).map(|_| session(calls)).collect();
    let [time] = clock::side_by_side([&mut || {
        for session in &sessions {
            black_box(replay::outcomes(black_box(session), policy, Mode::Enforce));
        }
    }]);
    time.as_nanos() as f64 / ALL as f64
}

/// Check an order, act on it, and so on, with the first ten tools.
fn session(calls: usize) -> Session {
    let origin = Origin { file: "bench".into(), index: 0, format: "native", line: 1 };
    let mut build = Builder::new("bench", origin);
    for number in 0..calls {
        let (id, tool) = (number.to_string(), number / 2 % 10);
        let name = if number.is_multiple_of(2) { format!("check_{tool}") } else { format!("act_{tool}") };
        build.response(None, Body::MISSING, None);
        build.call(Some(&id), &name, Body::text(format!(r#"{{"order_id": "ORD-{}"}}"#, number / 2)), None);
        build.result(Some(&id), Body::text(r#"{"eligible": true}"#), Mark::default(), None);
    }
    let session = build.finish();
    for call in &session.calls {
        let _ = (call.arguments.value(), call.output.value());
    }
    session
}
