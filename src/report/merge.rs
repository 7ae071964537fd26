//! Results of parts of a corpus, put together: what one run over all of it says.
//!
//! Results of one kind, judged alike, are a commutative monoid: they can be merged in any order and grouping, and a result
//! without sessions changes nothing. What a result has to carry for it is its [`Provenance`].

use std::io::{self, Read, Write};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::coverage::CoverageLine;
use super::diff::TotalsLine;
use super::json::line;
use super::mergeable::Mergeable;
use super::stats::StatsLine;
use super::totals::{JsonTotals, LastLine};
use super::{Provenance, coverage, diff, json, stats, words};

/// The result of a run, or of several.
pub enum RunResult {
    /// JsonTotals of `replay`.
    Replay(Box<ReplayTotals>),
    /// JsonTotals of `diff`.
    Diff(Box<DiffTotals>),
    /// Of `coverage`.
    Coverage(Box<CoverageResult>),
    /// Of `stats`.
    Stats(Box<StatsResult>),
}

/// See [`RunResult::Replay`].
pub struct ReplayTotals(JsonTotals);
/// See [`RunResult::Diff`].
pub struct DiffTotals(TotalsLine);
/// See [`RunResult::Coverage`].
pub struct CoverageResult(CoverageLine);
/// See [`RunResult::Stats`].
pub struct StatsResult(StatsLine);

/// What of an object says which one it is.
#[derive(Deserialize)]
struct Head<'a> {
    schema: Option<String>,
    #[serde(borrow)]
    totals: Option<&'a RawValue>,
    session: Option<IgnoredAny>,
    error: Option<ErrorLine>,
    line: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct ErrorLine {
    message: String,
}

/// Applies one expression to the result, whatever it is.
macro_rules! each {
    ($of:expr, $result:ident => $expression:expr) => {
        match $of {
            RunResult::Replay(of) => {
                let $result = &of.0;
                $expression
            }
            RunResult::Diff(of) => {
                let $result = &of.0;
                $expression
            }
            RunResult::Coverage(of) => {
                let $result = &of.0;
                $expression
            }
            RunResult::Stats(of) => {
                let $result = &of.0;
                $expression
            }
        }
    };
}

impl RunResult {
    /// The results in the JSON that a command wrote, one or several on end, merged. Objects of single sessions are only
    /// counted: where there are any, the totals must be about as many.
    ///
    /// # Errors
    /// A sentence: it is no such result, ends before its totals, or its parts do not add up.
    pub fn read(text: impl Read) -> Result<RunResult, String> {
        let mut whole: Option<RunResult> = None;
        let mut sessions = 0;
        for object in serde_json::Deserializer::from_reader(text).into_iter::<Box<RawValue>>() {
            let object = object.map_err(|error| format!("not the JSON of a result: {error}"))?;
            let head: Head<'_> = serde_json::from_str(object.get())
                .map_err(|_| "not the JSON of a result: an object of it has another form".to_owned())?;
            if let Some(error) = head.error {
                // Of a line without a session, which the totals count as an error.
                if head.line.is_some() {
                    continue;
                }
                return Err(format!("a run without a result: {}", words::line(&error.message)));
            }
            if head.session.is_some() {
                sessions += 1;
                continue;
            }
            let result = RunResult::of(&head, object.get())?;
            let counted = each!(&result, of => of.sessions());
            if sessions > 0 && sessions != counted {
                let lines = words::count(sessions, "session");
                let totals = words::count(counted, "session");
                return Err(format!("the lines are of {lines} and the totals after them of {totals}"));
            }
            sessions = 0;
            match &mut whole {
                None => whole = Some(result),
                Some(whole) => whole.merge(result)?,
            }
        }
        match whole {
            Some(whole) if sessions == 0 => Ok(whole),
            Some(_) => Err("sessions without totals after them: a run that did not end".to_owned()),
            None if sessions > 0 => Err("no totals: the run did not end".to_owned()),
            None => Err("nothing in it".to_owned()),
        }
    }

    fn of(head: &Head<'_>, object: &str) -> Result<RunResult, String> {
        let schema = head.schema.as_deref().unwrap_or_default();
        let totals = head.totals.map(RawValue::get);
        let result = match (schema, totals) {
            (json::SCHEMA, Some(totals)) => RunResult::Replay(Box::new(ReplayTotals(parse(totals)?))),
            (diff::SCHEMA, Some(_)) => RunResult::Diff(Box::new(DiffTotals(parse(object)?))),
            (coverage::SCHEMA, _) => RunResult::Coverage(Box::new(CoverageResult(parse(object)?))),
            (stats::SCHEMA, _) => RunResult::Stats(Box::new(StatsResult(parse(object)?))),
            ("", _) => return Err("not a result of rulestep: it has no schema".to_owned()),
            (other, _) => {
                let known = [json::SCHEMA, diff::SCHEMA, coverage::SCHEMA, stats::SCHEMA]
                    .map(|name| format!("`{name}`"));
                let known = words::list(known);
                return Err(format!("`{}` cannot be merged; {known} can", words::line(other)));
            }
        };
        let (sessions, known) = each!(&result, of => (of.sessions(), of.provenance().sessions.len()));
        if sessions != known as u64 {
            let sessions = words::count(sessions, "session");
            return Err(format!("{sessions} are counted, and {known} are named in its provenance"));
        }
        Ok(result)
    }

    /// Adds another result.
    ///
    /// # Errors
    /// A sentence: the two do not add up to one.
    pub fn merge(&mut self, other: RunResult) -> Result<(), String> {
        match (self, other) {
            (RunResult::Replay(one), RunResult::Replay(two)) => one.0.merge(two.0),
            (RunResult::Diff(one), RunResult::Diff(two)) => one.0.merge(two.0),
            (RunResult::Coverage(one), RunResult::Coverage(two)) => one.0.merge(two.0),
            (RunResult::Stats(one), RunResult::Stats(two)) => one.0.merge(two.0),
            (one, two) => {
                Err(format!("a result of `{}` and one of `{}` do not add up", one.command(), two.command()))
            }
        }
    }

    /// Writes it as the command does that it is of, and a line feed.
    ///
    /// # Errors
    /// What `out` has.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            RunResult::Replay(of) => line(&LastLine { schema: json::SCHEMA, totals: &of.0 }, out),
            RunResult::Diff(of) => line(&of.0, out),
            RunResult::Coverage(of) => line(&of.0, out),
            RunResult::Stats(of) => line(&of.0, out),
        }
    }

    /// The command that it is a result of.
    pub fn command(&self) -> &'static str {
        match self {
            RunResult::Replay(_) => "replay",
            RunResult::Diff(_) => "diff",
            RunResult::Coverage(_) => "coverage",
            RunResult::Stats(_) => "stats",
        }
    }

    /// Sessions counted.
    pub fn sessions(&self) -> u64 {
        each!(self, of => of.sessions())
    }

    /// What the result is about.
    pub fn provenance(&self) -> &Provenance {
        each!(self, of => of.provenance())
    }

    /// Whether something that was named was not read.
    pub fn incomplete(&self) -> bool {
        each!(self, of => of.incomplete())
    }

    /// Whether it has findings, as the exit code of the command says.
    pub fn found(&self) -> bool {
        each!(self, of => of.found())
    }
}

/// By way of a tree: a number is otherwise no number to what reads flattened parts.
fn parse<T: Mergeable>(text: &str) -> Result<T, String> {
    let tree: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut result: T = serde_json::from_value(tree)
        .map_err(|error| format!("written by another version of rulestep, or changed since: {error}"))?;
    result.settle();
    Ok(result)
}
