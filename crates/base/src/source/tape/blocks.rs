//! Sixty-four bytes at a time: which of them are inside a string, and which are to be looked at one by one.

use wide::u8x16;

/// Bit masks over sixty-four bytes; the first byte's bit is the lowest.
#[derive(Clone, Copy, Default)]
pub struct Block {
    /// Brackets, commas, colons and quotes outside strings, and the first bytes of numbers and words.
    pub events: u64,
    /// Escaped characters other than a quote or a backslash.
    pub rare_escapes: u64,
    /// Backslashes.
    pub slashes: u64,
}

/// State that one block passes to the next.
#[derive(Default)]
pub struct Blocks {
    /// The block before ended with a backslash that is not escaped.
    escapes: u64,
    /// All ones inside a string.
    in_text: u64,
    /// The block before ended within a number or word.
    in_bare: u64,
}

impl Blocks {
    /// Whether the last block ended inside a string.
    pub fn in_text(&self) -> bool {
        self.in_text != 0
    }

    /// The next bytes. `None` if a string holds a control character, which is not allowed.
    #[inline(always)]
    pub fn next(&mut self, bytes: &[u8; 64]) -> Option<Block> {
        let [one, two, three, four] = bytes.as_chunks::<16>().0 else { return None };
        let (one, two) = (u8x16::from(*one), u8x16::from(*two));
        let (three, four) = (u8x16::from(*three), u8x16::from(*four));
        macro_rules! mask {
            ($test:expr) => {{
                let test = $test;
                let of = |lane: u8x16| u64::from(test(lane).move_mask() as u16);
                of(one) | of(two) << 16 | of(three) << 32 | of(four) << 48
            }};
        }
        let is = |byte: u8| move |lane: u8x16| lane.cmp_eq(u8x16::splat(byte));
        let (quote, slashes) = (mask!(is(b'"')), mask!(is(b'\\')));
        let low = mask!(|lane: u8x16| lane.min(u8x16::splat(b' ')).cmp_eq(lane));
        let escaped = self.escaped(slashes);
        let quotes = quote & !escaped;
        let rare_escapes = escaped & !(quote | slashes);
        if quotes == 0 && self.in_text != 0 {
            // Most blocks are inside one string.
            let blank = if low == 0 { 0 } else { mask!(is(b' ')) };
            return (low & !blank == 0).then_some(Block { events: 0, rare_escapes, slashes });
        }
        let opening = prefix_xor(quotes) ^ self.in_text;
        // From an opening quote to before the closing one.
        let in_text = opening;
        self.in_text = 0_u64.wrapping_sub(opening >> 63);
        let mut blank = mask!(is(b' '));
        if low & !blank != 0 {
            blank |= mask!(is(b'\n')) | mask!(is(b'\t')) | mask!(is(b'\r'));
            if low & in_text & !mask!(is(b' ')) != 0 {
                return None;
            }
        }
        let signs = mask!(|lane: u8x16| {
            let folded = lane | u8x16::splat(0x20);
            let brackets = is(b'{')(folded) | is(b'}')(folded);
            brackets | is(b',')(lane) | is(b':')(lane)
        }) & !in_text;
        let bare = !(in_text | blank | signs | quotes);
        let begins = bare & !(bare << 1 | self.in_bare);
        self.in_bare = bare >> 63;
        Some(Block { events: signs | quotes | begins, rare_escapes, slashes })
    }

    /// The escaped bytes: those after a backslash that is not escaped itself; see `simdjson`, `json_escape_scanner.h`.
    #[inline]
    fn escaped(&mut self, slashes: u64) -> u64 {
        if slashes == 0 {
            return std::mem::take(&mut self.escapes);
        }
        const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        let begins = slashes & !self.escapes;
        let ends = ((begins << 1) | ODD).wrapping_sub(begins) ^ ODD;
        let escaped = ends ^ (slashes | self.escapes);
        self.escapes = (ends & slashes) >> 63;
        escaped
    }
}

/// How many of these bytes are before the first backslash.
#[inline]
pub fn before_slash(bytes: [u8; 16]) -> usize {
    let slashes = u8x16::from(bytes).cmp_eq(u8x16::splat(b'\\')).move_mask();
    (slashes | 1 << 16).trailing_zeros() as usize
}

/// Each bit is whether an odd number of bits is set up to it.
#[inline]
fn prefix_xor(bits: u64) -> u64 {
    [1, 2, 4, 8, 16, 32].into_iter().fold(bits, |bits, shift| bits ^ bits << shift)
}
