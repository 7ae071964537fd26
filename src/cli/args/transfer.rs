//! Commands that bring recordings, results and policies into another form.

use clap::Args;

use super::choices::TableFormat;
use super::groups::{Corpus, ModeArgument, Policies, Recordings, Selection};

/// `rulestep convert`.
#[derive(Debug, Args)]
pub struct Convert {
    #[command(flatten)]
    pub recordings: Recordings,
    #[command(flatten)]
    pub selection: Selection,
    /// Output file, or folder (ending in `/`) for one file per recording; existing files are replaced [default: JSON lines on
    /// standard output]
    #[arg(short, long, value_name = "FILE|FOLDER/")]
    pub output: Option<String>,
    /// Exit with 2 if a file in a folder is skipped because it is not a recording. Without this, skipped files are only counted.
    /// Rulestep never looks at hidden files, `target` and `node_modules`, so they do not count
    #[arg(long)]
    pub strict: bool,
    /// Blank all arguments, results and messages. Only the values that a rule of the -p policies looks at stay readable; without -p,
    /// none
    #[arg(long)]
    pub redact: bool,
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub judging: ModeArgument,
}

/// `rulestep export`.
#[derive(Debug, Args)]
pub struct Export {
    #[command(flatten)]
    pub corpus: Corpus,
    /// Folder for the files `sessions`, `calls` and `findings`; existing ones are replaced
    #[arg(short, long, value_name = "FOLDER")]
    pub output: String,
    /// Format of the files, and the end of their names
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: TableFormat,
    /// Blank all arguments, results and messages. Only the values that a rule of the policies looks at stay readable
    #[arg(long)]
    pub redact: bool,
}

/// `rulestep merge`.
#[derive(Debug, Args)]
pub struct Merge {
    /// JSON written by `replay`, `diff`, `coverage` or `stats`, all by the same command under the same policy; `-` for standard
    /// input. A file may hold several results, one after the other
    #[arg(value_name = "RESULT", required = true)]
    pub results: Vec<String>,
}

/// `rulestep migrate`.
#[derive(Debug, Args)]
pub struct Migrate {
    /// File to rewrite, or `-` for standard input
    #[arg(required_unless_present = "config")]
    pub file: Option<String>,
    /// The same as FILE, for scripts that call `assay migrate --config`
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub config: Option<String>,
    /// Replace FILE with the result instead of printing it. Not possible with `-`
    #[arg(long)]
    pub write: bool,
}
