//! The outcome of a call, by the agent's result. Agents have an event for results, and some another for failures;
//! commands that exit with an error are mostly in the event for results.

use serde_json::Value;

use rulestep_base::session::{Body, Form};
use rulestep_recording::{Status, command};

/// How an agent's results mark failed calls, besides the marks that any result may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// By no other mark.
    Plain,
    /// As in Codex: a command's events have its output, and only the log has the exit code.
    Codex,
    /// As in Gemini CLI, in the text for the model.
    Gemini,
}

/// The outcome by the result: `ok` or `error`. `None`: the call has not ended, or its outcome is unknown, so it is not
/// known to have succeeded.
pub fn of(telling: Telling, tool: &str, output: &Body) -> Option<&'static str> {
    let by_object = command::result(output);
    let get = |key: &str| output.parsed()?.get(key).filter(|value| !value.is_null());
    let status = match telling {
        // The output of a command may look like anything.
        Telling::Codex if command::is_codexs(tool) => match by_object {
            _ if output.form() != Some(Form::Json) => Status::Open,
            Status::Unknown if get("exit_code").is_some_and(|code| *code == 0) => Status::Succeeded,
            Status::Unknown => Status::Open,
            told => told,
        },
        _ if by_object != Status::Unknown => by_object,
        Telling::Plain | Telling::Codex => Status::Unknown,
        Telling::Gemini if get("error").is_some() => Status::Failed,
        Telling::Gemini => {
            let told = get("llmContent").and_then(Value::as_str).filter(|_| command::is_geminis(tool));
            told.and_then(command::gemini).unwrap_or(Status::Unknown)
        }
    };
    match status {
        Status::Open => None,
        Status::Failed | Status::Refused(_) => Some("error"),
        Status::Succeeded | Status::Unknown => Some("ok"),
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
            (Codex, r#""{\"output\": \"\", \"metadata\": {\"exit_code\": 0}}""#, None),
            (Codex, r#"{"exit_code": 101}"#, Some("error")),
            (Codex, r#"{"exit_code": 0}"#, Some("ok")),
            (Codex, r#"{"success": false}"#, Some("error")),
            (Codex, r#"{"output": "3 tests failed"}"#, None),
            (Codex, r#""3 tests failed""#, None),
            (Codex, r#""Process exited with code 0\nOutput:\n""#, None),
            (Codex, r#""\n""#, None),
            (Codex, "null", None),
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
            (Codex, r#""command timed out after 1000 milliseconds""#, None),
            (Plain, r#"{"stdout": "", "interrupted": false, "error": "x"}"#, Some("error")),
            (Plain, r#"{"stdout": "", "error": ""}"#, Some("ok")),
            (Plain, r#"{"stdout": "", "timedOut": true}"#, None),
            (Plain, r#"{"error": "none"}"#, Some("ok")),
            (Plain, r#"{"stdout": "", "status": "failed"}"#, Some("error")),
            (Plain, r#"{"status": "failed"}"#, Some("ok")),
            (Plain, r#"{"isAsync": true, "status": "async_launched"}"#, None),
            (
                Gemini,
                r#"{"llmContent": "<untrusted_context>\nCommand timed out\n</untrusted_context>"}"#,
                None,
            ),
        ] {
            let tool = if telling == Codex { "Bash" } else { "run_shell_command" };
            assert_eq!(of(telling, tool, &Body::json(output)), expected, "{output}");
        }
        // Codex reports what other tools gave only if they succeeded, or with a mark.
        let patched = Body::json(r#""Success. Updated the following files:\nM a.rs\n""#);
        assert_eq!(of(Codex, "apply_patch", &patched), Some("ok"));
        assert_eq!(of(Codex, "mcp__a__b", &Body::json(r#"{"isError": true, "content": []}"#)), Some("error"));
        // A file may hold any text.
        let read = Body::json(r#"{"llmContent": "Exit Code: 1"}"#);
        assert_eq!(of(Gemini, "read_file", &read), Some("ok"));
    }
}
