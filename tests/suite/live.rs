//! A policy at work on a running agent: hooks, journals, faults.

mod asks;
mod clients;
mod doctor;
mod ended;
mod equal;
mod faults;
mod folders;
mod follow;
mod home;
mod hook;
mod index;
mod install;
mod journals;
mod proxy;
mod prune;
mod rollout;
mod self_guard;
mod state;
mod stdio;
mod then;
mod trees;
mod undecided;
mod words;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rulestep::live::Agent;
use serde_json::Value;

use crate::cli::rulestep;

fn named(agent: &str) -> Agent {
    Agent::named(agent).unwrap()
}

/// The program with its journals in `state`.
pub fn live(folder: &Path, state: &Path, arguments: &[&str]) -> Command {
    let mut command = rulestep(folder, arguments);
    command.env("XDG_STATE_HOME", state).env_remove("HOME");
    command
}

/// Runs a command with this on standard input.
pub fn fed(mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// The records of a journal.
pub fn records(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
