//! Time that this thread was at work, as far as the system says so: others on the same machine then count less.

use std::time::{Duration, Instant};

/// Each number is the median of this many runs.
pub const RUNS: usize = 5;

/// The medians of what is run in turn, so that what slows the machine down slows all of it.
pub fn side_by_side<const N: usize>(mut works: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut times = [(); N].map(|()| Vec::new());
    for _ in 0..RUNS {
        for (work, times) in works.iter_mut().zip(&mut times) {
            let begun = (worked(), Instant::now());
            work();
            times.push(match (begun.0, worked()) {
                (Some(before), Some(after)) => after - before,
                _ => begun.1.elapsed(),
            });
        }
    }
    times.map(median)
}

/// The one in the middle.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// How long this thread has worked; `None` where the system does not say.
fn worked() -> Option<Duration> {
    // The system counts the time of a thread that runs on at every tick, and of one that gives way at once.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
}
