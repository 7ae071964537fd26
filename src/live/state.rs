//! The state of a run, kept beside its journal: a process goes on from it and plays only what was added since.
//!
//! The journal alone is the truth, and this is a cache of one program: whatever does not fit is as good as nothing. It fits if
//! this very program wrote it under the same policy, and after the same records, as far as a rule can see any of them. Since it
//! says after which records it is, others that are added make it no worse, and a writer that is stopped at any point leaves
//! something that does not fit. It is never synced.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

use twox_hash::XxHash3_64;

use rulestep_engine::policy::Policy;

/// How a state is written; changes with it.
const FORM: &str = concat!("#rulestep.state/1 ", env!("CARGO_PKG_VERSION"));

/// Bytes of a state that are read: playing the session again is quicker then.
const LARGEST: u64 = 64 << 20;

/// A state as it was kept.
#[derive(Debug)]
pub struct State {
    /// How many records are in it.
    pub records: usize,
    /// The run after them.
    pub run: String,
}

/// What is kept here, if it was kept by this program, under this policy and after these records of the journal, of which
/// `before` gives the outlines.
pub fn open<'o>(path: &Path, policy: &Policy, before: impl Fn(usize) -> Option<&'o str>) -> Option<State> {
    // A pipe or a device in its place would never end.
    let found = fs::metadata(path).ok()?;
    if !found.is_file() || found.len() > LARGEST {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    let (head, run) = text.split_once('\n')?;
    let records: usize = head.rsplit(' ').next()?.parse().ok()?;
    if head != headed(policy, records, before(records)?, run)? {
        return None;
    }
    Some(State { records, run: run.to_owned() })
}

/// Keeps a run after these records.
///
/// # Errors
/// It cannot be written. What is there then does not fit.
pub fn write(path: &Path, policy: &Policy, records: usize, before: &str, run: &str) -> io::Result<()> {
    let head = headed(policy, records, before, run).ok_or(io::ErrorKind::Unsupported)?;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(format!("{head}\n{run}").as_bytes())
}

/// What it begins with. `None`: it is not known which program this is.
fn headed(policy: &Policy, records: usize, before: &str, run: &str) -> Option<String> {
    let program = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let built = program.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    let (digest, length) = (policy.digest(), program.len());
    let digests =
        [before, run, policy.guard().unwrap_or_default()].map(|text| XxHash3_64::oneshot(text.as_bytes()));
    let [before, run, guard] = digests.map(|digest| format!("{digest:016x}"));
    Some(format!("{FORM} {length} {built} {digest} {guard} {before} {run} {records}"))
}
