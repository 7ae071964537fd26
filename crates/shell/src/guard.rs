//! Bounds on the parser's input: its stack and its time are limited, whatever the line.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::Token;

/// The longest line that is read, in bytes.
const BYTES: usize = 64 * 1024;
/// The most substitutions and expansions of a line: each may lie in the one before.
const EXPANSIONS: usize = 64;
/// The most backquotes: in each other, they would need backslashes that double each time.
const TICKS: usize = 400;
/// The most backquotes directly after a bracket, and brackets after names that are not closed.
const INDEXES: usize = 8;
/// The most groups and compound commands of a line, for the same reason.
const GROUPS: usize = 48;
/// Deepest nesting of scripts.
pub const SCRIPTS: usize = 12;
/// The most small calls of a line.
pub const CALLS: usize = 1000;

/// The parser's message when it fails on an unknown text.
pub const PANICKED: &str = "the parser of shell commands failed";

/// Calls the parser; `None` if it panics, so that its fault is only one unreadable line.
pub fn parsed<T>(parse: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(parse)).ok()
}

/// Why a text is not given to the parser.
pub fn before_tokens(text: &str) -> Option<&'static str> {
    if text.len() > BYTES {
        return Some("a line of more than 64 KiB");
    }
    if text.contains('\0') {
        return Some("a line with a NUL");
    }
    // The parser then loses words of the document, which may be commands to a shell.
    if text.contains("<<") && (text.contains("(((") || has_parentheses(text)) {
        return Some("`((` in a substitution and a here-document");
    }
    if has_expanded_end(text) {
        return Some("a here-document that ends at an expansion");
    }
    if has_nested_document(text) {
        return Some("a here-document in a process substitution");
    }
    if has_long_number(text) {
        return Some(LONG_NUMBER);
    }
    let bytes = text.as_bytes();
    let expansions = bytes
        .windows(2)
        .filter(|pair| [b"$(", b"${", b"$[", b"<(", b">("].iter().any(|start| pair == start))
        .count();
    let ticks = bytes.iter().filter(|byte| **byte == b'`').count();
    // The parser tries each as an index, and each time those after it.
    if bytes.windows(2).filter(|pair| *pair == b"[`").count() > INDEXES {
        return Some("more than 8 backquotes after `[`");
    }
    if open_indexes(bytes) > INDEXES {
        return Some("more than 8 indexes in each other");
    }
    (expansions > EXPANSIONS || ticks > TICKS).then_some("a line with more than 64 expansions")
}

/// The parser panics if a number of more digits than this ends a range of braces, counts folders or names a descriptor.
const DIGITS: usize = 9;

const LONG_NUMBER: &str = "a number of more than 9 digits where the shell counts";

/// Whether a number after `..`, before it, or after `~` is longer than the parser takes.
fn has_long_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut start = 0;
    while let Some(digits) = bytes.get(start..).filter(|rest| !rest.is_empty()) {
        let end = start + digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if end - start > DIGITS {
            let before = bytes.get(..start).unwrap_or_default();
            let before = before.strip_suffix(b"+").or(before.strip_suffix(b"-")).unwrap_or(before);
            let after = bytes.get(end..).unwrap_or_default();
            if before.ends_with(b"..") || before.ends_with(b"~") || after.starts_with(b"..") {
                return true;
            }
        }
        start = end + 1;
    }
    false
}

/// The most brackets after names that were open at once.
fn open_indexes(bytes: &[u8]) -> usize {
    let (mut open, mut most) = (0usize, 0);
    for pair in bytes.windows(2) {
        match pair {
            [before, b'['] if *before == b'_' || before.is_ascii_alphanumeric() => open += 1,
            [_, b']'] => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

/// Whether `((` may be in `$(…)`: the parser then loses the words of here-documents after it. Quotes are not looked at.
fn has_parentheses(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Open brackets: whether each is `$(`.
    let mut open: Vec<bool> = Vec::new();
    let mut inside = 0usize;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' => {
                let dollar = at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'$');
                if inside > 0 && !dollar && bytes.get(at + 1) == Some(&b'(') {
                    return true;
                }
                open.push(dollar);
                inside += usize::from(dollar);
            }
            b')' => inside = inside.saturating_sub(usize::from(open.pop().unwrap_or_default())),
            _ => {}
        }
    }
    false
}

/// Whether a here-document may be in `<(…)` or `>(…)`: the parser would take its lines for commands.
fn has_nested_document(text: &str) -> bool {
    let mut depth = 0usize;
    let bytes = text.as_bytes();
    for (at, pair) in bytes.windows(2).enumerate() {
        match pair {
            b"<(" | b">(" => depth += 1,
            [b'(', _]
                if depth > 0
                    && !at
                        .checked_sub(1)
                        .and_then(|at| bytes.get(at))
                        .is_some_and(|before| matches!(before, b'<' | b'>')) =>
            {
                depth += 1
            }
            [b')', _] => depth = depth.saturating_sub(1),
            b"<<"
                if depth > 0
                    && bytes.get(at + 2) != Some(&b'<')
                    && at.checked_sub(1).and_then(|at| bytes.get(at)) != Some(&b'<') =>
            {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// Whether a here-document may end at a word with an expansion: the parser takes a word within that for the end.
fn has_expanded_end(text: &str) -> bool {
    text.match_indices("<<").any(|(at, found)| {
        let rest = text.get(at + found.len()..).unwrap_or_default();
        let end = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches([' ', '\t', '\\', '\n']);
        let end = end.split(|letter: char| letter.is_whitespace() || ";&|<>".contains(letter)).next();
        end.is_some_and(|end| ["${", "$(", "$[", "`"].iter().any(|start| end.contains(start)))
    })
}

/// Whether a shell and the parser see different ends of a here-document: backslashes in quotes, and `$'…'`.
pub fn is_unclear_end(end: &str) -> bool {
    let mut quote = None;
    let mut before = '\n';
    for letter in end.chars() {
        match (quote, letter) {
            (Some(_), '\\') => return true,
            (Some(open), _) if open == letter => quote = None,
            (None, '\'' | '"') if before == '$' => return true,
            (None, '\'' | '"') if before != '\\' => quote = Some(letter),
            _ => {}
        }
        before = if before == '\\' { '\n' } else { letter };
    }
    false
}

/// The most expansions and parentheses that may be begun and not ended: the parser tries each in several ways, and each time
/// those within it.
const UNENDED: usize = 4;

/// The most braces in each other that are not quoted: each that turns out to be no list is read two or three times, and each
/// time those within it.
const BRACES: usize = 4;
/// The same for `{` and `${` together: an invalid expansion is read again as letters.
const CURLY: usize = 6;

/// Whether `${` is followed by a parameter's name and an operator. The parser of words has removed blanks.
fn names_parameter(rest: &str) -> bool {
    let rest = rest.strip_prefix(['#', '!']).unwrap_or(rest);
    let name = rest.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
    let after = if name.len() < rest.len() {
        Some(name)
    } else {
        rest.strip_prefix(['@', '*', '#', '?', '$', '!', '-'])
    };
    // `${#}` and `${!}`.
    after.unwrap_or(rest).starts_with(['}', ':', '-', '=', '?', '+', '#', '%', '/', '^', ',', '@', '[', '*'])
}

/// Whether the parser would read a word over and over: more expansions and parentheses are begun than ended, or more braces lie
/// in each other, than it tries in time. They are counted as the parser of words sees them, which knows quotes and no comments,
/// and takes a quote without an end for a letter. In a document, quotes outside of expansions are letters.
pub fn is_costly(raw: &str, document: bool) -> bool {
    let mut rest = raw;
    for _ in 0..=UNENDED {
        match unended(rest, document) {
            Unended::Costly => return true,
            Unended::None => return false,
            // It is a letter then, and the quotes after it are reversed.
            Unended::First(next) => rest = rest.get(next..).unwrap_or_default(),
        }
    }
    true
}

/// An unended construct in a word.
enum Unended {
    /// None.
    None,
    /// More than the parser tries in time.
    Costly,
    /// One whose opening character ends the reading here.
    First(usize),
}

fn unended(raw: &str, document: bool) -> Unended {
    #[derive(Clone, Copy, PartialEq)]
    enum Within {
        Command,
        Double,
        Document,
    }
    let ends = |from: usize, mark: char| {
        let rest = raw.get(from..)?;
        let mut escaped = false;
        rest.char_indices().find_map(|(at, letter)| {
            let found = letter == mark && !escaped;
            escaped = letter == '\\' && !escaped && mark != '\'';
            found.then_some(from + at + letter.len_utf8())
        })
    };
    // A brace that is not after `$`.
    const BRACE: char = ' ';
    let expands = |(opener, ..): &(char, Within, usize)| *opener != BRACE;
    let around = |open: &[(char, Within, usize)]| open.iter().rposition(expands);
    let (mut open, mut within) = (Vec::new(), if document { Within::Document } else { Within::Command });
    let (mut before, mut skip) = (' ', 0);
    let count = |open: &[(char, Within, usize)], these: &[char]| {
        open.iter().filter(|one| these.contains(&one.0)).count()
    };
    // Braces in an expansion do not count, unless it turns out to be invalid.
    let (mut braces, mut curly, mut hidden, mut most_hidden) = (0, 0, 0, 0);
    // The second parentheses of `$((`, and how many are closed as commands: the parser tries arithmetic first.
    let (mut second, mut commands) = (Vec::new(), 0);
    for (at, letter) in raw.char_indices() {
        let next = at + letter.len_utf8();
        if at < skip {
            before = ' ';
            continue;
        }
        match letter {
            '\\' => {
                skip = raw
                    .get(next..)
                    .and_then(|rest| rest.chars().next())
                    .map_or(0, |one| next + one.len_utf8())
            }
            '\'' if within == Within::Command => skip = ends(next, '\'').unwrap_or(0),
            '`' => skip = ends(next, '`').unwrap_or(0),
            '"' if within == Within::Command && ends(next, '"').is_some() => {
                open.push(('"', within, next));
                within = Within::Double;
            }
            '"' if within == Within::Double && open.last().is_some_and(|(last, ..)| *last == '"') => {
                within = open.pop().map_or(within, |(_, outer, _)| outer);
            }
            '(' if before == '$' || within == Within::Command => {
                if raw.get(..at).is_some_and(|start| start.ends_with("$(")) {
                    second.push(open.len());
                }
                open.push(('(', within, next));
                within = Within::Command;
            }
            '{' | '[' if before == '$' => {
                // If no parameter can begin so, it is literal, and so is everything after it.
                if letter == '{' && !raw.get(next..).is_some_and(names_parameter) {
                    commands += 1;
                }
                open.push((letter, within, next));
                curly = curly.max(count(&open, &['{', BRACE]));
            }
            '{' if within == Within::Command
                && !around(&open)
                    .and_then(|place| open.get(place))
                    .is_some_and(|(last, ..)| matches!(last, '{' | '[')) =>
            {
                open.push((BRACE, within, next));
                braces = braces.max(count(&open, &[BRACE]));
                curly = curly.max(count(&open, &['{', BRACE]));
            }
            '{' if within == Within::Command => {
                hidden += 1;
                most_hidden = most_hidden.max(hidden);
            }
            '}' if open.last().is_some_and(|last| !expands(last)) => drop(open.pop()),
            ')' | '}' | ']' => {
                let opener = match letter {
                    ')' => '(',
                    '}' => '{',
                    _ => '[',
                };
                // Braces that are not ended are letters, and end nothing.
                if let Some(place) = around(&open)
                    && open.get(place).is_some_and(|(last, ..)| *last == opener)
                {
                    second.retain(|double| *double <= place);
                    if second.pop_if(|double| *double == place).is_some()
                        && !raw.get(next..).is_some_and(|rest| rest.starts_with(')'))
                    {
                        // Read as arithmetic, it continues to the next `))`, across the ends of everything around it.
                        commands +=
                            open.iter().take(place).filter(|one| expands(one) && one.0 != '"').count();
                    }
                    open.truncate(place + 1);
                    within = open.pop().map_or(within, |(_, outer, _)| outer);
                    if around(&open).is_none() {
                        hidden = 0;
                    }
                }
            }
            _ => {}
        }
        before = letter;
    }
    let mut ends = open.iter().filter(|one| expands(one) && one.0 != '"').map(|one| one.2).peekable();
    match ends.peek().copied() {
        _ if braces > BRACES || curly > CURLY || most_hidden > BRACES => Unended::Costly,
        first => match ends.count() + commands {
            more if more > UNENDED => Unended::Costly,
            _ => first.map_or(Unended::None, Unended::First),
        },
    }
}

/// Whether a text may have a command that changes the folder, however that is quoted.
pub fn may_move(text: &str) -> bool {
    let plain: String = text.chars().filter(|letter| !matches!(letter, '\'' | '"' | '\\')).collect();
    ["cd", "chdir", "pushd", "popd"].iter().any(|name| plain.contains(name))
}

/// Words that open a compound command.
const OPENERS: [&str; 14] = [
    "(", "((", "{", "if", "elif", "else", "while", "until", "for", "case", "select", "[[", "coproc",
    "function",
];

/// The most parentheses and `case` in each other: the parser tries `((` in two ways and the last commands of a branch twice, each
/// time with all within them.
const TRIED: usize = 8;

/// Why tokens are not given to the parser.
pub fn before_tree(tokens: &[Token]) -> Option<&'static str> {
    let (mut groups, mut parentheses, mut cases, mut deepest) = (0, 0usize, 0usize, 0);
    for token in tokens {
        let text = token.to_str();
        groups += usize::from(OPENERS.contains(&text));
        match text {
            "(" => parentheses += 1,
            ")" => parentheses = parentheses.saturating_sub(1),
            "case" => cases += 1,
            "esac" => cases = cases.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(parentheses + cases);
    }
    let names_descriptor = |pair: &[Token]| match pair {
        [Token::Word(word, at), Token::Operator(operator, next)] => {
            operator.starts_with(['<', '>'])
                && at.end.index == next.start.index
                && word.len() > DIGITS
                && word.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => false,
    };
    if tokens.windows(2).any(names_descriptor) {
        return Some(LONG_NUMBER);
    }
    if deepest > TRIED {
        return Some("more than 8 parentheses and `case` in each other");
    }
    (groups > GROUPS).then_some("a line with more than 48 groups")
}

/// Number of commands of a short line that are followed, counting those of loops and functions each time; a longer line
/// has one more for each of its bytes.
pub const STEPS: usize = 400;

/// The tokens with a line break in each `( (`: the parser would take it for `((`, and commands for arithmetic.
pub fn apart(tokens: Vec<Token>) -> Vec<Token> {
    let gap = |pair: &[Token]| match pair {
        [Token::Operator(first, before), Token::Operator(second, after)] => {
            first == "(" && second == "(" && before.end.index < after.start.index
        }
        _ => false,
    };
    if !tokens.windows(2).any(gap) {
        return tokens;
    }
    let mut parted = Vec::with_capacity(tokens.len() + 4);
    for (at, token) in tokens.iter().enumerate() {
        parted.push(token.clone());
        if tokens.get(at..at + 2).is_some_and(gap) {
            parted.push(Token::Operator("\n".to_owned(), token.location().clone()));
        }
    }
    parted
}

#[cfg(test)]
mod tests;
