//! The possible readings of a command's words: unlisted options may or may not have values, and unknown words may be
//! several.

use super::facts::Program;
use super::options::{Arguments, Parser, Way};
use super::word::Word;

/// The most readings of one command: an option that is not listed takes the next word, or does not.
const READINGS: usize = 16;

/// All readings of the words, the first without values for unlisted options; and whether there are more.
pub fn readings<'p>(program: &'p Program, words: &[Word]) -> (Vec<Arguments<'p>>, bool) {
    let (found, _, more) =
        all(READINGS, words, |taken| (Parser::new(program, None, taken).read(words), true));
    (found, more)
}

/// The words without those that may be nothing, or options before the subcommand: words that the shell splits. With the
/// first of them.
pub fn without_splits(
    program: &Program,
    args: &[Word],
    read: Option<&Arguments<'_>>,
) -> Option<(String, Vec<Word>)> {
    let read = read?;
    let comes_before = read.skipped == 0 && program.has_subs();
    let (splits, others): (Vec<&Word>, Vec<&Word>) = args
        .iter()
        .partition(|word| word.is_open() && (word.many || comes_before) && read.operands.contains(word));
    Some((splits.first()?.to_string(), others.into_iter().cloned().collect()))
}

/// The readings of the words as a way to run another program: those that differ, how many were tried, and whether there may be more.
pub fn openings<'p>(
    program: &'p Program,
    way: Way<'p>,
    words: &[Word],
    most: usize,
) -> (Vec<Arguments<'p>>, usize, bool) {
    let one = |taken: &[usize]| {
        let mut parser = Parser::new(program, Some(way), taken);
        let read = parser.read(words);
        (read, parser.is_complete())
    };
    let (mut found, tried, more) = all(most.min(READINGS), words, one);
    let mut kept: Vec<usize> = Vec::new();
    found.retain(|read| {
        let is_new = !kept.contains(&read.inner);
        kept.push(read.inner);
        is_new
    });
    (found, tried, more)
}

/// Whether an ambiguous word is not written like an option.
fn is_vague(words: &[Word], place: usize) -> bool {
    words.get(place).is_some_and(Word::is_open)
}

fn all<'p>(
    most: usize,
    words: &[Word],
    one: impl Fn(&[usize]) -> (Arguments<'p>, bool),
) -> (Vec<Arguments<'p>>, usize, bool) {
    let mut found: Vec<Arguments<'p>> = Vec::new();
    let mut tried: Vec<Vec<usize>> = vec![Vec::new()];
    let mut at = 0;
    while let Some(taken) = tried.get(at).cloned().filter(|_| at < most) {
        at += 1;
        let (read, fits) = one(&taken);
        // A word that looks like an option is not the value of another one.
        let is_value = |word: &Word| !word.start().starts_with('-') || word.start() == "-";
        let differs = |place: usize| is_vague(words, place) || words.get(place + 1).is_some_and(is_value);
        for (place, _) in read.unlisted.iter().filter(|(place, _)| differs(*place)) {
            // Whether there is one more than are tried is all that matters.
            if tried.len() <= most && taken.last().is_none_or(|last| place > last) {
                tried.push(taken.iter().copied().chain([*place]).collect());
            }
        }
        if fits {
            found.push(Arguments { assumed: !taken.is_empty(), ..read });
        }
    }
    let more = at < tried.len();
    (found, at, more)
}
