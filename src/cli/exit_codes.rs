//! What the exit codes of each command mean: the end of its `--help`, and a table in `docs/commands.md`.

use std::fmt::Write as _;

use clap::Command;

use super::hanging::hanging;

/// Columns of the codes in the help.
const INDENT: usize = 7;

/// A code, and when a command ends with it. One code may have several lines.
type Line = (u8, &'static str);

/// A command, and its codes in order. The program without a command has no name.
type Row = (&'static str, &'static [Line]);

const NO_FINDING: Line = (0, "no call is stopped and no session rule is violated");
const FINDING: Line = (
    1,
    "a call is stopped (in shadow mode: would be) or a session rule is violated, even if a recording is damaged",
);
const NOT_FOUND_IN_PART: Line = (2, "nothing was found, but a recording could not be read completely");
const STRICT: Line = (2, "with `--strict`: a file was skipped, whatever was found");
const NOT_JUDGED: Line = (2, "wrong arguments, a policy that does not load, or no session to read");
const COUNTED_IN_PART: Line = (2, "a recording could not be read completely, so the result is incomplete");
const ARGUMENTS: Line = (2, "wrong arguments");
const CLOSED: Line = (0, "the workbench was closed");
const NO_TERMINAL: Line = (1, "only without a terminal, where `replay` would end with 1");
/// A command that can fail by itself, or because the system does.
const FAULT: Line = (3, "a defect in Rulestep, or a failure of the system such as a full disk");
const INTERRUPTED: Line = (130, "interrupted with Ctrl-C; the results are incomplete");

/// Every command, in the order of `--help`.
const TABLE: &[Row] = &[
    (
        "",
        &[
            (0, "nothing was found, the command did its work, or the workbench was closed"),
            (
                1,
                "a finding: a stopped call, a violated session rule, a changed decision, a mistake, a failed case",
            ),
            (
                2,
                "wrong arguments, or something named in them cannot be read or does not load; of `hook` also: the call is stopped",
            ),
            FAULT,
            INTERRUPTED,
        ],
    ),
    ("replay", &[NO_FINDING, FINDING, NOT_FOUND_IN_PART, STRICT, NOT_JUDGED, FAULT, INTERRUPTED]),
    (
        "diff",
        &[
            (0, "nothing changes that `--fail-on` names (by default: nothing changes)"),
            (1, "something changes that `--fail-on` names, even if a recording is damaged"),
            (2, "no such change was found, but a recording could not be read completely"),
            STRICT,
            (2, "wrong arguments, a version that does not load, or nothing to compare"),
            FAULT,
            INTERRUPTED,
        ],
    ),
    (
        "coverage",
        &[
            (0, "everything was counted, whatever the rules found"),
            COUNTED_IN_PART,
            NOT_JUDGED,
            FAULT,
            INTERRUPTED,
        ],
    ),
    ("report", &[NO_FINDING, FINDING, NOT_FOUND_IN_PART, STRICT, NOT_JUDGED, FAULT, INTERRUPTED]),
    ("stats", &[(0, "everything was counted"), COUNTED_IN_PART, NOT_JUDGED, FAULT, INTERRUPTED]),
    (
        "suggest",
        &[
            (0, "all recordings were read, whether or not they suggest a rule"),
            COUNTED_IN_PART,
            (2, "wrong arguments, no session to read, or a file to write exists"),
            FAULT,
            INTERRUPTED,
        ],
    ),
    ("new", &[(0, "the file was written"), (2, "wrong arguments, or the file exists"), FAULT]),
    (
        "init",
        &[
            (0, "the files were written"),
            (
                2,
                "nothing was written: wrong arguments, a file exists, or a recording could not be read completely",
            ),
            FAULT,
            (130, "interrupted with Ctrl-C; nothing was written"),
        ],
    ),
    (
        "check",
        &[
            (0, "no errors and no warnings; notices do not count"),
            (1, "errors or warnings, such as invalid YAML, even if the policy does not load because of them"),
            (
                2,
                "a policy or a recording of `--against` could not be read (not UTF-8, no permission), whatever was found",
            ),
            (2, "wrong arguments, or no policy"),
            FAULT,
            INTERRUPTED,
        ],
    ),
    (
        "test",
        &[
            (0, "every case passes; with `--mutate`: every removal is noticed"),
            (1, "a case fails"),
            (1, "with `--mutate`: the removal of a rule is not noticed (a weakened rule may stay unnoticed)"),
            (1, "with `--min-score`: too few of all removals and weakenings are noticed"),
            (2, "a case could not be judged, whatever the others did"),
            (2, "with `--mutate`: a case does not pass"),
            (2, "wrong arguments, or no case"),
            FAULT,
        ],
    ),
    (
        "explain",
        &[
            (0, "explained, whether or not the call is stopped"),
            (1, "with `shell` and `-p`: a command is stopped (in shadow mode: would be)"),
            (
                2,
                "with `--at`: a recording could not be read completely; the call is explained if it was found",
            ),
            (2, "wrong arguments, a policy that does not load, or no such page, session, call or command"),
            FAULT,
        ],
    ),
    ("schema", &[(0, "printed"), (2, "no such policy language"), FAULT]),
    (
        "hook",
        &[
            (
                0,
                "the call runs (the answer is empty or `{}`), or the answer on standard output says what happens",
            ),
            (0, "with `--on-error allow`: an error prevented the decision, and the call runs"),
            (2, "the policy or an error stops the call; agents treat other codes as permission"),
            (2, "wrong arguments, even with `--on-error allow`"),
        ],
    ),
    (
        "gate",
        &[
            (
                0,
                "standard input ended; a request that could not be decided was answered as `--on-error` says, with the reason in `error`",
            ),
            (2, "wrong arguments, or standard input or output failed"),
        ],
    ),
    (
        "proxy",
        &[
            (0, "the client closed the connection, whether or not the policy loads"),
            (2, "wrong arguments, the server could not be started, or it ended before the client"),
            FAULT,
        ],
    ),
    (
        "install",
        &[
            (0, "the settings have the hook, or with `--dry-run` would have it"),
            (
                2,
                "nothing was changed: wrong arguments, a policy that does not load, or settings that cannot be read",
            ),
            FAULT,
        ],
    ),
    (
        "uninstall",
        &[
            (0, "the settings do not have the hook, or with `--dry-run` would not"),
            (2, "nothing was changed: wrong arguments, or settings that cannot be read"),
            FAULT,
        ],
    ),
    (
        "live",
        &[CLOSED, NO_TERMINAL, (2, "wrong arguments, no journal, or a policy that does not load"), FAULT],
    ),
    (
        "prune",
        &[
            (0, "the journals were removed, or there was none to remove"),
            (2, "wrong arguments, or a journal could not be removed"),
            FAULT,
        ],
    ),
    (
        "doctor",
        &[
            (0, "every installed hook works; warnings do not count"),
            (1, "something does not work or is not proved to, or no hook is installed"),
            ARGUMENTS,
            FAULT,
        ],
    ),
    (
        "lsp",
        &[
            (0, "the editor ended it with `shutdown` and `exit`"),
            (1, "the connection ended without `shutdown`"),
            ARGUMENTS,
            FAULT,
        ],
    ),
    (
        "convert",
        &[
            (0, "all sessions were written"),
            (2, "a recording could not be read completely; what could be read is written"),
            (2, "with `--strict`: a file was skipped"),
            NOT_JUDGED,
            FAULT,
            INTERRUPTED,
        ],
    ),
    (
        "export",
        &[
            (0, "the rows of all sessions were written"),
            (2, "a recording could not be read completely; the rows of what could be read are written"),
            NOT_JUDGED,
            FAULT,
            (130, "interrupted with Ctrl-C; nothing was written"),
        ],
    ),
    (
        "merge",
        &[
            (0, "nothing was found, and the merged result is complete"),
            (1, "one of the results has a finding or a change, even if a shard is missing"),
            (2, "nothing was found, but a shard is missing or a recording could not be read completely"),
            (2, "wrong arguments, or results that do not belong together"),
            FAULT,
        ],
    ),
    (
        "migrate",
        &[
            (0, "the result was printed or written, or the file has the current syntax already"),
            (2, "wrong arguments, or a file without sequence rules that can be rewritten"),
            FAULT,
        ],
    ),
    ("completions", &[(0, "printed"), (2, "no such shell"), FAULT]),
    ("man", &[(0, "printed"), (2, "no such command"), FAULT]),
];

/// The command with its exit codes, and those of its subcommands, at the end of their help.
pub fn explained(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let more = "`rulestep COMMAND --help` says when each command ends with which code.";
    let command = command.after_help(format!("{}\n\n{more}", help("")));
    names
        .iter()
        .fold(command, |command, name| command.mut_subcommand(name, |verb| verb.after_help(help(name))))
}

fn lines(name: &str) -> &'static [Line] {
    TABLE.iter().find(|(known, _)| *known == name).map(|(_, lines)| *lines).unwrap_or_default()
}

/// The end of a command's help.
fn help(name: &str) -> String {
    let mut text = String::from(if name.is_empty() { "Exit codes of all commands:" } else { "Exit codes:" });
    let mut last = None;
    for (code, when) in lines(name) {
        let label = if last == Some(code) { String::new() } else { format!("  {code}") };
        last = Some(code);
        // One of several causes has a dash, so that it cannot be read on from the one before.
        let line = match lines(name).iter().filter(|(other, _)| other == code).count() {
            1 => hanging(&label, INDENT, when),
            _ => hanging(&format!("{label:INDENT$}- "), INDENT + 2, when),
        };
        text.push_str(&format!("\n{line}"));
    }
    text
}

/// The table as Markdown. What all commands share is said once, in the text around it.
pub fn markdown() -> String {
    let mut text = String::from("| command | 0 | 1 | 2 |\n|---|---|---|---|\n");
    for (name, lines) in TABLE.iter().filter(|(name, _)| !name.is_empty()) {
        let _ = write!(text, "| `{name}` |");
        for code in 0..=2 {
            let when: Vec<&str> = lines.iter().filter(|(of, _)| *of == code).map(|(_, when)| *when).collect();
            let _ = write!(text, " {} |", when.join("<br>"));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Cli;
    use crate::cli::hanging::WIDTH;

    #[test]
    fn every_command_has_its_codes_in_order_and_no_other_has() {
        let command = Cli::command();
        let verbs: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let named: Vec<&str> = TABLE.iter().skip(1).map(|(name, _)| *name).collect();
        assert_eq!(named, verbs);
        for (name, lines) in TABLE {
            assert!(lines.is_sorted_by_key(|(code, _)| *code), "{name}");
            assert!(lines.iter().any(|(code, _)| *code == 0), "{name}");
            assert!(lines.iter().any(|(code, _)| *code == 2), "{name}: clap ends with 2 on wrong arguments");
        }
    }

    #[test]
    fn no_line_of_the_help_is_wrapped_again() {
        for (name, _) in TABLE {
            let help = help(name);
            assert!(help.lines().all(|line| line.len() <= WIDTH), "{help}");
        }
    }
}
