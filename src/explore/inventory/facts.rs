//! What is known of the arguments of tools: data, in one place.

/// What a call does with a file that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// It looks at it.
    Read,
    /// It makes, changes or removes it.
    Written,
    /// The tool's name says neither.
    Named,
}

/// Words of names of tools that run a command line.
const SHELLS: [&str; 14] = [
    "bash",
    "sh",
    "zsh",
    "fish",
    "shell",
    "powershell",
    "pwsh",
    "cmd",
    "terminal",
    "console",
    "exec",
    "execute",
    "command",
    "run",
];

/// Arguments that hold a command line, in lower case without separators.
const COMMANDS: [&str; 4] = ["command", "cmd", "commandline", "script"];

/// Arguments that hold a path, or a list of paths.
const FILES: [&str; 19] = [
    "file",
    "files",
    "filename",
    "filenames",
    "filepath",
    "filepaths",
    "path",
    "paths",
    "absolutepath",
    "relativepath",
    "relativeworkspacepath",
    "notebookpath",
    "targetfile",
    "targetpath",
    "sourcepath",
    "destinationpath",
    "oldpath",
    "newpath",
    "outputpath",
];

/// Arguments that say what a tool with several uses does.
const ACTIONS: [&str; 3] = ["command", "action", "operation"];

/// Words for looking at a file.
const READS: [&str; 17] = [
    "read", "view", "open", "cat", "get", "list", "ls", "glob", "grep", "search", "find", "show", "load",
    "head", "tail", "stat", "scan",
];

/// Words for making, changing or removing one.
const WRITES: [&str; 21] = [
    "write",
    "edit",
    "multiedit",
    "create",
    "patch",
    "replace",
    "insert",
    "append",
    "update",
    "delete",
    "remove",
    "rm",
    "move",
    "rename",
    "save",
    "change",
    "modify",
    "put",
    "mkdir",
    "undo",
    "touch",
];

/// Lines of a patch that name a file.
pub const PATCHED: [&str; 4] = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];

/// The words of a name: `MultiEdit`, `read_file`, `mcp__fs__write-file`.
pub fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        if c.is_alphanumeric() {
            let begins = !before.is_alphanumeric() || (c.is_uppercase() && !before.is_uppercase());
            if begins {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    words
}

fn plain(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a tool of a name with these words runs command lines.
pub fn is_shell(words: &[String]) -> bool {
    words.iter().any(|word| SHELLS.contains(&word.as_str()))
}

/// Whether an argument holds a command line.
pub fn is_command(key: &str) -> bool {
    COMMANDS.contains(&plain(key).as_str())
}

/// Whether an argument holds a path.
pub fn is_file(key: &str) -> bool {
    FILES.contains(&plain(key).as_str())
}

/// Whether an argument says what the tool does.
pub fn is_action(key: &str) -> bool {
    ACTIONS.contains(&plain(key).as_str())
}

/// What a name with these words says is done with a file. A name that says both writes.
pub fn access(words: &[String]) -> Access {
    let any = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    match (any(&WRITES), any(&READS)) {
        (true, _) => Access::Written,
        (false, true) => Access::Read,
        (false, false) => Access::Named,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_say_what_is_done_with_a_file() {
        for (tool, expected) in [
            ("Read", Access::Read),
            ("read_file", Access::Read),
            ("LS", Access::Read),
            ("list_directory", Access::Read),
            ("MultiEdit", Access::Written),
            ("NotebookEdit", Access::Written),
            ("mcp__fs__write-file", Access::Written),
            ("search_replace", Access::Written),
            ("apply_patch", Access::Written),
            ("share_link", Access::Named),
            ("readiness", Access::Named),
            ("", Access::Named),
        ] {
            assert_eq!(access(&words(tool)), expected, "{tool}");
        }
        assert!(
            ["Bash", "execute_bash", "run_shell_command", "local_shell"]
                .iter()
                .all(|tool| is_shell(&words(tool)))
        );
        assert!(!is_shell(&words("str_replace_editor")) && !is_shell(&words("Bashful")));
        assert!(["file_path", "filePath", "absolute_path", "FILE"].iter().all(|key| is_file(key)));
    }
}
