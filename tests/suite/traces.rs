//! Real recordings, where they are at hand: each is recognised, has the counts of the table in their README, and is the
//! same when it was written in the native form and read again.

mod kept;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use rulestep_base::session::{Call, Outcome, Session};
use rulestep_recording::{self as recording, Options};

use crate::sessions::recorded::traces;
use crate::sessions::written::survives;

/// A folder of recordings of one kind.
struct Folder {
    name: &'static str,
    /// Names of its formats.
    format: &'static str,
    counts: Counts,
    /// Whether the format marks a refused call's result as failed too.
    refusals_are_errors: bool,
}

/// What is counted of a folder.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    files: usize,
    sessions: usize,
    calls: usize,
    /// Results that are marked as failed, those of refused calls among them where the format marks these so.
    errors: usize,
    no_result: usize,
    parallel: usize,
    repeated_ids: usize,
    /// Calls that were refused: no column of the README, but counted by the marks that it tells of.
    refused: usize,
}

/// The README's table, in its order of columns, and behind it the refused calls. Three commands of Claude Code that go on in the
/// background, and one of OpenHands that still ran, count as calls without a result; two of Gemini CLI, two of mini-swe-agent and
/// one in a chat of OpenHands that exited with an error count as failed. The table has none of these.
const FOLDERS: &[Folder] = &[
    row("tau-bench", "tau-bench", [3, 240, 1589, 67, 0, 0, 36], 0),
    row("agentdojo-drift", "agentdojo", [230, 230, 563, 60, 0, 5, 0], 0),
    Folder { refusals_are_errors: true, ..row("claude-code", "claude-code", [9, 9, 248, 10, 7, 36, 0], 5) },
    row("claude-code-edge", "claude-code", [3, 3, 6, 1, 2, 0, 0], 0),
    row("codex-rollout", "codex-rollout", [2, 2, 50, 3, 0, 0, 0], 0),
    row("codex-exec-json", "codex-exec", [3, 3, 2, 0, 0, 0, 0], 0),
    row("gemini-cli", "gemini-cli", [6, 6, 18, 4, 0, 0, 0], 3),
    row("otel", "otel, jaeger", [4, 4, 4, 0, 1, 0, 0], 0),
    row("inspect-ai", "inspect", [3, 7, 4, 0, 0, 0, 0], 0),
    row("mcp-jsonrpc", "mcp", [1, 1, 3, 0, 1, 0, 0], 0),
    row("assay-trace", "assay", [3, 8, 6, 1, 1, 0, 0], 0),
    row("agentfootprint", "agentfootprint", [1, 1, 3, 0, 0, 0, 0], 0),
    row("openai-chat-tools", "native", [2, 4, 42, 7, 3, 5, 0], 0),
    row("openhands-events", "openhands", [1, 1, 4, 0, 1, 0, 0], 0),
    row("swe-agent", "swe-agent", [11, 11, 107, 0, 0, 0, 5], 0),
    row("mini-swe-agent", "mini-swe-agent", [1, 1, 10, 2, 0, 0, 0], 0),
];

const fn row(name: &'static str, format: &'static str, counts: [usize; 7], refused: usize) -> Folder {
    let [files, sessions, calls, errors, no_result, parallel, repeated_ids] = counts;
    let counts = Counts { files, sessions, calls, errors, no_result, parallel, repeated_ids, refused };
    Folder { name, format, counts, refusals_are_errors: false }
}

impl Counts {
    fn add(&mut self, session: &Session) {
        let of = |outcome| session.calls.iter().filter(|call| call.outcome == outcome).count();
        self.sessions += 1;
        self.calls += session.calls.len();
        self.refused += of(Outcome::Refused);
        self.errors += of(Outcome::Error);
        // A call that failed and gave nothing back is both in the README.
        let silent = |call: &&Call| {
            call.result.is_none() || call.outcome == Outcome::Error && call.output.is_missing()
        };
        self.no_result += session.calls.iter().filter(silent).count();
        self.parallel += session.turns.iter().filter(|turn| turn.calls.len() > 1).count();
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for id in session.calls.iter().filter_map(|call| call.id.as_deref()) {
            *uses.entry(id).or_default() += 1;
        }
        self.repeated_ids += uses.values().filter(|uses| **uses > 1).count();
    }
}

/// All files of a folder and the folders in it, in one order.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

#[test]
fn recordings_are_recognised_and_counted_and_survive() {
    for folder in FOLDERS {
        let Some(path) = traces(folder.name) else { continue };
        let mut counts = Counts::default();
        for file in files(&path) {
            let input = Box::new(BufReader::new(File::open(&file).unwrap()));
            let mut reading = recording::open(file.to_str().unwrap(), input, &Options::default()).unwrap();
            let expected = folder.format.split(", ").any(|format| format == reading.format());
            assert!(expected, "{} in {}", reading.format(), file.display());
            counts.files += 1;
            let mut ids = HashSet::new();
            for session in reading.by_ref() {
                counts.add(&session);
                assert!(ids.insert(session.id.clone()), "{} twice in {}", session.id, file.display());
                survives(&session, &file);
            }
        }
        if folder.refusals_are_errors {
            counts.errors += counts.refused;
        }
        assert_eq!(counts, folder.counts, "{}", folder.name);
    }
}
