//! Polls the watched files, if the system has no events. The library's own polling compares whole seconds, so it would
//! miss the second of two edits within one.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use super::plan::{Plan, Side};
use super::{ChangedFiles, WatchTargets};
use crate::files::stamp::Stamp;

/// The latest state.
#[derive(Default)]
pub(super) struct Snapshot {
    policies: BTreeMap<PathBuf, Stamp>,
    sessions: BTreeMap<PathBuf, Stamp>,
    at: Option<SystemTime>,
}

impl Snapshot {
    /// The current state.
    pub fn now(watched: &WatchTargets) -> Snapshot {
        let plan = Plan::of(watched);
        // Before the looking: what changes meanwhile counts as young.
        let at = Some(SystemTime::now());
        Snapshot { policies: stamps(&plan, Side::Policies), sessions: stamps(&plan, Side::Sessions), at }
    }

    /// The changes since `before`.
    pub fn since(&self, before: &Snapshot) -> ChangedFiles {
        ChangedFiles {
            policies: differ(&before.policies, &self.policies, before.at),
            sessions: differ(&before.sessions, &self.sessions, before.at),
        }
    }
}

fn stamps(plan: &Plan, side: Side) -> BTreeMap<PathBuf, Stamp> {
    let mut stamps = BTreeMap::new();
    for (folder, interest) in &plan.folders {
        for path in interest.names(side).paths(side, folder) {
            // A folder's own stamp changes with every name in it, those that do not matter included.
            if let Ok(metadata) = fs::metadata(&path)
                && !metadata.is_dir()
            {
                stamps.insert(path, Stamp::of(&metadata));
            }
        }
    }
    stamps
}

/// Files that came, went or changed; or were so young when they were seen that they may have changed since.
fn differ(
    before: &BTreeMap<PathBuf, Stamp>,
    after: &BTreeMap<PathBuf, Stamp>,
    at: Option<SystemTime>,
) -> bool {
    let at = at.unwrap_or(SystemTime::UNIX_EPOCH);
    before.len() != after.len()
        || after.iter().any(|(path, stamp)| before.get(path) != Some(stamp) || stamp.is_young(at))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A second edit within the grain of the clock may leave the very same stamp.
    #[test]
    fn a_file_that_was_young_when_it_was_seen_may_have_changed() {
        let folder = tempfile::tempdir().unwrap();
        let named = |name: &str| {
            let path = folder.path().join(name);
            fs::write(&path, "{}").unwrap();
            path.display().to_string()
        };
        let watched = WatchTargets { policies: vec![named("p.yaml")], sessions: vec![named("s.json")] };
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        fs::File::options()
            .write(true)
            .open(folder.path().join("s.json"))
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        let (before, after) = (Snapshot::now(&watched), Snapshot::now(&watched));
        let touched = after.since(&before);
        assert_eq!((touched.policies, touched.sessions), (true, false));
    }
}
