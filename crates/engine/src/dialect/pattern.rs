//! Traps in regular expressions that change no meaning: the expression is kept as written, and its effect is reported.

use std::sync::Arc;

use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::source::wildcard::is_quote;
use rulestep_base::source::{Node, Source, Span, quoted};

/// Problems of the expressions of `args_match`. `node`: the call that has the key.
pub fn traps_in(node: &Node, args_match: &[(Arc<str>, Arc<str>)], source: &Source) -> Vec<Diagnostic> {
    let Some(written) = node.entry("args_match") else { return Vec::new() };
    let found = args_match.iter().filter_map(|(argument, pattern)| {
        let span = written.value.entry(argument).map_or(written.key_span, |entry| entry.value.span);
        trap(pattern, source, span).or_else(|| value_as_pattern(argument, pattern, source, span))
    });
    found.collect()
}

/// A value, a comparison or an exception where an expression is searched in an argument.
fn value_as_pattern(argument: &str, pattern: &str, source: &Source, span: Span) -> Option<Diagnostic> {
    // The command `yes`, a line of code with `None`, a cell with `!pip`.
    if holds_text(argument) {
        return None;
    }
    let text = quoted(pattern);
    let is_plain = source.slice(span) == pattern;
    let word = pattern.trim_start_matches('^').trim_end_matches('$');
    let (message, help) = if let Some(truth) = truth(pattern).filter(|_| is_plain) {
        (
            format!("{text} is a text, which is not found in the value {truth}"),
            format!("write \"{truth}\", or \"{pattern}\" in quotes if calls have this text"),
        )
    } else if let Some(value) = python(word) {
        (
            format!("{text} is not found in the value {value}, which JSON writes in lower case"),
            format!("write \"{value}\", or \"(?:{word})\" if calls have this text"),
        )
    } else if is_comparison(pattern) {
        (
            format!("{text} is searched as a text: a pattern compares no numbers"),
            "write an expression for the digits, as `^\\d{4,}$` for 1000 and more".to_owned(),
        )
    } else if let Some(inner) = slashed(pattern).filter(|_| CHOICES.contains(&argument)) {
        (format!("the slashes of {text} are searched as they are"), format!("write {}", quoted(inner)))
    } else {
        let name = pattern.strip_prefix('!').filter(|name| is_name(name))?;
        (
            format!("the `!` of {text} is searched as it is: a pattern has no exceptions"),
            format!(
                "list what is meant, as in `^(a|b)$`, without {}; `[!]` finds the sign itself",
                quoted(name)
            ),
        )
    };
    Some(Diagnostic::warning(code::NEVER_MET, message).at(source, span).help(help))
}

/// The boolean that a word was in YAML 1.1, but not in YAML 1.2.
pub fn truth(word: &str) -> Option<bool> {
    match &*word.to_ascii_lowercase() {
        "yes" | "on" => Some(true),
        "no" | "off" => Some(false),
        _ => None,
    }
}

/// The JSON value of a Python literal.
fn python(word: &str) -> Option<&'static str> {
    match word {
        "True" | "TRUE" => Some("true"),
        "False" | "FALSE" => Some("false"),
        "None" => Some("null"),
        _ => None,
    }
}

/// `> 500`.
fn is_comparison(pattern: &str) -> bool {
    let rest = [">=", "<=", ">", "<"].iter().find_map(|sign| pattern.strip_prefix(sign));
    rest.is_some_and(|rest| rest.trim().parse::<f64>().is_ok())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
}

/// Arguments that have one of a few words. In others, such as a path, `/prod/` is searched for good reason.
const CHOICES: &[&str] =
    &["env", "environment", "stage", "region", "cluster", "status", "state", "mode", "kind", "type", "role"];

/// `/x/`, as JavaScript writes an expression: what is between the slashes.
fn slashed(pattern: &str) -> Option<&str> {
    pattern.strip_prefix('/')?.strip_suffix('/').filter(|inner| is_name(inner))
}

/// Whether an argument holds a program or prose, in which any word may be searched for good reason.
fn holds_text(argument: &str) -> bool {
    const TEXTS: &[&str] = &[
        "code", "command", "cmd", "script", "source", "input", "content", "text", "query", "sql", "expr",
        "filter", "message", "body", "string", "_str", "patch", "diff", "glob", "pattern", "prompt",
        "ignore", "exclude",
    ];
    TEXTS.iter().any(|text| argument.to_ascii_lowercase().contains(text))
}

/// A plain text between quotation marks of a text editor.
fn in_quotes(pattern: &str) -> Option<&str> {
    let typographic = |letter: char| is_quote(letter) && !letter.is_ascii();
    let inner = pattern.strip_prefix(typographic)?.strip_suffix(typographic)?;
    is_name(inner).then_some(inner)
}

/// A meaning of an expression that its author hardly intended.
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
    } else if let Some(inner) = in_quotes(pattern) {
        let message = format!("the quotation marks of {} are searched as they are", quoted(pattern));
        (message, format!("write {}", quoted(inner)))
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
                // It may be present or not.
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
            ("“true”", Some("the quotation marks")),
            ("“.*”", None),
            ("\"true\"", None),
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

    #[test]
    fn values_are_no_patterns() {
        let told = |argument: &str, pattern: &str, written: &str| {
            let source = Source::new("p.yaml", written);
            let span = Span { start: 0, end: written.len() };
            value_as_pattern(argument, pattern, &source, span).map(|told| told.message)
        };
        for (argument, pattern, said) in [
            ("force", "yes", Some("the value true")),
            ("force", "Off", Some("the value false")),
            ("force", "True", Some("lower case")),
            ("force", "^None$", Some("the value null")),
            ("amount", "> 500", Some("compares no numbers")),
            ("amount", "<=1.5", Some("compares no numbers")),
            ("env", "!staging", Some("no exceptions")),
            ("code", "!pip", None),
            ("new_source", "!pip", None),
            ("env", "!a|b", None),
            ("command", "> /dev/null", None),
            ("force", "true", None),
            ("env", "/prod/", Some("the slashes")),
            ("path", "/prod/", None),
            ("env", "/a/b/", None),
            ("command", "yes", None),
            ("code", "None", None),
            ("sql_query", "> 500", None),
            ("env", "yesterday", None),
        ] {
            let message = told(argument, pattern, pattern);
            match said {
                Some(said) => {
                    assert!(
                        message.as_ref().is_some_and(|text| text.contains(said)),
                        "{pattern}: {message:?}"
                    );
                }
                None => assert_eq!(message, None, "{pattern}"),
            }
        }
        assert_eq!(told("force", "yes", "'yes'"), None, "in quotes it is meant as a text");
    }
}
