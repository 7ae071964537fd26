//! Further conditions on a program: the variables that the line sets for it, its folder, options that must be absent.

use std::fmt;

use super::Answer;
use super::call::SmallCall;
use super::facts::Program;
use super::glob::Glob;
use super::options::{Arguments, Way};
use super::path::{Patterns, Place, Root, is_relative};
use super::readings::openings;
use super::word::Word;

/// A variable that the line must set, perhaps to a value that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    name: Glob,
    value: Option<Glob>,
}

impl Set {
    /// `NAME`, or `NAME=GLOB`.
    pub fn new(written: &str) -> Set {
        let (name, value) = match written.split_once('=') {
            Some((name, value)) => (name, Some(Glob::of_names(value))),
            None => (written, None),
        };
        Set { name: Glob::of_names(name), value }
    }

    /// Whether the line sets it for a call. What the session has set before is not known, and is not asked for.
    pub fn matches(&self, call: &SmallCall) -> Answer {
        let Some(env) = &call.env else { return Answer::No };
        let one = |name: &str, value: &Word, doubt: &Option<String>| {
            let named = self.name.text(name);
            let set = named.and(|| self.value.as_ref().map_or(Answer::Yes, |glob| glob.matches(value)));
            set.and(|| doubt.clone().map_or(Answer::Yes, Answer::Perhaps))
        };
        let set = Answer::any(env.set.iter().map(|own| one(&own.name, &own.value, &own.doubt)));
        set.or(|| env.open.clone().map_or(Answer::No, Answer::Perhaps))
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name.name(), self.value.as_ref().map_or("*", Glob::name))
    }
}

/// A folder in which a program must run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Within {
    written: Vec<String>,
    patterns: Patterns,
}

impl Within {
    /// A list of patterns; a folder also matches if everything below it does.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Within {
        let folder = |pattern: &'p str| {
            let whole = pattern.strip_suffix("/**").unwrap_or(pattern);
            if matches!(whole.trim_start_matches('!'), "" | "~" | "." | ".." | "**") {
                pattern
            } else {
                whole
            }
        };
        let written: Vec<&str> = patterns.into_iter().collect();
        let patterns = Patterns::new(written.iter().copied().map(folder));
        Within { written: written.into_iter().map(str::to_owned).collect(), patterns }
    }

    /// The patterns as they are written.
    pub fn written(&self) -> impl Iterator<Item = &str> {
        self.written.iter().map(String::as_str)
    }

    /// Whether a call runs there.
    pub fn matches(&self, call: &SmallCall, read: &Arguments<'_>) -> Answer {
        let owned = |path: &Option<_>| path.as_deref().map(str::to_owned);
        let root = Root { folder: owned(&call.session), home: owned(&call.home), ..Root::default() };
        let there = |folder: &Word| {
            let mut whole = folder.clone();
            for word in read.folders() {
                if is_relative(word) {
                    whole.push("/");
                    whole.append(word);
                } else {
                    whole = word.clone();
                }
            }
            self.patterns.matches(&Place::new(&Word::text("."), &whole, &root), super::Extent::Itself)
        };
        let answer = there(&call.folder);
        // If a `cd` may have failed, it runs elsewhere.
        let otherwise = call.instead.iter().find(|folder| there(folder) != answer);
        // A word that may be an option may name another one.
        let has_folders = read.levels.iter().skip(read.first).any(|level| !level.chdir.is_empty());
        match (otherwise, read.open.as_ref().filter(|_| has_folders)) {
            (None, None) => answer,
            (Some(folder), _) => Answer::Perhaps(folder.to_string()),
            (None, Some(word)) => Answer::Perhaps(word.clone()),
        }
    }
}

/// The option that no row lists and that may have taken one of these options as its value.
pub fn is_swallowed(call: &SmallCall, read: &Arguments<'_>, is_it: impl Fn(&str) -> bool) -> Option<String> {
    let before = |(place, _): &&(usize, String)| {
        let next = call.args.get(place + 1).map(Word::start).unwrap_or_default();
        is_it(next.split('=').next().unwrap_or(next))
    };
    // A program without a row has no listed options.
    let listed = read.levels.iter().any(|level| !level.options.is_empty());
    read.unlisted.iter().filter(|_| listed).find(before).map(|(_, option)| option.clone())
}

/// Whether an option belongs to the program that this one runs: `docker exec web rm x --help`. `has` says whether an own one is given.
pub fn is_inner(row: &Program, call: &SmallCall, has: impl Fn(&Arguments<'_>) -> bool) -> bool {
    row.ways().any(|(level, run)| {
        let (found, ..) = openings(row, Way { level, run }, &call.args, 1);
        found.iter().any(|read| read.inner < call.args.len() && !has(read))
    })
}
