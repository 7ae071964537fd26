//! The Gemini CLI.

use serde_json::json;

use super::super::outcome::Telling;
use super::event::Meaning;
use super::reply::Reply;
use super::spec::{AgentSpec, Answers, HookForm, Places, Switch, needed, possible};

/// The row.
pub const SPEC: AgentSpec = AgentSpec {
    name: "gemini-cli",
    places: Places {
        variable: None,
        off: None,
        folder: ".gemini",
        hooks: "settings.json",
        switches: &["settings.json"],
        managed: &[
            "/etc/gemini-cli/settings.json",
            "/Library/Application Support/GeminiCli/settings.json",
            "C:/ProgramData/gemini-cli/settings.json",
        ],
        key: "hooksConfig.enabled",
        switch: Switch::Json(|root| {
            let on = |key: &str| root.get_object(key)?.get_boolean("enabled");
            on("hooksConfig").or(on("hooks")).map(|on| on.value)
        }),
    },
    form: HookForm {
        comments: true,
        groups: true,
        needs: None,
        fails_closed: None,
        no_background: false,
        timeout_unit: 1.0,
        timeout_default: 60_000.0,
        disabling: &[("hooksConfig", "hooksConfig.disabled"), ("hooks", "hooks.disabled")],
    },
    events: &[
        needed("BeforeTool", Meaning::Call),
        needed("AfterTool", Meaning::Result),
        needed("BeforeAgent", Meaning::Prompt),
        needed("SessionEnd", Meaning::End),
        possible("AfterAgent", Meaning::Nothing),
        possible("BeforeModel", Meaning::Nothing),
        possible("AfterModel", Meaning::Nothing),
        possible("BeforeToolSelection", Meaning::Nothing),
        possible("PreCompress", Meaning::Nothing),
    ],
    session_key: "session_id",
    logs: None,
    telling: Telling::Gemini,
    answers: Answers {
        silent: "{}\n",
        ask: None,
        deny: |reason| Reply::blocks(&json!({"decision": "deny", "reason": reason}), reason),
        // JSON counts with exit code 0 alone.
        halt: |reason| {
            Reply::says(&json!({
                "continue": false, "stopReason": reason, "decision": "deny", "reason": reason,
            }))
        },
    },
    after_install: None,
    trust: None,
    turned_off_by: Some(|| json!({"program": "gemini", "args": ["hooks", "disable"]})),
};
