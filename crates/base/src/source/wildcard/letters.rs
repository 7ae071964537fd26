//! Letters that get into a name by accident: signs of no script, invisible ones, blanks, quotation marks and commas
//! at its ends, and letters of another script that look like its own.

use unicode_script::{Script, UnicodeScript};

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
    /// At an end of the name.
    Mark,
    Dash,
    /// The letter is of the first script, and its word of the second.
    Mixed(Script, Script),
}

/// The first slip of a name. `None`: it has none.
pub(super) fn slip(name: &str) -> Option<Slip<'_>> {
    unseen(name).or_else(|| marks(name)).or_else(|| dash(name)).or_else(|| mixed(name))
}

/// An invisible letter, or a blank at an end: wrong in every text.
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

/// Of a text editor. A dash between words of a sentence may be meant, and Chinese and Japanese names have dashes of their own.
fn is_dash(letter: char) -> bool {
    matches!(letter, '\u{2010}'..='\u{2015}' | '\u{2212}')
}

fn dash(name: &str) -> Option<Slip<'_>> {
    let is_within = |letter: char| is_dash(letter) || letter.is_ascii() && !letter.is_whitespace();
    let sign = name.matches(is_dash).next().filter(|_| name.chars().all(is_within))?;
    Some(Slip { sign, what: What::Dash })
}

/// A word in which letters of another script are among those of its own. The scripts of Chinese, Japanese and Korean have no
/// letters that could be taken for those of others, and names mix them with Latin ones.
fn mixed(name: &str) -> Option<Slip<'_>> {
    if name.is_ascii() {
        return None;
    }
    let own = |letter: char| match letter.script() {
        Script::Common | Script::Inherited | Script::Unknown => None,
        Script::Han | Script::Hiragana | Script::Katakana | Script::Hangul | Script::Bopomofo => None,
        script => Some(script),
    };
    let words = name.split(|letter: char| letter.is_ascii() && !letter.is_ascii_alphanumeric());
    words.into_iter().find_map(|word| {
        let count = |script| word.chars().filter(|letter| own(*letter) == Some(script)).count();
        // Of as many letters the first is taken for the script of the word.
        let main = word.chars().rev().filter_map(own).max_by_key(|script| count(*script))?;
        let sign = word.matches(|letter| own(letter).is_some_and(|script| script != main)).next()?;
        Some(Slip { sign, what: What::Mixed(own(sign.chars().next()?)?, main) })
    })
}

/// The name without its slips, as far as they say what was meant.
pub(super) fn corrected(name: &str) -> String {
    let seen: String = name.chars().filter(|letter| !is_unseen(*letter)).collect();
    let trimmed = seen.trim_matches(|letter: char| letter.is_whitespace() || is_mark(letter));
    let (within, mixed) = (dash(trimmed).is_some(), mixed(trimmed).is_some());
    let meant = |letter: char| match letter {
        letter if within && is_dash(letter) => '-',
        letter if mixed => latin(letter).unwrap_or(letter),
        letter => letter,
    };
    trimmed.chars().map(meant).collect()
}

/// The Latin letter that a Cyrillic or Greek one is most often typed for. It makes the hint; what is an error is decided by scripts.
fn latin(letter: char) -> Option<char> {
    const MEANT: [(&str, &str); 2] = [
        ("аеорсухіјѕһԁԛԝӏАВЕКМНОРСТУХІЈЅ", "aeopcyxijshdqwlABEKMHOPCTYXIJS"),
        ("οΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oABEZHIKMNOPTYX"),
    ];
    MEANT.iter().find_map(|(others, own)| own.chars().nth(others.chars().position(|other| other == letter)?))
}

impl Slip<'_> {
    /// What is wrong, of the name of a tool.
    pub fn message(&self, name: &str) -> String {
        let code = self.sign.chars().next().map_or(0, u32::from);
        let (sign, quoted_name) = (self.sign, quoted(name));
        match self.what {
            What::Unseen => format!(
                "no tool's name has the letter U+{code:04X}, which nobody sees, in it: {}",
                quoted(&corrected(name))
            ),
            What::Blank => format!("no tool's name begins or ends with a blank: {quoted_name}"),
            What::Mark => {
                let what = match sign {
                    "," => "a comma",
                    ";" => "a semicolon",
                    _ => "a quotation mark",
                };
                format!("no tool's name begins or ends with {what}: {quoted_name}")
            }
            What::Dash => format!("no tool's name has the dash U+{code:04X} in it: {quoted_name}"),
            What::Mixed(script, main) => format!(
                "the `{sign}` in {quoted_name} is a {} letter (U+{code:04X}) among {} ones",
                script.full_name(),
                main.full_name()
            ),
        }
    }

    /// What to write instead.
    pub fn help(&self, name: &str) -> String {
        match &*corrected(name) {
            "" => "write the name of a tool".to_owned(),
            name if slip(name).is_some() => "type the name on one keyboard".to_owned(),
            name => format!("write {}", quoted(name)),
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
            ("Bash ", " ", "Bash"),
            ("Ba\u{200b}sh", "\u{200b}", "Bash"),
            ("“rm,” ", " ", "rm"),
        ] {
            let slip = slip(name).unwrap();
            assert_eq!(slip.sign, sign, "{name}");
            assert_eq!(slip.help(name), format!("write `{right}`"), "{name}");
        }
        let unknown = "type the name on one keyboard";
        for (name, sign, message, help) in [
            (
                "dеlete_user",
                "е",
                "the `е` in `dеlete_user` is a Cyrillic letter (U+0435) among Latin ones",
                "write `delete_user`",
            ),
            (
                "ΒashTool",
                "Β",
                "the `Β` in `ΒashTool` is a Greek letter (U+0392) among Latin ones",
                "write `BashTool`",
            ),
            (
                "getДанные",
                "g",
                "the `g` in `getДанные` is a Latin letter (U+0067) among Cyrillic ones",
                unknown,
            ),
            ("TNFα", "α", "the `α` in `TNFα` is a Greek letter (U+03B1) among Latin ones", unknown),
        ] {
            let slip = slip(name).unwrap();
            assert_eq!((slip.sign, &*slip.message(name)), (sign, message), "{name}");
            assert_eq!(slip.help(name), help, "{name}");
        }
        for name in [
            "delete_user",
            "удалить",
            "get_данные",
            "café",
            "पूछो_1",
            "データ・取得",
            "查询API",
            "get订单",
            "größe",
            "Bob's tool",
            "read – write",
            "a,b",
            "🔒",
            "Run a tool",
            "α_test",
            "",
        ] {
            assert!(slip(name).is_none(), "{name}");
        }
    }
}
