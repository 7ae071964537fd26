//! Where an agent keeps its hooks, and what turns them off. `install` writes there, `doctor` looks there, and a test asks the
//! shipped policy to guard each of these files.

use super::Agent;

/// The files that say whether an agent's hooks run.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    /// The variable that names the user's folder.
    pub variable: Option<&'static str>,
    /// The folder, in a project and in the user's home.
    pub folder: &'static str,
    /// The file with the hooks.
    pub hooks: &'static str,
    /// The files with a switch for all hooks, the one that counts most first.
    pub switches: &'static [&'static str],
    /// Those of the machine, which count more than all others.
    pub managed: &'static [&'static str],
    /// The switch.
    pub key: &'static str,
    /// The variable with which it runs no hook.
    pub off: Option<&'static str>,
    /// The folder of its logs, in the user's folder, where hooks read them.
    pub logs: Option<&'static str>,
}

impl Agent {
    /// Where its hooks are.
    pub fn places(self) -> Places {
        match self {
            Agent::ClaudeCode => Places {
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
                logs: Some("projects"),
            },
            Agent::Codex => Places {
                variable: Some("CODEX_HOME"),
                off: None,
                folder: ".codex",
                hooks: "hooks.json",
                switches: &["config.toml"],
                managed: &["/etc/codex/requirements.toml"],
                key: "hooks = false",
                logs: Some("sessions"),
            },
            Agent::GeminiCli => Places {
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
                logs: None,
            },
            // Its hooks are on wherever they are.
            Agent::Cursor => Places {
                variable: None,
                off: None,
                folder: ".cursor",
                hooks: "hooks.json",
                switches: &[],
                managed: &[],
                key: "",
                logs: None,
            },
        }
    }
}
