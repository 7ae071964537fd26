//! Calls that requests repeat and no response made: the span of their response is missing, or does not have them.

use std::collections::{HashMap, HashSet};

use crate::shape::spans::message::SpanCall;
use crate::shape::spans::turns::Response;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::Builder;

/// The calls that are known of a session.
#[derive(Default)]
struct Known<'a> {
    ids: HashSet<&'a str>,
    /// The number of calls of each tool, and how many of these have no id.
    tools: HashMap<&'a str, (usize, usize)>,
}

/// Reports how many such calls each request is the first to repeat. Those before the beginning of the session are
/// reported with it.
pub fn tell(responses: &[Response], begins_before: bool, builder: &mut Builder) {
    let mut known = Known::of(responses);
    for (place, response) in responses.iter().enumerate() {
        let count = known.missing(response.inputs.iter().flat_map(|said| &said.calls));
        let before = place == 0 && begins_before;
        if count > 0 && !before {
            let calls = if count == 1 { "a call".to_owned() } else { format!("{count} calls") };
            let message = format!("the request repeats {calls} that no response of the file makes; left out");
            builder.at_line(response.line).lost(Loss::MayHoldCalls, message);
        }
    }
}

impl<'a> Known<'a> {
    fn of(responses: &'a [Response]) -> Known<'a> {
        let mut known = Known::default();
        for response in responses {
            for call in &response.calls {
                let (proposed, made) = (call.proposed.as_ref(), call.made.as_ref());
                let ids = [proposed.and_then(|call| call.id.as_deref()), made.and_then(|m| m.id.as_deref())];
                let tool = proposed.map(|call| &*call.tool).or_else(|| made.map(|made| &*made.tool));
                known.add(tool.unwrap_or_default(), ids);
            }
            for call in response.others.iter().flat_map(|other| &other.calls) {
                known.add(&call.tool, [call.id.as_deref(), None]);
            }
        }
        known
    }

    fn add(&mut self, tool: &'a str, ids: [Option<&'a str>; 2]) {
        let (all, nameless) = self.tools.entry(tool).or_default();
        *all += 1;
        *nameless += usize::from(ids == [None, None]);
        self.ids.extend(ids.into_iter().flatten());
    }

    /// The number of calls of a request that are new, and known from then on. Those that ids do not distinguish are
    /// counted by tool.
    fn missing(&mut self, calls: impl Iterator<Item = &'a SpanCall>) -> usize {
        // For each tool, new ids, and calls without one.
        let mut unknown: HashMap<&'a str, (Vec<&'a str>, usize)> = HashMap::new();
        for call in calls {
            match call.id.as_deref() {
                Some(id) if self.ids.contains(id) => {}
                Some(id) => unknown.entry(&call.tool).or_default().0.push(id),
                None => unknown.entry(&call.tool).or_default().1 += 1,
            }
        }
        let mut missing = 0;
        for (tool, (named, without)) in unknown {
            let (all, nameless) = self.tools.entry(tool).or_default();
            let beyond = without.saturating_sub(*all);
            missing += named.len().saturating_sub(*nameless) + beyond;
            *all += beyond;
            *nameless = nameless.saturating_sub(named.len());
            self.ids.extend(named);
        }
        missing
    }
}
