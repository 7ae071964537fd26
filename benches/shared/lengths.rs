//! What a call costs by how many came before it: the same calls in many short sessions and in one long one.
//!
//! Every row plays [`ALL`] calls, in sessions of so many. So each reads, and where it keeps decisions keeps, the same amount
//! of memory, and the rows differ by the length of a session and not by what fits a cache.

use std::sync::Arc;

use divan::{Bencher, counter::ItemsCount};
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Origin, Session};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::{self, Replay};
use rulestep_engine::run::Mode;

/// Calls that a row plays.
pub const ALL: usize = 100_000;

/// Calls of a session, row by row.
pub const LENGTHS: [usize; 4] = [100, 1_000, 10_000, ALL];

/// A policy of one file in which nothing is wrong.
pub fn policy(name: &str, text: &str) -> Arc<Policy> {
    let file = PolicyFile { name: name.into(), relative: name.into(), text: text.into(), named: true };
    let loaded = Policy::load(&[file], None);
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    loaded.policy.expect("the policy is sound")
}

/// Where a session begins.
pub fn builder() -> Builder {
    Builder::new("bench", Origin { file: "bench".into(), index: 0, format: "native", line: 1 })
}

/// Sessions of so many calls each, [`ALL`] together. What their calls hold is parsed before the clock starts.
fn sessions(calls: usize, make: impl Fn(usize) -> Session) -> Vec<Arc<Session>> {
    let made = |_| {
        let session = make(calls);
        assert_eq!(session.calls.len(), calls);
        session.calls.iter().for_each(|call| {
            let _ = (call.arguments.value(), call.output.value());
        });
        Arc::new(session)
    };
    (0..ALL / calls).map(made).collect()
}

/// Plays sessions of so many calls for their verdicts alone.
pub fn play(
    bencher: Bencher<'_, '_>,
    calls: usize,
    make: impl Fn(usize) -> Session,
    policy: &Arc<Policy>,
    mode: Mode,
) {
    let sessions = sessions(calls, make);
    bencher.counter(ItemsCount::new(ALL)).bench(|| {
        for session in divan::black_box(&sessions) {
            divan::black_box(replay::outcomes(session, policy, mode));
        }
    });
}

/// Plays them with every finding, where deadlines are put to their rules as well, and keeps all of it to the end.
pub fn play_whole(
    bencher: Bencher<'_, '_>,
    calls: usize,
    make: impl Fn(usize) -> Session,
    policy: &Arc<Policy>,
    mode: Mode,
) {
    let sessions = sessions(calls, make);
    bencher.counter(ItemsCount::new(ALL)).bench(|| {
        let whole = |session| Replay::new(session, policy, mode);
        divan::black_box(&sessions).iter().map(whole).collect::<Vec<_>>()
    });
}
