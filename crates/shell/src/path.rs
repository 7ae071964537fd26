//! Paths of calls, in every form in which a pattern may name them.

use std::sync::Arc;

use super::Answer;
use super::above;
use super::choice::Choice;
use super::facts::Table;
use super::glob::Glob;
use super::word::{Piece, Symbol, Word};
use rulestep_base::session::UNKNOWN_FOLDER;

mod pattern;

pub use pattern::Patterns;

/// The folder of the recording, and the home folder if known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Root {
    /// The absolute path of the folder in which the session began.
    pub folder: Option<String>,
    /// The folder to which the call's relative paths refer, if it is another; or that it is unknown.
    pub here: Option<String>,
    /// The home folder, if it is known; otherwise it is derived from the shape of paths.
    pub home: Option<String>,
    /// The facts about programs and tools there.
    pub facts: Table,
}

/// Whether a path begins with the letter of a drive: `C:\\x`.
pub fn is_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
}

impl Root {
    /// The root of a call that is made in a folder, of a session that began in one. If only the call's folder is known,
    /// it is taken as the session's.
    pub fn of(folder: &str, here: Option<&str>, facts: Table) -> Root {
        let owned = |path: &str| path.starts_with('/').then(|| path.to_owned());
        let (folder, unknown) = (owned(folder), here == Some(UNKNOWN_FOLDER));
        match (folder, here.and_then(owned)) {
            (folder, _) if unknown => Root { folder, here: here.map(str::to_owned), home: None, facts },
            (None, here) => Root { folder: here, here: None, home: None, facts },
            (folder, here) => {
                Root { here: here.filter(|here| folder.as_ref() != Some(here)), folder, home: None, facts }
            }
        }
    }

    /// The same with this home folder, if it is an absolute path.
    pub fn at_home(self, home: Option<&str>) -> Root {
        Root { home: home.filter(|home| home.starts_with('/')).map(str::to_owned), ..self }
    }

    /// Whether the system takes names that differ in case alone for one, as those of Apple and Microsoft do.
    pub fn folds(&self) -> bool {
        let folder = self.folder.as_deref().or(self.here.as_deref()).unwrap_or_default();
        self.facts.folds() || folder.starts_with("/Users/") || is_drive(folder)
    }

    /// The folder from which relative paths are taken, as a word.
    pub fn here(&self) -> Word {
        match self.here.as_deref() {
            Some(UNKNOWN_FOLDER) => Word::unknown("the folder of the call"),
            here => Word::text(here.unwrap_or(".")),
        }
    }
}

/// A path as it can be named: absolute, from the home folder, from the session's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    forms: Vec<Form>,
    /// Whether it lies in the session's folder, which is `folder` if known: empty for the root.
    inside: bool,
    /// Whether a search came through its folders.
    searched: bool,
    /// Whether it is a file of a working tree, and so none that git keeps itself.
    tracked: bool,
    folder: Option<Vec<Symbol>>,
    /// The home folder, if it is known.
    home: Option<Vec<Symbol>>,
    /// Whether it is a variable of the environment.
    environment: bool,
    /// Whether its forms are in small letters, since the system ignores case.
    folds: bool,
    /// Which of its files are selected.
    choice: Option<Arc<Choice>>,
    unclear: Option<String>,
    shown: String,
}

/// One way to name a path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Form {
    symbols: Vec<Symbol>,
    /// The same as a text, if it is known.
    text: Option<String>,
}

/// A letter as a small one.
fn folded(symbol: Symbol) -> Symbol {
    match symbol {
        Symbol::Char(letter) => Symbol::Char(letter.to_lowercase().next().unwrap_or(letter)),
        gap => gap,
    }
}

/// The letter of a symbol, if it is known.
fn letter(symbol: &Symbol) -> Option<char> {
    match symbol {
        Symbol::Char(letter) => Some(*letter),
        Symbol::NameStart | Symbol::AnyName | Symbol::Any => None,
    }
}

impl Form {
    fn new(symbols: Vec<Symbol>) -> Form {
        Form { text: symbols.iter().map(letter).collect(), symbols }
    }

    /// The content of the folder of this name under another name.
    fn inside(&self, name: &[Symbol]) -> Form {
        let mut symbols = self.symbols.clone();
        if symbols.last() != Some(&Symbol::Char('/')) {
            symbols.push(Symbol::Char('/'));
        }
        symbols.extend_from_slice(name);
        Form::new(symbols)
    }

    fn matches(&self, glob: &Glob, unclear: Option<&str>) -> Answer {
        match &self.text {
            Some(text) => glob.text(text),
            None => glob.symbols(&self.symbols, unclear),
        }
    }
}

/// Files of a working tree that git keeps track of, as the word for their names.
pub const TRACKED: &str = "{tracked}";
/// Files there that it does not know.
pub const UNTRACKED: &str = "{untracked}";

/// Names of the environment's variables are paths of their own kind.
pub const ENVIRONMENT: &str = "env:";

impl Place {
    /// The path that a word names in a folder.
    pub fn new(word: &Word, folder: &Word, root: &Root) -> Place {
        let mut whole = Word::default();
        if is_relative(word) {
            whole.append(folder);
            whole.push("/");
        }
        whole.append(word);
        let (forms, inside) = forms(normal(&whole.symbols()), root);
        let environment = forms.first().is_some_and(|path| is_environment(path));
        let folds = root.folds() && !environment;
        let cased = |path: Vec<Symbol>| if folds { path.into_iter().map(folded).collect() } else { path };
        let known =
            |path: &Option<String>| path.as_deref().map(|path| cased(chars(path.trim_end_matches('/'))));
        let (folder, home) = (known(&root.folder), known(&root.home));
        Place {
            environment,
            folds,
            choice: None,
            forms: forms.into_iter().map(|form| Form::new(cased(form))).collect(),
            inside,
            searched: whole.unclear() == Some("{}"),
            tracked: matches!(whole.unclear(), Some(TRACKED | UNTRACKED)),
            folder,
            home,
            unclear: whole.unclear().is_some().then(|| word.to_string()),
            shown: shown(&whole),
        }
    }

    /// The same folder, with some files selected.
    pub fn choosing(&mut self, choice: &Arc<Choice>) {
        self.choice = Some(Arc::clone(choice));
    }

    /// Its form on the screen.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The names by which it is certainly known: a file has several, and two files have none in common.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.forms.iter().filter_map(|form| form.text.as_deref())
    }

    /// Its names, each with whether it is a guess. If the home folder is unknown, only forms that hold everywhere
    /// count.
    fn named(&self) -> impl Iterator<Item = (bool, &Form)> {
        let guessed = |at: usize, form: &Form| at > 0 && form.symbols.get(1) == Some(&Symbol::Any);
        self.forms.iter().enumerate().map(move |(at, form)| (guessed(at, form), form))
    }

    /// Whether an unknown part of it may contain folders.
    fn is_open(&self) -> bool {
        self.forms.first().is_some_and(|form| form.symbols.contains(&Symbol::Any))
    }

    /// The path that a shell pattern spells, without its `*`; `None` if it is not such a pattern, or some of its
    /// letters are unknown.
    fn spelt(&self) -> Option<Place> {
        let letters = |form: &Form| {
            let known = form.symbols.iter().filter(|symbol| **symbol != Symbol::AnyName);
            known.map(|symbol| letter(symbol).map(Symbol::Char)).collect::<Option<Vec<_>>>()
        };
        let forms = || self.forms.iter().filter_map(letters);
        let is_pattern =
            self.forms.first().is_some_and(|form| form.text.is_none() && letters(form).is_some());
        (is_pattern && !self.environment)
            .then(|| Place { forms: forms().map(Form::new).collect(), ..self.clone() })
    }

    /// Whether one of its names holds the place where a pattern begins.
    fn holds(&self, place: &[Symbol]) -> Answer {
        let mut here = Vec::new();
        if let Some(folder) = self.folder.as_ref().filter(|folder| !folder.is_empty()) {
            here.push(folder.clone());
            let home = below_home(folder, self.home.as_deref());
            here.extend(home.map(|rest| [&[Symbol::Char('~')], rest].concat()));
        }
        // The home folder is unknown.
        let said = self.forms.iter().filter(|form| form.symbols.get(1) != Some(&Symbol::Any));
        // A place in the home folder is also one of the whole file system, if the home folder is known.
        let at_home = self.home.as_ref().and_then(|home| Some([home, in_home(place)?].concat()));
        let places = || std::iter::once(place).chain(at_home.as_deref());
        let held = |form: &Form| Answer::any(places().map(|place| above::holds(&form.symbols, place, &here)));
        match Answer::any(said.map(held)) {
            Answer::Perhaps(_) => Answer::Perhaps(self.unclear.as_ref().unwrap_or(&self.shown).clone()),
            answer => answer,
        }
    }

    /// Whether it is called as a file is: `main.rs`, and neither `conf.d` nor `.ssh`.
    fn is_named_as_file(&self) -> bool {
        let text = self.forms.first().and_then(|form| form.text.as_deref()).unwrap_or_default();
        let name = text.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').is_some_and(|(stem, end)| {
            !stem.trim_matches('.').is_empty()
                && matches!(end.len(), 1..=5)
                && end != "d"
                && end.starts_with(|letter: char| letter.is_ascii_alphabetic())
                && end.chars().all(|letter| letter.is_ascii_alphanumeric())
        })
    }

    /// Its unknown part.
    pub fn unclear(&self) -> Option<&str> {
        self.unclear.as_deref()
    }
}

fn is_environment(path: &[Symbol]) -> bool {
    ENVIRONMENT.chars().enumerate().all(|(at, letter)| path.get(at) == Some(&Symbol::Char(letter)))
}

fn shown(word: &Word) -> String {
    if word.unclear().is_some() {
        let text = word.to_string();
        return text.strip_prefix("./").map(|rest| rest.trim_start_matches("./").to_owned()).unwrap_or(text);
    }
    let text: String = normal(&word.symbols())
        .iter()
        .map(|symbol| match symbol {
            Symbol::Char(letter) => *letter,
            Symbol::Any | Symbol::AnyName | Symbol::NameStart => '*',
        })
        .collect();
    text.strip_prefix("./").map(str::to_owned).unwrap_or(text)
}

/// Whether the folder decides which path a word names.
pub fn is_relative(word: &Word) -> bool {
    match word.pieces.first() {
        Some(Piece::Text(text)) => !text.starts_with('/') && !text.starts_with(ENVIRONMENT),
        Some(Piece::Home | Piece::Unknown(_)) => false,
        Some(Piece::Pattern(_)) | None => true,
    }
}

/// Without `.`, `..` and doubled `/`; begins with `/`, `~`, `.`, `..` or a gap.
fn normal(symbols: &[Symbol]) -> Vec<Symbol> {
    let slash = Symbol::Char('/');
    let absolute = symbols.first() == Some(&slash);
    let mut names: Vec<&[Symbol]> = Vec::new();
    let (here, up) = ([Symbol::Char('.')], [Symbol::Char('.'), Symbol::Char('.')]);
    for name in symbols.split(|symbol| *symbol == slash) {
        if name.is_empty() || (name == here && !names.is_empty()) || (name == here && absolute) {
            continue;
        }
        if name == up {
            match names.last() {
                Some(last) if **last == here => {
                    names.pop();
                }
                Some(last)
                    if **last != up && !last.contains(&Symbol::Any) && **last != [Symbol::Char('~')] =>
                {
                    names.pop();
                    continue;
                }
                None if absolute => continue,
                _ => {}
            }
        }
        names.push(name);
    }
    let mut path = Vec::new();
    let rooted = absolute || names.first().is_some_and(|name| begins(name, &here, &up));
    if !rooted {
        path.push(Symbol::Char('.'));
    }
    for (at, name) in names.iter().enumerate() {
        if at > 0 || absolute || !rooted {
            path.push(slash);
        }
        path.extend_from_slice(name);
    }
    if path.is_empty() {
        path.push(if absolute { slash } else { Symbol::Char('.') });
    }
    path
}

/// Whether a first name already determines where the path begins.
fn begins(name: &[Symbol], here: &[Symbol], up: &[Symbol]) -> bool {
    let environment = name.len() > ENVIRONMENT.len() && is_environment(name);
    environment || name == here || name == up || matches!(name, [Symbol::Char('~'), ..] | [Symbol::Any, ..])
}

fn chars(text: &str) -> Vec<Symbol> {
    text.chars().map(Symbol::Char).collect()
}

/// All the forms of a path, and whether it is in the session's folder.
fn forms(path: Vec<Symbol>, root: &Root) -> (Vec<Vec<Symbol>>, bool) {
    let slash = Symbol::Char('/');
    let known = |path: &Option<String>| path.as_deref().map(|path| chars(path.trim_end_matches('/')));
    let (folder, home) = (known(&root.folder), known(&root.home));
    let mut forms = vec![path.clone()];
    match (path.first(), &folder) {
        (Some(Symbol::Char('/')), _) => forms.extend(others(&path, folder.as_deref(), home.as_deref())),
        (Some(Symbol::Char('.')), Some(folder)) => {
            let absolute = normal(&folder.iter().copied().chain([slash]).chain(path).collect::<Vec<_>>());
            forms.extend(others(&absolute, Some(folder), home.as_deref()));
            forms.push(absolute);
        }
        (Some(Symbol::Char('~')), _) => match (home, in_home(&path)) {
            (Some(home), Some(rest)) => {
                let absolute = normal(&[&home, rest].concat());
                forms.extend(folder.as_deref().map(|folder| from(folder, &absolute)));
                forms.push(absolute);
            }
            _ => forms.push([slash, Symbol::Any].into_iter().chain(path.into_iter().skip(1)).collect()),
        },
        _ => {}
    }
    let inside = forms.iter().any(|form| {
        matches!(form.as_slice(), [Symbol::Char('.')] | [Symbol::Char('.'), Symbol::Char('/'), ..])
    });
    (forms, inside)
}

/// An absolute path from the session's folder and from the home folder.
fn others(absolute: &[Symbol], folder: Option<&[Symbol]>, home: Option<&[Symbol]>) -> Vec<Vec<Symbol>> {
    let named =
        |letter, rest: &[Symbol]| std::iter::once(Symbol::Char(letter)).chain(rest.iter().copied()).collect();
    let here = folder.map(|folder| from(folder, absolute));
    here.into_iter().chain(below_home(absolute, home).map(|rest| named('~', rest))).collect()
}

/// An absolute path relative to a folder: `./x` in it, `../x` beside it.
fn from(folder: &[Symbol], absolute: &[Symbol]) -> Vec<Symbol> {
    let names = |path: &[Symbol]| -> Vec<Vec<Symbol>> {
        let names = path.split(|symbol| *symbol == Symbol::Char('/'));
        names.filter(|name| !name.is_empty()).map(<[_]>::to_vec).collect()
    };
    let (folder, path) = (names(folder), names(absolute));
    let shared = folder.iter().zip(&path).take_while(|(one, other)| one == other).count();
    let up = folder.len() - shared;
    let first = if up == 0 { vec!["."] } else { vec![".."; up] };
    let first = first.into_iter().map(chars);
    let names: Vec<_> = first.chain(path.into_iter().skip(shared)).collect();
    names.join(&Symbol::Char('/'))
}

/// The rest of a path after `~`, `/` included.
fn in_home(path: &[Symbol]) -> Option<&[Symbol]> {
    let rest = path.strip_prefix(&[Symbol::Char('~')])?;
    rest.first().is_none_or(|next| *next == Symbol::Char('/')).then_some(rest)
}

/// The rest after the home folder, or after a path that has the shape of one: the home folders of others are protected
/// as well.
fn below_home<'p>(path: &'p [Symbol], home: Option<&[Symbol]>) -> Option<&'p [Symbol]> {
    let ends = |rest: &&[Symbol]| rest.first().is_none_or(|next| *next == Symbol::Char('/'));
    if let Some(rest) = home.and_then(|home| path.strip_prefix(home)).filter(ends) {
        return Some(rest);
    }
    for homes in ["/home/", "/Users/", "/users/"] {
        if let Some(rest) = path.strip_prefix(chars(homes).as_slice()) {
            let end = rest.iter().position(|symbol| *symbol == Symbol::Char('/')).unwrap_or(rest.len());
            return rest.get(end..);
        }
    }
    let rest = path.strip_prefix(chars("/root").as_slice())?;
    rest.first().is_none_or(|next| *next == Symbol::Char('/')).then_some(rest)
}
