//! What a call costs under each kind of rule of each dialect, in sessions of 1,000 and of 100,000 calls, and how often an
//! allowed call asks for memory.
//!
//! `cargo bench --bench kinds`. Fails where a call costs more than 1.2 times as much in a long session, or where allowed calls
//! ask for memory: lists that grow with the session may double now and then.

#![expect(clippy::panic, clippy::print_stdout, reason = "a benchmark may fail, and prints")]

#[path = "shared/clock.rs"]
mod clock;
#[path = "shared/kinds.rs"]
mod kinds;

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Kinds whose allowed calls still ask for memory, and how often in 1,000: paths are folded, and calls that were found listed.
const KNOWN: [(&str, usize); 2] = [("sequential_dependency", 500), ("read_before_write", 4_500)];

fn main() {
    let mut bad = Vec::new();
    for kind in kinds::measure(|| MEMORY.stats().allocations + MEMORY.stats().reallocations) {
        let [short, long] = kind.costs;
        let row = format!(
            "{} {}: {short:.0} ns, {long:.0} ns in a long session, {} allocations in 1,000 calls",
            kind.dialect, kind.kind, kind.allocations
        );
        println!("{row}");
        let known = KNOWN.iter().find(|(known, _)| *known == kind.kind).map_or(10, |(_, known)| *known);
        if long > 1.2 * short || kind.allocations > known {
            bad.push(row);
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
