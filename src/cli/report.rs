//! `rulestep report`: what a replay finds, as a document for people who do not have the program.

use std::path::Path;

use super::args;
use super::corpus_run::CorpusRun;
use super::exit::{Exit, Failure};
use super::replay::{ReplayRequest, judge};
use super::screen::Screen;
use crate::report::{DOCUMENTS, Scope};

/// Runs the verb.
pub fn run(asked: &args::Report, screen: &mut Screen) -> Result<Exit, Failure> {
    let ends_in_md = asked
        .output
        .as_deref()
        .is_some_and(|path| Path::new(path).extension().is_some_and(|end| end == "md"));
    let format = if asked.markdown || ends_in_md && !asked.html { "markdown" } else { "html" };
    let reports: Vec<String> = asked.output.iter().map(|path| format!("{format}={path}")).collect();
    let mut run = CorpusRun::of("rulestep report SESSIONS", &asked.corpus, screen)?;
    (run.strict, run.redact) = (asked.strict, asked.redact);
    let request = ReplayRequest {
        run,
        policies: &asked.corpus.policies,
        format: reports.is_empty().then_some(format),
        reports: &reports,
        known: DOCUMENTS,
        scope: Scope::Findings,
        caching: &args::Caching { no_cache: true },
    };
    judge(request, screen)
}
