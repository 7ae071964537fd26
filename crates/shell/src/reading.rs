//! Parsed calls, cached by each thread: many rules have questions about one call, several times each, and agents repeat
//! themselves.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

use hashbrown::{Equivalent, HashMap};

use super::Answer;
use super::call::Line;
use super::facts::Table;
use super::matcher::Surroundings;
use super::path::{Root, is_drive};
use super::question::{Copies, Question};
use super::tool::of_call;
use rulestep_base::session::{Body, Call, Facts};

/// Number of parsed calls in each thread's cache.
const KEPT: usize = 512;
/// The longest arguments that are kept, in bytes.
const LONGEST: usize = 4096;
/// Number of answers that are cached with a parsed call: reloaded policies have new questions.
const ANSWERS: usize = 4096;

/// Key of a parsed call besides its arguments: texts for a lookup, or as they are stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key<T> {
    tool: T,
    folder: T,
    /// See [`Made::folder`]; empty if it is the session's.
    here: T,
    home: T,
    facts: u64,
}

impl<T: AsRef<str>> Key<T> {
    fn with<'k, U>(&'k self, text: impl Fn(&'k str) -> U) -> Key<U> {
        let Key { tool, folder, here, home, facts } = self;
        let [tool, folder, here, home] = [tool, folder, here, home].map(|own| text(own.as_ref()));
        Key { tool, folder, here, home, facts: *facts }
    }
}

/// A key with the arguments of the call, before anything is kept.
#[derive(Hash)]
struct Asked<'k>(Key<&'k str>, &'k str);

impl Equivalent<(Key<Box<str>>, Box<str>)> for Asked<'_> {
    fn equivalent(&self, (key, arguments): &(Key<Box<str>>, Box<str>)) -> bool {
        self.0 == key.with(|text| text) && *self.1 == **arguments
    }
}

/// The effects of a call, with the answers to questions about it. An answer depends only on the question and the
/// surroundings, as long as no file is a copy of another.
pub struct Reading {
    line: Line,
    answers: RefCell<HashMap<(u64, Surroundings), Found>>,
}

#[derive(Clone)]
struct Found {
    answers: Rc<[Answer]>,
    copies: Copies,
}

impl Deref for Reading {
    type Target = Line;

    fn deref(&self) -> &Line {
        &self.line
    }
}

impl Reading {
    /// The answer for each command, and the copies that there are after them.
    pub fn answers(
        &self,
        question: &Question,
        around: Surroundings,
        copies: &Copies,
    ) -> (Rc<[Answer]>, Copies) {
        let fresh = || {
            let mut copies = copies.clone();
            let answers = question.answers(&self.line, &around, &mut copies);
            (Rc::from(answers), copies)
        };
        if !copies.is_empty() && question.asks_files() {
            return fresh();
        }
        let key = (question.number(), if question.asks_around() { around } else { Surroundings::default() });
        if let Some(found) = self.answers.borrow().get(&key) {
            return (Rc::clone(&found.answers), found.copies.clone());
        }
        let (answers, copies) = fresh();
        let mut kept = self.answers.borrow_mut();
        if kept.len() >= ANSWERS {
            kept.clear();
        }
        kept.insert(key, Found { answers: Rc::clone(&answers), copies: copies.clone() });
        (answers, copies)
    }
}

/// The latest lookup, which is nearly always repeated.
struct Last {
    arguments: Body,
    key: Key<Box<str>>,
    reading: Rc<Reading>,
}

/// Readings by their inputs.
type Readings = HashMap<(Key<Box<str>>, Box<str>), Rc<Reading>>;

thread_local! {
    static READINGS: RefCell<Readings> = RefCell::default();
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// The folder that a session begins in, as its context says.
pub fn folder(facts: &Facts) -> &str {
    let folder = said(facts);
    if folder.starts_with('/') { folder } else { "" }
}

/// The same on any system.
fn said(facts: &Facts) -> &str {
    let said = |key| facts.context.as_ref()?.get(key)?.as_str();
    ["cwd", "project"].into_iter().find_map(said).unwrap_or_default()
}

/// The user's home folder, if the session's context has it.
fn home(facts: &Facts) -> &str {
    facts.context.as_ref().and_then(|context| context.get("home")?.as_str()).unwrap_or_default()
}

/// A call and its place.
#[derive(Clone, Copy)]
pub struct Made<'c> {
    /// The tool.
    pub tool: &'c str,
    /// Its arguments.
    pub arguments: &'c Body,
    /// The working directory of the call, if the recording names one that is not the session's.
    pub folder: Option<&'c str>,
    /// The surroundings of its session.
    pub facts: &'c Facts,
}

impl<'c> Made<'c> {
    /// A recorded call.
    pub fn of(call: &'c Call, facts: &'c Facts) -> Made<'c> {
        Made { tool: &call.tool, arguments: &call.arguments, folder: call.folder.as_deref(), facts }
    }

    /// The root for its paths.
    pub fn root(&self, known: Table) -> Root {
        let known = if is_drive(said(self.facts)) { known.folding() } else { known };
        Root::of(folder(self.facts), self.folder, known).at_home(Some(home(self.facts)))
    }
}

/// The effects of a call by the facts about programs and tools. Parsed once for all rules: the same call always has the
/// same effects by the same facts.
pub fn reading(made: Made<'_>, known: &Table) -> Rc<Reading> {
    let Made { tool, arguments, facts, .. } = made;
    let (folder, here, home) = (said(facts), made.folder.unwrap_or_default(), home(facts));
    let key = Key { tool, folder, here, home, facts: known.number() };
    let last = LAST.with_borrow(|last| {
        let last = last.as_ref()?;
        let same = last.arguments.is(arguments) && last.key.with(|text| text) == key;
        same.then(|| Rc::clone(&last.reading))
    });
    if let Some(reading) = last {
        return reading;
    }
    let fresh = || {
        let line = of_call(tool, arguments.value(), &made.root(known.clone()));
        Rc::new(Reading { line, answers: RefCell::default() })
    };
    let reading = if arguments.size() > LONGEST {
        fresh()
    } else {
        let asked = Asked(key, arguments.raw());
        let read = READINGS.with_borrow(|readings| readings.get(&asked).map(Rc::clone));
        read.unwrap_or_else(|| {
            let reading = fresh();
            READINGS.with_borrow_mut(|readings| {
                if readings.len() >= KEPT {
                    readings.clear();
                }
                readings.insert((key.with(Box::from), asked.1.into()), Rc::clone(&reading));
            });
            reading
        })
    };
    let kept = Last { arguments: arguments.clone(), key: key.with(Box::from), reading: Rc::clone(&reading) };
    LAST.with_borrow_mut(|last| *last = Some(kept));
    reading
}
