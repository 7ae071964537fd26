//! A conversation that is kept in a folder, a file for each event, is one session, whatever leads to it.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{folder, run};

const STATE: &str = r#"{"id": "c1", "agent": {"kind": "Agent", "llm": {"model": "m"}}, "workspace": {"working_dir": "/w"}, "persistence_dir": "x"}"#;

fn action(n: u32, command: &str) -> Value {
    let (id, response) = (format!("t{n}"), format!("r{n}"));
    let call = json!({"id": id, "name": "terminal", "arguments": json!({"command": command}).to_string()});
    json!({"id": format!("e{n}"), "timestamp": "2026-06-16T05:39:20", "source": "agent", "kind": "ActionEvent",
        "tool_name": "terminal", "tool_call_id": id, "tool_call": call, "llm_response_id": response})
}

fn observation(n: u32) -> Value {
    let content = json!([{"type": "text", "text": "done"}]);
    json!({"id": format!("o{n}"), "timestamp": "2026-06-16T05:39:21", "source": "environment", "kind": "ObservationEvent",
        "tool_name": "terminal", "tool_call_id": format!("t{n}"), "action_id": format!("e{n}"),
        "observation": {"content": content, "is_error": false, "exit_code": 0}})
}

/// Two calls; the second event has more than nine before it, and the files are of several lines.
fn files(root: &str) -> Vec<(String, String)> {
    let said = json!({"id": "m", "timestamp": "2026-06-16T05:39:19", "source": "user", "kind": "MessageEvent",
        "llm_message": {"role": "user", "content": [{"type": "text", "text": "go"}]}});
    let events = [said, action(1, "ls"), observation(1), action(2, "rm x"), observation(2)];
    let events = (0..).zip(events).map(|(n, event)| {
        let text = serde_json::to_string_pretty(&event).unwrap();
        (format!("{root}/events/event-{n:05}-{n:08x}.json"), text)
    });
    let state = (format!("{root}/base_state.json"), STATE.to_owned());
    let aside = (format!("{root}/meta.json"), "{\"title\": \"t\"}".to_owned());
    events.chain([state, aside]).collect()
}

fn kept(files: &[(String, String)]) -> TempDir {
    folder(&files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect::<Vec<_>>())
}

/// The exit code, the sessions' ids with the commands and outcomes of their calls, and what was said.
fn converted(folder: &TempDir, arguments: &[&str]) -> (String, Vec<String>, String) {
    let told = run(folder, &[&["convert"], arguments].concat());
    let (head, said) = told.split_once("--- stderr\n").unwrap();
    let sessions = head.lines().filter(|line| line.starts_with('{')).map(|line| {
        let session: Value = serde_json::from_str(line).unwrap();
        let messages = session["messages"].as_array().unwrap();
        let made = |message: &Value| message["tool_calls"].as_array().cloned().unwrap_or_default();
        let calls = messages.iter().flat_map(made).map(|call| {
            let answered = messages.iter().any(|message| message["tool_call_id"] == call["id"]);
            let arguments = call["function"]["arguments"].to_string();
            format!(
                " {}{}",
                if arguments.contains("rm x") { "rm" } else { "ls" },
                if answered { "" } else { "?" }
            )
        });
        format!("{}:{}", session["id"].as_str().unwrap(), calls.collect::<String>())
    });
    (head.lines().next().unwrap().to_owned(), sessions.collect(), said.to_owned())
}

#[test]
fn its_folder_what_is_above_it_and_each_of_its_files_lead_to_it() {
    let folder = kept(&files("s/a.b"));
    let all: Vec<String> =
        files("s/a.b").into_iter().map(|(name, _)| name).filter(|name| name.contains("/events/")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    for arguments in [
        &["s/a.b"][..],
        &["s"],
        &["."],
        &["s/a.b/events"],
        &["s/a.b/events/event-00002-00000002.json"],
        &["s/a.b/base_state.json"],
        &["s/*/events/*.json"],
        &["s/a.b/../a.b"],
        &all,
    ] {
        let (exit, sessions, said) = converted(&folder, arguments);
        assert_eq!(
            (exit.as_str(), sessions.as_slice()),
            ("exit 0", &["c1: ls rm".to_owned()][..]),
            "{arguments:?} {said}"
        );
        assert!(!said.contains("twice") && !said.contains("skipped"), "{arguments:?} {said}");
    }
    // Another one, and a file beside them.
    let mut both = files("s/a");
    both.extend(files("s/b").into_iter().map(|(name, text)| (name, text.replace("c1", "c2"))));
    both.push((
        "s/log.json".to_owned(),
        r#"{"id": "n", "messages": [{"role": "user", "content": "hello"}]}"#.to_owned(),
    ));
    let (exit, sessions, said) = converted(&kept(&both), &["s"]);
    assert_eq!(
        (exit.as_str(), sessions),
        ("exit 0", vec!["c1: ls rm".to_owned(), "c2: ls rm".into(), "n:".into()]),
        "{said}"
    );
}

#[test]
fn what_is_wrong_with_a_file_is_said_of_it_and_takes_no_other_with_it() {
    for (damage, line, sessions) in [
        ("{\n \"id\": \"e1\",\n \"kind\": ", 3, "c1: rm"),
        ("", 1, "c1: rm"),
        ("\u{0}\u{0}\u{0}", 1, "c1: rm"),
        ("{\"id\": \"e1\"} }", 1, "c1: rm"),
        ("[\n", 2, "c1: rm"),
    ] {
        let mut files = files("s/a");
        files[1].1 = damage.to_owned();
        let (exit, found, said) = converted(&kept(&files), &["s"]);
        assert_eq!((exit.as_str(), found), ("exit 2", vec![sessions.to_owned()]), "{damage:?} {said}");
        let place = format!("s/a/events/event-00001-00000001.json:{line}");
        assert!(said.contains(&place), "{damage:?} {place} {said}");
    }
    // What holds no call loses none.
    let mut state = files("s/a");
    state[5].1 = "{\"id\": ".to_owned();
    let (exit, found, said) = converted(&kept(&state), &["s"]);
    assert_eq!((exit.as_str(), found), ("exit 0", vec!["a: ls rm".to_owned()]), "{said}");
    assert!(said.contains("s/a/base_state.json:1"), "{said}");
}

#[test]
fn an_event_that_is_missing_may_have_been_a_call() {
    for (gone, said) in [(0, "event 0 is missing"), (1, "event 1 is missing"), (3, "event 3 is missing")] {
        let mut files = files("s/a");
        files.remove(gone);
        let (exit, _, told) = converted(&kept(&files), &["s"]);
        assert_eq!(exit, "exit 2", "{told}");
        assert!(told.contains(said), "{told}");
    }
    let mut several = files("s/a");
    several.drain(1..3);
    assert!(converted(&kept(&several), &["s"]).2.contains("events 1 to 2 are missing"));
    let mut last = files("s/a");
    last.remove(4);
    let (exit, sessions, told) = converted(&kept(&last), &["s"]);
    assert_eq!((exit.as_str(), sessions), ("exit 0", vec!["c1: ls rm?".to_owned()]), "{told}");
    let mut without = files("s/a");
    without.remove(5);
    assert_eq!(converted(&kept(&without), &["s"]).1, ["a: ls rm"], "the folder names it");
}

/// What is kept of a conversation is no longer true once one of its files was added or changed.
#[test]
fn what_was_found_is_found_again_until_a_file_of_it_changes() {
    let folder = kept(&files("s/a"));
    let calls = || {
        let told = run(&folder, &["stats", "s", "--format", "json"]);
        let line = told.lines().find(|line| line.starts_with('{')).unwrap().to_owned();
        serde_json::from_str::<Value>(&line).unwrap()["calls"].clone()
    };
    let age = || {
        for entry in std::fs::read_dir(folder.path().join("s/a/events")).unwrap() {
            let file = std::fs::File::options().write(true).open(entry.unwrap().path()).unwrap();
            file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3600)).unwrap();
        }
    };
    age();
    assert_eq!((calls(), calls()), (json!(2), json!(2)));
    std::fs::write(folder.path().join("s/a/events/event-00005-05.json"), action(3, "ls").to_string())
        .unwrap();
    age();
    assert_eq!(calls(), 3);
}
