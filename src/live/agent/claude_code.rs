//! Claude Code.

use serde_json::json;

use super::super::outcome::Telling;
use super::event::Meaning;
use super::reply::{Reply, specific};
use super::spec::{AgentSpec, Answers, Ask, HookForm, Logs, Places, Switch, needed, possible};

/// The row.
pub const SPEC: AgentSpec = AgentSpec {
    name: "claude-code",
    places: Places {
        variable: Some("CLAUDE_CONFIG_DIR"),
        off: Some("CLAUDE_CODE_SIMPLE"),
        folder: ".claude",
        hooks: "settings.json",
        switches: &["settings.local.json", "settings.json"],
        managed: &[
            "/etc/claude-code/managed-settings.json",
            "/Library/Application Support/ClaudeCode/managed-settings.json",
            "C:/Program Files/ClaudeCode/managed-settings.json",
        ],
        key: "disableAllHooks",
        switch: Switch::Json(|root| {
            // If only managed hooks run, one in another file does not.
            let managed_only = root.get_boolean("allowManagedHooksOnly").is_some_and(|only| only.value);
            let off = root.get_boolean("disableAllHooks").map(|off| off.value);
            if managed_only { Some(false) } else { off.map(|off| !off) }
        }),
    },
    form: HookForm {
        comments: false,
        groups: true,
        needs: None,
        fails_closed: None,
        no_background: false,
        timeout_unit: 1000.0,
        timeout_default: 600_000.0,
        disabling: &[],
    },
    events: &[
        needed("PreToolUse", Meaning::Call),
        needed("PostToolUse", Meaning::Result),
        needed("PostToolUseFailure", Meaning::Failure),
        needed("UserPromptSubmit", Meaning::Prompt),
        needed("SessionEnd", Meaning::End),
        // For the agent's own mode without prompts; it does not report a person's answer.
        possible("PermissionDenied", Meaning::Refusal),
        possible("SessionStart", Meaning::Nothing),
        possible("SubagentStart", Meaning::Nothing),
        possible("SubagentStop", Meaning::Nothing),
        possible("PreCompact", Meaning::Nothing),
        possible("PostCompact", Meaning::Nothing),
        possible("Stop", Meaning::Nothing),
        possible("Notification", Meaning::Nothing),
        possible("PermissionRequest", Meaning::Nothing),
    ],
    session_key: "session_id",
    logs: Some(Logs {
        format: "claude-code",
        folder: "projects",
        tells_commands: false,
        // Newer versions keep a file for each subagent.
        subagent: Some(|log, id| {
            format!("{}/subagents/agent-{id}.jsonl", log.strip_suffix(".jsonl").unwrap_or(log))
        }),
    }),
    telling: Telling::Plain,
    answers: Answers {
        silent: "",
        ask: Some(Ask {
            // In its mode `auto`, a model answers for the user.
            about: |about| about.permission_mode.as_deref() != Some("auto"),
            reply: |reason| Reply::says(&json!({"hookSpecificOutput": specific("ask", reason)})),
        }),
        deny: |reason| Reply::blocks(&json!({"hookSpecificOutput": specific("deny", reason)}), reason),
        // JSON counts with exit code 0 alone.
        halt: |reason| {
            Reply::says(&json!({
                "continue": false, "stopReason": reason, "hookSpecificOutput": specific("deny", reason),
            }))
        },
    },
    after_install: None,
    trust: None,
    turned_off_by: None,
};
