//! Words as the parser gives them, without quotes and with their expansions marked.

use brush_parser::ParserOptions;
use brush_parser::word::{
    self as parsed, BraceExpressionMember, BraceExpressionOrText, Parameter, ParameterExpr, TildeExpr,
    WordPiece, WordPieceWithSource,
};

use super::guard;
use super::word::{Piece, Word};

/// A word, or the words that braces make of it, and the scripts of its substitutions in order.
pub struct Expansion {
    /// The words.
    pub words: Vec<Word>,
    /// Texts of substitutions, each a command line.
    pub scripts: Vec<String>,
    /// Whether expansions lie too deep in each other to be followed.
    pub lost: bool,
}

/// How deep expansions are followed: each level is read up to twice.
const LEVELS: usize = 5;

/// The most words of one pair of braces.
const BRACES: usize = 64;

/// Reads a word.
pub fn expand(raw: &str, options: &ParserOptions) -> Expansion {
    let mut found = Expansion { words: Vec::new(), scripts: Vec::new(), lost: false };
    if is_plain(raw) {
        found.words.push(Word::text(raw));
        return found;
    }
    if guard::before_tokens(raw).is_some() || is_deep(raw) || guard::is_costly(raw, false) {
        found.lost = true;
        found.words.push(Word::unknown_words(raw));
        return found;
    }
    let raws = if raw.contains('{') && raw.contains([',', '.']) {
        braces(raw, options)
    } else {
        vec![raw.to_owned()]
    };
    let Some(raws) = (raws.len() <= BRACES).then_some(raws) else {
        found.words.push(Word::unknown_words(raw));
        return found;
    };
    for raw in raws {
        let word = match guard::parsed(|| parsed::parse(&raw, options)) {
            Some(Ok(pieces)) => {
                let mut reader = Reader::new(&raw, options, &mut found.scripts);
                let word = reader.word(&pieces, false);
                found.lost |= reader.misread;
                word
            }
            Some(Err(_)) | None => {
                found.lost |= has_commands(&raw);
                Word::unknown_words(raw)
            }
        };
        found.words.push(word);
    }
    found
}

/// Reads the text of a here-document, or of anything in which quotes are letters.
pub fn expand_quoted(raw: &str, options: &ParserOptions) -> Expansion {
    let mut found = Expansion { words: Vec::new(), scripts: Vec::new(), lost: false };
    let word = if !raw.contains(['$', '`', '\\']) {
        Word::text(raw)
    } else if guard::before_tokens(raw).is_some() || is_deep(raw) || guard::is_costly(raw, true) {
        found.lost = true;
        Word::unknown(raw)
    } else {
        match guard::parsed(|| parsed::parse_heredoc(raw, options)) {
            Some(Ok(pieces)) => {
                let mut reader = Reader { document: true, ..Reader::new(raw, options, &mut found.scripts) };
                let word = reader.word(&pieces, true);
                found.lost |= reader.misread;
                word
            }
            Some(Err(_)) | None => {
                found.lost = has_commands(raw);
                Word::unknown(raw)
            }
        }
    };
    found.words.push(word);
    found
}

/// Whether commands may be written in a word, which are lost with it.
fn has_commands(raw: &str) -> bool {
    ["$(", "`", "<(", ">("].iter().any(|start| raw.contains(start))
}

/// Whether a comment may be in a script. Quotes are not looked at.
fn has_comment(script: &str) -> bool {
    let mut before = '\n';
    script.chars().any(|letter| {
        let found = letter == '#' && (before.is_whitespace() || ";&|()`".contains(before));
        before = letter;
        found
    })
}

/// Whether an expansion may be `${ COMMANDS; }`, which newer shells run. The parser takes the blank away.
fn is_script(written: &str) -> bool {
    let inner = written.trim_end_matches('}').trim_end_matches([' ', '\t']);
    inner.ends_with([';', '&', '\n'])
}

/// Whether every parenthesis is closed after it was opened: else it is commands, and no arithmetic.
fn is_balanced(expression: &str) -> bool {
    let mut depth = 0usize;
    for letter in expression.bytes() {
        match letter {
            b'(' => depth += 1,
            b')' if depth == 0 => return false,
            b')' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

/// Whether more expansions or braces may lie in each other than are followed.
fn is_deep(raw: &str) -> bool {
    let (mut depth, mut deepest) = (0usize, 0usize);
    let mut before = ' ';
    for letter in raw.chars() {
        match letter {
            '{' | '(' if before != '\\' => {
                depth += usize::from(letter != '(' || matches!(before, '$' | '(' | '<' | '>'));
                deepest = deepest.max(depth);
            }
            '}' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = letter;
    }
    deepest > LEVELS * 3
}

/// Whether every letter of a word stands for itself.
fn is_plain(raw: &str) -> bool {
    !raw.is_empty() && raw.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:,+@%=^".contains(&byte))
}

fn braces(raw: &str, options: &ParserOptions) -> Vec<String> {
    let parse = || parsed::parse_brace_expansions(raw, options);
    let Some(Ok(Some(parts))) = guard::parsed(parse) else { return vec![raw.to_owned()] };
    product(&parts)
}

fn product(parts: &[BraceExpressionOrText]) -> Vec<String> {
    let mut texts = vec![String::new()];
    for part in parts {
        let choices: Vec<String> = match part {
            BraceExpressionOrText::Text(text) => vec![text.clone()],
            BraceExpressionOrText::Expr(members) => {
                members.iter().flat_map(member).take(BRACES + 1).collect()
            }
        };
        let join = |text: &String| choices.iter().map(|choice| format!("{text}{choice}")).collect::<Vec<_>>();
        texts = texts.iter().flat_map(join).take(BRACES + 1).collect();
        if texts.len() > BRACES {
            // More words than are followed, whatever comes after them.
            return texts;
        }
    }
    texts
}

fn member(member: &BraceExpressionMember) -> Vec<String> {
    match member {
        BraceExpressionMember::Child(parts) => product(parts),
        BraceExpressionMember::NumberSequence { start, end, increment } => {
            let step = increment.unsigned_abs().max(1);
            let (low, high) = (start.min(end), start.max(end));
            let count = usize::try_from(high.abs_diff(*low) / step).unwrap_or(usize::MAX).min(BRACES);
            let sign = if start <= end { 1 } else { -1 };
            let step = i64::try_from(step).unwrap_or(i64::MAX);
            (0..=count)
                .map(|at| {
                    start
                        .saturating_add(sign * step.saturating_mul(i64::try_from(at).unwrap_or(0)))
                        .to_string()
                })
                .collect()
        }
        BraceExpressionMember::CharSequence { start, end, increment } => {
            let step = usize::try_from(increment.unsigned_abs().max(1)).unwrap_or(1);
            let (low, high) = (*start.min(end), *start.max(end));
            let letters: Vec<String> = (low..=high).map(String::from).take(BRACES + 1).collect();
            if start <= end {
                letters.into_iter().step_by(step).collect()
            } else {
                letters.into_iter().rev().step_by(step).collect()
            }
        }
    }
}

struct Reader<'r> {
    raw: &'r str,
    options: &'r ParserOptions,
    scripts: &'r mut Vec<String>,
    /// Whether the parser took what opens a substitution for text, or commands for arithmetic.
    misread: bool,
    /// Whether it is a text from which no comment was taken: the parser takes a `)` in one for the end of a substitution.
    document: bool,
}

impl<'r> Reader<'r> {
    fn new(raw: &'r str, options: &'r ParserOptions, scripts: &'r mut Vec<String>) -> Reader<'r> {
        Reader { raw, options, scripts, misread: false, document: false }
    }

    fn word(&mut self, pieces: &[WordPieceWithSource], quoted: bool) -> Word {
        let mut word = Word::default();
        for piece in pieces {
            self.piece(piece, quoted, &mut word);
        }
        word
    }

    fn piece(&mut self, piece: &WordPieceWithSource, quoted: bool, word: &mut Word) {
        let written = || self.raw.get(piece.start_index..piece.end_index).unwrap_or(self.raw).to_owned();
        if let WordPiece::Text(_) = piece.piece {
            // With the letter after it, since a `$` alone is a text of its own.
            let bytes = self.raw.as_bytes();
            let end = bytes.len().min(piece.end_index + 1);
            let text = bytes.get(piece.start_index..end).unwrap_or(b"$(");
            let own = text.iter().take(piece.end_index - piece.start_index);
            self.misread |= text.windows(2).any(|pair| pair == b"$(")
                || own.into_iter().any(|byte| *byte == b'`')
                || text.windows(2).any(|pair| pair == b"${") && self.opens_script(piece.start_index);
        }
        match &piece.piece {
            WordPiece::Text(text) if quoted => word.push(text),
            WordPiece::Text(text) => {
                let other = Word::pattern(text);
                word.many |= other.pieces.iter().any(|piece| matches!(piece, Piece::Pattern(_)));
                word.append(&other);
            }
            WordPiece::SingleQuotedText(text) => word.push(text),
            WordPiece::AnsiCQuotedText(text) => word.push(&unescape(text)),
            WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
                inner.iter().for_each(|piece| self.piece(piece, true, word));
            }
            WordPiece::EscapeSequence(text) => match text.strip_prefix('\\') {
                Some("\n") => {}
                Some(letter) if quoted && !matches!(letter, "\"" | "\\" | "$" | "`") => word.push(text),
                Some(letter) => word.push(letter),
                None => word.push(text),
            },
            WordPiece::TildeExpansion(TildeExpr::Home) => word.pieces.push(Piece::Home),
            WordPiece::TildeExpansion(TildeExpr::WorkingDir) => word.push("."),
            WordPiece::TildeExpansion(TildeExpr::UserHome(user)) => word.push(&format!("/home/{user}")),
            WordPiece::TildeExpansion(_) => word.pieces.push(Piece::Unknown(written())),
            WordPiece::CommandSubstitution(script) if script.trim() == "pwd" => {
                word.push(".");
                self.scripts.push(script.clone());
            }
            WordPiece::CommandSubstitution(script) => {
                self.misread |= self.document && has_comment(script);
                word.pieces.push(Piece::Unknown(written()));
                word.many |= !quoted;
                self.scripts.push(script.clone());
            }
            WordPiece::BackquotedCommandSubstitution(script) => {
                word.pieces.push(Piece::Unknown(written()));
                word.many |= !quoted;
                self.scripts.push(backquoted(script, quoted));
            }
            WordPiece::ArithmeticExpression(expression) => {
                word.pieces.push(Piece::Unknown(written()));
                let inner = expand_quoted(&expression.value, self.options);
                self.misread |= inner.lost || !is_balanced(&expression.value);
                self.scripts.extend(inner.scripts);
            }
            WordPiece::ParameterExpansion(expansion) => {
                let written = written();
                match expansion {
                    ParameterExpr::Parameter { parameter: Parameter::Named(name), indirect: false }
                        if name == "HOME" =>
                    {
                        word.pieces.push(Piece::Home);
                    }
                    ParameterExpr::Parameter { parameter: Parameter::Named(name), indirect: false }
                        if name == "PWD" =>
                    {
                        word.push(".")
                    }
                    _ => {
                        // What a variable holds is expanded as a prompt is, with its substitutions: they may be any command.
                        if let Some(value) = written.strip_suffix("@P}") {
                            self.scripts.push(format!("\"{value}}}\""));
                        }
                        word.many |= !quoted || written.contains('@');
                        self.misread |= is_script(&written);
                        self.nested(&written, quoted);
                        word.pieces.push(Piece::Unknown(written));
                    }
                }
            }
        }
    }

    /// Whether a `${` from here on, which opens no expansion that the parser knows, may be one of commands.
    fn opens_script(&self, start: usize) -> bool {
        let rest = self.raw.get(start..).and_then(|rest| rest.split_once("${"));
        rest.is_none_or(|(_, inner)| {
            inner.split('}').next().is_none_or(|inner| inner.contains([';', '&', '\n']))
        })
    }

    /// Substitutions in the default of an expansion.
    fn nested(&mut self, written: &str, quoted: bool) {
        let Some(inner) = written.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else { return };
        if !inner.contains(['$', '`', '<', '>']) {
            return;
        }
        let found = expand_quoted(inner, self.options);
        self.misread |= found.lost;
        self.scripts.extend(found.scripts);
        if !quoted && inner.contains(['"', '\'']) {
            match guard::parsed(|| parsed::parse(inner, self.options)) {
                Some(Ok(pieces)) => {
                    let mut reader = Reader::new(inner, self.options, self.scripts);
                    reader.word(&pieces, false);
                    self.misread |= reader.misread;
                }
                Some(Err(_)) | None => self.misread |= has_commands(inner),
            }
        }
    }
}

/// In backquotes, a backslash before `` ` ``, `$` and itself is taken away; within double quotes also one before these.
fn backquoted(script: &str, quoted: bool) -> String {
    let mut text = String::with_capacity(script.len());
    let mut letters = script.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('`' | '$' | '\\')) => text.extend(letters.next()),
            ('\\', Some('"')) if quoted => text.extend(letters.next()),
            _ => text.push(letter),
        }
    }
    text
}

/// `$'…'`.
fn unescape(text: &str) -> String {
    let mut plain = Vec::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut buffer = [0; 4];
    while let Some(letter) = letters.next() {
        let Some(next) = (letter == '\\').then(|| letters.next()).flatten() else {
            plain.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes());
            continue;
        };
        let digits =
            |letters: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: usize, first: u32| {
                let mut value = first;
                for _ in 0..most {
                    let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(radix)) else { break };
                    value = value * radix + digit;
                    letters.next();
                }
                value
            };
        match next {
            'n' => plain.push(b'\n'),
            't' => plain.push(b'\t'),
            'r' => plain.push(b'\r'),
            'a' => plain.push(7),
            'b' => plain.push(8),
            'e' | 'E' => plain.push(27),
            'f' => plain.push(12),
            'v' => plain.push(11),
            'x' => plain.push(u8::try_from(digits(&mut letters, 16, 2, 0)).unwrap_or(b'?')),
            'u' | 'U' => {
                let letter = char::from_u32(digits(&mut letters, 16, if next == 'u' { 4 } else { 8 }, 0))
                    .unwrap_or('?');
                plain.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes());
            }
            '0'..='7' => {
                let value = digits(&mut letters, 8, 2, next.to_digit(8).unwrap_or(0));
                plain.push(u8::try_from(value & 255).unwrap_or(b'?'));
            }
            'c' => plain.extend(
                letters.next().and_then(|letter| u8::try_from(letter).ok()).map(|letter| letter & 31),
            ),
            '\'' | '"' | '\\' | '?' => plain.push(u8::try_from(next).unwrap_or(b'?')),
            other => {
                plain.push(b'\\');
                plain.extend_from_slice(other.encode_utf8(&mut buffer).as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}
