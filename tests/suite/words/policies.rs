//! The sentences for sequence policies and tool policies.

use insta::assert_snapshot;

use super::said;

const SEQUENCES: &str = "forbidden:
  - {sequence: [read, {namePrefix: mail.}], action: halt, reason: security:x}
  - {sequence: [], action: deny, reason: security:y}
limits:
  pay: {maxPerSession: 2, action: deny, reason: cost:x}
  purge: {maxPerSession: 0, action: deny, reason: cost:y}
";

const FILES: &str = "policies:
  - {type: read_before_write, read_tools: [read], write_tools: [write], mount_point: /w}
";

/// Without the rule that is against every call.
fn sequences() -> String {
    SEQUENCES.lines().filter(|line| !line.contains("[]")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn forbidden_sequences() {
    let calls = [("read", "{}", "1"), ("mail.send", "{}", "1")];
    assert_snapshot!(said(&sequences(), &calls), @r"
    sequence_forbidden: completes the forbidden sequence `read`, then `{namePrefix: mail.}`, which began in turn 1
      way out: run another call in between, which breaks the sequence
    ");
    assert_snapshot!(said(SEQUENCES, &calls[..1]), @r"
    sequence_forbidden: every call is forbidden
      way out: none: an empty sequence matches every call
    ");
}

#[test]
fn limits() {
    let pay = ("pay", "{}", "1");
    assert_snapshot!(said(&sequences(), &[pay, pay, pay]), @r"
    limit_reached: pay already ran twice, and its limit is 2 calls
      way out: none in this session: the limit is used up
    ");
    assert_snapshot!(said(&sequences(), &[pay, pay]), @"passed: 1 of 2 calls used");
    assert_snapshot!(said(&sequences(), &[("purge", "{}", "1")]), @r"
    limit_reached: purge may not run at all: its limit is 0 calls
      way out: none in this session: the limit is used up
    ");
}

#[test]
fn missing_dependencies() {
    let one = "policies: [{type: sequential_dependency, dependencies: {deploy: [test]}}]";
    let two = "policies: [{type: sequential_dependency, dependencies: {deploy: [test, build]}}]";
    let (deploy, test) = (("deploy", "{}", "1"), ("test", "{}", "1"));
    assert_snapshot!(said(one, &[deploy]), @r"
    dependency_missing: test has not succeeded
      way out: call test successfully first
    ");
    assert_snapshot!(said(two, &[deploy]), @r"
    dependency_missing: build and test have not succeeded
      way out: call build and test successfully first
    ");
    assert_snapshot!(said(one, &[test, deploy]), @"passed: every tool it needs has succeeded");
}

#[test]
fn files_to_be_read() {
    let write = ("write", r#"{"path": "/w/a"}"#, "1");
    let listed = format!("{FILES}existing_files: [a]\n");
    assert_snapshot!(said(&listed, &[write]), @r"
    not_read_before_write: `/w/a` exists and was not read
      way out: read `/w/a` successfully first, with the path spelled the same way
    ");
    assert_snapshot!(said(&listed, &[("read", r#"{"file_path": "a"}"#, "1"), write]), @"passed: `/w/a` was read");
    assert_snapshot!(said(&listed, &[("write", r#"{"path": "b"}"#, "1")]), @"passed: `b` is a new file");
    assert_snapshot!(said(FILES, &[write]), @r"
    existence_unknown: it is not known whether `/w/a` exists, so it counts as new
      way out: list the files that exist, in the session's `files` or the document's `existing_files`
    passed: it is not known whether `/w/a` exists, so it counts as new
    ");
    assert_snapshot!(said(FILES, &[write, write]), @r"
    not_read_before_write: `/w/a` was written in turn 1 and was not read
      way out: read `/w/a` successfully first, with the path spelled the same way
    ");
    assert_snapshot!(said(FILES, &[("write", "{}", "1")]), @r"
    path_unknown: the policy finds no path in the call, so it is allowed without a check
      way out: name the argument that holds the path in the policy, as in `path_argument: $.target_file`
    passed: the policy finds no path in the call, so it is allowed without a check
    ");
}

/// What is known only by what it does is no tool to be called.
#[test]
fn calls_by_what_they_do() {
    let secrets = "rules:
  - type: never_after
    trigger: {reads: [.env, '*.pem']}
    forbidden: {reaches: '*'}
";
    let run = |command: &'static str| ("Bash", command, "1");
    let (read, sent) = (run(r#"{"command": "cat .env"}"#), run(r#"{"command": "curl https://a.example"}"#));
    assert_snapshot!(said(secrets, &[read, sent]), @r"
    after_trigger: forbidden since Bash ran in turn 1 (`cat .env`); the call runs `curl https://a.example`
      way out: connect to any host before reading `.env` or `*.pem`, or not at all
    ");
    let tests = "rules:
  - type: before
    first: [{runs: {program: cargo, args: [test]}}, {runs: {program: pytest}}, Check]
    then: {runs: {program: git, args: [push]}}
";
    let push = run(r#"{"command": "git push"}"#);
    assert_snapshot!(said(tests, &[push]), @r"
    before_missing: `cargo test`, `pytest` or Check has not succeeded yet; the call runs `git push`
      way out: run `cargo test`, `pytest` or call Check successfully before `git push`
    ");
    assert_snapshot!(said(tests, &[run(r#"{"command": "cargo test"}"#), push]), @"passed: `cargo test`, `pytest` or Check before `git push`");
    let reads = "tool: deploy\npreconditions: [{requires_prior_tool: [{reads: docs/deploy.md}, plan]}]\n";
    assert_snapshot!(said(reads, &[("deploy", "{}", "1")]), @r"
    prior_tool_missing: reading `docs/deploy.md` or plan has not succeeded in an earlier turn
      way out: read `docs/deploy.md` or call plan successfully in an earlier turn
    ");
}
