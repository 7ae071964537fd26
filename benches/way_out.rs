//! The way out of every stopped call of the samples, under all of their policies at once.
//!
//! `cargo bench --bench way_out`. A person presses a key and waits, so the median must stay under 50 ms.

#![expect(clippy::expect_used, reason = "a benchmark may fail")]

use std::io::Cursor;
use std::sync::{Arc, LazyLock};

use divan::Bencher;
use rulestep::workspace::samples;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_engine::way_out::way_out;
use rulestep_recording::{self as recording, Options};

fn main() {
    divan::main();
}

/// Each replay with the places of its stopped calls.
static STOPPED: LazyLock<Vec<(Replay, u32)>> = LazyLock::new(|| {
    let policy = Policy::load(&samples::policies(), None).policy.expect("the samples load");
    let mut stopped = Vec::new();
    for (name, bytes) in samples::sessions() {
        let reading = recording::open(name.as_str(), Box::new(Cursor::new(bytes)), &Options::default());
        for session in reading.expect("the samples read").map(Arc::new) {
            for call in &session.calls {
                let replay = Replay::new(&session, &policy, Mode::Enforce);
                if replay.call(call.at.index).is_some_and(|decided| decided.decision.verdict.stops()) {
                    stopped.push((replay, call.at.index));
                }
            }
        }
    }
    stopped
});

/// One call after the other, so that the median is that of the calls.
#[divan::bench(sample_count = 500, sample_size = 1)]
fn samples_stopped(bencher: Bencher<'_, '_>) {
    let mut calls = STOPPED.iter().cycle();
    bencher.bench_local(|| calls.next().map(|(replay, call)| way_out(replay, *call)));
}
