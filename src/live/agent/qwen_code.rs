//! Qwen Code: the events of Claude Code, with the tools and the results of the Gemini CLI.

use serde_json::json;

use super::super::outcome::Telling;
use super::event::Meaning;
use super::reply::{Reply, specific};
use super::spec::{AgentSpec, Answers, HookForm, Places, Switch, needed, possible};

/// The row.
pub const SPEC: AgentSpec = AgentSpec {
    name: "qwen-code",
    places: Places {
        variable: Some("QWEN_HOME"),
        off: Some("QWEN_CODE_SIMPLE"),
        folder: ".qwen",
        hooks: "settings.json",
        switches: &["settings.json"],
        managed: &[
            "/etc/qwen-code/settings.json",
            "/Library/Application Support/QwenCode/settings.json",
            "C:/ProgramData/qwen-code/settings.json",
        ],
        key: "disableAllHooks",
        switch: Switch::Json(|root| root.get_boolean("disableAllHooks").map(|off| !off.value)),
    },
    form: HookForm {
        comments: true,
        groups: true,
        needs: None,
        fails_closed: None,
        no_background: false,
        timeout_unit: 1.0,
        timeout_default: 60_000.0,
        disabling: &[],
    },
    events: &[
        needed("PreToolUse", Meaning::Call),
        needed("PostToolUse", Meaning::Result),
        needed("PostToolUseFailure", Meaning::Failure),
        needed("UserPromptSubmit", Meaning::Prompt),
        needed("SessionEnd", Meaning::End),
        possible("SessionStart", Meaning::Nothing),
        possible("SubagentStart", Meaning::Nothing),
        possible("SubagentStop", Meaning::Nothing),
        possible("PreCompact", Meaning::Nothing),
        possible("PostCompact", Meaning::Nothing),
        possible("Stop", Meaning::Nothing),
        possible("StopFailure", Meaning::Nothing),
        possible("Notification", Meaning::Nothing),
        possible("PermissionRequest", Meaning::Nothing),
    ],
    session_key: "session_id",
    // The ids of calls in its logs are not those of its events.
    logs: None,
    telling: Telling::Gemini,
    // `ask` and `continue` stop the call there, and neither asks a person nor ends the run.
    answers: Answers { silent: "{}\n", ask: None, deny, halt: deny },
    after_install: None,
    trust: None,
    turned_off_by: None,
};

/// With exit code 2 it reads only standard error, as JSON if it is JSON, so the whole answer is there. Of several
/// hooks, the last one with a `permissionDecision` counts, so there is one beside `decision`.
fn deny(reason: &str) -> Reply {
    let answer =
        json!({"decision": "deny", "reason": reason, "hookSpecificOutput": specific("deny", reason)});
    Reply::blocks(&answer, &answer.to_string())
}
