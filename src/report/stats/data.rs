//! What recordings hold, as data.

use std::cmp::Ordering;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::explore::inventory::{FileCalls, Inventory};
use crate::explore::occurrence::Occurrence;
use crate::report::coverage::OccurrenceLine;
use crate::report::json::line;
use crate::report::json::parts::Version;
use crate::report::mergeable::{Mergeable, add, rows};
use crate::report::totals::{ReadingLine, is_zero};
use crate::report::{Provenance, Total};
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
    reading: ReadingLine,
    /// Without one no call was judged.
    policy: Option<Version>,
    /// Calls that ran a command line.
    commands: u64,
    tools: Vec<ToolLine>,
    programs: Vec<ProgramLine>,
    places: Vec<PlaceLine>,
    files: Vec<FileLine>,
    hosts: Vec<HostLine>,
    unknown: Vec<GapLine>,
    projects: Vec<SessionLine>,
    days: Vec<DayLine>,
    provenance: Provenance,
}

#[derive(Serialize, Deserialize)]
struct ToolLine {
    tool: String,
    calls: u64,
    errors: u64,
    refused: u64,
    no_result: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped: Option<u64>,
    first: Option<OccurrenceLine>,
}

#[derive(Serialize, Deserialize)]
struct ProgramLine {
    name: String,
    calls: u64,
    sessions: u64,
    ok: u64,
    errors: u64,
    first: Option<OccurrenceLine>,
}

#[derive(Serialize, Deserialize)]
struct PlaceLine {
    place: String,
    #[serde(flatten)]
    counts: FileCounts,
}

#[derive(Serialize, Deserialize)]
struct FileLine {
    file: String,
    #[serde(flatten)]
    counts: FileCounts,
}

#[derive(Serialize, Deserialize)]
struct FileCounts {
    calls: u64,
    sessions: u64,
    read: u64,
    written: u64,
    deleted: u64,
    first: Option<OccurrenceLine>,
}

#[derive(Serialize, Deserialize)]
struct HostLine {
    name: String,
    calls: u64,
    sessions: u64,
    reached: u64,
    first: Option<OccurrenceLine>,
}

/// Calls of which something is not known.
#[derive(Serialize, Deserialize)]
struct GapLine {
    what: String,
    calls: u64,
    sessions: u64,
    first: Option<OccurrenceLine>,
}

#[derive(Serialize, Deserialize)]
struct SessionLine {
    project: Option<String>,
    sessions: u64,
    calls: u64,
}

#[derive(Serialize, Deserialize)]
struct DayLine {
    day: Option<String>,
    sessions: u64,
    calls: u64,
}

impl Mergeable for StatsLine {
    fn merge(&mut self, other: StatsLine) -> Result<(), String> {
        self.reading.merge(other.reading, &mut self.provenance, other.provenance)?;
        add!(self, other: sessions, calls, copied, alternatives, commands);
        let earlier =
            |known: &mut Option<OccurrenceLine>, more| OccurrenceLine::nearer(known, more, Ordering::Less);
        rows(
            &mut self.tools,
            other.tools,
            |row| row.tool.clone(),
            |row, more| {
                add!(row, more: calls, errors, refused, no_result);
                if let (Some(known), Some(more)) = (&mut row.stopped, more.stopped) {
                    *known += more;
                }
                earlier(&mut row.first, more.first);
            },
        );
        rows(
            &mut self.programs,
            other.programs,
            |row| row.name.clone(),
            |row, more| {
                add!(row, more: calls, sessions, ok, errors);
                earlier(&mut row.first, more.first);
            },
        );
        let touched = |row: &mut FileCounts, more: FileCounts| {
            add!(row, more: calls, sessions, read, written, deleted);
            earlier(&mut row.first, more.first);
        };
        rows(
            &mut self.places,
            other.places,
            |row| row.place.clone(),
            |row, more| touched(&mut row.counts, more.counts),
        );
        rows(
            &mut self.files,
            other.files,
            |row| row.file.clone(),
            |row, more| touched(&mut row.counts, more.counts),
        );
        rows(
            &mut self.hosts,
            other.hosts,
            |row| row.name.clone(),
            |row, more| {
                add!(row, more: calls, sessions, reached);
                earlier(&mut row.first, more.first);
            },
        );
        rows(
            &mut self.unknown,
            other.unknown,
            |row| row.what.clone(),
            |row, more| {
                add!(row, more: calls, sessions);
                earlier(&mut row.first, more.first);
            },
        );
        rows(
            &mut self.projects,
            other.projects,
            |row| row.project.clone(),
            |row, more| add!(row, more: sessions, calls),
        );
        rows(&mut self.days, other.days, |row| row.day.clone(), |row, more| add!(row, more: sessions, calls));
        self.settle();
        Ok(())
    }

    /// Each list by its counts, the greatest first, then by name; days the newest first.
    fn settle(&mut self) {
        self.tools.sort_by(|a, b| (b.calls, &a.tool).cmp(&(a.calls, &b.tool)));
        self.programs.sort_by(|a, b| (b.calls, &a.name).cmp(&(a.calls, &b.name)));
        self.hosts.sort_by(|a, b| (b.calls, &a.name).cmp(&(a.calls, &b.name)));
        self.places.sort_by(|a, b| (b.counts.calls, &a.place).cmp(&(a.counts.calls, &b.place)));
        self.files.sort_by(|a, b| (b.counts.calls, &a.file).cmp(&(a.counts.calls, &b.file)));
        self.unknown.sort_by(|a, b| (b.calls, &a.what).cmp(&(a.calls, &b.what)));
        self.projects.sort_by(|a, b| (b.sessions, &a.project).cmp(&(a.sessions, &b.project)));
        self.days.sort_by(|a, b| b.day.cmp(&a.day));
    }

    fn sessions(&self) -> u64 {
        self.sessions
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn incomplete(&self) -> bool {
        self.reading.incomplete()
    }
}

/// Writes what was counted, how completely it was read, and a line feed. Without a policy nothing was judged.
pub fn json(
    inventory: &Inventory,
    policy: Option<&Policy>,
    mode: Mode,
    read: &Total,
    out: &mut dyn Write,
) -> io::Result<()> {
    let first = |occurrence: &Option<Occurrence>| occurrence.as_ref().map(OccurrenceLine::of);
    let tools = inventory.tools.iter().map(|(name, tool)| ToolLine {
        tool: name.to_string(),
        calls: tool.calls,
        errors: tool.errors,
        refused: tool.refused,
        no_result: tool.unanswered,
        stopped: policy.map(|_| tool.stopped),
        first: first(&tool.first),
    });
    let counts = |of: &FileCalls| FileCounts {
        calls: of.calls,
        sessions: of.sessions,
        read: of.read,
        written: of.written,
        deleted: of.deleted,
        first: first(&of.first),
    };
    let programs = inventory.programs.iter().map(|(name, program)| ProgramLine {
        name: name.to_string(),
        calls: program.calls,
        sessions: program.sessions,
        ok: program.ok,
        errors: program.errors,
        first: first(&program.first),
    });
    let places = inventory.places.iter();
    let places = places.map(|(zone, of)| PlaceLine { place: zone.name().to_owned(), counts: counts(of) });
    let files = inventory.files.iter();
    let files = files.map(|(name, of)| FileLine { file: name.to_string(), counts: counts(of) });
    let hosts = inventory.hosts.iter().map(|(name, host)| HostLine {
        name: name.to_string(),
        calls: host.calls,
        sessions: host.sessions,
        reached: host.reached,
        first: first(&host.first),
    });
    let unknown = inventory.gaps.iter().map(|(gap, of)| GapLine {
        what: gap.name().to_owned(),
        calls: of.calls,
        sessions: of.sessions,
        first: first(&of.first),
    });
    let projects = inventory.projects.iter().map(|(name, count)| SessionLine {
        project: name.as_deref().map(str::to_owned),
        sessions: count.sessions,
        calls: count.calls,
    });
    let days = inventory.days.iter().map(|(day, count)| DayLine {
        day: day.map(|day| day.to_string()),
        sessions: count.sessions,
        calls: count.calls,
    });
    let mut object = StatsLine {
        schema: SCHEMA.to_owned(),
        sessions: inventory.sessions,
        calls: inventory.calls,
        copied: inventory.copied,
        alternatives: inventory.alternatives,
        reading: ReadingLine::of(read),
        policy: policy.map(Version::of),
        commands: inventory.commands,
        tools: tools.collect(),
        programs: programs.collect(),
        places: places.collect(),
        files: files.collect(),
        hosts: hosts.collect(),
        unknown: unknown.collect(),
        projects: projects.collect(),
        days: days.collect(),
        provenance: read.provenance.judged(policy.map(|policy| &**policy.digest()), mode, None),
    };
    object.settle();
    line(&object, out)
}
