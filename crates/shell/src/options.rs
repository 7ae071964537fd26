//! The words after a program, classified: options with their values, subcommands, operands.

use super::constants::is_name;
use super::facts::{Inner, Level, Opt, Program, Run, Shell, Style, Takes};
use super::word::Word;

use super::arguments::is_any;
pub use super::arguments::{Arguments, Given};

/// The words of a program, with each option that is not listed taken to have no value.
pub fn arguments<'p>(program: &'p Program, words: &[Word]) -> Arguments<'p> {
    Parser::new(program, None, &[]).read(words)
}

/// A way in which a program runs another one: the beginning of that one.
#[derive(Clone, Copy)]
pub struct Way<'p> {
    /// The level of the subcommand.
    pub level: &'p Level,
    /// How it is run.
    pub run: &'p Run,
}

/// Reads the words of a command from left to right.
pub struct Parser<'p, 't> {
    program: &'p Program,
    way: Option<Way<'p>>,
    /// The places of options that are not listed and take the next word, and of words that are options or nothing, not operands.
    taken: &'t [usize],
    read: Arguments<'p>,
    /// The words of the subcommand so far.
    path: Vec<String>,
    /// Whether the next operand may be another word of the subcommand.
    open: bool,
    at: usize,
}

impl<'p, 't> Parser<'p, 't> {
    /// One that takes the words at these places as values, or for options or nothing.
    pub fn new(program: &'p Program, way: Option<Way<'p>>, taken: &'t [usize]) -> Parser<'p, 't> {
        let open = match way {
            Some(way) => !way.level.subs.iter().any(Vec::is_empty),
            None => program.has_subs(),
        };
        let read = Arguments { levels: program.whole().into_iter().collect(), ..Arguments::default() };
        Parser { program, way, taken, read, path: Vec::new(), open, at: 0 }
    }

    /// Whether the words name the subcommand of the way.
    pub fn is_complete(&self) -> bool {
        !self.open && self.way.is_none_or(|way| way.level.subs.contains(&self.path))
    }

    /// Reads all words.
    pub fn read(&mut self, words: &[Word]) -> Arguments<'p> {
        let letters;
        let mut words = words;
        if let Some((bare, found)) = self.letters(words) {
            self.read.bare = bare.to_owned();
            letters = found;
            words = &letters;
        }
        let run = self.way.map(|way| way.run);
        let past: &[String] = match run.map(|run| &run.inner) {
            Some(Inner::After(marks)) => marks,
            _ => &[],
        };
        let takes_all = matches!(run.map(|run| &run.inner), Some(Inner::Value(_)));
        let mut begun = past.is_empty();
        let mut skip = run.map_or(0, |run| run.skip);
        let mut ended = false;
        let is_entry = run.is_some_and(|run| matches!(run.inner, Inner::Entry(_)) && run.skip > 0);
        while let Some(word) = words.get(self.at) {
            let (start, known) = (word.start(), word.known());
            if is_entry && !self.open && skip == 0 {
                // Everything after the image is an argument of the program that an option names.
                break;
            }
            if !self.open && known.is_some_and(|text| past.iter().any(|mark| self.is_mark(text, mark))) {
                begun = true;
                self.at += 1;
                break;
            }
            if known == Some("--") && !ended {
                self.at += 1;
                match run {
                    None => {
                        ended = true;
                        self.read.ended = Some(self.read.operands.len());
                    }
                    // The program follows, if its own operands are before it.
                    Some(run)
                        if !self.open && skip == 0 && begun && !(takes_all && run.shell != Shell::Never) =>
                    {
                        break;
                    }
                    Some(_) => {}
                }
                continue;
            }
            let is_option = start.starts_with('-')
                && (start.len() > 1 || run.is_none() && known.is_none() || self.kind("-").is_some())
                && !(self.program.modes && is_mode(start));
            if !ended && is_option {
                self.option(word, words);
                self.at += 1;
                // The program begins within its value.
                if let Some(Inner::ValueAndWords(names)) = run.map(|run| &run.inner)
                    && self.read.options.last().is_some_and(|given| is_any(names, given))
                {
                    break;
                }
                continue;
            }
            let is_plus = start.starts_with('+') && (start.len() > 1 || known.is_none());
            if !ended && is_plus && self.kind("+").is_some() {
                self.read.options.push(Given {
                    name: "+".to_owned(),
                    value: Some(word.after(1)),
                    level: None,
                });
                self.at += 1;
                continue;
            }
            // It may be options or nothing, so that the subcommand or the operand comes after it.
            if run.is_some() && word.is_open() && (self.open || word.many && skip > 0) {
                self.doubt(&word.to_string());
                if self.taken.contains(&self.at) {
                    self.hides(&word.to_string());
                    self.at += 1;
                    continue;
                }
            }
            if self.open && !self.descend(known) && run.is_some() {
                break;
            }
            let is_own = !self.is_sub_word();
            if self.program.options_first && is_own {
                ended = true;
                if !begun {
                    break;
                }
            }
            if run.is_some() && is_own {
                if skip == 0 && begun && !takes_all {
                    break;
                }
                skip = skip.saturating_sub(1);
            }
            if run.is_none() && !ended && word.is_open() && self.read.open.is_none() {
                self.read.open = word.unclear().map(str::to_owned);
            }
            self.read.operands.push(word.clone());
            self.at += 1;
        }
        if self.program.assigns && run.is_none() {
            self.read.skipped +=
                self.read.operands.iter().take_while(|word| assignment(word).is_some()).count();
        }
        let first = self.read.operands.first().and_then(Word::known).filter(|_| self.program.method);
        if first
            .is_some_and(|name| !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase()))
        {
            self.read.skipped = 1;
        }
        // Words that the shell splits are options if an operand follows them, and operands otherwise.
        let operands = self.read.operands.get(..self.read.ended.unwrap_or(usize::MAX));
        let operands = operands.unwrap_or(&self.read.operands);
        let splits = operands.iter().position(|word| word.many && word.is_open());
        if let Some((splits, rest)) = splits.and_then(|at| operands.get(at..)?.split_first())
            && self.read.hidden.is_none()
            && !self.read.levels.iter().any(|level| level.runs.iter().any(|run| !run.besides))
            && rest.iter().any(|word| !word.many)
        {
            self.read.hidden = Some(splits.to_string());
        }
        self.read.inner = if begun { self.at } else { words.len() };
        self.read.missing = skip;
        std::mem::take(&mut self.read)
    }

    /// Whether the operand that comes next was taken as a word of the subcommand.
    fn is_sub_word(&self) -> bool {
        self.path.len() > self.read.operands.len()
    }

    /// Takes an operand as the next word of the subcommand, if it is one; otherwise the subcommand is complete.
    fn descend(&mut self, word: Option<&str>) -> bool {
        let Some(word) = word else {
            self.open = false;
            return false;
        };
        self.path.push(word.to_owned());
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let begins = |subs: &[Vec<String>]| {
            subs.iter()
                .any(|sub| sub.len() >= path.len() && sub.iter().zip(&path).all(|(own, word)| own == word))
        };
        let fits = match self.way {
            Some(way) => begins(&way.level.subs),
            None => self.program.begins(&path),
        };
        if !fits {
            self.path.pop();
            self.open = self.way.is_some();
            return false;
        }
        let found = self.program.levels_of(&path);
        if !found.is_empty() {
            self.read.skipped = path.len();
        }
        self.read.levels.extend(found);
        self.read.first = usize::from(self.program.globals_first && self.read.levels.len() > 1);
        self.open = match self.way {
            Some(way) => !way.level.subs.contains(&self.path),
            None => true,
        };
        true
    }

    /// The definition of an option: the subcommand's first.
    fn kind(&self, name: &str) -> Option<(usize, &'p Opt)> {
        let levels = self.read.levels.iter().enumerate().skip(self.read.first).rev();
        levels.into_iter().find_map(|(at, level)| Some((at, level.option(name)?)))
    }

    /// Whether a word is the option after which another program is named, with others before it perhaps: `-um`.
    fn is_mark(&self, text: &str, mark: &str) -> bool {
        let others = || text.strip_prefix('-')?.strip_suffix(mark.strip_prefix('-')?);
        let is_flag = |letter: char| {
            self.kind(&format!("-{letter}")).is_some_and(|(_, option)| option.takes == Takes::Nothing)
        };
        text == mark || mark.len() == 2 && others().is_some_and(|others| others.chars().all(is_flag))
    }

    /// Options that every program may have.
    fn is_common(name: &str) -> bool {
        matches!(name, "--help" | "--version")
    }

    /// The long options that a word begins.
    fn beginning(&self, name: &str) -> Vec<(usize, &'p Opt)> {
        if name.len() < 3 || !name.starts_with("--") {
            return Vec::new();
        }
        let levels = self.read.levels.iter().enumerate().skip(self.read.first);
        let options = levels.flat_map(|(at, level)| level.options.iter().map(move |option| (at, option)));
        options.filter(|(_, option)| option.names.iter().any(|own| own.starts_with(name))).collect()
    }

    /// Reads an option, with its value if that is the next word.
    fn option(&mut self, word: &Word, words: &[Word]) {
        let start = word.start();
        let whole = self.program.style == Style::OneDash || start.starts_with("--");
        let listed = !whole && start.chars().count() > 2 && {
            let name = start.split('=').next().unwrap_or(start);
            self.kind(name).is_some()
        };
        if !whole && !listed {
            return self.cluster(word, words);
        }
        let (name, joined) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.clone(), None),
        };
        // The option is unknown: `--$f`, `--force$X`.
        if let Some(part) = name.unclear() {
            self.hides(part);
        }
        let mut name = name.to_string();
        let mut kind = self.kind(&name);
        if kind.is_none() && self.program.style == Style::Gnu {
            let begun = self.beginning(&name);
            match begun.as_slice() {
                [(at, only)] => {
                    kind = Some((*at, only));
                    name = only.names.iter().find(|own| own.starts_with(&name)).cloned().unwrap_or(name);
                }
                several => {
                    for (at, option) in several {
                        let next =
                            || words.get(self.at + 1).filter(|_| option.takes != Takes::Nothing).cloned();
                        let value = joined.clone().or_else(next);
                        let whole = option.names.iter().find(|own| own.starts_with(&name)).cloned();
                        self.read.begun.push(Given {
                            name: whole.unwrap_or_default(),
                            value,
                            level: Some(*at),
                        });
                    }
                }
            }
        }
        let value = match kind {
            _ if joined.is_some() => joined,
            Some((_, Opt { takes: Takes::Words(words_taken), .. })) => self.next(*words_taken, words),
            Some(_) => None,
            None if Self::is_common(&name) => None,
            None => self.unlisted(&name, words),
        };
        self.read.options.push(Given { name, value, level: kind.map(|(at, _)| at) });
    }

    /// The last of the words that follow, which are taken.
    fn next(&mut self, number: usize, words: &[Word]) -> Option<Word> {
        self.at += number;
        (number > 0).then(|| words.get(self.at).cloned()).flatten()
    }

    /// A part of a word is or holds unknown options.
    fn hides(&mut self, part: &str) {
        for word in [&mut self.read.open, &mut self.read.hidden] {
            word.get_or_insert_with(|| part.to_owned());
        }
    }

    /// The word that is read may mean more than one thing.
    fn doubt(&mut self, name: &str) {
        self.read.unlisted.push((self.at, name.to_owned()));
        if self.read.doubtful.is_none() {
            self.read.doubtful = Some((self.read.operands.len(), name.to_owned()));
        }
    }

    /// An option that no row lists: it may take the next word.
    fn unlisted(&mut self, name: &str, words: &[Word]) -> Option<Word> {
        self.doubt(name);
        if self.taken.contains(&self.at) { self.next(1, words) } else { None }
    }

    /// `-rf`, `-ofile`, `-o file`.
    fn cluster(&mut self, word: &Word, words: &[Word]) {
        if word.known() == Some("-") {
            self.read.options.push(Given { name: "-".to_owned(), value: None, level: None });
        }
        let mut letters = word.start().char_indices().skip(1).peekable();
        while let Some((at, letter)) = letters.next() {
            let name = format!("-{letter}");
            let end = at + letter.len_utf8();
            let kind = self.kind(&name);
            let level = kind.map(|(at, _)| at);
            match kind.map(|(_, option)| option.takes) {
                Some(Takes::Words(number)) => {
                    let joined = word.after(end);
                    let value =
                        if joined.pieces.is_empty() { self.next(number, words) } else { Some(joined) };
                    self.read.options.push(Given { name, value, level });
                    return;
                }
                Some(Takes::Joined) => {
                    let joined = word.after(end);
                    let value = (!joined.pieces.is_empty()).then_some(joined);
                    self.read.options.push(Given { name, value, level });
                    return;
                }
                Some(Takes::Nothing) => {
                    // `-d=false`.
                    let joined =
                        letters.peek().filter(|(_, next)| *next == '=').map(|(at, _)| word.after(at + 1));
                    let ends = joined.is_some();
                    self.read.options.push(Given { name, value: joined, level });
                    if ends {
                        return;
                    }
                }
                None => {
                    let last =
                        letters.peek().is_none() && word.unclear().is_none() && !letter.is_ascii_digit();
                    let value = if last { self.unlisted(&name, words) } else { None };
                    self.read.options.push(Given { name, value, level });
                }
            }
        }
        if let Some(part) = word.unclear() {
            self.hides(part);
        }
    }

    /// `tar xzf FILE -C FOLDER`: letters without a dash come first, and their values follow in their order.
    fn letters<'w>(&self, words: &'w [Word]) -> Option<(&'w str, Vec<Word>)> {
        let (letters, rest) = words.split_first().filter(|_| self.program.letters)?;
        let letters = letters.known().filter(|letters| {
            !letters.is_empty() && letters.chars().all(|letter| letter.is_ascii_alphanumeric())
        })?;
        let mut rest = rest.iter();
        let mut words = Vec::new();
        for letter in letters.chars() {
            let name = format!("-{letter}");
            let takes = self.kind(&name).map(|(_, option)| option.takes);
            words.push(Word::text(name));
            if let Some(Takes::Words(number)) = takes {
                words.extend(rest.by_ref().take(number).cloned());
            }
        }
        words.extend(rest.cloned());
        Some((letters, words))
    }
}

/// `-x`, `-w,g+r`: permissions that are taken away.
fn is_mode(text: &str) -> bool {
    let mode = text.strip_prefix('-').unwrap_or(text);
    !mode.is_empty() && mode.chars().all(|letter| "rwxXstugoa,+=-".contains(letter)) && !mode.starts_with('-')
}

/// `NAME=VALUE`.
pub fn assignment(word: &Word) -> Option<(String, Word)> {
    let (name, value) = word.split_once('=')?;
    let name = name.known().filter(|name| is_name(name))?;
    Some((name.to_owned(), value))
}
