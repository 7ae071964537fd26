//! Scans over one value and finds its end: by its brackets, or, if it is damaged, where the next one begins.

use memchr::memchr3;

/// The position at which a value begins.
#[derive(Clone, Copy)]
pub struct Start {
    /// Its column, from 1.
    pub column: u64,
    /// Whether it is the first thing on its line.
    pub fresh: bool,
}

/// The state within one value.
pub struct Scan {
    start: Start,
    by_lines: bool,
    at_top: bool,
    depth: u64,
    in_text: bool,
    escaped: bool,
    /// Whether there were only blanks on this line so far.
    fresh: bool,
    /// The latest byte that is neither blank nor within a text.
    last: u8,
}

/// Why it stopped.
pub enum Stop {
    /// The chunk is used up.
    More,
    /// The value ends before this byte of the chunk.
    Done(usize),
    /// The line ends within a text, before this byte.
    InText(usize),
    /// The next value begins at this byte, and this one has not ended.
    AtNext(usize),
}

impl Stop {
    /// The number of bytes of the chunk that belong to the value.
    pub fn used(&self, chunk: &[u8]) -> usize {
        match self {
            Stop::More => chunk.len(),
            Stop::Done(used) | Stop::InText(used) | Stop::AtNext(used) => *used,
        }
    }
}

impl Scan {
    /// At the beginning of a value.
    pub fn new(start: Start, by_lines: bool, at_top: bool) -> Scan {
        Scan { start, by_lines, at_top, depth: 0, in_text: false, escaped: false, fresh: false, last: 0 }
    }

    /// Reads on, and keeps count of lines and columns.
    pub fn run(&mut self, chunk: &[u8], line: &mut u64, column: &mut u64) -> Stop {
        // The column of the byte at `at` is `first + at`; wrapping, since a line may begin within the chunk.
        let mut first = *column;
        let mut at = 0;
        let stop = loop {
            if self.in_text {
                match self.text(chunk, &mut at) {
                    None => break Stop::More,
                    Some(b'\n') => {
                        *line += 1;
                        first = 1u64.wrapping_sub(at as u64);
                        break Stop::InText(at);
                    }
                    Some(_) if self.depth == 0 => break Stop::Done(at),
                    Some(_) => continue,
                }
            }
            let Some(&byte) = chunk.get(at) else { break Stop::More };
            match byte {
                b'\n' => {
                    *line += 1;
                    first = 0u64.wrapping_sub(at as u64);
                    self.fresh = true;
                }
                b' ' | b'\t' | b'\r' => {}
                _ => {
                    if self.fresh && byte == b'{' && self.is_next(first.wrapping_add(at as u64)) {
                        break Stop::AtNext(at);
                    }
                    self.fresh = false;
                    self.last = byte;
                    match byte {
                        b'"' => self.in_text = true,
                        b'{' | b'[' => self.depth += 1,
                        b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                        _ => {}
                    }
                    if self.depth == 0 && !self.in_text {
                        break Stop::Done(at + 1);
                    }
                }
            }
            at += 1;
        };
        *column = first.wrapping_add(stop.used(chunk) as u64);
        stop
    }

    /// Within a text: to after its closing quote or a line feed, whichever that is. `None` at the chunk's end.
    fn text(&mut self, chunk: &[u8], at: &mut usize) -> Option<u8> {
        loop {
            if self.escaped {
                let escaped = *chunk.get(*at)?;
                self.escaped = false;
                // A line may be cut off after its backslash.
                *at += usize::from(escaped != b'\n');
            }
            let rest = chunk.get(*at..)?;
            // Escapes mostly come close together, so that the search ends before a wide one pays off.
            let near = rest.iter().take(16).position(|byte| matches!(byte, b'"' | b'\\' | b'\n'));
            let found = near.or_else(|| memchr3(b'"', b'\\', b'\n', rest))?;
            *at += found + 1;
            match rest.get(found) {
                Some(b'\\') => self.escaped = true,
                byte => {
                    self.in_text = false;
                    return byte.copied();
                }
            }
        }
    }

    /// Whether an object that begins a line here is the next value, and not a part of this one.
    fn is_next(&self, column: u64) -> bool {
        if self.by_lines && self.at_top && column == 1 {
            return true;
        }
        let may_hold_it = matches!(self.last, b',' | b'[' | b':');
        self.start.fresh && column == self.start.column && (self.by_lines || !may_hold_it)
    }
}
