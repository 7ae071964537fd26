//! The patterns that curl reads in URLs: `{one,two}`, `[1-20]`, `[a-z:2]`.

use super::facts::UrlGlobs;
use super::options::{Arguments, Given};
use super::word::{Piece, Word};

/// The most words of one URL. Beyond it, its patterns are gaps.
const WORDS: usize = 64;

/// The words of a program after expansion of their patterns.
pub fn globbed<'p>(arguments: Arguments<'p>, globs: &UrlGlobs) -> Arguments<'p> {
    if arguments.is_on(&globs.off) {
        return arguments;
    }
    let operands: Vec<Word> = arguments.operands.iter().flat_map(expanded).collect();
    let options = arguments.options.into_iter().flat_map(|given| match given {
        Given { name, value: Some(value), level } if globs.values.contains(&name) => {
            let values = expanded(&value).into_iter();
            values.map(|value| Given { name: name.clone(), value: Some(value), level }).collect()
        }
        Given { name, value: Some(value), level } if globs.named.contains(&name) => {
            vec![Given { name, value: Some(with_gaps(&value)), level }]
        }
        given => vec![given],
    });
    Arguments { options: options.collect(), operands, ..arguments }
}

/// A letter, or a piece that is not text.
type Atom = Result<char, Piece>;

fn atoms(word: &Word) -> Vec<Atom> {
    // For a shell a bracket is a pattern of names; where no file fits, curl gets it as written.
    let is_open = |piece: &Piece| matches!(piece, Piece::Unknown(_) | Piece::Home);
    if !word.pieces.iter().any(is_open) {
        return word.to_string().chars().map(Ok).collect();
    }
    let mut atoms = Vec::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text(text) | Piece::Pattern(text) => atoms.extend(text.chars().map(Ok)),
            other => atoms.push(Err(other.clone())),
        }
    }
    atoms
}

fn append(word: &mut Word, atoms: &[Atom]) {
    for atom in atoms {
        match atom {
            Ok(letter) => word.push(letter.encode_utf8(&mut [0; 4])),
            Err(piece) => word.pieces.push(piece.clone()),
        }
    }
}

/// The words of a URL with patterns, or the word as it is.
fn expanded(word: &Word) -> Vec<Word> {
    let has_pattern = |piece: &Piece| match piece {
        Piece::Text(text) | Piece::Pattern(text) => text.contains(['{', '[']),
        Piece::Home | Piece::Unknown(_) => false,
    };
    if !word.pieces.iter().any(has_pattern) {
        return vec![word.clone()];
    }
    let atoms = atoms(word);
    let mut words = vec![Word { pieces: Vec::new(), many: word.many }];
    let mut rest = atoms.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let pattern = match first {
            Ok('{') => list(after),
            Ok('[') => range(after),
            _ => None,
        };
        let Some((choices, after)) = pattern else {
            // `\{` is the letter.
            let escaped = *first == Ok('\\') && matches!(after.first(), Some(Ok('{' | '[' | '}' | ']')));
            let (taken, after) = rest.split_at(1 + usize::from(escaped));
            let taken = if escaped { taken.get(1..).unwrap_or_default() } else { taken };
            words.iter_mut().for_each(|word| append(word, taken));
            rest = after;
            continue;
        };
        if choices.is_empty() || words.len() * choices.len() > WORDS {
            let written = rest.get(..rest.len() - after.len()).unwrap_or_default();
            let mut gap = Word::default();
            append(&mut gap, written);
            words.iter_mut().for_each(|word| word.pieces.push(Piece::Unknown(gap.to_string())));
        } else {
            words = words
                .iter()
                .flat_map(|word| {
                    choices.iter().map(|choice| {
                        let mut word = word.clone();
                        append(&mut word, choice);
                        word
                    })
                })
                .collect();
        }
        rest = after;
    }
    words
}

/// The choices of `one,two}` and the text after it. curl stops at a list that is not closed.
fn list(atoms: &[Atom]) -> Option<(Vec<Vec<Atom>>, &[Atom])> {
    let end = atoms.iter().position(|atom| *atom == Ok('}'))?;
    let (inner, after) = atoms.split_at(end);
    let choices: Vec<Vec<Atom>> = inner.split(|atom| *atom == Ok(',')).map(<[Atom]>::to_vec).collect();
    Some((if choices.len() > WORDS { Vec::new() } else { choices }, after.get(1..).unwrap_or_default()))
}

/// The choices of `1-20]`, `001-100:10]`, `a-z]` and the text after it; no choices if they are too many. Anything else
/// in brackets is an address of IPv6 or a letter.
fn range(atoms: &[Atom]) -> Option<(Vec<Vec<Atom>>, &[Atom])> {
    let end = atoms.iter().position(|atom| *atom == Ok(']'))?;
    let (inner, after) = atoms.split_at(end);
    let after = after.get(1..).unwrap_or_default();
    let Some(text) = inner.iter().map(|atom| atom.as_ref().ok()).collect::<Option<String>>() else {
        return Some((Vec::new(), after));
    };
    let (bounds, step) = text.split_once(':').unwrap_or((&text, "1"));
    let (first, last) = bounds.split_once('-')?;
    let step: usize = step.parse().ok().filter(|step| *step > 0)?;
    let names: Vec<String> = match (first.as_bytes(), last.as_bytes()) {
        ([low], [high]) if low.is_ascii_alphabetic() && high.is_ascii_alphabetic() => {
            (*low..=*high).step_by(step).map(|letter| char::from(letter).to_string()).collect()
        }
        _ => {
            let (low, high) = (number(first)?, number(last)?);
            let width = if first.starts_with('0') { first.len() } else { 0 };
            (low..=high).step_by(step).take(WORDS + 1).map(|number| format!("{number:0width$}")).collect()
        }
    };
    let choices = if names.len() > WORDS { Vec::new() } else { names };
    Some((choices.iter().map(|name| name.chars().map(Ok).collect()).collect(), after))
}

fn number(digits: &str) -> Option<u64> {
    digits.bytes().all(|letter| letter.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// The name of a file with a gap for each `#1`, which is what the first pattern of the URL became.
fn with_gaps(word: &Word) -> Word {
    let mut found = Word { pieces: Vec::new(), many: word.many };
    for piece in &word.pieces {
        let Piece::Text(text) = piece else {
            found.pieces.push(piece.clone());
            continue;
        };
        let mut parts = text.split('#');
        found.push(parts.next().unwrap_or_default());
        for part in parts {
            let rest = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
            let (digits, rest) = part.split_at(part.len() - rest.len());
            if digits.is_empty() {
                found.push("#");
            } else {
                found.pieces.push(Piece::Unknown(format!("#{digits}")));
            }
            found.push(rest);
        }
    }
    found
}
