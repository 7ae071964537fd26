//! Which files of a folder are selected.

use super::Answer;
use super::glob::{Glob, path_glob};
use super::word::{Piece, Symbol, Word};

/// Which files of a folder are selected by options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// `--include '*.py'`: a file has one of these names.
    pub only: Vec<FileName>,
    /// `--exclude .env`: it has none of these.
    out: Vec<LeftOut>,
}

/// Names of files as an option gives them, possibly with wildcards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileName {
    pub symbols: Vec<Symbol>,
    /// The name without its stars: a pattern `.env*` selects `.env`.
    pub spelt: Vec<Symbol>,
    /// A word of the option that is not known.
    pub unknown: Option<String>,
}

/// Files or folders that an option leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LeftOut {
    name: String,
    files: bool,
    folders: bool,
}

/// The most names of one option: `{a,b}{c,d}` has four.
const NAMES: usize = 64;

impl FileName {
    /// The names that a word means.
    pub fn new(word: &Word) -> FileName {
        let mut symbols = Vec::new();
        for piece in &word.pieces {
            match piece {
                Piece::Text(text) | Piece::Pattern(text) => symbols.extend(wildcards(text)),
                Piece::Home => symbols.push(Symbol::Char('~')),
                Piece::Unknown(_) => symbols.push(Symbol::Any),
            }
        }
        let spelt = symbols.iter().copied().filter(|symbol| *symbol != Symbol::AnyName).collect();
        let unknown = word.pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_)));
        FileName { symbols, spelt, unknown: unknown.then(|| word.to_string()) }
    }
}

/// A glob over paths, in which a star also matches names that begin with a dot.
fn wildcards(text: &str) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let class = if letter == '[' { rest.find(']') } else { None };
        let (symbol, length) = match (letter, class) {
            ('*', _) if rest.starts_with("**") => (Symbol::Any, 2),
            ('*' | '?', _) => (Symbol::AnyName, 1),
            (_, Some(end)) => (Symbol::AnyName, end + 1),
            _ => (Symbol::Char(letter), letter.len_utf8()),
        };
        symbols.push(symbol);
        rest = rest.get(length..).unwrap_or_default();
    }
    symbols
}

/// The words that braces make: `*.{ts,tsx}` is `*.ts` and `*.tsx`.
fn braces(text: &str) -> Vec<String> {
    let mut open = vec![text.to_owned()];
    let mut done = Vec::new();
    while let Some(text) = open.pop() {
        let inner = text.rfind('{').and_then(|begin| {
            let (before, rest) = text.split_at_checked(begin)?;
            let (inner, after) = rest.get(1..)?.split_once('}')?;
            inner.contains(',').then_some((before, inner, after))
        });
        match inner.filter(|_| open.len() + done.len() < NAMES) {
            Some((before, inner, after)) => {
                open.extend(inner.split(',').map(|part| format!("{before}{part}{after}")));
            }
            None => done.push(text),
        }
    }
    done
}

impl Choice {
    /// Adds a glob of files, as ripgrep reads it: what begins with `!` is left out.
    pub fn add_glob(&mut self, word: &Word) {
        if let Some(out) = word.strip_prefix("!") {
            return self.leave_out(&out, true, true);
        }
        // The last glob that fits decides.
        self.out.clear();
        let below = ["./", "/", "**/"].iter().find_map(|prefix| word.strip_prefix(prefix));
        let word = below.as_ref().unwrap_or(word);
        match word.known() {
            Some(text) => self.only.extend(braces(text).iter().map(|text| FileName::new(&Word::text(text)))),
            None => self.only.push(FileName::new(word)),
        }
    }

    /// Adds a name of files or folders, or of both, that are left out.
    pub fn leave_out(&mut self, word: &Word, files: bool, folders: bool) {
        // An unknown word certainly excludes nothing.
        if word.pieces.iter().all(|piece| !matches!(piece, Piece::Unknown(_))) {
            let names = braces(&word.to_string());
            self.out.extend(names.into_iter().map(|name| LeftOut { name, files, folders }));
        }
    }

    /// Whether it excludes everything that matches a pattern without a fixed place. `folder`: the pattern represents
    /// the contents of a folder of that name. An exclusion covers everything it matches: `--exclude '*.pem'` leaves no
    /// `a*.pem`.
    pub fn leaves_out(&self, written: &str, folder: bool) -> bool {
        let of_folder = |name: &str| name.trim_end_matches(['/', '*']).to_owned();
        let own = if folder { of_folder(written) } else { written.to_owned() };
        let own = own.rsplit('/').next().unwrap_or_default();
        self.out.iter().filter(|out| if folder { out.folders } else { out.files }).any(|out| {
            let name = if folder { of_folder(&out.name) } else { out.name.clone() };
            let name = name.rsplit('/').next().unwrap_or_default();
            Glob::new(path_glob(name)).text(own) == Answer::Yes
        })
    }

    /// Whether all files are selected.
    pub fn is_empty(&self) -> bool {
        self.only.is_empty() && self.out.is_empty()
    }
}
