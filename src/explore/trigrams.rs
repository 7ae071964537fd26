//! Sets of three-letter runs that a text may have: small enough to be kept for each session, so that a word is searched
//! for only where it can be.
//!
//! A run outside the set is certainly not in the text; a run in the set may be. Letters are compared without regard to
//! case, as filters do.

use regex_syntax::hir::literal::{ExtractKind, Extractor, Seq};

/// Bits of the largest set: 4 KiB.
const MOST_BITS: usize = 1 << 15;
/// Bytes of text that are looked at. Of longer texts nothing is known: nearly every run would be in them.
const MOST_TEXT: usize = 1 << 18;
/// Bits of the smallest set.
const LEAST_BITS: usize = 1 << 9;

/// The runs of three letters in a few texts; empty if unknown.
#[derive(Debug, Clone, Default)]
pub struct Trigrams(Box<[u64]>);

/// The runs that a text must have for a pattern to match: all runs of one of these.
#[derive(Debug)]
pub struct Needed(Vec<Vec<u32>>);

impl Trigrams {
    /// Of these texts.
    pub fn of<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Trigrams {
        let length: usize = texts.clone().map(str::len).sum();
        if length > MOST_TEXT {
            return Trigrams::default();
        }
        let bits = length.next_power_of_two().clamp(LEAST_BITS, MOST_BITS);
        let mut set = Trigrams(vec![0; bits / 64].into());
        for text in texts {
            if text.is_ascii() {
                set.extend(runs_of_ascii(text));
            } else {
                set.extend(runs(text));
            }
        }
        set
    }

    fn extend(&mut self, runs: impl Iterator<Item = u32>) {
        for run in runs {
            let (word, bit) = self.place(run);
            if let Some(word) = self.0.get_mut(word) {
                *word |= bit;
            }
        }
    }

    fn place(&self, run: u32) -> (usize, u64) {
        // Multiplied so that neighbouring runs are far apart; the number of bits is a power of two.
        let mixed = (u64::from(run).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
        let bit = mixed & (self.0.len() * 64).saturating_sub(1);
        (bit / 64, 1 << (bit % 64))
    }

    /// Whether the texts may contain what is needed.
    pub fn may_hold(&self, needed: &Needed) -> bool {
        let holds = |run: &u32| {
            let (word, bit) = self.place(*run);
            self.0.get(word).is_some_and(|word| word & bit != 0)
        };
        self.0.is_empty() || needed.0.iter().any(|one| one.iter().all(holds))
    }
}

impl Needed {
    /// For a pattern that is searched without regard to case; `None` if it is unknown what it needs.
    pub fn of(pattern: &str) -> Option<Needed> {
        // Letters are folded here, so that the pattern need not be: it would have many more beginnings.
        let parsed =
            regex_syntax::ParserBuilder::new().dot_matches_new_line(true).build().parse(pattern).ok()?;
        let of = |kind| {
            let found = Extractor::new().kind(kind).extract(&parsed);
            Needed::of_literals(&found)
        };
        let (first, last) = (of(ExtractKind::Prefix), of(ExtractKind::Suffix));
        let shortest = |needed: &Needed| needed.0.iter().map(Vec::len).min();
        // The longer ones are in fewer texts.
        [first, last].into_iter().flatten().max_by_key(shortest)
    }

    fn of_literals(found: &Seq) -> Option<Needed> {
        let literals = found.literals()?;
        let needed = literals
            .iter()
            .map(|literal| runs(std::str::from_utf8(literal.as_bytes()).ok()?).map(Some).collect());
        let needed: Vec<Vec<u32>> = needed.collect::<Option<_>>()?;
        needed.iter().all(|one| !one.is_empty()).then_some(Needed(needed))
    }
}

/// The runs of three ASCII letters, in lower case. Others are left out, on both sides of a comparison: a text that is
/// equal without regard to case may have another length.
fn runs(text: &str) -> impl Iterator<Item = u32> + Clone {
    let (mut run, mut length) = (0_u32, 0_u8);
    text.chars().filter_map(move |letter| {
        let Some(letter) = folded(letter) else {
            length = 0;
            return None;
        };
        run = (run << 8 | u32::from(letter)) & 0x00ff_ffff;
        length = (length + 1).min(3);
        (length == 3).then_some(run)
    })
}

/// The same for an ASCII text, as nearly all texts are, at less cost.
fn runs_of_ascii(text: &str) -> impl Iterator<Item = u32> {
    let letters = text.bytes().map(|letter| u32::from(letter.to_ascii_lowercase()));
    let mut run = 0;
    let runs = letters.map(move |letter| {
        run = (run << 8 | letter) & 0x00ff_ffff;
        run
    });
    runs.skip(2)
}

/// Two letters beyond ASCII are equal to letters in it: the long s and the sign for kelvin.
fn folded(letter: char) -> Option<u8> {
    match letter {
        'ſ' => Some(b's'),
        '\u{212a}' => Some(b'k'),
        letter => u8::try_from(letter).ok().filter(u8::is_ascii).map(|letter| letter.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_alone_have_the_same_runs_either_way() {
        for text in ["", "a", "Ab", "Abc", "aBcD", "{\"order_id\": \"W-1\"}\n\u{0}\u{7f}"] {
            let either: Vec<u32> = runs(text).collect();
            assert_eq!(runs_of_ascii(text).collect::<Vec<_>>(), either, "{text:?}");
            assert_eq!(either.len(), text.len().saturating_sub(2), "{text:?}");
        }
    }

    #[test]
    fn what_is_in_a_text_may_be_in_it() {
        let texts = ["the Kelvin sign \u{212a}elvin", "plain ASCII only", "ümläut und ſtraße"];
        let set = Trigrams::of(texts.into_iter());
        for there in ["kelvin", "KELVIN", "ascii", "only", "straße", "mläut"] {
            assert!(Needed::of(there).is_none_or(|needed| set.may_hold(&needed)), "{there}");
        }
        assert!(!set.may_hold(&Needed::of("fahrenheit").unwrap()));
    }
}
