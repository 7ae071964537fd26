//! Letters that get into a name by accident: blanks, those that nobody sees, quotation marks and commas at its ends, dashes
//! of a text editor, and letters of another alphabet that look like Latin ones.

use crate::source::{is_unseen, quoted};

/// What is wrong with the letters of a name.
pub(super) struct Slip<'a> {
    /// The first letter that does not belong there.
    pub sign: &'a str,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Unseen,
    Blank,
    Mark,
    Dash,
    Alphabet(char),
}

/// The first slip of a name. `None`: it has none.
pub(super) fn slip(name: &str) -> Option<Slip<'_>> {
    unseen(name).or_else(|| marks(name)).or_else(|| dash(name)).or_else(|| alphabet(name))
}

/// A letter that nobody sees, or a blank at an end: wrong in every text.
pub(super) fn unseen(text: &str) -> Option<Slip<'_>> {
    if let Some(sign) = text.matches(is_unseen).next() {
        return Some(Slip { sign, what: What::Unseen });
    }
    let blank = |letter: char| letter.is_whitespace();
    let at_end = text.starts_with(blank) || text.ends_with(blank);
    let sign = text.matches(blank).next().filter(|_| at_end)?;
    Some(Slip { sign, what: What::Blank })
}

/// Whether a letter is a quotation mark.
pub fn is_quote(letter: char) -> bool {
    matches!(letter, '"' | '\'' | '`' | '´' | '«' | '»' | '‹' | '›' | '\u{2018}'..='\u{201f}')
}

fn is_mark(letter: char) -> bool {
    is_quote(letter) || matches!(letter, ',' | ';')
}

fn marks(name: &str) -> Option<Slip<'_>> {
    let sign = match name.matches(is_mark).next() {
        Some(first) if name.starts_with(is_mark) => first,
        _ => name.rmatches(is_mark).next().filter(|last| name.ends_with(last))?,
    };
    Some(Slip { sign, what: What::Mark })
}

fn is_dash(letter: char) -> bool {
    matches!(letter, '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// A dash between words of a sentence may be meant.
fn dash(name: &str) -> Option<Slip<'_>> {
    let is_within = !name.contains(char::is_whitespace);
    // Chinese and Japanese names have dashes of their own.
    let sign = name
        .matches(is_dash)
        .next()
        .filter(|_| is_within && name.chars().all(|c| c.is_ascii() || is_dash(c)))?;
    Some(Slip { sign, what: What::Dash })
}

/// A word in which Latin letters stand beside others that only look like them. Words of another alphabet are names as well.
fn alphabet(name: &str) -> Option<Slip<'_>> {
    let mixed = |word: &&str| {
        let mut letters = word.chars();
        let foreign = || word.chars().filter(|letter| !letter.is_ascii());
        letters.any(|letter| letter.is_ascii()) && foreign().all(|letter| latin(letter).is_some())
    };
    let words = name.split(|letter: char| !letter.is_alphabetic());
    let sign = words.filter(mixed).find_map(|word| word.matches(|letter: char| !letter.is_ascii()).next())?;
    let looks = latin(sign.chars().next()?)?;
    Some(Slip { sign, what: What::Alphabet(looks) })
}

/// The Latin letter that a Cyrillic or Greek one looks like.
fn latin(letter: char) -> Option<char> {
    const ALIKE: [(&str, &str); 3] = [
        ("аеорсухіјѕһԁԛԝӏ", "aeopcyxijshdqwl"),
        ("АВЕКМНОРСТУХІЈЅ", "ABEKMHOPCTYXIJS"),
        // The others of its small letters stand in names of their own right: `TNFα`.
        ("οΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oABEZHIKMNOPTYX"),
    ];
    ALIKE.iter().find_map(|(others, own)| {
        let at = others.chars().position(|other| other == letter)?;
        own.chars().nth(at)
    })
}

/// The name without its slips.
pub(super) fn corrected(name: &str) -> String {
    let seen: String = name.chars().filter(|letter| !is_unseen(*letter)).collect();
    let trimmed = seen.trim_matches(|letter: char| letter.is_whitespace() || is_mark(letter));
    let within = dash(trimmed).is_some();
    let mut name: String =
        trimmed.chars().map(|letter| if within && is_dash(letter) { '-' } else { letter }).collect();
    while let Some(Slip { sign, what: What::Alphabet(looks) }) = alphabet(&name) {
        let sign = sign.to_owned();
        name = name.replace(&sign, &looks.to_string());
    }
    name
}

impl Slip<'_> {
    /// What is wrong, of the name of a tool.
    pub fn message(&self, name: &str) -> String {
        let code = self.sign.chars().next().map_or(0, u32::from);
        match self.what {
            What::Unseen => format!(
                "no tool's name has the letter U+{code:04X}, which nobody sees, in it: {}",
                quoted(&corrected(name))
            ),
            What::Blank => format!("no tool's name begins or ends with a blank: {}", quoted(name)),
            What::Mark => {
                let what = if self.sign.starts_with(is_quote) { "a quotation mark" } else { "a comma" };
                let what = if self.sign == ";" { "a semicolon" } else { what };
                format!("no tool's name begins or ends with {what}: {}", quoted(name))
            }
            What::Dash => {
                format!("no tool's name has the dash U+{code:04X} in it: {}", quoted(name))
            }
            What::Alphabet(looks) => format!(
                "the `{}` in {} is U+{code:04X} of another alphabet, which only looks like `{looks}`",
                self.sign,
                quoted(name)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_corrected() {
        for (name, sign, right) in [
            ("“delete_user”", "“", "delete_user"),
            ("delete_user”", "”", "delete_user"),
            ("'rm'", "'", "rm"),
            ("`rm`", "`", "rm"),
            ("rm,", ",", "rm"),
            ("rm;", ";", "rm"),
            ("delete–user", "–", "delete-user"),
            ("dеlete_user", "е", "delete_user"),
            ("ΒashTool", "Β", "BashTool"),
            ("Bash ", " ", "Bash"),
            ("Ba\u{200b}sh", "\u{200b}", "Bash"),
            ("“rm,” ", " ", "rm"),
        ] {
            assert_eq!(slip(name).map(|slip| slip.sign), Some(sign), "{name}");
            assert_eq!(corrected(name), right, "{name}");
        }
        for name in [
            "delete_user",
            "удалить",
            "get_данные",
            "getДанные",
            "größe",
            "Bob's tool",
            "read – write",
            "a,b",
            "Run a tool",
            "α_test",
            "",
        ] {
            assert!(slip(name).is_none(), "{name}");
        }
    }
}
