//! What is counted of sessions, their calls and their rules: one row a counter. JSON, tables, cases and sentences are made from the
//! rows; what increments a counter is `Tally`.

use rulestep_base::merged;
use serde::{Deserialize, Serialize, Serializer};

/// A counter: its name in JSON, and how it is written.
#[derive(Debug)]
pub struct Counter {
    /// The name, which is that of the field.
    pub name: &'static str,
    /// What it counts.
    pub group: CounterGroup,
    /// Whether JSON has it even if it is zero.
    pub always: bool,
    /// What is counted, of one and of several, for a sentence.
    pub words: Option<[&'static str; 2]>,
    /// Whether the sessions that it counts in fail for it.
    pub objects: bool,
    /// Its value.
    pub value: fn(&Counts) -> u64,
}

/// What a counter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterGroup {
    /// How large a session is.
    Size,
    /// The decision about a call: each call is in one of these.
    Decision,
    /// Calls of which something else is true.
    Property,
    /// What only many sessions have written: for one, its status and its rules say it.
    Sessions,
}

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident: $group:ident $($default:ident)? $(=> $($objects:ident)? $one:literal, $many:literal)?;)+) => {
        merged! {
            /// The counts of a session, or of many.
            #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
            pub struct Counts {
                $($(#[$doc])* $(#[serde($default, skip_serializing_if = "rulestep_base::merge::is_zero")])? pub $name: u64),+
            }
        }

        impl Counts {
            /// Every counter, in the order of the JSON of many sessions.
            pub const ALL: &[Counter] = &[$(Counter {
                name: stringify!($name),
                group: CounterGroup::$group,
                always: { const DEFAULT: &[&str] = &[$(stringify!($default))?]; DEFAULT.is_empty() },
                words: { const WORDS: Option<[&str; 2]> = [$(Some([$one, $many]),)? None][0]; WORDS },
                objects: { const OBJECTS: &[&str] = &[$($(stringify!($objects))?)?]; !OBJECTS.is_empty() },
                value: |counts| counts.$name,
            }),+];
        }
    };
}

// Name, what it counts, `default` if JSON leaves out a zero, `objects` and words.
counts! {
    /// Sessions.
    sessions: Sessions;
    /// Model responses.
    turns: Size;
    /// Proposed calls.
    calls: Size;
    /// Calls that a fork has as its past; no other counter has them.
    copied: Size default;
    /// Calls that are allowed.
    allow: Decision;
    /// Calls that a person is asked about.
    ask: Decision default;
    /// Calls that are allowed or asked about, and that a rule which is not enforced would have stopped or asked about.
    would_stop: Property default;
    /// Calls that are allowed and that a rule reports, without those of `would_stop`.
    reported: Property default;
    /// Calls that are denied.
    deny: Decision;
    /// Calls that are denied, and the session ends with them.
    halt: Decision;
    /// Calls after a halt.
    not_reached: Decision;
    /// Denied or halted calls beyond the frontier, which the others count as well.
    deny_counterfactual: Property;
    /// Rules about sessions that are violated, in each session.
    violated_rules: Sessions => objects "session rule violated", "session rules violated";
    /// The same of rules that only report, or are not enforced.
    unenforced_rules: Sessions default => "session rule violated (not enforced)", "session rules violated (not enforced)";
    /// Sessions in which a call was stopped or a rule is violated.
    objected: Sessions;
    /// Calls where the decision is not what the recording did.
    disagree: Property;
    /// Calls of choices that were not taken; no counter above has them.
    alternatives: Property default;
    /// Those of them that are denied or halted.
    alternatives_stopped: Property default;
}

impl Counts {
    /// The counters that a single session has.
    pub fn of_session() -> impl Iterator<Item = &'static Counter> {
        Counts::ALL.iter().filter(|counter| counter.group != CounterGroup::Sessions)
    }

    /// Whether any call was stopped, be it one of a choice that was not taken.
    pub fn stops(&self) -> bool {
        self.deny + self.halt + self.alternatives_stopped > 0
    }

    /// Whether this makes `replay` exit with 1: a call was stopped, or a rule is violated.
    pub fn objects(&self) -> bool {
        self.stops() || self.violated_rules > 0
    }

    /// The value of the counter of this name.
    pub fn get(&self, name: &str) -> Option<u64> {
        Counts::ALL.iter().find(|counter| counter.name == name).map(|counter| (counter.value)(self))
    }

    /// Those that have words and are not zero, as parts of a sentence.
    pub fn worded(&self) -> impl Iterator<Item = (&'static Counter, u64, &'static str)> {
        let worded = |counter: &'static Counter| {
            let (count, [one, many]) = ((counter.value)(self), counter.words?);
            (count > 0).then_some((counter, count, if count == 1 { one } else { many }))
        };
        Counts::ALL.iter().filter_map(worded)
    }
}

/// The counters of a single session as JSON: sizes, decisions, then the others.
pub fn session_json<S: Serializer>(counts: &Counts, serializer: S) -> Result<S::Ok, S::Error> {
    let groups = [CounterGroup::Size, CounterGroup::Decision, CounterGroup::Property];
    let ordered = groups.iter().flat_map(|group| Counts::ALL.iter().filter(move |of| of.group == *group));
    let valued = ordered.map(|counter| (counter.name, (counter.value)(counts), counter.always));
    serializer.collect_map(
        valued.filter(|(_, count, always)| *always || *count > 0).map(|(name, count, _)| (name, count)),
    )
}

/// The counters of a single session as columns, which every row has.
pub fn columns<S: Serializer>(counts: &Counts, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(Counts::of_session().map(|counter| (counter.name, (counter.value)(counts))))
}
