//! Line numbers of the parts of a value.

/// Finds the line of a part of a value.
pub struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    /// Place of the first line feed that is not before `at`. Most values are one line, and nothing is counted in them.
    next: usize,
}

impl<'a> Lines<'a> {
    /// For the parts of `whole`, which begins on `line`.
    pub fn new(whole: impl Into<&'a str>, line: u32) -> Lines<'a> {
        let text = whole.into();
        Lines { text, at: 0, line, next: feed_after(text, 0) }
    }

    /// The line of a part. Parts are asked for in their order; of an earlier one the line is the latest one known.
    pub fn of<'p>(&mut self, part: impl Into<&'p str>) -> u32 {
        // Parts are slices of the whole text, so their addresses are their positions.
        self.to(self.offset(part.into()))
    }

    /// The line of the object that has this first member.
    pub fn of_object<'p>(&mut self, member: impl Into<&'p str>) -> u32 {
        let at = self.offset(member.into());
        let before = self.text.as_bytes().get(self.at..at).unwrap_or_default();
        self.to(memchr::memrchr(b'{', before).map_or(at, |brace| self.at + brace))
    }

    /// The latest line that was requested.
    pub fn line(&self) -> u32 {
        self.line
    }

    fn offset(&self, part: &str) -> usize {
        (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize)
    }

    fn to(&mut self, at: usize) -> u32 {
        if at <= self.next {
            self.at = at.max(self.at);
        } else if let Some(between) = self.text.as_bytes().get(self.at..at) {
            self.line = self.line.saturating_add(memchr::memchr_iter(b'\n', between).count() as u32);
            (self.at, self.next) = (at, feed_after(self.text, at));
        }
        self.line
    }
}

fn feed_after(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(text.len(), |found| at + found)
}
