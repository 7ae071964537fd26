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
    /// What that argument is.
    pub works_on: WorksOn,
    /// The other arguments that a call needs, as JSON.
    others: &'static str,
}

/// What a tool works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorksOn {
    /// A command line.
    Command,
    /// A file.
    File,
    /// A URL.
    Url,
    /// Anything else.
    Other,
}

use WorksOn::{Command, File, Other, Url};

const fn tool(
    name: &'static str,
    argument: &'static str,
    works_on: WorksOn,
    others: &'static str,
) -> AgentTool {
    AgentTool { name, argument, works_on, others }
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
                        tool("Bash", "command", Command, "{}"),
                        tool("Write", "file_path", File, WRITES),
                        tool("Edit", "file_path", File, REPLACES),
                        tool(
                            "MultiEdit",
                            "file_path",
                            File,
                            r#"{"edits": [{"old_string": "a", "new_string": "b"}]}"#,
                        ),
                        tool("NotebookEdit", "notebook_path", File, r#"{"new_source": "a"}"#),
                        tool("Read", "file_path", File, "{}"),
                        tool("WebFetch", "url", Url, r#"{"prompt": "a"}"#),
                        tool("WebSearch", "query", Other, "{}"),
                        tool("Grep", "pattern", Other, "{}"),
                        tool("Glob", "pattern", Other, "{}"),
                        tool("LS", "path", Other, "{}"),
                        tool("Task", "prompt", Other, "{}"),
                        tool("Agent", "prompt", Other, "{}"),
                        tool("TodoWrite", "todos", Other, "{}"),
                        tool("ExitPlanMode", "plan", Other, "{}"),
                        tool("EnterPlanMode", "plan", Other, "{}"),
                        tool("AskUserQuestion", "questions", Other, "{}"),
                        tool("Monitor", "command", Command, "{}"),
                        tool("BashOutput", "bash_id", Other, "{}"),
                        tool("KillShell", "shell_id", Other, "{}"),
                        tool("TaskOutput", "task_id", Other, "{}"),
                        tool("TaskStop", "task_id", Other, "{}"),
                        tool("Skill", "skill", Other, "{}"),
                        tool("ToolSearch", "query", Other, "{}"),
                    ]
                }
            }
            Agent::Codex => {
                const {
                    &[
                        tool("Bash", "command", Command, "{}"),
                        tool("shell", "command", Command, "{}"),
                        tool("exec_command", "cmd", Command, "{}"),
                        tool("apply_patch", "input", Other, "{}"),
                        tool("write_stdin", "chars", Other, "{}"),
                        tool("view_image", "path", Other, "{}"),
                        tool("update_plan", "plan", Other, "{}"),
                        tool("web_search", "query", Other, "{}"),
                        tool("spawn_agent", "message", Other, "{}"),
                    ]
                }
            }
            Agent::GeminiCli => {
                const {
                    &[
                        tool("run_shell_command", "command", Command, "{}"),
                        tool("write_file", "file_path", File, WRITES),
                        tool("replace", "file_path", File, REPLACES),
                        tool("read_file", "file_path", File, "{}"),
                        tool("read_many_files", "include", Other, "{}"),
                        tool("web_fetch", "prompt", Url, "{}"),
                        tool("google_web_search", "query", Other, "{}"),
                        tool("grep_search", "pattern", Other, "{}"),
                        tool("search_file_content", "pattern", Other, "{}"),
                        tool("glob", "pattern", Other, "{}"),
                        tool("list_directory", "dir_path", Other, "{}"),
                        tool("save_memory", "fact", Other, "{}"),
                        tool("write_todos", "todos", Other, "{}"),
                        tool("ask_user", "questions", Other, "{}"),
                    ]
                }
            }
            Agent::Cursor => {
                const {
                    &[
                        tool("Shell", "command", Command, "{}"),
                        tool("Write", "file_path", File, WRITES),
                        tool("StrReplace", "path", File, REPLACES),
                        tool("Delete", "path", File, "{}"),
                        tool("Read", "file_path", File, "{}"),
                        tool("EditNotebook", "target_notebook", File, r#"{"new_string": "a"}"#),
                        tool("WebFetch", "url", Url, "{}"),
                        tool("WebSearch", "search_term", Other, "{}"),
                        tool("Grep", "pattern", Other, "{}"),
                        tool("Glob", "glob_pattern", Other, "{}"),
                        tool("LS", "target_directory", Other, "{}"),
                        tool("Task", "prompt", Other, "{}"),
                        tool("TodoWrite", "todos", Other, "{}"),
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
