//! Reads JSON (RFC 8259) strictly, as `serde_json` does, with positions.
//!
//! A scanner of our own: the available libraries accept text that is not JSON (raw control characters, other white
//! space), and return nothing of a document that is broken further down. Strings and numbers are decoded by
//! `serde_json`.

use super::build::{Builder, Place, Stop};
use super::problem::quoted;
use super::{Node, NodeValue, Parse, Problem, ProblemKind, Source, Span};

/// Reads the document of a source. A source of white space alone has none.
pub fn parse(source: &Source) -> Parse {
    let mut reader = Reader { text: source.text(), at: 0, builder: Builder::default() };
    reader.skip_space();
    if reader.peek().is_some() {
        // Only a problem can stop it, and that has been reported.
        let _ = reader.document();
        reader.builder.finish_document(None);
    }
    reader.builder.finish()
}

struct Reader<'s> {
    text: &'s str,
    at: usize,
    builder: Builder,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<(), Stop> {
        loop {
            // Here a value is due, or a key or an end where these may be.
            match (self.builder.place(), self.peek()) {
                (Place::Key, Some(b'"')) => {
                    let (text, span) = self.string()?;
                    self.builder.key(text, span);
                    self.expect(b':', "expected `:` after the key")?;
                    continue;
                }
                (Place::Key, _) => return Err(self.unexpected("expected a key in double quotes")),
                (_, Some(b'{')) => {
                    let start = self.step();
                    self.builder.open_map(start, 0)?;
                    if !self.next_is(b'}') {
                        continue;
                    }
                }
                (_, Some(b'[')) => {
                    let start = self.step();
                    self.builder.open_seq(start, 0)?;
                    if !self.next_is(b']') {
                        continue;
                    }
                }
                _ => {
                    let node = self.scalar()?;
                    self.builder.put(node);
                }
            }
            if self.close_what_ends()? {
                return Ok(());
            }
        }
    }

    /// After a value: closes finished containers and moves to the next value or key. True at the end of the text.
    fn close_what_ends(&mut self) -> Result<bool, Stop> {
        loop {
            let place = self.builder.place();
            match (place, self.peek()) {
                (Place::Root, None) => return Ok(true),
                (Place::Root, Some(_)) => return Err(self.unexpected("expected the end of the file")),
                (Place::Item, Some(b']')) | (Place::Key, Some(b'}')) => {
                    let end = self.step().end;
                    if let Some((node, _)) = self.builder.close(Some(end)) {
                        self.builder.put(node);
                    }
                }
                (Place::Item | Place::Key, Some(b',')) => {
                    let comma = self.step();
                    if matches!(self.peek(), Some(b']' | b'}')) {
                        let message = "a comma is not allowed before the closing bracket";
                        return Err(self.fail(comma, message, Some("JSON has no comma there: take it out")));
                    }
                    return Ok(false);
                }
                (Place::Item, _) => return Err(self.unexpected("expected `,` or `]`")),
                (_, _) => return Err(self.unexpected("expected `,` or `}`")),
            }
        }
    }

    fn scalar(&mut self) -> Result<Node, Stop> {
        let start = self.at;
        let value = match self.peek() {
            Some(b'"') => {
                let (text, span) = self.string()?;
                self.builder.count_scalar(span)?;
                return Ok(Node { span, value: NodeValue::String(text) });
            }
            Some(b'-' | b'0'..=b'9') => {
                let span = self.take_while(
                    |byte| matches!(byte, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z'),
                );
                match self.text.get(span.start..span.end).and_then(|written| written.parse().ok()) {
                    Some(number) => NodeValue::Number(number),
                    None => return Err(self.fail(span, "this is not a JSON number", None)),
                }
            }
            Some(b'a'..=b'z' | b'A'..=b'Z') => {
                let span = self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                match self.text.get(span.start..span.end).unwrap_or_default() {
                    "true" => NodeValue::Bool(true),
                    "false" => NodeValue::Bool(false),
                    "null" => NodeValue::Null,
                    word => {
                        let message = format!("expected a value, found {}", quoted(word));
                        return Err(self.fail(span, &message, Some("put text in double quotes")));
                    }
                }
            }
            _ => return Err(self.unexpected("expected a value")),
        };
        let span = Span::new(start, self.at);
        self.builder.count_scalar(span)?;
        self.skip_space();
        Ok(Node { span, value })
    }

    /// Reads a string that begins here.
    fn string(&mut self) -> Result<(String, Span), Stop> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => at += 2,
                Some(0..=0x1f) => {
                    let message = "a control character is not allowed in text";
                    let span = Span::new(at, at + 1);
                    return Err(self.fail(span, message, Some("write it as an escape, like `\\n` or `\\t`")));
                }
                Some(_) => at += 1,
                None => {
                    let span = Span::new(start, start + 1);
                    return Err(self.fail(span, "the text that begins here is not closed", None));
                }
            }
        }
        let span = Span::new(start, at + 1);
        let written = self.text.get(span.start..span.end).unwrap_or_default();
        match serde_json::from_str::<String>(written) {
            Ok(text) => {
                self.at = span.end;
                self.skip_space();
                Ok((text, span))
            }
            Err(error) => {
                let (span, message) = bad_escape(written, error.column());
                let span = Span::new(start + span.start, start + span.end);
                Err(self.fail(span, message, Some("write `\\\\` for a backslash")))
            }
        }
    }

    fn expect(&mut self, byte: u8, message: &str) -> Result<(), Stop> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected(message));
        }
        self.step();
        Ok(())
    }

    fn next_is(&self, byte: u8) -> bool {
        self.peek() == Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips one ASCII character and the white space after it.
    fn step(&mut self) -> Span {
        let span = Span::new(self.at, self.at + 1);
        self.at = span.end;
        self.skip_space();
        span
    }

    fn take_while(&mut self, part: impl Fn(u8) -> bool) -> Span {
        let start = self.at;
        while self.peek().is_some_and(&part) {
            self.at += 1;
        }
        Span::new(start, self.at)
    }

    fn skip_space(&mut self) {
        self.take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    /// Reports the character here, where something else was expected.
    fn unexpected(&mut self, wanted: &str) -> Stop {
        let found = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        let span = Span::new(self.at, self.at + found.map_or(0, char::len_utf8));
        let (message, help) = match found {
            None => (format!("{wanted}, found the end of the file"), None),
            Some('/' | '#') => (format!("{wanted}, found a comment"), Some("JSON has no comments")),
            Some('\'') => (format!("{wanted}, found `'`"), Some("put text in double quotes")),
            Some(character) => (format!("{wanted}, found `{character}`"), None),
        };
        self.fail(span, &message, help)
    }

    fn fail(&mut self, span: Span, message: &str, help: Option<&str>) -> Stop {
        let mut problem = Problem::new(ProblemKind::Syntax, span, message);
        problem.help = help.map(str::to_owned);
        if let (None, Some(open)) = (self.peek(), self.builder.innermost()) {
            problem = problem.related(open, "opened here");
        }
        self.builder.problem(problem);
        Stop::Document
    }
}

/// The position in a string literal of an escape that could not be read, and what is wrong with it. `column` is the
/// byte (from 1) at which decoding stopped.
fn bad_escape(written: &str, column: usize) -> (Span, &'static str) {
    let before = written.get(..column.min(written.len())).unwrap_or(written);
    let start = before.rfind('\\').unwrap_or_default();
    let rest = written.get(start..).unwrap_or_default();
    if rest.starts_with("\\u") {
        let digits = rest.bytes().skip(2).take(4).take_while(u8::is_ascii_hexdigit).count();
        let length = 2 + digits;
        return (Span::new(start, start + length), "this escape is no Unicode character");
    }
    let length = rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at);
    (Span::new(start, start + length), "unknown escape in text")
}
