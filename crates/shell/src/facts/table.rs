//! The facts that a rule uses: the shipped rows, and those of its policy, which come first.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::program;
use super::row::{EffectSet, Level, Program};
use super::tools::Tool;

/// Rows of programs and tools. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Table(Option<Arc<Own>>);

/// The rows of a policy, and their effects on the shipped ones.
#[derive(Debug)]
struct Own {
    rows: Vec<Row>,
    /// No other table has it, so that readings can be kept by it.
    number: u64,
    /// Whether names of programs and paths are compared without case.
    folds: bool,
    programs: HashMap<String, Added>,
    tools: HashMap<String, Tool>,
    /// Programs that the policy describes for every subcommand.
    whole: HashSet<String>,
}

/// A program in the policy's facts. Most calls use none of these, so it is assembled on first use.
#[derive(Debug, Default)]
struct Added {
    /// The places of its rows.
    rows: Vec<usize>,
    program: OnceLock<Program>,
}

/// A row that a policy adds.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its kind, with the parsed row.
    pub kind: RowKind,
    /// As written.
    pub written: Value,
}

/// The subject of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum RowKind {
    /// A program.
    Program(Box<Program>),
    /// A tool of an agent.
    Tool(Tool),
}

impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        self.rows() == other.rows() && self.folds() == other.folds()
    }
}

impl Eq for Table {}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

impl Table {
    /// The shipped rows with these, each of which replaces the shipped one for its program and subcommand, or tool.
    pub fn new(rows: Vec<Row>) -> Table {
        Table::of(rows, false)
    }

    /// The same, comparing names of programs and paths without case.
    pub fn folding(&self) -> Table {
        Table::of(self.rows().to_vec(), true)
    }

    fn of(rows: Vec<Row>, folds: bool) -> Table {
        if rows.is_empty() && !folds {
            return Table::default();
        }
        let mut own = Own {
            folds,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            programs: HashMap::new(),
            tools: HashMap::new(),
            whole: HashSet::new(),
            rows: Vec::new(),
        };
        for (at, row) in rows.iter().enumerate() {
            match &row.kind {
                RowKind::Program(row) => {
                    let is_whole = row.levels.iter().any(|level| {
                        is_about(row, level) && level.subs.iter().any(Vec::is_empty) && level.says_effects()
                    });
                    for name in &row.names {
                        own.programs.entry(name.clone()).or_default().rows.push(at);
                        if is_whole {
                            own.whole.insert(name.clone());
                        }
                    }
                }
                RowKind::Tool(row) => {
                    own.tools.extend(row.names.iter().map(|name| (name.clone(), row.clone())))
                }
            }
        }
        own.rows = rows;
        Table(Some(Arc::new(own)))
    }

    /// The rows of several tables; of two about one thing the last.
    pub fn union<'t>(tables: impl Iterator<Item = &'t Table>) -> Table {
        let tables: Vec<&Table> = tables.filter(|table| table.0.is_some()).collect();
        match tables.as_slice() {
            [only] => (*only).clone(),
            tables => {
                let rows = tables.iter().flat_map(|table| table.rows()).cloned().collect();
                Table::of(rows, tables.iter().any(|table| table.folds()))
            }
        }
    }

    /// The rows that a policy has added, in its order.
    pub fn rows(&self) -> &[Row] {
        self.0.as_ref().map_or(&[], |own| &own.rows)
    }

    /// Whether names of programs and paths are compared without case.
    pub fn folds(&self) -> bool {
        self.0.as_ref().is_some_and(|own| own.folds)
    }

    /// A number that only this table and its clones have.
    pub fn number(&self) -> u64 {
        self.0.as_ref().map_or(0, |own| own.number)
    }

    /// The facts about a program.
    pub fn program(&self, name: &str) -> Option<&Program> {
        self.0.as_ref().and_then(|own| own.program(name)).or_else(|| program(name))
    }

    /// The facts about a tool.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.0.as_ref().and_then(|own| own.tools.get(name)).or_else(|| super::tool(name))
    }

    /// Whether a policy describes a program completely, so that nothing else is known of it.
    pub fn says_all_of(&self, name: &str) -> bool {
        self.0.as_ref().is_some_and(|own| own.whole.contains(name))
    }

    /// Whether a policy says what a program does, or runs.
    pub fn names(&self, name: &str) -> bool {
        self.0.as_ref().is_some_and(|own| own.programs.contains_key(name))
    }
}

impl Own {
    /// The shipped row of a program, with the policy's replacements.
    fn program(&self, name: &str) -> Option<&Program> {
        let added = self.programs.get(name)?;
        Some(added.program.get_or_init(|| {
            let mut known = program(name).cloned();
            for at in &added.rows {
                let Some(Row { kind: RowKind::Program(row), .. }) = self.rows.get(*at) else { continue };
                let known = known
                    .get_or_insert_with(|| Program { levels: vec![Level::whole()], ..Program::clone(row) });
                take(known, row);
                row.levels
                    .iter()
                    .filter(|level| is_about(row, level))
                    .for_each(|level| replace(known, level));
            }
            known.unwrap_or_default()
        }))
    }
}

/// Whether a row has facts at this level: facts about subcommands leave the program as a whole as it is.
fn is_about(row: &Program, level: &Level) -> bool {
    row.levels.len() == 1 || *level != Level::whole()
}

impl Level {
    /// The level of an unknown program.
    fn whole() -> Level {
        Level { subs: vec![Vec::new()], ..Level::default() }
    }

    /// Whether it says what the program does, and not only how it runs another one.
    fn says_effects(&self) -> bool {
        !self.does.is_empty() || self.none != EffectSet::default() || self.runs.is_empty()
    }
}

/// The facts of a row about a program apart from its levels. Missing ones stay as they were.
fn take(known: &mut Program, row: &Program) {
    if row.levels.iter().any(|level| level.subs.iter().any(Vec::is_empty)) {
        known.style = row.style;
    }
    known.letters |= row.letters;
    known.versions |= row.versions;
    known.options_first |= row.options_first;
    known.globals_first |= row.globals_first;
    known.modes |= row.modes;
    known.method |= row.method;
    known.assigns |= row.assigns;
    known.shell |= row.shell;
    known.adds_env |= row.adds_env;
    known.finds |= row.finds;
    known.unmistakable |= row.unmistakable;
    fn said<T: Clone + Default + PartialEq>(known: &mut T, row: &T) {
        if *row != T::default() {
            known.clone_from(row);
        }
    }
    said(&mut known.url_globs, &row.url_globs);
    said(&mut known.clears_env, &row.clears_env);
    said(&mut known.unsets, &row.unsets);
    said(&mut known.prints, &row.prints);
    said(&mut known.sets_up, &row.sets_up);
    said(&mut known.settings_run, &row.settings_run);
    said(&mut known.settings_files, &row.settings_files);
    said(&mut known.commands, &row.commands);
    said(&mut known.env_runs, &row.env_runs);
    said(&mut known.env_files, &row.env_files);
    said(&mut known.env_options, &row.env_options);
}

/// Replaces the level of its subcommands. Facts that it does not mention stay: options that it does not list, and how
/// another program is run, or the program's own effects.
fn replace(known: &mut Program, level: &Level) {
    for sub in &level.subs {
        let mut own = Level { subs: vec![sub.clone()], ..level.clone() };
        let mut at = 0;
        while let Some(before) = known.levels.get_mut(at) {
            if !before.subs.contains(sub) {
                at += 1;
                continue;
            }
            if own.runs.is_empty() {
                own.runs.clone_from(&before.runs);
            }
            if !level.says_effects() {
                own.does.clone_from(&before.does);
                own.none = before.none;
            }
            let named = |name: &String| level.options.iter().any(|option| option.names.contains(name));
            let others = before.options.iter().filter(|option| !option.names.iter().any(named)).cloned();
            own.options.extend(others);
            before.subs.retain(|other| other != sub);
            match before.subs.is_empty() {
                true => drop(known.levels.remove(at)),
                false => at += 1,
            }
        }
        match sub.is_empty() {
            true => known.levels.insert(0, own),
            false => known.levels.push(own),
        }
    }
}
