//! What recordings hold, as data.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::explore::inventory::{
    FileCalls, GapCalls, HostCalls, Inventory, ProgramCalls, SessionCount, ToolCalls,
};
use crate::report::json::line;
use crate::report::json::parts::Version;
use crate::report::mergeable::{self, Mergeable};
use crate::report::{Completeness, Provenance, RunCounts};
use rulestep_base::merge::{Merge, is_zero};
use rulestep_engine::policy::Policy;
use rulestep_engine::run::Mode;

/// The shape of the JSON.
pub const SCHEMA: &str = "rulestep.stats/2";

/// What recordings hold; two of them make one.
#[derive(Serialize, Deserialize)]
pub(in crate::report) struct StatsLine {
    schema: String,
    sessions: u64,
    calls: u64,
    /// Calls that forks have as their past, which nothing else counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    copied: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    alternatives: u64,
    #[serde(flatten)]
    reading: Completeness,
    /// Without one no call was judged.
    policy: Option<Version>,
    /// Calls that ran a command line.
    commands: u64,
    tools: Rows<Tool, ToolCalls>,
    programs: Rows<Name, ProgramCalls>,
    places: Rows<Place, FileCalls>,
    files: Rows<File, FileCalls>,
    hosts: Rows<Name, HostCalls>,
    unknown: Rows<Gap, GapCalls>,
    projects: Rows<Project, SessionCount>,
    days: Rows<Day, SessionCount>,
    provenance: Provenance,
}

type Rows<K, V> = Vec<Row<K, V>>;

/// A row of a list: what it is about, and its counts.
#[derive(Serialize, Deserialize)]
struct Row<K, V> {
    #[serde(flatten)]
    key: K,
    #[serde(flatten)]
    counts: V,
}

/// What rows are about, each by the name that JSON has for it.
macro_rules! keys {
    ($($name:ident { $field:ident: $type:ty })+) => {$(
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        struct $name { $field: $type }
    )+};
}

keys! {
    Tool { tool: String }
    Name { name: String }
    Place { place: String }
    File { file: String }
    Gap { what: String }
    Project { project: Option<String> }
    Day { day: Option<String> }
}

fn rows<N, V: Clone, K>(of: &BTreeMap<N, V>, key: impl Fn(&N) -> K) -> Rows<K, V> {
    of.iter().map(|(name, counts)| Row { key: key(name), counts: counts.clone() }).collect()
}

fn add<K: Clone + Eq + Hash, V: Merge>(known: &mut Rows<K, V>, more: Rows<K, V>) {
    mergeable::rows(known, more, |row| row.key.clone(), |row, more| row.counts.merge(&more.counts));
}

/// The greatest counts first, those alike by name.
fn settle<K: Ord, V>(rows: &mut Rows<K, V>, count: fn(&V) -> u64) {
    rows.sort_by(|a, b| (Reverse(count(&a.counts)), &a.key).cmp(&(Reverse(count(&b.counts)), &b.key)));
}

impl Mergeable for StatsLine {
    fn merge(&mut self, other: StatsLine) -> Result<(), String> {
        self.provenance.join(other.provenance, &mut self.reading, &other.reading)?;
        self.sessions += other.sessions;
        self.calls += other.calls;
        self.copied += other.copied;
        self.alternatives += other.alternatives;
        self.commands += other.commands;
        add(&mut self.tools, other.tools);
        add(&mut self.programs, other.programs);
        add(&mut self.places, other.places);
        add(&mut self.files, other.files);
        add(&mut self.hosts, other.hosts);
        add(&mut self.unknown, other.unknown);
        add(&mut self.projects, other.projects);
        add(&mut self.days, other.days);
        self.settle();
        Ok(())
    }

    /// Days are the newest first.
    fn settle(&mut self) {
        settle(&mut self.tools, |row| row.calls);
        settle(&mut self.programs, |row| row.calls);
        settle(&mut self.hosts, |row| row.calls);
        settle(&mut self.places, |row| row.calls);
        settle(&mut self.files, |row| row.calls);
        settle(&mut self.unknown, |row| row.calls);
        settle(&mut self.projects, |row| row.sessions);
        self.days.sort_by(|a, b| b.key.cmp(&a.key));
    }

    fn sessions(&self) -> u64 {
        self.sessions
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn incomplete(&self) -> bool {
        self.reading.is_incomplete()
    }
}

/// Writes what was counted, how completely it was read, and a line feed. Without a policy nothing was judged.
pub fn json(
    inventory: &Inventory,
    policy: Option<&Policy>,
    mode: Mode,
    read: &RunCounts,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut object = StatsLine {
        schema: SCHEMA.to_owned(),
        sessions: inventory.sessions,
        calls: inventory.calls,
        copied: inventory.copied,
        alternatives: inventory.alternatives,
        reading: read.reading.clone(),
        policy: policy.map(Version::of),
        commands: inventory.commands,
        tools: rows(&inventory.tools, |name| Tool { tool: name.to_string() }),
        programs: rows(&inventory.programs, |name| Name { name: name.to_string() }),
        places: rows(&inventory.places, |zone| Place { place: zone.name().to_owned() }),
        files: rows(&inventory.files, |name| File { file: name.to_string() }),
        hosts: rows(&inventory.hosts, |name| Name { name: name.to_string() }),
        unknown: rows(&inventory.gaps, |gap| Gap { what: gap.name().to_owned() }),
        projects: rows(&inventory.projects, |name| Project { project: name.as_deref().map(str::to_owned) }),
        days: rows(&inventory.days, |day| Day { day: day.map(|day| day.to_string()) }),
        provenance: read.provenance.judged(policy.map(|policy| &**policy.digest()), mode, None),
    };
    if policy.is_none() {
        object.tools.iter_mut().for_each(|row| row.counts.stopped = None);
    }
    // Projects and days are of sessions, not of calls.
    object.projects.iter_mut().for_each(|row| row.counts.first = None);
    object.days.iter_mut().for_each(|row| row.counts.first = None);
    object.settle();
    line(&object, out)
}
