//! A row: how a program reads its words, its effects, and how it runs another program.

use serde::{Deserialize, Serialize};

use super::Act;
use super::language::{Clears, Commands, Prints, UrlGlobs};
use super::run::Run;

/// The facts about a program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Program {
    /// Its names, without a folder.
    pub names: Vec<String>,
    /// Whether the row was compared with the program's own list of options and effects.
    pub checked: bool,
    /// How its options are written.
    pub style: Style,
    /// Whether a first word without a dash is letters of options: `tar xzf`.
    pub letters: bool,
    /// Whether its names may end in a version: `python3.12`.
    pub versions: bool,
    /// Whether options come before its operands, and what follows is not its own: `python x.py -c`.
    pub options_first: bool,
    /// Whether its own options come before the subcommand only: `git -C`.
    pub globals_first: bool,
    /// Whether `-x` is a mode, an operand as `+x` is: `chmod`.
    pub modes: bool,
    /// Whether a first word of capital letters is a method, and no operand: `http POST`.
    pub method: bool,
    /// Whether words before the program that it runs may be variables: `env NAME=VALUE`.
    pub assigns: bool,
    /// Whether it is a shell, whose script the walker follows.
    pub shell: bool,
    /// Whether it starts others with variables from its own source.
    pub adds_env: bool,
    /// When it starts others without most of the variables that it has.
    pub clears_env: Option<Clears>,
    /// Options that remove a variable from the environment of the programs that it starts.
    pub unsets: Vec<String>,
    /// Whether its words are an expression that says which files it comes upon: `find`.
    pub finds: bool,
    /// Its output, if its words determine it.
    pub prints: Option<Prints>,
    /// Files that it reads and that only set up a shell, by the ends of their paths.
    pub sets_up: Vec<String>,
    /// Where it expands patterns in URLs.
    pub url_globs: Option<UrlGlobs>,
    /// Keys of its settings whose values a shell runs.
    pub settings_run: Vec<String>,
    /// Keys of its settings that name files which it runs, or reads more settings from.
    pub settings_files: Vec<String>,
    /// The level for every subcommand comes first.
    pub levels: Vec<Level>,
    /// Languages of its own in its words and its standard input.
    pub commands: Vec<Commands>,
    /// Variables of the environment whose values it passes to a shell.
    pub env_runs: Vec<String>,
    /// Variables that name files which it runs, or reads its settings from.
    pub env_files: Vec<String>,
    /// Variables that hold more options, each with those that do no harm; what ends with `=` has any value.
    pub env_options: Vec<(String, Vec<String>)>,
    /// Whether its name is no ordinary word, so that a pattern with nothing else means it.
    pub unmistakable: bool,
}

/// How a program reads its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Style {
    /// `-rf` is `-r -f`, `--name=value`; options may come after operands.
    #[default]
    Gnu,
    /// `-name` is one option: `terraform`, `openssl`.
    OneDash,
}

/// The facts about a program as a whole, or about some of its subcommands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Level {
    /// The words of each subcommand; one that is empty for the program as a whole.
    pub subs: Vec<Vec<String>>,
    /// Its options.
    pub options: Vec<Opt>,
    /// Its effects.
    pub does: Vec<Does>,
    /// The effects that it does not have.
    pub none: EffectSet,
    /// How it runs another program: ways that apply in addition come first.
    pub runs: Vec<Run>,
    /// Options that name the folder in which it then runs.
    pub chdir: Vec<String>,
    /// Words with which its success does not show that it did its work.
    pub idle: Vec<String>,
    /// Number of operands after the subcommand that determine its effects: `test` of `npm run test`.
    pub verbs: usize,
    /// Whether its operands define an alias, as in `gh alias set`.
    pub aliases: bool,
    /// Whether each operand is a goal of its own: `make lint test`.
    pub goals: bool,
    /// Whether an unlisted subcommand is a plugin, a script or an alias.
    pub plugins: bool,
}

/// An option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opt {
    /// Its spellings, with their dashes.
    pub names: Vec<String>,
    /// Its value.
    pub takes: Takes,
}

/// The value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Takes {
    /// None; text after `=` is its value all the same.
    Nothing,
    /// The text attached to it, or this many words that follow.
    Words(usize),
    /// Only the text attached to it, which may be empty.
    Joined,
}

/// One of the four effects that a program may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// On files.
    Files(Act),
    /// It opens connections.
    Reaches,
}

impl Effect {
    /// All effects, with their names in documents.
    pub const ALL: [(&str, Effect); 4] = [
        ("reads", Effect::Files(Act::Reads)),
        ("writes", Effect::Files(Act::Writes)),
        ("deletes", Effect::Files(Act::Deletes)),
        ("reaches", Effect::Reaches),
    ];
}

/// A set of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EffectSet(pub [bool; 4]);

impl EffectSet {
    /// Adds an effect.
    pub fn add(&mut self, effect: Effect) {
        let places = self.0.iter_mut().zip(Effect::ALL);
        places.filter(|(_, (_, own))| *own == effect).for_each(|(place, _)| *place = true);
    }
}

/// A thing that a program does, if all conditions hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Does {
    /// The deed.
    pub deed: Deed,
    /// When.
    pub conditions: Vec<Condition>,
}

/// A deed of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deed {
    /// Works on files.
    Files(Act, Depth, At),
    /// Opens connections.
    Reaches(Net),
    /// Its effects are written in another language or in a file.
    Opaque,
    /// Gives a file another name for the same file.
    Links,
    /// Selects files of the walked folders by these options.
    Chooses(Choosing, Vec<String>),
}

/// How the value of an option selects files of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choosing {
    /// Files and folders of such names are left out.
    LeavesOut,
    /// Files are.
    LeavesOutFiles,
    /// Folders are.
    LeavesOutFolders,
    /// Only files of such names.
    Only,
    /// The same; a pattern after `!` excludes files and folders. The last match decides.
    Globs,
}

/// How much of a named folder is affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Depth {
    /// The file itself.
    Itself,
    /// Folders with all they hold; written are things in them that the line does not name.
    Below,
}

/// When a program does something, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Condition {
    /// With one of these options.
    With(Vec<String>),
    /// With none of them.
    Without(Vec<String>),
    /// In the folder that one of these options names.
    In(Vec<String>),
    /// With one of these letters in a first word without a dash.
    Bare(String),
    /// Without operands.
    Alone,
    /// With an operand.
    Named,
    /// With two operands or more.
    Several,
}

/// The effect of a program without operands if it has standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhenFed {
    /// The same.
    Same,
    /// It reads standard input.
    ReadsIt,
}

/// Which words name the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum At {
    /// All operands after the subcommand.
    All,
    /// The first of them.
    First,
    /// All but the first.
    Rest,
    /// The last, if there are at least two.
    Last,
    /// All but the last.
    ButLast,
    /// The folder in which the program runs.
    Here,
    /// All operands, or, if there are none, the folder in which the program runs; or only without standard input.
    AllOrHere(WhenFed),
    /// All but the first, or the same.
    RestOrHere(WhenFed),
    /// The variables of the environment that the operands name, or all.
    Environment,
    /// The operands that are not on another host: `scp`.
    Local,
    /// The same, the last.
    LocalLast,
    /// The same, all but the last.
    LocalButLast,
    /// Files that git keeps track of, whatever their names; never its own.
    Tracked,
    /// The operands, or files of any name that git does not know.
    Untracked,
    /// Operands that are `REVISION:PATH`, or paths.
    Revisions,
    /// The values of these options.
    Value(Vec<String>),
    /// The values of these options that begin with `@`, without it.
    Attached(Vec<String>),
    /// The files in operands of the form `@FILE` or `NAME=@FILE`.
    AttachedAll,
    /// The same, without the first operand.
    AttachedRest,
    /// The same in the values of all options.
    AttachedValues,
    /// The values of these options that hold no `=`.
    Plain(Vec<String>),
    /// The files of `KEY=FILE`, several with `,`, in the values of these options.
    Fields(Vec<String>),
    /// The files of `KEY=FILE` or `KEY FILE` in the values of these options, for these keys.
    Settings(Vec<String>, Vec<String>),
    /// The files of `START,END:FILE` in the values of these options.
    Lines(Vec<String>),
    /// The output of a packer for the operands: with such an ending or, for operands that have one, without it.
    Packed(Vec<String>),
    /// Operands but folders that are always there, such as `.`.
    New,
    /// Operands that are paths for certain after `--`, or after another one.
    Paths,
    /// Operands of a search that are paths or patterns of names, after the searched pattern, unless one of these
    /// options holds that.
    Pathspecs(Vec<String>),
    /// Files called as at the ends of the URLs among the operands, in the folder that one of these options names.
    Downloads(Vec<String>),
    /// The folder into which a repository is copied: the second operand, or called as at the end of the first.
    Clone,
    /// The paths that `HOST:CONTAINER` or `source=HOST` in the values of these options mount into a container.
    Mounts(Vec<String>),
    /// Files with the names of the operands, in the folder that these options name.
    Into(Vec<String>),
    /// The text after `=` in operands that begin with this: `if=` of `dd`.
    Field(String),
    /// This file.
    Fixed(String),
    /// Files of such a name in the folder in which it runs, or below it.
    Below(String),
}

/// Which words name the hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Net {
    /// The hosts of all operands that are URLs, or would be taken as such.
    Urls,
    /// The first operand is a host, with a user perhaps.
    First,
    /// The hosts of `host:path` and of URLs among the operands.
    Remotes,
    /// The values of these options, URLs or hosts; where none is given, this host.
    Value(Vec<String>, Option<String>),
    /// The hosts of the values of these options that are URLs.
    UrlValue(Vec<String>),
    /// This host.
    Fixed(String),
    /// A host that the line does not name, as this is called.
    Elsewhere(String),
    /// The first operand, if it is a URL or remote; else a host that the line does not name.
    OperandOr(String),
    /// Hosts that a file names, this machine perhaps.
    Listed(String),
    /// The value of this variable of the environment, or of those that begin so before a `*`.
    Variable(String),
    /// The second operand is a host.
    Second,
    /// Operands that look like names of hosts.
    Names,
    /// Operands that are URLs, or name a forge or a registry as `github:` and `npm:` do.
    Addresses,
    /// The hosts of operands `@HOST`.
    Attached,
    /// The hosts of operands `//HOST/SHARE`.
    Shares,
    /// The registries that the operands name as images: `ghcr.io/a/b`.
    Images,
    /// The same, of the first operand.
    Image,
    /// Forges of operands `OWNER/REPOSITORY`.
    Packages,
    /// The sources of Go modules.
    Modules,
    /// The same, if the first operand is one with a version.
    Module,
    /// The hosts of `HOST/OWNER/REPOSITORY` among the operands, and in the values of these options.
    Repositories(Vec<String>),
    /// The hosts of `host=HOST` among the operands, and in the values of these options.
    Connections(Vec<String>),
    /// The hosts of `FROM:PORT:TO:PORT` and `NAME:PORT:ADDRESS` in the values of these options.
    Relays(Vec<String>),
    /// Hosts with `,` between them in the values of these options.
    Jumps(Vec<String>),
    /// The hosts of `KEY=HOSTS` or `KEY HOSTS` in the values of these options, for these keys.
    Settings(Vec<String>, Vec<String>),
}
