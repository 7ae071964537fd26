//! Sessions that were collected twice are counted once, and that is said.

use serde_json::{Value, json};

use super::{CLEAN, ISSUE_REFUND, REFUND_124, folder, run};

/// Two sessions; in `s` one of them is there three times, under other names.
fn collected() -> tempfile::TempDir {
    folder(&[
        ("p/issue_refund.yaml", ISSUE_REFUND),
        ("one/a.json", REFUND_124),
        ("one/b.json", CLEAN),
        ("s/mine/a.json", REFUND_124),
        ("s/mine/b.json", CLEAN),
        ("s/other/a.json", REFUND_124),
        ("s/other/again.json", REFUND_124),
    ])
}

/// The last line of a result, without what names files and says what was left out.
fn last(told: &str) -> Value {
    let line = told.split("--- stderr").next().unwrap().lines().last().unwrap();
    let mut value: Value = serde_json::from_str(line).unwrap();
    forget(&mut value);
    serde_json::from_str(&value.to_string().replace("s/mine/", "one/")).unwrap()
}

fn forget(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("left_out");
            map.values_mut().for_each(forget);
        }
        Value::Array(items) => items.iter_mut().for_each(forget),
        _ => {}
    }
}

#[test]
fn what_was_collected_twice_is_counted_once_in_every_command() {
    let files = collected();
    for command in [
        "replay SESSIONS -p p --format json",
        "replay SESSIONS -p p --summary --format json",
        "replay SESSIONS -p p --summary --format json",
        "coverage SESSIONS -p p --format json",
        "coverage SESSIONS -p p --format json",
        "stats SESSIONS --format json",
        "stats SESSIONS --format json",
        "suggest SESSIONS --min-support 1 --format json",
        "diff SESSIONS -p p -b recorded --format json",
    ] {
        let told = |sessions: &str| {
            let command = command.replace("SESSIONS", sessions);
            run(&files, &command.split(' ').collect::<Vec<_>>())
        };
        let (once, thrice) = (told("one"), told("s"));
        assert_eq!(last(&thrice), last(&once), "{command}");
        let said = "warning: 2 sessions were read again and count once: the same calls, times and ids, as in s/mine/a.json and s/other/a.json\n";
        assert!(thrice.contains(said) && !once.contains("read again"), "{command}: {thrice}");
        assert_eq!(thrice.split('\n').next(), once.split('\n').next(), "{command}");
    }
    let told = run(&files, &["replay", "s", "-p", "p", "--format", "json"]);
    let line = told.split("--- stderr").next().unwrap().lines().last().unwrap();
    let totals: Value = serde_json::from_str(line).unwrap();
    assert_eq!(totals["totals"]["provenance"]["left_out"], json!({"repeated": 2}));
}

/// What is kept of a group of files may hold one of the sessions: it is counted anew, wherever the copy is.
#[test]
fn a_copy_beside_kept_results_is_counted_once() {
    let files = collected();
    let stats = |sessions: &[&str]| {
        last(&run(&files, &[&["stats"], sessions, &["--format", "json"]].concat()))["calls"].clone()
    };
    let once = stats(&["one"]);
    // Kept now, by file and by group; the copies come before it and after it.
    assert_eq!(stats(&["one"]), once);
    for _ in 0..2 {
        assert_eq!(stats(&["s/other", "one"]), once);
        assert_eq!(stats(&["one", "s/other"]), once);
    }
}

/// Without a time or an id of a call, two runs may look alike.
#[test]
fn what_nothing_tells_apart_stays() {
    let plain = r#"{"id": "run", "messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "", "tool_calls": [{"name": "look", "arguments": {}}]}]}"#;
    let files = folder(&[("p.yaml", ISSUE_REFUND), ("s/1.json", plain), ("s/2.json", plain)]);
    let told = run(&files, &["replay", "s", "-p", "p.yaml", "--format", "json"]);
    assert!(!told.contains("read again"), "{told}");
    assert_eq!(last(&told)["totals"]["sessions"], 2, "{told}");
    // They share an identity, and their key is the file and the place in it.
    run(&files, &["export", "s", "-p", "p.yaml", "-o", "out"]);
    let rows = std::fs::read_to_string(files.path().join("out/calls.ndjson")).unwrap();
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!((rows.len(), &rows[0]["session"]), (2, &rows[1]["session"]));
    assert_ne!(rows[0]["session_file"], rows[1]["session_file"]);
}
