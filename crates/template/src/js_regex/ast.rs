//! A pattern as a tree. Case, flags and group names are already resolved: sets, places and numbers remain.

use std::collections::BTreeSet;
use std::ops::Range;

use super::set::Set;

/// A parsed pattern.
#[derive(Debug)]
pub(super) struct Ast {
    pub(super) root: Node,
    /// The sets that `Node::Set` refers to.
    pub(super) sets: Vec<Set>,
    /// Groups that some backreference names; no other group has to be remembered.
    pub(super) referenced: BTreeSet<u32>,
    pub(super) ignore_case: bool,
    /// Number of loops with rounds that may consume nothing.
    pub(super) watched_loops: u32,
    /// The set `[^]`.
    pub(super) anything: u32,
}

/// One piece of a pattern. Nesting is bounded by the parser, so that walking a tree by recursion is safe.
#[derive(Debug)]
pub(super) enum Node {
    Empty,
    Unit(u16),
    Set(u32),
    Assert(Assert),
    Concat(Vec<Node>),
    Alternatives(Vec<Node>),
    Capture { group: u32, body: Box<Node> },
    Backreference(u32),
    Look(Look),
    Repeat(Repeat),
}

/// A place between two units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assert {
    TextStart,
    TextEnd,
    LineStart,
    LineEnd,
    Boundary,
    NoBoundary,
}

#[derive(Debug)]
pub(super) struct Look {
    pub(super) id: u32,
    pub(super) behind: bool,
    pub(super) negated: bool,
    /// Numbers of the groups opened inside.
    pub(super) groups: Range<u32>,
    /// Whether some backreference is inside.
    pub(super) refers: bool,
    pub(super) body: Box<Node>,
}

#[derive(Debug)]
pub(super) struct Repeat {
    pub(super) min: u32,
    /// `None`: without end.
    pub(super) max: Option<u32>,
    pub(super) greedy: bool,
    /// Numbers of the groups opened inside: forgotten at each round.
    pub(super) groups: Range<u32>,
    /// Its number, if a round may consume nothing, which then has to be detected.
    pub(super) watched: Option<u32>,
    pub(super) body: Box<Node>,
}

impl Ast {
    /// Whether a lookaround's answer depends only on the place: nothing in it refers to a group, and nothing refers to
    /// a group in it.
    pub(super) fn is_pure(&self, look: &Look) -> bool {
        !look.refers && self.referenced.range(look.groups.clone()).next().is_none()
    }
}

impl Node {
    /// Whether the piece may match the empty text (true if unknown).
    pub(super) fn is_nullable(&self) -> bool {
        match self {
            Self::Unit(_) | Self::Set(_) => false,
            Self::Empty | Self::Assert(_) | Self::Look(_) | Self::Backreference(_) => true,
            Self::Concat(nodes) => nodes.iter().all(Self::is_nullable),
            Self::Alternatives(nodes) => nodes.iter().any(Self::is_nullable),
            Self::Capture { body, .. } => body.is_nullable(),
            Self::Repeat(repeat) => repeat.min == 0 || repeat.watched.is_some(),
        }
    }

    /// The pieces right below this one.
    pub(super) fn children(&self) -> &[Node] {
        match self {
            Self::Concat(nodes) | Self::Alternatives(nodes) => nodes,
            Self::Capture { body, .. } => std::slice::from_ref(body),
            Self::Look(look) => std::slice::from_ref(&look.body),
            Self::Repeat(repeat) => std::slice::from_ref(&repeat.body),
            Self::Empty | Self::Unit(_) | Self::Set(_) | Self::Assert(_) | Self::Backreference(_) => &[],
        }
    }
}
