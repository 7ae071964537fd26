//! What recordings hold, as data.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::Mode;
use crate::explore::inventory::{Inventory, Mentions};
use crate::explore::occurrence::Occurrence;
use crate::policy::Policy;
use crate::report::coverage::OccurrenceLine;
use crate::report::json::line;
use crate::report::json::parts::Version;
use crate::report::mergeable::{Mergeable, add, rows};
use crate::report::totals::{ReadingLine, is_zero};
use crate::report::{Provenance, Total};

/// The shape of the JSON.
pub const SCHEMA: &str = "rulestep.stats/1";

/// What recordings hold; two of them make one.
#[derive(Serialize, Deserialize)]
pub(in crate::report) struct StatsLine {
    schema: String,
    sessions: u64,
    calls: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    alternatives: u64,
    #[serde(flatten)]
    reading: ReadingLine,
    /// Without one no call was judged.
    policy: Option<Version>,
    /// Calls whose arguments are not a JSON object.
    unread_arguments: u64,
    /// Calls that ran a command line.
    commands: u64,
    /// Those that were not read to their end.
    unread_commands: u64,
    unread_urls: u64,
    tools: Vec<ToolLine>,
    programs: Vec<MentionLine>,
    files: Vec<FileLine>,
    hosts: Vec<MentionLine>,
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
struct MentionLine {
    name: String,
    calls: u64,
    first: Option<OccurrenceLine>,
}

#[derive(Serialize, Deserialize)]
struct FileLine {
    file: String,
    calls: u64,
    read: u64,
    written: u64,
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
        add!(self, other: sessions, calls, alternatives, unread_arguments, commands, unread_commands, unread_urls);
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
        for (known, more) in [(&mut self.programs, other.programs), (&mut self.hosts, other.hosts)] {
            rows(
                known,
                more,
                |row| row.name.clone(),
                |row, more| {
                    add!(row, more: calls);
                    earlier(&mut row.first, more.first);
                },
            );
        }
        rows(
            &mut self.files,
            other.files,
            |row| row.file.clone(),
            |row, more| {
                add!(row, more: calls, read, written);
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
        for list in [&mut self.programs, &mut self.hosts] {
            list.sort_by(|a, b| (b.calls, &a.name).cmp(&(a.calls, &b.name)));
        }
        self.files.sort_by(|a, b| (b.calls, &a.file).cmp(&(a.calls, &b.file)));
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
    let files = inventory.files.iter().map(|(name, file)| FileLine {
        file: name.to_string(),
        calls: file.calls(),
        read: file.read,
        written: file.written,
        first: first(&file.first),
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
    let mentions = |rows: &BTreeMap<Arc<str>, Mentions>| {
        let line = |(name, found): (&Arc<str>, &Mentions)| MentionLine {
            name: name.to_string(),
            calls: found.calls,
            first: first(&found.first),
        };
        rows.iter().map(line).collect()
    };
    let mut object = StatsLine {
        schema: SCHEMA.to_owned(),
        sessions: inventory.sessions,
        calls: inventory.calls,
        alternatives: inventory.alternatives,
        reading: ReadingLine::of(read),
        policy: policy.map(Version::of),
        unread_arguments: inventory.unread_arguments,
        commands: inventory.commands,
        unread_commands: inventory.unread_commands,
        unread_urls: inventory.unread_urls,
        tools: tools.collect(),
        programs: mentions(&inventory.programs),
        files: files.collect(),
        hosts: mentions(&inventory.hosts),
        projects: projects.collect(),
        days: days.collect(),
        provenance: read.provenance.judged(policy.map(|policy| &**policy.digest()), mode, None),
    };
    object.settle();
    line(&object, out)
}
