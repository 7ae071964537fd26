//! The counts of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::unread::Unread;
use super::{Completeness, Judged, Provenance, words};
use crate::explore::contexts::SeenContexts;
use crate::explore::seen::SeenTools;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_engine::replay::{Counts, Tables};

/// The counts of a run.
///
/// It is written only into the cache, where most of it is nothing: each file has its own.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunCounts {
    /// Sessions, their calls and rules.
    #[serde(skip_serializing_if = "is_nothing")]
    pub counts: Counts,
    /// How completely the recordings were read.
    #[serde(skip_serializing_if = "is_nothing")]
    pub reading: Completeness,
    /// What stopped calls and which rules are violated, counted.
    pub tables: Tables,
    /// The tools that the sessions have.
    #[serde(skip_serializing_if = "is_nothing")]
    pub tools: SeenTools,
    /// What their contexts have where rules look.
    #[serde(skip_serializing_if = "is_nothing")]
    pub contexts: SeenContexts,
    /// Tools that the text of the policy has and that none of the sessions has.
    #[serde(skip)]
    pub unseen: Vec<String>,
    /// Rules that `when` switches off in all of the sessions.
    #[serde(skip)]
    pub off: Vec<String>,
    /// Which files were not read whole, and why.
    #[serde(skip)]
    pub unread: Unread,
    /// Whether files that gave no session fail the run.
    #[serde(skip)]
    pub strict: bool,
    /// Which sessions these are, and how they were read; what judged them is known where it is written.
    #[serde(skip_serializing_if = "is_nothing")]
    pub provenance: Provenance,
}

fn is_nothing<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl RunCounts {
    /// Counts a session. What is wrong with its recording is counted with [`RunCounts::note`].
    pub fn add(&mut self, judged: &Judged) {
        self.counts.merge(&judged.summary());
        self.tools.merge(&SeenTools::of(judged.session()));
        self.contexts.merge(&SeenContexts::of(judged.session(), judged.policy().conditions()));
        match judged {
            Judged::Whole(replay) => self.tables.merge(&Tables::of(replay)),
            Judged::Outcome { outcomes, .. } => self.tables.merge(&outcomes.tables),
        }
    }

    /// Counts what others counted.
    pub fn merge(&mut self, other: &RunCounts) {
        self.counts.merge(&other.counts);
        self.reading.merge(&other.reading);
        self.tables.merge(&other.tables);
        self.tools.merge(&other.tools);
        self.contexts.merge(&other.contexts);
        self.unread.merge(&other.unread);
        self.provenance.extend(&other.provenance);
    }

    /// Counts what is wrong with files: diagnostics that are of no session, and the files that gave none.
    pub fn files(&mut self, diagnostics: &[Diagnostic], skipped: &BTreeMap<String, u64>) {
        self.note(diagnostics);
        self.reading.skipped += skipped.values().sum::<u64>();
        self.unread.skip(skipped.keys());
        self.provenance.files(diagnostics, skipped);
    }

    /// Counts diagnostics.
    pub fn note(&mut self, diagnostics: &[Diagnostic]) {
        self.unread.note(diagnostics);
        diagnostics.iter().for_each(|diagnostic| self.reading.diagnostics.note(diagnostic));
    }
}

/// Why results are not about everything that was named, a sentence each, with whether the run fails for it; `did` is what was
/// done with the sessions.
pub(super) fn incomplete(total: &RunCounts, did: &str) -> Vec<(bool, String)> {
    let Completeness { skipped, diagnostics, interrupted } = &total.reading;
    let errors = (diagnostics.errors > 0).then(|| {
        let errors = words::count(diagnostics.errors, "error");
        (true, format!("{errors} in recordings: not everything was {did}"))
    });
    let them = if *skipped == 1 { "it" } else { "them" };
    let skipped = words::skipped(*skipped);
    let skipped =
        skipped.map(|skipped| (total.strict, format!("{skipped}: nothing in {them} is a recording")));
    let interrupted = interrupted.then(|| (true, "interrupted: these results are incomplete".to_owned()));
    errors.into_iter().chain(skipped).chain(interrupted).collect()
}

/// The same as paragraphs of Markdown.
pub(super) fn incomplete_markdown(total: &RunCounts, did: &str) -> Vec<String> {
    incomplete(total, did).into_iter().map(missing_markdown).collect()
}

/// What is missing as a paragraph of Markdown, in bold if the run fails for it.
pub(super) fn missing_markdown((fails, line): (bool, String)) -> String {
    if fails { format!("**{line}**") } else { line }
}
