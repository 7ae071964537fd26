//! Regular expressions that mean what they mean in JavaScript without the u flag, on UTF-16 units, within a budget that
//! is counted in steps: the same pattern, text and budget give the same answer on every machine. A pattern may begin
//! with groups of flags, `(?i)(?ms)`; other groups of flags, and `\p{`, `\P{`, `\u{`, whose meaning hangs on the u
//! flag, are refused. This module must not ask the time, must not guess when its budget is spent, and must not panic or
//! use the stack in proportion to a pattern or a text.
//!
//! The engine is our own because no library has both the meaning and the count. On the 5,765 cases of
//! `tests/conformance/js_regex.jsonl` that Node answers (many of them odd on purpose), regress 0.12 gives the answer in
//! 5,629 and fancy-regex 0.20 in 3,838, with a panic in one; this one in all, and in 600,000 more of the same making.
//! `^(a+)+$` on 26 letters and a `!` took regress 1.3 s, with no way to stop it; fancy-regex has a limit, but no
//! JavaScript meaning of `\b`, `$`, `[^]`, astral letters, groups in loops or Annex B. So patterns are parsed here and
//! run in one of two ways. What refers to no group is followed in all ways at once (`places`), lookarounds included, in
//! time proportional to the text: the answer is the true one, and `^(a+)+$` on 100,000 letters takes 3 ms.
//! Backreferences need a backtracking search (`exact`), in JavaScript's order, from those places alone where the
//! pattern with its references loosened can start, and without trying a failed state twice: that settles most of what
//! is exponential elsewhere, and a search that does spend the default budget ends in about 25 ms. Both figures from one
//! core of a shared two-core machine.

use std::ops::Range;
use std::sync::Arc;

mod ast;
mod bad_pattern;
mod case;
mod compile;
mod exact;
mod fuel;
mod parse;
mod places;
mod program;
mod set;

pub use bad_pattern::BadPattern;
use exact::Machine;
use fuel::Fuel;
pub use fuel::OverBudget;
use program::Program;

/// Default budget of one search, in steps. A step is a state reached at a place of the text, or an instruction tried:
/// some nanoseconds, so that a search ends within about 50 ms.
pub const DEFAULT_BUDGET: u64 = 12_000_000;

/// A pattern that is ready to be searched for.
#[derive(Debug, Clone)]
pub struct JsRegex {
    program: Arc<Program>,
}

/// Reads a pattern.
///
/// # Errors
/// When JavaScript refuses it, when it holds a construct that is not supported, or when it is too large.
pub fn compile(pattern: &str) -> Result<JsRegex, BadPattern> {
    let too_large =
        |_| BadPattern::TooLarge { what: "its repetition counts expand to too many instructions" };
    let program = Program::new(parse::parse(pattern)?).map_err(too_large)?;
    Ok(JsRegex { program: Arc::new(program) })
}

impl JsRegex {
    /// Whether the pattern matches anywhere in the text.
    ///
    /// # Errors
    /// When that would take more steps than `budget`, or the text is so long that a large count in the pattern could
    /// not be followed.
    pub fn is_match(&self, text: &str, budget: u64) -> Result<bool, OverBudget> {
        let (program, mut fuel) = (&*self.program, Fuel::new(budget));
        let Some(forward) = &program.forward else { return Ok(!self.search(text, &mut fuel, 1)?.is_empty()) };
        let text = self.units(text, &mut fuel)?;
        let tables = places::tables(program, &text, &mut fuel)?;
        places::any([forward, &program.starts], &program.sets, &text, &tables, &mut fuel)
    }

    /// The first match in the text, in UTF-16 units: it may begin or end amid an astral letter, and be empty. This is
    /// for people; verdicts rest on [`JsRegex::is_match`].
    ///
    /// # Errors
    /// When that would take more steps than `budget`, which may differ from those that [`JsRegex::is_match`] takes.
    pub fn find(&self, text: &str, budget: u64) -> Result<Option<Range<usize>>, OverBudget> {
        Ok(self.search(text, &mut Fuel::new(budget), 1)?.pop())
    }

    /// The first `most` matches, one after the other, as JavaScript's `matchAll` returns them. As [`JsRegex::find`].
    ///
    /// # Errors When that would take more steps than `budget` in all.
    pub fn find_all(&self, text: &str, budget: u64, most: usize) -> Result<Vec<Range<usize>>, OverBudget> {
        self.search(text, &mut Fuel::new(budget), most)
    }

    fn search(&self, text: &str, fuel: &mut Fuel, most: usize) -> Result<Vec<Range<usize>>, OverBudget> {
        let program = &*self.program;
        let text = self.units(text, fuel)?;
        let tables = places::tables(program, &text, fuel)?;
        let starts = places::all(&program.starts, &program.sets, &text, &tables, fuel)?;
        let mut machine = Machine::new(program, &text, &tables);
        let (mut found, mut next) = (Vec::new(), 0);
        for start in starts.iter() {
            if found.len() == most {
                break;
            }
            if start < next {
                continue;
            }
            if let Some(end) = machine.run(start, fuel)? {
                found.push(start..end);
                // After an empty match the search continues a unit further.
                next = end.max(start + 1);
                // A run that succeeds leaves what it set.
                machine = Machine::new(program, &text, &tables);
            }
        }
        Ok(found)
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

/// The bytes of the text that hold a range of its UTF-16 units; an astral letter with half of it in the range counts
/// whole.
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
