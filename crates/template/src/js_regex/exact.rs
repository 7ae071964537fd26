//! The backtracking matcher: tries the alternatives of the exact list in JavaScript's order, with all state. Its stack
//! is a list of its own, and each instruction is counted. Once a text has proved expensive, a state that failed before
//! is not tried again: the memory for such states is bounded, and a state is the instruction, the place, the values of
//! the groups, which loops have consumed nothing yet, and the lookaround that is being evaluated.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

use super::case;
use super::fuel::{Fuel, OverBudget};
use super::places::{Places, holds};
use super::program::{Inst, Program, set_at};

/// Instructions before failed states are remembered, and how many more for each unit of the text: most searches end
/// well before, and remembering costs more than an instruction.
const CHEAP: (u64, u64) = (10_000, 24);
/// Words (of four bytes) that failed states may take.
const MOST_MEMORY: usize = 1 << 21;
/// Entries of the stack: 12 bytes each.
const MOST_FRAMES: usize = 1 << 22;
/// The cost of storing or finding a state, in steps, in addition to one for each of its words.
const REMEMBER: u64 = 24;

/// A slot that holds no place.
const NONE: u32 = u32::MAX;

pub(super) struct Machine<'a> {
    program: &'a Program,
    text: &'a [u16],
    tables: &'a [Places],
    slots: Vec<u32>,
    stack: Vec<Frame>,
    looks: Vec<Evaluation>,
    /// Evaluations of lookarounds so far.
    evaluations: u32,
    instructions: u64,
    /// The number of steps beyond which failed states are stored.
    cheap: u64,
    failed: DeadEnds,
}

enum Frame {
    /// Another alternative.
    Try { at: u32, place: u32 },
    /// The earlier value of a slot.
    Restore { slot: u32, place: u32 },
    /// A lookaround began: to go below is to fail in it.
    Look,
}

/// A lookaround in progress.
struct Evaluation {
    number: u32,
    /// The stack below its `Frame::Look`.
    height: usize,
    place: u32,
    after: u32,
    negated: bool,
    /// Whether it is read from right to left.
    backward: bool,
}

/// States that have been tried, each of `width` words.
struct DeadEnds {
    width: usize,
    words: Vec<u32>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// The action after an instruction.
enum Next {
    Go { at: u32, place: u32 },
    Fail,
    Done(usize),
}

impl<'a> Machine<'a> {
    pub(super) fn new(program: &'a Program, text: &'a [u16], tables: &'a [Places]) -> Self {
        let loops = program.slots.all - program.slots.captures;
        Self {
            program,
            text,
            tables,
            slots: vec![NONE; program.slots.all],
            stack: Vec::new(),
            looks: Vec::new(),
            evaluations: 0,
            instructions: 0,
            cheap: CHEAP.0 + CHEAP.1 * text.len() as u64,
            failed: DeadEnds {
                width: 3 + program.slots.captures + loops.div_ceil(32),
                words: Vec::new(),
                table: HashTable::new(),
                hasher: DefaultHashBuilder::default(),
            },
        }
    }

    /// The end of the match that starts at the given place, in units. States that failed from earlier starts are not
    /// tried again.
    pub(super) fn run(&mut self, start: usize, fuel: &mut Fuel) -> Result<Option<usize>, OverBudget> {
        // A run that fails has restored everything that it set.
        let Ok(mut place) = u32::try_from(start) else { return Ok(None) };
        let mut at = 0;
        loop {
            fuel.spend(1)?;
            self.instructions += 1;
            let next = match self.step(at, place, fuel)? {
                Next::Fail => self.back(fuel)?,
                next => next,
            };
            match next {
                Next::Go { at: next_at, place: next_place } => (at, place) = (next_at, next_place),
                Next::Fail => return Ok(None),
                Next::Done(end) => return Ok(Some(end)),
            }
        }
    }

    fn step(&mut self, at: u32, place: u32, fuel: &mut Fuel) -> Result<Next, OverBudget> {
        let backward = self.looks.last().is_some_and(|look| look.backward);
        let Some(inst) = self.program.exact.inst(at) else { return Ok(Next::Fail) };
        let go_on = |place| Next::Go { at: at + 1, place };
        Ok(match inst {
            Inst::Unit(wanted) => match self.consume(place, backward) {
                Some((unit, place)) if unit == wanted => go_on(place),
                _ => Next::Fail,
            },
            Inst::Set(set) => match self.consume(place, backward) {
                Some((unit, place))
                    if set_at(&self.program.sets, set).is_some_and(|set| set.contains(unit)) =>
                {
                    go_on(place)
                }
                _ => Next::Fail,
            },
            Inst::Assert(assert) if holds(assert, self.text, place as usize) => go_on(place),
            Inst::Holds { table, negated }
                if self.tables.get(table as usize).is_some_and(|table| table.contains(place as usize))
                    != negated =>
            {
                go_on(place)
            }
            Inst::Assert(_) | Inst::Holds { .. } => Next::Fail,
            Inst::Split { prefer, other } => {
                if self.instructions > self.cheap && self.has_failed(at, place, fuel)? {
                    return Ok(Next::Fail);
                }
                self.push(Frame::Try { at: other, place }, fuel)?;
                Next::Go { at: prefer, place }
            }
            Inst::Jump(to) => Next::Go { at: to, place },
            Inst::Match => Next::Done(place as usize),
            Inst::Save(slot) => {
                self.set(slot, place, fuel)?;
                go_on(place)
            }
            Inst::Forget { from, to } => {
                fuel.spend(u64::from(to - from) / 4)?;
                for slot in from..to {
                    self.set(slot, NONE, fuel)?;
                }
                go_on(place)
            }
            Inst::Backreference(slot) => match self.refer(slot, place, backward, fuel)? {
                Some(place) => go_on(place),
                None => Next::Fail,
            },
            Inst::RoundStart(slot) => {
                self.set(slot, place, fuel)?;
                go_on(place)
            }
            Inst::RoundEnd(slot) if self.slot(slot) == place => Next::Fail,
            Inst::RoundEnd(slot) => {
                // Outside its rounds a loop's slot is empty, so that equal states look equal.
                self.set(slot, NONE, fuel)?;
                go_on(place)
            }
            Inst::LookStart { negated, backward: inside, after } => {
                self.evaluations += 1;
                self.looks.push(Evaluation {
                    number: self.evaluations,
                    height: self.stack.len(),
                    place,
                    after,
                    negated,
                    backward: inside,
                });
                self.push(Frame::Look, fuel)?;
                go_on(place)
            }
            Inst::LookEnd => self.look_end(fuel)?,
        })
    }

    /// The body of a lookaround has matched: no other way through it is tried.
    fn look_end(&mut self, fuel: &mut Fuel) -> Result<Next, OverBudget> {
        let Some(look) = self.looks.pop() else { return Ok(Next::Fail) };
        fuel.spend((self.stack.len() - look.height) as u64)?;
        if look.negated {
            while self.stack.len() > look.height {
                if let Some(Frame::Restore { slot, place }) = self.stack.pop() {
                    self.put(slot, place);
                }
            }
            return Ok(Next::Fail);
        }
        // The earlier values of the groups must still be restored if the pattern fails later on.
        let mut kept = look.height;
        for index in look.height..self.stack.len() {
            if matches!(self.stack.get(index), Some(Frame::Restore { .. })) {
                self.stack.swap(kept, index);
                kept += 1;
            }
        }
        self.stack.truncate(kept);
        Ok(Next::Go { at: look.after, place: look.place })
    }

    /// Back to the last choice.
    fn back(&mut self, fuel: &mut Fuel) -> Result<Next, OverBudget> {
        loop {
            fuel.spend(1)?;
            match self.stack.pop() {
                None => return Ok(Next::Fail),
                Some(Frame::Try { at, place }) => return Ok(Next::Go { at, place }),
                Some(Frame::Restore { slot, place }) => self.put(slot, place),
                Some(Frame::Look) => {
                    if let Some(look) = self.looks.pop()
                        && look.negated
                    {
                        return Ok(Next::Go { at: look.after, place: look.place });
                    }
                }
            }
        }
    }

    /// The next unit in the direction of reading, and the place beyond it.
    fn consume(&self, place: u32, backward: bool) -> Option<(u16, u32)> {
        let (at, beyond) = if backward {
            let before = place.checked_sub(1)?;
            (before, before)
        } else {
            (place, place + 1)
        };
        self.text.get(at as usize).map(|unit| (*unit, beyond))
    }

    /// The place beyond a repetition of what a group holds; a group that holds nothing is the empty text.
    fn refer(
        &self,
        slot: u32,
        place: u32,
        backward: bool,
        fuel: &mut Fuel,
    ) -> Result<Option<u32>, OverBudget> {
        let (from, to) = (self.slot(slot), self.slot(slot + 1));
        if from == NONE || to == NONE {
            return Ok(Some(place));
        }
        let length = to - from;
        let target = if backward { place.checked_sub(length) } else { place.checked_add(length) };
        let Some(target) = target else { return Ok(None) };
        let (low, high) = (place.min(target), place.max(target));
        let held = self.text.get(from as usize..to as usize);
        let (Some(held), Some(there)) = (held, self.text.get(low as usize..high as usize)) else {
            return Ok(None);
        };
        let fold = self.program.ignore_case;
        let equal = |(a, b): &(&u16, &u16)| a == b || fold && case::canonical(**a) == case::canonical(**b);
        let compared = held.iter().zip(there).take_while(equal).count();
        // Comparing is quicker than stepping.
        fuel.spend(compared as u64 / 4)?;
        Ok((compared == held.len()).then_some(target))
    }

    fn slot(&self, slot: u32) -> u32 {
        self.slots.get(slot as usize).copied().unwrap_or(NONE)
    }

    fn put(&mut self, slot: u32, place: u32) {
        if let Some(held) = self.slots.get_mut(slot as usize) {
            *held = place;
        }
    }

    fn set(&mut self, slot: u32, place: u32, fuel: &mut Fuel) -> Result<(), OverBudget> {
        let before = self.slot(slot);
        if before != place {
            self.push(Frame::Restore { slot, place: before }, fuel)?;
            self.put(slot, place);
        }
        Ok(())
    }

    fn push(&mut self, frame: Frame, fuel: &mut Fuel) -> Result<(), OverBudget> {
        if self.stack.len() >= MOST_FRAMES {
            return Err(fuel.over());
        }
        fuel.spend(1)?;
        self.stack.push(frame);
        Ok(())
    }

    /// Whether this state has been here before, which is to say that it failed; notes it.
    fn has_failed(&mut self, at: u32, place: u32, fuel: &mut Fuel) -> Result<bool, OverBudget> {
        let failed = &mut self.failed;
        fuel.spend(REMEMBER + failed.width as u64)?;
        let start = failed.words.len();
        // Inside a lookaround only the same evaluation may be compared: an earlier one may have succeeded here.
        let evaluation = self.looks.last().map_or(0, |look| look.number);
        failed.words.extend([at, place, evaluation]);
        let (captures, loops) = self.slots.split_at(self.program.slots.captures.min(self.slots.len()));
        failed.words.extend(captures);
        for loops in loops.chunks(32) {
            // Of a loop's place, only whether anything has been consumed since matters.
            let empty = loops.iter().enumerate().map(|(bit, held)| u32::from(*held == place) << bit);
            failed.words.push(empty.sum());
        }
        let Some(state) = failed.words.get(start..) else { return Ok(false) };
        let hash = failed.hasher.hash_one(state);
        let words = &failed.words;
        let width = failed.width;
        let at_index = |index: &u32| {
            let from = *index as usize * width;
            words.get(from..from + width)
        };
        let known = failed.table.find(hash, |index| at_index(index) == Some(state)).is_some();
        if !known && start + width <= MOST_MEMORY {
            let index = u32::try_from(start / width).unwrap_or(u32::MAX);
            let rehash = |index: &u32| at_index(index).map_or(0, |state| failed.hasher.hash_one(state));
            failed.table.insert_unique(hash, index, rehash);
        } else {
            failed.words.truncate(start);
        }
        Ok(known)
    }
}
