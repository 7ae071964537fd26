//! The effects of programs' own commands, and how they are written.

/// The effect of one command of such a program. Texts reach to the end of the command's line, or are words of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'t> {
    /// A shell reads this.
    Runs(&'t str),
    /// Reads a file.
    Reads(&'t str),
    /// Reads a folder with all it holds.
    ReadsDeep(&'t str),
    /// Writes a file.
    Writes(&'t str),
    /// Deletes a file.
    Deletes(&'t str),
    /// Reads a variable of the environment, or all.
    Variable(Option<&'t str>),
    /// Connects to a host.
    Reaches(&'t str),
    /// Runs what this text does not say.
    Opaque,
}

/// The letters that a text begins with, and what follows them.
pub fn word_of(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// The first word, without quotes around it.
pub fn first(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let found = match text.chars().next()? {
        quote @ ('"' | '\'') => text.get(1..)?.split(quote).next()?,
        _ => text.split_whitespace().next()?,
    };
    Some(found.trim_end_matches(';')).filter(|found| !found.is_empty())
}

/// Whether `word` is the name of a command or one of its short forms: `sil` of `sil[ent]`.
pub fn is_short(word: &str, names: &str) -> bool {
    names.split(' ').any(|name| {
        let (least, rest) = name.split_once('[').unwrap_or((name, ""));
        word.strip_prefix(least).is_some_and(|more| rest.trim_end_matches(']').starts_with(more))
    })
}
