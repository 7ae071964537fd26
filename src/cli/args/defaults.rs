//! What `--policy` means where a command does without it in a way of its own.

use clap::Command;

/// The commands, and what their help says. An empty name is the program without a command.
const POLICIES: &[(&str, &str)] = &[
    #[cfg(feature = "tui")]
    (
        "",
        "Policies: a file, a folder, or `git:REV[:PATH]`. Repeat it to combine several [default: `policy` in config.toml, else contracts/]",
    ),
    (
        "stats",
        "Policies: a file, a folder, or `git:REV[:PATH]`. Repeat it to combine several. Counts the calls that they stop, and uses their `facts` [default: no policy]",
    ),
    ("check", "The same as POLICY"),
    (
        "explain",
        "Policies: a file, a folder, or `git:REV[:PATH]`. Repeat it to combine several [default with --at: contracts/; else no policy]",
    ),
    (
        "live",
        "Policies: a file, a folder, or `git:REV[:PATH]`. Repeat it to combine several [default: the one that decided last, as the journals say]",
    ),
    (
        "convert",
        "Policies: a file, a folder, or `git:REV[:PATH]`. Repeat it to combine several. Needed only for --redact and for --where with terms about decisions [default: no policy]",
    ),
];

/// The command, where each `--policy` says what its default is.
pub fn defaults_explained(command: Command) -> Command {
    POLICIES.iter().fold(command, |command, (name, help)| match *name {
        "" => command.mut_arg("policy", |policy| policy.help(*help)),
        name => command.mut_subcommand(name, |verb| verb.mut_arg("policy", |policy| policy.help(*help))),
    })
}
