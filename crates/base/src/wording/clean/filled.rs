//! The end of the rows that a text fills, for views that keep long texts in parts: a part that ends with a row wraps by
//! itself as it does in the whole.

use super::{Marks, is_space, joins, pieces};

/// The smallest part of a text, and its end.
struct Part {
    end: usize,
    width: usize,
    space: bool,
    joint: bool,
}

/// The byte of `text`, which is one line, at which its first `rows` rows of `width` columns end as [`wrap`](super::wrap) makes
/// them. A space whose place the end of a row takes belongs to that row.
#[must_use]
pub fn filled(text: &str, width: usize, rows: usize, marks: Marks) -> usize {
    if width == 0 || rows == 0 {
        return text.len();
    }
    // Most text is plain, and then no character has to be looked at more closely. One after it could be part of the last.
    let most = width.saturating_add(1).saturating_mul(rows).saturating_add(1);
    let head = text.as_bytes().get(..most).unwrap_or(text.as_bytes());
    let end = if head.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        let part = |(at, byte): (usize, &u8)| Part {
            end: at + 1,
            width: 1,
            space: *byte == b' ',
            joint: b"/\\_-.,".contains(byte),
        };
        end_of(head.iter().enumerate().map(part), width, rows)
    } else {
        let mut left = pieces(text, marks, 0);
        let parts = std::iter::from_fn(|| {
            let piece = left.next()?;
            let end = text.len() - left.left();
            let (space, joint) = (is_space(&piece), joins(&piece));
            Some(match piece.width > width {
                true => Part { end, width: 1, space: false, joint: false },
                false => Part { end, width: piece.width, space, joint },
            })
        });
        end_of(parts, width, rows)
    };
    end.unwrap_or(text.len())
}

/// The end of the last of this many rows; `None` if the parts do not fill them.
fn end_of(parts: impl Iterator<Item = Part>, width: usize, rows: usize) -> Option<usize> {
    let mut held: Vec<Part> = Vec::new();
    let (mut total, mut full) = (0, 0);
    let (mut last_break, mut last_joint) = (None, None);
    for part in parts {
        let mut broke = false;
        while total + part.width > width {
            let at = if part.space { held.len() } else { last_break.or(last_joint).unwrap_or(held.len()) };
            full += 1;
            if full == rows {
                let last = at.checked_sub(1).and_then(|last| held.get(last));
                return if part.space { Some(part.end) } else { last.map(|last| last.end) };
            }
            held.drain(..at);
            total = held.iter().map(|part| part.width).sum();
            last_break = None;
            last_joint = held.iter().rposition(|part| part.joint).map(|at| at + 1);
            broke = true;
        }
        if broke && part.space {
            continue;
        }
        total += part.width;
        let (space, joint) = (part.space, part.joint);
        held.push(part);
        if space {
            last_break = Some(held.len());
        } else if joint {
            last_joint = Some(held.len());
        }
    }
    None
}
