//! What a pattern is compiled to. Flat lists of instructions, in three readings:
//!
//! - *starts*: the pattern read from its end to its beginning, without memory; run over a text from right to left it
//!   gives every place where a match can start. Exact where nothing refers to a group; otherwise it allows more.
//! - *forward*: the same from left to right, only where it is exact.
//! - *exact*: with the memory that backreferences and the order of alternatives need, for the backtracking matcher.
//!
//! A lookaround that rests on the place alone is a list of its own, whose answers for all places are worked out first.

use super::ast::Assert;
use super::set::Set;

/// A pattern, ready to run.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) sets: Vec<Set>,
    /// Lookarounds, each after those it contains.
    pub(super) tables: Vec<Code>,
    /// `None` if a backreference makes it more than a set of states can follow.
    pub(super) forward: Option<Code>,
    pub(super) starts: Code,
    pub(super) exact: Code,
    pub(super) ignore_case: bool,
    /// Slots of the exact code: first two a remembered group, then one a loop.
    pub(super) slots: Slots,
    /// Longest text, in units, on which the program is exact: a count too large to write out became a loop.
    pub(super) longest_text: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Slots {
    pub(super) captures: usize,
    pub(super) all: usize,
}

/// A list of instructions that starts at its first.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) insts: Vec<Inst>,
    /// Whether it is run from right to left.
    pub(super) backward: bool,
    /// Whether it may match the empty text away from the edge where it starts.
    pub(super) nullable: bool,
    /// The possible first units of a match that starts away from that edge.
    pub(super) first: Set,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inst {
    /// Consumes this unit.
    Unit(u16),
    /// Consumes one of these.
    Set(u32),
    Assert(Assert),
    /// Continues if the table of a lookaround allows it.
    Holds {
        table: u32,
        negated: bool,
    },
    /// Tries the one, then the other.
    Split {
        prefer: u32,
        other: u32,
    },
    Jump(u32),
    Match,
    // Only in exact code:
    /// Keeps the place.
    Save(u32),
    /// Forgets slots `from` up to, but not including, `to`.
    Forget {
        from: u32,
        to: u32,
    },
    /// Consumes what the group in this slot and the next has matched.
    Backreference(u32),
    /// A round of a loop begins.
    RoundStart(u32),
    /// A round of a loop ends; it must have consumed something.
    RoundEnd(u32),
    /// A lookaround with memory or references; the pattern continues at `after`.
    LookStart {
        negated: bool,
        backward: bool,
        after: u32,
    },
    LookEnd,
}

impl Code {
    pub(super) fn new(insts: Vec<Inst>, backward: bool, sets: &[Set]) -> Self {
        let (mut nullable, mut ranges) = (false, Vec::new());
        let edge = if backward { Assert::TextEnd } else { Assert::TextStart };
        let mut seen = vec![false; insts.len()];
        let mut seen_sets = vec![false; sets.len()];
        let mut todo = vec![0u32];
        while let Some(at) = todo.pop() {
            let Some(inst) = inst_at(&insts, at) else { continue };
            match seen.get_mut(at as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            match inst {
                Inst::Unit(unit) => ranges.push((unit, unit)),
                Inst::Set(set) => {
                    if let (Some(seen), Some(set)) = (seen_sets.get_mut(set as usize), set_at(sets, set))
                        && !std::mem::replace(seen, true)
                    {
                        ranges.extend_from_slice(set.ranges());
                    }
                }
                Inst::Assert(assert) if assert == edge => {}
                Inst::Split { prefer, other } => todo.extend([prefer, other]),
                Inst::Jump(to) => todo.push(to),
                Inst::Match | Inst::Backreference(_) | Inst::LookStart { .. } => nullable = true,
                _ => todo.push(at + 1),
            }
        }
        Self { insts, backward, nullable, first: Set::new(ranges) }
    }

    pub(super) fn inst(&self, at: u32) -> Option<Inst> {
        inst_at(&self.insts, at)
    }

    /// Whether a match may start before this unit (`None`: at the end), away from the edge.
    pub(super) fn may_start(&self, unit: Option<u16>) -> bool {
        self.nullable || unit.is_some_and(|unit| self.first.contains(unit))
    }

    /// Whether a match can start at the edge only.
    pub(super) fn starts_at_edge(&self) -> bool {
        !self.nullable && self.first.is_empty()
    }
}

fn inst_at(insts: &[Inst], at: u32) -> Option<Inst> {
    insts.get(at as usize).copied()
}

pub(super) fn set_at(sets: &[Set], at: u32) -> Option<&Set> {
    sets.get(at as usize)
}
