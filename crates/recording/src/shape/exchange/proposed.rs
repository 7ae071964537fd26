//! The calls that a response proposed, and whether a later request continues from it: a request that repeats the
//! conversation with other calls in place of the response continues another one.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Body, Call};

/// A call of a response.
struct ProposedCall {
    id: Option<Arc<str>>,
    tool: Arc<str>,
    arguments: Body,
    /// The provider made it, and the response has its result: clients need not repeat it.
    answered: bool,
}

/// The calls of a response.
#[derive(Default)]
pub struct Proposed {
    calls: Vec<ProposedCall>,
    line: u32,
    /// Those of responses before that no request repeats: their lines, and how many there are.
    left_out: Vec<(u32, usize)>,
}

impl Proposed {
    /// The calls that a session has since it had this many.
    pub fn since(builder: &Builder, known: usize) -> Proposed {
        let calls = builder.so_far().calls.get(known..).unwrap_or_default().iter();
        let calls = calls.map(|call| ProposedCall {
            id: call.id.clone(),
            tool: Arc::clone(&call.tool),
            arguments: call.arguments.clone(),
            answered: call.result.is_some(),
        });
        Proposed { calls: calls.collect(), line: builder.line(), left_out: Vec::new() }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// How many of them are missing among those that a request repeats. `None`: the request has none of those that it
    /// had to answer, so it continues another response.
    pub fn missing(&self, repeated: &[Call]) -> Option<usize> {
        let ids: HashSet<&str> = repeated.iter().filter_map(|call| call.id.as_deref()).collect();
        let mut same: HashMap<u64, Vec<&Call>> = HashMap::new();
        for call in repeated {
            for mark in marks(&call.tool, &call.arguments) {
                same.entry(mark).or_default().push(call);
            }
        }
        // Ids may be given again.
        let is_again = |proposed: &ProposedCall| {
            let alike =
                |call: &&Call| call.tool == proposed.tool && call.arguments.are_same(&proposed.arguments);
            let marks = marks(&proposed.tool, &proposed.arguments);
            marks.iter().filter_map(|mark| same.get(mark)).flatten().any(alike)
        };
        let is_there = |proposed: &&ProposedCall| {
            proposed.id.as_deref().is_some_and(|id| ids.contains(id)) || is_again(proposed)
        };
        let there: Vec<&ProposedCall> = self.calls.iter().filter(is_there).collect();
        let open = |calls: &[&ProposedCall]| calls.iter().filter(|call| !call.answered).count();
        let asked = open(&self.calls.iter().collect::<Vec<_>>());
        (asked == 0 || open(&there) > 0).then(|| self.calls.len() - there.len())
    }

    /// The calls that are left out when a request replaces the one that these answered.
    pub fn passed_on(self, missing: usize) -> Vec<(u32, usize)> {
        let mut left_out = self.left_out;
        left_out.extend(Some((self.line, missing)).filter(|(_, missing)| *missing > 0));
        left_out
    }

    /// Keeps earlier omissions.
    pub fn after(self, left_out: Vec<(u32, usize)>) -> Proposed {
        Proposed { left_out, ..self }
    }

    /// Reports the omissions.
    pub fn tell(&self, builder: &mut Builder) {
        for (line, count) in &self.left_out {
            let calls =
                if *count == 1 { "a call that is".to_owned() } else { format!("{count} calls that are") };
            let message = format!("the response proposes {calls} not in the request after it; left out");
            builder.at_line(*line).lost(Loss::MayHoldCalls, message);
        }
    }
}

/// Calls that are alike have one of these in common: the digest of the value of their arguments, or of their text.
fn marks(tool: &str, arguments: &Body) -> [u64; 2] {
    let mark = |part: &dyn Fn(&mut DefaultHasher)| {
        let mut hasher = DefaultHasher::new();
        tool.hash(&mut hasher);
        part(&mut hasher);
        hasher.finish()
    };
    let value = arguments.value().filter(|_| !arguments.are_none());
    [mark(&|hasher| value.hash(hasher)), mark(&|hasher| arguments.raw().hash(hasher))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_are_no_json_are_told_apart() {
        let (json, text) = (Body::json, Body::text);
        for (one, other, expected) in [
            (json("{}"), Body::MISSING, true),
            (json(r#"{"a": 1, "b": 2}"#), json(r#"{"b": 2, "a": 1}"#), true),
            (json(r#"{"a": 1}"#), json(r#"{"a": 2}"#), false),
            (json(r#"{"a": {"b": 1, "c": [2]}}"#), json(r#"{"a":{"c":[2],"b":1}}"#), true),
            (json(r#"{"a": 1}"#), json("{}"), false),
            (text("*** Add File: a"), text("*** Add File: b"), false),
            (text("*** Add File: a"), text("*** Add File: a"), true),
            (text("*** Add File: a"), Body::MISSING, false),
        ] {
            assert_eq!(one.are_same(&other), expected, "{:?} {:?}", one.raw(), other.raw());
            let of = |arguments: &Body| marks("t", arguments);
            let in_common = of(&one).iter().any(|mark| of(&other).contains(mark));
            assert_eq!(in_common, expected, "{:?} {:?}", one.raw(), other.raw());
        }
    }
}
