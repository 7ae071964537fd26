//! `rulestep report`: what a replay finds, as a document for people who do not have the program.

use std::path::Path;

use super::args;
use super::exit::{Exit, Failure};
use super::input::SessionSource;
use super::replay::{ReplayRequest, judge};
use super::screen::Screen;
use super::selection::Selection;
use crate::report::{DOCUMENTS, Scope};

/// Runs the verb.
pub fn run(asked: &args::Report, screen: &mut Screen) -> Result<Exit, Failure> {
    let args::Corpus { recordings, selection, policies, judging, jobs } = &asked.corpus;
    let ends_in_md = asked
        .output
        .as_deref()
        .is_some_and(|path| Path::new(path).extension().is_some_and(|end| end == "md"));
    let format = if asked.markdown || ends_in_md && !asked.html { "markdown" } else { "html" };
    let reports: Vec<String> = asked.output.iter().map(|path| format!("{format}={path}")).collect();
    let request = ReplayRequest {
        wanted: SessionSource::of(&recordings.sessions, recordings.samples, "rulestep report SESSIONS")?,
        reading: &recordings.reading,
        policies,
        mode: judging.mode.into(),
        format: reports.is_empty().then_some(format),
        reports: &reports,
        known: DOCUMENTS,
        scope: Scope::Findings,
        jobs: *jobs,
        strict: asked.strict,
        redact: asked.redact,
        selection: Selection::of(selection)?,
        caching: &args::Caching { no_cache: true },
    };
    judge(&request, screen)
}
