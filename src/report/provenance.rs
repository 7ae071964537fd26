//! What a result is about: which sessions, judged by what and read how. Two results can be added where all but the sessions
//! agree, and no session is in both.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::completeness::{Completeness, DiagnosticCounts};
use crate::explore::identity::Identity;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::merge::Merge;
use rulestep_base::merged;
use rulestep_engine::run::Mode;

/// What a result is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The version of the program: another one may decide differently.
    pub program: String,
    /// Whether decisions take effect.
    pub mode: String,
    /// Digest of the policy version; none where nothing was judged.
    pub policy: Option<String>,
    /// What a comparison compares with: a digest, or `recorded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Which results are errors, beyond what recordings mark.
    pub error_regex: Option<String>,
    /// Which results are refusals.
    pub refused_regex: Option<String>,
    /// Shards that are here while others of the same division are not: by the number of shards, how often each is here.
    pub shards: BTreeMap<u32, BTreeMap<u32, u64>>,
    /// Sessions that were read and not looked at, by the option for which.
    pub left_out: BTreeMap<String, u64>,
    /// What was wrong with files, by the identity of their names. Every shard reads all files, so it is counted once.
    pub inputs: BTreeMap<Identity, FileProblems>,
    /// The sessions that were looked at, in order.
    pub sessions: Vec<Identity>,
}

merged! {
    /// What was wrong with a file, beyond what its sessions say of themselves.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct FileProblems {
        /// Whether it gave no session, 1 or 0.
        pub skipped: u64,
        /// Diagnostics.
        #[serde(flatten)]
        pub diagnostics: DiagnosticCounts,
    }
}

impl Provenance {
    /// How recordings were read.
    pub fn read_with(&mut self, error_regex: &Option<String>, refused_regex: &Option<String>) {
        self.error_regex.clone_from(error_regex);
        self.refused_regex.clone_from(refused_regex);
    }

    /// Adds those of sessions that the same run looked at.
    pub fn extend(&mut self, other: &Provenance) {
        self.sessions.extend_from_slice(&other.sessions);
    }

    /// Counts what is wrong with files, which no session says of itself.
    pub fn files(&mut self, diagnostics: &[Diagnostic], skipped: &BTreeMap<String, u64>) {
        for diagnostic in diagnostics {
            let file = diagnostic.place().map_or("", |place| place.file());
            self.inputs.entry(Identity::of_text(file)).or_default().diagnostics.note(diagnostic);
        }
        for (file, count) in skipped {
            self.inputs.entry(Identity::of_text(file)).or_default().skipped += count;
        }
    }

    /// With what judged the sessions.
    pub(super) fn judged(&self, policy: Option<&str>, mode: Mode, base: Option<&str>) -> Provenance {
        let mut whole = Provenance {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            mode: mode.word().to_owned(),
            policy: policy.map(str::to_owned),
            base: base.map(str::to_owned),
            ..self.clone()
        };
        whole.settle();
        whole
    }

    /// The problems of all files.
    pub(super) fn problems(&self) -> FileProblems {
        let mut all = FileProblems::default();
        self.inputs.values().for_each(|more| all.merge(more));
        all
    }

    /// Adds another result, and how completely it was read to how completely this one was. What is wrong with files that both read
    /// is counted once.
    pub(super) fn join(
        &mut self,
        other: Provenance,
        reading: &mut Completeness,
        others: &Completeness,
    ) -> Result<(), String> {
        let (mine, theirs) = (self.problems(), other.problems());
        self.merge(other)?;
        let all = self.problems();
        reading.merge(others);
        let known = &mut reading.diagnostics;
        let once = |known: &mut u64, of: fn(&FileProblems) -> u64| {
            *known = known.saturating_sub(of(&mine) + of(&theirs)) + of(&all);
        };
        once(&mut reading.skipped, |of| of.skipped);
        once(&mut known.errors, |of| of.diagnostics.errors);
        once(&mut known.warnings, |of| of.diagnostics.warnings);
        once(&mut known.notices, |of| of.diagnostics.notices);
        Ok(())
    }

    /// Adds the sessions of another result.
    ///
    /// # Errors
    /// A sentence: the two do not add up to one result.
    pub fn merge(&mut self, other: Provenance) -> Result<(), String> {
        let facts = |of: &Provenance| {
            let Provenance { program, mode, policy, base, error_regex, refused_regex, .. } = of.clone();
            [
                ("versions of rulestep", Some(program)),
                ("modes", Some(mode)),
                ("policies", policy),
                ("bases", base),
                ("values of `--error-regex`", error_regex),
                ("values of `--refused-regex`", refused_regex),
            ]
        };
        for ((what, one), (_, two)) in facts(self).into_iter().zip(facts(&other)) {
            if one != two {
                let [one, two] =
                    [one, two].map(|fact| fact.map_or("none".to_owned(), |fact| format!("`{fact}`")));
                return Err(format!("the results are of different {what}: {one} and {two}"));
            }
        }
        let both = shared(&self.sessions, &other.sessions);
        if both > 0 {
            let sessions = super::words::count(both, "session");
            return Err(format!("{sessions} would be counted twice, being in both results"));
        }
        self.sessions.extend(other.sessions);
        self.sessions.sort_unstable();
        Merge::merge(&mut self.left_out, &other.left_out);
        for (file, more) in other.inputs {
            let problems = self.inputs.entry(file).or_default();
            problems.skipped = problems.skipped.max(more.skipped);
            let (known, more) = (&mut problems.diagnostics, more.diagnostics);
            known.errors = known.errors.max(more.errors);
            known.warnings = known.warnings.max(more.warnings);
            known.notices = known.notices.max(more.notices);
        }
        Merge::merge(&mut self.shards, &other.shards);
        self.settle();
        Ok(())
    }

    /// Brings it into its one form: sessions in order, and no division of which every shard is there.
    pub fn settle(&mut self) {
        self.sessions.sort_unstable();
        for (of, shards) in &mut self.shards {
            let whole = shards.values().copied().min().filter(|_| shards.len() as u64 == u64::from(*of));
            shards.values_mut().for_each(|count| *count -= whole.unwrap_or(0));
            shards.retain(|_, count| *count > 0);
        }
        self.shards.retain(|_, shards| !shards.is_empty());
    }

    /// The shards that are missing, as `--shard` names them.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for (of, shards) in &self.shards {
            let most = shards.values().copied().max().unwrap_or(0);
            let is_missing = |shard: &u32| shards.get(shard).copied().unwrap_or(0) < most;
            missing.extend((1..=*of).filter(is_missing).map(|shard| format!("{shard}/{of}")));
        }
        missing
    }
}

/// How many sessions of one sorted list are in the other.
fn shared(one: &[Identity], two: &[Identity]) -> u64 {
    let (few, many) = if one.len() < two.len() { (one, two) } else { (two, one) };
    few.iter().filter(|identity| many.binary_search(identity).is_ok()).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(shard: u32, of: u32) -> Provenance {
        let shards = BTreeMap::from([(of, BTreeMap::from([(shard, 1)]))]);
        Provenance { shards, ..Provenance::default() }
    }

    #[test]
    fn shards_are_missing_until_all_are_there() {
        let mut all = shard(2, 3);
        assert_eq!(all.missing(), ["1/3", "3/3"]);
        all.merge(shard(1, 3)).unwrap();
        // Of another corpus that was divided alike.
        all.merge(shard(1, 3)).unwrap();
        assert_eq!(all.missing(), ["2/3", "3/3"]);
        all.merge(shard(3, 3)).unwrap();
        assert_eq!(all.missing(), ["2/3", "3/3"]);
        all.merge(shard(3, 3)).unwrap();
        all.merge(shard(2, 3)).unwrap();
        assert_eq!(all, Provenance::default());
    }

    #[test]
    fn a_file_that_every_shard_reads_is_counted_once() {
        let mut one = Provenance::default();
        let broken =
            [Diagnostic::error(rulestep_base::diagnostic::code::MISSING_FILE, "no such file").in_file("a")];
        one.files(&broken, &BTreeMap::from([("a".to_owned(), 1)]));
        let two = one.clone();
        one.merge(two).unwrap();
        assert_eq!(
            one.problems(),
            FileProblems {
                skipped: 1,
                diagnostics: DiagnosticCounts { errors: 1, ..DiagnosticCounts::default() }
            }
        );
    }
}
