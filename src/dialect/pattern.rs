//! Traps in regular expressions that change no meaning: what was written is kept, and what it does is said.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, code};
use crate::source::{Node, Source, Span, quoted};

/// What is wrong with the expressions of `args_match`. `node`: the call that has the key.
pub fn traps_in(node: &Node, args_match: &[(Arc<str>, Arc<str>)], source: &Source) -> Vec<Diagnostic> {
    let Some(written) = node.entry("args_match") else { return Vec::new() };
    let found = args_match.iter().filter_map(|(argument, pattern)| {
        let span = written.value.entry(argument).map_or(written.key_span, |entry| entry.value.span);
        trap(pattern, source, span)
    });
    found.collect()
}

/// What an expression does that its author hardly meant.
pub fn trap(pattern: &str, source: &Source, span: Span) -> Option<Diagnostic> {
    if pattern.contains('\u{8}') {
        let message =
            "the pattern holds a backspace: in JSON and between double quotes `\\b` is that character";
        let told = Diagnostic::warning(code::BACKSPACE_IN_PATTERN, message).at(source, span);
        return Some(told.help("write `\\\\b` for a word boundary"));
    }
    let (message, help) = if let Some(line) = pattern.strip_suffix('\n').filter(|_| !is_spaced(pattern)) {
        let message = "the pattern ends with a line break, so it is found only where the text has one there";
        (message.to_owned(), format!("write {} on one line, or `|-` in place of `|`", quoted(line.trim())))
    } else if let Some((inner, flags)) = literal(pattern) {
        let message = format!("the slashes and `{flags}` of {} are searched as they are", quoted(pattern));
        let instead = if flags.contains('i') { format!("(?i){inner}") } else { inner.to_owned() };
        (message, format!("write {}", quoted(&instead)))
    } else {
        let why = contradiction(pattern)?;
        let message = format!("{} never matches: {why}", quoted(pattern));
        (message, "correct the pattern: a backslash before `^` or `$` makes it a letter".to_owned())
    };
    Some(Diagnostic::warning(code::NEVER_MET, message).at(source, span).help(help))
}

/// Whether blanks in an expression mean nothing.
fn is_spaced(pattern: &str) -> bool {
    let flags = pattern.strip_prefix("(?").and_then(|rest| rest.split([')', ':']).next());
    flags.is_some_and(|flags| flags.contains('x'))
}

/// `/…/i`, as JavaScript writes an expression. Without flags it may be a path.
fn literal(pattern: &str) -> Option<(&str, &str)> {
    let (inner, flags) = pattern.strip_prefix('/')?.rsplit_once('/')?;
    let is_flags = !flags.is_empty() && flags.len() <= 4 && flags.chars().all(|flag| "gimsuy".contains(flag));
    (is_flags && !inner.is_empty() && !inner.replace("\\/", "").contains('/')).then_some((inner, flags))
}

/// Why no text can have what an expression asks for. Only what is plain to see is found.
fn contradiction(pattern: &str) -> Option<&'static str> {
    const NO_LETTER: [&str; 6] =
        ["[^\\s\\S]", "[^\\S\\s]", "[^\\w\\W]", "[^\\W\\w]", "[^\\d\\D]", "[^\\D\\d]"];
    if pattern.contains('|') || pattern.starts_with("(?") {
        return None;
    }
    if NO_LETTER.iter().any(|set| pattern.contains(set)) {
        return Some("no letter is left in the brackets");
    }
    // Whether the letter before is one that the text must have, and whether the text has ended.
    let (mut letter, mut ended) = (false, false);
    let mut rest = pattern.chars();
    while let Some(sign) = rest.next() {
        let plain = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '/' | '-' | ' ');
        match sign {
            '[' | '(' | '\\' => return None,
            '^' if letter => return Some("nothing comes before the beginning of the text"),
            _ if ended && plain(sign) => {
                // It may be there or not.
                let optional = rest.clone().next().is_some_and(|next| matches!(next, '?' | '*' | '{'));
                return (!optional).then_some("nothing follows the end of the text");
            }
            _ => {}
        }
        ended = sign == '$';
        letter = plain(sign);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traps_are_told() {
        let source = Source::new("p.yaml", "x");
        for (pattern, said) in [
            ("rm -rf\n", Some("ends with a line break")),
            ("(?x) rm\n", None),
            ("rm", None),
            ("\u{8}rm\u{8}", Some("backspace")),
            ("/rm/i", Some("the slashes and `i`")),
            ("/rm/gi", Some("the slashes and `gi`")),
            ("/rm/", None),
            ("/tmp/x/i", None),
            ("/etc/passwd", None),
            ("a^", Some("nothing comes before")),
            ("a^b", Some("nothing comes before")),
            ("$a", Some("nothing follows")),
            ("a$b", Some("nothing follows")),
            ("[^\\s\\S]", Some("no letter is left")),
            ("^a$", None),
            ("^$", None),
            ("$a?", None),
            ("a|^b", None),
            ("\\$a", None),
            ("a\\^", None),
            ("[^a]b", None),
            ("(?m)a$\nb", None),
            ("x*^a", None),
        ] {
            let told = trap(pattern, &source, Span::default());
            let message = told.as_ref().map(|told| told.message.as_str());
            match said {
                Some(said) => {
                    assert!(message.is_some_and(|text| text.contains(said)), "{pattern:?}: {message:?}")
                }
                None => assert_eq!(message, None, "{pattern:?}"),
            }
            assert!(told.is_none_or(|told| told.help.is_some()), "{pattern:?}");
        }
    }
}
