//! What recordings hold: tools and how their calls ended, programs, files and hosts that the calls name, projects and days.
//!
//! Nothing is guessed. A program is the first word of a command; a file is an argument of a name that tools use for paths; a
//! host is that of an argument that is a URL. What could not be read is counted as that.

mod command;
mod facts;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fluent_uri::Iri;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::facts::{Access, words};
use self::facts::{is_action, is_command, is_file, is_shell};
use super::occurrence::{Occurrence, Place, first};
use crate::replay::Replay;
use crate::session::{Body, Call, Outcome};

/// What sessions hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// Sessions counted.
    pub sessions: u64,
    /// Their calls.
    pub calls: u64,
    /// Calls of choices that were not taken, which nothing else counts.
    pub alternatives: u64,
    /// Calls whose arguments are not a JSON object: what they name is not known.
    pub unread_arguments: u64,
    /// Calls that ran a command line.
    pub commands: u64,
    /// Those of them that were not read to their end, so that they may run programs that are not counted.
    pub unread_commands: u64,
    /// Arguments that begin as a URL does and are none.
    pub unread_urls: u64,
    /// Calls by tool.
    pub tools: BTreeMap<Arc<str>, ToolCalls>,
    /// Calls by the programs that they run.
    pub programs: BTreeMap<Arc<str>, Mentions>,
    /// Calls by the files that they name.
    pub files: BTreeMap<Arc<str>, FileCalls>,
    /// Calls by the hosts of the URLs that they name.
    pub hosts: BTreeMap<Arc<str>, Mentions>,
    /// Sessions by project; `None` where none is recorded.
    #[serde(with = "pairs")]
    pub projects: BTreeMap<Option<Arc<str>>, SessionCount>,
    /// Sessions by the day on which they began, in UTC; `None` where that is not recorded.
    #[serde(with = "pairs")]
    pub days: BTreeMap<Option<Date>, SessionCount>,
}

/// Tables whose keys are no text.
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

/// The calls of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCalls {
    /// All of them.
    pub calls: u64,
    /// Those whose result is an error.
    pub errors: u64,
    /// Those that were refused when they were recorded.
    pub refused: u64,
    /// Those without a result.
    pub unanswered: u64,
    /// Those that the policy stops.
    pub stopped: u64,
    /// The first of them.
    pub first: Option<Occurrence>,
}

/// Calls that name something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mentions {
    /// How many.
    pub calls: u64,
    /// The first of them.
    pub first: Option<Occurrence>,
}

/// Calls that name a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCalls {
    /// Those that read it.
    pub read: u64,
    /// Those that write it.
    pub written: u64,
    /// Those of tools that say neither.
    pub named: u64,
    /// The first of them.
    pub first: Option<Occurrence>,
}

/// Sessions that have something in common.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCount {
    /// How many.
    pub sessions: u64,
    /// Their calls.
    pub calls: u64,
    /// The first of them.
    pub first: Option<Occurrence>,
}

impl FileCalls {
    /// All of them.
    pub fn calls(&self) -> u64 {
        self.read + self.written + self.named
    }
}

impl Inventory {
    /// Of one session.
    pub fn of(replay: &Replay) -> Inventory {
        let session = replay.session();
        let first = Some(Occurrence::of(session, Place::Session));
        let count = SessionCount { sessions: 1, calls: session.calls.len() as u64, first };
        let day = session.began.and_then(|began| Timestamp::from_millisecond(began).ok());
        let day = day.map(|began| began.to_zoned(TimeZone::UTC).date());
        let mut inventory = Inventory {
            sessions: 1,
            calls: count.calls,
            alternatives: replay.summary().alternatives.into(),
            projects: BTreeMap::from([(session.project().map(Arc::from), count.clone())]),
            days: BTreeMap::from([(day, count)]),
            ..Inventory::default()
        };
        for (call, judged) in session.calls.iter().zip(replay.calls()) {
            let first = || Some(Occurrence::of(session, Place::Call(call.at)));
            let tool = inventory.tools.entry(Arc::clone(&call.tool)).or_default();
            tool.calls += 1;
            tool.errors += u64::from(call.outcome == Outcome::Error);
            tool.refused += u64::from(call.outcome == Outcome::Refused);
            tool.unanswered += u64::from(call.outcome == Outcome::Unknown);
            tool.stopped += u64::from(judged.decision.verdict.stops());
            tool.first = tool.first.take().or_else(first);
            // A call that was refused did nothing.
            if call.outcome != Outcome::Refused {
                inventory.named(&named(call), &first);
            }
        }
        inventory
    }

    fn named(&mut self, named: &Named, first: &dyn Fn() -> Option<Occurrence>) {
        self.unread_arguments += u64::from(named.unread_arguments);
        self.commands += u64::from(named.command);
        self.unread_commands += u64::from(named.unread_command);
        self.unread_urls += named.unread_urls;
        for (rows, names) in [(&mut self.programs, &named.programs), (&mut self.hosts, &named.hosts)] {
            for name in names {
                let row = rows.entry(name.as_str().into()).or_default();
                row.calls += 1;
                row.first = row.first.take().or_else(first);
            }
        }
        for (file, access) in &named.files {
            let row = self.files.entry(file.as_str().into()).or_default();
            *match access {
                Access::Read => &mut row.read,
                Access::Written => &mut row.written,
                Access::Named => &mut row.named,
            } += 1;
            row.first = row.first.take().or_else(first);
        }
    }

    /// Adds what was counted of other sessions.
    pub fn merge(&mut self, later: &Inventory) {
        for (sum, more) in [
            (&mut self.sessions, later.sessions),
            (&mut self.calls, later.calls),
            (&mut self.alternatives, later.alternatives),
            (&mut self.unread_arguments, later.unread_arguments),
            (&mut self.commands, later.commands),
            (&mut self.unread_commands, later.unread_commands),
            (&mut self.unread_urls, later.unread_urls),
        ] {
            *sum += more;
        }
        merge(&mut self.tools, &later.tools, |row, more| {
            row.calls += more.calls;
            row.errors += more.errors;
            row.refused += more.refused;
            row.unanswered += more.unanswered;
            row.stopped += more.stopped;
            first(&mut row.first, more.first.as_ref());
        });
        for (rows, later) in [(&mut self.programs, &later.programs), (&mut self.hosts, &later.hosts)] {
            merge(rows, later, |row, more| {
                row.calls += more.calls;
                first(&mut row.first, more.first.as_ref());
            });
        }
        merge(&mut self.files, &later.files, |row, more| {
            row.read += more.read;
            row.written += more.written;
            row.named += more.named;
            first(&mut row.first, more.first.as_ref());
        });
        let add = |row: &mut SessionCount, more: &SessionCount| {
            row.sessions += more.sessions;
            row.calls += more.calls;
            first(&mut row.first, more.first.as_ref());
        };
        merge(&mut self.projects, &later.projects, add);
        merge(&mut self.days, &later.days, add);
    }
}

fn merge<K: Clone + Ord, V: Default>(
    rows: &mut BTreeMap<K, V>,
    later: &BTreeMap<K, V>,
    add: impl Fn(&mut V, &V),
) {
    for (key, more) in later {
        add(rows.entry(key.clone()).or_default(), more);
    }
}

/// Rows by a count, the greatest first, those alike by name.
pub fn sorted<K: Ord, V>(rows: &BTreeMap<K, V>, count: impl Fn(&V) -> u64) -> Vec<(&K, &V)> {
    let mut sorted: Vec<(&K, &V)> = rows.iter().collect();
    sorted.sort_by_key(|(_, row)| Reverse(count(row)));
    sorted
}

/// What a call names, each once.
#[derive(Default)]
struct Named {
    programs: BTreeSet<String>,
    files: BTreeSet<(String, Access)>,
    hosts: BTreeSet<String>,
    command: bool,
    unread_command: bool,
    unread_arguments: bool,
    unread_urls: u64,
}

fn named(call: &Call) -> Named {
    let mut named = Named::default();
    let words = facts::words(&call.tool);
    // The recording's own body would keep what is parsed here for as long as its session is in memory.
    let arguments = Body::text(call.arguments.raw());
    let object = match arguments.parsed() {
        Some(Value::Object(object)) => object,
        _ if call.arguments.raw().trim().is_empty() => return named,
        _ => {
            if facts::access(&words) == Access::Written {
                named.patch(call.arguments.shown());
            }
            named.unread_arguments = named.files.is_empty();
            return named;
        }
    };
    let texts = || object.iter().filter_map(|(key, value)| Some((key, value.as_str()?)));
    let action =
        texts().filter(|(key, _)| is_action(key)).map(|(_, text)| facts::access(&facts::words(text)));
    let is_shell = is_shell(&words);
    let action = action.filter(|_| !is_shell).find(|access| *access != Access::Named);
    let access = action.unwrap_or_else(|| facts::access(&words));
    for (_, value) in object.iter().filter(|(key, _)| is_command(key)) {
        let found = match value {
            Value::String(line) if is_shell => command::programs(line),
            Value::Array(words) if is_shell => {
                let words: Option<Vec<String>> =
                    words.iter().map(|word| Some(word.as_str()?.to_owned())).collect();
                words.map(command::of_words).unwrap_or_default()
            }
            _ => continue,
        };
        named.command = true;
        named.unread_command |= !found.whole;
        for words in found.commands {
            words.iter().skip(1).for_each(|word| named.url(word));
            named.programs.extend(words.into_iter().next());
        }
    }
    let mut open: Vec<(Option<&str>, &Value)> =
        object.iter().map(|(key, value)| (Some(&**key), value)).collect();
    while let Some((key, value)) = open.pop() {
        match value {
            Value::String(text) => {
                if key.is_some_and(is_file) && !text.is_empty() {
                    named.files.insert((text.clone(), access));
                } else if access == Access::Written {
                    named.patch(text);
                }
                named.url(text);
            }
            // What is in a list belongs to the key of the list.
            Value::Array(values) => open.extend(values.iter().map(|value| (key, value))),
            Value::Object(object) => open.extend(object.iter().map(|(key, value)| (Some(&**key), value))),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    named
}

impl Named {
    /// The files that a patch writes.
    fn patch(&mut self, text: &str) {
        if !text.trim_start().starts_with("*** Begin Patch") {
            return;
        }
        let files =
            text.lines().filter_map(|line| facts::PATCHED.iter().find_map(|mark| line.strip_prefix(mark)));
        self.files.extend(files.map(|file| (file.trim().to_owned(), Access::Written)));
    }

    /// The host, where the text as a whole is a URL of the network.
    fn url(&mut self, text: &str) {
        let Some((scheme, rest)) = text.split_once("://") else { return };
        let is_scheme = scheme.len() <= 12 && scheme.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_scheme = is_scheme && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        if !is_scheme || scheme.eq_ignore_ascii_case("file") || text.contains(char::is_whitespace) {
            return;
        }
        let iri = Iri::parse(text).ok();
        let host = iri.as_ref().and_then(|iri| iri.authority()).map(|authority| authority.host());
        match host.filter(|host| !host.is_empty()) {
            Some(host) => drop(self.hosts.insert(host.to_lowercase())),
            None => self.unread_urls += u64::from(!rest.is_empty()),
        }
    }
}
