//! The program itself: what it prints, where, and how it ends.

mod agree;
mod cache;
mod check;
mod conversations;
mod convert;
mod diff;
mod exits;
mod explain;
mod forks;
mod inputs;
mod json;
mod lines;
mod merge;
mod new;
mod options;
mod packed;
mod redacted;
pub mod reference;
mod refusals;
mod repeated;
mod replay;
mod reports;
mod rules;
mod said;
mod selection;
mod stats;
mod tables;
mod test;
mod totals;

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder of its own with these files in it.
pub fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// The program, started in a folder, without what the surroundings say about colours.
pub fn rulestep(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("rulestep"));
    command.current_dir(folder).args(arguments).env_remove("NO_COLOR").env_remove("TERM");
    // What is kept for the next run is of no other test.
    command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// Everything that can be seen of a run.
pub fn seen(output: &Output) -> String {
    format!(
        "exit {}\n--- stdout\n{}--- stderr\n{}",
        output.status.code().unwrap(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    )
}

/// A run in a folder.
pub fn run(folder: &TempDir, arguments: &[&str]) -> String {
    seen(&rulestep(folder.path(), arguments).output().unwrap())
}

/// Refunds: eligibility is checked first, for the same order; a closed case forbids voiding.
pub const ISSUE_REFUND: &str = "\
tool: issue_refund
preconditions:
  - requires_prior_tool: check_eligibility
    resource: {bind_from: arguments, path: $.order_id}
    with_output: [{path: $.eligible, equals: true}]
    description: Eligibility must be checked for the same order
";

/// See [`ISSUE_REFUND`].
pub const CLOSE_CASE: &str = "tool: close_case\nforbids_after: [close_case, void_order]\n";

/// Checks one order, closes the case, and refunds another order.
pub const REFUND_124: &str = r#"{"id": "refund-124",
 "tools": [{"name": "check_eligibility"}, {"name": "void_order"}],
 "messages": [
  {"role": "user", "content": "Please refund ORD-124"},
  {"role": "assistant", "content": null, "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "check_eligibility", "arguments": "{\"order_id\": \"ORD-123\"}"}},
    {"id": "c2", "type": "function", "function": {"name": "close_case", "arguments": "{}"}}]},
  {"role": "tool", "tool_call_id": "c1", "content": "{\"eligible\": true}"},
  {"role": "tool", "tool_call_id": "c2", "content": "{\"ok\": true}"},
  {"role": "assistant", "content": null, "tool_calls": [
    {"id": "c3", "type": "function", "function": {"name": "issue_refund", "arguments": "{\"order_id\": \"ORD-124\"}"}}]},
  {"role": "tool", "tool_call_id": "c3", "content": "{\"ok\": true}"}]}
"#;

/// A session in which nothing is wrong.
pub const CLEAN: &str = r#"{"id": "clean", "messages": [
  {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello, how can I help?"}]}"#;

/// The refunds and their policies.
pub fn refunds() -> TempDir {
    folder(&[
        ("contracts/issue_refund.yaml", ISSUE_REFUND),
        ("contracts/close_case.yaml", CLOSE_CASE),
        ("sessions/a.json", REFUND_124),
        ("sessions/b.json", CLEAN),
    ])
}
