//! Runs a list of instructions without memory over a text, all alternatives at once: the set of states is carried from
//! unit to unit, so the cost is at most text length times list length, and the answer is exact.

use super::ast::Assert;
use super::fuel::{Fuel, OverBudget};
use super::program::{Code, Inst, Program, set_at};
use super::set::{Set, is_line_end, is_word};

/// A yes or no for every place of a text: before each unit, and at the end.
#[derive(Debug)]
pub(super) struct Places {
    bits: Vec<u64>,
}

impl Places {
    fn new(text: &[u16]) -> Self {
        Self { bits: vec![0; text.len() / 64 + 1] }
    }

    fn insert(&mut self, place: usize) {
        if let Some(word) = self.bits.get_mut(place / 64) {
            *word |= 1 << (place % 64);
        }
    }

    pub(super) fn contains(&self, place: usize) -> bool {
        self.bits.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    /// Members, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.bits.iter().enumerate().flat_map(|(index, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let lowest = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(index * 64 + lowest)
            })
        })
    }
}

/// Works out the lookarounds of a program, for every place of the text.
pub(super) fn tables(program: &Program, text: &[u16], fuel: &mut Fuel) -> Result<Vec<Places>, OverBudget> {
    let mut tables: Vec<Places> = Vec::with_capacity(program.tables.len());
    for code in &program.tables {
        let places = all(code, &program.sets, text, &tables, fuel)?;
        tables.push(places);
    }
    Ok(tables)
}

/// Every place that a run over the text accepts: where matches end, or start if the list runs backward.
pub(super) fn all(
    code: &Code,
    sets: &[Set],
    text: &[u16],
    tables: &[Places],
    fuel: &mut Fuel,
) -> Result<Places, OverBudget> {
    let mut places = Places::new(text);
    run(code, sets, text, tables, fuel, |place| {
        places.insert(place);
        false
    })?;
    Ok(places)
}

/// Whether the text has a match, by two lists with the same meaning, read from either end: which of them is cheaper
/// depends on the text, so they take turns, each from the beginning with a greater share.
pub(super) fn any(
    codes: [&Code; 2],
    sets: &[Set],
    text: &[u16],
    tables: &[Places],
    fuel: &mut Fuel,
) -> Result<bool, OverBudget> {
    let mut share = 1000 + 16 * text.len() as u64;
    loop {
        for code in codes {
            let mut turn = fuel.share(share);
            let mut found = false;
            let ended = run(code, sets, text, tables, &mut turn, |_| {
                found = true;
                true
            });
            if ended.is_ok() {
                return Ok(found);
            }
            fuel.spend(turn.budget)?;
        }
        // Nothing is left after a turn with everything: spending again reports it.
        fuel.spend(1)?;
        share = share.saturating_mul(4);
    }
}

/// Whether an assertion holds at a place of the text.
pub(super) fn holds(assert: Assert, text: &[u16], place: usize) -> bool {
    let before = || place.checked_sub(1).and_then(|at| text.get(at)).copied();
    let after = || text.get(place).copied();
    match assert {
        Assert::TextStart => place == 0,
        Assert::TextEnd => place == text.len(),
        Assert::LineStart => before().is_none_or(is_line_end),
        Assert::LineEnd => after().is_none_or(is_line_end),
        Assert::Boundary | Assert::NoBoundary => {
            let boundary = before().is_some_and(is_word) != after().is_some_and(is_word);
            boundary == (assert == Assert::Boundary)
        }
    }
}

/// Calls `accept` with each place where the list ends, until it says to stop.
fn run(
    code: &Code,
    sets: &[Set],
    text: &[u16],
    tables: &[Places],
    fuel: &mut Fuel,
    mut accept: impl FnMut(usize) -> bool,
) -> Result<(), OverBudget> {
    fuel.spend(code.insts.len() as u64 / 16)?;
    let mut states = States { code, text, tables, reached: vec![0; code.insts.len()], todo: Vec::new() };
    let (mut now, mut next) = (Vec::new(), Vec::new());
    let mut matched = false;
    // Counted from the edge where the run begins.
    let mut step = 0;
    while step <= text.len() {
        if step > 0 && now.is_empty() && !matched && !code.nullable {
            let skipped = step;
            while ahead(code, text, step).is_some_and(|unit| !code.first.contains(unit)) {
                step += 1;
            }
            fuel.spend((step - skipped) as u64 / 4)?;
            if step == text.len() || code.starts_at_edge() {
                break;
            }
        }
        let place = if code.backward { text.len() - step } else { step };
        let unit = ahead(code, text, step);
        let mut cost = 1;
        if step == 0 || code.may_start(unit) {
            states.todo.push(0);
            cost += states.follow(step, place, &mut now, &mut matched);
        }
        if matched && accept(place) {
            break;
        }
        let Some(unit) = unit else { break };
        let next_place = if code.backward { place - 1 } else { place + 1 };
        matched = false;
        for &at in &now {
            let consumes = match code.inst(at) {
                Some(Inst::Unit(wanted)) => wanted == unit,
                Some(Inst::Set(set)) => set_at(sets, set).is_some_and(|set| set.contains(unit)),
                _ => false,
            };
            if consumes {
                states.todo.push(at + 1);
            }
        }
        cost += states.follow(step + 1, next_place, &mut next, &mut matched);
        fuel.spend(cost)?;
        now.clear();
        std::mem::swap(&mut now, &mut next);
        step += 1;
    }
    Ok(())
}

/// The unit that a run reads next: in a backward run the one before the place.
fn ahead(code: &Code, text: &[u16], step: usize) -> Option<u16> {
    if code.backward {
        text.len().checked_sub(step + 1).and_then(|at| text.get(at)).copied()
    } else {
        text.get(step).copied()
    }
}

/// The states at one place: which instructions can come next.
struct States<'a> {
    code: &'a Code,
    text: &'a [u16],
    tables: &'a [Places],
    /// One more than the last step at which the instruction was reached.
    reached: Vec<u32>,
    /// Instructions still to be followed.
    todo: Vec<u32>,
}

impl States<'_> {
    /// Follows the open paths up to the instructions that consume, which go to `list`. Returns the cost.
    fn follow(&mut self, step: usize, place: usize, list: &mut Vec<u32>, matched: &mut bool) -> u64 {
        // Texts of more units than a u32 counts are refused before.
        let stamp = u32::try_from(step + 1).unwrap_or(u32::MAX);
        let mut cost = 0;
        while let Some(at) = self.todo.pop() {
            cost += 1;
            let mut at = at;
            loop {
                let index = at as usize;
                let (Some(inst), Some(reached)) = (self.code.insts.get(index), self.reached.get_mut(index))
                else {
                    break;
                };
                if *reached == stamp {
                    break;
                }
                *reached = stamp;
                cost += 1;
                at = match *inst {
                    Inst::Unit(_) | Inst::Set(_) => {
                        list.push(at);
                        break;
                    }
                    Inst::Split { prefer, other } => {
                        self.todo.push(other);
                        prefer
                    }
                    Inst::Jump(to) => to,
                    Inst::Assert(assert) if holds(assert, self.text, place) => at + 1,
                    Inst::Holds { table, negated }
                        if self.tables.get(table as usize).is_some_and(|table| table.contains(place))
                            != negated =>
                    {
                        at + 1
                    }
                    Inst::Match => {
                        *matched = true;
                        break;
                    }
                    _ => break,
                };
            }
        }
        cost
    }
}
