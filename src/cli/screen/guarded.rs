//! Escapes characters that a terminal may take for a command, or for a reversal of the direction of writing.
//!
//! Text for people is clean before it comes here. JSON holds recorded text as it is, and its own escapes do not cover
//! C1 controls and marks of direction. Those are only within its strings, where `\u0085` means the same.

use std::io::{self, Write};

/// A writer that escapes control characters, if wanted.
pub struct Guarded<W> {
    pub inner: W,
    /// Whether there is a terminal after it.
    pub terminal: bool,
}

impl<W: Write> Write for Guarded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.terminal {
            return self.inner.write_all(bytes);
        }
        let mut rest = bytes;
        while let Some((at, char)) = first(rest) {
            let (before, from) = rest.split_at(at);
            self.inner.write_all(before)?;
            write!(self.inner, "\\u{:04x}", u32::from(char))?;
            rest = from.get(char.len_utf8()..).unwrap_or_default();
        }
        self.inner.write_all(rest)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The first such character and its place: all begin with one of three bytes.
fn first(bytes: &[u8]) -> Option<(usize, char)> {
    memchr::memchr3_iter(0xc2, 0xd8, 0xe2, bytes).find_map(|at| {
        let rest = bytes.get(at..)?;
        let length = if rest.first() == Some(&0xe2) { 3 } else { 2 };
        let char = std::str::from_utf8(rest.get(..length)?).ok()?.chars().next()?;
        escaped(char).then_some((at, char))
    })
}

fn escaped(char: char) -> bool {
    matches!(char,
        '\u{80}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, terminal: bool) -> String {
        let mut guarded = Guarded { inner: Vec::new(), terminal };
        guarded.write_all(text.as_bytes()).unwrap();
        String::from_utf8(guarded.inner).unwrap()
    }

    #[test]
    fn a_terminal_gets_the_same_json_without_controls_and_marks_of_direction() {
        let hostile = "{\"a\": \"é\u{85}£\u{9b}31m – \u{202e}x\u{2069}\u{61c}“”\"}";
        let shown = written(hostile, true);
        assert_eq!(shown, "{\"a\": \"é\\u0085£\\u009b31m – \\u202ex\\u2069\\u061c“”\"}");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&shown), value(hostile));
        assert_eq!(written(hostile, false), hostile);
    }
}
