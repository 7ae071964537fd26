//! Without the feature `shell` no side asks what a call does: a call is meant as a whole.

use super::asks::{Copies, Part, Role};
use super::operand::{Look, Match, Operand, Side};
use crate::dialect::question::{Question, Table};

/// A file of a command.
pub(super) struct File {
    pub names: Vec<String>,
}

pub(super) fn is_opaque(_look: Look<'_>, _facts: &Table) -> bool {
    false
}

pub(super) fn is_sweep(_operands: &[&Operand], _look: Look<'_>) -> bool {
    false
}

pub(super) fn is_about(question: &Question, _look: Look<'_>, _facts: &Table) -> bool {
    match *question {}
}

pub(super) fn path(_text: &str, _look: Look<'_>, _facts: &Table) -> Option<String> {
    None
}

impl Operand {
    pub fn can_mean(&self, _name: &str) -> bool {
        true
    }

    pub fn copies(&self, _look: Look<'_>, _copies: &mut Copies) {}

    pub fn does(&self, look: Look<'_>, _role: Role) -> Match {
        self.means(look)
    }

    pub fn doubt(&self, _look: Look<'_>) -> Option<Part> {
        None
    }
}

impl Side {
    pub fn needs_folder(&self) -> bool {
        false
    }

    pub fn does(&self, _look: Look<'_>) -> Match {
        Match::No
    }

    pub fn times(&self, look: Look<'_>) -> u64 {
        u64::from(self.is(look))
    }

    pub fn part(&self, _look: Look<'_>) -> Option<Part> {
        None
    }

    pub fn without(&self, _first: &Side, _look: Look<'_>, _directly: Option<bool>) -> Option<Part> {
        None
    }

    pub fn after(&self, _trigger: &Side, _: Option<&Side>, _held: bool, _look: Look<'_>) -> Option<Part> {
        None
    }

    pub fn follows(&self, _trigger: &Side, _look: Look<'_>) -> bool {
        false
    }

    pub fn ends(&self, _look: Look<'_>) -> bool {
        true
    }

    pub fn files(&self, _look: Look<'_>, _each: impl FnMut(usize, &[usize], File)) {}
}

pub(super) fn lifts(trigger: &Side, until: &Side, look: Look<'_>) -> bool {
    until.is(look) && !trigger.is(look)
}

pub(super) fn stray(listed: &[Operand], look: Look<'_>) -> Option<Part> {
    look.arguments?;
    let mut named = listed.iter().filter(|operand| operand.names(look.tool));
    let meant = named.any(|operand| operand.means(look) == Match::Yes);
    (!meant).then(Part::default)
}
