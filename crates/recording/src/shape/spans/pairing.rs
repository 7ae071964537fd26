//! Pairs each span of a tool with its call: one that a response proposes, or one without a proposal.
//!
//! By its id; else, among the waiting calls of the same run, by its name and arguments; else the oldest of its name. If
//! all of that is equal, only the order decides: of two such calls, the older one has the first span.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::{DefaultHashBuilder, HashMap};
use serde_json::Value;

use super::Part;
use super::ancestry::Ancestry;
use super::message::SpanCall;
use super::turns::{Call, Response, Scope, ToolSpan, related};
use rulestep_base::session::Body;
use rulestep_base::session::value::{self, equal};

/// The paired spans of tools.
#[derive(Default)]
pub struct Paired {
    /// Those that follow from no response.
    pub alone: Vec<(Scope, ToolSpan)>,
    /// Lines of those for which several calls were waiting, with nothing to decide between them.
    pub unclear: Vec<u32>,
}

/// Gives each call that was made to the response that it follows from.
pub fn pair(
    made: Vec<ToolSpan>,
    responses: &mut [Response],
    ancestry: &Ancestry,
    scopes: &[Scope],
) -> Paired {
    let mut paired = Paired::default();
    let mut waiting = Waiting::of(responses);
    let mut known = std::collections::HashMap::new();
    let mut by_place: HashMap<usize, usize> = HashMap::new();
    by_place.extend(responses.iter().enumerate().map(|(at, response)| (response.place, at)));
    let mut left = Vec::new();
    for span in made {
        match span.id.as_ref().and_then(|id| waiting.named(id)) {
            Some(slot) => take(responses, slot, span),
            None => {
                let within = ancestry.around(span.place).filter(|outer| ancestry.part(*outer) == Part::Model);
                let same = |_, outer| ancestry.part(outer) == Part::Model;
                let within = within.map(|outer| ancestry.outermost(outer, &mut known, same));
                let within = within.and_then(|place| by_place.get(&place).copied());
                let scope = scopes.get(span.place).cloned().unwrap_or_default();
                left.push((within.map_or(Home::Run(scope.clone()), Home::Response), scope, span));
            }
        }
    }
    if !left.is_empty() {
        waiting.hear(responses);
    }
    // Certain pairs are made before uncertain ones can take their calls.
    for by in [By::Arguments, By::Contained, By::Order] {
        let mut rest = Vec::new();
        for (home, scope, span) in left {
            match waiting.find(responses, &home, &span, by) {
                Some(Found { slot, unclear }) => {
                    paired.unclear.extend(unclear.then_some(span.line));
                    take(responses, slot, span);
                }
                None => rest.push((home, scope, span)),
            }
        }
        left = rest;
    }
    for (home, scope, span) in left {
        let at = match home {
            Home::Response(at) => Some(at),
            Home::Run(scope) => waiting.latest(&scope, span.start),
        };
        match at.and_then(|at| responses.get_mut(at)) {
            Some(response) => response.calls.push(Call { proposed: None, made: Some(span) }),
            None => paired.alone.push((scope, span)),
        }
    }
    paired
}

/// Where a call is searched for: in one response, or in those of a run.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Home {
    Response(usize),
    Run(Scope),
}

/// Why a span is paired with a call of its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// Its arguments are the same.
    Arguments,
    /// The proposed arguments are among its own, beside others or in a wrapper.
    Contained,
    /// It is the next one.
    Order,
}

/// A proposed call.
#[derive(Clone, Copy)]
struct Slot {
    response: usize,
    /// Its index in the response.
    call: usize,
    /// Number of calls before it with the same id.
    nth: usize,
}

/// The calls of one name in one home, oldest first, for each way to find them.
#[derive(Default)]
struct Line {
    by_arguments: HashMap<u64, VecDeque<Slot>>,
    contained: VecDeque<Slot>,
    next: VecDeque<Slot>,
}

/// The calls that wait for a span.
#[derive(Default)]
struct Waiting {
    named: HashMap<Box<str>, VecDeque<Slot>>,
    lines: HashMap<Home, BTreeMap<Box<str>, Line>>,
    /// The responses of each run, in order of time.
    runs: HashMap<Scope, Vec<(i64, usize)>>,
    /// When a request first had this many results for an id: their calls have happened, and later spans belong to other
    /// calls.
    answered: HashMap<Box<str>, Vec<i64>>,
    hasher: DefaultHashBuilder,
}

struct Found {
    slot: Slot,
    /// Whether another call fits just as well.
    unclear: bool,
}

impl Waiting {
    /// Calls that a span is compared with, and names among which it looks for one like its own.
    const COMPARED: usize = 64;

    fn of(responses: &[Response]) -> Waiting {
        let mut waiting = Waiting::default();
        for (at, response) in responses.iter().enumerate() {
            waiting.runs.entry(response.scope.clone()).or_default().push((response.start, at));
        }
        waiting.runs.values_mut().for_each(|run| run.sort_unstable());
        for at in in_time(responses) {
            let Some(response) = responses.get(at) else { continue };
            for (place, call) in response.calls.iter().enumerate() {
                if let Some(call) = &call.proposed {
                    waiting.add(at, place, call, &response.scope);
                }
            }
        }
        waiting
    }

    fn add(&mut self, response: usize, call: usize, proposed: &SpanCall, scope: &Scope) {
        let mut slot = Slot { response, call, nth: 0 };
        if let Some(id) = &proposed.id {
            let named = self.named.entry(id.clone()).or_default();
            slot.nth = named.len();
            named.push_back(slot);
        }
        let arguments = self.hash(Some(&proposed.arguments));
        for home in [Home::Response(response), Home::Run(scope.clone())] {
            let line = self.lines.entry(home).or_default().entry(proposed.tool.clone()).or_default();
            line.by_arguments.entry(arguments).or_default().push_back(slot);
            line.contained.push_back(slot);
            line.next.push_back(slot);
        }
    }

    /// Records which results the requests repeat.
    fn hear(&mut self, responses: &[Response]) {
        for response in in_time(responses).into_iter().filter_map(|at| responses.get(at)) {
            let mut counts: HashMap<&str, usize> = HashMap::new();
            let answers = response.inputs.iter().flat_map(|said| &said.answers);
            for id in answers.filter_map(|answer| answer.id.as_deref()) {
                let count = counts.entry(id).or_default();
                *count += 1;
                let times = match self.answered.get_mut(id) {
                    Some(times) => times,
                    None => self.answered.entry(id.into()).or_default(),
                };
                if times.len() < *count {
                    times.push(response.start);
                }
            }
        }
    }

    fn hash(&self, arguments: Option<&Body>) -> u64 {
        arguments.and_then(Body::value).map_or(0, |value| value::hash(value, &self.hasher))
    }

    /// The oldest call with this id that no span was given to.
    fn named(&mut self, id: &str) -> Option<Slot> {
        self.named.get_mut(id)?.pop_front()
    }

    /// The latest response of a run by then.
    fn latest(&self, scope: &Scope, by: i64) -> Option<usize> {
        let run = self.runs.get(scope)?;
        let after = run.partition_point(|(start, _)| *start <= by);
        run.get(after.checked_sub(1)?).map(|(_, at)| *at)
    }

    fn find(&mut self, responses: &[Response], home: &Home, span: &ToolSpan, by: By) -> Option<Found> {
        let arguments = span.arguments.as_ref().filter(|arguments| !arguments.is_missing());
        if by != By::Order && arguments.is_none() {
            return None;
        }
        let hash = self.hash(arguments);
        let answered = |slot: Slot, call: &SpanCall| {
            let times = call.id.as_ref().and_then(|id| self.answered.get(id));
            times.and_then(|times| times.get(slot.nth)).is_some_and(|time| *time <= span.start)
        };
        let waits = |slot: Slot| {
            let response = responses.get(slot.response)?;
            let call = response.calls.get(slot.call).filter(|call| call.made.is_none())?;
            let call = call.proposed.as_ref().filter(|call| !answered(slot, call))?;
            Some((response.start, call))
        };
        let fits = |slot: Slot| {
            let (start, call) = waits(slot)?;
            let in_time = start <= span.start || matches!(home, Home::Response(_));
            let fits = match by {
                By::Arguments => same(&call.arguments, arguments),
                By::Contained => holds(arguments, &call.arguments),
                // Two different ids are two calls.
                By::Order => call.id.is_none() || span.id.is_none(),
            };
            (in_time && fits).then_some((slot, call))
        };
        let names = self.lines.get_mut(home)?;
        let like: Vec<Box<str>> = match names.contains_key(&span.tool) {
            true => vec![span.tool.clone()],
            false => {
                let names = names.keys().take(Self::COMPARED);
                names.filter(|name| related(name, &span.tool)).cloned().collect()
            }
        };
        like.iter().find_map(|name| {
            let line = names.get_mut(name)?;
            let slots = match by {
                By::Arguments => line.by_arguments.get_mut(&hash)?,
                By::Contained => &mut line.contained,
                By::Order => &mut line.next,
            };
            while slots.front().is_some_and(|slot| waits(*slot).is_none()) {
                slots.pop_front();
            }
            let mut fitting = slots.iter().take(Self::COMPARED).filter_map(|slot| fits(*slot));
            let (slot, first) = fitting.next()?;
            let unclear = fitting.any(|(_, other)| !same(&other.arguments, Some(&first.arguments)));
            Some(Found { slot, unclear })
        })
    }
}

/// Places of responses, in order of time.
fn in_time(responses: &[Response]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..responses.len()).collect();
    order.sort_by_key(|at| responses.get(*at).map(|response| response.start));
    order
}

/// A span is this call.
fn take(responses: &mut [Response], slot: Slot, span: ToolSpan) {
    let response = responses.get_mut(slot.response);
    if let Some(call) = response.and_then(|response| response.calls.get_mut(slot.call)) {
        call.made = Some(span);
    }
}

fn same(a: &Body, b: Option<&Body>) -> bool {
    match (a.value(), b.and_then(Body::value)) {
        (Some(a), Some(b)) => equal(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Whether the arguments of a span have all that was proposed, as they are or within a wrapper.
fn holds(arguments: Option<&Body>, proposed: &Body) -> bool {
    let (Some(made), Some(Value::Object(proposed))) = (arguments.and_then(Body::value), proposed.value())
    else {
        return false;
    };
    let has =
        |made: &Value| proposed.iter().all(|(key, own)| made.get(key).is_some_and(|made| equal(own, made)));
    !proposed.is_empty() && (has(made) || made.as_object().is_some_and(|made| made.values().any(has)))
}
