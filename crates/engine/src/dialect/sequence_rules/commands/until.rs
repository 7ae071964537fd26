//! The effect of a call, command by command, on a ban that one command begins and another one lifts.

use super::super::asks::Part;
use super::super::operand::{Look, Side};
use super::{Counts, part_of};
use rulestep_shell::Line;

/// Whether two commands may run in either order.
fn at_once(line: &Line, one: usize, other: usize) -> bool {
    let (one, other) = (line.calls.get(one), line.calls.get(other));
    one.zip(other).is_some_and(|(one, other)| one.is_with(other))
}

/// Whether a call lifts the prohibition that `trigger` begins and `until` lifts, once it has succeeded.
pub fn lifts(trigger: &Side, until: &Side, look: Look<'_>) -> bool {
    let Some(row) = until.row(look) else { return until.is(look) && !trigger.is(look) };
    let Some((lift, _)) = until.counted(&row, look).last() else { return false };
    let again = |number: usize| number >= lift || at_once(&row.line, number, lift);
    match trigger.row(look) {
        None => !trigger.is(look),
        Some(begins) => !trigger.counted(&begins, look).any(|(number, _)| again(number)),
    }
}

impl Side {
    /// Within one call: a command of this side that runs after one of the other side, or at once with it, and not after one that
    /// lifts that. `held`: it was forbidden when the call began.
    pub fn after(&self, trigger: &Side, until: Option<&Side>, held: bool, look: Look<'_>) -> Option<Part> {
        let own = self.row(look)?;
        let numbers = |side: &Side| -> Vec<usize> {
            let row = side.row(look);
            row.iter().flat_map(|row| side.counted(row, look)).map(|(number, _)| number).collect()
        };
        let (triggers, lifts) = (numbers(trigger), until.map(numbers).unwrap_or_default());
        let reads_first = trigger.reads() && !self.reads();
        for (number, counts) in self.counted(&own, look) {
            let call = own.line.calls.get(number)?;
            let lift = lifts.iter().copied().filter(|lift| call.after.contains(lift)).max();
            let comes_first = |first: usize| {
                if first == number {
                    reads_first
                } else {
                    first < number || at_once(&own.line, first, number)
                }
            };
            let since = triggers
                .iter()
                .copied()
                .filter(|first| comes_first(*first))
                .find(|first| lift.is_none_or(|lift| *first >= lift || at_once(&own.line, *first, lift)));
            if let Some(since) = since.and_then(|since| own.line.calls.get(since)) {
                let since = part_of(since, Counts::Surely).command;
                return Some(Part { since: Some(since), ..part_of(call, counts) });
            }
            if held && lift.is_none() {
                return Some(part_of(call, counts));
            }
        }
        None
    }
}
