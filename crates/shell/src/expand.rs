//! Words from the parser, without quotes and with their expansions marked.

use brush_parser::ParserOptions;
use brush_parser::word::{
    self as parsed, Parameter, ParameterExpr, ParameterTestType, TildeExpr, WordPiece, WordPieceWithSource,
};

use braces::{BRACES, braces};
use escape::{backquoted, unescape};
use printed::printed;
use signs::{has_commands, has_comment, is_balanced, is_script};

use super::constants::{Constants, literal};
use super::facts::Table;
use super::guard;
use super::word::{Piece, Word};

mod braces;
mod escape;
mod printed;
mod signs;

/// A word, or the words that braces and blanks make of it, and the scripts of its substitutions in order.
#[derive(Default)]
pub struct Expansion {
    /// The words.
    pub words: Vec<Word>,
    /// Texts of substitutions, each a command line.
    pub scripts: Vec<String>,
    /// Whether expansions lie too deep in each other to be followed.
    pub lost: bool,
    /// Variables to which it assigns a value if they have none.
    pub set: Vec<String>,
    /// Arithmetic in it.
    pub arithmetic: Vec<String>,
}

/// The context of expansions.
#[derive(Clone, Copy)]
pub struct Expanding<'s> {
    /// The shell.
    pub options: &'s ParserOptions,
    /// The variables of the line.
    pub constants: &'s Constants,
    /// The facts about programs.
    pub facts: &'s Table,
    /// Whether names of programs mean those, and no functions of the line.
    pub own: bool,
    /// Whether it is the value of an assignment, which is one word.
    pub assigns: bool,
}

/// Deepest nesting of expansions that is followed: each level is read up to twice.
const LEVELS: usize = 5;

/// Reads a word.
pub fn expand(raw: &str, expanding: Expanding<'_>) -> Expansion {
    let mut found = Expansion::default();
    if is_plain(raw) {
        found.words.push(Word::text(raw));
        return found;
    }
    if guard::before_tokens(raw).is_some() || is_deep(raw) || guard::is_costly(raw, false) {
        found.lost = true;
        found.words.push(Word::unknown_words(raw));
        return found;
    }
    let raws = if raw.contains('{') && raw.contains([',', '.']) && !expanding.assigns {
        braces(raw, expanding.options)
    } else {
        vec![raw.to_owned()]
    };
    let Some(raws) = (raws.len() <= BRACES).then_some(raws) else {
        found.words.push(Word::unknown_words(raw));
        return found;
    };
    for raw in raws {
        match guard::parsed(|| parsed::parse(&raw, expanding.options)) {
            Some(Ok(pieces)) => {
                let mut reader = Reader::new(&raw, expanding, &mut found);
                let word = reader.word(&pieces, false);
                let filled = reader.filled;
                found.lost |= reader.misread;
                match filled {
                    true => found.words.extend(fields(word, &raw)),
                    false => found.words.push(word),
                }
            }
            Some(Err(_)) | None => {
                found.lost |= has_commands(&raw);
                found.words.push(Word::unknown_words(raw));
            }
        }
    }
    if expanding.assigns {
        found.words = found.words.iter().map(literal).collect();
    }
    found
}

/// Separates the words of a split value. No text has it.
const BREAK: char = '\u{10FFFF}';

/// The words of one that holds the values of variables without quotes.
fn fields(word: Word, raw: &str) -> Vec<Word> {
    let mut fields = vec![Word::default()];
    for piece in word.pieces {
        let Piece::Text(text) = &piece else {
            fields.last_mut().into_iter().for_each(|field| field.pieces.push(piece.clone()));
            continue;
        };
        for (at, part) in text.split(BREAK).enumerate() {
            if at > 0 {
                fields.push(Word::default());
            }
            fields.last_mut().into_iter().for_each(|field| field.push(part));
        }
    }
    for field in &mut fields {
        field.many = word.many && field.unclear().is_some();
    }
    // Quotes keep a word that is empty.
    if fields.iter().any(|field| field.pieces.is_empty()) && raw.contains(['"', '\'', '\\']) {
        let all = fields.len() == 1;
        return if all { fields } else { vec![Word::unknown_words(raw)] };
    }
    fields.retain(|field| !field.pieces.is_empty());
    fields
}

/// Reads the text of a here-document, or any text in which quotes are literal.
pub fn expand_quoted(raw: &str, expanding: Expanding<'_>) -> Expansion {
    let mut found = Expansion::default();
    let word = if !raw.contains(['$', '`', '\\']) {
        Word::text(raw)
    } else if guard::before_tokens(raw).is_some() || is_deep(raw) || guard::is_costly(raw, true) {
        found.lost = true;
        Word::unknown(raw)
    } else {
        match guard::parsed(|| parsed::parse_heredoc(raw, expanding.options)) {
            Some(Ok(pieces)) => {
                let mut reader = Reader { document: true, ..Reader::new(raw, expanding, &mut found) };
                let word = reader.word(&pieces, true);
                let misread = reader.misread;
                found.lost |= misread;
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

/// Whether every letter of a word is literal.
fn is_plain(raw: &str) -> bool {
    !raw.is_empty() && raw.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:,+@%=^".contains(&byte))
}

struct Reader<'r> {
    raw: &'r str,
    expanding: Expanding<'r>,
    found: &'r mut Expansion,
    /// Whether it holds the value of a variable without quotes.
    filled: bool,
    /// Whether the parser took what opens a substitution for text, or commands for arithmetic.
    misread: bool,
    /// Whether it is a text from which no comment was taken: the parser takes a `)` in one for the end of a substitution.
    document: bool,
}

impl<'r> Reader<'r> {
    fn new(raw: &'r str, expanding: Expanding<'r>, found: &'r mut Expansion) -> Reader<'r> {
        Reader { raw, expanding, found, filled: false, misread: false, document: false }
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
            // With the letter after it, since a single `$` is a text of its own.
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
            WordPiece::TildeExpansion(TildeExpr::Home) => {
                if !self.value("HOME", "~", true, word) {
                    word.pieces.push(Piece::Home);
                }
            }
            WordPiece::TildeExpansion(TildeExpr::WorkingDir) => word.push("."),
            WordPiece::TildeExpansion(TildeExpr::UserHome(user)) => word.push(&format!("/home/{user}")),
            WordPiece::TildeExpansion(_) => word.pieces.push(Piece::Unknown(written())),
            WordPiece::CommandSubstitution(script) => {
                self.misread |= self.document && has_comment(script);
                self.substitution(script.clone(), written(), quoted, word);
            }
            WordPiece::BackquotedCommandSubstitution(script) => {
                self.substitution(backquoted(script, quoted), written(), quoted, word);
            }
            WordPiece::ArithmeticExpression(expression) => {
                word.pieces.push(Piece::Unknown(written()));
                let inner = expand_quoted(&expression.value, self.expanding);
                self.misread |= inner.lost || !is_balanced(&expression.value);
                self.found.scripts.extend(inner.scripts);
                self.found.arithmetic.push(expression.value.clone());
            }
            WordPiece::ParameterExpansion(expansion) => {
                let written = written();
                if let Some(name) = plain(expansion, self.expanding.constants)
                    && self.value(name, &written, quoted, word)
                {
                    return;
                }
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
                        // A variable's value is expanded like a prompt, with its substitutions: they may be any
                        // command.
                        if let Some(value) = written.strip_suffix("@P}") {
                            self.prompt(value);
                        }
                        if let ParameterExpr::AssignDefaultValues {
                            parameter: Parameter::Named(name), ..
                        } = expansion
                        {
                            self.found.set.push(name.clone());
                        } else if written.contains('=') || written.contains("++") || written.contains("--") {
                            self.found.arithmetic.push(written.clone());
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

    /// The output of a script.
    fn substitution(&mut self, script: String, written: String, quoted: bool, word: &mut Word) {
        match printed(&script, self.expanding.facts).filter(|_| self.expanding.own) {
            Some(path) => word.push(&path),
            None => {
                word.pieces.push(Piece::Unknown(written));
                word.many |= !quoted;
            }
        }
        self.found.scripts.push(script);
    }

    /// Runs what is in the value of a variable: `${x`.
    fn prompt(&mut self, variable: &str) {
        let value = variable.strip_prefix("${").and_then(|name| self.expanding.constants.get(name)).flatten();
        match value.and_then(Word::known) {
            Some(text) => {
                let inner = expand_quoted(text, self.expanding);
                self.misread |= inner.lost;
                self.found.scripts.extend(inner.scripts);
            }
            None => self.found.scripts.push(format!("\"{variable}}}\"")),
        }
    }

    /// The value of a variable, if the line has set it.
    fn value(&mut self, name: &str, written: &str, quoted: bool, word: &mut Word) -> bool {
        let Some(value) = self.expanding.constants.get(name) else { return false };
        let quoted = quoted || self.expanding.assigns;
        let splits = !quoted && self.expanding.constants.splits_at_blanks();
        let known = value.filter(|value| {
            let text = value.to_string();
            // A backslash keeps a sign of a pattern from being one.
            let plain = !text.contains('\\') || !text.contains(['*', '?', '[', '(']);
            quoted || splits && plain && !text.contains(BREAK) && !self.raw.contains(BREAK)
        });
        let Some(value) = known else {
            word.many |= !quoted;
            word.pieces.push(Piece::Unknown(written.to_owned()));
            return true;
        };
        if quoted {
            word.append(value);
            return true;
        }
        self.filled = true;
        for piece in &value.pieces {
            let Piece::Text(text) = piece else {
                word.many |= matches!(piece, Piece::Unknown(_));
                word.pieces.push(piece.clone());
                continue;
            };
            for (at, part) in text.split([' ', '\t', '\n']).enumerate() {
                if at > 0 {
                    word.push(&BREAK.to_string());
                }
                let part = Word::pattern(part);
                word.many |= part.pieces.iter().any(|piece| matches!(piece, Piece::Pattern(_)));
                word.append(&part);
            }
        }
        true
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
        let found = expand_quoted(inner, self.expanding);
        self.misread |= found.lost;
        self.found.scripts.extend(found.scripts);
        self.found.arithmetic.extend(found.arithmetic);
        self.found.set.extend(found.set);
        if !quoted && inner.contains(['"', '\'']) {
            match guard::parsed(|| parsed::parse(inner, self.expanding.options)) {
                Some(Ok(pieces)) => {
                    let mut reader = Reader::new(inner, self.expanding, self.found);
                    reader.word(&pieces, false);
                    let misread = reader.misread;
                    self.misread |= misread;
                }
                Some(Err(_)) | None => self.misread |= has_commands(inner),
            }
        }
    }
}

/// The variable whose value an expansion is, if the line says so: for `${D:-x}` if the value is not empty.
fn plain<'e>(expansion: &'e ParameterExpr, constants: &Constants) -> Option<&'e str> {
    let has_value = |name: &str, test: &ParameterTestType| {
        let value = constants.get(name).flatten().and_then(Word::known);
        value.is_some_and(|value| !value.is_empty() || matches!(test, ParameterTestType::Unset))
    };
    match expansion {
        ParameterExpr::Parameter { parameter: Parameter::Named(name), indirect: false } => Some(name),
        ParameterExpr::UseDefaultValues {
            parameter: Parameter::Named(name),
            indirect: false,
            test_type,
            ..
        }
        | ParameterExpr::AssignDefaultValues {
            parameter: Parameter::Named(name),
            indirect: false,
            test_type,
            ..
        }
        | ParameterExpr::IndicateErrorIfNullOrUnset {
            parameter: Parameter::Named(name),
            indirect: false,
            test_type,
            ..
        } => has_value(name, test_type).then_some(name),
        _ => None,
    }
}
