//! `rulestep merge`: results of parts of a corpus as one.

use std::fs::File;
use std::io::{self, BufReader, Read};

use clap::Args;

use super::verb::{Exit, Exits, FAULT, Failure, Screen, Verb};
use crate::report::merge::RunResult;
use crate::report::words;

/// Combine JSON results of several runs, such as those of `--shard`, into the result of one run over all their sessions
///
/// The result is JSON in the same form, on standard output.
#[derive(Debug, Args)]
pub struct Merge {
    /// JSON written by `replay`, `diff`, `coverage` or `stats`, all by the same command under the same policy; `-` for standard
    /// input. A file may hold several results, one after the other
    #[arg(value_name = "RESULT", required = true)]
    pub results: Vec<String>,
}

impl Verb for Merge {
    const NAME: &'static str = "merge";
    const EXITS: Exits = &[
        (0, "nothing was found, and the merged result is complete"),
        (1, "one of the results has a finding or a change, even if a shard is missing"),
        (2, "nothing was found, but a shard is missing or a recording could not be read completely"),
        (2, "wrong arguments, or results that do not belong together"),
        FAULT,
    ];

    /// It ends as the command does whose results these are, and with 2 where sessions are missing.
    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let mut whole: Option<RunResult> = None;
        for name in &self.results {
            let text: Box<dyn Read> = match name.as_str() {
                "-" => Box::new(io::stdin()),
                path => Box::new(File::open(path).map_err(|error| refused(name, &error.to_string()))?),
            };
            let result = RunResult::read(BufReader::new(text)).map_err(|why| refused(name, &why))?;
            match &mut whole {
                None => whole = Some(result),
                Some(whole) => whole.merge(result).map_err(|why| refused(name, &why))?,
            }
        }
        let Some(whole) = whole else { return Ok(Exit::Bad) };
        whole.write(screen.out())?;
        let missing = whole.provenance().missing();
        let sessions = words::count(whole.sessions(), "session");
        let results = words::count(self.results.len() as u64, "result");
        screen.note(&format!("{results} of `{}` merged: {sessions}", whole.command()));
        if !missing.is_empty() {
            let shards = words::list(missing.iter().map(|shard| format!("`{shard}`")));
            screen.warn(&format!("not all sessions were checked: no result of shard {shards}"));
        }
        for (option, count) in &whole.provenance().left_out {
            let sessions = words::count(*count, "session");
            screen.note(&format!("{sessions} left out by `{}`", words::line(option)));
        }
        Ok(match (whole.incomplete() || !missing.is_empty(), whole.found()) {
            (_, true) => Exit::Found,
            (true, false) => Exit::Bad,
            (false, false) => Exit::Clean,
        })
    }
}

fn refused(name: &str, why: &str) -> Failure {
    Failure::usage(format!("`{}` cannot be merged: {why}", words::line(name))).help(
        "merge JSON of `replay`, `diff`, `coverage` or `stats`, all of one policy and of different sessions",
    )
}
