//! `runs` of a row: how a program names the one that it runs.

use crate::shell::facts::table::text;
use crate::shell::facts::{Apart, Inner};
use crate::source::{Field, Problem, ProblemKind, quoted};

pub fn plain(word: &str) -> bool {
    !word.contains(|letter: char| letter.is_whitespace() || letter.is_control() || letter == '|')
}

pub fn is_option(word: &str) -> bool {
    word.starts_with('-') && word.len() > 1 && plain(word)
}

/// The options that these words all are.
pub fn options(words: &[&str]) -> Option<&'static str> {
    (!words.is_empty() && words.iter().all(|word| is_option(word))).then(|| text(&words.join(" ")))
}

/// How a program names the one that it runs, and what else there is to know of it.
pub struct Runs {
    pub inner: Inner,
    pub skip: usize,
    pub elsewhere: bool,
    pub apart: Option<Apart>,
    pub more: bool,
    pub besides: bool,
    pub shell: &'static str,
}

/// Whether the next word is this one, which is then taken.
fn mark(name: &str, rest: &mut &[&str]) -> bool {
    match *rest {
        [first, others @ ..] if *first == name => {
            *rest = others;
            true
        }
        _ => false,
    }
}

/// The options after this word, where it is the next one. Without options it is left, and refused.
fn given(name: &str, rest: &mut &[&str]) -> &'static str {
    let end = rest.iter().skip(1).position(|word| !is_option(word)).map_or(rest.len(), |end| end + 1);
    match rest.split_at_checked(end) {
        Some(([first, own @ ..], others)) if *first == name => {
            let Some(own) = options(own) else { return "" };
            *rest = others;
            own
        }
        _ => "",
    }
}

/// `words after 1`, `-c --command or words`, `script elsewhere`.
pub fn runs(field: &Field<'_>, out: &mut Vec<Problem>) -> Option<Runs> {
    let words: Vec<&str> = field.name(out)?.split(' ').collect();
    let end = words
        .iter()
        .position(|word| matches!(*word, "after" | "elsewhere" | "apart" | "more" | "besides" | "shell"));
    let (own, mut rest) = words.split_at_checked(end.unwrap_or(words.len()))?;
    let inner = match own {
        ["words"] => Some(Inner::Words),
        ["script"] => Some(Inner::Script),
        ["first"] => Some(Inner::First),
        ["input"] => Some(Inner::Input),
        ["keys"] => Some(Inner::Keys),
        ["past", own @ ..] => options(own).map(Inner::After),
        ["as", program] if plain(program) && !program.is_empty() => Some(Inner::As(text(program))),
        [own @ .., "or", "words"] => options(own).map(Inner::ValueOrWords),
        own => options(own).map(Inner::Value),
    };
    let mut skip = Some(0);
    if let ["after", number, others @ ..] = rest {
        let digits = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
        (skip, rest) = (number.parse().ok().filter(|_| digits), others);
    }
    let (elsewhere, is_apart) = (mark("elsewhere", &mut rest), mark("apart", &mut rest));
    let apart =
        is_apart.then(|| Apart { with: given("with", &mut rest), without: given("without", &mut rest) });
    let (more, besides) = (mark("more", &mut rest), mark("besides", &mut rest));
    let shell = match rest {
        [] => Some(""),
        ["shell"] => Some("*"),
        ["shell", own @ ..] => options(own),
        _ => None,
    };
    match (inner, skip, shell) {
        (Some(inner), Some(skip), Some(shell)) => {
            Some(Runs { inner, skip, elsewhere, apart, more, besides, shell })
        }
        _ => {
            let message = format!("{} does not say how the other program is named", quoted(&words.join(" ")));
            let help = "write `words`, `script`, `first`, `input`, `keys`, `past OPTIONS`, `as PROGRAM`, options, or `OPTIONS or words`; then what holds of `after NUMBER`, `elsewhere`, `apart`, `more`, `besides` and `shell`";
            out.push(field.problem(ProblemKind::BadValue, message).help(help));
            None
        }
    }
}
