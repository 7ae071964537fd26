//! Paths of calls, and lists of patterns over them that are read as a `.gitignore` is.

use std::sync::Arc;

use super::Answer;
use super::above::{self, Choice};
use super::extent::Extent;
use super::facts::Table;
use super::glob::{Glob, Token, path_glob};
use super::word::{Piece, Symbol, Word};

/// The folder of the recording, and what is known of the home folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Root {
    /// The absolute path of the folder in which the session began.
    pub folder: Option<String>,
    /// What is known of programs and tools there.
    pub facts: Table,
}

/// A path as it can be named: absolute, from the home folder, from the session's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    forms: Vec<Form>,
    /// Whether it lies in the session's folder, which is `folder` if that is known.
    inside: bool,
    /// Whether a search came through its folders.
    searched: bool,
    folder: Vec<Symbol>,
    /// Whether it is a variable of the environment.
    environment: bool,
    /// Which of the files in it are meant.
    choice: Option<Arc<Choice>>,
    unclear: Option<String>,
    shown: String,
}

/// One way to name a path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Form {
    symbols: Vec<Symbol>,
    /// The same as a text, where it is known.
    text: Option<String>,
}

/// The letter that a symbol stands for, where it is known.
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

    /// Something in the folder of this name.
    fn inside(&self) -> Form {
        let mut symbols = self.symbols.clone();
        if symbols.last() != Some(&Symbol::Char('/')) {
            symbols.push(Symbol::Char('/'));
        }
        symbols.push(Symbol::AnyName);
        Form { symbols, text: None }
    }

    fn matches(&self, glob: &Glob, unclear: Option<&str>) -> Answer {
        match &self.text {
            Some(text) => glob.text(text),
            None => glob.symbols(&self.symbols, unclear),
        }
    }
}

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
        let folder =
            root.folder.as_deref().map(|folder| chars(folder.trim_end_matches('/'))).unwrap_or_default();
        Place {
            environment: forms.first().is_some_and(|path| is_environment(path)),
            choice: None,
            forms: forms.into_iter().map(Form::new).collect(),
            inside,
            searched: whole.unclear() == Some("{}"),
            folder,
            unclear: whole.unclear().is_some().then(|| word.to_string()),
            shown: shown(&whole),
        }
    }

    /// The same folder, of which some files are meant.
    pub fn choosing(&mut self, choice: &Arc<Choice>) {
        self.choice = Some(Arc::clone(choice));
    }

    /// How it is shown.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The names by which it is certainly known: a file has several, and two files have none in common.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.forms.iter().filter_map(|form| form.text.as_deref())
    }

    /// The path that a pattern of the shell spells, its `*` aside; `None` where it is no such pattern, or nobody knows all its
    /// letters.
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
        if !self.folder.is_empty() {
            here.push(self.folder.clone());
            let home = below_home(&self.folder);
            here.extend(home.map(|rest| [&[Symbol::Char('~')], rest].concat()));
        }
        // Where the home folder is, nobody said.
        let said = self.forms.iter().filter(|form| form.symbols.get(1) != Some(&Symbol::Any));
        match Answer::any(said.map(|form| above::holds(&form.symbols, place, &here))) {
            Answer::Perhaps(_) => Answer::Perhaps(self.unclear.as_ref().unwrap_or(&self.shown).clone()),
            answer => answer,
        }
    }

    /// What of it is not known.
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

/// Whether a first name already says from where the path is taken.
fn begins(name: &[Symbol], here: &[Symbol], up: &[Symbol]) -> bool {
    let environment = name.len() > ENVIRONMENT.len()
        && ENVIRONMENT.chars().zip(name).all(|(wanted, found)| *found == Symbol::Char(wanted));
    environment || name == here || name == up || matches!(name, [Symbol::Char('~'), ..] | [Symbol::Any, ..])
}

fn chars(text: &str) -> Vec<Symbol> {
    text.chars().map(Symbol::Char).collect()
}

/// All the ways in which a path can be named, and whether it lies in the session's folder.
fn forms(path: Vec<Symbol>, root: &Root) -> (Vec<Vec<Symbol>>, bool) {
    let slash = Symbol::Char('/');
    let folder = root.folder.as_deref().map(|folder| chars(folder.trim_end_matches('/')));
    let mut forms = vec![path.clone()];
    match (path.first(), &folder) {
        (Some(Symbol::Char('/')), _) => forms.extend(others(&path, folder.as_deref())),
        (Some(Symbol::Char('.')), Some(folder)) => {
            let absolute = normal(&folder.iter().copied().chain([slash]).chain(path).collect::<Vec<_>>());
            forms.extend(others(&absolute, Some(folder)));
            forms.push(absolute);
        }
        (Some(Symbol::Char('~')), _) => {
            forms.push([slash, Symbol::Any].into_iter().chain(path.into_iter().skip(1)).collect());
        }
        _ => {}
    }
    let inside = forms.iter().any(|form| {
        matches!(form.as_slice(), [Symbol::Char('.')] | [Symbol::Char('.'), Symbol::Char('/'), ..])
    });
    (forms, inside)
}

/// An absolute path from the session's folder and from the home folder.
fn others(absolute: &[Symbol], folder: Option<&[Symbol]>) -> Vec<Vec<Symbol>> {
    let below = folder.and_then(|folder| absolute.strip_prefix(folder));
    let below = below.filter(|rest| rest.first().is_none_or(|next| *next == Symbol::Char('/')));
    let named =
        |letter, rest: &[Symbol]| std::iter::once(Symbol::Char(letter)).chain(rest.iter().copied()).collect();
    let here = below.map(|rest| named('.', rest));
    here.into_iter().chain(below_home(absolute).map(|rest| named('~', rest))).collect()
}

/// What is after the home folder of somebody.
fn below_home(path: &[Symbol]) -> Option<&[Symbol]> {
    for homes in ["/home/", "/Users/"] {
        if let Some(rest) = path.strip_prefix(chars(homes).as_slice()) {
            let end = rest.iter().position(|symbol| *symbol == Symbol::Char('/')).unwrap_or(rest.len());
            return rest.get(end..);
        }
    }
    let rest = path.strip_prefix(chars("/root").as_slice())?;
    rest.first().is_none_or(|next| *next == Symbol::Char('/')).then_some(rest)
}

/// A list of patterns: a later one decides before an earlier one, and `!` takes out again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patterns(Vec<Pattern>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    out: bool,
    /// What the path itself matches, and what lies below it.
    globs: [Glob; 2],
    /// Whether it means variables of the environment.
    environment: bool,
    /// As written, without the mark of what is taken out.
    written: String,
    /// The text before the first wildcard, for operations on whole folders. Empty where the pattern has no fixed place.
    fixed: Vec<Symbol>,
}

impl Patterns {
    /// Reads a list.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Patterns {
        Patterns(patterns.into_iter().map(Pattern::new).collect())
    }

    /// Whether the path matches, or what is meant of it. A pattern of the shell that has a path whole, as `.env*` has `.env`,
    /// means that one whatever else it means.
    pub fn matches(&self, place: &Place, extent: Extent) -> Answer {
        match (self.listed(place, extent), place.spelt()) {
            (Answer::Perhaps(_), Some(spelt)) if self.listed(&spelt, extent) == Answer::Yes => Answer::Yes,
            (answer, _) => answer,
        }
    }

    fn listed(&self, place: &Place, extent: Extent) -> Answer {
        let mut answer = Answer::No;
        // Whoever leaves out one of these files has thought of the others: `--exclude .env`, where `*.pem` is meant as well.
        let leaves_out = |choice: &Arc<Choice>| {
            self.0.iter().any(|pattern| !pattern.out && pattern.fixed.is_empty() && !pattern.chosen(choice))
        };
        let leaves_out = extent == Extent::Whole && place.choice.as_ref().is_some_and(leaves_out);
        for pattern in &self.0 {
            let extent = match extent {
                Extent::Whole if leaves_out && pattern.fixed.is_empty() => Extent::Itself,
                // What is written in a folder is taken out with all that the folder holds.
                Extent::Inside | Extent::Within if pattern.out => Extent::Inside,
                _ if pattern.out => Extent::Itself,
                extent => extent,
            };
            answer = match (pattern.matches(place, extent), pattern.out, answer) {
                (Answer::Yes, out, _) => {
                    if out {
                        Answer::No
                    } else {
                        Answer::Yes
                    }
                }
                (Answer::No, _, answer) => answer,
                (Answer::Perhaps(_), true, Answer::No) => Answer::No,
                (Answer::Perhaps(_), false, Answer::Yes) => Answer::Yes,
                (perhaps, _, _) => perhaps,
            };
        }
        answer
    }
}

impl Pattern {
    fn new(text: &str) -> Pattern {
        let (out, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        // Whether a path is a folder is not known here.
        let text = text.strip_suffix('/').filter(|folder| !folder.is_empty()).unwrap_or(text);
        let anchored = text.starts_with(['/', '~'])
            || text.starts_with("./")
            || text.starts_with("../")
            || text.starts_with(ENVIRONMENT)
            || text == "."
            || text == "..";
        let whole = if anchored {
            text.to_owned()
        } else if text.contains('/') && !text.starts_with("**/") {
            format!("./{text}")
        } else {
            text.strip_prefix("**/").unwrap_or(text).to_owned()
        };
        let mut tokens = Vec::new();
        let floating = !anchored && !whole.starts_with("./");
        if floating {
            tokens.extend([Token::Deep, Token::Char('/')]);
        }
        tokens.extend(path_glob(&whole));
        let mut below = tokens.clone();
        below.extend([Token::Char('/'), Token::Deep]);
        let fixed = if floating {
            String::new()
        } else {
            let end = whole.find(['*', '?', '[']).unwrap_or(whole.len());
            whole.get(..end).unwrap_or_default().trim_end_matches('/').to_owned()
                + if end == whole.len() { "" } else { "/" }
        };
        let fixed = chars(&fixed);
        let globs = [Glob::new(tokens), Glob::new(below)];
        Pattern { out, globs, environment: is_environment(&fixed), written: text.to_owned(), fixed }
    }

    fn matches(&self, place: &Place, extent: Extent) -> Answer {
        if place.environment || self.environment {
            let all = place.forms.first().is_some_and(|path| path.symbols.ends_with(&[Symbol::AnyName]));
            let [own, _] = &self.globs;
            return match (place.environment && self.environment, place.forms.first()) {
                (true, _) if all => Answer::Yes,
                (true, Some(path)) => path.matches(own, place.unclear()),
                _ => Answer::No,
            };
        }
        // What is inside the session's folder is meant only by patterns that begin there: `/**` and `~/**` mean the rest.
        let begins_inside = !place.folder.is_empty() && self.fixed.starts_with(&place.folder);
        if place.inside && matches!(self.fixed.first(), Some(Symbol::Char('/' | '~'))) && !begins_inside {
            return Answer::No;
        }
        let mut best = Answer::No;
        if matches!(extent, Extent::IfFolder | Extent::Within) && self.fixed.is_empty() {
            return Answer::No;
        }
        for (at, form) in place.forms.iter().enumerate() {
            // Where the home folder is, nobody said: only what holds of every place counts.
            let guessed = at > 0 && form.symbols.get(1) == Some(&Symbol::Any);
            if extent == Extent::Inside && self.out {
                let inside = form.inside();
                if self.globs.iter().any(|glob| inside.matches(glob, place.unclear()) == Answer::Yes) {
                    return Answer::Yes;
                }
                continue;
            }
            for (below, glob) in self.globs.iter().enumerate() {
                match form.matches(glob, place.unclear()) {
                    Answer::Yes => return Answer::Yes,
                    // A gap could name any folder, also one that is taken out, and a search comes through all of them.
                    Answer::Perhaps(word)
                        if !guessed
                            && !(below > 0 && (self.out || place.searched && self.fixed.is_empty())) =>
                    {
                        best = Answer::Perhaps(word)
                    }
                    Answer::Perhaps(_) | Answer::No => {}
                }
            }
        }
        best.or(|| self.below(place, extent))
    }

    /// Whether it may mean something that a program's options choose.
    fn chosen(&self, choice: &Choice) -> bool {
        choice.may_have(&self.globs[0], &self.written)
    }

    /// Of a folder with everything in it: whether the pattern means something there.
    fn below(&self, place: &Place, extent: Extent) -> Answer {
        if self.fixed.is_empty() && !place.choice.as_ref().is_none_or(|choice| self.chosen(choice)) {
            return Answer::No;
        }
        let perhaps = || Answer::Perhaps(place.shown.clone());
        match (extent, self.fixed.is_empty()) {
            (Extent::Below | Extent::Within | Extent::Whole, false) => place.holds(&self.fixed),
            // It may be met in any folder, so nobody could delete one: the session's counts, and those that hold it.
            (Extent::Whole, true) => place.holds(&[Symbol::Char('.')]).and(perhaps),
            _ => Answer::No,
        }
    }
}
