//! What `--policy` means where a command does without it in a way of its own, and what must be given where there is a choice.

use clap::{Arg, Command};

use super::values::where_help_without_policy;

/// The commands, and what their help says. An empty name is the program without a command.
const POLICIES: &[(&str, &str)] = &[
    (
        "",
        "Policies: a file, a folder, or `git:REV[:PATH]` (as committed; without PATH: contracts/). Repeat it to combine several [default: `policy` in config.toml, else contracts/]",
    ),
    (
        "stats",
        "Policies: a file, a folder, or `git:REV[:PATH]` (as committed; without PATH: contracts/). Repeat it to combine several. The calls that they stop are counted too. Their key `facts` adds to the page `rulestep explain facts` [default: no policy]",
    ),
    ("check", "The same as POLICY"),
    (
        "explain",
        "Policies: a file, a folder, or `git:REV[:PATH]` (as committed; without PATH: contracts/). Repeat it to combine several. They decide the calls of --at and the commands of `shell`. The pages `shell` and `facts` use their key `facts`; other pages ignore -p [default with --at: contracts/; else no policy]",
    ),
    (
        "live",
        "Policies: a file, a folder, or `git:REV[:PATH]` (as committed; without PATH: contracts/). Repeat it to combine several [default: the policy of the newest journal entry, for all sessions]",
    ),
    (
        "convert",
        "Policies: a file, a folder, or `git:REV[:PATH]` (as committed; without PATH: contracts/). Repeat it to combine several. Needed only for --redact, and for --where with terms about decisions [default: no policy]",
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
        "rulestep explain [OPTIONS] [PAGE]\n       rulestep explain [OPTIONS] shell <COMMAND|--commands FILE>\n       rulestep explain [OPTIONS] --at <SESSION[:TURN.CALL]> <SESSIONS...|--samples>",
    ),
    ("migrate", "rulestep migrate [OPTIONS] <FILE|--config FILE>"),
    #[cfg(feature = "proxy-http")]
    ("proxy", "rulestep proxy [OPTIONS] -- <COMMAND>...\n       rulestep proxy [OPTIONS] --url <URL>"),
];

/// Options of one command whose help is not what it is elsewhere: the command, the option, the help.
const OPTIONS: &[(&str, &str, &str)] = &[
    ("convert", "samples", SAMPLES),
    ("stats", "samples", SAMPLES),
    ("suggest", "samples", SAMPLES),
    ("convert", "mode", "With -p: what the replay for --where assumes after a call that the policy stops"),
    ("stats", "mode", "With -p: what a replay assumes after a call that the policy stops"),
    (
        "explain",
        "mode",
        "With --at, or `shell` and -p: what a replay assumes after a call that the policy stops",
    ),
];

const SAMPLES: &str = "Use the sample sessions inside the program instead of SESSIONS";

/// Commands of which `merge` combines the JSON.
const MERGED: [&str; 4] = ["replay", "diff", "coverage", "stats"];

/// Commands in which only a policy that is named decides.
const UNDECIDED: [&str; 2] = ["stats", "convert"];

/// The options of `check` that say which recordings are read, and how.
const OF_RECORDINGS: [&str; 7] =
    ["filter", "since", "until", "shard", "from", "error_regex", "refused_regex"];

/// The command, where each `--policy` says what its default is, and each usage what is required.
pub fn defaults_explained(command: Command) -> Command {
    let command = USAGE.iter().fold(command, |command, (name, usage)| {
        command.mut_subcommand(name, |verb| verb.override_usage(*usage))
    });
    let command = command.mut_subcommand("check", |check| {
        OF_RECORDINGS
            .iter()
            .fold(check, |check, option| check.mut_arg(option, |option| against(option).requires("against")))
    });
    let command = OPTIONS.iter().fold(command, |command, (name, option, help)| {
        command.mut_subcommand(name, |verb| verb.mut_arg(option, |option| option.help(*help)))
    });
    let command = MERGED.iter().fold(command, |command, name| {
        let more = " `rulestep merge` combines the JSON results of all parts";
        command.mut_subcommand(name, |verb| verb.mut_arg("shard", |shard| followed_by(shard, more)))
    });
    let command = UNDECIDED.iter().fold(command, |command, name| {
        let more = ". Terms about decisions, such as `rule:` and `is:stopped`, need -p";
        command.mut_subcommand(name, |verb| verb.mut_arg("filter", |filter| followed_by(filter, more)))
    });
    let without = where_help_without_policy();
    let command =
        command.mut_subcommand("suggest", |verb| verb.mut_arg("filter", |filter| filter.help(without)));
    POLICIES.iter().fold(command, |command, (name, help)| match *name {
        "" => command.mut_arg("policy", |policy| policy.help(*help)),
        name => command.mut_subcommand(name, |verb| verb.mut_arg("policy", |policy| policy.help(*help))),
    })
}

/// An option that has a meaning with `--against` alone.
fn against(option: Arg) -> Arg {
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let mut rest = help.chars();
    let first = rest.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    let help = match help.starts_with("With ") {
        true => help,
        false => format!("With --against: {first}{}", rest.as_str()),
    };
    option.help(help)
}

/// An option with more said after its help.
fn followed_by(option: Arg, more: &str) -> Arg {
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let stop = if more.starts_with(' ') && !help.ends_with('.') { "." } else { "" };
    option.help(format!("{help}{stop}{more}"))
}
