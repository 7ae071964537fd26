//! Journals of sessions that are over are removed as a whole, listed, and never while somebody uses them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{fed, live, records};
use crate::cli::folder;

struct State {
    files: TempDir,
    state: TempDir,
}

impl State {
    fn new() -> State {
        State {
            files: folder(&[("p.yaml", "tool: a\npreconditions: [{requires_prior_tool: b}]\n")]),
            state: tempfile::tempdir().unwrap(),
        }
    }

    fn hook(&self, event: &Value) {
        let command = live(self.files.path(), self.state.path(), &["hook", "claude-code", "-p", "p.yaml"]);
        assert!(fed(command, event.to_string().as_bytes()).status.success());
    }

    fn call(&self, session: &str, subagent: Option<&str>) {
        self.hook(
            &json!({"session_id": session, "agent_id": subagent, "hook_event_name": "PreToolUse", "tool_name": "b",
            "tool_input": {}, "tool_use_id": "c"}),
        );
    }

    fn end(&self, session: &str) {
        self.hook(&json!({"session_id": session, "hook_event_name": "SessionEnd"}));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.state.path().join("rulestep/live/claude-code").join(name)
    }

    /// Nothing was written to it for this many days.
    fn age(&self, name: &str, days: u64) {
        let then = SystemTime::now() - Duration::from_secs(days * 24 * 3600 + 60);
        File::options().append(true).open(self.path(name)).unwrap().set_modified(then).unwrap();
    }

    fn prune(&self, flags: &[&str]) -> (i32, String) {
        let arguments = [&["prune", "--older-than", "30d"], flags].concat();
        let output = live(self.files.path(), self.state.path(), &arguments).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }

    fn names(&self) -> Vec<String> {
        let files = fs::read_dir(self.path("")).unwrap();
        let mut names: Vec<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| !name.starts_with("policy-"));
        names.sort();
        names
    }
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

#[test]
fn only_finished_journals_go_with_their_index_and_each_is_listed() {
    let state = State::new();
    for session in ["old", "recent", "open", "used"] {
        state.call(session, None);
    }
    state.call("old", Some("sub"));
    state.call("open", Some("sub"));
    for session in ["old", "recent", "used"] {
        state.end(session);
    }
    for name in ["old", "old.sub", "open", "open.sub", "used"] {
        state.age(&format!("{name}.jsonl"), 31);
    }
    state.age("recent.jsonl", 29);
    let used = File::open(state.path("used.jsonl")).unwrap();
    used.lock().unwrap();
    let before = state.names();
    let bytes: u64 = ["old.jsonl", "old.index", "old.sub.jsonl", "old.sub.index"]
        .iter()
        .map(|name| size(&state.path(name)))
        .sum();

    let (code, told) = state.prune(&["--dry-run"]);
    assert_eq!((code, state.names()), (0, before.clone()), "{told}");
    assert!(told.contains("would remove 2 journals, ") && !told.contains("removed"), "{told}");

    let (code, told) = state.prune(&[]);
    assert_eq!(code, 0, "{told}");
    let gone = ["old.index", "old.jsonl", "old.sub.index", "old.sub.jsonl"];
    let kept: Vec<&String> = before.iter().filter(|name| !gone.contains(&name.as_str())).collect();
    assert_eq!(state.names().iter().collect::<Vec<_>>(), kept);
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[0].starts_with("removed ") && lines[0].ends_with("claude-code/old"), "{told}");
    assert!(lines[1].starts_with("removed ") && lines[1].ends_with("claude-code/old.sub"), "{told}");
    assert_eq!(lines[2], format!("removed 2 journals, {:.1} kB", bytes as f64 / 1e3), "{told}");
    assert!(told.contains("kept 1 journal: in use\n"), "{told}");
    assert!(told.contains("kept 1 journal: written to in the last 30d\n"), "{told}");
    assert!(told.contains("kept 2 journals: of a session without an end"), "{told}");

    // Once nobody uses it, it goes; those without an end go if that is asked for.
    drop(used);
    let (_, told) = state.prune(&["--unfinished"]);
    assert!(told.contains("removed 3 journals, "), "{told}");
    assert_eq!(state.names(), ["recent.index", "recent.jsonl"]);
    let policies = fs::read_dir(state.path("")).unwrap().count() - 2;
    assert_eq!(policies, 1, "the last good version of the policy is no journal");
}

#[test]
fn a_session_that_goes_on_is_not_finished() {
    let state = State::new();
    state.call("s", None);
    state.end("s");
    state.hook(&json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "more"}));
    state.age("s.jsonl", 31);
    assert!(state.prune(&[]).1.contains("kept 1 journal: of a session without an end"));
    // What was cut off was never answered, and is no end.
    let open = State::new();
    open.call("s", None);
    open.end("s");
    let text = fs::read_to_string(open.path("s.jsonl")).unwrap();
    fs::write(open.path("s.jsonl"), text + "{\"record\":\"propo").unwrap();
    open.age("s.jsonl", 31);
    assert!(open.prune(&[]).1.contains("kept 1 journal: of a session without an end"));
}

#[test]
fn an_age_that_cannot_be_read_removes_nothing() {
    let state = State::new();
    state.call("s", None);
    state.end("s");
    for age in ["30", "30x", "-1d", ""] {
        let arguments = ["prune", "--older-than", age];
        let output = live(state.files.path(), state.state.path(), &arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{age}");
    }
    assert_eq!(state.names(), ["s.index", "s.jsonl"]);
}

/// What a process writes that waited for the lock meanwhile is not lost with the file.
#[cfg(unix)]
#[test]
fn who_waits_for_a_journal_that_is_removed_begins_another() {
    let state = State::new();
    state.call("s", None);
    let path = state.path("s.jsonl");
    let held = File::open(&path).unwrap();
    held.lock().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| state.call("s", None));
        std::thread::sleep(Duration::from_millis(300));
        fs::remove_file(state.path("s.index")).unwrap();
        fs::remove_file(&path).unwrap();
        drop(held);
        waiting.join().unwrap();
    });
    let kinds: Vec<Value> = records(&path).into_iter().map(|record| record["record"].clone()).collect();
    assert_eq!(kinds, ["opened", "turn", "proposed"]);
}

#[test]
fn the_state_of_a_run_goes_with_its_journal() {
    let state = State::new();
    state.call("s", None);
    state.end("s");
    fs::write(state.path("s.state"), "a state").unwrap();
    state.age("s.jsonl", 31);
    let bytes: u64 = ["s.jsonl", "s.index", "s.state"].iter().map(|name| size(&state.path(name))).sum();
    let (_, told) = state.prune(&[]);
    assert!(told.contains(&format!("removed 1 journal, {bytes} B")), "{told}");
    assert_eq!(state.names(), [""; 0]);
}
