//! Compiles the tree to lists of instructions. Counts are unrolled, so that an index in the list is the whole state;
//! the work and the length are bounded, whatever the pattern.

use std::collections::HashMap;

use super::ast::{Ast, Look, Node, Repeat};
use super::program::{Code, Inst, Program, Slots};

/// Instructions in all lists of a pattern.
const MOST_INSTRUCTIONS: usize = 1 << 19;
/// Optional copies of a repeated piece, in instructions; a bound that needs more becomes a loop.
const MOST_OPTIONAL: usize = 1 << 17;
/// Nodes visited, which counts also those that leave no instruction.
const MOST_WORK: u32 = 1 << 22;
/// Longest copy of a group's body that replaces a reference to it.
const MOST_STAND_IN: usize = 1 << 10;

/// The pattern takes more than its share of instructions or work.
#[derive(Debug)]
pub(super) struct TooLarge;

pub(super) struct Compiler<'a> {
    ast: &'a Ast,
    /// First slot of each group that is referred to.
    slots: HashMap<u32, u32>,
    /// Bodies of such groups, if a copy can replace a reference.
    bodies: HashMap<u32, &'a Node>,
    tables: Vec<Code>,
    table_of: HashMap<u32, u32>,
    spent: usize,
    work: u32,
    longest_text: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// With everything that backtracking needs.
    Exact,
    /// Which texts can match, given their surroundings.
    Places,
    /// Which texts can match anywhere: assertions and lookarounds count as true.
    Texts,
}

/// A list being written.
struct Draft {
    insts: Vec<Inst>,
    reading: Reading,
    backward: bool,
}

impl Program {
    pub(super) fn new(ast: Ast) -> Result<Self, TooLarge> {
        let mut compiler = Compiler::new(&ast);
        let starts = compiler.starts()?;
        let forward = if ast.referenced.is_empty() { Some(compiler.forward()?) } else { None };
        let exact = compiler.exact()?;
        let captures = 2 * ast.referenced.len();
        let all = captures + ast.watched_loops as usize;
        let (tables, longest_text) = compiler.finish();
        Ok(Self {
            tables,
            forward,
            starts,
            exact,
            ignore_case: ast.ignore_case,
            slots: Slots { captures, all },
            longest_text,
            sets: ast.sets,
        })
    }
}

impl<'a> Compiler<'a> {
    pub(super) fn new(ast: &'a Ast) -> Self {
        let mut bodies = HashMap::new();
        if !ast.referenced.is_empty() {
            find_bodies(ast, &ast.root, &mut bodies);
        }
        let slots = ast.referenced.iter().copied().zip((0..).step_by(2)).collect();
        Self {
            ast,
            slots,
            bodies,
            tables: Vec::new(),
            table_of: HashMap::new(),
            spent: 0,
            work: 0,
            longest_text: usize::MAX,
        }
    }

    pub(super) fn starts(&mut self) -> Result<Code, TooLarge> {
        self.list(&self.ast.root, Reading::Places, true)
    }

    pub(super) fn forward(&mut self) -> Result<Code, TooLarge> {
        self.list(&self.ast.root, Reading::Places, false)
    }

    pub(super) fn exact(&mut self) -> Result<Code, TooLarge> {
        self.list(&self.ast.root, Reading::Exact, false)
    }

    /// The tables of the lookarounds, and the longest text on which all lists are right.
    pub(super) fn finish(self) -> (Vec<Code>, usize) {
        (self.tables, self.longest_text)
    }

    fn list(&mut self, node: &'a Node, reading: Reading, backward: bool) -> Result<Code, TooLarge> {
        let mut draft = Draft { insts: Vec::new(), reading, backward };
        self.emit(node, &mut draft)?;
        self.push(&mut draft, Inst::Match)?;
        Ok(Code::new(draft.insts, backward, &self.ast.sets))
    }

    fn push(&mut self, draft: &mut Draft, inst: Inst) -> Result<usize, TooLarge> {
        self.spent += 1;
        if self.spent > MOST_INSTRUCTIONS {
            return Err(TooLarge);
        }
        draft.insts.push(inst);
        Ok(draft.insts.len() - 1)
    }

    fn emit(&mut self, node: &'a Node, draft: &mut Draft) -> Result<(), TooLarge> {
        self.work += 1;
        if self.work > MOST_WORK {
            return Err(TooLarge);
        }
        match node {
            Node::Empty => {}
            Node::Unit(unit) => {
                self.push(draft, Inst::Unit(*unit))?;
            }
            Node::Set(set) => {
                self.push(draft, Inst::Set(*set))?;
            }
            Node::Assert(_) if draft.reading == Reading::Texts => {}
            Node::Assert(assert) => {
                self.push(draft, Inst::Assert(*assert))?;
            }
            Node::Concat(nodes) if draft.backward => {
                for node in nodes.iter().rev() {
                    self.emit(node, draft)?;
                }
            }
            Node::Concat(nodes) => {
                for node in nodes {
                    self.emit(node, draft)?;
                }
            }
            Node::Alternatives(nodes) => self.alternatives(nodes, draft)?,
            Node::Capture { group, body } => match self.slot(*group, draft) {
                Some(slot) => {
                    let backward = u32::from(draft.backward);
                    self.push(draft, Inst::Save(slot + backward))?;
                    self.emit(body, draft)?;
                    self.push(draft, Inst::Save(slot + 1 - backward))?;
                }
                None => self.emit(body, draft)?,
            },
            Node::Backreference(group) => match self.slot(*group, draft) {
                Some(slot) => {
                    self.push(draft, Inst::Backreference(slot))?;
                }
                None => self.stand_in(*group, draft)?,
            },
            Node::Look(look) => self.look(look, draft)?,
            Node::Repeat(repeat) => self.repeat(repeat, draft)?,
        }
        Ok(())
    }

    /// The slot of a group in the exact list.
    fn slot(&self, group: u32, draft: &Draft) -> Option<u32> {
        if draft.reading != Reading::Exact {
            return None;
        }
        self.slots.get(&group).copied()
    }

    fn alternatives(&mut self, nodes: &'a [Node], draft: &mut Draft) -> Result<(), TooLarge> {
        let Some((last, earlier)) = nodes.split_last() else { return Ok(()) };
        let mut ends = Vec::with_capacity(earlier.len());
        for node in earlier {
            let split = self.push(draft, Inst::Jump(0))?;
            self.emit(node, draft)?;
            ends.push(self.push(draft, Inst::Jump(0))?);
            let (prefer, other) = (target(split + 1)?, target(draft.insts.len())?);
            patch(draft, split, Inst::Split { prefer, other });
        }
        self.emit(last, draft)?;
        let end = target(draft.insts.len())?;
        for jump in ends {
            patch(draft, jump, Inst::Jump(end));
        }
        Ok(())
    }

    fn repeat(&mut self, repeat: &'a Repeat, draft: &mut Draft) -> Result<(), TooLarge> {
        for _ in 0..repeat.min {
            let before = draft.insts.len();
            self.round(repeat, false, draft)?;
            if draft.insts.len() == before {
                break; // the other rounds are as empty
            }
        }
        let optional = repeat.max.map(|max| max - repeat.min);
        let mut splits = Vec::new();
        let mut written = 0;
        while optional.is_none_or(|optional| written < optional) {
            let split = self.push(draft, Inst::Jump(0))?;
            self.round(repeat, true, draft)?;
            splits.push(split);
            written += 1;
            let length = draft.insts.len() - split;
            if length == 1 {
                break; // an empty body: the split alone, which leads on
            }
            let copies = optional.and_then(|optional| usize::try_from(optional).ok());
            let copies =
                copies.filter(|copies| written > 1 || copies.saturating_mul(length) <= MOST_OPTIONAL);
            if copies.is_none() {
                // A loop. In place of a bound: right as long as the text is too short to reach it.
                if let Some(bound) = optional {
                    self.longest_text = self.longest_text.min(usize::try_from(bound).unwrap_or(usize::MAX));
                }
                self.push(draft, Inst::Jump(target(split)?))?;
                break;
            }
        }
        let end = target(draft.insts.len())?;
        for split in splits {
            let body = target(split + 1)?;
            let (prefer, other) = if repeat.greedy { (body, end) } else { (end, body) };
            patch(draft, split, Inst::Split { prefer, other });
        }
        Ok(())
    }

    /// One round of a loop; one beyond the least count must consume something.
    fn round(&mut self, repeat: &'a Repeat, optional: bool, draft: &mut Draft) -> Result<(), TooLarge> {
        if draft.reading != Reading::Exact {
            return self.emit(&repeat.body, draft);
        }
        let captures = target(2 * self.slots.len())?;
        let place = repeat.watched.filter(|_| optional).map(|watched| captures + watched);
        if let Some(slot) = place {
            self.push(draft, Inst::RoundStart(slot))?;
        }
        let mut inside = self.ast.referenced.range(repeat.groups.clone());
        if let Some(first) = inside.next() {
            let last = inside.next_back().unwrap_or(first);
            if let (Some(from), Some(last)) = (self.slot(*first, draft), self.slot(*last, draft)) {
                self.push(draft, Inst::Forget { from, to: last + 2 })?;
            }
        }
        self.emit(&repeat.body, draft)?;
        if let Some(slot) = place {
            self.push(draft, Inst::RoundEnd(slot))?;
        }
        Ok(())
    }

    fn look(&mut self, look: &'a Look, draft: &mut Draft) -> Result<(), TooLarge> {
        let pure = self.ast.is_pure(look);
        match draft.reading {
            Reading::Texts => Ok(()),
            // The refusals of an impure one are unknown here, so it refuses nothing.
            Reading::Places if !pure && look.negated => Ok(()),
            Reading::Exact if !pure => {
                let start = self.push(draft, Inst::Jump(0))?;
                let backward = std::mem::replace(&mut draft.backward, look.behind);
                self.emit(&look.body, draft)?;
                self.push(draft, Inst::LookEnd)?;
                draft.backward = backward;
                let after = target(draft.insts.len())?;
                let inst = Inst::LookStart { negated: look.negated, backward: look.behind, after };
                patch(draft, start, inst);
                Ok(())
            }
            Reading::Places | Reading::Exact => {
                let table = match self.table_of.get(&look.id) {
                    Some(table) => *table,
                    None => {
                        // A lookahead holds where its body can start, a lookbehind where its body can end.
                        let code = self.list(&look.body, Reading::Places, !look.behind)?;
                        let table = target(self.tables.len())?;
                        self.tables.push(code);
                        self.table_of.insert(look.id, table);
                        table
                    }
                };
                self.push(draft, Inst::Holds { table, negated: look.negated })?;
                Ok(())
            }
        }
    }

    /// The possible matches of a reference, if the group's text is not available: nothing, or anything the group's body
    /// can match anywhere.
    fn stand_in(&mut self, group: u32, draft: &mut Draft) -> Result<(), TooLarge> {
        let split = self.push(draft, Inst::Jump(0))?;
        match self.bodies.get(&group).copied() {
            Some(body) => {
                let reading = std::mem::replace(&mut draft.reading, Reading::Texts);
                self.emit(body, draft)?;
                draft.reading = reading;
            }
            None => {
                self.push(draft, Inst::Set(self.ast.anything))?;
                self.push(draft, Inst::Jump(target(split)?))?;
            }
        }
        let (prefer, other) = (target(split + 1)?, target(draft.insts.len())?);
        patch(draft, split, Inst::Split { prefer, other });
        Ok(())
    }
}

fn target(at: usize) -> Result<u32, TooLarge> {
    u32::try_from(at).map_err(|_| TooLarge)
}

fn patch(draft: &mut Draft, at: usize, inst: Inst) {
    if let Some(place) = draft.insts.get_mut(at) {
        *place = inst;
    }
}

fn find_bodies<'a>(ast: &Ast, node: &'a Node, bodies: &mut HashMap<u32, &'a Node>) {
    if let Node::Capture { group, body } = node
        && ast.referenced.contains(group)
        && !refers(body)
        && size(body) <= MOST_STAND_IN
    {
        bodies.insert(*group, body);
    }
    for child in node.children() {
        find_bodies(ast, child, bodies);
    }
}

fn refers(node: &Node) -> bool {
    matches!(node, Node::Backreference(_)) || node.children().iter().any(refers)
}

/// The approximate number of instructions of the node.
fn size(node: &Node) -> usize {
    let inside = node.children().iter().fold(1usize, |sum, child| sum.saturating_add(size(child)));
    match node {
        Node::Repeat(repeat) => {
            let copies = repeat.max.unwrap_or(repeat.min.saturating_add(1));
            usize::try_from(copies).unwrap_or(usize::MAX).saturating_mul(inside)
        }
        _ => inside,
    }
}
