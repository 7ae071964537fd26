//! A cursor in a long list and the part of the list that is on screen.

/// Which row the cursor is on and which row is drawn first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct List {
    /// The row the cursor is on.
    pub cursor: usize,
    /// The first row on screen.
    pub top: usize,
}

/// A way to go in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Go {
    /// This many rows down, or up when negative.
    By(isize),
    /// This many half screens down, or up when negative.
    Halves(isize),
    /// To the first row.
    First,
    /// To the last row.
    Last,
}

/// Rows that stay in sight beyond the cursor, where there is room.
const MARGIN: usize = 2;

impl List {
    /// Goes, in a list of `len` rows of which `height` are on screen.
    pub fn go(&mut self, go: Go, len: usize, height: usize) {
        let last = len.saturating_sub(1);
        let half = isize::try_from((height / 2).max(1)).unwrap_or(isize::MAX);
        self.cursor = match go {
            Go::By(by) => self.cursor.saturating_add_signed(by).min(last),
            Go::Halves(by) => self.cursor.saturating_add_signed(by.saturating_mul(half)).min(last),
            Go::First => 0,
            Go::Last => last,
        };
        self.keep(len, height);
    }

    /// As it is when what is on screen moves by this many rows; the cursor goes along only where it would be out of sight.
    #[must_use]
    pub fn scrolled(self, by: isize, len: usize, height: usize) -> List {
        let top = self.top.saturating_add_signed(by).min(len.saturating_sub(height));
        let margin = MARGIN.min(height.saturating_sub(1) / 2);
        let (first, last) = (top + margin, (top + height).saturating_sub(margin + 1));
        // At the ends of the list there is nothing beyond to be seen.
        let first = if top == 0 { 0 } else { first };
        let last = if top + height >= len { len.saturating_sub(1) } else { last };
        List { top, cursor: self.cursor.clamp(first.min(last), last) }
    }

    /// Sets the cursor on a row.
    pub fn set(&mut self, cursor: usize, len: usize, height: usize) {
        self.cursor = cursor;
        self.keep(len, height);
    }

    /// Moves what is on screen as little as it takes to see the cursor and a few rows around it.
    pub fn keep(&mut self, len: usize, height: usize) {
        self.cursor = self.cursor.min(len.saturating_sub(1));
        let margin = MARGIN.min(height.saturating_sub(1) / 2);
        let least = (self.cursor + margin + 1).saturating_sub(height);
        let most = self.cursor.saturating_sub(margin);
        self.top = self.top.max(least).min(most).min(len.saturating_sub(height));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn goes_and_scrolls() {
        let mut list = List::default();
        list.go(Go::By(7), 20, 8);
        assert_eq!(list, List { cursor: 7, top: 2 });
        list.go(Go::By(-2), 20, 8);
        assert_eq!(list, List { cursor: 5, top: 2 }, "no need to scroll");
        list.go(Go::Last, 20, 8);
        assert_eq!(list, List { cursor: 19, top: 12 });
        list.go(Go::Halves(-1), 20, 8);
        assert_eq!(list.cursor, 15);
        list.go(Go::First, 20, 8);
        assert_eq!(list, List::default());
        list.go(Go::Last, 0, 8);
        assert_eq!(list, List::default());
    }

    proptest! {
        #[test]
        fn the_cursor_is_always_in_sight(len in 0usize..50, height in 1usize..12, steps in prop::collection::vec(-60isize..60, 0..20)) {
            let mut list = List::default();
            for step in steps {
                list.go(Go::By(step), len, height);
                prop_assert!(list.cursor < len.max(1));
                prop_assert!(list.top <= list.cursor && list.cursor < list.top + height);
                prop_assert!(list.top == 0 || list.top + height <= len);
                let mut scrolled = list.scrolled(step / 4, len, height);
                let top = scrolled.top;
                scrolled.keep(len, height);
                prop_assert_eq!(scrolled.top, top, "what is scrolled stays scrolled");
                prop_assert!(scrolled.cursor < len.max(1));
            }
        }
    }
}
