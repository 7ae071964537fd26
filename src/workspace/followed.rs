//! Follows the named files: reads them once, and again as they change.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::cases::{CaseFiles, CaseRunner};
use super::recordings::{Event, Look, Recordings};
use super::version::{self, DEFAULT_POLICY, LoadedVersion, NoPolicy, Version};
use crate::compare::Base;
use crate::files;
use crate::files::watch::{ChangedFiles, WatchTargets};
use crate::lint::Levels;
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_engine::dialect::Dialect;
use rulestep_engine::policy::{LoadResult, is_case_file};
use rulestep_recording::Options;

/// The named files, to be read again whenever they change.
pub struct Workspace {
    with_samples: bool,
    policies: Vec<String>,
    only: Option<&'static Dialect>,
    sessions: Vec<String>,
    recordings: Mutex<Recordings>,
}

impl Workspace {
    /// For these names. Without any sessions it is the samples.
    pub fn new(
        policies: Vec<String>,
        only: Option<&'static Dialect>,
        sessions: Vec<String>,
        options: Options,
    ) -> Workspace {
        let recordings = Mutex::new(Recordings::new(sessions.clone(), options));
        Workspace { with_samples: sessions.is_empty(), policies, only, sessions, recordings }
    }

    /// Sets how long growing recordings have to be unchanged.
    #[cfg(test)]
    pub(crate) fn resting(mut self, rests: Duration) -> Workspace {
        let recordings = self.recordings.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.recordings = Mutex::new(recordings.resting(rests));
        self
    }

    /// Sessions that leave memory go to a file in this folder.
    pub fn spilling_to(mut self, folder: Option<std::path::PathBuf>) -> Workspace {
        if let Some(folder) = folder {
            let recordings = self.recordings.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.recordings = Mutex::new(recordings.spilling_to(folder));
        }
        self
    }

    /// Sets how many bytes sessions may take in memory.
    #[cfg(test)]
    pub(crate) fn bounded(mut self, most: usize) -> Workspace {
        let recordings = self.recordings.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.recordings = Mutex::new(recordings.bounded(most));
        self
    }

    /// The paths that the policy is read from; none if it is the samples.
    pub fn policy_paths(&self) -> Vec<String> {
        match self.policies.as_slice() {
            [] if self.with_samples => Vec::new(),
            [] => vec![DEFAULT_POLICY.to_owned()],
            named => named.to_vec(),
        }
    }

    /// The files that can change on disk; `None` if there are none.
    pub fn watched(&self) -> Option<WatchTargets> {
        let on_disk = |named: Vec<String>| named.into_iter().filter(|named| is_on_disk(named)).collect();
        let watched =
            WatchTargets { policies: on_disk(self.policy_paths()), sessions: on_disk(self.sessions.clone()) };
        (watched.sides() != ChangedFiles::default()).then_some(watched)
    }

    /// Which findings are reported, by the current settings.
    pub fn levels(&self) -> Levels {
        let mut version = Version::default();
        version.read_settings(&self.policy_paths());
        version.levels
    }

    /// Reads the policy. One that does not decide shows what could be read of it.
    pub fn policy(&self) -> LoadResult {
        match Version::named(&self.policies, self.with_samples) {
            Ok(version) => {
                let LoadedVersion { policy, mut loaded } = version.load(self.only);
                if let Err(NoPolicy::Empty { message, .. }) = &policy {
                    loaded.diagnostics.push(Diagnostic::error(code::MISSING_FILE, message.as_str()));
                }
                LoadResult { policy: policy.ok(), ..loaded }
            }
            Err(undecided) => {
                let diagnostics = undecided.into_diagnostics();
                LoadResult { policy: None, documents: Vec::new(), cases: Vec::new(), diagnostics }
            }
        }
    }

    /// Judges the cases that are kept beside the policy, as `rulestep test` does: with the files on disk, whichever
    /// version decides at the moment. Cases of a revision are not among its own files.
    pub fn cases(&self) -> CaseFiles {
        let (mut runner, mut cases) = (CaseRunner::default(), CaseFiles::default());
        let mut known: Vec<Arc<str>> = Vec::new();
        let on_disk = self.policy_paths().into_iter().filter(|named| is_on_disk(named));
        for found in on_disk.filter(|named| Path::new(named).exists()).map(|named| files::case_files(&named))
        {
            // Other problems of a folder are reported with the policy.
            for input in found.inputs {
                if known.contains(&input.name) {
                    continue;
                }
                known.push(Arc::clone(&input.name));
                match input.read_text() {
                    Ok(text) => cases.files.extend(runner.file(&input.name, text, false)),
                    Err(told) if is_case_file(&input.name) => cases.unreadable.push((input.name, told)),
                    Err(_) => {}
                }
            }
        }
        cases
    }

    /// Reads a version to compare with.
    pub fn base(&self, named: &[String]) -> Result<Base, NoPolicy> {
        version::base(named, &self.policies, self.only).map(|(base, _)| base)
    }

    /// Reads the recordings that have changed since the last time. If one is still being written, returns how long it
    /// has to stay unchanged to count as complete: then it is to be read again.
    pub fn sessions<L: Look>(&self, look: &L, out: &mut dyn FnMut(Event<L::Seen>)) -> Option<Duration> {
        // A panic while reading leaves files that are read again.
        self.recordings.lock().unwrap_or_else(PoisonError::into_inner).read(look, out)
    }
}

/// Whether a named input can change: a file, a folder, a pattern, or a path that may be one some day. Revisions do not,
/// and pipes can be read only once.
fn is_on_disk(named: &str) -> bool {
    let is_stream = || std::fs::metadata(named).is_ok_and(|found| !found.is_file() && !found.is_dir());
    named != "-" && !named.starts_with("git:") && !is_stream()
}
