//! The tools that agents have by themselves, so that what is tried on a hook is a call that its agent can make.

use serde_json::{Map, Value};

use super::Agent;

/// A tool of an agent, and how it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentTool {
    /// Its name, as the agent's events have it.
    pub name: &'static str,
    /// The argument that says what it works on.
    pub argument: &'static str,
    /// The other arguments that a call needs, as JSON.
    others: &'static str,
}

const fn tool(name: &'static str, argument: &'static str, others: &'static str) -> AgentTool {
    AgentTool { name, argument, others }
}

const REPLACES: &str = r#"{"old_string": "a", "new_string": "b"}"#;
const WRITES: &str = r#"{"content": "a"}"#;

impl Agent {
    /// Its tools; those of MCP servers come besides.
    pub fn tools(self) -> &'static [AgentTool] {
        match self {
            Agent::ClaudeCode => {
                const {
                    &[
                        tool("Bash", "command", "{}"),
                        tool("Write", "file_path", WRITES),
                        tool("Edit", "file_path", REPLACES),
                        tool(
                            "MultiEdit",
                            "file_path",
                            r#"{"edits": [{"old_string": "a", "new_string": "b"}]}"#,
                        ),
                        tool("NotebookEdit", "notebook_path", r#"{"new_source": "a"}"#),
                        tool("Read", "file_path", "{}"),
                        tool("WebFetch", "url", r#"{"prompt": "a"}"#),
                        tool("WebSearch", "query", "{}"),
                        tool("Grep", "pattern", "{}"),
                        tool("Glob", "pattern", "{}"),
                        tool("LS", "path", "{}"),
                        tool("Task", "prompt", "{}"),
                        tool("Agent", "prompt", "{}"),
                        tool("TodoWrite", "todos", "{}"),
                        tool("ExitPlanMode", "plan", "{}"),
                        tool("EnterPlanMode", "plan", "{}"),
                        tool("AskUserQuestion", "questions", "{}"),
                        tool("Monitor", "command", "{}"),
                        tool("BashOutput", "bash_id", "{}"),
                        tool("KillShell", "shell_id", "{}"),
                        tool("TaskOutput", "task_id", "{}"),
                        tool("TaskStop", "task_id", "{}"),
                        tool("Skill", "skill", "{}"),
                        tool("ToolSearch", "query", "{}"),
                    ]
                }
            }
            Agent::Codex => {
                const {
                    &[
                        tool("Bash", "command", "{}"),
                        tool("shell", "command", "{}"),
                        tool("exec_command", "cmd", "{}"),
                        tool("apply_patch", "input", "{}"),
                        tool("write_stdin", "chars", "{}"),
                        tool("view_image", "path", "{}"),
                        tool("update_plan", "plan", "{}"),
                        tool("web_search", "query", "{}"),
                        tool("spawn_agent", "message", "{}"),
                    ]
                }
            }
            Agent::GeminiCli => {
                const {
                    &[
                        tool("run_shell_command", "command", "{}"),
                        tool("write_file", "file_path", WRITES),
                        tool("replace", "file_path", REPLACES),
                        tool("read_file", "file_path", "{}"),
                        tool("read_many_files", "include", "{}"),
                        tool("web_fetch", "prompt", "{}"),
                        tool("google_web_search", "query", "{}"),
                        tool("grep_search", "pattern", "{}"),
                        tool("search_file_content", "pattern", "{}"),
                        tool("glob", "pattern", "{}"),
                        tool("list_directory", "dir_path", "{}"),
                        tool("save_memory", "fact", "{}"),
                        tool("write_todos", "todos", "{}"),
                        tool("ask_user", "questions", "{}"),
                    ]
                }
            }
            Agent::Cursor => {
                const {
                    &[
                        tool("Shell", "command", "{}"),
                        tool("Write", "file_path", WRITES),
                        tool("StrReplace", "path", REPLACES),
                        tool("Delete", "path", "{}"),
                        tool("Read", "file_path", "{}"),
                        tool("EditNotebook", "target_notebook", r#"{"new_string": "a"}"#),
                        tool("WebFetch", "url", "{}"),
                        tool("WebSearch", "search_term", "{}"),
                        tool("Grep", "pattern", "{}"),
                        tool("Glob", "glob_pattern", "{}"),
                        tool("LS", "target_directory", "{}"),
                        tool("Task", "prompt", "{}"),
                        tool("TodoWrite", "todos", "{}"),
                    ]
                }
            }
        }
    }
}

impl AgentTool {
    /// The arguments of a call that works on this.
    pub fn arguments(&self, on: &str) -> Value {
        let mut arguments: Map<String, Value> = serde_json::from_str(self.others).unwrap_or_default();
        arguments.insert(self.argument.to_owned(), Value::from(on));
        Value::Object(arguments)
    }
}
