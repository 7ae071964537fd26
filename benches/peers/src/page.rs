//! The page: what was measured, where, and how to do it again.

use std::fmt::Write as _;
use std::process::Command;

use crate::clock::RUNS;
use crate::kinds::Kind;
use crate::large::Large;
use crate::sequence_rules::Row;

pub fn page(rows: &[Row], kinds: &[Kind], large: &[Large]) -> String {
    let mut page = format!(
        "# Benchmarks

`cargo run --release --manifest-path benches/peers/Cargo.toml` measures all of this and writes this page. It needs a network once,
to fetch the peers.

- Machine: {}, {} CPUs
- Date: {}
- Versions: Rulestep {}, assay-core {}, {}
- Each number is the median of {RUNS} runs. What is compared runs in turn in one process, and the time is that in which the
  thread was at work, so that other programs on the machine count less, though they still share its caches.

## Sequence rules beside Assay

Ten rules on parsed sessions of one call a turn, 100,000 calls a row; nanoseconds a call. Both evaluators say what became of each rule
at the end of a session, and must agree before the clock starts. Assay's evaluator (`evaluate_rules` of the crate `assay-core`, MIT)
reads a whole trace once for each rule and decides no call; Rulestep decides every call on the way, as a gate does. So a rule that
Assay can settle at the first calls of a trace costs it nothing for the rest.

| ten rules | calls in a session | Assay | Rulestep | ratio |
|---|--:|--:|--:|--:|
",
        cpu(),
        std::thread::available_parallelism().map_or(1, usize::from),
        said("date", &["-u", "+%Y-%m-%d"]),
        version("rulestep"),
        version("assay-core"),
        said("rustc", &["--version"]),
    );
    for Row { rules, calls, assay, ours } in rows {
        let _ = writeln!(page, "| {rules} | {calls} | {assay:.1} | {ours:.1} | {:.2} |", ours / assay);
    }
    page += "
![Nanoseconds a call by the length of sessions](benchmarks.svg)

## Every kind of rule

Nanoseconds a call in sessions of 1,000 and of 100,000 calls, and how often 1,000 allowed calls ask for memory once a run that tells
verdicts alone is under way: a list that a rule keeps of its calls doubles now and then. Tool policies still make lists and texts for
single calls. Liquid templates read the whole conversation and are not among them.

| dialect | kind | 1,000 calls | 100,000 calls | ratio | allocations |
|---|---|--:|--:|--:|--:|
";
    for Kind { dialect, kind, costs: [short, long], allocations } in kinds {
        let ratio = long / short;
        let _ =
            writeln!(page, "| {dialect} | {kind} | {short:.0} | {long:.0} | {ratio:.2} | {allocations} |");
    }
    page += "
## Many contracts

Contracts loaded from memory, and a call of one of ten tools under them.

| contracts | load | a call, sessions of 10 | a call, sessions of 1,000 |
|--:|--:|--:|--:|
";
    for Large { contracts, load, short, long } in large {
        let _ = writeln!(page, "| {contracts} | {load:.1} ms | {short:.0} ns | {long:.0} ns |");
    }
    page += "
## What is not compared

Dogwood has no crate on crates.io. PyPI has `dogwood-py`, an unofficial binding of its reference interpreter (Apache-2.0), which its own
page calls experimental. It is not run here, so there are no numbers for it. The publishers of the other policy languages that
Rulestep reads have libraries in JavaScript and Python, or services; none of them is run here either.
";
    page
}

/// The version that was built, from the lock file.
fn version(name: &str) -> String {
    let lock = include_str!("../Cargo.lock");
    let found = lock
        .split(&format!("name = \"{name}\"\nversion = \""))
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    found.unwrap_or("unknown").to_owned()
}

fn cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(|| "unknown processor".to_owned(), |(_, name)| name.to_owned())
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or_else(
        |_| "unknown".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
