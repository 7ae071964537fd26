//! Results of calls as Codex writes them: whether the call failed or was refused.

use crate::input::shallow::{Members, Node};
use crate::shape::status::{Status, status};

/// The tools that have a text of Codex as their result. What others give back, such as a server or a file that was read,
/// may begin with the same words.
#[derive(Clone, Copy)]
enum Of {
    /// Any: the call did not reach its tool, or was aborted.
    Any,
    /// Those that run commands and apply patches, as a command may be one.
    Commands,
    /// Those of a server.
    Server,
    /// Those that are not of a server.
    Own,
    /// One.
    Tool(&'static str),
}

/// Names of tools that run commands, read from them and apply patches.
const COMMANDS: [&str; 11] = [
    "Bash",
    "apply_patch",
    "container.exec",
    "exec_command",
    "local_shell",
    "local_shell_call",
    "shell",
    "shell_call",
    "shell_command",
    "unified_exec",
    "write_stdin",
];

impl Of {
    /// Whether this is one of the tools. An unknown tool may be any.
    fn holds(self, tool: &str) -> bool {
        let of_server = tool.starts_with("mcp__");
        let own = tool.rsplit("__").next().filter(|_| !of_server);
        let runs = own.is_some_and(|own| COMMANDS.contains(&own));
        tool.is_empty()
            || match self {
                Of::Any => true,
                Of::Commands => runs,
                // Before October 2025 the name of the server came first, as that of a group of own tools does now.
                Of::Server => of_server || tool.contains("__") && !runs,
                Of::Own => !of_server,
                Of::Tool(name) => own == Some(name),
            }
    }
}

/// Beginnings of texts for calls that could not be run, or were aborted.
const FAILURES: [(&str, Of); 7] = [
    ("apply_patch verification failed", Of::Commands),
    ("collab spawn failed", Of::Tool("spawn_agent")),
    ("command timed out", Of::Commands),
    ("exec_command failed", Of::Commands),
    ("execution error:", Of::Commands),
    ("failed in sandbox", Of::Commands),
    ("write_stdin failed", Of::Commands),
];

/// The same for texts of one line: a longer text that begins so is the output of a tool.
const FAILURES_IN_A_LINE: [(&str, Of); 5] = [
    ("err: \"", Of::Server),
    ("failed to parse ", Of::Own),
    ("tool call error:", Of::Server),
    ("unable to locate image", Of::Tool("view_image")),
    ("unsupported call:", Of::Any),
];

/// Whole texts for refused calls, and how the refusal is known.
const REFUSALS: [(&str, &str, Of); 6] = [
    ("exec command rejected by user", BY_USER, Of::Commands),
    ("patch rejected by user", BY_USER, Of::Commands),
    ("rejected by user", BY_USER, Of::Any),
    ("user rejected MCP tool call", BY_USER, Of::Server),
    ("user cancelled MCP tool call", BY_USER, Of::Server),
    ("rejected by configuration", REJECTED, Of::Commands),
];

/// Beginnings of texts for refused calls.
const REASONS: [(&str, &str, Of); 5] = [
    ("This action was rejected", "the result says that a reviewer rejected the call", Of::Any),
    (
        "approval required by policy",
        "the result says that the call would have needed an approval",
        Of::Commands,
    ),
    ("Command blocked by PreToolUse hook: ", BY_HOOK, Of::Commands),
    ("Tool call blocked by PreToolUse hook: ", BY_HOOK, Of::Any),
    ("patch rejected: ", REJECTED, Of::Commands),
];

const BY_USER: &str = "the result says that the user rejected the call";
const BY_HOOK: &str = "the result says that a hook blocked the call";
const REJECTED: &str = "the result says that the call was rejected";

/// The text before the number of a running process, and of a running script.
pub const PROCESS: &str = "Process running with session ID ";
pub const SCRIPT: &str = "Script running with cell ID ";

/// Whether a call failed by the text of its tool's result; `None` if that does not show it.
pub fn failed(tool: &str, text: &str) -> Option<bool> {
    let own = text_of(tool, text);
    let begins = |failures: &[(&str, Of)]| {
        failures.iter().any(|(failure, of)| of.holds(tool) && own.starts_with(failure))
    };
    let is_line = || !own.trim_end().contains('\n');
    let failed = || begins(&FAILURES) || begins(&FAILURES_IN_A_LINE) && is_line() || is_aborted(text);
    exited(tool, text).or_else(|| failed().then_some(true))
}

/// Whether the text is that of an aborted call; for a command, after the time that it ran.
fn is_aborted(text: &str) -> bool {
    let text = text.trim_end();
    let told = match text.split_once('\n') {
        Some((time, told)) if time.starts_with("Wall time: ") => told,
        _ => text,
    };
    let time = told.strip_prefix("aborted by user after ").and_then(|time| time.strip_suffix('s'));
    matches!(told, "aborted" | "aborted by user") || time.is_some_and(|time| time.parse::<f64>().is_ok())
}

/// The text of a tool, or of Codex in its place: newer versions put the time before a server's text.
fn text_of<'t>(tool: &str, text: &'t str) -> &'t str {
    let timed = text.starts_with("Wall time: ") && Of::Server.holds(tool);
    let rest = text.split_once('\n').filter(|_| timed).and_then(|(_, rest)| rest.strip_prefix("Output:\n"));
    rest.unwrap_or(text)
}

/// Whether a command failed, by its exit code or by the words at the end of a script.
///
/// `{"output": …, "metadata": {"exit_code": 1}}`, `Exit code: 1` on the first line, `Process exited with code 1` among
/// the lines before `Output:`, or `Script failed` on the first line.
pub fn exited(tool: &str, text: &str) -> Option<bool> {
    if text.starts_with('{') {
        let members = Node::parse(text).ok().and_then(Node::members)?;
        let metadata = members.get("metadata").and_then(Node::members)?;
        return Some(metadata.get("exit_code")?.json() != "0");
    }
    if !Of::Own.holds(tool) {
        return None;
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

/// How a call ended, by the text of its tool's result: [`Status::Open`] if its command is still running,
/// [`Status::Unknown`] if the text does not say.
pub fn ended(tool: &str, text: &str) -> Status {
    match (failed(tool, text), refused(tool, text)) {
        (Some(false), _) => Status::Succeeded,
        (_, Some(how)) => Status::Refused(how),
        (Some(true), None) => Status::Failed,
        (None, None) if running(tool, text).is_some() => Status::Open,
        (None, None) => Status::Unknown,
    }
}

/// The text for a running process or script, with the number from which the model reads it.
pub fn running<'t>(tool: &str, text: &'t str) -> Option<&'t str> {
    let mut lines = head(text).filter(|_| Of::Own.holds(tool));
    lines.find(|line| line.starts_with(PROCESS) || line.starts_with(SCRIPT)).map(str::trim)
}

/// The lines before what a command printed.
fn head(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take(8).take_while(|line| !line.starts_with("Output:"))
}

/// How a call ended, if an event says that it did not succeed.
pub fn by_event(event: &Members<'_>) -> Status {
    let word = event.get("status").and_then(Node::text).map(|word| status(&word));
    if let Some(Status::Refused(_)) = word {
        return Status::Refused("an event says that the call was declined");
    }
    let code = event.get("exit_code").is_some_and(|code| code.number() != Some(0i64));
    let success = event.get("success").and_then(Node::bool) == Some(false);
    let result = event.get("result").and_then(Node::members).is_some_and(|result| {
        let ok = result.get("Ok").and_then(Node::members);
        let inner = ok.as_ref().unwrap_or(&result).any(&["isError", "is_error"]).and_then(Node::bool);
        result.has("Err") || inner == Some(true)
    });
    let error = event.get("error").is_some();
    let failed = code || success || result || error || word == Some(Status::Failed);
    if failed { Status::Failed } else { Status::Unknown }
}

/// How a refusal is known: the user declined the call, or a hook, a rule or the sandbox did.
pub fn refused(tool: &str, text: &str) -> Option<&'static str> {
    let text = text_of(tool, text).trim_end();
    // Errors of calls to a server are in quotes.
    let quoted = || text.strip_prefix("err: \"").filter(|_| Of::Server.holds(tool));
    let text = quoted().map_or(text, |inner| inner.trim_end_matches('"'));
    let commands = Of::Commands.holds(tool);
    if commands
        && text.starts_with("exec_command failed")
        && let Some((_, reason)) = text.split_once("Rejected(")
    {
        // The quotes may be escaped. A process that cannot be started was not rejected.
        let reason = reason.trim_start_matches(['\\', '"']);
        return (!reason.starts_with("Failed to create ")).then_some(REJECTED);
    }
    let whole = REFUSALS.iter().find(|(told, _, of)| text == *told && of.holds(tool));
    let begins = || REASONS.iter().find(|(told, _, of)| text.starts_with(told) && of.holds(tool));
    // `git push` rejected: …
    let by_rule = || text.starts_with('`') && text.contains("` rejected: ");
    let escalated = || text.starts_with("approval policy is ") && text.contains("; reject command");
    let known = whole.or_else(begins).map(|(_, how, _)| *how);
    known.or_else(|| (commands && (by_rule() || escalated())).then_some(REJECTED))
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
            ("aborted", Some(true)),
            ("aborted by user after 2.0s", Some(true)),
            ("Wall time: 1.2 seconds\naborted by user", Some(true)),
            ("aborted by user after lunch", None),
            ("aborted: 3 files\nfailed: none", None),
            ("Plan updated", None),
            ("", None),
        ] {
            // An unknown tool may be any.
            assert_eq!(failed("", text), expected, "{text}");
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
            assert_eq!(ended("", text), expected, "{text}");
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
            assert_eq!(refused("", text).is_some(), expected, "{text}");
        }
    }

    #[test]
    fn only_what_codex_writes_is_a_text_of_codex() {
        use Status::{Failed, Open, Refused, Succeeded, Unknown};
        for (tool, text, expected) in [
            ("exec_command", "exec_command failed for `x`: no", Failed),
            ("mcp__a__b", "exec_command failed for `x`: no", Unknown),
            ("read_file", "exec_command failed for `x`: no", Unknown),
            ("shell", "exec command rejected by user", Refused(BY_USER)),
            ("mcp__a__b", "exec command rejected by user", Unknown),
            ("shell", "`git push` rejected: no", Refused(REJECTED)),
            ("mcp__a__b", "`git push` rejected: no", Unknown),
            ("exec_command", "Exit code: 0\nOutput:\nexecution error: x", Succeeded),
            ("exec", "Script failed\nOutput:\n", Failed),
            ("mcp__a__b", "Script failed\nOutput:\n", Unknown),
            ("mcp__a__b", "Exit code: 1", Unknown),
            ("mcp__a__b", "Process running with session ID 5", Unknown),
            ("exec_command", "Process running with session ID 5", Open),
            ("mcp__a__b", r#"err: "timed out""#, Failed),
            ("js", r#"err: "timed out""#, Unknown),
            ("mcp__a__b", "user rejected MCP tool call", Refused(BY_USER)),
            ("mcp__a__b", "Wall time: 0.1 seconds\nOutput:\nuser rejected MCP tool call", Refused(BY_USER)),
            ("read_file", "user rejected MCP tool call", Unknown),
            ("github__create_issue", "err: \"tool call error: timed out\"", Failed),
            ("github__create_issue", "user rejected MCP tool call", Refused(BY_USER)),
            ("github__create_issue", "exec_command failed", Unknown),
            ("functions__exec_command", "exec_command failed", Failed),
            ("mcp__a__exec_command", "exec_command failed", Unknown),
            ("multi__spawn_agent", "collab spawn failed: no", Failed),
            ("mcp__a__spawn_agent", "collab spawn failed: no", Unknown),
            // These texts occur for any tool.
            ("mcp__a__b", "aborted by user after 1.5s", Failed),
            ("mcp__a__b", "unsupported call: mcp__a__b", Failed),
            ("mcp__a__b", "Tool call blocked by PreToolUse hook: no", Refused(BY_HOOK)),
        ] {
            assert_eq!(ended(tool, text), expected, "{tool} {text}");
        }
    }
}
