//! Builds the tree of a template, with one reader for each tag, which knows what the tag accepts and ignores.

use std::collections::VecDeque;

use super::pieces::{self, Kind, Piece};
use super::scanner::Scanner;
use super::text::{self, Text};
use super::tree::{Branch, For, Node};
use super::unevaluable::{Outcome, Unevaluable};

/// Deepest nesting of tags.
const NESTING: usize = 50;

/// The nodes of a whole template.
pub(super) fn parse(input: &[u16]) -> Outcome<Vec<Node>> {
    Blocks { input, pieces: pieces::cut(input)?.into(), nesting: 0 }.rest()
}

struct Blocks<'a> {
    input: &'a [u16],
    pieces: VecDeque<Piece<'a>>,
    nesting: usize,
}

impl<'a> Blocks<'a> {
    fn rest(&mut self) -> Outcome<Vec<Node>> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.pop_front() {
            nodes.extend(self.node(&piece)?);
        }
        Ok(nodes)
    }

    fn node(&mut self, piece: &Piece<'a>) -> Outcome<Option<Node>> {
        match piece.kind {
            Kind::Text => Ok(Some(Node::Text(self.text(piece.inside)))),
            Kind::Output => {
                let (expression, _) =
                    Scanner::new(self.input, piece.inside.0, piece.inside.1).expression()?;
                Ok(Some(Node::Output(expression)))
            }
            Kind::Tag => {
                if self.nesting >= NESTING {
                    return Err(Unevaluable::TooDeep);
                }
                self.nesting += 1;
                let node = self.tag(piece);
                self.nesting -= 1;
                node
            }
        }
    }

    fn tag(&mut self, piece: &Piece<'a>) -> Outcome<Option<Node>> {
        let name = text::lossy(piece.name);
        let mut scanner = self.scanner(piece);
        Ok(Some(match name.as_str() {
            "assign" => assign(&mut scanner)?,
            "capture" => self.capture(piece)?,
            "if" => self.branches_of_if(piece)?,
            "unless" => self.unless(piece)?,
            "case" => self.case(piece)?,
            "for" => self.for_loop(piece)?,
            "tablerow" => self.table(piece)?,
            "cycle" => cycle(&mut scanner, piece)?,
            "increment" | "decrement" => {
                Node::Count { name: scanner.identifier().into(), down: name == "decrement" }
            }
            "break" => Node::Break,
            "continue" => Node::Continue,
            "echo" => {
                if scanner.done() {
                    return Ok(None);
                }
                Node::Output(scanner.expression()?.0)
            }
            "liquid" => {
                let lines = pieces::lines(&mut scanner)?;
                let mut inner = Blocks { input: self.input, pieces: lines.into(), nesting: self.nesting };
                Node::Block(inner.rest()?)
            }
            "raw" => self.raw(piece)?,
            "comment" => {
                self.skip_to(piece, "endcomment")?;
                return Ok(None);
            }
            "#" => {
                self.inline_comment(piece)?;
                return Ok(None);
            }
            "include" | "render" | "layout" | "block" => return Err(Unevaluable::unsupported("tag", &name)),
            _ => return Err(Unevaluable::UnknownTag { name, offset: piece.from }),
        }))
    }

    fn scanner(&self, piece: &Piece<'a>) -> Scanner<'a> {
        Scanner::new(self.input, piece.arguments, piece.inside.1)
    }

    fn text(&self, (from, to): (usize, usize)) -> Text {
        self.input.get(from..to).unwrap_or_default().into()
    }

    /// The next piece inside the tag that `opened` opened.
    fn inside(&mut self, opened: &Piece<'a>) -> Outcome<Piece<'a>> {
        self.pieces.pop_front().ok_or_else(|| Unevaluable::Syntax {
            message: format!("the tag `{}` is not closed", text::lossy(opened.name)),
            offset: opened.from,
        })
    }

    fn skip_to(&mut self, opened: &Piece<'a>, end: &str) -> Outcome<()> {
        while !self.inside(opened)?.is_tag(end) {}
        Ok(())
    }

    fn capture(&mut self, opened: &Piece<'a>) -> Outcome<Node> {
        let mut scanner = self.scanner(opened);
        let mut name: Text = scanner.identifier().into();
        if name.is_empty() {
            name = scanner.quoted()?.ok_or_else(|| scanner.error("a name to capture into was expected"))?;
        }
        let mut body = Vec::new();
        loop {
            let piece = self.inside(opened)?;
            if piece.is_tag("endcapture") {
                return Ok(Node::Capture { name, body });
            }
            body.extend(self.node(&piece)?);
        }
    }

    fn branch(&self, piece: &Piece<'a>, negated: bool) -> Outcome<Branch> {
        let (test, _) = self.scanner(piece).expression()?;
        Ok(Branch { test, negated, body: Vec::new() })
    }

    fn branches_of_if(&mut self, opened: &Piece<'a>) -> Outcome<Node> {
        let mut branches = vec![self.branch(opened, false)?];
        let mut otherwise: Option<Vec<Node>> = None;
        loop {
            let piece = self.inside(opened)?;
            if piece.is_tag("elsif") {
                if otherwise.is_some() {
                    return Err(misplaced("`elsif` after `else`", &piece));
                }
                branches.push(self.branch(&piece, false)?);
            } else if piece.is_tag("else") {
                bare(&piece)?;
                if otherwise.is_some() {
                    return Err(misplaced("a second `else`", &piece));
                }
                otherwise = Some(Vec::new());
            } else if piece.is_tag("endif") {
                bare(&piece)?;
                return Ok(Node::If { branches, otherwise: otherwise.unwrap_or_default() });
            } else if let Some(node) = self.node(&piece)? {
                match (&mut otherwise, branches.last_mut()) {
                    (Some(otherwise), _) => otherwise.push(node),
                    (None, Some(branch)) => branch.body.push(node),
                    (None, None) => {}
                }
            }
        }
    }

    /// Unlike `if`, it accepts a second `else`, and an `elsif` after it, and drops their contents.
    fn unless(&mut self, opened: &Piece<'a>) -> Outcome<Node> {
        let mut branches = vec![self.branch(opened, true)?];
        let mut otherwise = Vec::new();
        let mut elses = 0;
        let mut dropped = false;
        loop {
            let piece = self.inside(opened)?;
            if piece.is_tag("elsif") {
                if elses > 0 {
                    dropped = true;
                } else {
                    branches.push(self.branch(&piece, false)?);
                }
            } else if piece.is_tag("else") {
                elses += 1;
                dropped = elses > 1;
            } else if piece.is_tag("endunless") {
                return Ok(Node::If { branches, otherwise });
            } else if let Some(node) = self.node(&piece)? {
                match branches.last_mut() {
                    _ if dropped => {}
                    Some(branch) if elses == 0 => branch.body.push(node),
                    _ => otherwise.push(node),
                }
            }
        }
    }

    /// Content before the first `when` and after a second `else` is dropped; a `when` after `else` is skipped, and its
    /// contents belong to the `else`.
    fn case(&mut self, opened: &Piece<'a>) -> Outcome<Node> {
        let (subject, _) = self.scanner(opened).expression()?;
        let mut branches: Vec<(Vec<_>, Vec<Node>)> = Vec::new();
        let mut otherwise = Vec::new();
        let mut elses = 0;
        loop {
            let piece = self.inside(opened)?;
            if piece.is_tag("when") {
                if elses == 0 {
                    branches.push((choices(&mut self.scanner(&piece))?, Vec::new()));
                }
            } else if piece.is_tag("else") {
                elses += 1;
            } else if piece.is_tag("endcase") {
                return Ok(Node::Case { subject, branches, otherwise });
            } else if let Some(node) = self.node(&piece)? {
                match (elses, branches.last_mut()) {
                    (0, Some((_, body))) => body.push(node),
                    (1, _) => otherwise.push(node),
                    _ => {}
                }
            }
        }
    }

    fn loop_head(&self, opened: &Piece<'a>) -> Outcome<For> {
        let mut scanner = self.scanner(opened);
        let variable: Text = scanner.identifier().into();
        let is_in = text::is(scanner.identifier(), "in");
        let Some((collection, spelled)) = scanner.value()?.filter(|_| is_in) else {
            return Err(misplaced("a loop that is not of the form `NAME in VALUE`", opened));
        };
        let settings = scanner.settings()?;
        let (body, otherwise) = (Vec::new(), Vec::new());
        Ok(For { variable, collection, spelling: spelled.into(), settings, body, otherwise })
    }

    fn for_loop(&mut self, opened: &Piece<'a>) -> Outcome<Node> {
        let mut head = self.loop_head(opened)?;
        if head.variable.is_empty() {
            return Err(misplaced("a `for` without a variable", opened));
        }
        let mut in_else = false;
        loop {
            let piece = self.inside(opened)?;
            if piece.is_tag("else") {
                bare(&piece)?;
                in_else = true;
            } else if piece.is_tag("endfor") {
                bare(&piece)?;
                return Ok(Node::For(Box::new(head)));
            } else if let Some(node) = self.node(&piece)? {
                if in_else { &mut head.otherwise } else { &mut head.body }.push(node);
            }
        }
    }

    fn table(&mut self, opened: &Piece<'a>) -> Outcome<Node> {
        let mut head = self.loop_head(opened)?;
        loop {
            let piece = self.inside(opened)?;
            if piece.is_tag("endtablerow") {
                return Ok(Node::Table(Box::new(head)));
            }
            head.body.extend(self.node(&piece)?);
        }
    }

    fn raw(&mut self, opened: &Piece<'a>) -> Outcome<Node> {
        let mut out = Vec::new();
        loop {
            let piece = self.inside(opened)?;
            if piece.is_tag("endraw") {
                return Ok(Node::Text(out.into()));
            }
            out.extend_from_slice(self.input.get(piece.from..piece.to).unwrap_or_default());
        }
    }

    /// Every line of an inline comment begins with `#`.
    fn inline_comment(&self, piece: &Piece<'a>) -> Outcome<()> {
        let comment = self.input.get(piece.arguments..piece.inside.1).unwrap_or_default();
        for rest in comment.split(|&unit| unit == 10).skip(1) {
            if text::trim_start(rest).first().is_some_and(|&first| first != 35) {
                return Err(misplaced("a line of an inline comment without `#`", piece));
            }
        }
        Ok(())
    }
}

fn assign(scanner: &mut Scanner<'_>) -> Outcome<Node> {
    let name: Text = scanner.identifier().into();
    if name.is_empty() {
        return Err(scanner.error("a variable name was expected"));
    }
    scanner.skip_blank();
    if !scanner.is_at('=') {
        return Err(scanner.error("`=` was expected"));
    }
    scanner.at += 1;
    Ok(Node::Assign { name, value: scanner.expression()?.0 })
}

/// The values of a `when`. Text between two of them is skipped up to a comma or the letters `or`.
fn choices(scanner: &mut Scanner<'_>) -> Outcome<Vec<super::tree::Operand>> {
    let mut values = Vec::new();
    while !scanner.done() {
        values.push(scanner.choice()?);
        scanner.skip_blank();
        let separator = if scanner.is_at(',') { "," } else { "or" };
        scanner.read_to(separator);
    }
    Ok(values)
}

fn cycle(scanner: &mut Scanner<'_>, piece: &Piece<'_>) -> Outcome<Node> {
    let from = scanner.at;
    let mut group = scanner.value()?.map(|(value, _)| value);
    scanner.skip_blank();
    if group.is_some() && scanner.is_at(':') {
        scanner.at += 1;
    } else if group.is_some() {
        group = None;
        scanner.at = from;
    }
    let mut choices = Vec::new();
    let mut label: Vec<u16> = Vec::new();
    while !scanner.done() {
        let (choice, spelled) = scanner.expression()?;
        if !choices.is_empty() {
            label.push(44);
        }
        label.extend_from_slice(spelled);
        choices.push(choice);
        scanner.read_to(",");
    }
    if choices.is_empty() {
        return Err(misplaced("a `cycle` without values", piece));
    }
    Ok(Node::Cycle { group, choices, label: label.into() })
}

/// Refuses arguments of a tag that takes none.
fn bare(piece: &Piece<'_>) -> Outcome<()> {
    if piece.arguments < piece.inside.1 {
        return Err(misplaced("arguments where none are allowed", piece));
    }
    Ok(())
}

fn misplaced(what: &str, piece: &Piece<'_>) -> Unevaluable {
    Unevaluable::Syntax { message: format!("unexpected: {what}"), offset: piece.from }
}
