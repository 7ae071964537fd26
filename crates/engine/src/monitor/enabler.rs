//! What would enable a stopped call: a unit's knowledge of hypothetical calls.
//!
//! A search for calls after which another is allowed must not guess. So every unit names the calls that can enable a
//! call, whatever happened before; all others can only count against it. And it says which part of its state can still
//! matter, so that the search visits each state once.

use std::hash::Hasher;
use std::sync::Arc;

use serde_json::Value;

use super::Slot;
use rulestep_base::session::{Body, Call};

/// A placeholder where any value would do; it is never mistaken for a meaningful one.
pub const ANY_VALUE: &str = "<any value>";

/// A hypothetical call.
#[derive(Debug, Clone, Copy)]
pub struct Prospect<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The unit's own name for the tool.
    pub slot: Slot,
    /// Its arguments.
    pub arguments: &'a Body,
    /// The arguments of the call that is to be allowed in the end: values are taken from them where any would do.
    pub wanted: &'a Body,
    /// The calls that were recorded so far, as a source of values.
    pub earlier: &'a [Call],
}

impl<'a> Prospect<'a> {
    /// The earlier calls of a tool, the newest first.
    pub fn earlier_of(&self, tool: &str) -> impl Iterator<Item = &'a Call> {
        self.earlier.iter().rev().filter(move |call| *call.tool == *tool)
    }
}

/// A call that can enable another one. Anything it leaves open does not matter.
#[derive(Debug, Clone, PartialEq)]
pub struct Enabler {
    /// Its tool.
    pub tool: Arc<str>,
    /// The required part of its arguments, as an object with nothing else in it.
    pub arguments: Option<Value>,
    /// The required part of its result.
    pub output: Option<Value>,
}

/// An argument of the call itself on which a rule depends.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Its place, as a JSONPath.
    pub path: Arc<str>,
    /// Whether the call has no value there.
    pub missing: bool,
    /// Values it could have, each as an object with nothing else in it.
    pub values: Vec<Value>,
}

/// The calls that would enable a call, collected from the units.
#[derive(Debug, Default)]
pub struct Enablers {
    /// Earlier calls that would help.
    pub calls: Vec<Enabler>,
    /// Other arguments with which the call itself would be allowed.
    pub choices: Vec<Choice>,
    /// Whether some call of any tool helps.
    pub any: bool,
    /// Whether it helps that a turn ends.
    pub turns: bool,
    /// Whether it cannot say all that helps.
    pub unsure: bool,
}

impl Enablers {
    /// A call that succeeds.
    pub fn call(&mut self, help: Enabler) {
        self.calls.push(help);
    }

    /// Any other call at all, since some rule looks at what is directly before this one.
    pub fn any_call(&mut self) {
        self.any = true;
    }

    /// A turn, even one without calls.
    pub fn turn(&mut self) {
        self.turns = true;
    }

    /// Another value of an argument.
    pub fn choice(&mut self, choice: Choice) {
        self.choices.push(choice);
    }

    /// Something that cannot be named might help: then it is not certain that nothing does.
    pub fn unsure(&mut self) {
        self.unsure = true;
    }
}

/// The part of a unit's state that can still matter to some calls, as bytes that are equal if it is.
#[derive(Debug, Default)]
pub struct Digest {
    bytes: Vec<u8>,
    unknown: bool,
}

impl Digest {
    /// The unit cannot say what matters, so no two states count as the same.
    pub fn unknown(&mut self) {
        self.unknown = true;
    }

    /// The bytes, where every unit could say what matters.
    pub fn finish(self) -> Option<Vec<u8>> {
        (!self.unknown).then_some(self.bytes)
    }
}

/// Whatever can be hashed can be written.
impl Hasher for Digest {
    fn finish(&self) -> u64 {
        0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
}
