//! What options take, from the tables of the rooms: outputs, formats, dialects, themes, kinds of change.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};

use crate::explore::filter;
use rulestep_engine::dialect::{self, DIALECTS, lookup};
use rulestep_recording::FORMATS;

/// The names of these pages, without what they are asked about.
pub fn pages() -> impl Iterator<Item = &'static str> {
    PAGES.iter().filter_map(|(name, _)| name.split_whitespace().next())
}

/// Pages of `explain` beside those of codes, languages and formats, with their titles.
pub const PAGES: [(&str, &str); 5] = [
    ("formats", "every format of recordings, and where its files are"),
    ("marks", "the marks in the output and in the workbench"),
    ("filter", "the terms of `--where` and of the filters in the workbench"),
    ("facts", "what Rulestep takes each program and tool to read, write and contact"),
    (
        "shell 'COMMAND'",
        "what one command line runs, reads, writes and contacts, and with -p what is decided; it is not run",
    ),
];

/// Threads of one process: more only wait for each other, and a mistyped number must not take the machine.
const MOST_THREADS: u64 = 256;

/// A number that says how many, and not none.
pub fn at_least_one() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
}

/// What `--jobs` takes.
pub fn threads() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(0..=MOST_THREADS)
}

/// Formats by name, each with its title.
pub fn formats(known: impl Iterator<Item = (&'static str, &'static str)>) -> PossibleValuesParser {
    PossibleValuesParser::new(known.map(|(name, title)| PossibleValue::new(name).help(title)))
}

pub fn theme_help() -> String {
    let names = crate::workbench::theme::BUILTIN.iter().map(|(name, _)| *name);
    format!(
        "Colour theme of the workbench: {} [default: ansi-dark, or ansi-light on a light terminal; mono if NO_COLOR is set]",
        listed(names)
    )
}

pub fn where_help() -> String {
    let keys = listed(filter::keys());
    format!("{WHERE} Keys: {keys}")
}

/// The same for `suggest`, which has no policy.
pub fn where_help_without_policy() -> String {
    let keys = listed(filter::keys().filter(|key| !matches!(*key, "rule" | "code")));
    format!(
        "{WHERE} Keys: {keys}. No policy decides here, so `is:` takes only `error`, `refused` and `unanswered`"
    )
}

const WHERE: &str = "Use only sessions that match all terms of this filter; all calls of such a session are used. Terms: words, `\"two words\"`, `/regex/`, `!TERM` (not), and KEY:VALUE such as `tool:deploy`, `since:7d` or `turn:3..9`. Terms about calls must match the same call. `rulestep explain filter` says what each term matches.";

pub fn from_help() -> String {
    let names = listed(FORMATS.iter().map(|format| format.name));
    format!("Read all recordings as this format, instead of recognising the format of each: {names}")
}

pub fn only_help() -> String {
    format!("Use only policies in this one language: {}", listed(DIALECTS.iter().map(|dialect| dialect.name)))
}

pub fn languages() -> String {
    format!("One of {}", listed(DIALECTS.iter().map(|dialect| dialect.name)))
}

pub fn kinds() -> String {
    format!("A policy language ({}), or `case`", listed(DIALECTS.iter().map(|dialect| dialect.name)))
}

pub fn explained() -> String {
    "A code, a policy language, one of its keys, a format of recordings, or a topic such as `marks`. Without it, lists all pages. With --at: the recordings to search".to_owned()
}

/// The same with every kind of page on its own line.
pub fn explained_in_full() -> String {
    let dialects = listed(DIALECTS.iter().map(|dialect| dialect.name));
    let kinds = [
        "a code, such as `resource_unmatched`".to_owned(),
        format!("a policy language: {dialects}"),
        "a key of a policy language, such as `contract.preconditions.match`".to_owned(),
        "a format of recordings, such as `claude-code`".to_owned(),
        "`semantics`: the rules by which Rulestep decides calls".to_owned(),
    ];
    let pages = PAGES.map(|(name, title)| format!("`{name}`: {title}"));
    let kinds: Vec<_> = kinds.into_iter().chain(pages).map(|kind| format!("- {kind}")).collect();
    let kinds = kinds.join("\n");
    format!(
        "The page to print; without it, a list of all pages. With --at, the recordings to search. A page is one of:\n{kinds}"
    )
}

/// What `explain` has a page of. Only completions are made of it: with `--at`, the arguments are recordings.
#[derive(Clone)]
pub struct Explained;

impl TypedValueParser for Explained {
    type Value = String;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        value.to_str().map(str::to_owned).ok_or_else(|| clap::Error::new(ErrorKind::InvalidUtf8))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let codes = dialect::codes().map(|page| page.code.as_str());
        let dialects = DIALECTS.iter().map(|dialect| dialect.name);
        let keys = lookup::paths().iter().map(String::as_str);
        let formats = FORMATS.iter().map(|format| format.name);
        let all = dialects.chain(keys).chain(codes).chain(formats).chain(pages()).chain(["semantics"]);
        Some(Box::new(all.map(PossibleValue::new)))
    }
}

fn listed(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
