//! What an agent's result says of its call. Agents have an event for results, and some another for failures; of commands that
//! exit with an error most tell in the event for results.

use serde_json::Value;

use crate::recording::{self, Status, command};
use crate::session::Body;

/// How an agent's results say that their calls failed, beside what any result may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// In no other way.
    Plain,
    /// As Codex does, in the text.
    Codex,
    /// As Gemini CLI does, in the text for the model.
    Gemini,
}

/// What the result says: `ok` or `error`. `None`: the call has not ended, or nobody says how, so it is not known to have succeeded.
pub fn of(telling: Telling, tool: &str, output: &Body) -> Option<&'static str> {
    let value = output.parsed();
    let get = |key: &str| value.and_then(|value| value.get(key)).filter(|value| !value.is_null());
    let is = |key: &str, truth: bool| get(key) == Some(&Value::Bool(truth));
    // A command that goes on in the background, or was broken off.
    if get("backgroundTaskId").is_some() || is("interrupted", true) || is("timedOut", true) {
        return None;
    }
    let metadata = get("metadata");
    let codes = ["exitCode", "exit_code"];
    let code = codes.iter().find_map(|key| get(key).or_else(|| metadata?.get(key)));
    let failed = code.is_some_and(|code| code.as_f64() != Some(0.0))
        || is("success", false)
        || is("isError", true)
        || is("is_error", true)
        // Of a command; what other tools call so may be a part of what they found.
        || get("stdout").is_some() && get("error").is_some_and(|error| !matches!(error, Value::Bool(false)) && error != "");
    let failed = failed
        || match telling {
            Telling::Plain => false,
            Telling::Codex => false,
            Telling::Gemini => get("error").is_some(),
        };
    let told = get("llmContent").and_then(Value::as_str);
    let status = match telling {
        Telling::Gemini if command::is_geminis(tool) => told.map(command::gemini),
        Telling::Codex => Some(recording::codex_ended(output.shown())),
        Telling::Plain | Telling::Gemini => None,
    };
    match status {
        _ if failed => Some("error"),
        Some(Status::Open) => None,
        Some(Status::Failed) => Some("error"),
        _ => Some("ok"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_to_have_succeeded_is_no_success() {
        use Telling::{Codex, Gemini, Plain};
        for (telling, output, expected) in [
            (Plain, r#"{"stdout": "ok", "stderr": "", "interrupted": false}"#, Some("ok")),
            (Plain, r#"{"stdout": "", "interrupted": true}"#, None),
            (Plain, r#"{"stdout": "", "backgroundTaskId": "b1"}"#, None),
            (Plain, r#"[{"type": "text", "text": "exit_code: 1"}]"#, Some("ok")),
            (Codex, r#""{\"output\": \"\", \"metadata\": {\"exit_code\": 1}}""#, Some("error")),
            (Codex, r#"{"exit_code": 101}"#, Some("error")),
            (Codex, r#"{"exit_code": 0}"#, Some("ok")),
            (Codex, r#"{"success": false}"#, Some("error")),
            (Codex, r#""Exit code: 1\nOutput:\n""#, Some("error")),
            (Plain, r#""{\"exitCode\": 1, \"stdout\": \"\"}""#, Some("error")),
            (Plain, r#""{\"exitCode\": 0}""#, Some("ok")),
            (Plain, r#"{"isError": true}"#, Some("error")),
            (Gemini, r#"{"llmContent": "Command: x\nExit Code: 101", "returnDisplay": ""}"#, Some("error")),
            (Gemini, r#"{"llmContent": "Command: x\nOutput: Exit Code: 1\nExit Code: 0"}"#, Some("ok")),
            (Gemini, r#"{"llmContent": "Command: x\nSignal: 9"}"#, Some("error")),
            (Gemini, r#"{"llmContent": "Command: x\nExit Code: 0\nSignal: (none)"}"#, Some("ok")),
            (Gemini, r#"{"llmContent": "Command was cancelled by user before it could complete."}"#, None),
            (Gemini, r#"{"llmContent": "", "error": {"message": "no"}}"#, Some("error")),
            (Gemini, r#"{"llmContent": [{"text": "a"}]}"#, Some("ok")),
            (Gemini, "null", Some("ok")),
            (Gemini, r#"{"llmContent": "Command moved to background (PID: 1). Output hidden."}"#, None),
            (Codex, r#""Chunk ID: a\nProcess running with session ID 42\nOutput:\nx""#, None),
            (Codex, r#""command timed out after 1000 milliseconds""#, Some("error")),
            (Plain, r#"{"stdout": "", "interrupted": false, "error": "x"}"#, Some("error")),
            (Plain, r#"{"stdout": "", "error": ""}"#, Some("ok")),
            (Plain, r#"{"stdout": "", "timedOut": true}"#, None),
            (Plain, r#"{"error": "none"}"#, Some("ok")),
        ] {
            assert_eq!(of(telling, "run_shell_command", &Body::json(output)), expected, "{output}");
        }
        // A file may hold any text.
        let read = Body::json(r#"{"llmContent": "Exit Code: 1"}"#);
        assert_eq!(of(Gemini, "read_file", &read), Some("ok"));
    }
}
