//! A quick check of a member's name, which excludes most other names.

/// A bit for names like this one, by their first and last byte and their length: `content` and `created`, which differ
/// in the last, are both looked up in every message.
pub fn mark(name: &[u8]) -> u64 {
    let (first, last) = (name.first().copied().unwrap_or_default(), name.last().copied().unwrap_or_default());
    1 << ((usize::from(first) * 7 + usize::from(last) * 5 + name.len()) % 64)
}
