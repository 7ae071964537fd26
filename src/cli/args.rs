//! Arguments and options that several commands share.

mod choices;
mod groups;
mod live;
mod misplaced;
mod values;

use clap::Args;

pub use choices::{AgentArgument, Color, Format, Mode, TableFormat, TestFormat, WatchMode};
pub use groups::{
    BaseArgument, Caching, Corpus, Handling, Lines, ModeArgument, Policies, Reading, Recordings, ReportFiles,
    SelectionOptions, Threads, Versions, asks_policy, merged, only_sessions, policies_help,
};
pub use live::{AgentSettings, Fallback, GatePolicy, Guarding, OnAsk, OnError, ScopeArgument, agents};
pub use misplaced::look_elsewhere;
pub use values::{
    Explained, PAGES, at_least_one, explained, explained_in_full, formats, kinds, languages, pages,
    theme_help, where_help_without_policy,
};

// How everything is shown. A doc comment would become the help of the program.
#[derive(Debug, Clone, Copy, Args)]
pub struct Show {
    /// Whether to colour the output (not the workbench)
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN")]
    pub color: Color,
    /// Hide the progress line and messages below a warning, but still say what was left out
    #[arg(short, long, global = true)]
    pub quiet: bool,
}
