//! Sixteen bytes one by one, where no recordings are read: what is looked at is then a body now and then, and `wide` is not
//! worth its three crates.

use std::ops::BitOr;

/// As in `wide`, for as much of it as is asked.
#[derive(Clone, Copy)]
#[expect(non_camel_case_types, reason = "it has the name of that of `wide`")]
pub struct u8x16([u8; 16]);

impl u8x16 {
    pub fn splat(byte: u8) -> u8x16 {
        u8x16([byte; 16])
    }

    /// All ones where both are the same.
    pub fn cmp_eq(self, other: u8x16) -> u8x16 {
        self.with(other, |one, other| if one == other { u8::MAX } else { 0 })
    }

    pub fn min(self, other: u8x16) -> u8x16 {
        self.with(other, u8::min)
    }

    /// The highest bit of each byte, the first byte's the lowest.
    pub fn move_mask(self) -> i32 {
        self.0.iter().rev().fold(0, |mask, byte| mask << 1 | i32::from(byte >> 7))
    }

    fn with(self, other: u8x16, of: impl Fn(u8, u8) -> u8) -> u8x16 {
        let mut both = self;
        both.0.iter_mut().zip(other.0).for_each(|(one, other)| *one = of(*one, other));
        both
    }
}

impl From<[u8; 16]> for u8x16 {
    fn from(bytes: [u8; 16]) -> u8x16 {
        u8x16(bytes)
    }
}

impl BitOr for u8x16 {
    type Output = u8x16;

    fn bitor(self, other: u8x16) -> u8x16 {
        self.with(other, |one, other| one | other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bytes_are_those_of_the_library() {
        let (one, other): ([u8; 16], [u8; 16]) =
            (*b"{\"a\": [1, 2]} \n\xff", *b"{}\x00a\xff: [2]\"\" \t\x7f\x80");
        let (ours, theirs) = (u8x16::from(one), wide::u8x16::from(one));
        let (ours_too, theirs_too) = (u8x16::from(other), wide::u8x16::from(other));
        assert_eq!(ours.min(ours_too).0, theirs.min(theirs_too).to_array());
        assert_eq!((ours | ours_too).0, (theirs | theirs_too).to_array());
        assert_eq!(ours.cmp_eq(ours_too).0, theirs.cmp_eq(theirs_too).to_array());
        assert_eq!(ours.move_mask(), theirs.move_mask());
        assert_eq!(u8x16::splat(7).0, wide::u8x16::splat(7).to_array());
    }
}
