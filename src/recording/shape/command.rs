//! What agents write around the output of a command, as far as it says how the command ended. Hooks are told the same texts, so
//! that a call comes to the same in a recording and live.

use super::status::Status;

/// Beginnings of what Gemini CLI tells the model of a command that was broken off, or that goes on.
const OPEN: [&str; 5] = [
    "Command was cancelled",
    "Command was automatically cancelled",
    "Command timed out",
    "Command moved to background",
    "Command is running in background",
];

/// Whether a tool of Gemini CLI runs commands. Others give back texts that somebody else wrote.
pub fn is_geminis(tool: &str) -> bool {
    tool == "run_shell_command"
}

/// What Gemini CLI tells the model of a command: its own mark is a failure only where the command could not be started.
pub fn gemini(told: &str) -> Status {
    if OPEN.iter().any(|open| told.starts_with(open)) {
        return Status::Open;
    }
    // What the command printed comes before them.
    let said = |name: &str| told.lines().rev().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let is_none = |text: &str| text.is_empty() || text == "(none)";
    let failed = said("Exit Code:").is_some_and(|code| !is_none(code) && code != "0")
        || said("Signal:").is_some_and(|signal| !is_none(signal) && signal != "0");
    if failed { Status::Failed } else { Status::Succeeded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gemini_tells_of_a_command() {
        for (told, expected) in [
            ("Command: x\nExit Code: 101", Status::Failed),
            ("Output: x\nExit Code: 127\nSignal: (none)", Status::Failed),
            ("Command: x\nOutput: Exit Code: 1\nExit Code: 0", Status::Succeeded),
            ("Command: x\nSignal: 9", Status::Failed),
            ("Command: x\nExit Code: 0\nSignal: (none)", Status::Succeeded),
            ("Command: x\nExit Code: \nSignal: ", Status::Succeeded),
            ("Output: ok", Status::Succeeded),
            ("", Status::Succeeded),
            ("Command was cancelled by user before it could complete.", Status::Open),
            (
                "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes.",
                Status::Open,
            ),
            ("Command moved to background (PID: 33701). Output hidden.", Status::Open),
            ("Command timed out", Status::Open),
        ] {
            assert_eq!(gemini(told), expected, "{told}");
        }
    }
}
