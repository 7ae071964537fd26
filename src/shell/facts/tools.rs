//! What tools of agents do, and which of their arguments say so.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use serde_json::{Map, Value};

/// A tool of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tool {
    /// Its names.
    pub names: &'static str,
    /// What it does.
    pub does: &'static [Argument],
}

/// An argument that says what a tool does. Names are alternatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Argument {
    /// A command line, or a list of words.
    Command(&'static str),
    /// The folder in which the command runs.
    Folder(&'static str),
    /// A file, or a list of them, that is read.
    Reads(&'static str),
    /// A folder whose files are read; the call's folder if it is not given.
    Searches(&'static str),
    /// A file that is written.
    Writes(&'static str),
    /// A file that is deleted.
    Deletes(&'static str),
    /// A URL.
    Reaches(&'static str),
    /// Hosts that nobody knows.
    Anywhere,
    /// A patch in the form of `apply_patch`.
    Patch(&'static str),
}

impl Argument {
    /// The names of the argument.
    pub fn names(&self) -> &'static str {
        match self {
            Argument::Command(names)
            | Argument::Folder(names)
            | Argument::Reads(names)
            | Argument::Searches(names)
            | Argument::Writes(names)
            | Argument::Deletes(names)
            | Argument::Patch(names)
            | Argument::Reaches(names) => names,
            Argument::Anywhere => "",
        }
    }
}

use Argument::{Anywhere, Command, Deletes, Folder, Patch, Reaches, Reads, Searches, Writes};

/// All rows.
pub const TOOLS: &[Tool] = &[
    Tool {
        names: "Bash bash shell local_shell local_shell_call container.exec exec exec_command shell_command run_shell_command run_terminal_cmd run_terminal_command run_command execute_bash execute_command execute terminal Terminal Shell developer__shell",
        does: &[
            Command("command cmd commands command_line shell_command script input"),
            Folder("workdir cwd working_directory dir_path directory cd"),
        ],
    },
    // Keys for a program that an earlier call has started: a shell, perhaps.
    Tool { names: TYPED, does: &[Command("chars input text")] },
    // The call ends when the command has begun.
    Tool { names: STARTED, does: &[Command("command")] },
    Tool {
        names: "Read read_file ReadFile read view view_file open_file read_many_files NotebookRead view_image",
        does: &[Reads(
            "file_path path paths absolute_path relative_path relative_workspace_path target_file filename file files uri notebook_path image_path include args",
        )],
    },
    Tool {
        names: "Write write_file WriteFile create_file write Edit edit_file replace MultiEdit NotebookEdit edit search_replace edit_notebook reapply insert_content write_to_file StrReplace create EditNotebook",
        does: &[Writes(
            "file_path path absolute_path relative_path relative_workspace_path target_file target_notebook notebook_path filename file files uri edits replacements",
        )],
    },
    Tool {
        names: "str_replace_editor str_replace_based_edit_tool str_replace_based_edit",
        does: &[Reads("path"), Writes("path")],
    },
    Tool {
        names: "delete_file DeleteFile remove_file Delete",
        does: &[Deletes(
            "file_path path paths target_file absolute_path relative_path relative_workspace_path file files uri",
        )],
    },
    Tool {
        names: "Grep grep_search search_file_content codebase_search grep rg search_files grep_files SemanticSearch",
        does: &[Searches(
            "path paths dir_path directory_path target_directories directory search_path search_directory folder root",
        )],
    },
    Tool {
        names: "Glob glob LS ls list_dir list_directory file_search glob_file_search TodoWrite TodoRead write_todos update_plan todo_write ExitPlanMode EnterPlanMode ask_user BashOutput KillBash KillShell kill_shell TaskOutput TaskStop save_memory Skill ToolSearch list TaskCreate TaskGet TaskList TaskUpdate AskUserQuestion report_intent update_topic update_todo read_bash stop_bash list_bash",
        does: &[],
    },
    Tool {
        names: "WebFetch web_fetch fetch url_fetch open_url fetch_url",
        does: &[Reaches("url urls uri prompt")],
    },
    Tool { names: "WebSearch web_search google_web_search web_search_call search_web", does: &[Anywhere] },
    Tool { names: "Task Agent spawn_agent delegate_to_agent", does: &[] },
    Tool {
        names: "apply_patch ApplyPatch patch file_change",
        does: &[Patch("input patch patchText changes command")],
    },
];

/// Tools that type into a program which runs already.
const TYPED: &str = "write_stdin write_bash";

/// Tools that start a command, which runs on while the agent goes on.
const STARTED: &str = "Monitor";

/// Whether a tool only starts its command.
pub fn starts(row: &Tool) -> bool {
    row.names == STARTED
}

/// Whether a tool types its command into a program of which this call says nothing.
pub fn types(row: &Tool) -> bool {
    row.names == TYPED
}

/// The row of a tool. Agents write one name as `WebFetch`, `web_fetch` and `webfetch`. Every call of a recording asks for a row.
pub fn tool(name: &str) -> Option<&'static Tool> {
    BY_NAME.get(name).or_else(|| BY_LETTERS.get(&letters(name))).copied()
}

/// The first row of each name.
static BY_NAME: LazyLock<HashMap<&'static str, &'static Tool>> = LazyLock::new(|| named().collect());

/// The same without case and separators.
static BY_LETTERS: LazyLock<HashMap<String, &'static Tool>> =
    LazyLock::new(|| named().map(|(name, tool)| (letters(name), tool)).collect());

/// All names, the first row of each last: what comes later takes the place of what was there.
fn named() -> impl Iterator<Item = (&'static str, &'static Tool)> {
    TOOLS.iter().rev().flat_map(|tool| tool.names.split(' ').map(move |name| (name, tool)))
}

fn letters(name: &str) -> String {
    name.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// What a key of a tool's row says of an argument.
pub type OfArgument = fn(&'static str) -> Argument;

/// The keys of a tool's row, in the order of the reference page.
pub const ARGUMENTS: &[(&str, OfArgument)] = &[
    ("command", Argument::Command),
    ("folder", Argument::Folder),
    ("reads", Argument::Reads),
    ("searches", Argument::Searches),
    ("writes", Argument::Writes),
    ("deletes", Argument::Deletes),
    ("patch", Argument::Patch),
    ("reaches", Argument::Reaches),
];

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (does, names) = match self {
            Argument::Command(names) => ("runs the command in", names),
            Argument::Folder(names) => ("runs in the folder in", names),
            Argument::Reads(names) => ("reads the path in", names),
            Argument::Searches(names) => ("reads the folder in", names),
            Argument::Writes(names) => ("writes the path in", names),
            Argument::Deletes(names) => ("deletes the path in", names),
            Argument::Reaches(names) => ("reaches the host in", names),
            Argument::Patch(names) => ("writes and deletes what the patch names in", names),
            Argument::Anywhere => return f.write_str("reaches hosts that are not known"),
        };
        write!(f, "{does} {}", names.replace(' ', ", "))
    }
}

/// The row of a tool.
pub fn written(row: &Tool) -> Value {
    let mut names: Vec<Value> = row.names.split(' ').map(Value::from).collect();
    let names = if names.len() == 1 { names.remove(0) } else { Value::Array(names) };
    let mut written = Map::from_iter([("tool".to_owned(), names)]);
    for argument in row.does {
        let (key, value) = match argument {
            Argument::Command(names) => ("command", Value::from(*names)),
            Argument::Folder(names) => ("folder", Value::from(*names)),
            Argument::Reads(names) => ("reads", Value::from(*names)),
            Argument::Searches(names) => ("searches", Value::from(*names)),
            Argument::Writes(names) => ("writes", Value::from(*names)),
            Argument::Deletes(names) => ("deletes", Value::from(*names)),
            Argument::Patch(names) => ("patch", Value::from(*names)),
            Argument::Reaches(names) => ("reaches", Value::from(*names)),
            Argument::Anywhere => ("reaches", Value::from("*")),
        };
        written.insert(key.to_owned(), value);
    }
    Value::Object(written)
}
