//! The checksum of the program: 64 bits that every version and every machine computes alike (XXH3).
//!
//! It distinguishes texts unless they were made to collide. It is computed here, so that it is fast in every profile.

use std::hash::Hasher;

use twox_hash::XxHash3_64;

/// The checksum of the bytes written so far.
#[derive(Clone)]
pub struct Checksum(XxHash3_64);

impl Checksum {
    /// No bytes yet.
    #[expect(clippy::new_without_default, reason = "an empty checksum is only to be written into")]
    pub fn new() -> Checksum {
        Checksum(XxHash3_64::new())
    }

    /// The checksum of these bytes.
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
