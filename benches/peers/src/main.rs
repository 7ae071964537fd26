//! Runs other evaluators of the same rules beside this one, and writes `docs/benchmarks.md` and its plot:
//!
//! ```sh
//! cargo run --release --manifest-path benches/peers/Cargo.toml
//! ```

#[path = "../../shared/clock.rs"]
mod clock;
#[path = "../../shared/kinds.rs"]
mod kinds;
mod large;
mod page;
mod plot;
mod sequence_rules;

use std::alloc::System;
use std::path::Path;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let rows = sequence_rules::measure();
    let kinds = kinds::measure(|| MEMORY.stats().allocations + MEMORY.stats().reallocations);
    let large = large::measure();
    let page = page::page(&rows, &kinds, &large);
    std::fs::write(docs.join("benchmarks.md"), page).expect("the page can be written");
    std::fs::write(docs.join("benchmarks.svg"), plot::plot(&rows)).expect("the plot can be written");
}
