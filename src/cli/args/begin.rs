//! Arguments of the commands that write policies.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::groups::{Reading, Recordings, Selection};
use super::values::{at_least_one, kinds, suggest_format, threads};
use crate::suggest::Bounds;

/// `rulestep new`.
#[derive(Debug, Args)]
pub struct New {
    #[arg(value_name = "KIND", help = kinds())]
    pub kind: String,
    /// File to write; one that exists is not overwritten. Editors find the schema of the language in `.schemas` beside it, which is
    /// written too [default: contracts/KIND.yaml, for a case contracts/example.case.yaml]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// `rulestep init`.
#[derive(Debug, Args)]
pub struct Init {
    /// Policies of Rulestep to write instead of the example, with their cases: `coding`, for coding agents, or `support`, for agents
    /// that refund orders. Cannot be combined with --sessions
    #[arg(value_name = "SET", conflicts_with = "sessions")]
    pub set: Option<String>,
    /// Folder to set up; if one of the files exists already, nothing is written. Its subfolder `.schemas` is for editors
    /// [default: contracts]
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Recordings: files, folders or globs. Write the rules that they suggest instead of the example. May be repeated
    #[arg(long, value_name = "SESSIONS", num_args = 1, action = ArgAction::Append)]
    pub sessions: Vec<String>,
    #[command(flatten)]
    pub reading: Reading,
}

/// `rulestep suggest`.
#[derive(Debug, Args)]
pub struct Suggest {
    #[command(flatten)]
    pub recordings: Recordings,
    #[command(flatten)]
    pub selection: Selection,
    /// Folder to write the suggested rules to as policies, one file for each tool; if one of them exists, nothing is written
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Suggest a rule only if at least N sessions have calls that satisfy it; three times N if it forbids something. For a rule about
    /// a shared value, such as an order number, N different values are enough
    #[arg(long, default_value_t = Bounds::default().support, value_name = "N")]
    pub min_support: u64,
    /// Suggest a rule only if at most N recorded calls violate it
    #[arg(long, default_value_t = Bounds::default().against, value_name = "N")]
    pub max_violations: u64,
    /// Suggest at most N rules
    #[arg(long, default_value_t = Bounds::default().most, value_name = "N", value_parser = at_least_one())]
    pub most: usize,
    /// Number of threads, at most 256; 0 is one per CPU
    #[arg(short, long, default_value_t = 0, value_name = "N", value_parser = threads())]
    pub jobs: usize,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = suggest_format())]
    pub format: String,
}
