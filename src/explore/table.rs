//! The table of sessions: filtered, sorted and grouped. Sessions are indices into a list, and do not change.

use std::borrow::Borrow;
use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::names::{Name, Names};
use super::rows::SessionRow;
use super::sieve::Sieve;
use rulestep_base::session::Millis;

/// A place in the list of all sessions.
pub type Place = u32;

/// A column to sort sessions by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Column {
    /// The title.
    Title,
    /// When it began.
    When,
    /// The folder or project.
    Project,
    /// The branch.
    Branch,
    /// The agent.
    Agent,
    /// The format of the recording.
    Format,
    /// Turns.
    Turns,
    /// Calls.
    Calls,
    /// Stopped calls.
    Stopped,
    /// Violated rules about the session.
    Violated,
    /// Rules that object to a call or are violated.
    Rules,
    /// Damaged or lost parts.
    Problems,
}

/// A property to group sessions by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupKind {
    /// The file.
    File,
    /// The folder or project.
    Project,
    /// The day on which it began, UTC.
    Day,
    /// The first rule that objects to a call or is violated.
    Rule,
    /// The verdict.
    Verdict,
}

/// The common property of a group's sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupKey {
    /// A file, project or rule; `None` if there is none.
    Name(Option<Name>),
    /// A day; `None` where no time was recorded.
    Day(Option<Date>),
    /// The verdict.
    Verdict(Outcome),
}

/// The result of a session, in a word; the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// A call was stopped, or a rule is violated.
    Stopped,
    /// The file could not be read.
    Unread,
    /// The recording is damaged, and nothing was stopped in the rest.
    Damaged,
    /// Calls were stopped only after the recording had parted from the policy.
    After,
    /// There are no decisions yet.
    NotJudged,
    /// No rule had anything to decide.
    NotExercised,
    /// Nothing was stopped.
    Clean,
}

/// Sessions that have something in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The common property.
    pub key: GroupKey,
    /// The sessions, in order.
    pub places: Vec<Place>,
}

impl Column {
    /// All columns, in the order of the table.
    pub const ALL: [Column; 12] = [
        Column::Title,
        Column::When,
        Column::Project,
        Column::Branch,
        Column::Agent,
        Column::Format,
        Column::Turns,
        Column::Calls,
        Column::Stopped,
        Column::Violated,
        Column::Rules,
        Column::Problems,
    ];

    /// Whether the largest is looked for.
    pub const fn is_most_first(self) -> bool {
        !matches!(self, Column::Title | Column::Project | Column::Branch | Column::Agent | Column::Format)
    }

    /// Its heading.
    pub const fn word(self) -> &'static str {
        match self {
            Column::Title => "title",
            Column::When => "when",
            Column::Project => "project",
            Column::Branch => "branch",
            Column::Agent => "agent",
            Column::Format => "format",
            Column::Turns => "turns",
            Column::Calls => "calls",
            Column::Stopped => "stopped",
            Column::Violated => "violated",
            Column::Rules => "rules",
            Column::Problems => "problems",
        }
    }
}

impl GroupKind {
    /// All groupings.
    pub const ALL: [GroupKind; 5] =
        [GroupKind::File, GroupKind::Project, GroupKind::Day, GroupKind::Rule, GroupKind::Verdict];

    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            GroupKind::File => "file",
            GroupKind::Project => "project",
            GroupKind::Day => "day",
            GroupKind::Rule => "first rule",
            GroupKind::Verdict => "verdict",
        }
    }
}

impl Outcome {
    /// Of a session.
    pub fn of(row: &SessionRow) -> Outcome {
        match row.verdict {
            _ if row.session.is_none() => Outcome::Unread,
            Some(verdict) if verdict.against() > 0 => Outcome::Stopped,
            _ if row.problems > 0 => Outcome::Damaged,
            None => Outcome::NotJudged,
            Some(verdict) if verdict.after > 0 => Outcome::After,
            Some(verdict) if verdict.not_exercised => Outcome::NotExercised,
            Some(_) => Outcome::Clean,
        }
    }

    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Outcome::Stopped => "stopped or violated",
            Outcome::Unread => "not read",
            Outcome::Damaged => "damaged",
            Outcome::After => "stopped only after a divergence",
            Outcome::NotJudged => "not judged",
            Outcome::NotExercised => "no rule had to decide",
            Outcome::Clean => "nothing stopped",
        }
    }
}

impl GroupKey {
    fn of(row: &SessionRow, kind: GroupKind) -> GroupKey {
        match kind {
            GroupKind::File => GroupKey::Name(Some(row.file)),
            GroupKind::Project => GroupKey::Name(row.project),
            GroupKind::Rule => GroupKey::Name(row.rules.first().copied()),
            GroupKind::Day => GroupKey::Day(row.began.and_then(day)),
            GroupKind::Verdict => GroupKey::Verdict(Outcome::of(row)),
        }
    }

    /// The name of the group.
    pub fn word(self, kind: GroupKind, names: &Names) -> String {
        match self {
            GroupKey::Name(Some(name)) => names.word(name).to_owned(),
            GroupKey::Day(Some(day)) => day.to_string(),
            GroupKey::Verdict(outcome) => outcome.word().to_owned(),
            GroupKey::Name(None) if kind == GroupKind::Rule => "no rule".to_owned(),
            GroupKey::Name(None) => format!("no {} recorded", kind.word()),
            GroupKey::Day(None) => "no time recorded".to_owned(),
        }
    }
}

fn day(at: Millis) -> Option<Date> {
    Some(Timestamp::from_millisecond(at).ok()?.to_zoned(TimeZone::UTC).date())
}

/// The sessions that pass, in the order of the list.
pub fn sift<R: Borrow<SessionRow> + Sync>(rows: &[R], sieve: &Sieve<'_>) -> Vec<Place> {
    let rows = rows.par_iter().enumerate().with_min_len(PART);
    rows.filter(|(_, row)| sieve.passes((*row).borrow())).map(|(place, _)| place as Place).collect()
}

/// Fewest sessions for one thread: fewer are done before another thread has woken.
const PART: usize = 2_048;

/// Sorts sessions by a column. What is equal stays in its order, and what says nothing comes last, in either direction.
pub fn sort<R: Borrow<SessionRow>>(
    rows: &[R],
    places: &mut [Place],
    column: Column,
    reverse: bool,
    names: &Names,
) {
    let row = |place: Place| rows.get(place as usize).map(Borrow::borrow);
    if column == Column::Title {
        return by_title(places, reverse, |place| row(place).map_or("", |row| row.title(names)));
    }
    let name = |row: &SessionRow| match column {
        Column::Project => row.project,
        Column::Branch => row.branch,
        Column::Agent => row.agent,
        Column::Format => row.format,
        _ => None,
    };
    let ranks = names.ranks(places.iter().filter_map(|place| name(row(*place)?)));
    let key = |row: &SessionRow| match column {
        Column::Title => None,
        Column::When => row.began,
        Column::Project | Column::Branch | Column::Agent | Column::Format => {
            name(row).and_then(|name| ranks.get(&name)).copied().map(i64::from)
        }
        Column::Turns => row.session.as_ref().map(|_| row.turns() as i64),
        Column::Calls => row.session.as_ref().map(|_| row.calls() as i64),
        Column::Stopped => row.verdict.map(|verdict| (verdict.stopped + verdict.after) as i64),
        Column::Violated => row.verdict.map(|verdict| verdict.violated as i64),
        Column::Rules => row.verdict.map(|_| row.rules.len() as i64),
        // A file that could not be read is worse than any that could.
        Column::Problems if row.session.is_none() => Some(i64::MAX),
        Column::Problems => Some(row.problems as i64),
    };
    by_key(places, reverse, |place| row(place).and_then(key));
}

/// By numbers, missing ones last.
fn by_key(places: &mut [Place], reverse: bool, key: impl Fn(Place) -> Option<i64>) {
    let mut keyed: Vec<(Option<i64>, Place)> = places.iter().map(|place| (key(*place), *place)).collect();
    keyed.sort_by(|(a, _), (b, _)| match (a, b) {
        (Some(a), Some(b)) if reverse => b.cmp(a),
        (Some(a), Some(b)) => a.cmp(b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
    for (place, (_, sorted)) in places.iter_mut().zip(keyed) {
        *place = sorted;
    }
}

/// Letters of a title that are compared at once.
const LETTERS: usize = 16;
/// Letters of a title that are compared at all.
const MOST_LETTERS: usize = 256;

/// By titles, without regard to case. Many have the same beginning, so they are compared some letters at a time, and only those
/// that are equal so far look at the next ones: these stay in the processor's cache, which titles in their sessions do
/// not.
fn by_title<'t>(places: &mut [Place], reverse: bool, title: impl Fn(Place) -> &'t str) {
    let (mut text, mut titles) = (String::new(), Vec::with_capacity(places.len()));
    for place in places.iter() {
        let start = text.len();
        let title = title(*place);
        match title.get(..title.len().min(MOST_LETTERS)).filter(|title| title.is_ascii()) {
            Some(title) => {
                text.push_str(title);
                text.get_mut(start..).unwrap_or_default().make_ascii_lowercase();
            }
            None => text.extend(title.chars().take(MOST_LETTERS).flat_map(char::to_lowercase)),
        }
        titles.push((start, text.len(), *place));
    }
    let mut keyed: Vec<(u128, u32)> = (0..).zip(&titles).map(|(at, _)| (0, at)).collect();
    by_letters(
        &mut keyed,
        0,
        &|at| {
            let (start, end, _) = titles.get(at as usize).copied().unwrap_or_default();
            text.as_bytes().get(start..end).unwrap_or_default()
        },
        reverse,
    );
    for (place, (_, at)) in places.iter_mut().zip(keyed) {
        if let Some((.., sorted)) = titles.get(at as usize) {
            *place = *sorted;
        }
    }
}

/// Sorts by what follows `from` bytes that are equal. The order of bytes is that of the letters, as UTF-8 keeps it.
fn by_letters<'t>(keyed: &mut [(u128, u32)], from: usize, title: &impl Fn(u32) -> &'t [u8], reverse: bool) {
    let mut longest = 0;
    for (key, at) in keyed.iter_mut() {
        let rest = title(*at).get(from..).unwrap_or_default();
        longest = longest.max(rest.len());
        let mut letters = [0; LETTERS];
        letters.iter_mut().zip(rest).for_each(|(letter, byte)| *letter = *byte);
        *key = u128::from_be_bytes(letters);
    }
    // Equal ones keep their order, in both directions.
    keyed.sort_unstable_by_key(|(key, at)| (if reverse { !*key } else { *key }, *at));
    if longest > LETTERS {
        for equal in keyed.chunk_by_mut(|(one, _), (other, _)| one == other).filter(|equal| equal.len() > 1) {
            by_letters(equal, from + LETTERS, title, reverse);
        }
    }
}

/// Groups sessions, each into one group, and keeps their order. Files are in the order of the list, days begin with the
/// newest, verdicts with the worst, rules with the one with the most objections; projects are in alphabetical order.
pub fn group<R: Borrow<SessionRow>>(
    rows: &[R],
    places: &[Place],
    kind: GroupKind,
    names: &Names,
) -> Vec<Group> {
    let mut known: HashMap<GroupKey, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for place in places {
        let Some(row) = rows.get(*place as usize) else { continue };
        let key = GroupKey::of(row.borrow(), kind);
        let at = *known.entry(key).or_insert_with(|| {
            groups.push(Group { key, places: Vec::new() });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(at) {
            group.places.push(*place);
        }
    }
    let named = groups.iter().filter_map(|group| match group.key {
        GroupKey::Name(name) if kind == GroupKind::Project => name,
        _ => None,
    });
    let ranks = names.ranks(named);
    let rank = |name: Option<Name>| name.and_then(|name| ranks.get(&name).copied()).unwrap_or(u32::MAX);
    groups.sort_by(|a, b| match (a.key, b.key) {
        (GroupKey::Name(one), GroupKey::Name(other)) => match kind {
            GroupKind::File => a.places.iter().min().cmp(&b.places.iter().min()),
            GroupKind::Rule => {
                (one.is_none(), Reverse(a.places.len())).cmp(&(other.is_none(), Reverse(b.places.len())))
            }
            _ => rank(one).cmp(&rank(other)),
        },
        (GroupKey::Day(one), GroupKey::Day(other)) => other.cmp(&one),
        (GroupKey::Verdict(one), GroupKey::Verdict(other)) => one.cmp(&other),
        _ => Ordering::Equal,
    });
    groups
}
