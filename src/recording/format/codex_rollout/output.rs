//! What Codex writes as the result of a call, as far as it says whether the call failed or was refused.

use crate::recording::input::shallow::{Members, Node};
use crate::recording::shape::status::Status;

/// Beginnings of what is told when a call could not be run, or was broken off.
const FAILURES: [&str; 9] = [
    "aborted by user",
    "aborted",
    "collab spawn failed",
    "command timed out",
    "execution error:",
    "failed in sandbox",
    "failed to parse function arguments",
    "tool call error:",
    "unsupported call:",
];

/// Whether a result's text says that the call failed; `None` where it says nothing of that.
///
/// `{"output": …, "metadata": {"exit_code": 1}}`, `Exit code: 1` on the first line, `Process exited with code 1` among
/// the lines before `Output:`, or the plain words for a call that did not run.
pub fn failed(text: &str) -> Option<bool> {
    if text.starts_with('{') {
        let members = Node::parse(text).ok().and_then(Node::members)?;
        let metadata = members.get("metadata").and_then(Node::members)?;
        return Some(metadata.get("exit_code")?.json() != "0");
    }
    let code = head(text).find_map(|line| {
        line.strip_prefix("Exit code: ").or_else(|| line.strip_prefix("Process exited with code "))
    });
    if let Some(code) = code {
        return Some(code.trim() != "0");
    }
    FAILURES.iter().any(|failure| text.starts_with(failure)).then_some(true)
}

/// How a call ended, as its result's text says: [`Status::Open`] where its command goes on, [`Status::Unknown`] where it says
/// nothing of that.
pub fn ended(text: &str) -> Status {
    match failed(text) {
        Some(true) => Status::Failed,
        Some(false) => Status::Succeeded,
        None if running(text).is_some() => Status::Open,
        None => Status::Unknown,
    }
}

/// The number of the process that runs on, by which the model reads from it and writes to it.
pub fn running(text: &str) -> Option<&str> {
    head(text).find_map(|line| line.strip_prefix("Process running with session ID ")).map(str::trim)
}

/// The lines before what a command printed.
fn head(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take(8).take_while(|line| !line.starts_with("Output:"))
}

/// Whether an event says that a call failed.
pub fn failed_event(event: &Members<'_>) -> bool {
    let code = event.get("exit_code").is_some_and(|code| code.number() != Some(0i64));
    let success = event.get("success").and_then(Node::bool) == Some(false);
    let result = event.get("result").and_then(Node::members).is_some_and(|result| {
        let ok = result.get("Ok").and_then(Node::members);
        let inner = ok.and_then(|ok| ok.any(&["isError", "is_error"])?.bool());
        result.has("Err") || inner == Some(true)
    });
    code || success || result
}

/// How it is known that a call was refused: the user declined it, or the rules of the sandbox did.
pub fn refused(text: &str) -> Option<&'static str> {
    match text.trim_end() {
        "exec command rejected by user" | "patch rejected by user" => {
            Some("the result says that the user rejected the call")
        }
        text if text.starts_with("This action was rejected") => {
            Some("the result says that a reviewer rejected the call")
        }
        text if text.starts_with("approval required by policy") => {
            Some("the result says that the call would have needed an approval")
        }
        text if text.starts_with("exec_command failed") && text.contains("Rejected(\"") => {
            Some("the result says that the call was rejected")
        }
        _ => None,
    }
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
            ("Plan updated", Status::Unknown),
        ] {
            assert_eq!(ended(text), expected, "{text}");
        }
    }

    #[test]
    fn refusals_are_told_whole() {
        assert!(refused("exec command rejected by user").is_some());
        assert!(refused("patch rejected by user\n").is_some());
        assert!(refused("the log: exec command rejected by user").is_none());
        assert!(refused("exec command rejected by user, says the log").is_none());
    }
}
