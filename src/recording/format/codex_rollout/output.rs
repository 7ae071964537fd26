//! What Codex writes as the result of a call, as far as it says whether the call failed or was refused.

use crate::recording::input::shallow::{Members, Node};
use crate::recording::shape::status::Status;

/// Beginnings of what is told when a call could not be run, or was broken off.
const FAILURES: [&str; 9] = [
    "aborted",
    "apply_patch verification failed",
    "collab spawn failed",
    "command timed out",
    "exec_command failed",
    "execution error:",
    "failed in sandbox",
    "unsupported call:",
    "write_stdin failed",
];

/// The same of what is one line: a text of several lines that begins so is what a tool found.
const FAILURES_IN_A_LINE: [&str; 4] =
    ["err: \"", "failed to parse ", "tool call error:", "unable to locate image"];

/// What is told whole when a call was refused, and how that is known.
const REFUSALS: [(&str, &str); 6] = [
    ("exec command rejected by user", BY_USER),
    ("patch rejected by user", BY_USER),
    ("rejected by user", BY_USER),
    ("user rejected MCP tool call", BY_USER),
    ("user cancelled MCP tool call", BY_USER),
    ("rejected by configuration", REJECTED),
];

/// Beginnings of what is told when a call was refused.
const REASONS: [(&str, &str); 5] = [
    ("This action was rejected", "the result says that a reviewer rejected the call"),
    ("approval required by policy", "the result says that the call would have needed an approval"),
    ("Command blocked by PreToolUse hook: ", BY_HOOK),
    ("Tool call blocked by PreToolUse hook: ", BY_HOOK),
    ("patch rejected: ", REJECTED),
];

const BY_USER: &str = "the result says that the user rejected the call";
const BY_HOOK: &str = "the result says that a hook blocked the call";
const REJECTED: &str = "the result says that the call was rejected";

/// What stands before the number of a process, and of a script, that runs on.
pub const PROCESS: &str = "Process running with session ID ";
pub const SCRIPT: &str = "Script running with cell ID ";

/// Whether a result's text says that the call failed; `None` where it says nothing of that.
pub fn failed(text: &str) -> Option<bool> {
    let begins = |failures: &[&str]| failures.iter().any(|failure| text.starts_with(failure));
    let is_line = || !text.trim_end().contains('\n');
    exited(text).or_else(|| (begins(&FAILURES) || begins(&FAILURES_IN_A_LINE) && is_line()).then_some(true))
}

/// Whether what was run failed, as its exit code says, or the words for the end of a script.
///
/// `{"output": …, "metadata": {"exit_code": 1}}`, `Exit code: 1` on the first line, `Process exited with code 1` among
/// the lines before `Output:`, or `Script failed` on the first line.
pub fn exited(text: &str) -> Option<bool> {
    if text.starts_with('{') {
        let members = Node::parse(text).ok().and_then(Node::members)?;
        let metadata = members.get("metadata").and_then(Node::members)?;
        return Some(metadata.get("exit_code")?.json() != "0");
    }
    match text.lines().next().map(str::trim_end) {
        Some("Script completed") => return Some(false),
        Some("Script failed" | "Script terminated") => return Some(true),
        _ => {}
    }
    let code = head(text).find_map(|line| {
        line.strip_prefix("Exit code: ").or_else(|| line.strip_prefix("Process exited with code "))
    });
    code.map(|code| code.trim() != "0")
}

/// How a call ended, as its result's text says: [`Status::Open`] where its command goes on, [`Status::Unknown`] where it says
/// nothing of that.
pub fn ended(text: &str) -> Status {
    match (failed(text), refused(text)) {
        (Some(false), _) => Status::Succeeded,
        (_, Some(how)) => Status::Refused(how),
        (Some(true), None) => Status::Failed,
        (None, None) if running(text).is_some() => Status::Open,
        (None, None) => Status::Unknown,
    }
}

/// The words for a process or a script that runs on, with the number by which the model reads from it.
pub fn running(text: &str) -> Option<&str> {
    head(text).find(|line| line.starts_with(PROCESS) || line.starts_with(SCRIPT)).map(str::trim)
}

/// The lines before what a command printed.
fn head(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take(8).take_while(|line| !line.starts_with("Output:"))
}

/// How a call ended, as far as an event says that it did not succeed.
pub fn by_event(event: &Members<'_>) -> Status {
    if event.get("status").and_then(Node::text).as_deref() == Some("declined") {
        return Status::Refused("an event says that the call was declined");
    }
    let code = event.get("exit_code").is_some_and(|code| code.number() != Some(0i64));
    let success = event.get("success").and_then(Node::bool) == Some(false);
    let result = event.get("result").and_then(Node::members).is_some_and(|result| {
        let ok = result.get("Ok").and_then(Node::members);
        let inner = ok.and_then(|ok| ok.any(&["isError", "is_error"])?.bool());
        result.has("Err") || inner == Some(true)
    });
    if code || success || result { Status::Failed } else { Status::Unknown }
}

/// How it is known that a call was refused: the user declined it, or a hook, a rule or the sandbox did.
pub fn refused(text: &str) -> Option<&'static str> {
    let text = text.trim_end();
    // Errors of calls to a server stand within quotes.
    let text = text.strip_prefix("err: \"").map_or(text, |inner| inner.trim_end_matches('"'));
    if text.starts_with("exec_command failed")
        && let Some((_, reason)) = text.split_once("Rejected(")
    {
        // The quotes may be escaped. A process that cannot be started was rejected by nobody.
        let reason = reason.trim_start_matches(['\\', '"']);
        return (!reason.starts_with("Failed to create ")).then_some(REJECTED);
    }
    let whole = REFUSALS.iter().find(|(told, _)| text == *told);
    let begins = || REASONS.iter().find(|(told, _)| text.starts_with(told));
    // `git push` rejected: …
    let by_rule = || text.starts_with('`') && text.contains("` rejected: ");
    let escalated = || text.starts_with("approval policy is ") && text.contains("; reject command");
    let known = whole.or_else(begins).map(|(_, how)| *how);
    known.or_else(|| (by_rule() || escalated()).then_some(REJECTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_say_how_it_went() {
        for (text, expected) in [
            (r#"{"output":"a\n","metadata":{"exit_code":0,"duration_seconds":0.1}}"#, Some(false)),
            (r#"{"output":"","metadata":{"exit_code":127}}"#, Some(true)),
            (r#"{"content": []}"#, None),
            ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nExit code: 1", Some(false)),
            ("Exit code: 101\nWall time: 2 seconds\nOutput:\n", Some(true)),
            ("Chunk ID: 1\nWall time: 1\nProcess exited with code 2\nOutput:\n", Some(true)),
            ("Chunk ID: 1\nProcess running with session ID 5\nOutput:\n", None),
            ("Output:\nExit code: 1", None),
            ("unsupported call: foo", Some(true)),
            ("failed to parse exec_command arguments: missing field", Some(true)),
            ("apply_patch verification failed: Failed to find expected lines in a.rs", Some(true)),
            ("unable to locate image at `a.png`: No such file", Some(true)),
            ("write_stdin failed: Unknown process id 5", Some(true)),
            ("exec_command failed for `ls`: CreateProcess { message: \"x\" }", Some(true)),
            ("err: \"timed out\"", Some(true)),
            ("Script failed\nWall time 0.1 seconds\nOutput:\n\nScript error:\nboom", Some(true)),
            ("Script terminated\nWall time 0.1 seconds\nOutput:\n", Some(true)),
            ("Script completed\nWall time 0.1 seconds\nOutput:\n\nExit code: 1", Some(false)),
            ("Script failed to load, says the log", None),
            ("Plan updated", None),
            ("", None),
        ] {
            assert_eq!(failed(text), expected, "{text}");
        }
    }

    #[test]
    fn a_command_that_goes_on_has_not_ended() {
        for (text, expected) in [
            (
                "Chunk ID: 1\nWall time: 1.0 seconds\nProcess running with session ID 5\nOutput:\n",
                Status::Open,
            ),
            ("Output:\nProcess running with session ID 5", Status::Unknown),
            ("Exit code: 0\nOutput:\nProcess running with session ID 5", Status::Succeeded),
            ("command timed out after 1000 milliseconds\n", Status::Failed),
            ("Script running with cell ID 3\nWall time 10.0 seconds\nOutput:\n", Status::Open),
            ("patch rejected by user", Status::Refused(BY_USER)),
            ("Exit code: 0\nOutput:\npatch rejected by user", Status::Succeeded),
            ("Plan updated", Status::Unknown),
        ] {
            assert_eq!(ended(text), expected, "{text}");
        }
    }

    #[test]
    fn refusals_in_every_form() {
        let rejected = |inner: &str| {
            format!(
                r#"exec_command failed for `/bin/sh -c x`: CreateProcess {{ message: "Rejected({inner})" }}"#
            )
        };
        for (text, expected) in [
            ("exec command rejected by user", true),
            ("patch rejected by user\n", true),
            ("the log: exec command rejected by user", false),
            ("exec command rejected by user, says the log", false),
            ("Command blocked by PreToolUse hook: no rm. Command: rm -rf /", true),
            ("Tool call blocked by PreToolUse hook: no. Tool: mcp__git__push", true),
            ("`git push` rejected: policy forbids commands starting with `git push`", true),
            ("the log: `git push` rejected: no", false),
            ("approval policy is Never; reject command — you cannot ask for escalated permissions", true),
            ("rejected by configuration", true),
            ("patch rejected: writing outside of the project; rejected by user approval settings", true),
            ("user rejected MCP tool call", true),
            (r#"err: "user cancelled MCP tool call""#, true),
            (r#"err: "timed out""#, false),
            (&rejected(r#"\"approval required by policy\""#), true),
            (&rejected(r#""rejected by user""#), true),
            (&rejected(r#"\"Failed to create unified exec process: No such file\""#), false),
            ("exec_command failed for `x`: CreateProcess { message: \"No such file\" }", false),
        ] {
            assert_eq!(refused(text).is_some(), expected, "{text}");
        }
    }
}
