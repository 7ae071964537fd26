//! Measures `rulestep replay --summary` beside `serde_json` over the same bytes, in four formats:
//!
//! ```sh
//! cargo build --release --locked
//! cargo run --release --manifest-path benches/reading/Cargo.toml -- [--megabytes 500] [--recordings FOLDER] [--binary FILE]
//! ```
//!
//! The corpus is repeated sessions with ids of their own: of the shape of tau-bench and made here, or those of a folder, in any
//! format that Rulestep reads. It is written to a temporary folder, which is removed afterwards.
//!
//! What is compared runs in turn, and each number is the median of five. Both sides read the files from the page cache, and
//! their time is that of the processor, in the program and in the system.

mod clock;
mod corpus;

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clock::{Cost, median};
use corpus::{Corpus, Layout};
use serde::de::IgnoredAny;
use serde_json::Value;

/// Each number is the median of this many runs.
const RUNS: usize = 5;

/// Contracts that look into the results of lookups.
const POLICY: [&str; 3] =
    ["exchange_delivered_order_items", "return_delivered_order_items", "modify_pending_order_items"];

struct Options {
    bytes: usize,
    recordings: Option<PathBuf>,
    binary: PathBuf,
}

fn main() {
    let options = options();
    let folder = std::env::temp_dir().join(format!("rulestep-reading-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let policy = folder.join("policy");
    write_policy(&policy);
    let sessions = match &options.recordings {
        Some(recordings) => corpus::converted(&options.binary, recordings),
        None => corpus::made(),
    };
    println!(
        "| format | MB | sessions | `Value` | `IgnoredAny` | `--jobs 1` | of `Value` | of `IgnoredAny` | `--jobs 2`, wall |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for layout in corpus::LAYOUTS {
        let corpus = corpus::write(layout, &sessions, options.bytes, &folder.join(layout.name));
        println!("{}", row(&options.binary, &policy, &corpus, layout));
        std::fs::remove_dir_all(&corpus.folder).expect("the corpus can be removed");
    }
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
}

fn options() -> Options {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut options =
        Options { bytes: 500_000_000, recordings: None, binary: root.join("target/release/rulestep") };
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let value = arguments.next().unwrap_or_else(|| panic!("`{option}` has no value"));
        match option.as_str() {
            "--megabytes" => {
                options.bytes = value.parse::<usize>().expect("a number of megabytes") * 1_000_000
            }
            "--recordings" => options.recordings = Some(value.into()),
            "--binary" => options.binary = value.into(),
            other => panic!("unknown option `{other}`"),
        }
    }
    options
}

fn write_policy(folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder can be made");
    for tool in POLICY {
        let text = format!(
            "tool: {tool}\npreconditions:\n  - requires_prior_tool: get_order_details\n    \
             resource: {{bind_from: arguments, path: $.order_id}}\n    \
             with_output: [{{path: $.status, equals: delivered}}]\nforbids_after: [{tool}]\n"
        );
        std::fs::write(folder.join(format!("{tool}.yaml")), text).expect("a contract can be written");
    }
}

/// One format's row of the table.
fn row(binary: &Path, policy: &Path, corpus: &Corpus, layout: &Layout) -> String {
    let mut costs = [const { Vec::new() }; 4];
    for _ in 0..RUNS {
        let works: [&dyn Fn() -> Cost; 4] = [
            &|| clock::own(|| corpus.files.iter().for_each(|file| parse::<Value>(file, layout))),
            &|| clock::own(|| corpus.files.iter().for_each(|file| parse::<IgnoredAny>(file, layout))),
            &|| clock::children(|| replay(binary, policy, &corpus.folder, 1, corpus.sessions)),
            &|| clock::children(|| replay(binary, policy, &corpus.folder, 2, corpus.sessions)),
        ];
        for (work, costs) in works.into_iter().zip(&mut costs) {
            costs.push(work());
        }
    }
    let [value, ignored, one, two] = costs;
    let seconds = |costs: &[Cost], of: fn(&Cost) -> f64| median(costs.iter().map(of).collect());
    let (value, ignored) = (seconds(&value, |it| it.processor), seconds(&ignored, |it| it.processor));
    let processor = seconds(&one, |it| it.processor);
    format!(
        "| {} | {} | {} | {value:.2} s | {ignored:.2} s | {processor:.2} s | {:.2} | {:.2} | {:.2} |",
        layout.name,
        corpus.bytes / 1_000_000,
        corpus.sessions,
        processor / value,
        processor / ignored,
        seconds(&two, |it| it.wall) / seconds(&one, |it| it.wall),
    )
}

/// Parses a file as somebody would who has only `serde_json`: a line at a time where each is a value, else as a whole.
fn parse<T: serde::de::DeserializeOwned>(path: &Path, layout: &Layout) {
    let mut file = File::open(path).expect("the corpus can be read");
    if !layout.by_lines {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).expect("the corpus can be read");
        std::hint::black_box(serde_json::from_slice::<T>(&bytes).expect("the corpus is JSON"));
        return;
    }
    let mut lines = BufReader::with_capacity(1 << 16, file);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).expect("the corpus can be read") > 0 {
        std::hint::black_box(serde_json::from_slice::<T>(&line).expect("each line is JSON"));
        line.clear();
    }
}

/// Runs the program, and makes sure that it judged every session.
fn replay(binary: &Path, policy: &Path, sessions: &Path, jobs: u32, expected: usize) {
    let mut command = Command::new(binary);
    command.args(["replay", "--summary", "--no-cache", "--jobs", &jobs.to_string(), "-q", "-p"]);
    let output = command.arg(policy).arg(sessions).stderr(Stdio::inherit()).output();
    let output = output.unwrap_or_else(|error| panic!("{} does not run: {error}", binary.display()));
    let text = String::from_utf8_lossy(&output.stdout);
    let totals = text.lines().last().unwrap_or_default();
    let judged = totals.split(' ').next().map(|count| count.replace(',', ""));
    let judged = judged.and_then(|count| count.parse::<usize>().ok());
    assert_eq!(judged, Some(expected), "{} does not judge every session: {totals}", binary.display());
}
