//! A policy that decides for a running agent: hook events, the journal of each session, the protocol for hosts.
//!
//! A decision is made by replaying the journal of the session with the new call at its end, so it is the one that
//! `replay` later finds in the journal. No other code here judges a call.

pub mod agent;
mod arguments;
mod deciding;
pub mod doctor;
mod earlier;
pub mod fault;
pub mod followed;
pub mod hook_service;
pub mod host;
pub mod index;
pub mod install;
pub mod journal;
mod lock;
mod logged;
mod members;
mod outcome;
pub mod outline;
pub mod outlines;
pub mod policy;
pub mod probe;
pub mod proxy;
pub mod prune;
pub mod reason;
pub mod record;
pub mod self_guard;
pub mod settings;
pub mod state;
pub mod transcript;
pub mod tree;
mod undecided;

pub use agent::Agent;
pub use fault::Fault;

/// Default time limit for a hook's whole answer, in milliseconds.
pub const LIMIT: u64 = 30_000;

/// The folder of all journals, from the values of `XDG_STATE_HOME` and `HOME`.
///
/// # Errors
/// Neither names an absolute path.
pub fn folder(state: Option<&str>, home: Option<&str>) -> Result<std::path::PathBuf, Fault> {
    use std::path::{Path, PathBuf};
    let absolute = |path: Option<&str>| path.map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute(state).or_else(|| absolute(home).map(|home| home.join(".local/state")));
    let missing = || {
        let message =
            "there is no folder for the journal: neither `XDG_STATE_HOME` nor `HOME` is an absolute path";
        Fault::new(message, "set `XDG_STATE_HOME` to a folder that only you can write")
    };
    Ok(base.ok_or_else(missing)?.join(Path::new("rulestep/live")))
}
