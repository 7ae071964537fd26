//! Digests, which distinguish values without keeping them.

use std::hash::{BuildHasher, Hash};
use std::sync::LazyLock;

use hashbrown::DefaultHashBuilder;

/// The seeds of this run of the program.
static SEEDS: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);

/// A digest of anything, equal for equal things while the program runs. It is never written down. Whole lines of logs go
/// through it.
pub fn digest(of: impl Hash) -> u64 {
    SEEDS.hash_one(of)
}
