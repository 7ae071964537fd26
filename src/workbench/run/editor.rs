//! The user's own editor, at a line.

use std::process::Command;

/// The program and its arguments that open `file` at `line` (from 1) in this editor; `None` if `editor` names no
/// program. `editor` may have arguments of its own, in quotes if necessary.
pub fn command(editor: &str, file: &str, line: u32) -> Option<(String, Vec<String>)> {
    let mut words = shlex::split(editor)?.into_iter();
    let program = words.next().filter(|program| !program.is_empty())?;
    let mut arguments: Vec<String> = words.collect();
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    match name {
        "code" | "code-insiders" | "codium" | "cursor" | "windsurf" => {
            // Without waiting, the editor's own process ends at once and nothing is known of the edit.
            if !arguments.iter().any(|argument| argument == "--wait" || argument == "-w") {
                arguments.push("--wait".to_owned());
            }
            arguments.extend(["--goto".to_owned(), format!("{file}:{line}")]);
        }
        "subl" | "zed" | "hx" | "helix" => arguments.push(format!("{file}:{line}")),
        "idea" | "pycharm" | "webstorm" | "rustrover" | "kate" => {
            arguments.extend(["--line".to_owned(), line.to_string(), file.to_owned()]);
        }
        _ => arguments.extend([format!("+{line}"), file.to_owned()]),
    }
    Some((program, arguments))
}

/// Lets the user change a text in the editor, in a temporary file.
///
/// # Errors The message for the user: there is no such file, or the editor failed.
pub fn compose(editor: &str, text: &str) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("no file to edit in: {error}");
    let file = tempfile::Builder::new().prefix("rulestep-").suffix(".json").tempfile().map_err(failed)?;
    std::fs::write(file.path(), text).map_err(failed)?;
    edit(editor, &file.path().to_string_lossy(), 1)?;
    // Editors save by renaming: the current file of that name counts.
    std::fs::read_to_string(file.path()).map_err(failed)
}

/// Runs the editor and waits for it.
///
/// # Errors The message for the user: it could not be started, or it failed.
pub fn edit(editor: &str, file: &str, line: u32) -> Result<(), String> {
    let Some((program, arguments)) = command(editor, file, line) else {
        return Err("no editor is set; set $VISUAL or $EDITOR".to_owned());
    };
    match Command::new(&program).args(arguments).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{program}` ended with {status}")),
        Err(error) => Err(format!("`{program}` does not start: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_editor_is_told_in_its_own_way() {
        let cases = [
            ("vim", vec!["vim", "+3", "a b.yaml"]),
            ("/usr/bin/nano -l", vec!["/usr/bin/nano", "-l", "+3", "a b.yaml"]),
            ("code", vec!["code", "--wait", "--goto", "a b.yaml:3"]),
            ("code -w", vec!["code", "-w", "--goto", "a b.yaml:3"]),
            ("hx", vec!["hx", "a b.yaml:3"]),
            ("'/my editor/vi' -u \"no ne\"", vec!["/my editor/vi", "-u", "no ne", "+3", "a b.yaml"]),
            ("emacsclient -t", vec!["emacsclient", "-t", "+3", "a b.yaml"]),
        ];
        for (editor, want) in cases {
            let (program, arguments) = command(editor, "a b.yaml", 3).unwrap();
            let mut got = vec![program];
            got.extend(arguments);
            assert_eq!(got, want, "{editor}");
        }
        assert_eq!(command("  ", "a", 1), None);
    }

    #[test]
    fn failures_are_told() {
        assert!(edit("", "a", 1).unwrap_err().contains("$EDITOR"));
        assert!(edit("/no/such/editor", "a", 1).unwrap_err().contains("does not start"));
    }
}
