//! The command line: commands, arguments and options.

mod begin;
mod choices;
mod defaults;
mod explain;
mod groups;
mod live;
mod misplaced;
mod proxy;
mod transfer;
mod values;

use clap::{ArgAction, Args, Parser, Subcommand};
use clap_complete::Shell;

pub use begin::{Init, New, Suggest};
pub use choices::WatchMode;
pub use choices::{AgentArgument, Color, Format, Mode, TableFormat, TestFormat};
pub use defaults::defaults_explained;
pub use explain::Explain;
pub use groups::{Caching, Corpus, Lines, Policies, Reading, Recordings, Selection};
pub use live::{Doctor, Fallback, Gate, Hook, Install, Live, OnAsk, Prune, ScopeArgument, Uninstall};
pub use misplaced::look_elsewhere;
pub use proxy::Proxy;
pub use transfer::{Convert, Export, Merge, Migrate};
use values::theme_help;
pub use values::{ANY, NONE, PAGES, pages};
use values::{
    changes_format, coverage_format, failing, keys, languages, replay_format, stats_format, threads,
};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "rulestep",
    version,
    about = "Find out why an AI agent's tool call was stopped, and what a new policy would change",
    long_about = "Find out why an AI agent's tool call was stopped, and what a new policy would change.\n\n`rulestep SESSIONS` \
                  opens recordings in the workbench, a full-screen terminal interface, together with the policies that decide \
                  their calls; `?` lists its keys. `rulestep` alone opens the built-in samples. If the output is not a \
                  terminal, both print the same as `rulestep replay` for these sessions.\n\n`rulestep explain` lists \
                  the reference pages; `rulestep explain marks` explains the marks in the output and on the screen.",
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// Without a verb: what the workbench opens.
    #[command(flatten)]
    pub open: Open,
    /// How everything is shown.
    #[command(flatten)]
    pub show: Show,
}

impl Cli {
    /// The recordings that are named, where the command reads any.
    pub fn recordings(&mut self) -> Option<&mut Recordings> {
        Some(match &mut self.verb {
            None => &mut self.open.recordings,
            Some(Verb::Replay(Replay { corpus, .. }))
            | Some(Verb::Diff(Diff { corpus, .. }))
            | Some(Verb::Coverage(Coverage { corpus, .. }))
            | Some(Verb::Report(Report { corpus, .. }))
            | Some(Verb::Export(Export { corpus, .. }))
            | Some(Verb::Stats(Stats { corpus, .. })) => &mut corpus.recordings,
            Some(Verb::Suggest(Suggest { recordings, .. }))
            | Some(Verb::Convert(Convert { recordings, .. })) => recordings,
            Some(_) => return None,
        })
    }
}

/// What the workbench opens.
#[derive(Debug, Args)]
pub struct Open {
    #[command(flatten)]
    pub recordings: Recordings,
    #[command(flatten)]
    pub policies: Policies,
    /// What to compare with: another version of the policies (file, folder or `git:REV[:PATH]`), `recorded` or `live`. `recorded` is
    /// what the recording refused, `live` what `hook`, `gate` or `proxy` decided while the agent ran. Repeat it to combine several
    /// versions, but not `recorded` or `live`. `git:REV` without a path means the -p paths as of that revision
    #[arg(short, long, value_name = "VERSION", action = ArgAction::Append)]
    pub base: Vec<String>,
    /// What a replay assumes after a call that the policy stops [default: enforce]
    #[arg(long, value_enum, value_name = "MODE")]
    pub mode: Option<Mode>,
    /// Settings file of the workbench, which must exist; `keys.toml` beside it changes keys [default: $RULESTEP_CONFIG, else
    /// ~/.config/rulestep/config.toml]
    #[arg(long, value_name = "FILE")]
    pub config: Option<String>,
    /// Colours of the workbench
    #[arg(long, value_name = "NAME", help = theme_help())]
    pub theme: Option<String>,
    /// Start at the first stopped call, not at the place where you left these recordings the last time
    #[arg(long)]
    pub no_restore: bool,
    /// How to notice edited files. Choose `poll` on network file systems, which do not report changes
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    pub watch: WatchMode,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List the recorded calls that the policy stops and the session rules that are violated
    ///
    /// A session rule is a rule about the session as a whole, for example that a required tool is called. It is checked when the
    /// session ends.
    Replay(Replay),
    /// Replay sessions under two versions of the policies and list what changes: decisions, visible tools, session rules, reports
    ///
    /// A change is `primary` if the same calls ran before it under both versions. It is `downstream` if it comes after a call
    /// that ran under one version only. The rules then see different earlier calls, so the edit itself may not be the cause.
    Diff(Diff),
    /// Show for each rule how often it was checked and how often it stopped a call, and list the rules that were never checked
    Coverage(Coverage),
    /// Write what `replay` finds as one HTML or Markdown page, for people who do not have Rulestep
    Report(Report),
    /// List what the sessions contain: tools, programs run, files read and written, hosts contacted, projects, days
    Stats(Stats),
    /// Suggest rules that the recorded calls satisfy, with the number of these calls; -o writes them as policies
    Suggest(Suggest),
    /// Write a commented example of a policy or a case, to start from
    New(New),
    /// Set up a folder of policies: a first policy, a case that tests it, and `rulestep.toml` with settings of `check`
    Init(Init),
    /// Find mistakes in policies: unknown keys, wrong values, rules that can never apply
    ///
    /// `--against` also compares the rules with recordings. `rulestep.toml` in the folder of the policies, or in one above it, can
    /// hold what `--deny` and `--allow` say.
    Check(Check),
    /// Run case files: each contains a session, the policy or its path, and the expected decisions
    Test(Test),
    /// Explain a code, a policy language, the marks in the output, how Rulestep decides calls, or the decision on one call
    Explain(Explain),
    /// Print the JSON Schema of a policy language, for editors
    Schema {
        #[arg(value_name = "LANGUAGE", help = languages())]
        dialect: String,
    },
    /// Answer one hook event of a running agent, such as a tool call to allow or deny (`install` sets it up; docs/gate.md)
    Hook(Hook),
    /// Decide the tool calls of a program of your own, which sends and receives lines of JSON (docs/gate.md)
    Gate(Gate),
    /// Pass messages between an MCP client and its server, and let the policy decide the tool calls (docs/proxy.md)
    Proxy(Proxy),
    /// Add the hook to an agent's settings, so that the policy decides its tool calls (docs/gate.md)
    ///
    /// An installed hook is replaced. If an error prevents a decision, the hook denies the call. To change that, add `--on-error` to
    /// the hook's command in the settings.
    Install(Install),
    /// Remove the hook from an agent's settings, and nothing else
    Uninstall(Uninstall),
    /// Open journals, the recordings that `hook`, `gate` and `proxy` write, in the workbench, and follow them as they grow
    Live(Live),
    /// Remove old journals, and print which. A journal is the recording of one session that `hook`, `gate` or `proxy` writes
    Prune(Prune),
    /// Test the hooks installed for the user and for the project in the current folder, and report what does not work
    Doctor(Doctor),
    /// Run a language server that checks and completes policy files in an editor (docs/editors.md)
    Lsp(Lsp),
    /// Convert recordings to Rulestep's own JSON form, `native`
    Convert(Convert),
    /// Write sessions, calls and findings as tables to load into a database, as JSON lines
    Export(Export),
    /// Combine JSON results of several runs, such as those of `--shard`, into the result of one run over all their sessions
    ///
    /// The result is JSON in the same form, on standard output.
    Merge(Merge),
    /// Convert a file of sequence rules (Assay) from the old syntax, version 0, to the current one, and print it or write it
    Migrate(Migrate),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page of the program or of one command
    Man {
        /// Command to print the page of [default: the whole program]
        #[arg(value_name = "COMMAND")]
        verb: Option<String>,
    },
}

/// `rulestep replay`.
#[derive(Debug, Args)]
pub struct Replay {
    #[command(flatten)]
    pub corpus: Corpus,
    #[command(flatten)]
    pub lines: Lines,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text", default_value_if("lines", "true", "json"), value_parser = replay_format())]
    pub format: String,
    /// Also write the result to FILE (replaced if it exists), in any FORMAT of --format: `junit=report.xml`. May be repeated
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append)]
    pub report: Vec<String>,
    /// Show only the totals of each session and the session rules that it violates, not its calls. Cannot be combined with
    /// --full or --by
    #[arg(long, conflicts_with = "full")]
    pub summary: bool,
    /// Show everything: also visible and hidden tools and unsatisfied preconditions of each turn, and every check on each call.
    /// Cannot be combined with --summary or --by
    #[arg(long)]
    pub full: bool,
    /// Count stopped calls and violated session rules by KEY, instead of listing them
    #[arg(long, value_name = "KEY", conflicts_with_all = ["summary", "full", "report", "redact", "strict", "lines"], value_parser = keys())]
    pub by: Option<String>,
    /// Exit with 2 if a file in a folder is skipped because it is not a recording. Without this, skipped files are only counted.
    /// Rulestep never looks at hidden files, `target` and `node_modules`, so they do not count
    #[arg(long)]
    pub strict: bool,
    /// Blank all arguments, results and messages, in the output and in files that are written. Only the values that a rule of the
    /// policies looks at stay readable
    #[arg(long)]
    pub redact: bool,
    #[command(flatten)]
    pub caching: Caching,
}

/// `rulestep diff`.
#[derive(Debug, Args)]
pub struct Diff {
    #[command(flatten)]
    pub corpus: Corpus,
    #[command(flatten)]
    pub lines: Lines,
    /// What to compare with: another version of the policies (file, folder or `git:REV[:PATH]`), `recorded` or `live`. `recorded` is
    /// what the recording refused, `live` what `hook`, `gate` or `proxy` decided while the agent ran. Repeat it to combine several
    /// versions, but not `recorded` or `live`. `git:REV` without a path means the -p paths as of that revision
    #[arg(short, long, value_name = "VERSION", action = ArgAction::Append, required = true)]
    pub base: Vec<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text", default_value_if("lines", "true", "json"), value_parser = changes_format())]
    pub format: String,
    /// Also write the result to FILE (replaced if it exists), in any FORMAT of --format: `junit=report.xml`. May be repeated
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append)]
    pub report: Vec<String>,
    /// Describe every change, not only the first few of each rule. JSON always has every change, and with --full the findings of
    /// both versions
    #[arg(long)]
    pub full: bool,
    /// For each primary change of a decision, write a case (a minimal example) to this folder. It has the fewest calls that still
    /// show the change, and expects the new decision. If one of the files exists, nothing is written
    #[arg(long, value_name = "FOLDER")]
    pub witness: Option<String>,
    /// Kinds of change that cause exit code 1, separated by commas. `none` cannot be combined with others. `blocked` means stopped
    #[arg(long, value_name = "KINDS", value_delimiter = ',', default_value = "any", value_parser = failing())]
    pub fail_on: Vec<String>,
    /// Exit with 2 if a file in a folder is skipped because it is not a recording. Without this, skipped files are only counted.
    /// Rulestep never looks at hidden files, `target` and `node_modules`, so they do not count
    #[arg(long)]
    pub strict: bool,
    /// Blank all arguments, results and messages, in the output and in files that are written. Only the values that a rule of the
    /// policies looks at stay readable
    #[arg(long)]
    pub redact: bool,
}

/// `rulestep coverage`.
#[derive(Debug, Args)]
pub struct Coverage {
    #[command(flatten)]
    pub corpus: Corpus,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = coverage_format())]
    pub format: String,
    #[command(flatten)]
    pub caching: Caching,
}

/// `rulestep report`.
#[derive(Debug, Args)]
pub struct Report {
    #[command(flatten)]
    pub corpus: Corpus,
    /// Write one HTML page that needs neither Rulestep nor a network to be read (the default unless FILE ends in `.md`)
    #[arg(long, conflicts_with = "markdown")]
    pub html: bool,
    /// Write Markdown for a ticket, instead of HTML
    #[arg(long)]
    pub markdown: bool,
    /// Output file; an existing file is replaced. A name that ends in `.md` means Markdown [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
    /// Exit with 2 if a file in a folder is skipped because it is not a recording. Without this, skipped files are only counted.
    /// Rulestep never looks at hidden files, `target` and `node_modules`, so they do not count
    #[arg(long)]
    pub strict: bool,
    /// Blank all arguments, results and messages, in the output and in files that are written. Only the values that a rule of the
    /// policies looks at stay readable
    #[arg(long)]
    pub redact: bool,
}

/// `rulestep stats`.
#[derive(Debug, Args)]
pub struct Stats {
    #[command(flatten)]
    pub corpus: Corpus,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = stats_format())]
    pub format: String,
    /// Show every row, not only the first few of each list. JSON always has every row
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub caching: Caching,
}

/// `rulestep check`.
#[derive(Debug, Args)]
pub struct Check {
    /// Policies: files, folders or `git:REV[:PATH]` [default: contracts/]
    #[arg(value_name = "POLICY")]
    pub named: Vec<String>,
    #[command(flatten)]
    pub policies: Policies,
    /// Check the settings of the workbench instead of policies: FILE and `keys.toml` beside it [default: as the workbench finds them]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with_all = ["named", "policy", "only"])]
    pub config: Option<String>,
    /// Recordings to compare the rules with: files, folders or globs. May be repeated. Report tools and values in rules that occur in
    /// no call, conditions that never or always pass, rules that checked no call, and rules that stopped no call
    #[arg(long, value_name = "SESSIONS", num_args = 1, action = ArgAction::Append)]
    pub against: Vec<String>,
    #[command(flatten)]
    pub selection: Selection,
    /// Make every problem with this code an error, even if it is only a warning or a notice by default. May be repeated
    #[arg(long, value_name = "CODE", action = ArgAction::Append)]
    pub deny: Vec<String>,
    /// Leave out every problem with this code: it is not reported and does not affect the exit code. May be repeated
    #[arg(long, value_name = "CODE", action = ArgAction::Append)]
    pub allow: Vec<String>,
    /// Edit the files: apply the fixes that cannot change a decision
    #[arg(long)]
    pub fix: bool,
    /// With --fix: also apply fixes that can change decisions, such as the likely name of a misspelt tool
    #[arg(long, requires = "fix")]
    pub suggested: bool,
    #[command(flatten)]
    pub reading: Reading,
    /// Number of threads, at most 256; 0 is one per CPU
    #[arg(short, long, default_value_t = 0, value_name = "N", value_parser = threads())]
    pub jobs: usize,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
}

/// `rulestep test`.
#[derive(Debug, Args)]
pub struct Test {
    /// Cases: files, folders, globs, or `-` for standard input [default: contracts/]
    #[arg(value_name = "CASES")]
    pub cases: Vec<String>,
    /// Edit the files: replace the expectations that fail with the actual decisions
    #[arg(long)]
    pub update: bool,
    /// Test the cases themselves: in memory, remove or weaken one rule at a time, and list the changes that no case notices. No file
    /// is changed
    #[arg(long, conflicts_with = "update")]
    pub mutate: bool,
    /// With --mutate: recordings; may be repeated. For each change that no case notices, name a recorded call that would be decided
    /// differently
    #[arg(long, value_name = "SESSIONS", requires = "mutate")]
    pub sessions: Vec<String>,
    /// With --mutate: also exit with 1 if the cases notice less than this percentage of all removals and weakenings
    #[arg(long, value_name = "PERCENT", requires = "mutate", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub min_score: Option<u8>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: TestFormat,
}

/// `rulestep lsp`.
#[derive(Debug, Args)]
pub struct Lsp {
    /// Recordings: files, folders or globs. The editor completes their tool names and argument paths, and shows how many of their
    /// calls each rule stops
    #[arg(value_name = "SESSIONS")]
    pub sessions: Vec<String>,
    /// For editors that pass it; there is no other way to talk to the server
    #[arg(long, hide = true)]
    pub stdio: bool,
}

/// How everything is shown.
#[derive(Debug, Clone, Copy, Args)]
pub struct Show {
    /// Whether to colour the output (not the workbench)
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN")]
    pub color: Color,
    /// Hide the progress line and messages below a warning, but still say what was left out
    #[arg(short, long, global = true)]
    pub quiet: bool,
}
