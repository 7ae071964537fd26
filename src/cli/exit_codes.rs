//! What the exit codes of each command mean: the end of its `--help`, and a table in `docs/commands.md`.
//!
//! Each command has its own codes in its file; what several share is here.

use super::hanging::hanging;

/// Columns of the codes in the help.
const INDENT: usize = 7;

/// A code, and when a command ends with it.
type Line = (u8, &'static str);

/// The codes of a command, in order. One code may have several lines.
pub type Exits = &'static [Line];

pub const NO_FINDING: Line = (0, "no call is stopped and no session rule is violated");
pub const FINDING: Line = (
    1,
    "a call is stopped (in shadow mode: would be) or a session rule is violated, even if a recording is damaged",
);
pub const NOT_FOUND_IN_PART: Line = (2, "nothing was found, but a recording could not be read completely");
pub const STRICT: Line = (2, "with `--strict`: a file was skipped, whatever was found");
pub const NOT_JUDGED: Line = (2, "wrong arguments, a policy that does not load, or no session to read");
pub const COUNTED_IN_PART: Line =
    (2, "a recording could not be read completely, so the result is incomplete");
pub const ARGUMENTS: Line = (2, "wrong arguments");
pub const CLOSED: Line = (0, "the workbench was closed");
pub const NO_TERMINAL: Line = (1, "only without a terminal, where `replay` would end with 1");
/// A command that can fail by itself, or because the system does.
pub const FAULT: Line = (3, "a defect in Rulestep, or a failure of the system such as a full disk");
pub const INTERRUPTED: Line = (130, "interrupted with Ctrl-C; the results are incomplete");

/// The exit codes at the end of a command's help.
pub fn help(title: &str, lines: Exits) -> String {
    let mut text = title.to_owned();
    let mut last = None;
    for (code, when) in lines {
        let label = if last == Some(code) { String::new() } else { format!("  {code}") };
        last = Some(code);
        // One of several causes has a dash, so that it cannot be read on from the one before.
        let line = match lines.iter().filter(|(other, _)| other == code).count() {
            1 => hanging(&label, INDENT, when),
            _ => hanging(&format!("{label:INDENT$}- "), INDENT + 2, when),
        };
        text.push_str(&format!("\n{line}"));
    }
    text
}
