//! Regular expressions over command lines that name a program or a file, translated to questions about what a call
//! does.
//!
//! Only expressions with certain words are read; all others are left alone.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::{Map, Value, json};

use rulestep_shell::Act;
use rulestep_shell::facts::{self, Style};

/// A key that asks the same of what a call does, and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Meaning {
    /// `runs` or `reads`.
    pub key: &'static str,
    /// The value to write.
    pub value: Value,
}

/// The alternatives of one word.
type Choices = Vec<String>;

/// A word of an expression.
#[derive(Debug)]
struct PatternWord {
    choices: Choices,
    /// Whether anything may come before it.
    gap: bool,
}

/// What may surround the words without changing the meaning.
const BEFORE: &str = r"(?i) (?s) ^ \A \b .*? .* \s* \s+ \s (^|\s) (?:^|\s) (^|\s+) (?:^|\s+)";
const AFTER: &str = r"$ \z \b .* \s* \s+ \s (\s|$) (?:\s|$) ($|\s) (?:$|\s) (\s+|$) (?:\s+|$)";

/// Files that hold secrets or settings, by their whole names.
const FILES: &str = ".env .npmrc .netrc .pypirc .pgpass .git-credentials .ssh .aws .kube .gnupg id_rsa id_ed25519 id_ecdsa id_dsa \
     authorized_keys known_hosts";
/// Endings of such files.
const ENDINGS: &str = ".pem .key .p12 .pfx .jks .keystore";
/// Endings of names that are files.
const NAMED: &str = ".json .yaml .yml .toml .pem .key .env .lock .md";

/// The question that an expression over a command line asks of a call, if it names programs, or files and nothing else.
pub fn meaning(pattern: &str) -> Option<Meaning> {
    if pattern.len() > 200 {
        return None;
    }
    let anchored = pattern.starts_with(['^', '\\']);
    let read: Option<Vec<Vec<PatternWord>>> = split(pattern)?.into_iter().map(words).collect();
    let lines = read?;
    if let Some(files) = files(&lines) {
        let value = match files.as_slice() {
            [only] => json!(only),
            files => json!(files),
        };
        return Some(Meaning { key: "reads", value });
    }
    let runs: Vec<Map<String, Value>> =
        lines.iter().map(|words| program(words, anchored)).collect::<Option<_>>()?;
    let value = match runs.as_slice() {
        [only] => Value::Object(only.clone()),
        several if several.iter().all(|run| run.len() == 1) => {
            let names = several.iter().flat_map(|run| match run.get("program") {
                Some(Value::Array(names)) => names.clone(),
                other => other.cloned().into_iter().collect(),
            });
            json!({"program": names.collect::<Vec<_>>()})
        }
        several => json!(several),
    };
    Some(Meaning { key: "runs", value })
}

/// The alternatives at the top.
fn split(pattern: &str) -> Option<Vec<&str>> {
    let pattern = trimmed(pattern);
    let (mut depth, mut escaped, mut start, mut found) = (0usize, false, 0, Vec::new());
    for (at, letter) in pattern.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            '|' if depth == 0 => {
                found.push(pattern.get(start..at)?);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(pattern.get(start..)?);
    // One group around everything changes nothing either.
    if let [only] = found.as_slice()
        && let Some(inner) = only.strip_prefix("(?:").or_else(|| only.strip_prefix('('))
        && let Some(inner) = inner.strip_suffix(')').filter(|inner| !inner.contains(['(', ')']))
    {
        return Some(inner.split('|').collect());
    }
    (depth == 0).then_some(found)
}

/// The pattern without what surrounds the words.
fn trimmed(mut pattern: &str) -> &str {
    while let Some(rest) = BEFORE.split(' ').find_map(|before| pattern.strip_prefix(before)) {
        pattern = rest;
    }
    while let Some(rest) = AFTER
        .split(' ')
        .filter(|after| !pattern.ends_with(&format!("\\{after}")))
        .find_map(|after| pattern.strip_suffix(after))
    {
        pattern = rest;
    }
    pattern
}

/// The words of one alternative; `None` if it says anything else.
fn words(pattern: &str) -> Option<Vec<PatternWord>> {
    let mut letters = trimmed(pattern).chars().peekable();
    let mut words: Vec<PatternWord> = Vec::new();
    let empty = |gap| PatternWord { choices: vec![String::new()], gap };
    let mut word = empty(false);
    while let Some(letter) = letters.next() {
        let piece: Choices = match letter {
            ' ' => {
                quantifier(&mut letters);
                words.push(std::mem::replace(&mut word, empty(false)));
                continue;
            }
            '.' if letters.next_if_eq(&'*').is_some() => {
                letters.next_if_eq(&'?');
                if word.choices.iter().all(String::is_empty) {
                    word.gap = true;
                } else {
                    words.push(std::mem::replace(&mut word, empty(true)));
                }
                continue;
            }
            '\\' => match letters.next()? {
                's' => {
                    quantifier(&mut letters);
                    if word.gap && word.choices.iter().all(String::is_empty) {
                        continue;
                    }
                    words.push(std::mem::replace(&mut word, empty(false)));
                    continue;
                }
                'b' => continue,
                plain @ ('.' | '-' | '/' | '_') => vec![plain.to_string()],
                _ => return None,
            },
            '(' => group(&mut letters)?,
            // An unescaped dot in a name is meant as a dot.
            '.' if letters.peek().is_some_and(char::is_ascii_alphanumeric) => vec![".".to_owned()],
            plain if plain.is_ascii_alphanumeric() || matches!(plain, '-' | '_' | '/' | '~' | ':' | '=') => {
                vec![plain.to_string()]
            }
            _ => return None,
        };
        if letters.peek().is_some_and(|next| matches!(next, '*' | '+' | '?' | '{')) {
            return None;
        }
        let joined =
            word.choices.iter().flat_map(|own| piece.iter().map(move |piece| format!("{own}{piece}")));
        word.choices = joined.collect();
        if word.choices.len() > 16 {
            return None;
        }
    }
    words.push(word);
    // A blank at the edge, or two of them.
    words.iter().flat_map(|word| &word.choices).all(|word| !word.is_empty()).then_some(words)
}

fn quantifier(letters: &mut Peekable<Chars<'_>>) {
    letters.next_if(|next| matches!(next, '+' | '*'));
}

/// `(a|b)`, with plain words in it.
fn group(letters: &mut Peekable<Chars<'_>>) -> Option<Choices> {
    if letters.next_if_eq(&'?').is_some() {
        letters.next_if_eq(&':')?;
    }
    let mut choices = vec![String::new()];
    loop {
        match letters.next()? {
            ')' => break,
            '|' => choices.push(String::new()),
            plain if plain.is_ascii_alphanumeric() || matches!(plain, '-' | '_') => {
                choices.last_mut()?.push(plain)
            }
            _ => return None,
        }
    }
    choices.iter().all(|choice| !choice.is_empty()).then_some(choices)
}

/// The files, where all alternatives name one, alone or as what a program shows.
fn files(lines: &[Vec<PatternWord>]) -> Option<Vec<String>> {
    let named = lines.iter().map(|words| match words.as_slice() {
        [files] => Some(&files.choices),
        [programs, files] if programs.choices.iter().all(|name| shows_files(name)) => Some(&files.choices),
        _ => None,
    });
    let named: Option<Vec<&Choices>> = named.collect();
    named?.into_iter().flatten().map(|word| file(word)).collect()
}

fn file(word: &str) -> Option<String> {
    let name = word.strip_suffix('/').filter(|name| !name.is_empty()).unwrap_or(word);
    let is_one = |names: &str| names.split(' ').any(|known| known == name);
    let rooted = name.starts_with('/') && name.matches('/').count() > 1 || name.starts_with("~/");
    match () {
        () if is_one(ENDINGS) => Some(format!("*{name}")),
        () if is_one(FILES) || rooted => Some(name.to_owned()),
        () if NAMED.split(' ').any(|end| name.ends_with(end)) && !name.contains(['/', ':', '=', '~']) => {
            Some(name.to_owned())
        }
        () => None,
    }
}

/// A program with its first words and options.
fn program(words: &[PatternWord], anchored: bool) -> Option<Map<String, Value>> {
    let (first, rest) = words.split_first()?;
    let names = &first.choices;
    // A program that runs another program is not itself the program.
    let known = |name: &String| {
        facts::program(name).is_some_and(|row| (!row.is_wrapper() || has_verbs(name)) && !row.shell)
    };
    let is_unmistakable = |name: &String| facts::program(name).is_some_and(|row| row.unmistakable);
    let says = !rest.is_empty() || anchored || names.iter().all(is_unmistakable);
    if !says || !names.iter().all(known) {
        return None;
    }
    let (mut args, mut flags): (Vec<Value>, Vec<String>) = Default::default();
    for word in rest {
        // Between most programs and a word there may be another subcommand: `docker container rm`.
        let skips = word.gap && (!args.is_empty() || !names.iter().all(|name| takes_globals_first(name)));
        match word.choices.as_slice() {
            [flag] if flag.starts_with('-') => flags.extend(flag_names(names, flag)?),
            // The word after an option may be its value.
            plain
                if flags.is_empty()
                    && !skips
                    && names.iter().all(|name| has_verbs(name))
                    && plain.iter().all(|word| is_subcommand(word)) =>
            {
                args.push(one_or_list(plain));
            }
            _ => return None,
        }
    }
    let mut run = Map::new();
    run.insert("program".to_owned(), one_or_list(names));
    if !args.is_empty() {
        run.insert("args".to_owned(), args.into());
    }
    if !flags.is_empty() {
        run.insert("flags".to_owned(), flags.into());
    }
    Some(run)
}

/// Whether the first word of a program is a subcommand or a target.
fn has_verbs(name: &str) -> bool {
    facts::program(name)
        .is_some_and(|row| row.has_subs() || row.whole().is_some_and(|whole| whole.goals || whole.verbs > 0))
}

/// Whether text before the subcommand can only be the program's own options.
fn takes_globals_first(name: &str) -> bool {
    facts::program(name).is_some_and(|row| row.globals_first)
}

/// Whether a program only shows the files that it is given.
fn shows_files(name: &str) -> bool {
    let shows = |row: &facts::Program| {
        let whole = row.whole()?;
        let reads = |does: &facts::Does| {
            matches!(does.deed, facts::Deed::Files(Act::Reads, _, facts::At::All))
                && does.conditions.is_empty()
        };
        let others = || facts::Effect::ALL.into_iter().filter(|(name, _)| *name != "reads");
        Some(whole.does.iter().any(reads) && others().all(|(_, effect)| whole.none.has(effect)))
    };
    facts::program(name).and_then(shows).unwrap_or_default()
}

fn is_subcommand(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_lowercase())
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | ':'))
}

fn flag_names(programs: &[String], flag: &str) -> Option<Vec<String>> {
    let one_dash =
        programs.iter().any(|name| facts::program(name).is_some_and(|row| row.style == Style::OneDash));
    let plain = |name: &str| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    };
    if let Some(long) = flag.strip_prefix("--") {
        return (plain(long) && long.len() > 1).then(|| vec![long.to_owned()]);
    }
    let short = flag.strip_prefix('-').filter(|short| plain(short) && !short.contains('-') && !one_dash)?;
    Some(short.chars().map(|letter| letter.to_string()).collect())
}

fn one_or_list(words: &[String]) -> Value {
    match words {
        [only] => json!(only),
        words => json!(words),
    }
}

#[cfg(test)]
mod tests;
