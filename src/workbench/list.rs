//! A cursor in a long list and the visible part of the list.

/// The row of the cursor and the first visible row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct List {
    /// The row the cursor is on.
    pub cursor: usize,
    /// The first row on screen.
    pub top: usize,
}

/// A list with its own cursor and scroll position.
pub trait Listed {
    /// Both of them.
    fn list(&self) -> List;

    /// The same, to change them.
    fn list_mut(&mut self) -> &mut List;
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

/// Rows that stay in sight beyond the cursor, if there is room.
const MARGIN: usize = 2;

impl List {
    /// Moves in a list of `len` rows of which `height` are visible.
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

    /// The list after scrolling by this many rows; the cursor moves only if it would become invisible.
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

    /// Scrolls as little as it takes to show the cursor and a few rows around it.
    pub fn keep(&mut self, len: usize, height: usize) {
        self.cursor = self.cursor.min(len.saturating_sub(1));
        let margin = MARGIN.min(height.saturating_sub(1) / 2);
        let least = (self.cursor + margin + 1).saturating_sub(height);
        let most = self.cursor.saturating_sub(margin);
        self.top = self.top.max(least).min(most).min(len.saturating_sub(height));
    }
}

/// A list whose rows take one or more lines of the screen each.
pub struct Tall<'t> {
    /// The number of rows.
    pub len: usize,
    /// Lines of the screen that there are for it.
    pub lines: usize,
    /// Lines that a row takes.
    pub of: &'t dyn Fn(usize) -> usize,
}

impl Tall<'_> {
    /// The first row on screen if `last` is the last one, whole; `last` itself if it does not fit.
    fn first_above(&self, last: usize) -> usize {
        let mut taken = (self.of)(last);
        let above = (0..last).rev().take_while(|row| {
            taken += (self.of)(*row);
            taken <= self.lines
        });
        above.last().unwrap_or(last)
    }

    /// The first row that is not whole on screen below `top`.
    fn first_below(&self, top: usize) -> usize {
        let mut taken = 0;
        let below = (top..self.len).take_while(|row| {
            taken += (self.of)(*row);
            taken <= self.lines
        });
        below.last().map_or(top, |row| row + 1)
    }

    /// The row that begins at most this many lines after a row, or before it when negative, but not the same row.
    fn away(&self, from: usize, lines: isize) -> usize {
        let (mut taken, most) = (0, lines.unsigned_abs());
        let mut fits = |row: &usize| {
            taken += (self.of)(*row);
            taken <= most
        };
        if lines < 0 {
            (0..from).rev().take_while(&mut fits).last().unwrap_or(from.saturating_sub(1))
        } else {
            let last = self.len.saturating_sub(1);
            (from..last).take_while(&mut fits).last().map_or(from + 1, |row| row + 1).min(last)
        }
    }

    /// The list with its cursor in sight, whole, and a few rows around it if they fit.
    #[must_use]
    pub fn kept(&self, list: List) -> List {
        let last = self.len.saturating_sub(1);
        let cursor = list.cursor.min(last);
        if self.len == 0 {
            return List::default();
        }
        let margin = MARGIN.min(self.lines.saturating_sub(1) / 2);
        let most = cursor.saturating_sub(margin).max(self.first_above(cursor));
        let least = self.first_above((cursor + margin).min(last)).min(most);
        List { cursor, top: list.top.max(least).min(most).min(self.first_above(last)) }
    }

    /// Moves in it. A screen or half a screen is counted in lines, and no row is skipped that was not completely
    /// visible.
    #[must_use]
    pub fn gone(&self, list: List, go: Go) -> List {
        let half = isize::try_from((self.lines / 2).max(1)).unwrap_or(isize::MAX);
        let Go::Halves(by) = go else {
            let mut gone = list;
            gone.go(go, self.len, self.lines);
            return self.kept(List { top: list.top, ..gone });
        };
        let by = by.saturating_mul(half);
        let at = |cursor| self.kept(List { cursor, top: list.top });
        let mut gone = at(self.away(list.cursor, by));
        if by < 0 {
            let least = list.top.checked_sub(1).map_or(0, |before| self.first_above(before));
            while gone.top < least && gone.cursor < list.cursor {
                gone = at(gone.cursor + 1);
            }
        } else {
            let most = self.first_below(list.top);
            while gone.top > most && gone.cursor > list.cursor {
                gone = at(gone.cursor - 1);
            }
        }
        gone
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

    /// The completely visible rows of a list.
    fn whole(tall: &Tall<'_>, list: List) -> std::ops::Range<usize> {
        list.top..tall.first_below(list.top).max(list.top + 1)
    }

    proptest! {
        #[test]
        fn no_row_is_skipped_however_tall_they_are(tall in prop::collection::vec(1usize..7, 1..60), lines in 6usize..24, halves in 1isize..3) {
            let of = |row: usize| tall[row];
            let list = Tall { len: tall.len(), lines, of: &of };
            let mut at = list.kept(List::default());
            let mut seen = whole(&list, at).end;
            for _ in 0..tall.len() {
                let next = list.gone(at, Go::Halves(halves));
                prop_assert!(next.top <= seen, "{next:?} after {at:?}");
                prop_assert!(whole(&list, next).contains(&next.cursor));
                prop_assert_eq!(list.kept(next), next);
                prop_assert!(next.cursor > at.cursor || at.cursor + 1 == tall.len());
                (at, seen) = (next, whole(&list, next).end);
            }
            prop_assert_eq!(at.cursor + 1, tall.len(), "the end is reached");
            for _ in 0..tall.len() {
                let next = list.gone(at, Go::Halves(-halves));
                prop_assert!(whole(&list, next).end >= at.top, "{next:?} before {at:?}");
                prop_assert!(whole(&list, next).contains(&next.cursor));
                prop_assert!(next.cursor < at.cursor || at.cursor == 0);
                at = next;
            }
            prop_assert_eq!(at, List::default(), "so is the beginning");
        }

        #[test]
        fn rows_of_one_line_are_kept_as_in_any_list(len in 0usize..50, height in 1usize..12, cursor in 0usize..60, top in 0usize..60) {
            let mut list = List { cursor, top };
            let tall = Tall { len, lines: height, of: &|_| 1 };
            let kept = tall.kept(list);
            list.keep(len, height);
            prop_assert_eq!(kept, list);
        }

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
