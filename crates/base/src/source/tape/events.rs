//! The positions to be looked at one by one in the text of a value, in order.

use super::blocks::{Block, Blocks};

/// The positions of brackets, commas, colons and quotes outside strings, and of the first byte of anything else. The
/// one after an opening quote is its closing quote.
pub struct Events<'t> {
    bytes: &'t [u8],
    blocks: Blocks,
    /// The beginning of the current block.
    pub at: u32,
    /// Its backslashes.
    slashes: u64,
    /// The beginning of the next block.
    next: usize,
    /// Whether something is written as `\u…`.
    pub unicode: bool,
    broken: bool,
}

impl<'t> Events<'t> {
    pub fn new(bytes: &'t [u8]) -> Events<'t> {
        Events { bytes, blocks: Blocks::default(), at: 0, slashes: 0, next: 0, unicode: false, broken: false }
    }

    /// Whether the end was reached, and not inside a string.
    pub fn well_ended(&self) -> bool {
        !self.broken && !self.blocks.in_text()
    }

    /// Whether there may be a backslash between these positions, the latter of which is in this block; `false` is
    /// certain.
    #[inline(always)]
    pub fn may_escape(&self, start: u32, end: u32) -> bool {
        match start.checked_sub(self.at) {
            Some(start) => self.slashes >> start << start & ((1 << (end - self.at)) - 1) != 0,
            None => true,
        }
    }

    /// The positions in the next block, as bits, the first byte's the lowest. `None` after the last one, and if the
    /// text cannot be JSON.
    #[inline(never)]
    pub fn fill(&mut self) -> Option<u64> {
        let rest = self.bytes.get(self.next..).filter(|_| !self.broken)?;
        let mut last = [b' '; 64];
        let bytes = match rest.first_chunk::<64>() {
            Some(bytes) => bytes,
            None => {
                last.get_mut(..rest.len())?.copy_from_slice(rest);
                &last
            }
        };
        let block = self.blocks.next(bytes);
        self.at = self.next as u32;
        self.next += 64;
        let found = block.filter(|block| block.rare_escapes == 0 || self.may_be(block.rare_escapes));
        self.broken = found.is_none();
        let Block { events, slashes, .. } = found?;
        self.slashes = slashes;
        Some(events)
    }

    /// Whether JSON allows these escapes, other than of a quote or a backslash.
    fn may_be(&mut self, mut escaped: u64) -> bool {
        while escaped != 0 {
            if self.escape((self.at + escaped.trailing_zeros()) as usize).is_none() {
                return false;
            }
            escaped &= escaped - 1;
        }
        true
    }

    fn escape(&mut self, at: usize) -> Option<()> {
        match self.bytes.get(at)? {
            b'n' | b't' | b'r' | b'/' | b'b' | b'f' => Some(()),
            b'u' => {
                self.unicode = true;
                let digits = self.bytes.get(at + 1..at + 5)?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(())
            }
            _ => None,
        }
    }
}
