//! Texts that agents add to the output of a command, as far as they say how the command ended. Hooks receive the same
//! texts, so that a call has the same outcome in a recording and live.

use super::status::{Status, status};
use crate::input::shallow::{Members, Node};
use rulestep_base::session::Body;

/// Beginnings of messages of Gemini CLI and Qwen Code for a command that was aborted, or is still running.
const OPEN: [&str; 9] = [
    "Command was cancelled",
    "Command cancelled",
    "Command was automatically cancelled",
    "Command timed out",
    "Command moved to background",
    "Command is running in background",
    "Background shell ",
    "Foreground command ",
    "Command finished before the background-promote request",
];

/// Beginning of Qwen Code's message if it refuses to run a command in the background.
const NOT_RUN: &str = "Refusing to run ";

/// The outcome in the object that an agent's tool returns. [`Status::Unknown`]: nothing contradicts success.
pub fn object(result: &Members<'_>) -> Status {
    let get = |key: &str| result.try_get(key);
    let is = |key: &str, truth: &str| get(key).is_some_and(|value| value.json() == truth);
    let word = || get("status").and_then(Node::text).map(|word| status(&word));
    // It continues in the background, or was aborted.
    let open = get("backgroundTaskId").is_some() || is("interrupted", "true") || is("timedOut", "true");
    if open || is("isAsync", "true") {
        return Status::Open;
    }
    let metadata = get("metadata").and_then(Node::members);
    let codes = ["exitCode", "exit_code"];
    let code = codes.iter().find_map(|key| get(key).or_else(|| metadata.as_ref()?.try_get(key)));
    let marked = code.is_some_and(|code| code.number() != Some(0.0))
        || is("success", "false")
        || is("isError", "true")
        || is("is_error", "true");
    // For a command; in the output of other tools such a key may be part of the data.
    let of_command = get("stdout").is_some();
    let failed = || get("error").is_some_and(|error| !matches!(error.json(), "false" | "\"\""));
    match word().filter(|_| of_command) {
        _ if marked || of_command && failed() => Status::Failed,
        Some(Status::Failed | Status::Refused(_)) => Status::Failed,
        Some(Status::Open) => Status::Open,
        _ => Status::Unknown,
    }
}

/// The same for a whole result, which may have such an object in a text.
pub fn result(result: &rulestep_base::session::Body) -> Status {
    let members = Node::parse(result.shown()).ok().and_then(|node| node.tried().members());
    members.map_or(Status::Unknown, |members| object(&members))
}

/// Beginnings of results if OpenHands keeps a conversation as texts.
const OBSERVED: [&str; 2] = ["OBSERVATION:\n", "EXECUTION RESULT of ["];

/// Whether a message is the result of an action in a conversation of OpenHands that is kept as texts.
pub fn is_openhands(told: &Body) -> bool {
    OBSERVED.iter().any(|begins| told.shows(begins))
}

/// How an action ended, by such a message.
pub fn openhands(told: &str) -> Status {
    let [observed, executed] = OBSERVED;
    let executed = || told.strip_prefix(executed).and_then(|rest| Some(rest.split_once("]:\n")?.1));
    told.strip_prefix(observed).or_else(executed).map_or(Status::Unknown, openhands_output)
}

/// The same for the output alone: OpenHands appends how the command ended.
pub fn openhands_output(told: &str) -> Status {
    /// Other lines after the output.
    const ABOUT: [&str; 2] = ["[Current working directory: ", "[Python interpreter: "];
    const OPEN: [&str; 2] = ["[The command has no new output after ", "[The command timed out after "];
    if told.starts_with("ERROR:") {
        return Status::Failed;
    }
    let mut lines = told.trim_end().lines().rev();
    let Some(last) = lines.find(|line| !ABOUT.iter().any(|about| line.starts_with(about))) else {
        return Status::Unknown;
    };
    let Some(inner) = last.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) else {
        return Status::Unknown;
    };
    if OPEN.iter().any(|open| last.starts_with(open)) {
        return Status::Open;
    }
    // Older versions number their commands.
    let code = match inner.strip_prefix("The command completed with exit code ") {
        Some(rest) => rest.split('.').next(),
        None => inner.strip_prefix("Command ").and_then(|rest| {
            let (number, code) = rest.split_once("finished with exit code ")?;
            number.trim_end().bytes().all(|byte| byte.is_ascii_digit() || byte == b'-').then_some(code)
        }),
    };
    code.map_or(Status::Unknown, exit_code)
}

/// The status of a command's exit code, where -1 means that it is still running, as with OpenHands.
fn exit_code(code: &str) -> Status {
    match code.trim().parse() {
        Ok(0) => Status::Succeeded,
        Ok(-1) | Err(_) => Status::Open,
        Ok(_) => Status::Failed,
    }
}

/// Whether Claude Code says that a command continues in the background, if only the text for the model is recorded.
pub fn goes_on(text: &str) -> bool {
    let begins = ["Command running in background with ID: ", "Command was manually backgrounded by user "];
    begins.iter().any(|begins| text.starts_with(begins))
        || text.starts_with("Command exceeded the ") && text.contains(" moved to the background ")
}

/// Whether a tool of Gemini CLI runs commands. Others return texts from elsewhere.
pub fn is_geminis(tool: &str) -> bool {
    tool == "run_shell_command"
}

/// Whether a tool of Codex runs commands: by the name that its events have, or by one that its log has.
pub fn is_codexs(tool: &str) -> bool {
    let names =
        "Bash exec_command shell shell_command shell_call local_shell local_shell_call container.exec";
    names.split(' ').any(|name| name == tool)
}

/// Lines after the output of a command, in this order.
const TRAILER: [&str; 5] = ["Error:", "Exit Code:", "Signal:", "Background PIDs:", "Process Group PGID:"];

/// The outcome in Gemini CLI's message to the model about a command: its own mark is a failure only if the command
/// could not be started. `None`: the text is not one that it writes.
pub fn gemini(told: &str) -> Option<Status> {
    let told = unwrapped(told);
    if OPEN.iter().any(|open| told.starts_with(open)) {
        return Some(Status::Open);
    }
    if told.starts_with(NOT_RUN) {
        return Some(Status::Failed);
    }
    let (mut code, mut signal, mut next) = (None, None, TRAILER.len());
    for line in told.lines().rev() {
        // A line that is out of order was printed by the command.
        let place = TRAILER.iter().take(next).position(|name| line.starts_with(name));
        let (Some(place), Some((_, value))) = (place, line.split_once(':')) else { break };
        match place {
            1 => code = Some(value.trim()),
            2 => signal = Some(value.trim()),
            _ => {}
        }
        next = place;
    }
    if next == TRAILER.len() {
        // Other text at the end, for example after a summary: in doubt the command failed.
        code = told.lines().rev().find_map(|line| line.strip_prefix("Exit Code:")).map(str::trim);
    }
    let signal = signal.filter(|signal| !matches!(*signal, "" | "0" | "(none)"));
    match (code, signal) {
        (None, None) if next == TRAILER.len() && !told.starts_with("Output:") => None,
        (None | Some("0"), None) => Some(Status::Succeeded),
        // How it ended is not recorded.
        (Some("" | "(none)"), None) => Some(Status::Open),
        _ => Some(Status::Failed),
    }
}

/// The outcome in the text that Gemini CLI and Qwen Code display for a command without output that did not succeed.
pub fn displayed(shown: &str) -> Option<Status> {
    let failed =
        ["Command exited with code: ", "Command terminated by signal: ", "Command failed: ", "Refused: "];
    let open = OPEN.iter().any(|open| shown.starts_with(open)).then_some(Status::Open);
    open.or_else(|| failed.iter().any(|failed| shown.starts_with(failed)).then_some(Status::Failed))
}

/// The tool's own text: newer versions mark it as untrusted, and hooks may add to it.
fn unwrapped(told: &str) -> &str {
    let mut told = told.trim_end();
    if told.ends_with("</hook_context>") {
        told = told.rsplit_once("<hook_context>").map_or(told, |(before, _)| before.trim_end());
    }
    let inner = told.strip_prefix("<untrusted_context>").map_or(told, str::trim_start);
    inner.strip_suffix("</untrusted_context>").unwrap_or(inner).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_openhands_tells_of_a_command() {
        use Status::{Failed, Open, Succeeded, Unknown};
        for (told, expected) in [
            ("ERROR:\nno such file", Failed),
            ("ok\n[Command finished with exit code 0]", Succeeded),
            ("no\n[Command finished with exit code 1]", Failed),
            ("no\n[Command 17 finished with exit code 2]", Failed),
            ("no\n[Command -1 finished with exit code 2]", Failed),
            ("...\n[Command finished with exit code -1]", Open),
            ("...\n[Command finished with exit code ?]", Open),
            ("no\n[The command completed with exit code 1.]", Failed),
            ("^C\n[The command completed with exit code 130. CTRL+C was sent.]", Failed),
            (
                "ok\n[The command completed with exit code 0.]\n[Current working directory: /w]\n[Python interpreter: /p]\n\
                 [Command finished with exit code 0]",
                Succeeded,
            ),
            ("no\n[The command completed with exit code 1.]\n[Current working directory: /w]\n", Failed),
            ("...\n[The command has no new output after 30 seconds. You may wait longer.]", Open),
            ("...\n[The command timed out after 120.0 seconds. You may wait longer.]", Open),
            // Output of the command, and tools that are not commands.
            ("[Command finished with exit code 1]\nok\n[Command finished with exit code 0]", Succeeded),
            ("[Command finished with exit code 1]\nmore", Unknown),
            ("[Command that finished with exit code 1]", Unknown),
            ("File created successfully", Unknown),
            ("[]", Unknown),
            ("", Unknown),
        ] {
            assert_eq!(openhands(&format!("OBSERVATION:\n{told}")), expected, "{told}");
        }
        assert_eq!(openhands("no\n[Command finished with exit code 1]"), Unknown);
    }

    #[test]
    fn what_gemini_tells_of_a_command() {
        use Status::{Failed, Open, Succeeded};
        let timeout = "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes.";
        for (told, expected) in [
            ("Command: x\nExit Code: 101", Some(Failed)),
            ("Output: x\nExit Code: 127\nSignal: (none)", Some(Failed)),
            ("Command: x\nOutput: Exit Code: 1\nExit Code: 0", Some(Succeeded)),
            ("Command: x\nSignal: 9", Some(Failed)),
            ("Command: x\nExit Code: (none)\nSignal: 15\nProcess Group PGID: 7", Some(Failed)),
            ("Command: x\nExit Code: 0\nSignal: (none)", Some(Succeeded)),
            ("Command: x\nExit Code: (none)\nSignal: (none)", Some(Open)),
            ("Output: ok", Some(Succeeded)),
            ("", None),
            ("something else", None),
            // Output of the command.
            ("Output: Exit Code: 1\nProcess Group PGID: 7", Some(Succeeded)),
            ("Output: a\nExit Code: 1\nmore\nProcess Group PGID: 7", Some(Succeeded)),
            ("Output: a\nExit Code: 0\nExit Code: 2\nProcess Group PGID: 7", Some(Failed)),
            ("Output: Signal: 9\nExit Code: 2\nProcess Group PGID: 7", Some(Failed)),
            // Additions by others.
            ("Output: x\nExit Code: 3\n\nA summary.", Some(Failed)),
            ("Output: x\nExit Code: 1\n\n<hook_context>a\nExit Code: 0\n</hook_context>", Some(Failed)),
            (
                "<untrusted_context>\nOutput: x\nExit Code: 1\nProcess Group PGID: 7\n</untrusted_context>",
                Some(Failed),
            ),
            ("<untrusted_context>\nOutput: x\nProcess Group PGID: 7\n</untrusted_context>", Some(Succeeded)),
            ("<untrusted_context>\nCommand timed out\n</untrusted_context>", Some(Open)),
            ("Command was cancelled by user before it could complete.", Some(Open)),
            ("Command moved to background (PID: 33701). Output hidden.", Some(Open)),
            (timeout, Some(Open)),
            ("Background shell started.\nid: bg_1\npid: 12", Some(Open)),
            ("Foreground command \"make serve\" promoted to background as bg_1.", Some(Open)),
            ("Refusing to run `git commit` in background mode: notes need the foreground.", Some(Failed)),
        ] {
            assert_eq!(gemini(told), expected, "{told}");
        }
    }
}
