//! `rulestep convert`.

use insta::assert_snapshot;
use serde_json::Value;

use super::{folder, rulestep, run};

const LOG: &str = include_str!("../../fixtures/sessions/claude-code-stream.jsonl");
const EPISODES: &str = include_str!("../../fixtures/sessions/tau-bench.json");

#[test]
fn to_the_screen_as_json_lines() {
    let folder = folder(&[("a.jsonl", LOG)]);
    assert_snapshot!(run(&folder, &["convert", "a.jsonl"]));
}

#[test]
fn to_a_folder_a_file_for_each_recording() {
    let folder = folder(&[("in/a.jsonl", LOG), ("in/b/c.json", EPISODES)]);
    assert_snapshot!(run(&folder, &["convert", "in", "-o", "out/"]));
    let lines = |path: &str| std::fs::read_to_string(folder.path().join(path)).unwrap().lines().count();
    assert_eq!((lines("out/a.jsonl"), lines("out/b/c.jsonl")), (2, 2));
    let left: Vec<_> =
        folder.path().join("out").read_dir().unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn to_a_file_as_its_name_says() {
    let folder = folder(&[("a.jsonl", LOG), ("b.json", EPISODES)]);
    let told = run(&folder, &["convert", "a.jsonl", "b.json", "-o", "all.json"]);
    assert!(told.contains("4 sessions in 1 file"), "{told}");
    let text = std::fs::read_to_string(folder.path().join("all.json")).unwrap();
    let sessions: Vec<Value> = serde_json::from_str(&text).unwrap();
    let ids: Vec<_> = sessions.iter().map(|session| session["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["5e0b", "toolu_1", "task-4-trial-1", "task-5-trial-1"]);
    // What was written is read as it is.
    let again = rulestep(folder.path(), &["convert", "all.json", "-o", "again.json"]).output().unwrap();
    assert_eq!(again.status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(folder.path().join("again.json")).unwrap(), text);
}

#[test]
fn what_is_read_is_not_written_over_and_nothing_makes_no_file() {
    let folder = folder(&[("a.jsonl", LOG), ("none.json", "{\"a\": 1}")]);
    assert_snapshot!(run(&folder, &["convert", "a.jsonl", "-o", "./a.jsonl"]));
    let told = run(&folder, &["convert", "none.json", "-o", "out.jsonl"]);
    assert!(told.starts_with("exit 2") && !folder.path().join("out.jsonl").exists(), "{told}");
    assert_eq!(std::fs::read_to_string(folder.path().join("a.jsonl")).unwrap(), LOG);
}
