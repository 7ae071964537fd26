//! Sets of UTF-16 units, as sorted ranges with a bitmap for ASCII. Knows nothing of case or of pattern syntax.

/// A set of UTF-16 units.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Set {
    /// Bit `n` says whether unit `n` (below 128) is in the set.
    ascii: u128,
    /// All members, ASCII included: inclusive, ascending, neither touching nor overlapping.
    ranges: Box<[(u16, u16)]>,
}

impl Set {
    /// The set of the given inclusive ranges, in any order.
    pub(super) fn new(mut ranges: Vec<(u16, u16)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(u16, u16)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        let mut ascii = 0u128;
        for &(low, high) in &merged {
            for unit in low..=high.min(127) {
                ascii |= 1 << unit;
            }
        }
        Self { ascii, ranges: merged.into_boxed_slice() }
    }

    pub(super) fn contains(&self, unit: u16) -> bool {
        if unit < 128 {
            return self.ascii >> unit & 1 == 1;
        }
        let after = self.ranges.partition_point(|&(low, _)| low <= unit);
        after.checked_sub(1).and_then(|at| self.ranges.get(at)).is_some_and(|&(_, high)| unit <= high)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(super) fn ranges(&self) -> &[(u16, u16)] {
        &self.ranges
    }

    /// Every unit that is not a member.
    pub(super) fn complement(&self) -> Self {
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = Some(0u16);
        for &(low, high) in &self.ranges {
            if let Some(from) = next
                && from < low
            {
                ranges.push((from, low - 1));
            }
            next = high.checked_add(1);
        }
        if let Some(from) = next {
            ranges.push((from, u16::MAX));
        }
        Self::new(ranges)
    }
}

/// `\d`.
pub(super) const DIGITS: &[(u16, u16)] = &[(0x30, 0x39)];
/// `\w`.
pub(super) const WORD: &[(u16, u16)] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
/// `\s`: white space and line ends.
pub(super) const SPACE: &[(u16, u16)] = &[
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];
/// The units that end `.`, and at which `^` and `$` match with the `m` flag.
pub(super) const LINE_ENDS: &[(u16, u16)] = &[(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)];

pub(super) fn is_line_end(unit: u16) -> bool {
    matches!(unit, 0x0A | 0x0D | 0x2028 | 0x2029)
}

/// Whether `\w` matches the unit; `\b` looks at nothing else.
pub(super) fn is_word(unit: u16) -> bool {
    u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::{LINE_ENDS, SPACE, Set, WORD, is_line_end, is_word};

    #[test]
    fn ranges_are_merged_and_complemented() {
        let set = Set::new(vec![(5, 9), (1, 3), (4, 4), (0xFFFF, 0xFFFF), (7, 20)]);
        assert_eq!(set.ranges(), [(1, 20), (0xFFFF, 0xFFFF)]);
        assert_eq!(set.complement().ranges(), [(0, 0), (21, 0xFFFE)]);
        assert_eq!(set.complement().complement(), set);
        assert!(Set::default().is_empty());
        assert_eq!(Set::default().complement().ranges(), [(0, 0xFFFF)]);
        assert!(Set::default().complement().complement().is_empty());
    }

    #[test]
    fn membership_agrees_with_the_ranges() {
        for ranges in [WORD, SPACE, LINE_ENDS] {
            let set = Set::new(ranges.to_vec());
            for unit in 0..=u16::MAX {
                let expected = ranges.iter().any(|&(low, high)| (low..=high).contains(&unit));
                assert_eq!(set.contains(unit), expected, "{unit:04x}");
            }
        }
        let (word, ends) = (Set::new(WORD.to_vec()), Set::new(LINE_ENDS.to_vec()));
        for unit in 0..=u16::MAX {
            assert_eq!(word.contains(unit), is_word(unit), "{unit:04x}");
            assert_eq!(ends.contains(unit), is_line_end(unit), "{unit:04x}");
        }
    }
}
