//! How soon the workbench shows something of a large corpus, how soon it answers keys meanwhile, when all is judged, and how much
//! memory that takes; beside `replay --summary --jobs 2` over the same file:
//!
//! ```sh
//! cargo build --release --locked
//! cargo run --release --manifest-path benches/desk/Cargo.toml -- [--megabytes 2000] [--runs 3] [--corpus FILE] [--binary FILE]
//! ```
//!
//! The corpus is the one of `benches/reading`, in one native recording; `--corpus` takes another recording. The program runs in a
//! pseudo-terminal of 120 columns and 40 rows, and what it writes is read as a terminal does. While it loads, `j` is pressed in the
//! list of sessions every 10 to 30 ms, in a run of its own, and the time is taken until the screen shows the next session open.

#[path = "../../reading/src/corpus.rs"]
#[allow(dead_code, reason = "one of its formats is written, and recordings are not converted")]
mod corpus;
mod terminal;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use terminal::Terminal;

/// A contract that looks into the results of lookups.
const POLICY: &str = "tool: exchange_delivered_order_items\npreconditions:\n  - requires_prior_tool: get_order_details\n    \
    resource: {bind_from: arguments, path: $.order_id}\n    \
    with_output: [{path: $.status, equals: delivered}]\nforbids_after: [exchange_delivered_order_items]\n";

/// What is waited for at most.
const PATIENCE: Duration = Duration::from_secs(600);

struct Options {
    bytes: usize,
    runs: usize,
    corpus: Option<PathBuf>,
    binary: PathBuf,
}

/// What one start of the workbench cost.
struct Visit {
    first_frame: Duration,
    first_session: Duration,
    judged: Duration,
    sessions: usize,
    keys: Vec<Duration>,
    processor: f64,
    megabytes: f64,
}

fn main() {
    let options = options();
    let folder = std::env::temp_dir().join(format!("rulestep-desk-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let policy = folder.join("policy.yaml");
    std::fs::write(&policy, POLICY).expect("the policy can be written");
    let file = options.corpus.clone().unwrap_or_else(|| {
        let made = corpus::write(&corpus::LAYOUTS[0], &corpus::made(), options.bytes, &folder.join("corpus"));
        made.files[0].clone()
    });
    let bytes = std::fs::metadata(&file).expect("the corpus is there").len();
    // From the first run on it is in the page cache.
    replay(&options.binary, &policy, &file);
    let mut visits = Vec::new();
    let mut replays = Vec::new();
    for _ in 0..options.runs {
        let mut one = visit(&options.binary, &policy, &file, &folder, false);
        replays.push(replay(&options.binary, &policy, &file));
        // Another time: each of them opens a session, which takes time from the others.
        one.keys = visit(&options.binary, &policy, &file, &folder, true).keys;
        visits.push(one);
    }
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    print(bytes, &visits, &replays);
}

fn options() -> Options {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut options =
        Options { bytes: 2_000_000_000, runs: 3, corpus: None, binary: root.join("target/release/rulestep") };
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let value = arguments.next().unwrap_or_else(|| panic!("`{option}` has no value"));
        match option.as_str() {
            "--megabytes" => {
                options.bytes = value.parse::<usize>().expect("a number of megabytes") * 1_000_000
            }
            "--runs" => options.runs = value.parse().expect("a number of runs"),
            "--corpus" => options.corpus = Some(value.into()),
            "--binary" => options.binary = value.into(),
            other => panic!("unknown option `{other}`"),
        }
    }
    assert!(options.runs > 0, "one run at least");
    options
}

/// Opens the workbench and waits until everything is judged.
fn visit(binary: &Path, policy: &Path, file: &Path, folder: &Path, with_keys: bool) -> Visit {
    let begun = Instant::now();
    let mut terminal = Terminal::start(binary, policy, file, folder);
    let first_frame = terminal.until(PATIENCE, Terminal::is_drawn) - begun;
    let first_session = terminal.until(PATIENCE, |terminal| terminal.open().is_some()) - begun;
    terminal.press("1");
    let (mut keys, mut open, mut pause) = (Vec::new(), 1, 17);
    let judged = loop {
        if let Some(at) = terminal.wait(Duration::from_millis(10 + pause % 21), Terminal::is_done) {
            break at - begun;
        }
        assert!(begun.elapsed() < PATIENCE, "it never says that everything is judged:\n{}", terminal.text());
        if !with_keys {
            continue;
        }
        // Not in step with anything that the program does.
        pause = (pause * 31 + 11) % 1009;
        let pressed = Instant::now();
        terminal.press("j");
        open += 1;
        keys.push(terminal.until(PATIENCE, |terminal| terminal.open() == Some(open)) - pressed);
    };
    let (processor, megabytes) = (terminal.processor(), terminal.megabytes());
    let sessions = terminal.sessions();
    terminal.end();
    Visit { first_frame, first_session, judged, sessions, keys, processor, megabytes }
}

/// Wall and processor time of `replay`.
fn replay(binary: &Path, policy: &Path, file: &Path) -> (Duration, f64) {
    let (before, begun) = (terminal::children(), Instant::now());
    let mut command = Command::new(binary);
    command.args(["replay", "--summary", "--no-cache", "--jobs", "2", "-q", "-p"]).arg(policy).arg(file);
    let status = command.stdout(Stdio::null()).status();
    let status = status.unwrap_or_else(|error| panic!("{} does not run: {error}", binary.display()));
    assert!(status.code().is_some_and(|code| code < 2), "`replay` fails: {status}");
    (begun.elapsed(), terminal::children() - before)
}

fn print(bytes: u64, visits: &[Visit], replays: &[(Duration, f64)]) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let all = |of: &dyn Fn(&Visit) -> f64| median(visits.iter().map(of).collect());
    let mut keys: Vec<f64> = visits.iter().flat_map(|visit| &visit.keys).map(|time| ms(*time)).collect();
    keys.sort_by(f64::total_cmp);
    let key = |part: f64| {
        keys.get((keys.len() as f64 * part) as usize).or(keys.last()).copied().unwrap_or(f64::NAN)
    };
    let ratios = visits.iter().zip(replays);
    let ratio = median(ratios.map(|(visit, (wall, _))| ms(visit.judged) / ms(*wall)).collect());
    let processor = visits.iter().zip(replays).map(|(visit, (_, processor))| visit.processor / processor);
    println!("{} sessions, {} MB, {} runs; medians\n", visits[0].sessions, bytes / 1_000_000, visits.len());
    println!("| | |\n|---|--:|");
    println!("| first frame | {:.0} ms |", all(&|visit| ms(visit.first_frame)));
    println!("| first session on screen | {:.0} ms |", all(&|visit| ms(visit.first_session)));
    println!("| a key while loading, median of {} | {:.1} ms |", keys.len(), key(0.5));
    println!("| a key while loading, 99th of 100 | {:.1} ms |", key(0.99));
    println!("| a key while loading, slowest | {:.1} ms |", key(1.0));
    println!("| everything judged | {:.1} s |", all(&|visit| visit.judged.as_secs_f64()));
    println!(
        "| `replay --summary --jobs 2` | {:.1} s |",
        median(replays.iter().map(|it| it.0.as_secs_f64()).collect())
    );
    println!("| ratio | {ratio:.2} |");
    println!("| processor time | {:.1} s |", all(&|visit| visit.processor));
    println!("| processor time of `replay` | {:.1} s |", median(replays.iter().map(|it| it.1).collect()));
    println!("| ratio | {:.2} |", median(processor.collect()));
    println!("| peak memory | {:.0} MB |", all(&|visit| visit.megabytes));
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
