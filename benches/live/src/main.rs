//! How long an agent waits for a decision in a long session:
//!
//! ```sh
//! cargo build --release --locked
//! cargo run --release --manifest-path benches/live/Cargo.toml -- [--megabytes 10] [--output 2500] [--runs 1000] [--policy VERSION] [--binary FILE]
//! ```
//!
//! First a hook decides one call of a new session, under `contracts/refunds` and under `contracts/coding`, whose rules ask what
//! commands do, and one of a session with a long journal.
//!
//! It makes the journal of a session, with outputs of `--output` bytes on average, and then proposes calls in it and reports their
//! results, each by a process of its own as an agent's hook does. `gate --stdio` then does the same in one process, in a
//! session that is as long. What the machine takes for starting a process and for syncing a file is measured apart.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Rules of three languages; one looks into the results of a tool, another into arguments.
const POLICY: &str = r#"tool: Edit
preconditions: [{requires_prior_tool: Read, resource: {bind_from: arguments, path: $.file_path}, match: any}]
---
tool: deploy
preconditions: [{requires_prior_tool: Bash, with_output: [{path: $.exit_code, equals: 0}]}]
---
rules:
  - {type: before, first: Read, then: Edit}
  - {type: max_calls, tool: deploy, max: 4}
---
forbidden: [{sequence: [deploy, deploy, deploy], action: deny, reason: "cost:row"}]
"#;

struct Options {
    megabytes: f64,
    output: usize,
    runs: usize,
    policy: Option<PathBuf>,
    binary: PathBuf,
}

fn main() {
    let options = options();
    let root = std::env::temp_dir().join(format!("rulestep-live-{}", std::process::id()));
    fs::create_dir_all(&root).expect("a temporary folder can be made");
    let policy = options.policy.clone().unwrap_or_else(|| {
        let path = root.join("policy.yaml");
        fs::write(&path, POLICY).expect("the policy can be written");
        path
    });
    let bench = Bench { options, policy, state: root.join("state") };
    let calls = [bench.journal("claude-code"), bench.journal("host")][0];
    let shipped = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts").join(name);
    println!("{:.1} MB, {calls} calls, {} runs each\n", bench.options.megabytes, bench.options.runs);
    println!("| | median, ms | 99th, ms | slowest, ms |\n|---|--:|--:|--:|");
    row("start a process (`rulestep --version`)", bench.starts());
    row("append 400 bytes to a file and sync it", bench.syncs(&root));
    for name in ["refunds", "coding"] {
        let policy = shipped(name);
        row(&format!("`hook`, cold, `contracts/{name}`"), bench.cold(&policy, None));
        let long = bench.state.join("rulestep/live/claude-code/s.jsonl");
        row(&format!("`hook`, cold, `contracts/{name}`, the journal"), bench.cold(&policy, Some(&long)));
    }
    let (first, proposals, results) = bench.hooks();
    row("`hook`, first event, without an index", vec![first]);
    row("`hook`, a call is decided", proposals);
    row("`hook`, a result is recorded", results);
    for (name, times) in bench.gate() {
        row(&format!("`gate --stdio`, `{name}`"), times);
    }
    fs::remove_dir_all(&root).expect("the temporary folder can be removed");
}

fn options() -> Options {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let binary = root.join("target/release/rulestep");
    let mut options = Options { megabytes: 10.0, output: 2500, runs: 1000, policy: None, binary };
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let value = arguments.next().unwrap_or_else(|| panic!("`{option}` has no value"));
        match option.as_str() {
            "--megabytes" => options.megabytes = value.parse().expect("a number of megabytes"),
            "--output" => options.output = value.parse().expect("a number of bytes"),
            "--runs" => options.runs = value.parse().expect("a number of runs"),
            "--policy" => options.policy = Some(fs::canonicalize(value).expect("a policy")),
            "--binary" => options.binary = value.into(),
            other => panic!("unknown option `{other}`"),
        }
    }
    options
}

/// One line of the table.
fn row(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    println!("| {name} | {:.3} | {:.3} | {:.3} |", at(50), at(99), at(100));
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

struct Bench {
    options: Options,
    policy: PathBuf,
    state: PathBuf,
}

impl Bench {
    /// Writes the journal of a session; gives how many calls it has.
    fn journal(&self, agent: &str) -> usize {
        let mut text = format!(
            "{{\"record\":\"opened\",\"schema\":\"rulestep.live/1\",\"agent\":\"{agent}\",\"session\":\"s\",\"parent\":null,\"at\":1,\"context\":null,\"middle\":null}}\n"
        );
        let (mut calls, mut random) = (0, 1u64);
        while (text.len() as f64) < self.options.megabytes * 1e6 {
            calls += 1;
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Most outputs are short and some are long: here up to eight times the average.
            let part = (random >> 33) as f64 / f64::from(1u32 << 31);
            let length = (self.options.output as f64 * 8.0 * part.powi(7)) as usize;
            let (tool, arguments) = match (random >> 20) % 4 {
                0 => ("Read", format!("{{\"file_path\":\"/src/{}.rs\"}}", calls % 50)),
                1 => (
                    "Edit",
                    format!(
                        "{{\"file_path\":\"/src/{}.rs\",\"new_string\":\"{}\"}}",
                        calls % 50,
                        "x".repeat(length / 4)
                    ),
                ),
                2 => ("Grep", format!("{{\"pattern\":\"p{calls}\"}}")),
                _ => ("Bash", format!("{{\"command\":\"cargo test case_{calls}\"}}")),
            };
            let line = "fn line_of_output() -> Option<usize> { \\\"text\\\" }\\n";
            let output = format!(
                "{{\"exit_code\":{},\"stdout\":\"{}\"}}",
                calls % 2,
                line.repeat(length / line.len())
            );
            let id = format!("toolu_{calls:020}");
            let _ = write!(
                text,
                "{{\"record\":\"turn\",\"at\":{calls},\"transcript\":0}}\n\
                 {{\"record\":\"proposed\",\"id\":\"{id}\",\"tool\":\"{tool}\",\"arguments\":{arguments},\"at\":{calls},\
                 \"decision\":\"allow\",\"mode\":\"enforce\",\"runs\":true,\"findings\":[],\"told\":null,\
                 \"policy\":\"{}\",\"policy_fault\":null,\"took\":1.25}}\n\
                 {{\"record\":\"resolved\",\"id\":\"{id}\",\"outcome\":\"ok\",\"output\":{output},\"at\":{calls}}}\n",
                "0".repeat(64)
            );
        }
        let folder = self.state.join("rulestep/live").join(agent);
        fs::create_dir_all(&folder).expect("the folder of the journals can be made");
        let mut journal = File::create(folder.join("s.jsonl")).expect("the journal can be made");
        // What is still on its way to the disk would be synced with the first records.
        journal
            .write_all(text.as_bytes())
            .and_then(|()| journal.sync_all())
            .expect("the journal can be written");
        calls
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.options.binary);
        command
            .args(arguments)
            .env("XDG_STATE_HOME", &self.state)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command
    }

    fn starts(&self) -> Vec<Duration> {
        let start = || timed(|| drop(self.command(&["--version"]).output().expect("the program runs")));
        (0..self.options.runs.min(200)).map(|_| start()).collect()
    }

    fn syncs(&self, folder: &Path) -> Vec<Duration> {
        let mut file = File::create(folder.join("synced")).expect("a file can be made");
        let mut sync = || {
            file.write_all(&[b'x'; 400]).expect("the file can be written");
            file.sync_data().expect("the file can be synced");
        };
        (0..self.options.runs.min(200)).map(|_| timed(&mut sync)).collect()
    }

    /// The first event that a program sees, each time of a session of its own: a new one, or one with this journal.
    fn cold(&self, policy: &Path, journal: Option<&Path>) -> Vec<Duration> {
        let state = self.state.with_extension("cold");
        let event = r#"{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"new","tool_input":{"command":"git status && ls -la"}}"#;
        let once = || {
            let folder = state.join("rulestep/live/claude-code");
            fs::create_dir_all(&folder).expect("the folder of the journals can be made");
            if let Some(journal) = journal {
                fs::copy(journal, folder.join("s.jsonl")).expect("the journal can be copied");
            }
            let policy = policy.to_string_lossy();
            let mut command = self.command(&["hook", "claude-code", "-p", &policy]);
            command.env("XDG_STATE_HOME", &state);
            let time = timed(|| {
                let mut child = command.spawn().expect("the program runs");
                child.stdin.take().expect("a pipe").write_all(event.as_bytes()).expect("it reads the event");
                let output = child.wait_with_output().expect("it ends");
                assert!(output.status.success() && output.stdout.is_empty(), "allowed: {output:?}");
            });
            fs::remove_dir_all(&state).expect("the folder can be removed");
            time
        };
        (0..self.options.runs.min(100)).map(|_| once()).collect()
    }

    /// The first event, then proposals and results of calls, each by a process of its own.
    fn hooks(&self) -> (Duration, Vec<Duration>, Vec<Duration>) {
        let policy = self.policy.to_string_lossy().into_owned();
        let event = |name: &str, run: usize, rest: &str| {
            let event = format!(
                "{{\"session_id\":\"s\",\"hook_event_name\":\"{name}\",\"tool_name\":\"Read\",\"tool_use_id\":\"new-{run}\",{rest}}}"
            );
            timed(|| {
                let mut child =
                    self.command(&["hook", "claude-code", "-p", &policy]).spawn().expect("the program runs");
                child.stdin.take().expect("a pipe").write_all(event.as_bytes()).expect("it reads the event");
                let output = child.wait_with_output().expect("it ends");
                assert!(
                    output.status.success() && output.stdout.is_empty(),
                    "the call is allowed: {output:?}"
                );
            })
        };
        let first = event("PreToolUse", 0, "\"tool_input\":{}");
        let pairs = (1..=self.options.runs).map(|run| {
            let proposal = event("PreToolUse", run, "\"tool_input\":{\"file_path\":\"/a.rs\"}");
            (proposal, event("PostToolUse", run, "\"tool_response\":{\"content\":\"text\"}"))
        });
        let (proposals, results) = pairs.unzip();
        (first, proposals, results)
    }

    /// The round trips of each operation.
    fn gate(&self) -> [(&'static str, Vec<Duration>); 3] {
        let policy = self.policy.to_string_lossy().into_owned();
        let mut gate = self.command(&["gate", "--stdio", "-p", &policy]).spawn().expect("the program runs");
        let mut requests = gate.stdin.take().expect("a pipe");
        let mut answers = BufReader::new(gate.stdout.take().expect("a pipe"));
        let mut ask = |request: String| {
            let mut answer = String::new();
            let time = timed(|| {
                requests.write_all(format!("{request}\n").as_bytes()).expect("the gate reads");
                answers.read_line(&mut answer).expect("the gate answers");
            });
            assert!(!answer.contains("\"error\"") && !answer.contains("\"runs\":false"), "{answer}");
            time
        };
        ask("{\"op\":\"open\",\"session\":\"s\"}".to_owned());
        let mut times = [("turn", Vec::new()), ("propose", Vec::new()), ("resolve", Vec::new())];
        for run in 0..self.options.runs {
            let rest = [
                String::new(),
                format!(",\"id\":\"new-{run}\",\"tool\":\"Read\",\"arguments\":{{\"file_path\":\"/a.rs\"}}"),
                format!(",\"id\":\"new-{run}\",\"outcome\":\"ok\",\"output\":{{\"content\":\"text\"}}"),
            ];
            for ((op, times), rest) in times.iter_mut().zip(rest) {
                times.push(ask(format!("{{\"op\":\"{op}\",\"session\":\"s\"{rest}}}")));
            }
        }
        drop(requests);
        gate.wait().expect("it ends");
        times
    }
}
