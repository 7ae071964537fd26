//! The facts: what programs and tools read, write, delete and reach, and which of their words show it.
//!
//! The rows of programs are the YAML files of this folder, in the form in which a policy adds to them. The build script
//! checks them and makes one table; a row is unpacked when its program first occurs.

pub mod fault;
mod language;
pub mod read;
mod row;
mod run;
pub mod table;
mod tools;
mod words;

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use serde_json::{Map, Value};

use super::act::Act;

pub use language::{Clears, CommandOperands, Commands, Fed, Language, Prints, UrlGlobs};
pub use row::{
    At, Choosing, Condition, Deed, Depth, Does, Effect, EffectSet, Level, Net, Opt, Program, Style, Takes,
    WhenFed,
};
pub use run::{Apart, Inner, Run, Shell};
pub use table::{Row, Table};
pub use tools::{Argument, Role, Tool, read as read_tool};

mod shipped {
    use super::{AgentTool, Program, Tool};

    include!(concat!(env!("OUT_DIR"), "/facts.rs"));

    static PROGRAMS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/programs.bin"));
    static READ_TOOLS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tools.bin"));

    /// A parsed row from the build script.
    pub fn program(row: usize) -> Option<Program> {
        let (begin, end) = *PLACES.get(row)?;
        postcard::from_bytes(PROGRAMS.get(begin..end)?).ok()
    }

    /// The parsed tools from the build script.
    pub fn tools() -> Vec<Tool> {
        postcard::from_bytes(READ_TOOLS).unwrap_or_default()
    }
}

static READ: [OnceLock<Program>; shipped::ROWS.len()] = [const { OnceLock::new() }; shipped::ROWS.len()];

/// A built-in tool of an agent, and how it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentTool {
    /// Its name in the agent's events.
    pub name: &'static str,
    /// The argument that holds its operand.
    pub argument: &'static str,
    /// The other arguments that a call needs.
    pub others: &'static [&'static str],
}

impl AgentTool {
    /// The arguments of a call that works on this.
    pub fn arguments(&self, on: &str) -> Value {
        let others = self.others.iter().map(|name| ((*name).to_owned(), Value::from("a")));
        let mut arguments: Map<String, Value> = others.collect();
        arguments.insert(self.argument.to_owned(), Value::from(on));
        Value::Object(arguments)
    }
}

/// The built-in tools of an agent.
pub fn agent_tools(agent: &str) -> &'static [AgentTool] {
    shipped::AGENTS.iter().find(|(name, _)| *name == agent).map_or(&[], |(_, tools)| tools)
}

/// A shipped row as it is written.
fn written(text: &str) -> Value {
    // The build script wrote it.
    serde_json::from_str(text).unwrap_or_default()
}

/// The shipped rows of tools, as they are written.
pub fn tool_rows() -> impl Iterator<Item = Value> {
    shipped::TOOLS.iter().map(|text| written(text))
}

/// The shipped rows of programs, as they are written.
pub fn rows() -> impl Iterator<Item = Value> {
    shipped::ROWS.iter().map(|text| written(text))
}

/// The names of all programs that have a shipped row.
pub fn names() -> impl Iterator<Item = &'static str> {
    shipped::NAMES.iter().map(|(name, _)| *name)
}

/// Variables whose values some program passes to a shell, with `*` for any part of a name.
pub fn script_variables() -> &'static [&'static str] {
    &shipped::SCRIPTS
}

/// The shipped row of a program: by its name, or by its name without a version, as `python3.12`.
pub fn program(name: &str) -> Option<&'static Program> {
    let exact = named(name);
    exact.or_else(|| {
        let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let is_other = !plain.is_empty() && plain.len() < name.len();
        is_other.then(|| named(plain))?.filter(|program| program.versions)
    })
}

fn named(name: &str) -> Option<&'static Program> {
    let place = shipped::NAMES.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    let (_, row) = shipped::NAMES.get(place)?;
    let slot = READ.get(*row)?;
    Some(slot.get_or_init(|| shipped::program(*row).unwrap_or_default()))
}

/// The shipped row of a tool. Agents write one name as `WebFetch`, `web_fetch` and `webfetch`. Every call of a recording asks for a row.
pub fn tool(name: &str) -> Option<&'static Tool> {
    let (by_name, by_letters) = &*TOOLS;
    by_name.get(name).or_else(|| by_letters.get(&letters(name))).copied()
}

/// The shipped rows of tools by their names, and by these without case and separators.
static TOOLS: LazyLock<(ByName, ByLetters)> = LazyLock::new(|| {
    let (mut by_name, mut by_letters) = (ByName::new(), ByLetters::new());
    for row in &*READ_TOOLS {
        for name in &row.names {
            by_name.insert(name, row);
            by_letters.entry(letters(name)).or_insert(row);
        }
    }
    (by_name, by_letters)
});

static READ_TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(shipped::tools);

type ByName = HashMap<&'static str, &'static Tool>;
type ByLetters = HashMap<String, &'static Tool>;

fn letters(name: &str) -> String {
    name.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase).collect()
}

impl Tool {
    /// The names of the arguments that say this.
    pub fn named(&self, role: Role) -> impl Iterator<Item = &str> {
        let own = self.does.iter().filter(move |argument| argument.role == role);
        own.flat_map(|argument| argument.names.iter().map(String::as_str))
    }

    /// Whether one of its arguments says this.
    pub fn has(&self, role: Role) -> bool {
        self.does.iter().any(|argument| argument.role == role)
    }
}

impl Argument {
    /// Whether the tool reaches unknown hosts.
    pub fn is_anywhere(&self) -> bool {
        self.role == Role::Reaches && self.names == ["*"]
    }
}

impl Program {
    /// Its first name: `pip3.12` and `pip3` are `pip`.
    pub fn name(&self) -> &str {
        self.names.first().map(String::as_str).unwrap_or_default()
    }

    /// Whether it reads settings some of which are scripts.
    pub fn has_settings(&self) -> bool {
        !self.settings_run.is_empty()
    }

    /// Whether it does nothing but run another program.
    pub fn is_wrapper(&self) -> bool {
        self.ways().any(|(_, run)| !run.besides)
    }

    /// The ways in which it runs another program, with the level of each; those of subcommands first.
    pub fn ways(&self) -> impl Iterator<Item = (&Level, &Run)> {
        self.levels.iter().rev().flat_map(|level| level.runs.iter().map(move |run| (level, run)))
    }
}

impl EffectSet {
    /// Whether an effect is in the set.
    pub fn has(self, effect: Effect) -> bool {
        self.0.iter().zip(Effect::ALL).any(|(place, (_, own))| *place && own == effect)
    }
}

impl Deed {
    /// The effect, if it is one.
    fn effect(&self) -> Option<Effect> {
        match self {
            Deed::Files(act, ..) => Some(Effect::Files(*act)),
            Deed::Reaches(_) => Some(Effect::Reaches),
            Deed::Opaque | Deed::Links | Deed::Chooses(..) => None,
        }
    }
}

impl Program {
    /// The level that applies to every subcommand.
    pub fn whole(&self) -> Option<&Level> {
        self.levels.first()
    }

    /// Whether it has subcommands.
    pub fn has_subs(&self) -> bool {
        self.levels.len() > 1
    }

    /// The levels of the subcommand of exactly these words.
    pub fn levels_of(&self, path: &[&str]) -> Vec<&Level> {
        let is_it = |level: &&Level| level.subs.iter().any(|sub| sub.iter().eq(path));
        self.levels.iter().skip(1).filter(is_it).collect()
    }

    /// Whether some subcommand begins with these words.
    pub fn begins(&self, path: &[&str]) -> bool {
        let mut subs = self.levels.iter().skip(1).flat_map(|level| &level.subs);
        subs.any(|sub| sub.len() >= path.len() && sub.iter().zip(path).all(|(own, word)| own == word))
    }
}

impl Level {
    /// The option of this name.
    pub fn option(&self, name: &str) -> Option<&Opt> {
        self.options.iter().find(|option| option.names.iter().any(|own| own == name))
    }

    /// Whether it says something of an effect, a thing done or none.
    pub fn says(&self, effect: Effect) -> bool {
        self.none.has(effect) || self.does.iter().any(|does| does.deed.effect() == Some(effect))
    }
}

/// The effects of a command by its levels. A longer subcommand replaces the effects of a shorter one: `stash list`
/// those of `stash`; the effects of the program apply to all.
pub fn said<'p>(levels: &[&'p Level]) -> Vec<&'p Does> {
    let (whole, subs) = levels.split_first().map_or((None, levels), |(whole, subs)| (Some(*whole), subs));
    let mut found: Vec<&Does> = whole.into_iter().flat_map(|level| &level.does).collect();
    for (at, level) in subs.iter().enumerate() {
        let later = |effect| subs.iter().skip(at + 1).any(|level| level.says(effect));
        found.extend(level.does.iter().filter(|does| !does.deed.effect().is_some_and(later)));
    }
    found
}
