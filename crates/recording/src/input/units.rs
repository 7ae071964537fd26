//! Splits a stream of bytes into the JSON values that a recording consists of: one per line, one after the other, or
//! the elements of one big list. Holds one value at a time and builds no tree.
//!
//! Only strings, brackets and line starts are looked at. Whether a value is valid JSON is for its reader to find out;
//! here a damaged one must only not take its neighbours with it, so splitting resumes at the next line that begins like
//! a value.

use std::io::{self, BufRead};

use memchr::memchr;

mod input;
mod scan;

use input::Input;
use scan::{Scan, Start, Stop};

/// A value larger than this is not kept in memory.
pub const LARGEST: u64 = 256 * 1024 * 1024;

/// One piece of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Line where it begins, from 1.
    pub line: u64,
    /// Line where it ends; of a broken one, the last line that it spoils.
    pub last_line: u64,
    /// The top-level list it is an element of, numbered from 0.
    pub list: Option<u32>,
    /// Byte offset in the input, as far as it is known.
    pub at: Option<u64>,
    /// Its kind.
    pub kind: Kind,
}

/// The kind of a piece. The text of the first three is in [`Units::take_text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A value, by its brackets.
    Value,
    /// A line that may be one whole object, which its reader finds out: see [`Units::line_ahead`].
    Line,
    /// Something that ends or begins where no value can.
    Broken(&'static str),
    /// A value that the input's end cuts off.
    CutOff,
    /// The input ends within the list at its top, after its last value.
    Unclosed,
    /// A value of this many bytes, too large to keep.
    TooLarge(u64),
}

/// The pieces of an input.
pub struct Units {
    input: Input,
    text: Vec<u8>,
    size: u64,
    limit: u64,
    line: u64,
    column: u64,
    /// Whether only blanks come before `column` on this line.
    fresh: bool,
    list: Option<u32>,
    lists: u32,
    /// Some value filled its line exactly, so a line that does not is damaged.
    by_lines: bool,
    /// The line before which nothing is to be read ahead: it was, and is no object.
    cut_line: u64,
    /// Bytes of the input before the latest piece, if known.
    began: Option<u64>,
    /// The input ended within a line that was read ahead.
    unended: bool,
}

/// Spare capacity that a piece's buffer may keep.
const SPARE: usize = 1 << 20;
/// Lines longer than this are cut by their brackets.
const LONGEST_LINE: usize = 16 << 20;

const NO_QUOTE: &str = "a line ends within a text";
const NO_BRACKET: &str = "the value is not closed";

impl Units {
    /// The pieces of `input`; a byte order mark at its beginning is passed over.
    pub fn new(input: Box<dyn BufRead + Send>, limit: u64) -> io::Result<Units> {
        let mut units = Units { input: Input::new(input), ..Units::empty(limit) };
        // `fill_buf` may give a single byte, so the mark is compared byte by byte.
        for byte in [0xEF, 0xBB, 0xBF] {
            if units.peek()? != Some(byte) {
                break;
            }
            units.input.consume(1);
        }
        Ok(units)
    }

    fn empty(limit: u64) -> Units {
        Units {
            input: Input::new(Box::new(io::empty())),
            text: Vec::new(),
            size: 0,
            limit,
            line: 1,
            column: 1,
            fresh: true,
            list: None,
            lists: 0,
            by_lines: false,
            cut_line: 0,
            began: None,
            unended: false,
        }
    }

    /// The pieces after this many complete lines, each of which was one value.
    pub fn after(lines: u64, input: Box<dyn BufRead + Send>, limit: u64) -> Units {
        let mut input = Input::new(input);
        // The bytes before it were not counted.
        input.lose_place();
        Units { input, by_lines: true, line: lines + 1, ..Units::empty(limit) }
    }

    /// The number of lines read, if all of them are complete and each is one value.
    pub fn whole_lines(&self) -> Option<u64> {
        let whole = self.by_lines && self.lists == 0 && self.column == 1 && !self.unended;
        whole.then_some(self.line - 1)
    }

    /// The bytes of the latest piece; the buffer is to be returned after reading.
    pub fn take_text(&mut self) -> Vec<u8> {
        let mut text = std::mem::take(&mut self.text);
        // While a long piece is read, its values need the memory.
        if text.capacity() - text.len() > SPARE {
            text.shrink_to_fit();
        }
        text
    }

    /// Memory for the next piece.
    pub fn give_back(&mut self, text: Vec<u8>) {
        self.text = text;
    }

    /// The line that is read next, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Bytes of the largest value that is kept.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether some value filled its line exactly.
    pub fn by_lines(&self) -> bool {
        self.by_lines
    }

    /// Whether a list was found at the top of the input.
    pub fn saw_list(&self) -> bool {
        self.lists > 0
    }

    /// Whether it is certain that nothing but blanks is left.
    pub fn at_end(&mut self) -> bool {
        self.list.is_none() && self.blanks().is_ok() && matches!(self.peek(), Ok(None))
    }

    /// The next piece.
    pub fn next(&mut self) -> io::Result<Option<Piece>> {
        self.text.clear();
        self.size = 0;
        loop {
            self.blanks()?;
            self.began = self.input.at();
            let Some(byte) = self.peek()? else {
                return Ok(self.list.take().map(|list| self.piece(self.line, Some(list), Kind::Unclosed)));
            };
            match (byte, self.list) {
                // If each value has its own line, a list within one is a part of it, or damage.
                (b'[', None) if self.fresh || !self.by_lines => {
                    self.step(byte);
                    self.list = Some(self.lists);
                    self.lists = self.lists.saturating_add(1);
                }
                (b']', Some(_)) => {
                    self.step(byte);
                    self.list = None;
                }
                (b',', Some(_)) => self.step(byte),
                (b'{' | b'[' | b'"', _) => return self.value().map(Some),
                _ => return self.bare().map(Some),
            }
        }
    }

    /// The next line, if it begins with an object and each value has its own line. Its reader finds out in one pass
    /// whether it is one value, and puts it back if not.
    pub fn line_ahead(&mut self) -> io::Result<Option<Piece>> {
        self.text.clear();
        self.blanks()?;
        let begins_line = self.column == 1 && self.cut_line != self.line;
        if !self.by_lines || !begins_line || self.list.is_some() {
            return Ok(None);
        }
        if self.peek()? != Some(b'{') {
            return Ok(None);
        }
        self.began = self.input.at();
        let longest = LONGEST_LINE.min(usize::try_from(self.limit).unwrap_or(LONGEST_LINE));
        loop {
            let chunk = self.input.fill()?;
            let end = memchr(b'\n', chunk);
            let used = end.map_or(chunk.len(), |end| end + 1);
            self.text.extend_from_slice(chunk.get(..used).unwrap_or_default());
            self.input.consume(used);
            if end.is_some() || used == 0 {
                self.unended = end.is_none();
                break;
            }
            if self.text.len() > longest {
                let text = self.take_text();
                self.put_back((self.line, self.began), text, self.line);
                return Ok(None);
            }
        }
        let piece = self.piece(self.line, None, Kind::Line);
        self.new_line();
        Ok(Some(piece))
    }

    /// Puts back the text that was read ahead, from the beginning of this line (whose offset in the input is `at`) to
    /// that of the line `next`: it is to be split by its brackets.
    pub fn put_back(&mut self, (line, at): (u64, Option<u64>), mut text: Vec<u8>, next: u64) {
        // Blanks after it were passed over.
        text.extend((next..self.line).map(|_| b'\n'));
        text.extend((1..self.column).map(|_| b' '));
        self.input.put_back(text);
        // As long as what was read, and without replaced blanks, it is what was read.
        if self.column > 1 || self.input.at() != at {
            self.input.lose_place();
        }
        (self.line, self.cut_line) = (line - 1, line);
        self.new_line();
    }

    /// Makes reading fail with this error once the text that was put back is used up.
    pub fn fail(&mut self, error: io::Error) {
        self.input.failed = Some(error);
    }

    fn piece(&self, line: u64, list: Option<u32>, kind: Kind) -> Piece {
        let kind = if self.size > self.limit { Kind::TooLarge(self.size) } else { kind };
        Piece { line, last_line: self.line, list, at: self.began, kind }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.input.fill()?.first().copied())
    }

    /// Passes over one byte outside a value.
    fn step(&mut self, byte: u8) {
        self.input.consume(1);
        self.column += 1;
        match byte {
            b'\n' => self.new_line(),
            b' ' | b'\t' | b'\r' => {}
            _ => self.fresh = false,
        }
    }

    fn new_line(&mut self) {
        self.line += 1;
        self.column = 1;
        self.fresh = true;
    }

    fn blanks(&mut self) -> io::Result<()> {
        while let Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) = self.peek()? {
            self.step(byte);
        }
        Ok(())
    }

    /// Something without brackets: a number, a word, or not JSON at all. In a list up to the next comma, else the line.
    fn bare(&mut self) -> io::Result<Piece> {
        let (line, list) = (self.line, self.list);
        while let Some(byte) = self.peek()? {
            if byte == b'\n' || list.is_some() && matches!(byte, b',' | b']') {
                break;
            }
            self.keep(byte);
            self.step(byte);
        }
        Ok(self.piece(line, list, Kind::Value))
    }

    /// A value in brackets or quotes.
    fn value(&mut self) -> io::Result<Piece> {
        let (line, list) = (self.line, self.list);
        let start = Start { column: self.column, fresh: self.fresh };
        let mut scan = Scan::new(start, self.by_lines, list.is_none());
        let kind = loop {
            let chunk = self.input.fill()?;
            if chunk.is_empty() {
                break Kind::CutOff;
            }
            let stop = scan.run(chunk, &mut self.line, &mut self.column);
            let used = stop.used(chunk);
            self.size += used as u64;
            if self.size <= self.limit {
                self.text.extend_from_slice(chunk.get(..used).unwrap_or_default());
            } else {
                self.text = Vec::new();
            }
            self.input.consume(used);
            match stop {
                Stop::More => {}
                Stop::Done(_) => break Kind::Value,
                Stop::InText(_) => break Kind::Broken(NO_QUOTE),
                Stop::AtNext(_) => break Kind::Broken(NO_BRACKET),
            }
        };
        self.fresh = matches!(kind, Kind::Broken(_));
        if kind == Kind::Value {
            self.by_lines |= line == self.line && start.fresh;
            return Ok(self.piece(line, list, kind));
        }
        if list.is_none() && !self.by_lines && start.column == 1 && self.put_back_lines() {
            self.line = line;
            self.new_line();
            return Ok(Piece { last_line: line, ..self.piece(line, list, Kind::Broken(NO_BRACKET)) });
        }
        if kind == Kind::CutOff {
            self.list = None;
            return Ok(self.piece(line, list, kind));
        }
        self.find_again(self.piece(line, list, kind), start)
    }

    /// A first value that does not end may be one damaged line, with complete lines after it: those are put back.
    fn put_back_lines(&mut self) -> bool {
        let Some(end) = memchr(b'\n', &self.text).filter(|_| self.size <= self.limit) else { return false };
        let mut lines = self.text.split(|byte| *byte == b'\n').skip(1).map(<[u8]>::trim_ascii);
        let next = lines.find(|line| !line.is_empty()).unwrap_or_default();
        let is_value = serde_json::from_slice::<serde::de::IgnoredAny>(next).is_ok();
        if next.first() != self.text.first() || !is_value {
            return false;
        }
        let rest = self.text.split_off(end + 1);
        self.input.put_back(rest);
        // From now on each line is a value, so this happens once.
        self.by_lines = true;
        true
    }

    /// After damage: on to the next line that begins with a bracket at the column of the damaged value, or to the
    /// list's end.
    fn find_again(&mut self, mut damaged: Piece, start: Start) -> io::Result<Piece> {
        damaged.last_line = damaged.line;
        loop {
            self.blanks()?;
            let Some(byte) = self.peek()? else { return Ok(damaged) };
            let first_column = self.list.is_none() && self.column == 1;
            let found = match byte {
                b'{' => first_column || !start.fresh || self.column == start.column,
                b'[' => first_column,
                b']' => self.list.is_some() && start.fresh && self.column < start.column,
                _ => false,
            };
            if found {
                return Ok(damaged);
            }
            damaged.last_line = self.line;
            while let Some(byte) = self.peek()? {
                if byte == b'\n' {
                    break;
                }
                self.step(byte);
            }
        }
    }

    fn keep(&mut self, byte: u8) {
        self.size += 1;
        if self.size <= self.limit {
            self.text.push(byte);
        } else {
            self.text = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests;
