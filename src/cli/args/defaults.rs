//! What `--policy` means where a command does without it in a way of its own, and what must be given where there is a choice.

use clap::Command;

/// The commands, and what their help says. An empty name is the program without a command.
const POLICIES: &[(&str, &str)] = &[
    #[cfg(feature = "tui")]
    (
        "",
        "Policies: a file, a folder, or `git:REV[:PATH]` (as committed). Repeat it to combine several [default: `policy` in config.toml, else contracts/]",
    ),
    (
        "stats",
        "Policies: a file, a folder, or `git:REV[:PATH]` (as committed). Repeat it to combine several. Counts the calls that they stop, and uses their `facts`, what they say of programs and tools (`rulestep explain facts`) [default: no policy]",
    ),
    ("check", "The same as POLICY"),
    (
        "explain",
        "Policies: a file, a folder, or `git:REV[:PATH]` (as committed). Repeat it to combine several. With --at they decide; the pages `facts` and `shell` use their `facts`; other pages need none [default with --at: contracts/; else no policy]",
    ),
    (
        "live",
        "Policies: a file, a folder, or `git:REV[:PATH]` (as committed). Repeat it to combine several [default: the one that decided last, as the journals say]",
    ),
    (
        "convert",
        "Policies: a file, a folder, or `git:REV[:PATH]` (as committed). Repeat it to combine several. Needed only for --redact and for --where with terms about decisions [default: no policy]",
    ),
];

/// The usage of commands of which one argument or another is required, which the parser's own shows as optional.
const USAGE: &[(&str, &str)] = &[
    ("replay", "rulestep replay [OPTIONS] <SESSIONS...|--files-from FILE|--samples>"),
    ("diff", "rulestep diff [OPTIONS] --base <VERSION> <SESSIONS...|--files-from FILE|--samples>"),
    ("coverage", "rulestep coverage [OPTIONS] <SESSIONS...|--files-from FILE|--samples>"),
    ("report", "rulestep report [OPTIONS] <SESSIONS...|--files-from FILE|--samples>"),
    ("stats", "rulestep stats [OPTIONS] <SESSIONS...|--files-from FILE|--samples>"),
    ("suggest", "rulestep suggest [OPTIONS] <SESSIONS...|--files-from FILE|--samples>"),
    ("convert", "rulestep convert [OPTIONS] <SESSIONS...|--files-from FILE|--samples>"),
    ("export", "rulestep export [OPTIONS] --output <FOLDER> <SESSIONS...|--files-from FILE|--samples>"),
    (
        "explain",
        "rulestep explain [OPTIONS] [PAGE]\n       rulestep explain [OPTIONS] --at <SESSION[:TURN.CALL]> <SESSIONS...|--samples>",
    ),
    ("migrate", "rulestep migrate [OPTIONS] <FILE|--config FILE>"),
    #[cfg(feature = "proxy-http")]
    ("proxy", "rulestep proxy [OPTIONS] -- <COMMAND>...\n       rulestep proxy [OPTIONS] --url <URL>"),
];

/// The options of `check` that say which recordings are read, and how.
const OF_RECORDINGS: [&str; 8] =
    ["filter", "since", "until", "shard", "sample", "from", "error_regex", "refused_regex"];

/// The command, where each `--policy` says what its default is, and each usage what is required.
pub fn defaults_explained(command: Command) -> Command {
    let command = USAGE.iter().fold(command, |command, (name, usage)| {
        command.mut_subcommand(name, |verb| verb.override_usage(*usage))
    });
    let command = command.mut_subcommand("check", |check| {
        OF_RECORDINGS
            .iter()
            .fold(check, |check, option| check.mut_arg(option, |option| option.requires("against")))
    });
    POLICIES.iter().fold(command, |command, (name, help)| match *name {
        "" => command.mut_arg("policy", |policy| policy.help(*help)),
        name => command.mut_subcommand(name, |verb| verb.mut_arg("policy", |policy| policy.help(*help))),
    })
}
