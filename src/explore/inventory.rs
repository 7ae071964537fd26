//! The content of recordings: tools and how their calls ended, what the calls do, projects and days.
//!
//! Nothing is guessed. Which programs a call runs, and what it reads, writes, deletes and reaches, is answered by the
//! facts that rules use, and only certain effects are counted. Unknowns have rows of their own. The size depends on how
//! many different names there are, each of a bounded length.

mod doing;
mod facts;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use self::doing::{Doing, doing};
pub use self::doing::{Gap, SECRETS, Zone};
pub use self::facts::{Access, words};
use super::occurrence::{Occurrence, Place};
use rulestep_base::merged;
use rulestep_base::session::Outcome;
use rulestep_engine::replay::Replay;

merged! {
    /// The content of sessions.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Inventory {
        /// Sessions counted.
        pub sessions: u64,
        /// Their calls.
        pub calls: u64,
        /// Calls that forks have as their past, which nothing else counts.
        #[serde(default)]
        pub copied: u64,
        /// Calls of choices that were not taken, which nothing else counts.
        pub alternatives: u64,
        /// Calls that ran a command line.
        pub commands: u64,
        /// Calls by tool.
        pub tools: BTreeMap<Arc<str>, ToolCalls>,
        /// Calls by the programs that they run, with subcommands.
        pub programs: BTreeMap<Arc<str>, ProgramCalls>,
        /// Calls by where the files are that they work on.
        #[serde(with = "pairs")]
        pub places: BTreeMap<Zone, FileCalls>,
        /// Calls by the files that they work on or name.
        pub files: BTreeMap<Arc<str>, FileCalls>,
        /// Calls by the hosts that they reach or name.
        pub hosts: BTreeMap<Arc<str>, HostCalls>,
        /// Calls with unknown effects.
        #[serde(with = "pairs")]
        pub gaps: BTreeMap<Gap, GapCalls>,
        /// Sessions by project; `None` where none is recorded.
        #[serde(with = "pairs")]
        pub projects: BTreeMap<Option<Arc<str>>, SessionCount>,
        /// Sessions by the day on which they began, in UTC; `None` where that is not recorded.
        #[serde(with = "pairs")]
        pub days: BTreeMap<Option<Date>, SessionCount>,
    }
}

/// Tables whose keys are not text.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        rows: &BTreeMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(rows)
    }

    pub fn deserialize<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<K, V>, D::Error> {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
    }
}

merged! {
    /// The calls of a tool.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct ToolCalls {
        /// All calls.
        pub calls: u64,
        /// Those whose result is an error.
        pub errors: u64,
        /// Those that were refused when they were recorded.
        pub refused: u64,
        /// Those without a result.
        pub no_result: u64,
        /// Those that the policy stops; `None` where none judged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub stopped: Option<u64>,
        /// The first of them.
        pub first: Option<Occurrence>,
    }

    /// Calls that run a program.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct ProgramCalls {
        /// Their number.
        pub calls: u64,
        /// Sessions with such calls.
        pub sessions: u64,
        /// Those in which it is known to have succeeded.
        pub ok: u64,
        /// Those in which it is known to have failed.
        pub errors: u64,
        /// The first of them.
        pub first: Option<Occurrence>,
    }

    /// Calls that work on a file, or name it.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct FileCalls {
        /// Their number.
        pub calls: u64,
        /// Sessions with such calls.
        pub sessions: u64,
        /// Those that read it.
        pub read: u64,
        /// Those that write it.
        pub written: u64,
        /// Those that delete it.
        pub deleted: u64,
        /// The first of them.
        pub first: Option<Occurrence>,
    }

    /// Calls that reach a host, or name it.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct HostCalls {
        /// Their number.
        pub calls: u64,
        /// Sessions with such calls.
        pub sessions: u64,
        /// Those that are known to reach it.
        pub reached: u64,
        /// The first of them.
        pub first: Option<Occurrence>,
    }

    /// Calls with unknown effects.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct GapCalls {
        /// Their number.
        pub calls: u64,
        /// Sessions with such calls.
        pub sessions: u64,
        /// The first of them.
        pub first: Option<Occurrence>,
    }

    /// Sessions that have something in common.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct SessionCount {
        /// Their number.
        pub sessions: u64,
        /// Their calls.
        pub calls: u64,
        /// The first of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub first: Option<Occurrence>,
    }
}

impl Inventory {
    /// For one session.
    pub fn of(replay: &Replay) -> Inventory {
        let session = replay.session();
        let first = Some(Occurrence::of(session, Place::Session));
        let count = SessionCount { sessions: 1, calls: session.made().count() as u64, first };
        let day = session.began.and_then(|began| Timestamp::from_millisecond(began).ok());
        let day = day.map(|began| began.to_zoned(TimeZone::UTC).date());
        let mut inventory = Inventory {
            sessions: 1,
            calls: count.calls,
            copied: replay.summary().copied,
            alternatives: replay.summary().alternatives,
            projects: BTreeMap::from([(session.project().map(Arc::from), count.clone())]),
            days: BTreeMap::from([(day, count)]),
            ..Inventory::default()
        };
        let known = replay.policy().facts(None);
        for (call, judged) in replay.made() {
            let first = || Some(Occurrence::of(session, Place::Call(call.at)));
            let tool = inventory.tools.entry(Arc::clone(&call.tool)).or_default();
            tool.calls += 1;
            tool.errors += u64::from(call.outcome == Outcome::Error);
            tool.refused += u64::from(call.outcome == Outcome::Refused);
            tool.no_result += u64::from(call.outcome == Outcome::Unknown);
            *tool.stopped.get_or_insert_default() += u64::from(judged.decision.verdict.stops());
            tool.first = tool.first.take().or_else(first);
            // A call that was refused did nothing.
            if call.outcome != Outcome::Refused {
                inventory.did(doing(call, &session.facts, &known), &first);
            }
        }
        inventory.of_one_session();
        inventory
    }

    fn did(&mut self, doing: Doing, first: &dyn Fn() -> Option<Occurrence>) {
        self.commands += u64::from(doing.command);
        for (program, ended) in doing.programs {
            let row = self.programs.entry(program.into()).or_default();
            row.calls += 1;
            row.ok += u64::from(ended == Some(true));
            row.errors += u64::from(ended == Some(false));
            row.first = row.first.take().or_else(first);
        }
        for (host, reached) in doing.hosts {
            let row = self.hosts.entry(host.into()).or_default();
            row.calls += 1;
            row.reached += u64::from(reached);
            row.first = row.first.take().or_else(first);
        }
        for gap in doing.gaps {
            let row = self.gaps.entry(gap).or_default();
            row.calls += 1;
            row.first = row.first.take().or_else(first);
        }
        files(&mut self.files, doing.files.into_iter().map(|(file, access)| (file.into(), access)), first);
        files(&mut self.places, doing.zones.into_iter(), first);
    }

    /// Every row that there is, is one of this session.
    fn of_one_session(&mut self) {
        self.programs.values_mut().for_each(|row| row.sessions = 1);
        self.files.values_mut().chain(self.places.values_mut()).for_each(|row| row.sessions = 1);
        self.hosts.values_mut().for_each(|row| row.sessions = 1);
        self.gaps.values_mut().for_each(|row| row.sessions = 1);
    }
}

/// Counts what one call does with files, which are in order: a call that reads and writes one is one call.
fn files<K: Clone + Ord>(
    rows: &mut BTreeMap<K, FileCalls>,
    done: impl Iterator<Item = (K, Access)>,
    first: &dyn Fn() -> Option<Occurrence>,
) {
    let mut last = None;
    for (key, access) in done {
        let row = rows.entry(key.clone()).or_default();
        row.calls += u64::from(last.as_ref() != Some(&key));
        match access {
            Access::Read => row.read += 1,
            Access::Written => row.written += 1,
            Access::Deleted => row.deleted += 1,
            Access::Named => {}
        }
        row.first = row.first.take().or_else(first);
        last = Some(key);
    }
}

/// Rows by a count, the greatest first, those alike by name.
pub fn sorted<K: Ord, V>(rows: &BTreeMap<K, V>, count: impl Fn(&V) -> u64) -> Vec<(&K, &V)> {
    let mut sorted: Vec<(&K, &V)> = rows.iter().collect();
    sorted.sort_by_key(|(_, row)| Reverse(count(row)));
    sorted
}
