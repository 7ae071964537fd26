//! Reading recordings: the counts of real ones, and what damage costs.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::{Path, PathBuf};

use toolgate::diagnostic::Diagnostic;
use toolgate::session::read::{self, Options};
use toolgate::session::{Outcome, Session};

/// What is counted of a folder.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    files: usize,
    sessions: usize,
    calls: usize,
    errors: usize,
    no_result: usize,
    parallel: usize,
    repeated_ids: usize,
}

impl Counts {
    fn add(&mut self, session: &Session) {
        self.sessions += 1;
        self.calls += session.calls.len();
        self.errors += session.calls.iter().filter(|call| call.outcome == Outcome::Error).count();
        self.no_result += session.calls.iter().filter(|call| call.result.is_none()).count();
        self.parallel += session.turns.iter().filter(|turn| turn.calls.len() > 1).count();
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for id in session.calls.iter().filter_map(|call| call.id.as_deref()) {
            *uses.entry(id).or_default() += 1;
        }
        self.repeated_ids += uses.values().filter(|uses| **uses > 1).count();
    }
}

/// Sessions and file diagnostics of some bytes.
fn read(bytes: impl Into<Vec<u8>>) -> (Vec<Session>, Vec<Diagnostic>) {
    let input = Box::new(Cursor::new(bytes.into()));
    let mut reading = read::open("some.json", input, &Options::default()).unwrap();
    let sessions = reading.by_ref().collect();
    (sessions, reading.diagnostics())
}

#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn traces(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces").join(folder);
    if !path.is_dir() {
        println!("skipped: no recordings at ../shared/traces/{folder}");
        return None;
    }
    Some(path)
}

fn count(folder: &Path, format: &str) -> Counts {
    let mut counts = Counts::default();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let file = File::open(&path).unwrap();
        let mut reading =
            read::open(path.to_str().unwrap(), Box::new(BufReader::new(file)), &Options::default()).unwrap();
        assert_eq!(reading.format(), format, "{}", path.display());
        counts.files += 1;
        let mut ids = std::collections::HashSet::new();
        for session in reading.by_ref() {
            counts.add(&session);
            assert!(ids.insert(session.id.clone()), "{} twice", session.id);
        }
    }
    counts
}

/// The table of the recordings' own README.
#[test]
fn real_recordings_have_their_counts() {
    for (folder, format, expected) in [
        ("tau-bench", "tau-bench", [3, 240, 1589, 67, 0, 0, 36]),
        ("openai-chat-tools", "native", [2, 4, 42, 6, 3, 5, 0]),
    ] {
        let Some(path) = traces(folder) else { continue };
        let [files, sessions, calls, errors, no_result, parallel, repeated_ids] = expected;
        let expected = Counts { files, sessions, calls, errors, no_result, parallel, repeated_ids };
        assert_eq!(count(&path, format), expected, "{folder}");
    }
}

#[test]
fn arguments_in_python_notation_are_read() {
    let Some(path) = traces("tau-bench") else { return };
    let bytes = std::fs::read(path.join("retail-assertions-agent-noids.json")).unwrap();
    let (sessions, _) = read(bytes);
    let unread =
        sessions.iter().flat_map(|s| &s.calls).filter(|call| call.arguments.parsed().is_none()).count();
    assert_eq!(unread, 0);
}
