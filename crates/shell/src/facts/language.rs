//! Facts about a program's own languages, its output, and the variables that it leaves to others.

use serde::{Deserialize, Serialize};

/// When a program starts others without variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Clears {
    /// Without most of them, unless one of these options is given.
    Unless(Vec<String>),
    /// Without all of them, with one of these options.
    With(Vec<String>),
}

/// The output of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Prints {
    /// Its words.
    Words,
    /// Its words in the form of the first one.
    Format,
    /// Its standard input.
    Input,
    /// The names of the files that it comes upon.
    Names,
    /// The folder in which it runs.
    Folder,
    /// The path of a new file or folder; other options than these change which one that is.
    New(Vec<String>),
}

/// Where a program takes commands of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commands {
    /// The language of the commands.
    pub language: Language,
    /// Options whose values are commands.
    pub options: Vec<String>,
    /// Operands that are.
    pub operands: CommandOperands,
    /// Options whose values are files with commands.
    pub files: Vec<String>,
    /// When commands are read from its standard input.
    pub fed: Fed,
}

/// Where a program expands `{one,two}` and `[1-9]` in URLs: in its operands, and in these options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlGlobs {
    /// Options whose values have such patterns.
    pub values: Vec<String>,
    /// Options that name files, with `#1` for what a pattern became.
    pub named: Vec<String>,
    /// Options that turn it off.
    pub off: Vec<String>,
}

/// Languages of programs' own commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// Programs of `awk`.
    Awk,
    /// Commands of `ed`.
    Ed,
    /// Commands of a debugger.
    Gdb,
    /// Filters of `jq`.
    Jq,
    /// Commands of a pager.
    Less,
    /// Lines for the client of MySQL.
    Mysql,
    /// Patches as `apply_patch` reads them.
    Patch,
    /// Lines for the client of PostgreSQL.
    Psql,
    /// Scripts of `sed`.
    Sed,
    /// Addresses of `socat`.
    Socat,
    /// Lines for the client of SQL Server.
    Sqlcmd,
    /// Lines for the client of SQLite.
    Sqlite,
    /// Lines for the client of Oracle.
    Sqlplus,
    /// Commands of `sftp` and `ftp`.
    Transfer,
    /// Commands of vi.
    Vim,
}

/// Which operands hold commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandOperands {
    /// None.
    None,
    /// Those after `+`.
    Plus,
    /// All operands.
    All,
    /// The first, if no option gives any.
    First,
    /// All but the first.
    Rest,
}

/// When a program reads commands from its standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fed {
    /// Never.
    Never,
    /// Always.
    Always,
    /// Only if it is given no command by its words.
    Alone,
    /// With one of these options.
    With(Vec<String>),
}
