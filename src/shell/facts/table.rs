//! The facts that a rule uses: the shipped rows, and those of its policy before them.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::program;
use super::row::{Does, Program};
use super::tools::{self, Argument, Tool};
use super::wrapper::Wrapper;
use super::wrappers;

/// Rows of programs and tools. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Table(Option<Arc<Own>>);

/// The rows of a policy, and what they make of the shipped ones.
#[derive(Debug)]
struct Own {
    rows: Vec<Row>,
    /// No other table has it, so that readings can be kept by it.
    number: u64,
    programs: HashMap<&'static str, Vec<&'static Program>>,
    wrappers: HashMap<&'static str, Vec<&'static Wrapper>>,
    tools: HashMap<&'static str, &'static Tool>,
    /// Programs of which the policy says what they do whatever their subcommand.
    whole: HashSet<&'static str>,
}

/// A row that a policy adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Row {
    /// What a program does.
    Program(&'static Program),
    /// How a program runs another one.
    Wrapper(&'static Wrapper),
    /// What a tool of an agent does.
    Tool(&'static Tool),
}

impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        self.rows() == other.rows()
    }
}

impl Eq for Table {}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

impl Table {
    /// The shipped rows with these, each of which takes the place of what is shipped for its program and subcommand, or tool.
    pub fn new(rows: Vec<Row>) -> Table {
        if rows.is_empty() {
            return Table::default();
        }
        let mut own = Own {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            programs: HashMap::new(),
            wrappers: HashMap::new(),
            tools: HashMap::new(),
            whole: HashSet::new(),
            rows,
        };
        for row in &own.rows {
            match row {
                Row::Program(row) => {
                    for name in row.names.split(' ') {
                        let rows = own.programs.entry(name).or_insert_with(|| program(name).to_vec());
                        replace(rows, row, |row| row.sub, |row, sub| kept_program(Program { sub, ..*row }));
                        if row.sub.is_empty() {
                            own.whole.insert(name);
                        }
                    }
                }
                Row::Wrapper(row) => {
                    for name in row.names.split(' ') {
                        let rows =
                            own.wrappers.entry(name).or_insert_with(|| wrappers::wrappers(name).collect());
                        // Options that are run beside all else are rows of their own.
                        let (mut same, other): (Vec<_>, Vec<_>) =
                            rows.drain(..).partition(|other: &&Wrapper| other.besides == row.besides);
                        let again = |row: &Wrapper, sub| kept_wrapper(Wrapper { sub, ..*row });
                        replace(&mut same, row, |row| row.sub, again);
                        rows.extend(if row.besides {
                            same.iter().chain(&other)
                        } else {
                            other.iter().chain(&same)
                        });
                    }
                }
                Row::Tool(row) => own.tools.extend(row.names.split(' ').map(|name| (name, *row))),
            }
        }
        Table(Some(Arc::new(own)))
    }

    /// The rows of several tables; of two about one thing the last.
    pub fn union<'t>(tables: impl Iterator<Item = &'t Table>) -> Table {
        let tables: Vec<&Table> = tables.filter(|table| table.0.is_some()).collect();
        match tables.as_slice() {
            [only] => (*only).clone(),
            tables => Table::new(tables.iter().flat_map(|table| table.rows()).copied().collect()),
        }
    }

    /// The rows that a policy has added, in its order.
    pub fn rows(&self) -> &[Row] {
        self.0.as_ref().map_or(&[], |own| &own.rows)
    }

    /// A number that only this table and its clones have.
    pub fn number(&self) -> u64 {
        self.0.as_ref().map_or(0, |own| own.number)
    }

    /// What a program does.
    pub fn program(&self, name: &str) -> &[&'static Program] {
        let own = self.0.as_ref().and_then(|own| own.programs.get(name));
        own.map_or_else(|| program(name), Vec::as_slice)
    }

    /// How a program runs another one.
    pub fn wrappers(&self, name: &str) -> Vec<&'static Wrapper> {
        let own = self.0.as_ref().and_then(|own| own.wrappers.get(name));
        own.cloned().unwrap_or_else(|| wrappers::wrappers(name).collect())
    }

    /// What a tool does.
    pub fn tool(&self, name: &str) -> Option<&'static Tool> {
        let own = self.0.as_ref().and_then(|own| own.tools.get(name).copied());
        own.or_else(|| tools::tool(name))
    }

    /// Whether a policy says all that a program does: nothing is known of it besides.
    pub fn says_all_of(&self, name: &str) -> bool {
        self.0.as_ref().is_some_and(|own| own.whole.contains(name))
    }

    /// Whether a policy says what a program does, or runs.
    pub fn names(&self, name: &str) -> bool {
        self.0.as_ref().is_some_and(|own| own.programs.contains_key(name) || own.wrappers.contains_key(name))
    }
}

/// Puts a row in the place of what there is for its subcommands. A row for several is left with the others.
fn replace<T>(
    rows: &mut Vec<&'static T>,
    row: &'static T,
    sub: impl Fn(&T) -> &'static str,
    with: impl Fn(&T, &'static str) -> &'static T,
) {
    let own: Vec<&str> = sub(row).split('|').collect();
    let before = std::mem::take(rows);
    rows.push(row);
    for other in before {
        let rest: Vec<&str> = sub(other).split('|').filter(|sub| !own.contains(sub)).collect();
        if rest.len() == sub(other).split('|').count() {
            rows.push(other);
        } else if !rest.is_empty() {
            rows.push(with(other, text(&rest.join("|"))));
        }
    }
}

static TEXTS: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
static PROGRAMS: LazyLock<Mutex<HashSet<&'static Program>>> = LazyLock::new(Mutex::default);
static WRAPPERS: LazyLock<Mutex<HashSet<&'static Wrapper>>> = LazyLock::new(Mutex::default);
static TOOLS: LazyLock<Mutex<HashSet<&'static Tool>>> = LazyLock::new(Mutex::default);
static ARGUMENTS: LazyLock<Mutex<HashSet<&'static [Argument]>>> = LazyLock::new(Mutex::default);
static DOES: LazyLock<Mutex<HashSet<&'static Does>>> = LazyLock::new(Mutex::default);
static LISTS: LazyLock<Mutex<HashSet<&'static [Does]>>> = LazyLock::new(Mutex::default);

/// Rows have the form of the shipped ones, which live as long as the program. Equal ones are kept once, so an editor that
/// reads a policy at each key adds what was typed and no more.
fn keep<T: Eq + Hash + ?Sized>(
    kept: &Mutex<HashSet<&'static T>>,
    value: &T,
    leak: impl FnOnce() -> &'static T,
) -> &'static T {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(value) {
        return known;
    }
    let value = leak();
    kept.insert(value);
    value
}

/// A text for a row.
pub fn text(text: &str) -> &'static str {
    keep(&TEXTS, text, || Box::leak(text.into()))
}

/// A thing that a program does, for one with a condition.
pub fn does(does: Does) -> &'static Does {
    keep(&DOES, &does, || Box::leak(Box::new(does)))
}

/// All that a program does.
pub fn list(list: &[Does]) -> &'static [Does] {
    keep(&LISTS, list, || Box::leak(list.into()))
}

/// A row.
pub fn kept_program(row: Program) -> &'static Program {
    keep(&PROGRAMS, &row, || Box::leak(Box::new(row)))
}

/// A row of a program that runs another one.
pub fn kept_wrapper(row: Wrapper) -> &'static Wrapper {
    keep(&WRAPPERS, &row, || Box::leak(Box::new(row)))
}

/// A row of a tool.
pub fn kept_tool(names: &'static str, does: &[Argument]) -> &'static Tool {
    let row = Tool { names, does: keep(&ARGUMENTS, does, || Box::leak(does.into())) };
    keep(&TOOLS, &row, || Box::leak(Box::new(row)))
}
