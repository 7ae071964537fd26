//! The words after a program, told apart: options, their values, operands.

use std::collections::HashMap;

use super::word::Word;

/// How a program reads its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Style {
    /// `-rf` is `-r -f`, `--name=value`; options may come after operands.
    Gnu,
    /// `-name` is one option: `terraform`, `find`, `openssl`.
    OneDash,
}

/// An option as given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its name with its dashes.
    pub name: String,
    /// Its value, where it has one.
    pub value: Option<Word>,
}

/// The words of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    /// Options in order.
    pub options: Vec<Given>,
    /// Everything else.
    pub operands: Vec<Word>,
    /// An option before the operand at this place that is not in the table: the operand may be its value.
    pub doubtful: Option<(usize, String)>,
    /// A word that could be an option.
    pub open: Option<String>,
    /// Options that words begin which are in no table, under their whole names: `--outpu` of `sort`. Where they take values,
    /// the next word may be one.
    pub begun: Vec<Given>,
}

/// Reads the words. `takes` names the options with a value (`-n=--namespace` where one has two
/// spellings), `knows` those without; `begun` are lists of those that the beginning of a word is enough for.
pub fn arguments(
    words: &[Word],
    takes: &[&str],
    knows: &dyn Fn(&str) -> bool,
    begun: &[&str],
    style: Style,
) -> Arguments {
    let valued = |name: &str| takes.iter().any(|list| list.split([' ', '=']).any(|taken| taken == name));
    let mut letters = HashMap::new();
    let mut kind = move |letter: char| {
        *letters.entry(letter).or_insert_with(|| {
            let name = format!("-{letter}");
            Letter { valued: valued(&name), known: knows(&name) }
        })
    };
    let mut read = Arguments::default();
    let mut rest = words.iter();
    let mut ended = false;
    while let Some(word) = rest.next() {
        let start = word.start();
        if ended || !start.starts_with('-') || start == "-" && word.known().is_some() {
            if !ended && word.is_open() && read.open.is_none() {
                read.open = word.unclear().map(str::to_owned);
            }
            read.operands.push(word.clone());
        } else if word.known() == Some("--") {
            ended = true;
        } else if start.starts_with("--") || style == Style::OneDash {
            let (name, mut value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word.clone(), None),
            };
            // Which option it is is not known: `--$f`, `--force$X`.
            if let Some(part) = name.unclear().filter(|_| read.open.is_none()) {
                read.open = Some(part.to_owned());
            }
            let name = name.to_string();
            let listed = valued(&name);
            if style == Style::Gnu && !listed && !knows(&name) {
                for whole in beginning(&name, begun) {
                    let next = || rest.as_slice().first().filter(|_| valued(whole)).cloned();
                    let value = value.clone().or_else(next);
                    read.begun.push(Given { name: whole.to_owned(), value });
                }
            }
            if value.is_none() && listed {
                value = rest.next().cloned();
            } else if value.is_none() && !knows(&name) && read.doubtful.is_none() {
                read.doubtful = Some((read.operands.len(), name.clone()));
            }
            read.options.push(Given { name, value });
        } else {
            // The whole of it, for tables that have `-name`.
            if start.chars().count() > 2 && valued(start) {
                read.options.push(Given { name: start.to_owned(), value: rest.next().cloned() });
            } else {
                cluster(word, &mut rest, &mut kind, &mut read);
            }
        }
    }
    read
}

/// The long options that a word begins.
fn beginning<'l>(name: &str, lists: &[&'l str]) -> Vec<&'l str> {
    if name.len() < 3 {
        return Vec::new();
    }
    let options = lists.iter().flat_map(|list| list.split([' ', '=']));
    options.filter(|option| option.starts_with(name)).collect()
}

/// What the table says of an option of one letter.
#[derive(Clone, Copy)]
struct Letter {
    valued: bool,
    known: bool,
}

/// `-rf`, `-ofile`, `-o file`.
fn cluster(
    word: &Word,
    rest: &mut std::slice::Iter<'_, Word>,
    kind: &mut dyn FnMut(char) -> Letter,
    read: &mut Arguments,
) {
    let mut letters = word.start().char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        let name = format!("-{letter}");
        let Letter { valued, known } = kind(letter);
        if valued {
            let joined = word.after(at + letter.len_utf8());
            let value = if joined.pieces.is_empty() { rest.next().cloned() } else { Some(joined) };
            read.options.push(Given { name, value });
            return;
        }
        if letters.peek().is_none() && !known && !letter.is_ascii_digit() && read.doubtful.is_none() {
            read.doubtful = Some((read.operands.len(), name.clone()));
        }
        read.options.push(Given { name, value: None });
    }
    if word.unclear().is_some() {
        read.open = read.open.take().or_else(|| word.unclear().map(str::to_owned));
    }
}

impl Arguments {
    /// Whether an option of this list was given.
    pub fn has(&self, names: &str) -> bool {
        self.options.iter().any(|given| names.split(' ').any(|name| name == given.name))
    }

    /// Whether one was given, or the beginning of its name.
    pub fn may_have(&self, names: &str) -> bool {
        self.has(names) || self.begun.iter().any(|given| names.split(' ').any(|name| name == given.name))
    }

    /// The values of these options.
    pub fn values<'a>(&'a self, names: &'a str) -> impl Iterator<Item = &'a Word> {
        let named = |given: &&Given| names.split(' ').any(|name| name == given.name);
        self.options.iter().chain(&self.begun).filter(named).filter_map(|given| given.value.as_ref())
    }
}
