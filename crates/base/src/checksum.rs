//! The checksum of the program: 64 bits that every version and every machine computes alike (XXH3).
//!
//! It tells texts apart that nobody wrote to be alike. It is computed here, so that it is fast in every profile.

use std::hash::Hasher;

use twox_hash::XxHash3_64;

/// A checksum of what is written into it.
#[derive(Clone)]
pub struct Checksum(XxHash3_64);

impl Checksum {
    /// That of nothing.
    #[expect(clippy::new_without_default, reason = "nobody needs an empty checksum but to write into it")]
    pub fn new() -> Checksum {
        Checksum(XxHash3_64::new())
    }

    /// That of these bytes.
    #[inline(never)]
    pub fn oneshot(bytes: &[u8]) -> u64 {
        XxHash3_64::oneshot(bytes)
    }
}

impl Hasher for Checksum {
    #[inline(never)]
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.finish()
    }
}
