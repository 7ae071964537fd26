//! What a call does to a prohibition that one command begins and another one lifts, command by command.

use super::super::asks::Part;
use super::super::operand::{Look, Side};
use super::{Counts, part_of};
use crate::shell::Line;

/// How a call leaves a prohibition that one side begins and the other one lifts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaves {
    AsItWas,
    Begun,
    Lifted,
}

/// Whether two commands may run in either order.
fn at_once(line: &Line, one: usize, other: usize) -> bool {
    let (one, other) = (line.calls.get(one), line.calls.get(other));
    one.zip(other).is_some_and(|(one, other)| one.is_with(other))
}

/// How a call leaves the prohibition that `trigger` begins and `until` lifts, once it has succeeded.
pub fn leaves(trigger: &Side, until: &Side, look: Look<'_>) -> Leaves {
    let (begins, lifts) = (trigger.row(look), until.row(look));
    let Some(lifts) = lifts else {
        let begun = trigger.is(look);
        return match until.is(look) {
            _ if begun => Leaves::Begun,
            true => Leaves::Lifted,
            false => Leaves::AsItWas,
        };
    };
    let Some((lift, _)) = until.counted(&lifts, look).last() else { return Leaves::AsItWas };
    let again = match &begins {
        None => trigger.is(look),
        Some(row) => {
            trigger.counted(row, look).any(|(number, _)| number >= lift || at_once(&row.line, number, lift))
        }
    };
    if again { Leaves::Begun } else { Leaves::Lifted }
}

/// Within one call: a command of `forbidden` that runs while it is forbidden. `held`: it was when the call began.
pub fn unless(forbidden: &Side, trigger: &Side, until: &Side, held: bool, look: Look<'_>) -> Option<Part> {
    let own = forbidden.row(look)?;
    let numbers = |side: &Side| -> Vec<usize> {
        side.row(look)
            .map(|row| side.counted(&row, look).map(|(number, _)| number).collect())
            .unwrap_or_default()
    };
    let (triggers, lifts) = (numbers(trigger), numbers(until));
    let reads_first = trigger.reads() && !forbidden.reads();
    for (number, counts) in forbidden.counted(&own, look) {
        let call = own.line.calls.get(number)?;
        let lift = lifts.iter().copied().filter(|lift| call.after.contains(lift)).max();
        let comes_first = |first: usize| {
            if first == number { reads_first } else { first < number || at_once(&own.line, first, number) }
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
