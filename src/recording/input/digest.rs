//! What tells one thing from another without keeping it.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A digest of anything, equal for equal things while the program runs. It is never written down.
pub fn digest(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}
