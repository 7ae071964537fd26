//! Codex runs a hook only after its user has trusted it, which it keeps in the user's configuration.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::super::Agent;
use super::super::settings::{Flaw, Hook, best};

#[derive(Default, Deserialize)]
struct Config {
    hooks: Option<Hooks>,
}

#[derive(Default, Deserialize)]
struct Hooks {
    state: Option<toml::Table>,
}

/// Looks whether Codex runs the hooks of ours in this file. `user` is the folder of the user's configuration.
pub fn look(settings: &Path, hooks: &[Hook], user: Option<&Path>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    let text = user.and_then(|user| fs::read_to_string(user.join("config.toml")).ok()).unwrap_or_default();
    // A file that cannot be read is reported where the switches are looked for; here nothing in it is trusted.
    let config: Config = toml::from_str(&text).unwrap_or_default();
    let states = config.hooks.and_then(|hooks| hooks.state).unwrap_or_default();
    let mut add = |fatal, text| flaws.push(Flaw { text, fatal, fixed_by_install: false });
    for (event, _) in Agent::Codex.events() {
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

/// What Codex calls an event in its configuration.
fn label(event: &str) -> &'static str {
    match event {
        "PreToolUse" => "pre_tool_use",
        "PostToolUse" => "post_tool_use",
        _ => "user_prompt_submit",
    }
}

/// What Codex keeps of a hook that was trusted, where that has neither a matcher nor anything else.
fn digest(label: &str, command: &str) -> String {
    let event = serde_json::Value::from(label);
    let command = json!(command);
    let text = format!(
        r#"{{"event_name":{event},"hooks":[{{"async":false,"command":{command},"timeout":600,"type":"command"}}]}}"#
    );
    let digest = hmac_sha256::Hash::hash(text.as_bytes());
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}
