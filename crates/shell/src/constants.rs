//! Variables of a line: their values, and which of them programs see.
//!
//! A value is followed only if every path to this place gives the variable the same one. Anything that may have changed
//! it unseen makes it unknown: a branch, a loop, a trap, an unknown program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::word::{Piece, Word};

/// A variable that the line sets for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// A value that it may have.
    pub value: Word,
    /// The word that decides whether it has this value, if that is unknown.
    pub doubt: Option<String>,
}

/// The variables that the line sets for a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Those with known names.
    pub set: Vec<Variable>,
    /// The word that may have set any other.
    pub open: Option<String>,
}

/// Whether programs see a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exported {
    No,
    /// It is exported if it was before the line began.
    Perhaps,
    Yes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Constant {
    /// The values that it may have; a gap in one is not known.
    values: Vec<Word>,
    /// Whether it has one of these values on every path.
    certain: bool,
    exported: Exported,
    /// Whether it can no longer be changed.
    fixed: bool,
}

/// The variables of a shell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constants(Arc<State>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct State {
    known: BTreeMap<String, Constant>,
    /// The word that may have set any other.
    open: Option<String>,
    /// Those that something may change at any time.
    volatile: BTreeSet<String>,
    all_volatile: bool,
    /// The environment of the next call, once one has asked for it.
    environment: Option<Option<Arc<Environment>>>,
}

/// The most variables of a line that are followed.
const MOST: usize = 64;
/// The longest value that is followed, in bytes: values can hold each other.
const LONGEST: usize = 1024;
/// The most values that a variable may have.
const VALUES: usize = 4;

/// Variables that the shell itself changes.
const OWN: &str = "_ RANDOM SRANDOM SECONDS LINENO EPOCHSECONDS EPOCHREALTIME UID EUID PPID GROUPS DIRSTACK FUNCNAME HISTCMD \
     SHELLOPTS PIPESTATUS OPTIND OPTARG OPTERR REPLY MAPFILE COPROC COMP_WORDS COMP_CWORD COMP_LINE COMP_POINT argv status";

fn is_own(name: &str) -> bool {
    name.starts_with("BASH") || OWN.split(' ').any(|own| own == name)
}

/// Whether a text is the name of a variable.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|letter: char| letter == '_' || letter.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// The names in a text, each with the text before and after it.
fn names(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let is_part = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let start = at + rest.find(is_part)?;
            let word = text.get(start..)?;
            let end = start + word.find(|letter| !is_part(letter)).unwrap_or(word.len());
            at = end;
            let name = text.get(start..end)?;
            if is_name(name) {
                return Some((text.get(..start)?, name, text.get(end..)?));
            }
        }
    })
}

impl Constants {
    fn state(&mut self) -> &mut State {
        let state = Arc::make_mut(&mut self.0);
        state.environment = None;
        state
    }

    /// Whether the line has set no variable.
    pub fn is_empty(&self) -> bool {
        self.0.known.is_empty() && self.0.open.is_none()
    }

    /// The value of a variable that the line has set; `Some(None)`: it is not known any more.
    pub fn get(&self, name: &str) -> Option<Option<&Word>> {
        let constant = self.0.known.get(name)?;
        let volatile = self.0.all_volatile || self.0.volatile.contains(name) || is_own(name);
        Some(match constant.values.as_slice() {
            [value] if constant.certain && !volatile && !value.is_open() => Some(value),
            _ => None,
        })
    }

    /// Whether words are split at blanks alone.
    pub fn splits_at_blanks(&self) -> bool {
        !self.0.known.contains_key("IFS") && !self.0.all_volatile && !self.0.volatile.contains("IFS")
    }

    /// A variable gets a value: `None` is one that is not known.
    pub fn set(&mut self, name: &str, value: Option<Word>, exported: Option<Exported>) {
        if self.0.known.len() >= MOST && !self.0.known.contains_key(name) {
            return self.forget("more variables than are followed");
        }
        let long = |value: &Word| value.to_string().len() > LONGEST;
        let value = value.filter(|value| !long(value)).unwrap_or_else(|| Word::unknown(format!("${name}")));
        let state = self.state();
        match state.known.get_mut(name) {
            Some(constant) if constant.fixed => {
                constant.certain = false;
                constant.values.push(value);
            }
            Some(constant) => {
                (constant.values, constant.certain) = (vec![value], true);
                constant.exported = exported.unwrap_or(constant.exported);
            }
            None => {
                let exported = exported.unwrap_or(Exported::Perhaps);
                let constant = Constant { values: vec![value], certain: true, exported, fixed: false };
                state.known.insert(name.to_owned(), constant);
            }
        }
    }

    /// The same, appended to its value.
    pub fn append(&mut self, name: &str, value: Option<Word>) {
        let whole = self.get(name).flatten().zip(value).map(|(own, value)| {
            let mut whole = own.clone();
            whole.append(&value);
            whole
        });
        self.set(name, whole, None);
    }

    /// Something changes it.
    pub fn lose(&mut self, name: &str) {
        self.set(name, None, None);
    }

    /// Programs see it, or do not.
    pub fn export(&mut self, name: &str, exported: Exported) {
        if let Some(constant) = self.state().known.get_mut(name) {
            constant.exported = exported;
        }
    }

    /// It can no longer be changed.
    pub fn fix(&mut self, name: &str) {
        if let Some(constant) = self.state().known.get_mut(name) {
            constant.fixed = true;
        }
    }

    /// `unset`.
    pub fn unset(&mut self, name: &str) {
        self.set(name, None, Some(Exported::No));
    }

    /// Marks a name as redefined from here on, or as changed at any time. `None`: all names.
    pub fn taint(&mut self, name: Option<&str>) {
        let state = self.state();
        match name {
            Some(name) if state.volatile.len() < MOST => drop(state.volatile.insert(name.to_owned())),
            _ => state.all_volatile = true,
        }
    }

    /// Variables set by something that runs at any time.
    pub fn taint_all(&mut self, set: &Constants) {
        set.0.known.keys().for_each(|name| self.taint(Some(name)));
        if set.0.open.is_some() || set.0.all_volatile {
            self.taint(None);
        }
    }

    /// Any of them may have been set.
    pub fn forget(&mut self, why: &str) {
        self.forget_values();
        self.state().open.get_or_insert_with(|| why.to_owned());
    }

    /// Something may have set those that the line names.
    pub fn forget_values(&mut self) {
        for (name, constant) in &mut self.state().known {
            constant.doubt(name);
        }
    }

    /// Two ways lead to here. After the other one, variables were so.
    pub fn meet(&mut self, other: &Constants) {
        if Arc::ptr_eq(&self.0, &other.0) || self == other {
            return;
        }
        let state = self.state();
        let names: BTreeSet<&String> = state.known.keys().chain(other.0.known.keys()).collect();
        let names: Vec<String> = names.into_iter().cloned().collect();
        for name in names {
            match (state.known.get_mut(&name), other.0.known.get(&name)) {
                (Some(own), Some(theirs)) if own == theirs => {}
                (Some(own), Some(theirs)) => own.join(&name, theirs),
                (Some(own), None) => {
                    own.certain = false;
                    own.weaken();
                }
                (None, Some(theirs)) => {
                    let mut constant = Constant { certain: false, ..theirs.clone() };
                    constant.weaken();
                    state.known.insert(name, constant);
                }
                (None, None) => {}
            }
        }
        state.open = state.open.take().or_else(|| other.0.open.clone());
        state.volatile.extend(other.0.volatile.iter().cloned());
        state.all_volatile |= other.0.all_volatile;
    }

    /// The values that a text may change which runs again and again: names that it has without a `$`.
    pub fn hide(&mut self, text: &dyn Fn() -> String) {
        if !self.0.known.values().any(|constant| constant.certain) {
            return;
        }
        let text = text();
        let mut lost = Vec::new();
        for (before, name, after) in names(&text) {
            let used = before.ends_with('$') || before.ends_with("${") && after.starts_with('}');
            if !used && self.get(name).flatten().is_some() {
                lost.push(name.to_owned());
            }
        }
        for name in lost {
            if let Some(constant) = self.state().known.get_mut(&name) {
                constant.doubt(&name);
            }
        }
    }

    /// Whether a value was followed before that is another one now.
    pub fn has_lost(&self, before: &Constants) -> bool {
        !Arc::ptr_eq(&self.0, &before.0)
            && before.0.known.keys().any(|name| {
                let own = before.get(name).flatten();
                own.is_some() && self.get(name).flatten() != own
            })
    }

    /// Arithmetic that may set variables.
    pub fn arithmetic(&mut self, text: &str) {
        if self.is_empty() {
            return;
        }
        let compares =
            ["==", "!=", "<=", ">="].iter().fold(text.to_owned(), |text, sign| text.replace(sign, " "));
        // A variable's value is also read as an expression.
        let holds = |name: &str| {
            let value = self.get(name).flatten();
            value.is_some_and(|value| value.known().is_none_or(|text| text.parse::<i64>().is_err()))
        };
        if names(text).any(|(_, name, _)| holds(name)) {
            return self.forget_values();
        }
        if compares.contains('=') || compares.contains("++") || compares.contains("--") {
            if compares.contains(['$', '`']) {
                return self.forget_values();
            }
            let set: Vec<String> = names(&compares).map(|(_, name, _)| name.to_owned()).collect();
            set.iter().for_each(|name| self.lose(name));
        }
    }

    /// The variables as a started program sees them: those that the line did not export may be others there.
    pub fn enter(&mut self) {
        if self.is_empty() {
            return;
        }
        let state = self.state();
        state.known.retain(|_, constant| constant.exported != Exported::No);
        for constant in state.known.values_mut() {
            constant.fixed = false;
            constant.certain &= constant.exported == Exported::Yes;
        }
        (state.all_volatile, state.volatile) = (false, BTreeSet::new());
    }

    /// No variable of the line is set there.
    pub fn leave(&mut self) {
        *self = Constants::default();
    }

    /// The program that starts it decides which variables it sees.
    pub fn filter(&mut self) {
        for constant in self.state().known.values_mut() {
            constant.certain = false;
            constant.weaken();
        }
    }

    /// It is not in the environment.
    pub fn remove(&mut self, name: &str) {
        self.state().known.remove(name);
    }

    /// Takes over what another has of some names, and nothing else.
    pub fn restore(&mut self, names: &[String], from: &Constants) {
        for name in names {
            match from.0.known.get(name) {
                Some(constant) => drop(self.state().known.insert(name.clone(), constant.clone())),
                None => drop(self.state().known.remove(name)),
            }
        }
    }

    /// The environment of a call; `None`: the line sets nothing for it.
    pub fn environment(&mut self) -> Option<Arc<Environment>> {
        if self.is_empty() {
            return None;
        }
        if let Some(made) = &self.0.environment {
            return made.clone();
        }
        let mut made = Environment { set: Vec::new(), open: self.0.open.clone() };
        for (name, constant) in &self.0.known {
            let volatile = self.0.all_volatile || self.0.volatile.contains(name);
            let doubt = match constant.exported {
                Exported::No => continue,
                Exported::Perhaps => Some(format!("the export of {name}")),
                Exported::Yes if constant.certain && !volatile => None,
                Exported::Yes => Some(format!("the value of {name}")),
            };
            made.set.extend(constant.values.iter().map(|value| Variable {
                name: name.clone(),
                value: value.clone(),
                doubt: doubt.clone(),
            }));
        }
        let made = (!made.set.is_empty() || made.open.is_some()).then(|| Arc::new(made));
        Arc::make_mut(&mut self.0).environment = Some(made.clone());
        made
    }
}

impl Constant {
    /// Some of the ways to here do not export it.
    fn weaken(&mut self) {
        if self.exported == Exported::Yes {
            self.exported = Exported::Perhaps;
        }
    }

    /// It may have any other value.
    fn doubt(&mut self, name: &str) {
        self.certain = false;
        let unknown = Word::unknown(format!("${name}"));
        if !self.values.contains(&unknown) {
            self.values.push(unknown);
        }
        if self.exported == Exported::No {
            self.exported = Exported::Perhaps;
        }
    }

    fn join(&mut self, name: &str, other: &Constant) {
        self.certain &= other.certain && self.values == other.values;
        for value in &other.values {
            if !self.values.contains(value) {
                self.values.push(value.clone());
            }
        }
        if self.values.len() > VALUES {
            self.values = vec![Word::unknown(format!("${name}"))];
        }
        if self.exported != other.exported {
            self.exported = Exported::Perhaps;
        }
        self.fixed |= other.fixed;
    }
}

impl Environment {
    /// The same if variables may have been set differently before: a loop runs again.
    pub fn or(&self, other: &Environment) -> Environment {
        let mut both = self.clone();
        both.open = both.open.or_else(|| other.open.clone());
        for variable in &other.set {
            let known = |own: &Variable| own.name == variable.name && own.value == variable.value;
            if !both.set.iter().any(known) {
                let doubt = Some(format!("the value of {}", variable.name));
                both.set.push(Variable { doubt, ..variable.clone() });
            }
        }
        both
    }
}

/// The value of an assignment: nothing in it is a pattern.
pub fn literal(word: &Word) -> Word {
    let mut plain = Word::default();
    for piece in &word.pieces {
        match piece {
            Piece::Text(text) | Piece::Pattern(text) => plain.push(text),
            other => plain.pieces.push(other.clone()),
        }
    }
    plain
}
