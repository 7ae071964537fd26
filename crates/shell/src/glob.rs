//! Globs, compiled once, and whether they match words that may have gaps.

use std::sync::OnceLock;

use memchr::memchr2;
use memchr::memmem::Finder;

use super::Answer;
use super::word::{Symbol, Word};

/// A part of a glob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// This letter.
    Char(char),
    /// One letter other than `/`.
    One,
    /// Any text without `/`.
    Star,
    /// Any text.
    Deep,
    /// No folder, or folders with their `/`.
    Folders,
}

/// A glob. What most words are settled by is made when it is first compared: a policy has many, and a call meets few.
#[derive(Debug, Clone)]
pub struct Glob {
    written: Written,
    compiled: OnceLock<Box<Compiled>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Written {
    /// Over names: `*` matches any text, `?` one letter.
    Names(Box<str>),
    /// In parts.
    Tokens(Box<[Token]>),
}

/// A glob, with the texts that any match holds.
#[derive(Debug, Clone)]
struct Compiled {
    tokens: Vec<Token>,
    /// The texts at both ends. For a glob without wildcards, `begin` is all of it.
    begin: String,
    end: String,
    /// The texts between, in their order.
    inner: Vec<Finder<'static>>,
    wildcards: Wildcards,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wildcards {
    None,
    /// Each matches any text, so that the texts decide.
    Deep,
    Others,
}

impl PartialEq for Glob {
    fn eq(&self, other: &Glob) -> bool {
        self.written == other.written
    }
}

impl Eq for Glob {}

impl Compiled {
    fn new(tokens: Vec<Token>) -> Compiled {
        let mut texts = vec![String::new()];
        let mut wildcards = Wildcards::None;
        for token in &tokens {
            match (token, texts.last_mut()) {
                (Token::Char(letter), Some(text)) => text.push(*letter),
                (token, _) => {
                    wildcards = match (wildcards, token) {
                        (Wildcards::None | Wildcards::Deep, Token::Deep) => Wildcards::Deep,
                        _ => Wildcards::Others,
                    };
                    texts.push(String::new());
                }
            }
        }
        let end = if texts.len() > 1 { texts.pop().unwrap_or_default() } else { String::new() };
        let mut texts = texts.into_iter();
        let begin = texts.next().unwrap_or_default();
        let inner = texts.filter(|text| !text.is_empty()).map(|text| Finder::new(&text).into_owned());
        Compiled { begin, end, inner: inner.collect(), wildcards, tokens }
    }

    /// Whether a text has all texts of the glob in their order.
    fn may_match(&self, text: &str) -> bool {
        if self.wildcards == Wildcards::None {
            return text == self.begin;
        }
        let rest = text.strip_prefix(&*self.begin).and_then(|rest| rest.strip_suffix(&*self.end));
        let Some(rest) = rest else { return false };
        let mut rest = rest.as_bytes();
        self.inner.iter().all(|finder| {
            let after = finder.find(rest).and_then(|at| rest.get(at + finder.needle().len()..));
            rest = after.unwrap_or_default();
            after.is_some()
        })
    }
}

impl Glob {
    /// A glob of these parts.
    pub fn new(tokens: Vec<Token>) -> Glob {
        Glob { written: Written::Tokens(tokens.into()), compiled: OnceLock::new() }
    }

    /// A glob over names: `*` matches any text, `?` one letter.
    pub fn of_names(pattern: &str) -> Glob {
        Glob { written: Written::Names(pattern.into()), compiled: OnceLock::new() }
    }

    /// The text of a glob over names.
    pub fn name(&self) -> &str {
        match &self.written {
            Written::Names(text) => text,
            Written::Tokens(_) => "",
        }
    }

    fn compiled(&self) -> &Compiled {
        let token = |letter| match letter {
            '*' => Token::Deep,
            '?' => Token::One,
            letter => Token::Char(letter),
        };
        let tokens = || match &self.written {
            Written::Names(text) => text.chars().map(token).collect(),
            Written::Tokens(tokens) => tokens.to_vec(),
        };
        self.compiled.get_or_init(|| Box::new(Compiled::new(tokens())))
    }

    /// Whether it matches the word.
    pub fn matches(&self, word: &Word) -> Answer {
        match word.known() {
            Some(text) => self.text(text),
            None => self.symbols(&word.symbols(), word.unclear()),
        }
    }

    /// Whether it matches a text.
    pub fn text(&self, text: &str) -> Answer {
        if let Written::Names(own) = &self.written {
            if **own == *text {
                return Answer::Yes;
            }
            if memchr2(b'*', b'?', own.as_bytes()).is_none() {
                return Answer::No;
            }
        }
        let compiled = self.compiled();
        if !compiled.may_match(text) {
            return Answer::No;
        }
        if compiled.wildcards != Wildcards::Others {
            return Answer::Yes;
        }
        let symbols: Vec<Symbol> = text.chars().map(Symbol::Char).collect();
        self.symbols(&symbols, Some("a word that is too long to be compared"))
    }

    /// Whether it matches whatever the gaps are filled with, or with some filling.
    pub fn symbols(&self, word: &[Symbol], unclear: Option<&str>) -> Answer {
        let perhaps = || Answer::Perhaps(unclear.unwrap_or("*").to_owned());
        let tokens = &self.compiled().tokens;
        if tokens.len().saturating_mul(word.len()) > LIMIT {
            return perhaps();
        }
        if reach(tokens, word, true) {
            return Answer::Yes;
        }
        if word.iter().all(|symbol| matches!(symbol, Symbol::Char(_))) || !reach(tokens, word, false) {
            return Answer::No;
        }
        perhaps()
    }
}

/// The longest product of glob and word that is compared letter by letter.
const LIMIT: usize = 1 << 20;

/// Whether the glob matches every filling of the word (`whole`), or one of them. Costs the product of both lengths.
fn reach(glob: &[Token], word: &[Symbol], whole: bool) -> bool {
    // Row by row from the end of the word: `next` answers for the word one symbol later.
    let width = glob.len() + 1;
    let mut next = vec![false; width];
    let mut row = vec![false; width];
    for at in (0..=word.len()).rev() {
        let symbol = word.get(at);
        let begins_name = match at.checked_sub(1).and_then(|before| word.get(before)) {
            None | Some(Symbol::Char('/')) => true,
            Some(Symbol::Any) => !whole,
            Some(_) => false,
        };
        for place in (0..width).rev() {
            let get = |row: &[bool], place: usize| row.get(place).copied().unwrap_or(false);
            let token = glob.get(place);
            let skipped = match token {
                Some(Token::Star | Token::Deep) => get(&row, place + 1),
                Some(Token::Folders) => begins_name && get(&row, place + 1),
                _ => false,
            };
            let eaten = match (token, symbol) {
                (None, None) => true,
                (_, None) | (None, Some(Symbol::Char(_) | Symbol::NameStart)) => false,
                (Some(Token::Char(wanted)), Some(Symbol::NameStart)) => {
                    !whole && !matches!(wanted, '.' | '/') && get(&next, place + 1)
                }
                (Some(Token::One), Some(Symbol::NameStart)) => get(&next, place + 1),
                (Some(Token::Star), Some(Symbol::NameStart)) => get(&next, place),
                (Some(Token::Char(wanted)), Some(Symbol::Char(found))) => {
                    wanted == found && get(&next, place + 1)
                }
                (Some(Token::One), Some(Symbol::Char(found))) => *found != '/' && get(&next, place + 1),
                (Some(Token::Star), Some(Symbol::Char(found))) => *found != '/' && get(&next, place),
                (Some(Token::Deep | Token::Folders), Some(_)) => get(&next, place),
                (Some(Token::Star), Some(Symbol::AnyName)) => get(&next, place),
                // A gap is empty, or yields what the token needs and stays.
                (Some(Token::Star), Some(Symbol::Any)) => {
                    !whole && (get(&next, place) || get(&row, place + 1))
                }
                (Some(Token::Char('/')), Some(Symbol::AnyName)) | (None, Some(_)) => {
                    !whole && get(&next, place)
                }
                (Some(Token::Char(_) | Token::One), Some(_)) => {
                    !whole && (get(&next, place) || get(&row, place + 1))
                }
            };
            if let Some(cell) = row.get_mut(place) {
                *cell = skipped || eaten;
            }
        }
        std::mem::swap(&mut row, &mut next);
    }
    next.first().copied().unwrap_or(false)
}

/// The parts of a glob over paths: `*` and `?` stay within a name, `**` does not.
pub fn path_glob(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        let begins_name = tokens.last().is_none_or(|last| *last == Token::Char('/'));
        if let Some(after) = rest.strip_prefix("**/").filter(|_| begins_name) {
            tokens.push(Token::Folders);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("**") {
            tokens.push(Token::Deep);
            rest = after;
        } else {
            tokens.push(match letter {
                '*' => Token::Star,
                '?' => Token::One,
                letter => Token::Char(letter),
            });
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::{Answer, Glob, Symbol, Token, reach};
    use crate::Word;

    /// All texts of up to four of these letters.
    fn texts(letters: &[char]) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut longest = all.clone();
        for _ in 0..4 {
            let longer =
                |text: &String| letters.iter().map(|letter| format!("{text}{letter}")).collect::<Vec<_>>();
            longest = longest.iter().flat_map(longer).collect();
            all.extend(longest.iter().cloned());
        }
        all
    }

    #[test]
    fn texts_settle_what_the_letters_say() {
        let parts =
            [Token::Char('a'), Token::Char('/'), Token::One, Token::Star, Token::Deep, Token::Folders];
        let words = texts(&['a', '/', 'b']);
        let mut yes = 0;
        for number in 0..parts.len().pow(4) {
            let tokens: Vec<Token> =
                (0u32..4).map(|at| parts[number / parts.len().pow(at) % parts.len()]).collect();
            for length in 0..=4 {
                let glob = Glob::new(tokens[..length].to_vec());
                for word in &words {
                    let symbols: Vec<Symbol> = word.chars().map(Symbol::Char).collect();
                    let expected =
                        if reach(&tokens[..length], &symbols, true) { Answer::Yes } else { Answer::No };
                    yes += usize::from(expected == Answer::Yes);
                    assert_eq!(glob.text(word), expected, "{glob:?} {word:?}");
                }
            }
        }
        assert!(yes > 1000);
    }

    #[test]
    fn a_text_that_is_too_long_to_compare_is_not_known() {
        let long = Word::text("a".repeat(2 << 20));
        assert!(matches!(Glob::of_names("a?").matches(&long), Answer::Perhaps(_)));
        assert_eq!(Glob::of_names("b*").matches(&long), Answer::No);
    }
}
