//! What options take of which there are few.

use clap::ValueEnum;

use rulestep_engine::run as engine;

/// The modes by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Mode {
    /// The call did not run: later decisions ignore its recorded result
    #[default]
    Enforce,
    /// The call ran as recorded: the decision only says that it would be stopped
    Shadow,
}

/// Who makes a call, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AgentArgument {
    /// The main agent
    Main,
    /// A subagent
    Sub,
}

/// The outputs by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// Text for people
    #[default]
    Text,
    /// One JSON object per line
    Json,
}

/// The outputs of cases by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum TestFormat {
    /// Text for people
    #[default]
    Text,
    /// One JSON object per line
    Json,
    /// JUnit XML for a build server
    Junit,
}

/// How edits are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum WatchMode {
    /// Use file-system events
    #[default]
    System,
    /// Look for changes every 0.7 seconds
    Poll,
    /// Read files again only when `r` is pressed
    Off,
}

/// The form of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum TableFormat {
    /// One JSON object per line
    #[default]
    Ndjson,
    /// Columns with types
    #[cfg(feature = "parquet")]
    Parquet,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl From<Mode> for engine::Mode {
    fn from(mode: Mode) -> engine::Mode {
        match mode {
            Mode::Enforce => engine::Mode::Enforce,
            Mode::Shadow => engine::Mode::Shadow,
        }
    }
}
