//! Parses the text of a pattern, by JavaScript's grammar without the u flag, with the leniencies of its Annex B: `{`,
//! `}` and `]` may be literal, an unknown escape is its letter, `\12` is an octal unit if there is no such group. The
//! text is read as UTF-16 units, so an astral letter is two pieces. Open groups are kept in a list, not on the stack;
//! their nesting is bounded because the later passes recurse.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::ast::{Assert, Ast, Look, Node, Repeat};
use super::bad_pattern::BadPattern;
use super::case;
use super::set::{DIGITS, LINE_ENDS, SPACE, Set, WORD};

mod class;
mod escape;
mod names;

/// Longest pattern, in UTF-16 units.
const LONGEST: usize = 1 << 16;
/// Deepest nesting of groups and lookarounds.
const DEEPEST: usize = 100;

/// Reads a pattern, with the groups of flags it may begin with.
pub(super) fn parse(pattern: &str) -> Result<Ast, BadPattern> {
    let units: Vec<u16> = pattern.encode_utf16().collect();
    if units.len() > LONGEST {
        return Err(BadPattern::TooLarge { what: "the pattern is longer than 65536 units" });
    }
    let mut parser = Parser::new(pattern, units);
    parser.leading_flags();
    parser.scan_groups();
    let root = parser.pattern()?;
    let anything = parser.set_index(Set::default().complement());
    Ok(Ast {
        root,
        anything,
        sets: parser.sets,
        referenced: parser.referenced,
        ignore_case: parser.flags.ignore_case,
        watched_loops: parser.watched_loops,
    })
}

#[derive(Debug, Default, Clone, Copy)]
struct Flags {
    ignore_case: bool,
    multiline: bool,
    dot_all: bool,
}

struct Parser<'p> {
    pattern: &'p str,
    units: Vec<u16>,
    at: usize,
    flags: Flags,
    /// Capturing groups in the whole pattern: decides whether `\2` refers or is octal.
    group_count: u32,
    /// Names of groups with their (first) numbers; if there are none, `\k` is the letter.
    names: HashMap<String, u32>,
    /// Groups opened so far.
    opened: u32,
    sets: Vec<Set>,
    referenced: BTreeSet<u32>,
    backreferences: u32,
    watched_loops: u32,
    looks: u32,
}

/// An open group.
struct Open {
    kind: Kind,
    /// Offset of the opening parenthesis.
    at: usize,
    groups_before: u32,
    backreferences_before: u32,
    alternatives: Vec<Node>,
    terms: Vec<Node>,
}

#[derive(Clone, Copy)]
enum Kind {
    Plain,
    Capture(u32),
    Look { id: u32, behind: bool, negated: bool },
}

/// The meaning of an escape outside a class.
enum Escape {
    Unit(u16),
    Set(Set),
    Assert(Assert),
    Backreference(u32),
}

impl<'p> Parser<'p> {
    fn new(pattern: &'p str, units: Vec<u16>) -> Self {
        Self {
            pattern,
            units,
            at: 0,
            flags: Flags::default(),
            group_count: 0,
            names: HashMap::new(),
            opened: 0,
            sets: Vec::new(),
            referenced: BTreeSet::new(),
            backreferences: 0,
            watched_loops: 0,
            looks: 0,
        }
    }

    /// `(?i)`, `(?ms)(?i)` and the like at the very start. Any other group of flags is left to be refused.
    fn leading_flags(&mut self) {
        while self.looking_at("(?") {
            let letters = self.units.iter().skip(self.at + 2).copied();
            let letters: Vec<u8> =
                letters.map_while(|unit| ascii(unit).filter(|letter| b"ims".contains(letter))).collect();
            let end = self.at + 2 + letters.len();
            if letters.is_empty() || self.ascii_at(end) != Some(b')') {
                return;
            }
            self.flags.ignore_case |= letters.contains(&b'i');
            self.flags.multiline |= letters.contains(&b'm');
            self.flags.dot_all |= letters.contains(&b's');
            self.at = end + 1;
        }
    }

    fn pattern(&mut self) -> Result<Node, BadPattern> {
        let mut outer: Vec<Open> = Vec::new();
        let mut here = self.open(Kind::Plain, self.at);
        while let Some(unit) = self.peek() {
            let start = self.at;
            let groups_before = self.opened;
            self.at += 1;
            let (node, repeatable) = match ascii(unit) {
                Some(b'|') => {
                    let branch = sequence(std::mem::take(&mut here.terms));
                    here.alternatives.push(branch);
                    continue;
                }
                Some(b'(') => {
                    if outer.len() >= DEEPEST {
                        return Err(BadPattern::TooLarge { what: "groups nest deeper than 100" });
                    }
                    let kind = self.group_kind(start)?;
                    let inner = self.open(kind, start);
                    outer.push(std::mem::replace(&mut here, inner));
                    continue;
                }
                Some(b')') => {
                    let Some(parent) = outer.pop() else {
                        return Err(self.syntax(start, "unmatched `)`"));
                    };
                    let closed = std::mem::replace(&mut here, parent);
                    // A lookbehind cannot be repeated; a lookahead can, in Annex B.
                    let repeatable = !matches!(closed.kind, Kind::Look { behind: true, .. });
                    let groups_before = closed.groups_before;
                    let node = self.close(closed);
                    let node = if repeatable { self.quantified(node, groups_before, start)? } else { node };
                    here.terms.push(node);
                    continue;
                }
                Some(b'^') if self.flags.multiline => (Node::Assert(Assert::LineStart), false),
                Some(b'^') => (Node::Assert(Assert::TextStart), false),
                Some(b'$') if self.flags.multiline => (Node::Assert(Assert::LineEnd), false),
                Some(b'$') => (Node::Assert(Assert::TextEnd), false),
                Some(b'*' | b'+' | b'?') => return Err(self.syntax(start, "nothing to repeat")),
                Some(b'{') if self.braces(start).is_some() => {
                    return Err(self.syntax(start, "nothing to repeat"));
                }
                Some(b'.') if self.flags.dot_all => (self.set(Set::default().complement()), true),
                Some(b'.') => (self.set(Set::new(LINE_ENDS.to_vec()).complement()), true),
                Some(b'[') => (self.class(start)?, true),
                Some(b'\\') => match self.escape(start)? {
                    Escape::Unit(unit) => (self.unit(unit), true),
                    Escape::Set(set) => (self.set(set), true),
                    Escape::Assert(assert) => (Node::Assert(assert), false),
                    Escape::Backreference(group) => {
                        self.referenced.insert(group);
                        self.backreferences += 1;
                        (Node::Backreference(group), true)
                    }
                },
                _ => (self.unit(unit), true),
            };
            let node = if repeatable { self.quantified(node, groups_before, start)? } else { node };
            here.terms.push(node);
        }
        match outer.pop() {
            Some(_) => Err(self.syntax(here.at, "this group is not closed")),
            None => Ok(self.close(here)),
        }
    }

    fn open(&mut self, kind: Kind, at: usize) -> Open {
        // A capturing group is counted when its parenthesis is read, but belongs to whatever repeats it.
        let own = u32::from(matches!(kind, Kind::Capture(_)));
        Open {
            kind,
            at,
            groups_before: self.opened - own,
            backreferences_before: self.backreferences,
            alternatives: Vec::new(),
            terms: Vec::new(),
        }
    }

    fn close(&self, open: Open) -> Node {
        let Open { kind, groups_before, backreferences_before, mut alternatives, terms, .. } = open;
        let last = sequence(terms);
        let body = if alternatives.is_empty() {
            last
        } else {
            alternatives.push(last);
            Node::Alternatives(alternatives)
        };
        match kind {
            Kind::Plain => body,
            Kind::Capture(group) => Node::Capture { group, body: Box::new(body) },
            Kind::Look { id, behind, negated } => Node::Look(Look {
                id,
                behind,
                negated,
                groups: self.groups_since(groups_before),
                refers: self.backreferences > backreferences_before,
                body: Box::new(body),
            }),
        }
    }

    fn groups_since(&self, before: u32) -> Range<u32> {
        before + 1..self.opened + 1
    }

    /// What follows `(`: `?:`, `?=`, `?<name>` …; leaves the place at the group's content.
    fn group_kind(&mut self, start: usize) -> Result<Kind, BadPattern> {
        if self.peek_ascii() != Some(b'?') {
            self.opened += 1;
            return Ok(Kind::Capture(self.opened));
        }
        for (mark, behind, negated) in
            [("?=", false, false), ("?!", false, true), ("?<=", true, false), ("?<!", true, true)]
        {
            if self.looking_at(mark) {
                self.at += mark.len();
                let id = self.looks;
                self.looks += 1;
                return Ok(Kind::Look { id, behind, negated });
            }
        }
        if self.looking_at("?:") {
            self.at += 2;
            return Ok(Kind::Plain);
        }
        if self.looking_at("?<") {
            self.at += 2;
            let name = self.group_name().ok_or_else(|| self.syntax(start, "invalid group name"))?;
            self.opened += 1;
            if self.names.get(&name).is_some_and(|first| *first != self.opened) {
                return Err(self.syntax(start, "two groups have the same name"));
            }
            return Ok(Kind::Capture(self.opened));
        }
        let mut end = self.at + 1;
        while self.ascii_at(end).is_some_and(|letter| letter.is_ascii_alphabetic() || letter == b'-') {
            end += 1;
        }
        if end > self.at + 1 && matches!(self.ascii_at(end), Some(b')' | b':')) {
            return Err(self.unsupported(start, end + 1));
        }
        Err(self.syntax(start, "invalid group"))
    }

    /// The piece with the quantifier that follows it, if one does.
    fn quantified(&mut self, node: Node, groups_before: u32, start: usize) -> Result<Node, BadPattern> {
        let (min, max) = match self.peek_ascii() {
            Some(b'*') => (0, None),
            Some(b'+') => (1, None),
            Some(b'?') => (0, Some(1)),
            Some(b'{') => match self.braces(self.at) {
                Some((min, max, end)) => {
                    self.at = end - 1;
                    (min, max)
                }
                None => return Ok(node),
            },
            _ => return Ok(node),
        };
        self.at += 1;
        let greedy = self.peek_ascii() != Some(b'?');
        self.at += usize::from(!greedy);
        if max.is_some_and(|max| max < min) {
            return Err(self.syntax(start, "numbers out of order in a `{}` quantifier"));
        }
        let watched = node.is_nullable().then_some(self.watched_loops);
        self.watched_loops += u32::from(watched.is_some());
        let groups = self.groups_since(groups_before);
        Ok(Node::Repeat(Repeat { min, max, greedy, groups, watched, body: Box::new(node) }))
    }

    /// `{2}`, `{2,}` or `{2,5}` at the given place, with the place after it. A number too large to count to means
    /// `u32::MAX`, as upper bound no bound.
    fn braces(&self, open: usize) -> Option<(u32, Option<u32>, usize)> {
        let (min, mut at) = self.number(open + 1)?;
        let mut max = Some(min);
        if self.ascii_at(at) == Some(b',') {
            at += 1;
            max = None;
            if let Some((number, after)) = self.number(at) {
                max = Some(number);
                at = after;
            }
        }
        (self.ascii_at(at) == Some(b'}')).then_some((min, max.filter(|max| *max != u32::MAX), at + 1))
    }

    fn number(&self, from: usize) -> Option<(u32, usize)> {
        let (mut number, mut at) = (None, from);
        while let Some(digit) = self.ascii_at(at).filter(u8::is_ascii_digit) {
            number = Some(number.unwrap_or(0u32).saturating_mul(10).saturating_add(u32::from(digit - b'0')));
            at += 1;
        }
        number.map(|number| (number, at))
    }

    fn unit(&mut self, unit: u16) -> Node {
        if !self.flags.ignore_case {
            return Node::Unit(unit);
        }
        let same = case::equivalents(unit);
        if same.len() == 1 { Node::Unit(unit) } else { self.set(Set::new(same)) }
    }

    /// The set under the flags.
    fn closed(&self, set: Set) -> Set {
        if self.flags.ignore_case { case::close(&set) } else { set }
    }

    fn set(&mut self, set: Set) -> Node {
        Node::Set(self.set_index(set))
    }

    fn set_index(&mut self, set: Set) -> u32 {
        let known = self.sets.iter().take(64).position(|known| *known == set);
        let index = known.unwrap_or(self.sets.len());
        if known.is_none() {
            self.sets.push(set);
        }
        // There are at most as many sets as the pattern has units.
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    fn peek(&self) -> Option<u16> {
        self.units.get(self.at).copied()
    }

    fn peek_ascii(&self) -> Option<u8> {
        self.ascii_at(self.at)
    }

    fn ascii_at(&self, at: usize) -> Option<u8> {
        self.units.get(at).copied().and_then(ascii)
    }

    fn looking_at(&self, text: &str) -> bool {
        text.bytes().enumerate().all(|(offset, byte)| self.ascii_at(self.at + offset) == Some(byte))
    }

    /// The byte offset, in the pattern as given, of a unit.
    fn offset(&self, at: usize) -> usize {
        let mut units = 0;
        let found = self.pattern.char_indices().find(|(_, letter)| {
            units += letter.len_utf16();
            units > at
        });
        found.map_or(self.pattern.len(), |(offset, _)| offset)
    }

    fn syntax(&self, at: usize, message: &'static str) -> BadPattern {
        BadPattern::Syntax { offset: self.offset(at), message }
    }

    fn unsupported(&self, at: usize, end: usize) -> BadPattern {
        let construct = self.units.get(at..end).map(String::from_utf16_lossy).unwrap_or_default();
        BadPattern::Unsupported { offset: self.offset(at), construct }
    }
}

fn ascii(unit: u16) -> Option<u8> {
    u8::try_from(unit).ok().filter(u8::is_ascii)
}

/// `\d`, `\D` and the like, inside a class and outside.
fn class_escape(unit: u16) -> Option<Set> {
    let set = |ranges: &[(u16, u16)]| Set::new(ranges.to_vec());
    Some(match ascii(unit)? {
        b'd' => set(DIGITS),
        b'D' => set(DIGITS).complement(),
        b's' => set(SPACE),
        b'S' => set(SPACE).complement(),
        b'w' => set(WORD),
        b'W' => set(WORD).complement(),
        _ => return None,
    })
}

fn sequence(mut terms: Vec<Node>) -> Node {
    match terms.len() {
        0 => Node::Empty,
        1 => terms.pop().unwrap_or(Node::Empty),
        _ => Node::Concat(terms),
    }
}
