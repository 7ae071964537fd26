//! What a piece of work costs.

use std::time::Instant;

/// Seconds.
pub struct Cost {
    /// Of the processors, in programs and in the system for them.
    pub processor: f64,
    /// On the clock.
    pub wall: f64,
}

/// The one in the middle.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Of work that this program does.
pub fn own(work: impl FnOnce()) -> Cost {
    cost(work, [13, 14])
}

/// Of work that programs do for it.
pub fn children(work: impl FnOnce()) -> Cost {
    cost(work, [15, 16])
}

fn cost(work: impl FnOnce(), fields: [usize; 2]) -> Cost {
    let (before, begun) = (ticks(fields), Instant::now());
    work();
    let wall = begun.elapsed().as_secs_f64();
    let processor = match (before, ticks(fields)) {
        (Some(before), Some(after)) => (after - before) as f64 / TICKS,
        _ => wall,
    };
    Cost { processor, wall }
}

/// Linux counts these times in hundredths of a second, whatever its own clock.
const TICKS: f64 = 100.0;

/// The sum of two fields of what Linux says of this process (see `proc_pid_stat(5)`, counted from 0); `None` elsewhere.
fn ticks(fields: [usize; 2]) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the name of the program in brackets, which may hold blanks.
    let rest: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
    fields.into_iter().map(|field| rest.get(field - 2)?.parse::<u64>().ok()).sum()
}
