//! `rulestep report`: what a replay finds, as a document for people who do not have the program.

use std::path::Path;

use clap::Args;

use super::args::{self, Corpus, Handling};
use super::corpus_run::CorpusRun;
use super::replay::{ReplayRequest, judge};
use super::verb::{
    Exit, Exits, FAULT, FINDING, Failure, INTERRUPTED, NO_FINDING, NOT_FOUND_IN_PART, NOT_JUDGED, STRICT,
    Screen, Verb,
};
use crate::report::{DOCUMENTS, Scope};

/// Write what `replay` finds as one HTML or Markdown page, for people who do not have Rulestep
#[derive(Debug, Args)]
pub struct Report {
    #[command(flatten)]
    pub corpus: Corpus,
    /// Write one HTML page that needs neither Rulestep nor a network to be read (the default unless FILE ends in `.md`)
    #[arg(long, conflicts_with = "markdown")]
    pub html: bool,
    /// Write Markdown for a ticket, instead of HTML
    #[arg(long)]
    pub markdown: bool,
    /// Output file; an existing file is replaced. A name that ends in `.md` means Markdown [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
    #[command(flatten)]
    pub handling: Handling,
}

impl Verb for Report {
    const NAME: &'static str = "report";
    const EXITS: Exits = &[NO_FINDING, FINDING, NOT_FOUND_IN_PART, STRICT, NOT_JUDGED, FAULT, INTERRUPTED];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let ends_in_md = self
            .output
            .as_deref()
            .is_some_and(|path| Path::new(path).extension().is_some_and(|end| end == "md"));
        let format = if self.markdown || ends_in_md && !self.html { "markdown" } else { "html" };
        let reports: Vec<String> = self.output.iter().map(|path| format!("{format}={path}")).collect();
        let mut run = CorpusRun::of("rulestep report SESSIONS", &self.corpus, screen)?;
        (run.strict, run.redact) = (self.handling.strict, self.handling.redact);
        let request = ReplayRequest {
            run,
            policies: &self.corpus.policies,
            format: reports.is_empty().then_some(format),
            reports: &reports,
            known: DOCUMENTS,
            scope: Scope::Findings,
            caching: &args::Caching { no_cache: true },
        };
        judge(request, screen)
    }
}
