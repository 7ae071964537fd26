//! The claim of a suggested rule about what calls do, and its counts in the recordings.

use std::sync::Arc;

use crate::explore::occurrence::Extent;
use rulestep_shell::SmallCall;
use rulestep_shell::action::{action, is_plain};
use rulestep_shell::facts::Table;

/// A program with its subcommand: `git push`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Action(pub Arc<[String]>);

/// A rule about what calls do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActionRule {
    /// An action needs an earlier success of one of these.
    Needs {
        /// The action that needs it.
        then: Action,
        /// The needed actions: one of them.
        first: Vec<Action>,
    },
    /// A tool changes only files that were read or written before.
    KnownFiles(Arc<str>),
    /// Nothing is deleted outside the project.
    DeletesInside,
    /// Nothing is written outside the project.
    WritesInside,
    /// Nothing reaches another machine after a secret was read.
    SecretsStay,
    /// An action never follows another one.
    NeverAfter {
        /// The action that comes first.
        trigger: Action,
        /// The action that does not follow.
        forbidden: Action,
    },
    /// An action succeeds once in a session.
    Once(Action),
}

/// A rule with its counts in the recordings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionSuggestion {
    /// The rule.
    pub rule: ActionRule,
    /// Calls that certainly are what the rule is about, and that it lets pass.
    pub calls: u64,
    /// Sessions with such calls.
    pub sessions: u64,
    /// Calls that certainly match, and that it would stop.
    pub against: u64,
    /// Calls with unknown effects that it would stop.
    pub unsure: u64,
    /// The first and the last of all that it would stop.
    pub extent: Extent,
}

impl Action {
    /// The action of a command, if a policy can name it.
    pub fn of(call: &SmallCall) -> Option<Action> {
        let words = action(call, &Table::default())?;
        words.first().is_some_and(|program| is_plain(program)).then(|| Action(words.into()))
    }

    /// The program alone.
    pub fn program(&self) -> &str {
        self.0.first().map(String::as_str).unwrap_or_default()
    }

    /// Whether a rule that names this one means the other one as well.
    pub fn means(&self, other: &Action) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The parts of its words: `test` and `unit` of `npm run test:unit`.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|word| word.split([':', '-', '_', '.'])).filter(|part| !part.is_empty())
    }
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

impl ActionSuggestion {
    /// The file that holds such rules.
    pub const FILE: &str = "commands.yaml";
}
