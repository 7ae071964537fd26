//! What a row of the table says.

use crate::shell::options::Style;

/// What is known of a program, or of one of its subcommands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Program {
    /// Its names.
    pub names: &'static str,
    /// The leading operands of the subcommand; empty for what all have in common. Alternatives are separated by `|`.
    pub sub: &'static str,
    /// Options that take a value, two spellings of one as in `flags`.
    pub takes: &'static str,
    /// Options without a value, and `-r=--recursive` for two spellings of one option.
    pub flags: &'static str,
    /// How its options are written.
    pub style: Style,
    /// What it does.
    pub does: &'static [Does],
}

/// A thing that a program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Does {
    /// Reads files.
    Reads(At),
    /// Reads files, and folders with all they hold.
    ReadsDeep(At),
    /// Writes files.
    Writes(At),
    /// Writes files, or in folders what the line does not name.
    WritesDeep(At),
    /// Deletes files.
    Deletes(At),
    /// Deletes files, and folders with all they hold.
    DeletesDeep(At),
    /// Opens connections.
    Reaches(Net),
    /// Does what is written in another language or in a file.
    Opaque,
    /// Does it in the folder that one of these options names.
    In(&'static str, &'static Does),
    /// Only with one of these options.
    With(&'static str, &'static Does),
    /// Only without all of these options.
    Without(&'static str, &'static Does),
}

/// Which words name the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum At {
    /// All operands after the subcommand.
    All,
    /// The first of them.
    First,
    /// All but the first.
    Rest,
    /// The last, where there are at least two.
    Last,
    /// All but the last.
    ButLast,
    /// The values of these options.
    Value(&'static str),
    /// The values of these options that begin with `@`, without it.
    Attached(&'static str),
    /// What comes after `=` in operands that begin with this: `if=` of `dd`.
    Field(&'static str),
    /// The folder in which the program runs.
    Here,
    /// All operands, or the folder in which the program runs where there is none.
    AllOrHere,
    /// All but the first, or the same.
    RestOrHere,
    /// What the operands are called, in the folder that these options name.
    Into(&'static str),
    /// The variables of the environment that the operands name, or all.
    Environment,
    /// The operands that are not on another host: `scp`.
    Local,
    /// The same, the last.
    LocalLast,
    /// The same, all but the last.
    LocalButLast,
}

/// Which words name the hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Net {
    /// The hosts of all operands that are URLs, or would be taken as such.
    Urls,
    /// The first operand is a host, with a user perhaps.
    First,
    /// The hosts of `host:path` and of URLs among the operands.
    Remotes,
    /// The values of these options, URLs or hosts.
    Value(&'static str),
    /// The hosts of the values of these options that are URLs.
    UrlValue(&'static str),
    /// This host.
    Fixed(&'static str),
    /// A host that the line does not name, as this is called.
    Elsewhere(&'static str),
    /// Hosts that a file names, which has options of the program in it.
    Listed(&'static str),
    /// A host of the program's settings, unless one of these options names it.
    Default(&'static str, &'static str),
    /// The same for operands: the first URL or remote, or what the settings say.
    OperandOr(&'static str),
    /// The value of this variable of the environment, or of those that begin so before a `*`.
    Variable(&'static str),
}

/// A row.
pub const fn row(
    names: &'static str,
    sub: &'static str,
    takes: &'static str,
    flags: &'static str,
    does: &'static [Does],
) -> Program {
    Program { names, sub, takes, flags, style: Style::Gnu, does }
}

/// The same for a program whose options have one dash.
pub const fn one_dash(
    names: &'static str,
    sub: &'static str,
    takes: &'static str,
    flags: &'static str,
    does: &'static [Does],
) -> Program {
    Program { names, sub, takes, flags, style: Style::OneDash, does }
}
