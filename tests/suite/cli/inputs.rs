//! What was named and cannot be read, or keeps waiting: told, and never taken for a recording in which nothing was stopped.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use insta::assert_snapshot;
use rstest::rstest;

use super::{CLEAN, ISSUE_REFUND, REFUND_124, folder, rulestep, run, seen};

const DAMAGED: &str = "{\"role\": \"user\", \"content\": \"refund it\"}
{\"role\": \"assistant\", \"tool_calls\": [{\"function\": {\"name\": \"issue_refund\"
{\"role\": \"assistant\", \"tool_calls\": [{\"function\": {\"name\": \"issue_r
";
const UNKNOWN: &str = r#"{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "steps": [{"tool": "issue_refund"}]}]}"#;
const BLOCK: &str = r#"{"type": "assistant", "sessionId": "s", "uuid": "u", "message": {"role": "assistant", "id": "m", "content": [{"type": "tool_use_v2", "id": "t", "name": "issue_refund"}]}}"#;

/// Without a call that could be read, something lost makes the run fail; beside a call that is stopped, that is said first.
#[rstest]
#[case(&["damaged.jsonl"], 2)]
#[case(&["unknown.json"], 2)]
#[case(&["block.jsonl"], 2)]
#[case(&["clean.json"], 0)]
#[case(&["clean.json", "damaged.jsonl"], 2)]
#[case(&["clean.json", "unknown.json"], 2)]
#[case(&["stopped.json"], 1)]
#[case(&["stopped.json", "damaged.jsonl"], 1)]
#[case(&["clean.json", "folder"], 0)]
#[case(&["clean.json", "cut"], 2)]
fn what_could_not_be_read_is_no_success(#[case] named: &[&str], #[case] expected: i32) {
    let folder = folder(&[
        ("contracts/issue_refund.yaml", ISSUE_REFUND),
        ("damaged.jsonl", DAMAGED),
        ("unknown.json", UNKNOWN),
        ("block.jsonl", BLOCK),
        ("clean.json", CLEAN),
        ("stopped.json", REFUND_124),
        ("folder/package.json", "{\"name\": \"app\", \"version\": \"1\"}"),
        ("folder/config.toml", "[package]\nname = \"app\"\n"),
        ("folder/people.json", "[{\"name\": \"Bo\", \"role\": \"admin\"}]"),
        ("cut/session.json", "{\"messages\": [{\"role\": \"user\""),
    ]);
    for verb in [&["replay"][..], &["replay", "--summary"], &["replay", "--mode", "shadow"]] {
        let output = rulestep(folder.path(), &[verb, named].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(expected), "{verb:?} {}", seen(&output));
    }
    let compared = rulestep(folder.path(), &[&["diff", "-b", "contracts"], named].concat()).output().unwrap();
    let none = if expected == 1 { 2 * i32::from(named.len() > 1) } else { expected };
    assert_eq!(compared.status.code(), Some(none), "{}", seen(&compared));
}

const ASKED: &str = r#""request": {"model": "m", "messages": [{"role": "user", "content": "refund it"}]}"#;

/// What a recording lost decides the exit code, and no phrase does.
#[rstest]
#[case::no_choice(&format!(r#"{{{ASKED}, "response": {{"choices": []}}}}"#), 2)]
#[case::a_choice_that_is_none(&format!(r#"{{{ASKED}, "response": {{"choices": 7}}}}"#), 2)]
#[case::a_response_in_words(&format!(r#"{{{ASKED}, "response": "gone"}}"#), 2)]
#[case::an_answer(&format!(r#"{{{ASKED}, "response": {{"choices": [{{"message": {{"role": "assistant", "content": "no"}}}}]}}}}"#), 0)]
#[case::a_line_that_is_there_twice(
    "{\"type\": \"user\", \"sessionId\": \"s\", \"uuid\": \"u\", \"message\": {\"role\": \"user\", \"content\": \"left out\"}}\n\
     {\"type\": \"user\", \"sessionId\": \"s\", \"uuid\": \"u\", \"message\": {\"role\": \"user\", \"content\": \"left out\"}}\n",
    0
)]
#[case::calls_beside_a_torn_line(
    "{\"role\": \"assistant\", \"tool_calls\": [{\"function\": {\"name\": \"look\", \"arguments\": \"{}\"}}]}\n\
     {\"role\": \"tool\", \"content\": \"x\"}\n{\"role\": \"assistant\", \"tool_calls\": [{\"fun\n",
    2
)]
#[case::a_call_without_a_name(
    r#"[{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [{"function": {"arguments": "{}"}}]}]"#,
    2
)]
fn what_may_hold_calls_is_no_success(#[case] recording: &str, #[case] expected: i32) {
    let folder = folder(&[("contracts/issue_refund.yaml", ISSUE_REFUND), ("log.jsonl", recording)]);
    let output = rulestep(folder.path(), &["replay", "log.jsonl"]).output().unwrap();
    assert_eq!(output.status.code(), Some(expected), "{}", seen(&output));
}

#[test]
fn what_is_lost_is_said() {
    let folder = folder(&[
        ("contracts/issue_refund.yaml", ISSUE_REFUND),
        ("damaged.jsonl", DAMAGED),
        ("unknown.json", UNKNOWN),
    ]);
    assert_snapshot!(run(&folder, &["replay", "damaged.jsonl", "unknown.json"]));
}

#[test]
fn side_files_are_told_in_a_line_each_and_the_formats_once() {
    let folder = folder(&[
        ("contracts/issue_refund.yaml", ISSUE_REFUND),
        ("sessions/a.json", "{\"name\": \"app\"}"),
        ("sessions/b.json", "{\"title\": \"app\"}"),
        ("sessions/c.txt", "words"),
        ("sessions/clean.json", CLEAN),
    ]);
    assert_snapshot!(run(&folder, &["replay", "sessions"]));
}

/// Somebody may write to a named pipe one day: until then the others are read, and it is said what is waited for.
#[test]
#[cfg(unix)]
fn a_pipe_without_a_writer_keeps_no_other_file_waiting() {
    let folder = folder(&[("contracts/issue_refund.yaml", ISSUE_REFUND), ("clean.json", CLEAN)]);
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let arguments = ["replay", "pipe", "clean.json", "--format", "json", "--summary"];
    let mut child =
        rulestep(folder.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    assert_eq!(
        told.next().unwrap().unwrap(),
        "note: waiting for input from `pipe`; the others are read first"
    );
    std::fs::OpenOptions::new().write(true).open(&pipe).unwrap().write_all(REFUND_124.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let answers = String::from_utf8(output.stdout).unwrap();
    let files: Vec<_> = answers.lines().map(|line| line.contains("\"file\":\"pipe\"")).collect();
    assert_eq!(files, [false, true, false], "{answers}");
}

/// One that somebody writes to has its place, however long it takes.
#[test]
fn standard_input_that_is_slow_is_waited_for_in_its_place() {
    let folder = folder(&[("contracts/issue_refund.yaml", ISSUE_REFUND), ("clean.json", CLEAN)]);
    let mut child = rulestep(folder.path(), &["replay", "-", "clean.json", "--format", "json", "--summary"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    assert_eq!(told.next().unwrap().unwrap(), "note: waiting for `-`, which has sent nothing yet");
    child.stdin.take().unwrap().write_all(REFUND_124.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let answers = String::from_utf8(output.stdout).unwrap();
    let files: Vec<_> = answers.lines().map(|line| line.contains("\"file\":\"-\"")).collect();
    assert_eq!(files, [true, false, false], "{answers}");
}

/// An option that another command has is named with it; so is one that is misspelt.
#[rstest]
#[case(&["--sumary"], "tip: `--summary` is an option of `rulestep replay`")]
#[case(&["--summary"], "tip: `--summary` is an option of `rulestep replay`")]
#[case(&["diff", "--update"], "tip: `--update` is an option of `rulestep test`")]
#[case(&["--jobs=2"], "tip: `--jobs` is an option of `rulestep replay`, `rulestep diff`")]
#[case(&["replay", "--sumary"], "tip: a similar argument exists: '--summary'")]
#[case(&["repaly", "clean.json"], "help: did you mean `rulestep replay`?")]
fn what_is_misspelt_is_answered_by_what_may_be_meant(#[case] arguments: &[&str], #[case] tip: &str) {
    let folder = folder(&[("contracts/issue_refund.yaml", ISSUE_REFUND), ("clean.json", CLEAN)]);
    let seen = run(&folder, arguments);
    assert!(seen.starts_with("exit 2\n") && seen.contains(tip), "{seen}");
}

/// A file that was named has to be a recording: one that a recorder never filled is no session without findings.
#[test]
fn a_named_file_without_a_session_is_no_success() {
    let files = folder(&[
        ("a.json", CLEAN),
        ("empty.json", ""),
        ("blank.jsonl", "\n \n"),
        ("list.json", "[]"),
        ("p.yaml", ISSUE_REFUND),
    ]);
    for empty in ["empty.json", "blank.jsonl", "list.json"] {
        for verb in [&["replay", "-p", "p.yaml"][..], &["stats"], &["convert"]] {
            let told = run(&files, &[verb, &["a.json", empty]].concat());
            assert!(told.starts_with("exit 2\n") && told.contains("error[empty_session]"), "{told}");
        }
    }
    assert!(run(&files, &["stats", "."]).starts_with("exit 0\n"), "a folder may hold them");
}

/// What is called like a recording and leads nowhere was not read.
#[cfg(unix)]
#[test]
fn a_link_to_a_recording_that_is_gone_is_no_success() {
    let files = folder(&[("s/a.json", CLEAN)]);
    std::os::unix::fs::symlink("nowhere", files.path().join("s/latest")).unwrap();
    assert!(run(&files, &["stats", "s"]).starts_with("exit 0\n"));
    std::os::unix::fs::symlink("nowhere.jsonl", files.path().join("s/b.jsonl")).unwrap();
    let told = run(&files, &["stats", "s"]);
    assert!(
        told.starts_with("exit 2\n") && told.contains("error[unreadable_file]: a link that leads nowhere"),
        "{told}"
    );
}

/// Programs write UTF-16 with and without its mark.
#[test]
fn a_recording_in_utf_16_is_no_success() {
    let files = folder(&[("s/a.json", CLEAN)]);
    let units = || CLEAN.trim_start().encode_utf16();
    let forms: [Vec<u8>; 2] =
        [units().flat_map(u16::to_le_bytes).collect(), units().flat_map(u16::to_be_bytes).collect()];
    for bytes in forms {
        std::fs::write(files.path().join("s/b.json"), bytes).unwrap();
        let told = run(&files, &["stats", "s"]);
        assert!(told.starts_with("exit 2\n") && told.contains("the file is UTF-16 text"), "{told}");
    }
}

/// A pattern finds what a folder finds: every file, and no pipe that somebody may never write to.
#[cfg(unix)]
#[test]
fn a_pattern_finds_files_that_look_alike_and_waits_for_no_pipe() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let files = folder(&[("p.yaml", ISSUE_REFUND), ("s/a.json", CLEAN)]);
    let inside = files.path().join("s");
    assert!(std::process::Command::new("mkfifo").arg(inside.join("c.json")).status().unwrap().success());
    // File systems that take text alone have no such names.
    let alike = [&b"b\xff.json"[..], b"b\xfe.json"].map(|name| inside.join(OsStr::from_bytes(name)));
    let are_taken = std::fs::write(&alike[0], CLEAN).is_ok() && std::fs::write(&alike[1], REFUND_124).is_ok();
    let (found, code) = if are_taken { (3, 1) } else { (1, 0) };
    for named in ["s", "s/*.json"] {
        let arguments = ["replay", "-p", "p.yaml", "--format", "json", named];
        let output = rulestep(files.path(), &arguments).output().unwrap();
        let sessions =
            String::from_utf8(output.stdout.clone()).unwrap().matches("\"session\":{\"id\"").count();
        assert_eq!((sessions, output.status.code()), (found, Some(code)), "{named}: {}", seen(&output));
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("warning[unreadable_file]: not a regular file"), "{named}: {told}");
    }
}

/// What is no recording is called what it is, and `--strict` names each such file and fails.
#[test]
fn what_is_skipped_is_named() {
    let files = [
        ("s/clean.json", CLEAN),
        ("s/permissions.json", r#"{"permissions": {"allow": ["Bash(ls)"]}}"#),
        ("s/policy.yaml", "rules:\n- {type: never, call: deploy}\n"),
        ("s/release.case.yaml", "policy: p.yaml\nsession: {}\nexpect: {}\n"),
        ("s/trace.json", r#"{"log": [{"toolCalls": [{"name": "refund"}]}]}"#),
    ];
    let folder = folder(&files);
    let told = run(&folder, &["replay", "s", "-p", "s/policy.yaml"]);
    assert!(
        told.starts_with("exit 0\n") && told.contains("warning[not_a_session]: no known format"),
        "{told}"
    );
    assert_snapshot!(run(&folder, &["replay", "s", "-p", "s/policy.yaml", "--strict", "-q"]));
    for verb in [&["diff", "-b", "s/policy.yaml", "-p", "s/policy.yaml"][..], &["convert"]] {
        let told = run(&folder, &[verb, &["s", "--strict", "-q"]].concat());
        assert!(told.starts_with("exit 2\n"), "{told}");
        for (file, _) in files.iter().skip(1) {
            assert!(told.contains(&format!("--> {file}")), "{file} {told}");
        }
    }
}
