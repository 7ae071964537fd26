//! The only way in which recorded text reaches the screen.
//!
//! A recording is written by a model and by whatever its tools fetched, so it is hostile: it may hold escape sequences,
//! characters that reverse the direction of a line, invisible characters. Here each of them becomes a visible mark,
//! tabs become spaces, and text is cut and wrapped by the columns that it really takes. Nothing is dropped silently:
//! a reader of the screen sees that something was there. (One exception, U+FE0E or U+FE0F directly after a character:
//! it only asks for another drawing of that character.)
//!
//! This file knows nothing of colours; a mark is flagged as one, and the view styles it.

use std::borrow::Cow;

mod filled;
mod pieces;

pub use filled::filled;
pub use pieces::Pieces;

/// How marks are spelt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Marks {
    /// `␛`, `↵`, `⟨U+202E⟩`, cut text ends in `…`.
    #[default]
    Unicode,
    /// `^[`, `\n`, `<U+202E>`, cut text ends in a backtick.
    Ascii,
}

/// The smallest part of shown text: never cut, never wrapped inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Text that is safe on the screen: without control, direction or invisible characters.
    pub text: Cow<'a, str>,
    /// Columns it takes.
    pub width: usize,
    /// Whether it replaces characters that must not reach the screen.
    pub mark: bool,
}

/// A run of shown text in one style.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Run {
    /// Safe text.
    pub text: String,
    /// Whether it is a mark (see [`Piece::mark`]).
    pub mark: bool,
}

/// A line of shown text and its width in columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CleanLine {
    /// Runs, marks apart from plain text.
    pub runs: Vec<Run>,
    /// Columns all runs take together.
    pub width: usize,
}

impl Marks {
    /// The mark for cut text.
    #[must_use]
    pub const fn ellipsis(self) -> &'static str {
        match self {
            Self::Unicode => "…",
            Self::Ascii => "`",
        }
    }
}

impl CleanLine {
    fn push(&mut self, piece: &Piece<'_>) {
        self.width += piece.width;
        match self.runs.last_mut() {
            Some(run) if run.mark == piece.mark => run.text.push_str(&piece.text),
            _ => self.runs.push(Run { text: piece.text.to_string(), mark: piece.mark }),
        }
    }

    /// A mark alone, such as an ellipsis.
    #[must_use]
    pub fn mark(text: &str) -> Self {
        let width = unicode_width::UnicodeWidthStr::width(text);
        Self { runs: vec![Run { text: text.to_owned(), mark: true }], width }
    }

    /// Appends the rest of the line.
    pub fn append(&mut self, after: Self) {
        self.width += after.width;
        for run in after.runs {
            match self.runs.last_mut() {
                Some(last) if last.mark == run.mark => last.text.push_str(&run.text),
                _ => self.runs.push(run),
            }
        }
    }

    /// The text alone.
    #[must_use]
    pub fn text(&self) -> String {
        self.runs.iter().map(|run| run.text.as_str()).collect()
    }
}

/// Splits `text`, which starts at `column` of its line, into pieces that are safe for the screen. Lazy: the rest is not
/// looked at.
#[must_use]
pub fn pieces(text: &str, marks: Marks, column: usize) -> Pieces<'_> {
    Pieces::of(text, marks, column)
}

/// `text` as one line of at most `width` columns; what does not fit ends in an ellipsis.
#[must_use]
pub fn fit(text: &str, width: usize, marks: Marks) -> CleanLine {
    let mut shown = CleanLine::default();
    // Where to cut back to when the ellipsis needs room: pieces since the last spot that leaves a column free.
    let mut tail: Vec<Piece<'_>> = Vec::new();
    let mut total = 0;
    for piece in pieces(text, marks, 0) {
        total += piece.width;
        if total > width {
            if shown.width < width {
                shown.push(&Piece { text: marks.ellipsis().into(), width: 1, mark: true });
            }
            return shown;
        }
        if total < width {
            tail.drain(..).for_each(|piece| shown.push(&piece));
            shown.push(&piece);
        } else {
            tail.push(piece);
        }
    }
    tail.drain(..).for_each(|piece| shown.push(&piece));
    shown
}

/// `text` in at most `width` columns; it is cut in its middle, since names that belong together often begin alike.
#[must_use]
pub fn ends(text: &str, width: usize, marks: Marks) -> CleanLine {
    if self::width(text, marks, width + 1) <= width {
        return fit(text, width, marks);
    }
    let Some(room) = width.checked_sub(1) else { return CleanLine::default() };
    let (head, tail) = (room / 2, room - room / 2);
    let mut shown = CleanLine::default();
    for piece in pieces(text, marks, 0) {
        if shown.width + piece.width > head {
            break;
        }
        shown.push(&piece);
    }
    shown.push(&Piece { text: marks.ellipsis().into(), width: 1, mark: true });
    // Of a very long text, only as much of its end as can be visible.
    let from = text.char_indices().rev().take(tail * 8).last().map_or(text.len(), |(at, _)| at);
    let end: Vec<Piece<'_>> = pieces(text.get(from..).unwrap_or_default(), marks, 0).collect();
    let mut left = tail;
    let fitting = end.iter().rev().take_while(|piece| {
        let fits = piece.width <= left;
        left = left.saturating_sub(piece.width);
        fits
    });
    let first = end.len() - fitting.count();
    end.iter().skip(first).for_each(|piece| shown.push(piece));
    shown
}

/// All of `text` as one line.
#[must_use]
pub fn show(text: &str, marks: Marks) -> CleanLine {
    let mut shown = CleanLine::default();
    pieces(text, marks, 0).for_each(|piece| shown.push(&piece));
    shown
}

/// Columns that `text` takes when shown whole, counted up to `limit`.
#[must_use]
pub fn width(text: &str, marks: Marks, limit: usize) -> usize {
    let mut total = 0;
    for piece in pieces(text, marks, 0) {
        total += piece.width;
        if total >= limit {
            return limit;
        }
    }
    total
}

/// `text` in lines of at most `width` columns, broken at its own line ends, else after white space, else after a
/// character that joins the parts of a name or a path, else anywhere; at most `limit` lines. A piece wider than `width`
/// is shown as an ellipsis. No line when `width` is 0. An empty text is one empty line.
#[must_use]
pub fn wrap(text: &str, width: usize, limit: usize, marks: Marks) -> Vec<CleanLine> {
    let mut lines = Vec::new();
    if width == 0 {
        return lines;
    }
    for line in text.split('\n') {
        // A line end written as CR LF is one line end, not a line with a stray CR.
        wrap_line(line.strip_suffix('\r').unwrap_or(line), width, limit, marks, &mut lines);
        if lines.len() >= limit {
            break;
        }
    }
    lines
}

fn wrap_line(line: &str, width: usize, limit: usize, marks: Marks, lines: &mut Vec<CleanLine>) {
    let mut held: Vec<Piece<'_>> = Vec::new();
    let mut total = 0;
    let (mut last_break, mut last_joint) = (None, None);
    for mut piece in pieces(line, marks, 0) {
        if piece.width > width {
            piece = Piece { text: marks.ellipsis().into(), width: 1, mark: true };
        }
        let space = is_space(&piece);
        let joint = joins(&piece);
        let mut broke = false;
        while total + piece.width > width {
            let at = if space { held.len() } else { last_break.or(last_joint).unwrap_or(held.len()) };
            let rest = held.split_off(at);
            lines.push(line_of(&held));
            if lines.len() >= limit {
                return;
            }
            held = rest;
            total = held.iter().map(|piece| piece.width).sum();
            last_break = None;
            last_joint = held.iter().rposition(joins).map(|at| at + 1);
            broke = true;
        }
        if broke && space {
            // The line end took the space's place.
            continue;
        }
        total += piece.width;
        held.push(piece);
        if space {
            last_break = Some(held.len());
        } else if joint {
            last_joint = Some(held.len());
        }
    }
    lines.push(line_of(&held));
}

fn is_space(piece: &Piece<'_>) -> bool {
    !piece.mark && piece.text.bytes().all(|byte| byte == b' ')
}

/// Whether it joins the parts of a name or a path.
fn joins(piece: &Piece<'_>) -> bool {
    !piece.mark && piece.text.bytes().all(|byte| b"/\\_-.,".contains(&byte))
}

fn line_of(pieces: &[Piece<'_>]) -> CleanLine {
    let mut shown = CleanLine::default();
    pieces.iter().for_each(|piece| shown.push(piece));
    shown
}

#[cfg(test)]
mod tests;
