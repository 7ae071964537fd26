//! `--lines`: a filter for other programs. Each line of standard input is one session, and each has one line of output, at once
//! and in order, whatever is wrong with it.
//!
//! The lines that are there are judged together; nothing waits for further ones. Neither more than these nor their results
//! are in memory, and a writer waits for the reader of the results.

use std::io::{self, BufRead, BufReader, Cursor};
use std::sync::Arc;

use anyhow::Context as _;
use serde_json::json as object;

use super::args::{self, Lines};
use super::exit::{Exit, Failure};
use super::input;
use super::redacted::redacted;
use super::screen::Screen;
use crate::corpus::Corpus;
use crate::explore::identity::Identity;
use crate::report::diff::{self, DiffResult, Part, View};
use crate::report::json;
use crate::report::{Judged, Look, RunCounts, Scope, diagnostic, totals, words};
use rulestep_base::diagnostic::{Diagnostic, Severity, code};
use rulestep_base::session::Session;
use rulestep_engine::run::Mode;
use rulestep_recording::{self as recording, Options};

/// Bytes of a line that is kept.
const LONGEST: usize = 256 << 20;
/// Lines that are judged together.
const TOGETHER: usize = 256;

/// Judges every line.
pub fn replay(
    corpus: &args::Corpus,
    lines: &Lines,
    format: &str,
    redact: bool,
    scope: Scope,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let args::Corpus { recordings, policies, judging, threads, .. } = corpus;
    check(&recordings.sessions, format)?;
    let policy = input::policy(policies, false, screen)?;
    let mode: Mode = judging.mode.into();
    let mut total = RunCounts::default();
    let judge = |session: Arc<Session>| {
        let identity = Identity::of(&session);
        let session = if redact { Arc::new(redacted(&session, &[&policy], mode)) } else { session };
        let judged = Judged::new(session, &policy, mode, scope);
        let (mut bytes, mut total) = (Vec::new(), RunCounts::default());
        total.add(&judged);
        total.provenance.sessions.push(identity);
        json::session(&judged, scope, &mut bytes).map(|()| (bytes, (total, judged.notices())))
    };
    let mut take = |answer: Option<(RunCounts, Vec<Diagnostic>)>, diagnostics: &[Diagnostic]| {
        if let Some((more, notices)) = answer {
            total.merge(&more);
            total.note(&notices);
        }
        total.note(diagnostics);
    };
    let options = input::options(&recordings.reading)?;
    each(options, threads.jobs, json::SCHEMA, &judge, &mut take, screen)?;
    total.provenance.read_with(&recordings.reading.error_regex, &recordings.reading.refused_regex);
    if lines.totals {
        totals::json(&total, &policy, mode, screen.out())?;
    }
    Ok(ended(total.counts.objected > 0, &total))
}

/// Compares every line.
pub fn diff(
    corpus: &args::Corpus,
    lines: &Lines,
    format: &str,
    redact: bool,
    view: &View<'_>,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let args::Corpus { recordings, threads, .. } = corpus;
    check(&recordings.sessions, format)?;
    let outputs: Vec<&diff::Output> = diff::OUTPUTS.iter().filter(|output| output.name == "json").collect();
    let mut whole = DiffResult::default();
    let versions = [view.comparison.base().policy(), Some(view.comparison.policy())];
    let policies: Vec<_> = versions.into_iter().flatten().collect();
    let judge = |session: Arc<Session>| {
        let identity = Identity::of(&session);
        let session = if redact { Arc::new(redacted(&session, &policies, view.mode)) } else { session };
        let mut part = Part::of(&view.comparison.session(&session, view.mode), view, &outputs);
        Ok((part.bytes.pop().unwrap_or_default(), (part, identity)))
    };
    let mut take = |answer: Option<(Part, Identity)>, diagnostics: &[Diagnostic]| {
        if let Some((part, identity)) = answer {
            whole.take(part, 0);
            whole.told.provenance.sessions.push(identity);
        }
        whole.told.note(diagnostics);
    };
    let options = input::options(&recordings.reading)?;
    each(options, threads.jobs, diff::SCHEMA, &judge, &mut take, screen)?;
    whole.told.provenance.read_with(&recordings.reading.error_regex, &recordings.reading.refused_regex);
    if lines.totals
        && let Some(output) = outputs.first()
    {
        let look = Look { color: false, ..view.look };
        (output.end)(&whole, &View { look, ..*view }, screen.out())?;
    }
    if whole.totals.nothing_compared() {
        return Err(input::nothing_live());
    }
    Ok(ended(whole.failures(view) > 0, &whole.told))
}

fn check(named: &[String], format: &str) -> Result<(), Failure> {
    if named != ["-"] {
        return Err(
            Failure::usage("`--lines` reads sessions from standard input").help("name `-` and nothing else")
        );
    }
    match format {
        "json" => Ok(()),
        _ => Err(Failure::usage(format!("`--lines` does not write `{format}`")).help("use `--format json`")),
    }
}

fn ended(found: bool, total: &RunCounts) -> Exit {
    match (found, total.reading.diagnostics.errors) {
        (true, _) => Exit::Found,
        (false, 0) => Exit::Clean,
        (false, _) => Exit::Bad,
    }
}

/// Reads line by line. Of each, what `judge` makes of its session is written, or why there is none.
fn each<T: Send>(
    options: Options,
    jobs: usize,
    schema: &str,
    judge: &(dyn Fn(Arc<Session>) -> io::Result<(Vec<u8>, T)> + Sync),
    take: &mut dyn FnMut(Option<T>, &[Diagnostic]),
    screen: &mut Screen,
) -> Result<(), Failure> {
    let corpus = Corpus::new(jobs).context("no thread can be started").map_err(Failure::System)?;
    let mut input = BufReader::with_capacity(1 << 20, io::stdin());
    let mut number = 0_u64;
    loop {
        let mut batch = Vec::new();
        while let Some(text) = next(&mut input).map_err(|error| unreadable(&error))? {
            number += 1;
            batch.push((number, text));
            if batch.len() == TOGETHER || memchr::memchr(b'\n', input.buffer()).is_none() {
                break;
            }
        }
        if batch.is_empty() {
            break;
        }
        let answers =
            corpus.each(batch, &|(number, text): (u64, Vec<u8>)| match session(number, text, &options) {
                Ok((session, diagnostics)) => {
                    judge(Arc::new(session)).map(|(bytes, answer)| (bytes, Some(answer), diagnostics))
                }
                Err(diagnostics) => {
                    refused(schema, number, &diagnostics).map(|bytes| (bytes, None, diagnostics))
                }
            });
        for answer in answers {
            let (bytes, answer, diagnostics) = answer?;
            diagnostics.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
            take(answer, &diagnostics);
            screen.write(&bytes)?;
        }
        screen.out().flush()?;
    }
    screen.tell_rest();
    if number == 0 {
        screen.warn("standard input has no line, so nothing was judged");
    }
    Ok(())
}

/// The next line without its end; of one that is too long, a byte more than is kept.
fn next(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    let mut began = false;
    loop {
        let (used, ended) = {
            let read = match input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read.is_empty() {
                return Ok(began.then_some(text));
            }
            began = true;
            let end = memchr::memchr(b'\n', read);
            let part = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
            text.extend(part.iter().take((LONGEST + 1).saturating_sub(text.len())));
            (end.map_or(read.len(), |end| end + 1), end.is_some())
        };
        input.consume(used);
        if ended {
            return Ok(Some(text));
        }
    }
}

/// The one session of a line, and what is odd about it. What may lack calls is no session: the loss would go unnoticed.
fn session(
    number: u64,
    text: Vec<u8>,
    options: &Options,
) -> Result<(Session, Vec<Diagnostic>), Vec<Diagnostic>> {
    // Diagnostics name it as any place, and a session without an id is called so.
    let name = format!("-:{number}");
    let refused = |why: &str| vec![Diagnostic::error(code::NOT_A_SESSION, why).in_file(name.as_str())];
    if text.len() > LONGEST {
        return Err(refused("the line is longer than 256 MiB"));
    }
    if text.trim_ascii().is_empty() {
        return Err(refused("the line is empty"));
    }
    let opened = recording::open(name.as_str(), Box::new(Cursor::new(text)), options);
    let mut reading = opened.map_err(|diagnostic| vec![diagnostic.severity(Severity::Error)])?;
    let (first, second) = (reading.next(), reading.next());
    let mut diagnostics = reading.diagnostics();
    let Some(mut session) = first else {
        diagnostics.extend(refused("the line holds no session"));
        return Err(diagnostics);
    };
    if second.is_some() {
        diagnostics.extend(refused("the line holds several sessions"));
    }
    diagnostics.append(&mut session.diagnostics);
    match diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        true => Err(diagnostics),
        false => Ok((session, diagnostics)),
    }
}

/// The result of a line without a session.
fn refused(schema: &str, number: u64, diagnostics: &[Diagnostic]) -> io::Result<Vec<u8>> {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let message =
        errors.clone().map(|diagnostic| words::line(&diagnostic.message)).next_back().unwrap_or_default();
    let errors: Vec<_> = errors.map(diagnostic::json).collect();
    let error = object!({"message": message, "diagnostics": errors});
    let mut bytes = serde_json::to_vec(&object!({"schema": schema, "line": number, "error": error}))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn unreadable(error: &io::Error) -> Failure {
    let message = format!("standard input cannot be read: {error}");
    Failure::Input(vec![Diagnostic::error(code::UNREADABLE_FILE, message)])
}
