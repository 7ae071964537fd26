//! What a response proposed, and whether a later request goes on from it: a request that repeats the conversation but has other
//! calls in the place of the response goes on from another one.

use std::sync::Arc;

use crate::diagnostic::Loss;
use crate::session::build::Builder;
use crate::session::{Body, Call};

/// The calls of a response.
#[derive(Default)]
pub struct Proposed {
    calls: Vec<(Option<Arc<str>>, Arc<str>, Body)>,
    line: u32,
    /// Those of responses before that no request repeats: their lines, and how many there are.
    left_out: Vec<(u32, usize)>,
}

impl Proposed {
    /// The calls that a session has since it had this many.
    pub fn since(builder: &Builder, known: usize) -> Proposed {
        let calls = builder.so_far().calls.get(known..).unwrap_or_default().iter();
        let calls = calls.map(|call| (call.id.clone(), Arc::clone(&call.tool), call.arguments.clone()));
        Proposed { calls: calls.collect(), line: builder.line(), left_out: Vec::new() }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// How many of them are not among those that a request repeats. `None`: none is, so it goes on from another response.
    pub fn missing(&self, repeated: &[Call]) -> Option<usize> {
        let is_there = |(id, tool, arguments): &(Option<Arc<str>>, Arc<str>, Body)| {
            repeated.iter().any(|call| {
                // Ids may be given anew.
                let same = || call.tool == *tool && call.arguments.value() == arguments.value();
                id.is_some() && call.id == *id || same()
            })
        };
        let missing = self.calls.iter().filter(|call| !is_there(call)).count();
        (self.is_empty() || missing < self.calls.len()).then_some(missing)
    }

    /// What is left out where a request takes the place of the one that these were the answer to.
    pub fn passed_on(self, missing: usize) -> Vec<(u32, usize)> {
        let mut left_out = self.left_out;
        left_out.extend(Some((self.line, missing)).filter(|(_, missing)| *missing > 0));
        left_out
    }

    /// Keeps what was left out before.
    pub fn after(self, left_out: Vec<(u32, usize)>) -> Proposed {
        Proposed { left_out, ..self }
    }

    /// Says what is left out.
    pub fn tell(&self, builder: &mut Builder) {
        for (line, count) in &self.left_out {
            let calls =
                if *count == 1 { "a call that is".to_owned() } else { format!("{count} calls that are") };
            let message = format!("the response proposes {calls} not in the request after it; left out");
            builder.at_line(*line).lost(Loss::MayHoldCalls, message);
        }
    }
}
