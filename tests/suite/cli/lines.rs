//! `--lines`: one result for each line, in order and at once, whatever is in it.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use serde_json::Value;

use super::{folder, rulestep};

const POLICY: &str = "tool: pay\npreconditions: [{requires_prior_tool: check}]\n";

fn session(id: &str, tool: &str) -> String {
    format!(
        r#"{{"id": "{id}", "messages": [{{"role": "assistant", "content": null, "tool_calls": [{{"id": "c1", "type": "function", "function": {{"name": "{tool}", "arguments": "{{}}"}}}}]}}, {{"role": "tool", "tool_call_id": "c1", "content": "x"}}]}}"#
    )
}

const REPLAY: [&str; 8] = ["replay", "--lines", "-", "-p", "p", "--format", "json", "-q"];
const DIFF: [&str; 10] = ["diff", "--lines", "-", "-p", "p", "-b", "q", "--format", "json", "-q"];

/// The exit code, and the lines of standard output.
fn filter(arguments: &[&str], input: impl Into<Vec<u8>>) -> (i32, Vec<Value>) {
    let files = folder(&[("p/pay.yaml", POLICY), ("q/pay.yaml", "tool: pay\n")]);
    let command = rulestep(files.path(), arguments);
    let output = assert_cmd::Command::from_std(command).write_stdin(input).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (output.status.code().unwrap(), lines)
}

#[test]
fn every_line_has_its_result() {
    let good =
        |number: usize| session(&format!("s{number}"), if number.is_multiple_of(2) { "pay" } else { "look" });
    let bad =
        ["", "not json", "[]", "{\"a\": 1}", "7", "\u{0}", "{\"id\": \"cut\", \"messages\": [{\"role\""];
    let mut lines: Vec<String> = Vec::new();
    for (number, bad) in bad.iter().cycle().take(700).enumerate() {
        lines.push(good(number));
        lines.push((*bad).to_owned());
    }
    lines.push(format!("[{}, {}]", session("one", "look"), session("two", "look")));
    let mut input = lines.join("\n").into_bytes();
    // Without an end, and not text.
    input.extend(b"\n\xff\xfe");
    for arguments in [&REPLAY[..], &DIFF] {
        let (code, results) = filter(arguments, input.clone());
        assert_eq!((code, results.len()), (1, lines.len() + 1));
        for (place, result) in results.iter().enumerate() {
            let is_good = place < 1400 && place.is_multiple_of(2);
            if is_good {
                assert_eq!(result["session"]["id"], format!("s{}", place / 2), "{result}");
                assert!(result.get("error").is_none());
            } else {
                assert_eq!(result["line"], place + 1, "{result}");
                assert!(!result["error"]["message"].as_str().unwrap().is_empty(), "{result}");
                assert!(!result["error"]["diagnostics"].as_array().unwrap().is_empty(), "{result}");
            }
        }
    }
}

#[test]
fn the_exit_code_and_the_totals_are_of_all_lines() {
    for (lines, code) in [
        (vec![session("a", "look")], 0),
        (vec![session("a", "look"), "x".to_owned()], 2),
        (vec![session("a", "pay"), "x".to_owned()], 1),
        (vec![], 0),
    ] {
        let totals = [&REPLAY[..], &["--totals"]].concat();
        let (found, results) = filter(&totals, lines.join("\n"));
        let good = lines.iter().filter(|line| line.starts_with('{')).count();
        let totals = &results.last().unwrap()["totals"];
        assert_eq!((found, results.len()), (code, lines.len() + 1));
        assert_eq!(totals["sessions"], good);
        assert_eq!(totals["diagnostics"]["errors"], lines.len() - good);
        // What comes out of the filter can be merged.
        let files = folder(&[]);
        let all: Vec<String> = results.iter().map(Value::to_string).collect();
        std::fs::write(files.path().join("r.json"), all.join("\n")).unwrap();
        let output = rulestep(files.path(), &["merge", "r.json"]).output().unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["totals"], *totals);
        assert_eq!(output.status.code(), Some(code));
    }
    let (code, results) = filter(&["replay", "--lines", "-", "-p", "p"], session("a", "look"));
    assert_eq!((code, results.len()), (0, 1), "JSON is implied");
    let (code, _) = filter(&["replay", "--lines", "-", "-p", "p", "--format", "text"], "");
    assert_eq!(code, 2, "text has no line for each session");
    let (code, _) = filter(&["replay", "--lines", "p", "-p", "p", "--format", "json"], "");
    assert_eq!(code, 2);
}

#[test]
fn a_result_comes_before_the_next_line_and_the_filter_ends_with_its_reader() {
    let files = folder(&[("p/pay.yaml", POLICY)]);
    let mut child = rulestep(files.path(), &REPLAY)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for number in 0..20 {
        writeln!(input, "{}", session(&format!("s{number}"), "look")).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.contains(&format!("\"s{number}\"")), "{line}");
    }
    drop(output);
    // Nobody reads: the filter notices when it writes, and then so does its writer.
    let endless = (0..100_000).all(|_| writeln!(input, "{}", session("more", "look")).is_ok());
    assert!(!endless);
    drop(input);
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!((child.wait().unwrap().code(), &*told), (Some(0), ""));
}

#[test]
fn a_writer_waits_for_a_slow_reader() {
    let files = folder(&[("p/pay.yaml", POLICY)]);
    let mut child = rulestep(files.path(), &REPLAY)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let count = 1000;
    let writer = std::thread::spawn(move || {
        let line = session(&"s".repeat(4000), "look");
        (0..count).for_each(|_| writeln!(input, "{line}").unwrap());
    });
    // Far less fits into the pipes and the filter than is written: the writer is still at it.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert!(!writer.is_finished());
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().count();
    writer.join().unwrap();
    assert_eq!((lines, child.wait().unwrap().code()), (count, Some(0)));
}
