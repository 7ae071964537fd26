//! The Codex CLI. It runs a hook only after its user has trusted it, which is recorded in the user's configuration.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::outcome::Telling;
use super::super::settings::{Flaw, Hook, best};
use super::event::Meaning;
use super::reply::{Reply, specific};
use super::spec::{AgentSpec, Answers, EventSpec, HookForm, Logs, Places, Switch, needed};

const EVENTS: &[EventSpec] = &[
    needed("PreToolUse", Meaning::Call),
    needed("PostToolUse", Meaning::Result),
    needed("UserPromptSubmit", Meaning::Prompt),
];

/// The row.
pub const SPEC: AgentSpec = AgentSpec {
    name: "codex",
    places: Places {
        variable: Some("CODEX_HOME"),
        off: None,
        folder: ".codex",
        hooks: "hooks.json",
        switches: &["config.toml"],
        managed: &["/etc/codex/requirements.toml"],
        key: "hooks = false",
        switch: Switch::Toml(features),
    },
    form: HookForm {
        comments: false,
        groups: true,
        needs: None,
        fails_closed: None,
        no_background: true,
        timeout_unit: 1000.0,
        timeout_default: 600_000.0,
        disabling: &[],
    },
    events: EVENTS,
    session_key: "session_id",
    logs: Some(Logs { format: "codex-rollout", folder: "sessions", tells_commands: true, subagent: None }),
    telling: Telling::Codex,
    answers: Answers {
        silent: "",
        ask: None,
        deny,
        // It takes `continue` for a mistake of the hook and lets the call run, so a halt is a denial: every later call
        // is denied as well.
        halt: deny,
    },
    after_install: Some("Codex runs a new hook only after you have trusted it: enter `/hooks` there"),
    trust: Some(untrusted),
    turned_off_by: Some(
        || json!({"program": "codex", "args": ["features", "disable", ["hooks", "codex_hooks"]]}),
    ),
};

fn deny(reason: &str) -> Reply {
    Reply::blocks(&json!({"hookSpecificOutput": specific("deny", reason)}), reason)
}

#[derive(Default, Deserialize)]
struct Config {
    features: Option<Features>,
}

#[derive(Default, Deserialize)]
struct Features {
    hooks: Option<bool>,
    /// The name that the switch had first.
    codex_hooks: Option<bool>,
}

/// Whether a configuration has hooks run.
fn features(text: &str) -> Result<Option<bool>, String> {
    let config: Config = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    Ok(config.features.and_then(|features| features.hooks.or(features.codex_hooks)))
}

#[derive(Default, Deserialize)]
struct Trusting {
    hooks: Option<States>,
}

#[derive(Default, Deserialize)]
struct States {
    state: Option<toml::Table>,
}

/// Why hooks of ours in this file do not run. `user` is the folder of the user's configuration.
fn untrusted(settings: &Path, hooks: &[Hook], user: Option<&Path>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    let text = user.and_then(|user| fs::read_to_string(user.join("config.toml")).ok()).unwrap_or_default();
    // The search for switches reports an unreadable file; here nothing in it is trusted.
    let config: Trusting = toml::from_str(&text).unwrap_or_default();
    let states = config.hooks.and_then(|hooks| hooks.state).unwrap_or_default();
    let mut add = |fatal, text| flaws.push(Flaw { text, fatal, fixed_by_install: false });
    for EventSpec { name: event, .. } in EVENTS {
        let Some(hook) = best(hooks, event) else { continue };
        let label = label(event);
        let (group, handler) = hook.place;
        let paths = [Some(settings.to_owned()), fs::canonicalize(settings).ok()];
        let keys = paths.iter().flatten().map(|path| format!("{}:{label}:{group}:{handler}", path.display()));
        let state = keys.into_iter().find_map(|key| states.get(&key)?.as_table());
        let enabled = state.and_then(|state| state.get("enabled")?.as_bool());
        let trusted = state.and_then(|state| state.get("trusted_hash")?.as_str());
        match (enabled, trusted) {
            (Some(false), _) => {
                add(true, format!("the hook for `{event}` is turned off: turn it on with `/hooks` in Codex"))
            }
            (_, None) => add(
                true,
                format!(
                    "Codex does not run the hook for `{event}`, as nobody has trusted it: trust it with `/hooks` in Codex"
                ),
            ),
            (_, Some(trusted)) if hook.is_plain && trusted != digest(label, &hook.command) => add(
                false,
                format!(
                    "the hook for `{event}` seems to be another than the one that was trusted, which Codex does not run: look at \
                 it with `/hooks` in Codex"
                ),
            ),
            _ => {}
        }
    }
    flaws
}

/// Codex's name for an event in its configuration.
fn label(event: &str) -> &'static str {
    match event {
        "PreToolUse" => "pre_tool_use",
        "PostToolUse" => "post_tool_use",
        _ => "user_prompt_submit",
    }
}

/// Codex's digest of a trusted hook, if that has neither a matcher nor anything else.
fn digest(label: &str, command: &str) -> String {
    let event = Value::from(label);
    let command = json!(command);
    let text = format!(
        r#"{{"event_name":{event},"hooks":[{{"async":false,"command":{command},"timeout":600,"type":"command"}}]}}"#
    );
    let digest = hmac_sha256::Hash::hash(text.as_bytes());
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}
