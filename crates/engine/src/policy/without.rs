//! A version with some of its rules switched off, as if their text were not there.
//!
//! Rules share state and precedence: one that is off must forbid nothing, count nothing and hide no other. So ignoring
//! its findings is not enough: the files are read again, and its reader makes no unit of it. The ids of all rules stay.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::loading::Loading;
use super::{LoadResult, Policy, PolicyFile, digest_of};
use crate::monitor::{RuleId, Rules};

impl Policy {
    /// This version without some of its rules, and without those that were off before. It is marked by [`Policy::off`],
    /// and its digest is another one. Documents, rules and their ids are the same, those that are off included.
    ///
    /// `None` for a version that was not read from files, so that no reader can leave out the rules.
    pub fn without(&self, off: &BTreeSet<RuleId>) -> Option<Arc<Policy>> {
        let off: BTreeSet<RuleId> = off.union(self.off()).copied().collect();
        let names = off.iter().filter_map(|rule| Some(&*self.rules.get(*rule)?.id));
        let digest = digest_of(std::iter::once(&*self.digest).chain(names));
        let loaded = Loading::of(&self.files, self.only, Rules::without(off)).finish(digest);
        loaded.policy.filter(|policy| policy.rules.len() == self.rules.len())
    }

    /// This version with another text of one file; `None` if it does not load.
    pub fn with_text(&self, file: &str, text: &str) -> Option<Arc<Policy>> {
        let mut files = self.files.clone();
        files.iter_mut().filter(|known| *known.name == *file).for_each(|known| known.text = text.into());
        Policy::load(&files, self.only).policy
    }

    /// The files that it was read from, in the order of their rules.
    pub fn files(&self) -> &[PolicyFile] {
        &self.files
    }

    /// The rules that are switched off: with any, this is a hypothesis and not a version that was written.
    pub fn off(&self) -> &BTreeSet<RuleId> {
        self.rules.off()
    }
}

impl Policy {
    /// This version as it would load with one file more, or with another text in the place of one of the same name.
    pub fn with_file(&self, file: PolicyFile) -> LoadResult {
        let mut files: Vec<PolicyFile> =
            self.files.iter().filter(|known| known.name != file.name).cloned().collect();
        files.push(file);
        Policy::load(&files, self.only)
    }
}
