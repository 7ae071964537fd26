//! The words of a command, classified, and questions about them.

use super::Answer;
use super::facts::{Inner, Level, Run, Shell, Takes};
use super::word::Word;

/// An option as given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its name with its dashes.
    pub name: String,
    /// Its value, if it has one.
    pub value: Option<Word>,
    /// The place of the level that lists it, among those of the command.
    pub level: Option<usize>,
}

/// The words of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments<'p> {
    /// The rows of the program and of its subcommand, the program first.
    pub levels: Vec<&'p Level>,
    /// The index of the first level whose options may come at the end of the command.
    pub first: usize,
    /// Options in order.
    pub options: Vec<Given>,
    /// Everything else, the subcommand first.
    pub operands: Vec<Word>,
    /// The number of operands that are the subcommand.
    pub skipped: usize,
    /// Options that the row does not list and that may have taken the next word, each with its place among the words.
    pub unlisted: Vec<(usize, String)>,
    /// The first of them, with the number of operands before it.
    pub doubtful: Option<(usize, String)>,
    /// A word that could be an option.
    pub open: Option<String>,
    /// A word that is or holds unknown options.
    pub hidden: Option<String>,
    /// Listed options that a word begins and that are not alone in that: `--outpu` of `sort`.
    pub begun: Vec<Given>,
    /// The place of the first word that was not read, where another program begins.
    pub inner: usize,
    /// The number of missing operands before that program.
    pub missing: usize,
    /// Whether an option that is not listed is taken to have the next word as its value.
    pub assumed: bool,
    /// Letters of options in a first word without a dash.
    pub bare: String,
    /// The number of operands before `--`.
    pub ended: Option<usize>,
}

/// Values that switch an option off.
const OFF: [&str; 6] = ["false", "no", "off", "none", "0", "f"];

/// Whether an option is one of these.
pub fn is_any(names: &[String], given: &Given) -> bool {
    names.contains(&given.name)
}

impl<'p> Arguments<'p> {
    /// Whether an option of this list was given.
    pub fn has(&self, names: &str) -> bool {
        self.options.iter().any(|given| names.split(' ').any(|name| name == given.name))
    }

    /// The same for the names of a row.
    pub fn has_any(&self, names: &[String]) -> bool {
        self.options.iter().any(|given| is_any(names, given))
    }

    /// Whether an option is in force: given, and not switched off again by its value or as `--no-NAME`. The last one decides.
    pub fn state(&self, is_it: impl Fn(&str) -> bool) -> Answer {
        let own = |given: &Given| match given.name.strip_prefix("--no-") {
            _ if is_it(&given.name) => Some(self.switches(given)),
            Some(name) if is_it(&format!("--{name}")) => Some(Answer::No),
            _ => None,
        };
        self.options.iter().rev().find_map(own).unwrap_or(Answer::No)
    }

    /// Whether an option that is given is on: `--dry-run=false` is not.
    fn switches(&self, given: &Given) -> Answer {
        let Some(value) = &given.value else { return Answer::Yes };
        let level = given.level.and_then(|at| self.levels.get(at));
        let takes = level.and_then(|level| level.option(&given.name)).map(|option| option.takes);
        let is_off = value.known().is_some_and(|text| OFF.contains(&text.to_ascii_lowercase().as_str()));
        match (value.unclear(), takes) {
            // A value like any other, perhaps.
            (None, Some(Takes::Words(_))) if is_off => Answer::Perhaps(format!("{} {value}", given.name)),
            (_, Some(Takes::Words(_))) => Answer::Yes,
            (Some(word), _) => Answer::Perhaps(word.to_owned()),
            (None, _) => Answer::from(!is_off),
        }
    }

    /// The same for the names of a row, also after `--` if the subcommand has no such option: `cargo fmt -- --check`.
    pub fn in_force(&self, names: &[String]) -> Answer {
        let is_listed = |name: &str| self.levels.last().is_some_and(|level| level.option(name).is_some());
        let is_passed_on = |word: &Word| {
            let text = word.known().filter(|text| names.iter().any(|name| name == text));
            text.is_some_and(|text| !is_listed(text))
        };
        let after = self.ended.and_then(|at| self.operands.get(at..)).unwrap_or_default();
        self.state(|name| names.iter().any(|own| own == name)).or(|| after.iter().any(is_passed_on).into())
    }

    /// Whether one of these is certainly in force.
    pub fn is_on(&self, names: &[String]) -> bool {
        self.in_force(names) == Answer::Yes
    }

    /// Whether one of these is in force, or perhaps: its name is begun, or a word may hold it.
    pub fn may_have(&self, names: &[String]) -> Answer {
        let begun = || self.begun.iter().any(|given| is_any(names, given)).into();
        let hidden = || self.hidden.clone().map_or(Answer::No, Answer::Perhaps);
        self.in_force(names).or(begun).or(hidden)
    }

    /// The values of these options.
    pub fn values<'a>(&'a self, names: &'a str) -> impl Iterator<Item = &'a Word> {
        let named = |given: &&Given| names.split(' ').any(|name| name == given.name);
        self.options.iter().chain(&self.begun).filter(named).filter_map(|given| given.value.as_ref())
    }

    /// The same for the names of a row.
    pub fn values_of<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = &'a Word> {
        let named = |given: &&Given| is_any(names, given);
        self.options.iter().chain(&self.begun).filter(named).filter_map(|given| given.value.as_ref())
    }

    /// The folders that options name in which the program then runs; not for `git commit -C REVISION`.
    pub fn folders(&self) -> impl Iterator<Item = &Word> {
        let changes = |given: &&Given| {
            let level = given.level.and_then(|at| self.levels.get(at));
            level.is_some_and(|level| level.chdir.contains(&given.name))
        };
        self.options.iter().filter(changes).filter_map(|given| given.value.as_ref())
    }

    /// The operands after the subcommand.
    pub fn rest(&self) -> &[Word] {
        self.operands.get(self.skipped..).unwrap_or_default()
    }

    /// The value of one of these options, the first that was given.
    pub fn option(&self, names: &str) -> Option<&Word> {
        self.options.iter().find(|given| names.split(' ').any(|name| name == given.name))?.value.as_ref()
    }

    /// The values that a shell reads.
    pub fn scripts(&self, inner: &Inner) -> Vec<Word> {
        let (Inner::Value(names) | Inner::ValueOrWords(names) | Inner::ValueAndWords(names)) = inner else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for given in &self.options {
            let Some(value) = &given.value else { continue };
            for name in names {
                match name.split_once('@') {
                    None if *name == given.name => found.push(value.clone()),
                    Some((option, key)) if option == given.name => found.extend(after_key(value, key)),
                    _ => {}
                }
            }
        }
        found
    }

    /// Whether the exit status of the program is independent of what it runs.
    pub fn is_apart(&self, run: &Run) -> bool {
        run.apart.as_ref().is_some_and(|apart| {
            (apart.with.is_empty() || self.is_on(&apart.with)) && !self.is_on(&apart.without)
        })
    }

    /// Whether a shell is run where no program is named.
    pub fn asks_shell(&self, run: &Run) -> bool {
        match &run.shell {
            Shell::Never => false,
            Shell::Always => true,
            Shell::With(options) => self.is_on(options),
        }
    }
}

/// `KEY=SCRIPT` and `KEY SCRIPT`, whatever the case of its letters.
fn after_key(value: &Word, key: &str) -> Option<Word> {
    let start = value.start();
    let name = start.get(..key.len()).filter(|name| name.eq_ignore_ascii_case(key))?;
    let rest = start.get(name.len()..)?;
    rest.starts_with(['=', ' ']).then(|| value.after(name.len() + 1))
}
