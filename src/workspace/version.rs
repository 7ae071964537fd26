//! A named version of a policy: its files, and whether it decides.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::samples;
use crate::compare::Base;
use crate::files;
use crate::lint::{self, Levels};
use rulestep_base::diagnostic::{Diagnostic, Severity, code};
use rulestep_engine::dialect::Dialect;
use rulestep_engine::policy::{LoadResult, Policy, PolicyFile};

/// The folder of policies where none is named.
pub const DEFAULT_POLICY: &str = "contracts";

/// Name of the recording as a base.
pub const RECORDED: &str = "recorded";

/// Name of a gate's live decisions as a base.
pub const LIVE: &str = "live";

/// The files of a version, and the files that could not be read.
#[derive(Default, Clone)]
pub struct Version {
    /// The files that were read.
    pub files: Vec<PolicyFile>,
    /// The files that could not be read.
    pub unreadable: Vec<Diagnostic>,
    /// Further diagnostics.
    pub notices: Vec<Diagnostic>,
    /// Which findings are reported.
    pub levels: Levels,
}

/// A version that was loaded.
pub struct LoadedVersion {
    /// The policy to judge by, or why there is none.
    pub policy: Result<Arc<Policy>, NoPolicy>,
    /// Everything that was read, even if the version does not decide, with the diagnostics of the files.
    pub loaded: LoadResult,
}

/// Why there is nothing to judge by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoPolicy {
    /// No version is named, or two that cannot be joined.
    Unnamed {
        /// The problem.
        message: String,
        /// How to fix it.
        help: Option<&'static str>,
    },
    /// A part could not be read, and might have forbidden something.
    Unreadable(Vec<Diagnostic>),
    /// A document has an error.
    Invalid(Vec<Diagnostic>),
    /// There is no document: that is no policy that allows everything.
    Empty {
        /// The reason, as a sentence.
        message: String,
        /// Diagnostics of the files.
        told: Vec<Diagnostic>,
    },
}

impl NoPolicy {
    /// Diagnostics not reported elsewhere.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        let (message, help) = match self {
            NoPolicy::Unreadable(told) => return told,
            NoPolicy::Invalid(told) => {
                return told.into_iter().filter(|told| told.severity == Severity::Error).collect();
            }
            NoPolicy::Unnamed { message, help } => (message, help),
            NoPolicy::Empty { message, .. } => (message, None),
        };
        let told = Diagnostic::error(code::MISSING_FILE, message);
        vec![help.into_iter().fold(told, Diagnostic::help)]
    }
}

impl Version {
    /// The versions that are named, together; the samples where none is and they are asked for, else the usual folder.
    pub fn named(specs: &[String], with_samples: bool) -> Result<Version, NoPolicy> {
        if !specs.is_empty() {
            return Ok(Version::beside(specs, specs));
        }
        if with_samples {
            return Ok(Version { files: samples::policies(), ..Version::default() });
        }
        if Path::new(DEFAULT_POLICY).exists() {
            let usual = [DEFAULT_POLICY.to_owned()];
            return Ok(Version::beside(&usual, &usual));
        }
        let message = format!("no policy is named, and there is no folder `{DEFAULT_POLICY}` here");
        Err(NoPolicy::Unnamed { message, help: Some("name one with `--policy FILE-OR-FOLDER`") })
    }

    /// Versions for which `git:REV` means the same paths as `beside`.
    pub fn beside(specs: &[String], beside: &[String]) -> Version {
        let mut version = Version::default();
        version.read_settings(specs);
        for spec in specs {
            match files::read_version(spec, beside) {
                Err(diagnostic) => version.unreadable.push(diagnostic),
                Ok(read) => {
                    let (files, told) = read.into_policy_files();
                    version.files.extend(files);
                    let (errors, notices): (Vec<_>, Vec<_>) =
                        told.into_iter().partition(|told| told.severity == Severity::Error);
                    version.unreadable.extend(errors);
                    version.notices.extend(notices);
                }
            }
        }
        version
    }

    /// Takes in the nearest settings of each part, each file once.
    pub(super) fn read_settings(&mut self, specs: &[String]) {
        let mut read = BTreeSet::new();
        for found in specs.iter().filter_map(|spec| files::settings::nearest(spec)) {
            match found {
                Ok(source) if read.insert(source.name().to_owned()) => {
                    let (levels, problems) = Levels::read(&source);
                    self.levels.join(levels);
                    self.notices.extend(problems);
                }
                Ok(_) => {}
                Err(problem) => self.notices.push(problem),
            }
        }
    }

    /// Replaces the text of a file.
    pub fn with_text(mut self, name: &str, text: String) -> Version {
        let text: Arc<str> = text.into();
        for file in self.files.iter_mut().filter(|file| *file.name == *name) {
            file.text = Arc::clone(&text);
        }
        self
    }

    /// Loads the version, which decides if all of it was read, no document has an error, and there is one.
    pub fn load(self, only: Option<&'static Dialect>) -> LoadedVersion {
        let mut loaded = Policy::load(&self.files, only);
        lint::lint(&mut loaded, &self.levels, only.is_none() && self.unreadable.is_empty());
        let told: Vec<Diagnostic> = self.notices.into_iter().chain(loaded.diagnostics).collect();
        let policy = match &loaded.policy {
            _ if !self.unreadable.is_empty() => Err(NoPolicy::Unreadable(self.unreadable.clone())),
            None => Err(NoPolicy::Invalid(told.clone())),
            Some(policy) if policy.documents().is_empty() => {
                let what = only.map_or("policy".to_owned(), |dialect| format!("`{}` document", dialect.name));
                let message = format!("no {what} was found, so nothing can be judged");
                Err(NoPolicy::Empty { message, told: told.clone() })
            }
            Some(policy) => Ok(Arc::clone(policy)),
        };
        loaded.diagnostics = self.unreadable.into_iter().chain(told).collect();
        LoadedVersion { policy, loaded }
    }
}

/// The named base: the recording, or a version, with its diagnostics.
pub fn base(
    named: &[String],
    beside: &[String],
    only: Option<&'static Dialect>,
) -> Result<(Base, Vec<Diagnostic>), NoPolicy> {
    match named {
        [one] if one == RECORDED => Ok((Base::Recorded, Vec::new())),
        [one] if one == LIVE => Ok((Base::Live, Vec::new())),
        several
            if let Some(own) = several.iter().find(|named| [RECORDED, LIVE].contains(&named.as_str())) =>
        {
            let message = format!("`{own}` is a version of its own and cannot be joined with others");
            Err(NoPolicy::Unnamed { message, help: None })
        }
        named => {
            let LoadedVersion { policy, loaded } = Version::beside(named, beside).load(only);
            Ok((Base::Version(policy?), loaded.diagnostics))
        }
    }
}
