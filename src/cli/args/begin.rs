//! Arguments of the commands that write files to begin with.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::groups::Reading;
use super::values::kinds;

/// `rulestep new`.
#[derive(Debug, Args)]
pub struct New {
    #[arg(value_name = "KIND", help = kinds())]
    pub kind: String,
    /// File to write. No file is overwritten [default: contracts/KIND.yaml]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// `rulestep init`.
#[derive(Debug, Args)]
pub struct Init {
    /// Folder to set up. No file is overwritten [default: contracts]
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Recordings: files, folders or globs. The rules that they suggest are written instead of the example
    #[arg(long, value_name = "SESSIONS", num_args = 1, action = ArgAction::Append)]
    pub sessions: Vec<String>,
    #[command(flatten)]
    pub reading: Reading,
}
