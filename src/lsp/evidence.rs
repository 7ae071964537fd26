//! Data from recordings: names to complete, and how often each rule stops a call. Counted in the background.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::Value;

use crate::compare::{Base, Comparison, Kind};
use crate::explore::coverage::RuleUse;
use crate::explore::inventory::Inventory;
use crate::explore::survey::Survey;
use crate::lint::recorded;
use crate::suggest::{Bounds, Suggestion, suggest};
use rulestep_base::diagnostic::{Diagnostic, Severity};
use rulestep_base::session::Session;
use rulestep_base::wording::{self, line};
use rulestep_engine::monitor::RuleId;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// Places that are kept of a rule, and of a tool.
const PLACES: usize = 100;
/// Longest paths, and most paths of a tool.
const DEPTH: usize = 5;
const PATHS: usize = 400;

/// A line of a recording, from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordedAt {
    /// The file.
    pub file: Arc<str>,
    /// The line at which the session begins.
    pub line: u32,
}

impl RecordedAt {
    fn of(session: &Session) -> RecordedAt {
        RecordedAt { file: Arc::clone(&session.origin.file), line: session.origin.line }
    }
}

/// The content of sessions.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Tools, programs and hosts.
    pub inventory: Inventory,
    /// The paths of the arguments of each tool.
    pub arguments: BTreeMap<Arc<str>, BTreeSet<String>>,
    /// The paths of the results of each tool.
    pub results: BTreeMap<Arc<str>, BTreeSet<String>>,
    /// The calls of each tool.
    pub calls: BTreeMap<Arc<str>, Vec<RecordedAt>>,
    /// Rules that they suggest.
    pub suggestions: Vec<Suggestion>,
    /// Problems of reading them.
    pub problems: Problems,
}

/// Problems of recordings: their number, and the worst of them.
#[derive(Debug, Default)]
pub struct Problems {
    count: u64,
    /// Those that may have lost calls.
    losses: u64,
    /// The first one, of those that may have lost calls if there are any.
    first: Option<Diagnostic>,
}

impl Problems {
    /// Takes one in. What is only worth knowing is no problem.
    pub fn push(&mut self, told: &Diagnostic) {
        if told.severity == Severity::Notice {
            return;
        }
        let loses = told.severity == Severity::Error || told.may_lose_calls();
        if self.first.is_none() || loses && self.losses == 0 {
            self.first = Some(told.clone());
        }
        self.count += 1;
        self.losses += u64::from(loses);
    }

    /// Whether calls may be missing in all that is counted.
    pub fn lose_calls(&self) -> bool {
        self.losses > 0
    }

    /// A sentence about them for the user, if there are any.
    pub fn sentence(&self) -> Option<String> {
        let first = line(&self.first.as_ref()?.to_string());
        let problems = wording::count(self.count, "problem");
        let counts = if self.lose_calls() { ", so counts may leave calls out" } else { "" };
        let which = if self.count == 1 { "it is" } else { "the first is" };
        Some(format!("the recordings have {problems}{counts}; {which} {first}"))
    }
}

impl Recorded {
    /// From these sessions.
    pub fn of(sessions: &[Arc<Session>], problems: Problems) -> Recorded {
        let mut recorded = Recorded { problems, ..Recorded::default() };
        let empty = Policy::empty();
        for session in sessions {
            recorded.inventory.merge(&Inventory::of(&Replay::new(session, &empty, Mode::Shadow)));
            for call in &session.calls {
                let arguments = recorded.arguments.entry(Arc::clone(&call.tool)).or_default();
                call.arguments.parsed().inspect(|value| paths(value, "$", DEPTH, arguments));
                let results = recorded.results.entry(Arc::clone(&call.tool)).or_default();
                call.output.value().inspect(|value| paths(value, "$", DEPTH, results));
                let calls = recorded.calls.entry(Arc::clone(&call.tool)).or_default();
                if calls.len() < PLACES && calls.last() != Some(&RecordedAt::of(session)) {
                    calls.push(RecordedAt::of(session));
                }
            }
        }
        recorded.suggestions = suggest(sessions, &Bounds::default()).rules;
        recorded
    }
}

/// The paths of a value's members.
fn paths(value: &Value, path: &str, depth: usize, out: &mut BTreeSet<String>) {
    if depth == 0 || out.len() >= PATHS {
        return;
    }
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let plain = !key.is_empty()
                    && !key.starts_with(|c: char| c.is_ascii_digit())
                    && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                let path = match plain {
                    true => format!("{path}.{key}"),
                    false => format!("{path}[{}]", Value::String(key.clone())),
                };
                out.insert(path.clone());
                paths(member, &path, depth - 1, out);
            }
        }
        Value::Array(items) => {
            if let Some(item) = items.first() {
                let path = format!("{path}[0]");
                out.insert(path.clone());
                paths(item, &path, depth - 1, out);
            }
        }
        _ => {}
    }
}

/// The counts for every rule of a version.
#[derive(Debug, Default)]
pub struct Counts {
    /// The version.
    pub digest: Arc<str>,
    /// Sessions counted.
    pub sessions: u64,
    /// By rule; a missing one was never asked.
    pub rules: BTreeMap<RuleId, RuleCount>,
    /// Whether there was a base to compare with.
    pub compared: bool,
    /// Findings that the recordings refute or leave in doubt.
    pub findings: Vec<Diagnostic>,
}

/// The counts for one rule.
#[derive(Debug, Default)]
pub struct RuleCount {
    /// Its answers.
    pub answers: RuleUse,
    /// Sessions in which it stopped a call.
    pub stopped_in: u64,
    /// Calls that it stops, and that nothing stops under the base.
    pub newly: u64,
    /// Where it stopped a call or was violated.
    pub places: Vec<RecordedAt>,
}

/// Replays all sessions under a version. `None` when `is_stale` says that the answer is no longer needed.
pub fn count(
    sessions: &[Arc<Session>],
    policy: &Arc<Policy>,
    base: Option<&Arc<Policy>>,
    is_stale: &(dyn Fn() -> bool + Sync),
) -> Option<Counts> {
    let comparison = base.map(|base| Comparison::new(Base::Version(Arc::clone(base)), Arc::clone(policy)));
    let comparison = comparison.as_ref();
    let of_session = |session: &Arc<Session>| {
        if is_stale() {
            return None;
        }
        let replay = Replay::with_checks(session, policy, Mode::Enforce);
        let survey = Survey::of(&replay);
        let diff = comparison.filter(|both| !both.is_same()).map(|both| both.replayed(replay));
        let mut newly: BTreeMap<RuleId, u64> = BTreeMap::new();
        for change in diff.iter().flat_map(|diff| diff.changes()) {
            if let (Kind::NewlyBlocked, Some(rule)) = (change.kind, change.new.rule) {
                *newly.entry(rule).or_default() += 1;
            }
        }
        Some((survey, newly, RecordedAt::of(session)))
    };
    let counted: Option<Vec<_>> = sessions.par_iter().map(of_session).collect();
    let mut counts = Counts {
        digest: Arc::clone(policy.digest()),
        sessions: sessions.len() as u64,
        compared: base.is_some(),
        ..Counts::default()
    };
    let mut survey = Survey::default();
    for (of_session, newly, at) in counted? {
        for (rule, used) in &of_session.coverage.rules {
            let count = counts.rules.entry(*rule).or_default();
            count.stopped_in += u64::from(used.stopped > 0);
            if used.fired() > 0 && count.places.len() < PLACES {
                count.places.push(at.clone());
            }
        }
        for (rule, calls) in newly {
            counts.rules.entry(rule).or_default().newly += calls;
        }
        survey.merge(&of_session);
    }
    for (rule, used) in &survey.coverage.rules {
        counts.rules.entry(*rule).or_default().answers = used.clone();
    }
    counts.findings = recorded(policy, &survey);
    Some(counts)
}
