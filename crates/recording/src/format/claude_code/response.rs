//! Which lines of the model are one response.
//!
//! A response is written one block per line, and all its lines have its id. Results may come between them, because
//! tools run while the response streams. But gateways give every response the same id, so the id alone does not make
//! two lines one response.

use hashbrown::{HashMap, HashSet};

use super::entry::{Entry, Kind};
use crate::input::digest::digest;
use crate::shape::blocks::BlockCall;

/// The responses that lines belong to, by the indices of the lines.
pub struct Responses {
    /// For the first line of a response, the later ones.
    pub later: HashMap<usize, Vec<usize>>,
    /// Lines for which it is unknown whether they continue the response with their id.
    pub unclear: Vec<usize>,
}

/// The latest response with an id.
struct Latest<'a> {
    first: usize,
    request: Option<&'a str>,
    /// Whether one of its lines says why the model stopped.
    stopped: bool,
    /// Its calls, by hashes of their content.
    calls: HashSet<u64>,
    /// The counts when its last line was written.
    course: Course,
}

/// Counts of events that separate responses.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Course {
    /// A user typed a message, or the end of a response was reported.
    ends: usize,
    /// Messages of others than the model, and results.
    others: usize,
}

/// Whether a line continues the earlier response with the same id.
enum Tie {
    Same,
    Other,
    /// Unknown, so it counts as the same: calls proposed together cannot depend on each other's results.
    Unclear,
}

/// Finds the lines of each response.
pub fn group(entries: &[Option<Entry>]) -> Responses {
    let answered = answered(entries);
    let mut responses = Responses { later: HashMap::new(), unclear: Vec::new() };
    let mut latest: HashMap<&str, Latest<'_>> = HashMap::new();
    let mut course = Course::default();
    for (at, entry) in entries.iter().enumerate() {
        let Some(Entry { kind, ends, .. }) = entry else { continue };
        course.ends += usize::from(*ends);
        match kind {
            Kind::Link | Kind::Offer(_) => {}
            Kind::Prompt { meta: false, .. } => course.ends += 1,
            Kind::Prompt { .. } | Kind::Answer { .. } | Kind::Failure(_) => course.others += 1,
            Kind::Response { key, request, stopped, blocks } => {
                let Some(key) = key.as_deref() else { continue };
                let request = request.as_deref();
                let before = latest.get(key).filter(|before| {
                    let tie = before.tie(request, &blocks.calls, course, &|id| answered.around(id, at));
                    responses.unclear.extend(matches!(tie, Tie::Unclear).then_some(at));
                    !matches!(tie, Tie::Other)
                });
                let Some(first) = before.map(|before| before.first) else {
                    let calls = blocks.calls.iter().map(whole).collect();
                    latest.insert(key, Latest { first: at, request, stopped: *stopped, calls, course });
                    continue;
                };
                responses.later.entry(first).or_default().push(at);
                if let Some(before) = latest.get_mut(key) {
                    before.request = request.or(before.request);
                    before.stopped |= *stopped;
                    before.calls.extend(blocks.calls.iter().map(whole));
                    before.course = course;
                }
            }
        }
    }
    responses
}

impl Latest<'_> {
    fn tie(
        &self,
        request: Option<&str>,
        calls: &[BlockCall],
        course: Course,
        answered: &dyn Fn(&str) -> bool,
    ) -> Tie {
        // A call whose id is answered both before and after the line is another one.
        let again = |call: &BlockCall| call.id.as_deref().is_some_and(answered);
        if course.ends != self.course.ends || calls.iter().any(again) {
            return Tie::Other;
        }
        if let (Some(own), Some(request)) = (self.request, request) {
            return if own == request { Tie::Same } else { Tie::Other };
        }
        // A line that grew is written again, with the calls that it had.
        if course == self.course || calls.iter().any(|call| self.calls.contains(&whole(call))) {
            return Tie::Same;
        }
        if self.stopped { Tie::Other } else { Tie::Unclear }
    }
}

/// Places of the first and the last result of each call, by hashes of their ids.
struct Answered(HashMap<u64, (usize, usize)>);

fn answered(entries: &[Option<Entry>]) -> Answered {
    let mut places: HashMap<u64, (usize, usize)> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        let answers = entry.as_ref().and_then(Entry::blocks).map_or(&[][..], |blocks| &blocks.answers);
        for id in answers.iter().filter_map(|answer| answer.id.as_deref()) {
            places.entry(digest(id)).or_insert((at, at)).1 = at;
        }
    }
    Answered(places)
}

impl Answered {
    /// Whether a call with this id has a result before this place and one after it.
    fn around(&self, id: &str, at: usize) -> bool {
        self.0.get(&digest(id)).is_some_and(|(first, last)| *first < at && at < *last)
    }
}

fn whole(call: &BlockCall) -> u64 {
    digest((&call.id, &call.tool, call.input.raw()))
}
