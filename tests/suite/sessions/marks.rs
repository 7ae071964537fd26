//! How recordings mark what became of a call.

use serde_json::json;
use toolgate::session::Outcome;

use super::opened;

#[test]
fn claude_code_tells_refusals_by_what_their_results_say() {
    let outcome = |text: &str, error: bool| {
        let line = |kind: &str, uuid: &str, parent: Option<&str>, content| {
            json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s",
                "timestamp": "2026-05-04T10:00:00.000Z", "message": {"role": kind, "content": [content]}})
        };
        let call = json!({"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "git push"}});
        let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": text, "is_error": error});
        let lines = [line("assistant", "a", None, call), line("user", "b", Some("a"), result)];
        let (sessions, _) = opened(lines.map(|line| format!("{line}\n")).concat());
        sessions[0].calls[0].outcome
    };
    for (text, error, expected) in [
        (
            "The user doesn't want to proceed with this tool use. The tool use was rejected.",
            true,
            Outcome::Refused,
        ),
        ("Permission to use Bash with command git push has been denied.", true, Outcome::Refused),
        ("Claude requested permissions to use Bash, but you haven't granted it yet.", true, Outcome::Refused),
        ("This command requires approval", true, Outcome::Refused),
        (
            "This Bash command contains multiple operations. The following part requires approval: git push",
            true,
            Outcome::Refused,
        ),
        ("Error: PreToolUse:Bash hook error: [guard.sh]: no push", true, Outcome::Refused),
        ("grep: This command requires approval", true, Outcome::Error),
        ("This command requires approval", false, Outcome::Ok),
        ("Exit code 1", true, Outcome::Error),
    ] {
        assert_eq!(outcome(text, error), expected, "{text}");
    }
}
