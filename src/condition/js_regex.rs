//! Regular expressions that mean what they mean in JavaScript without the u flag, within a counted budget.
use std::ops::Range;
use std::sync::Arc;

mod ast;
mod case;
mod compile;
mod exact;
mod parse;
mod places;
mod program;
mod set;

use exact::Machine;
use program::Program;

/// What one search may cost where nobody says otherwise, in steps.
pub const DEFAULT_BUDGET: u64 = 10_000_000;

/// A pattern that is ready to be searched for.
#[derive(Debug, Clone)]
pub struct JsRegex {
    program: Arc<Program>,
}

/// Why a pattern cannot be searched for. Offsets are in bytes of the pattern as given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    /// JavaScript refuses it too.
    #[error("{message} at offset {offset}")]
    Syntax {
        /// Where the offending piece begins.
        offset: usize,
        /// What is wrong with it.
        message: &'static str,
    },
    /// Its meaning depends on which JavaScript, or which flags, it meets.
    #[error("`{construct}` at offset {offset} is not supported")]
    Unsupported {
        /// Where it begins.
        offset: usize,
        /// Its first letters, such as `\p{` or `(?i:`.
        construct: String,
    },
    /// It would take too much memory.
    #[error("the pattern is too large: {what}")]
    TooLarge {
        /// In which respect.
        what: &'static str,
    },
}

/// A search that was given up: whether the text matches is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the search was given up after {budget} steps")]
pub struct OverBudget {
    /// What it was allowed.
    pub budget: u64,
}

/// Reads a pattern.
///
/// # Errors
/// When JavaScript refuses it, when it holds a construct that is not supported, or when it is too large.
pub fn compile(pattern: &str) -> Result<JsRegex, BadPattern> {
    let program = Program::new(parse::parse(pattern)?)?;
    Ok(JsRegex { program: Arc::new(program) })
}

impl JsRegex {
    /// Whether the pattern matches anywhere in the text.
    ///
    /// # Errors
    /// When that would take more steps than `budget`.
    pub fn is_match(&self, text: &str, budget: u64) -> Result<bool, OverBudget> {
        let (program, mut fuel) = (&*self.program, Fuel::new(budget));
        let Some(forward) = &program.forward else { return Ok(self.search(text, &mut fuel)?.is_some()) };
        let text = self.units(text, &mut fuel)?;
        let tables = places::tables(program, &text, &mut fuel)?;
        places::any(forward, &program.sets, &text, &tables, &mut fuel)
    }

    /// The first match in the text, in UTF-16 units: it may begin or end amid an astral letter, and be empty.
    ///
    /// # Errors
    /// When that would take more steps than `budget`. It takes more than [`JsRegex::is_match`].
    pub fn find(&self, text: &str, budget: u64) -> Result<Option<Range<usize>>, OverBudget> {
        self.search(text, &mut Fuel::new(budget))
    }

    fn search(&self, text: &str, fuel: &mut Fuel) -> Result<Option<Range<usize>>, OverBudget> {
        let program = &*self.program;
        let text = self.units(text, fuel)?;
        let tables = places::tables(program, &text, fuel)?;
        let starts = places::all(&program.starts, &program.sets, &text, &tables, fuel)?;
        let mut machine = Machine::new(program, &text, &tables);
        for start in starts.iter() {
            if let Some(end) = machine.run(start, fuel)? {
                return Ok(Some(start..end));
            }
        }
        Ok(None)
    }

    /// The text as JavaScript sees it; refused if the program is not exact on so long a text.
    fn units(&self, text: &str, fuel: &mut Fuel) -> Result<Vec<u16>, OverBudget> {
        let units: Vec<u16> = text.encode_utf16().collect();
        fuel.spend(units.len() as u64 / 4)?;
        if units.len() > self.program.longest_text || u32::try_from(units.len()).is_err() {
            return Err(fuel.over());
        }
        Ok(units)
    }
}

/// The bytes of the text that hold a range of its UTF-16 units; an astral letter of which half is in it counts whole.
pub fn byte_range(text: &str, units: Range<usize>) -> Range<usize> {
    let mut at = 0;
    let (mut start, mut end) = (text.len(), text.len());
    for (offset, letter) in text.char_indices() {
        let next = at + letter.len_utf16();
        if start == text.len() && next > units.start {
            start = offset;
        }
        if at >= units.end {
            end = offset;
            break;
        }
        at = next;
    }
    start.min(end)..end
}

/// What is left of a budget.
struct Fuel {
    budget: u64,
    left: u64,
}

impl Fuel {
    fn new(budget: u64) -> Self {
        Self { budget, left: budget }
    }

    fn spend(&mut self, steps: u64) -> Result<(), OverBudget> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.over()),
        }
    }

    fn over(&self) -> OverBudget {
        OverBudget { budget: self.budget }
    }
}
