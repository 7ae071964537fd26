//! The words of a program that runs another one: its options, and what comes after them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::facts::{Inner, Wrapper};
use super::word::Word;

/// The most readings of one command.
const READINGS: usize = 16;

/// The words of a wrapper.
pub struct Opened<'w> {
    /// The program and its arguments.
    pub words: &'w [Word],
    /// The options before it.
    pub options: Vec<(String, Option<Cow<'w, Word>>)>,
    /// How many operands are missing that come before a program.
    pub missing: usize,
    /// Options that the row does not list, each with its place.
    pub unlisted: Vec<(usize, String)>,
}

impl<'w> Opened<'w> {
    pub fn option(&self, names: &str) -> Option<&Word> {
        let named = self.options.iter().find(|(name, _)| names.split(' ').any(|wanted| wanted == name));
        named.and_then(|(_, value)| value.as_deref())
    }

    /// The program of a container, `--entrypoint sh` or `--entrypoint=sh`.
    pub fn entrypoint(&self, row: &Wrapper) -> Option<Word> {
        let given = self.options.iter().find(|(name, _)| name == row.entrypoint())?;
        given.1.as_deref().cloned()
    }

    pub fn has(&self, letter: char) -> bool {
        self.options.iter().any(|(name, _)| !name.starts_with("--") && name.contains(letter))
    }

    /// Whether one of these was given, and not `--name=false`.
    pub fn option_given(&self, names: &str) -> bool {
        self.options.iter().any(|(given, value)| {
            if value.as_deref().and_then(Word::known) == Some("false") {
                return false;
            }
            let letters = given.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            names.split(' ').any(|name| {
                name == given
                    || letters.is_some_and(|letters| {
                        name.len() == 2
                            && name.strip_prefix('-').is_some_and(|letter| letters.contains(letter))
                    })
            })
        })
    }

    /// Whether the success of the program is not that of what it runs.
    pub fn is_apart(&self, row: &Wrapper) -> bool {
        row.apart.is_some_and(|apart| {
            (apart.with.is_empty() || self.option_given(apart.with)) && !self.option_given(apart.without)
        })
    }

    /// The values that a shell reads.
    pub fn values(&self, inner: Inner) -> Vec<Word> {
        let (Inner::Value(names) | Inner::ValueOrWords(names)) = inner else { return Vec::new() };
        let mut found = Vec::new();
        for (given, value) in &self.options {
            let Some(value) = value.as_deref() else { continue };
            for name in names.split(' ') {
                match name.split_once('@') {
                    None if name == given => found.push(value.clone()),
                    Some((option, key)) if option == given => found.extend(after_key(value, key)),
                    _ => {}
                }
            }
        }
        found
    }
}

/// `KEY=SCRIPT` and `KEY SCRIPT`, whatever the case of its letters.
fn after_key(value: &Word, key: &str) -> Option<Word> {
    let start = value.start();
    let name = start.get(..key.len()).filter(|name| name.eq_ignore_ascii_case(key))?;
    let rest = start.get(name.len()..)?;
    rest.starts_with(['=', ' ']).then(|| value.after(name.len() + 1))
}

/// The readings of a command.
pub struct Readings<'w> {
    /// Those that differ. In the first one, options that the row does not list have no value.
    pub found: Vec<Opened<'w>>,
    /// How many were tried.
    pub tried: usize,
    /// Whether there may be others.
    pub more: bool,
}

/// At most this many readings of a command.
pub fn readings<'w>(row: &Wrapper, args: &'w [Word], most: usize) -> Readings<'w> {
    let most = most.min(READINGS);
    let mut found: Vec<Opened<'w>> = Vec::new();
    let mut tried: Vec<Vec<usize>> = vec![Vec::new()];
    let mut listed = Listed { row, kinds: HashMap::new() };
    let mut at = 0;
    while let Some(taken) = tried.get(at).cloned().filter(|_| at < most) {
        at += 1;
        let Some(one) = opened(&mut listed, args, &taken) else {
            if found.is_empty() {
                break;
            }
            continue;
        };
        for (place, _) in &one.unlisted {
            // That there is one more than are tried is all that counts.
            if tried.len() <= most && taken.last().is_none_or(|last| place > last) {
                tried.push(taken.iter().copied().chain([*place]).collect());
            }
        }
        if !found.iter().any(|other| other.words == one.words) {
            found.push(one);
        }
    }
    Readings { found, tried: at, more: at < tried.len() }
}

/// What a row says of an option.
#[derive(Clone, Copy)]
struct Kind {
    /// Whether it says anything.
    listed: bool,
    /// Whether the next word is its value.
    valued: bool,
    /// Whether what is written to it is its value, and may be nothing.
    attached: bool,
    /// How many words are its values, where they are several.
    several: Option<usize>,
}

/// The options of a row, each looked up once for all readings.
struct Listed<'r> {
    row: &'r Wrapper,
    kinds: HashMap<String, Kind>,
}

impl Listed<'_> {
    fn kind(&mut self, name: &str) -> Kind {
        if let Some(kind) = self.kinds.get(name) {
            return *kind;
        }
        let Wrapper { takes, flags, .. } = self.row;
        let number = |taken: &str| taken.strip_prefix(name)?.strip_prefix(':')?.parse::<usize>().ok();
        let valued = takes.split([' ', '=']).any(|taken| taken == name);
        let attached = takes.split([' ', '=']).any(|taken| taken.strip_suffix('?') == Some(name));
        let several = takes.split(' ').find_map(number);
        let listed = flags.is_empty()
            || several.is_some()
            || valued
            || attached
            || flags.split([' ', '=']).any(|flag| flag == name);
        let kind = Kind { listed, valued, attached, several };
        self.kinds.insert(name.to_owned(), kind);
        kind
    }

    /// The option that a word begins, where that is one alone: `--sig` of `timeout`.
    fn whole(&self, name: &str) -> Option<String> {
        let Wrapper { takes, flags, .. } = self.row;
        let plain = |option: &'static str| option.split([':', '?']).next().unwrap_or(option);
        let all = || takes.split([' ', '=']).chain(flags.split([' ', '='])).map(plain);
        if name.len() < 3 || !name.starts_with("--") || all().any(|option| option == name) {
            return None;
        }
        let mut begun = all().filter(|option| option.starts_with(name));
        let first = begun.next()?;
        begun.all(|other| other == first).then(|| first.to_owned())
    }

    /// Whether this is an option with a value of a program whose options have one dash: `-exec=CMD` of `go`.
    fn is_one_dash(&mut self, name: &str) -> bool {
        name.len() > 2 && self.kind(name).valued
    }

    fn letter(&mut self, letter: char) -> Kind {
        self.kind(&format!("-{letter}"))
    }
}

/// The program that a wrapper runs: what is left after its options, its subcommand and its own operands.
fn opened<'w>(listed: &mut Listed<'_>, args: &'w [Word], taken: &[usize]) -> Option<Opened<'w>> {
    let row = listed.row;
    let mut subs: Vec<std::iter::Peekable<std::str::Split<'_, char>>> =
        row.sub.split('|').filter(|sub| !sub.is_empty()).map(|sub| sub.split(' ').peekable()).collect();
    let optional = row.sub.is_empty() || row.sub.ends_with('|');
    let mut open = !subs.is_empty();
    let mut skip = row.skip;
    let mut options: Vec<(String, Option<Cow<'_, Word>>)> = Vec::new();
    let mut entrypoint = false;
    let mut at = 0;
    let mut unlisted = Vec::new();
    let after = match row.inner {
        Inner::After(names) => names,
        _ => "",
    };
    let mut begun = after.is_empty();
    while let Some(word) = args.get(at) {
        let start = word.start();
        let text = word.known();
        // With a program of its own, everything after the image is an argument of that.
        if !open && skip == 0 && entrypoint {
            break;
        }
        if !open && text.is_some_and(|text| after.split(' ').any(|mark| mark == text)) {
            begun = true;
            at += 1;
            break;
        }
        if text == Some("--") {
            // What comes after it is the program, if its own operands are before it.
            at += 1;
            if !open && skip == 0 && begun && !matches!(row.inner, Inner::Value(_) if !row.shell.is_empty()) {
                break;
            }
            continue;
        }
        if start.starts_with('-') && start.len() > 1 {
            let (name, joined) = match start.split_once('=') {
                Some((name, _)) if start.starts_with("--") || listed.is_one_dash(name) => {
                    (name.to_owned(), true)
                }
                _ => (start.to_owned(), false),
            };
            let name = listed.whole(&name).unwrap_or(name);
            let mut value = None;
            let kind = listed.kind(&name);
            let all_listed = kind.listed
                || !name.starts_with("--") && name.chars().skip(1).all(|letter| listed.letter(letter).listed);
            entrypoint |= name == row.entrypoint();
            if !joined && !all_listed {
                unlisted.push((at, name.clone()));
                if taken.contains(&at) {
                    at += 1;
                }
                options.push((name, None));
            } else if let Some(number) = kind.several.filter(|_| !joined) {
                at += number;
                options.push((name, None));
            } else if joined {
                options.push((name, word.split_once('=').map(|(_, value)| Cow::Owned(value))));
            } else if name.starts_with("--") || kind.valued || name.len() == 2 {
                if kind.valued {
                    at += 1;
                    value = args.get(at).map(Cow::Borrowed);
                }
                options.push((name, value));
            } else {
                // The first letter with a value takes the rest, or the next word.
                let place = name.char_indices().skip(1).find_map(|(place, letter)| {
                    let kind = listed.letter(letter);
                    (kind.valued || kind.attached).then_some((place, letter, kind))
                });
                if let Some((place, letter, kind)) = place {
                    let end = place + letter.len_utf8();
                    let value = if end == name.len() && kind.attached {
                        None
                    } else if end == name.len() && word.known().is_some() {
                        at += 1;
                        args.get(at).map(Cow::Borrowed)
                    } else {
                        Some(Cow::Owned(word.after(end)))
                    };
                    options.push((format!("-{letter}"), value));
                }
                // In `-uroot` is no `-t`.
                let flags = place.and_then(|(place, ..)| name.get(..place)).unwrap_or(&name);
                options.push((flags.to_owned(), None));
            }
            at += 1;
            continue;
        }
        if open {
            let mut complete = false;
            subs.retain_mut(|sub| {
                let fits = sub.next() == text && text.is_some();
                complete |= fits && sub.peek().is_none();
                fits
            });
            if subs.is_empty() {
                if !optional {
                    return None;
                }
                open = false;
                continue;
            }
            open = !complete;
            at += 1;
        } else if skip > 0 || !begun || matches!(row.inner, Inner::Value(_)) {
            skip = skip.saturating_sub(1);
            at += 1;
        } else {
            break;
        }
    }
    let words = if begun { args.get(at..).unwrap_or_default() } else { &[] };
    (!open || optional).then_some(Opened { words, options, missing: skip, unlisted })
}
