//! The state of a run, kept beside its journal: a process continues from it and plays only the records added since.
//!
//! The journal alone is authoritative, and this is a cache of one program: if it does not match, it is ignored. It
//! matches if this very program wrote it under the same policy, and after the same records, as far as a rule can see
//! any of them. Since it names the records before it, added ones do not invalidate it, and a writer that is killed at
//! any point leaves one that does not match. It is never synced.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

use rulestep_base::checksum::Checksum;

use rulestep_engine::policy::Policy;

/// The form of a state; changes with it.
const FORM: &str = concat!("#rulestep.state/1 ", env!("CARGO_PKG_VERSION"));

/// Bytes of a state that are read: playing the session again is quicker then.
const LARGEST: u64 = 64 << 20;

/// A state as it was kept.
#[derive(Debug)]
pub struct State {
    /// The number of records in it.
    pub records: usize,
    /// The run after them.
    pub run: String,
}

/// The state here, if it was written by this program, under this policy and after these records of the journal, of
/// which `before` returns the outlines.
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

/// Its header. `None`: the program's identity is unknown.
fn headed(policy: &Policy, records: usize, before: &str, run: &str) -> Option<String> {
    let program = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let built = program.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    let (digest, length) = (policy.digest(), program.len());
    let digests =
        [before, run, policy.guard().unwrap_or_default()].map(|text| Checksum::oneshot(text.as_bytes()));
    let [before, run, guard] = digests.map(|digest| format!("{digest:016x}"));
    Some(format!("{FORM} {length} {built} {digest} {guard} {before} {run} {records}"))
}
