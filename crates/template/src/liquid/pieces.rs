//! Splits a template into text, outputs and tags, and applies the white space control of `{%-` and `-%}`.

use super::scanner::{Scanner, is_blank};
use super::text;
use super::unevaluable::{Outcome, Unevaluable};

/// The kind of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Output,
    Tag,
}

/// A piece of a template: `from..to` as written, `inside` without delimiters and blanks (for text: without what white
/// space control removes).
#[derive(Clone, Debug)]
pub(super) struct Piece<'a> {
    pub(super) kind: Kind,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) inside: (usize, usize),
    /// The name of a tag.
    pub(super) name: &'a [u16],
    /// Where the arguments of a tag begin.
    pub(super) arguments: usize,
    trims: (bool, bool),
}

impl<'a> Piece<'a> {
    fn text(from: usize, to: usize) -> Self {
        Self {
            kind: Kind::Text,
            from,
            to,
            inside: (from, to),
            name: &[],
            arguments: to,
            trims: (false, false),
        }
    }

    /// `inner` is the part between the delimiters, before dashes and blanks are taken off.
    fn delimited(
        kind: Kind,
        input: &'a [u16],
        from: usize,
        to: usize,
        inner: (usize, usize),
    ) -> Outcome<Self> {
        let unit = |at: usize| input.get(at).copied();
        let left = unit(inner.0) == Some(45);
        let right = inner.1.checked_sub(1).and_then(unit) == Some(45);
        let (mut begin, mut end) = (inner.0 + usize::from(left), inner.1 - usize::from(right));
        while begin < end && unit(begin).is_some_and(is_blank) {
            begin += 1;
        }
        while end > begin && unit(end - 1).is_some_and(is_blank) {
            end -= 1;
        }
        let mut piece =
            Self { kind, from, to, inside: (begin, end), name: &[], arguments: end, trims: (left, right) };
        if kind == Kind::Tag {
            let mut scanner = Scanner::new(input, begin, end);
            piece.name = scanner.tag_name();
            if piece.name.is_empty() {
                return Err(Unevaluable::Syntax {
                    message: "a tag name was expected".to_owned(),
                    offset: from,
                });
            }
            scanner.skip_blank();
            piece.arguments = scanner.at;
        }
        Ok(piece)
    }

    pub(super) fn is_tag(&self, name: &str) -> bool {
        self.kind == Kind::Tag && text::is(self.name, name)
    }
}

/// The pieces of a whole template.
pub(super) fn cut(input: &[u16]) -> Outcome<Vec<Piece<'_>>> {
    let mut scanner = Scanner::over(input);
    let mut pieces = Vec::new();
    let mut raw_from = None;
    while !scanner.done() {
        let from = scanner.at;
        let piece = if let Some(opened) = raw_from {
            let piece = raw(&mut scanner, opened)?;
            if piece.kind == Kind::Tag {
                raw_from = None;
            }
            piece
        } else if scanner.meets("{%") {
            if !scanner.read_to_delimiter("%}", false) {
                return Err(open("tag", from));
            }
            let piece = Piece::delimited(Kind::Tag, input, from, scanner.at, (from + 2, scanner.at - 2))?;
            if piece.is_tag("raw") {
                raw_from = Some(from);
            }
            piece
        } else if scanner.meets("{{") {
            if !scanner.read_to_delimiter("}}", true) {
                return Err(open("output", from));
            }
            Piece::delimited(Kind::Output, input, from, scanner.at, (from + 2, scanner.at - 2))?
        } else {
            while !scanner.done() && !scanner.meets("{%") && !scanner.meets("{{") {
                scanner.at += 1;
            }
            Piece::text(from, scanner.at)
        };
        pieces.push(piece);
    }
    control_space(input, &mut pieces);
    Ok(pieces)
}

/// The lines of a `liquid` tag as tags.
pub(super) fn lines<'a>(scanner: &mut Scanner<'a>) -> Outcome<Vec<Piece<'a>>> {
    let mut pieces = Vec::new();
    while !scanner.done() {
        scanner.skip_blank();
        if scanner.done() {
            break;
        }
        let from = scanner.at;
        scanner.read_to_delimiter("\n", false);
        pieces.push(Piece::delimited(Kind::Tag, scanner.input, from, scanner.at, (from, scanner.at))?);
    }
    Ok(pieces)
}

/// Inside `raw`: the text up to `endraw`, or `endraw` itself at its place.
fn raw<'a>(scanner: &mut Scanner<'a>, opened: usize) -> Outcome<Piece<'a>> {
    let from = scanner.at;
    let mut tag_from = tag_ahead(scanner);
    while !scanner.done() {
        if !text::is(scanner.identifier(), "endraw") {
            tag_from = tag_ahead(scanner);
            continue;
        }
        while scanner.at <= scanner.end {
            if scanner.follows("%}") {
                let to = scanner.at;
                if Some(from) == tag_from {
                    return Piece::delimited(Kind::Tag, scanner.input, from, to, (from + 2, to - 2));
                }
                let tag_from = tag_from.unwrap_or(from);
                scanner.at = tag_from;
                return Ok(Piece::text(from, tag_from));
            }
            if scanner.follows("{%") {
                break;
            }
            scanner.at += 1;
        }
    }
    Err(open("raw", opened))
}

fn tag_ahead(scanner: &mut Scanner<'_>) -> Option<usize> {
    scanner.read_to("{%").then(|| scanner.at - 2)
}

fn open(what: &str, offset: usize) -> Unevaluable {
    Unevaluable::Syntax { message: format!("the {what} is not closed"), offset }
}

/// Dashes remove blanks from the text beside them; inside `raw` they do nothing.
fn control_space(input: &[u16], pieces: &mut [Piece<'_>]) {
    let mut in_raw = false;
    for at in 0..pieces.len() {
        let Some(piece) = pieces.get(at).cloned() else { return };
        if piece.kind == Kind::Text {
            continue;
        }
        if !in_raw
            && piece.trims.0
            && let Some(before) = at.checked_sub(1).and_then(|before| pieces.get_mut(before))
        {
            trim_end(input, before);
        }
        if piece.is_tag("raw") {
            in_raw = true;
        } else if piece.is_tag("endraw") {
            in_raw = false;
        }
        if !in_raw
            && piece.trims.1
            && let Some(after) = pieces.get_mut(at + 1)
        {
            trim_start(input, after);
        }
    }
}

fn trim_end(input: &[u16], piece: &mut Piece<'_>) {
    if piece.kind == Kind::Text {
        let (begin, end) = &mut piece.inside;
        while end > begin && input.get(*end - 1).is_some_and(|&unit| is_blank(unit)) {
            *end -= 1;
        }
    }
}

fn trim_start(input: &[u16], piece: &mut Piece<'_>) {
    if piece.kind == Kind::Text {
        let (begin, end) = &mut piece.inside;
        while begin < end && input.get(*begin).is_some_and(|&unit| is_blank(unit)) {
            *begin += 1;
        }
    }
}
