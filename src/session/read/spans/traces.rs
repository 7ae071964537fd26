//! Holds the spans of a file until their traces are complete: they come in any order, and a conversation may be several
//! traces.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::ancestry::Passed;
use super::{Part, Span, turns};
use crate::diagnostic::{Diagnostic, Severity};
use crate::session::read::Out;
use crate::session::read::setting::Setting;

/// The traces of one file.
pub struct Traces {
    setting: Setting,
    open: Vec<Trace>,
    /// Places in `open`, by trace.
    places: HashMap<Box<str>, usize>,
    bytes: usize,
    /// Bytes at which some are given out.
    most: usize,
    /// Spans so far.
    clock: u64,
    /// Digests of the traces that were given out before the file's end.
    closed: HashSet<u64>,
    /// Traces without a span of a model, a tool or an agent.
    aside: Aside,
}

/// A trace that is being read.
#[derive(Default)]
pub struct Trace {
    /// Its id.
    pub id: Box<str>,
    /// Spans that matter to an agent's run.
    pub spans: Vec<Span>,
    /// Parents of the others.
    pub passed: Passed,
    /// Line of its first span.
    pub line: u32,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
    /// Spans of it were given out before.
    pub continues: bool,
    /// When it was added to last.
    touched: u64,
    bytes: usize,
    /// Ids of its spans.
    ids: HashSet<Box<str>>,
    repeated: u64,
}

#[derive(Default)]
struct Aside {
    count: u64,
    line: u32,
}

/// Bytes of spans that are held for those that may follow.
const MOST_HELD: usize = 8 << 20;

impl Traces {
    /// For one file.
    pub fn new(setting: &Setting) -> Traces {
        Traces {
            setting: setting.clone(),
            open: Vec::new(),
            places: HashMap::new(),
            bytes: 0,
            most: MOST_HELD,
            clock: 0,
            closed: HashSet::new(),
            aside: Aside::default(),
        }
    }

    /// Adds a span. One that is given twice is read once.
    pub fn add(&mut self, span: Span) {
        let Some(trace) = self.trace(&span.trace, span.line) else { return };
        if !span.id.is_empty() && !trace.ids.insert(span.id.clone()) {
            trace.repeated += 1;
            return;
        }
        let size = if span.part() == Part::Other {
            let size = span.trace.len() + 2 * span.id.len() + 200;
            trace.passed.insert((span.trace.clone(), span.id.clone()), span.parent.clone());
            size
        } else {
            let size = span.size();
            trace.spans.push(span);
            size
        };
        trace.bytes += size;
        self.bytes += size;
    }

    /// Says what is wrong with a trace.
    pub fn tell(&mut self, trace: &str, line: u32, diagnostic: Diagnostic) {
        if let Some(trace) = self.trace(trace, line) {
            trace.diagnostics.push(diagnostic);
        }
    }

    /// The span of this id, if it matters to a run, to add events to.
    pub fn span(&mut self, trace: &str, id: &str) -> Option<&mut Span> {
        let place = *self.places.get(trace)?;
        self.open.get_mut(place)?.spans.iter_mut().rev().find(|span| &*span.id == id)
    }

    /// Gives out the conversations that were added to longest ago, where too much is held. The latest one stays.
    pub fn settle(&mut self, out: &mut Out) {
        if self.bytes <= self.most {
            return;
        }
        let mut conversations = grouped(std::mem::take(&mut self.open));
        let touched = |traces: &Vec<Trace>| traces.iter().map(|trace| trace.touched).max();
        conversations.sort_by_key(touched);
        let mut gone = Vec::new();
        while self.bytes > MOST_HELD / 2 && conversations.len() > 1 {
            let oldest = conversations.remove(0);
            self.bytes -= oldest.iter().map(|trace| trace.bytes).sum::<usize>();
            gone.push(oldest);
        }
        self.open = conversations.into_iter().flatten().collect();
        let named = self.open.iter().enumerate().map(|(place, trace)| (trace.id.clone(), place));
        self.places = named.collect();
        self.most = MOST_HELD.max(2 * self.bytes);
        self.close(gone, out);
    }

    /// The file has ended.
    pub fn end(&mut self, out: &mut Out) {
        let conversations = grouped(std::mem::take(&mut self.open));
        self.close(conversations, out);
        let Aside { count, line } = std::mem::take(&mut self.aside);
        if count > 0 {
            let what = match count {
                1 => "a trace has no span of a model, a tool or an agent, and is no session".to_owned(),
                _ => {
                    format!("{count} traces have no span of a model, a tool or an agent, and are no sessions")
                }
            };
            out.diagnostic(self.setting.damaged_line(line, what).severity(Severity::Notice));
        }
    }

    /// Gives out conversations, in the order in which they began in the file.
    fn close(&mut self, mut conversations: Vec<Vec<Trace>>, out: &mut Out) {
        conversations.sort_by_key(|traces| traces.iter().map(|trace| trace.line).min());
        for traces in conversations {
            let (runs, aside): (Vec<_>, Vec<_>) =
                traces.into_iter().partition(|trace| !trace.spans.is_empty());
            for trace in aside {
                if self.aside.count == 0 {
                    self.aside.line = trace.line;
                }
                self.aside.count += 1;
                out.diagnostics(trace.diagnostics);
            }
            for trace in &runs {
                self.closed.insert(digest(&trace.id));
                if trace.repeated > 0 {
                    let message = format!("{} spans are given again; each is read once", trace.repeated);
                    out.diagnostic(self.setting.damaged_line(trace.line, message));
                }
            }
            if let Some(first) = runs.first() {
                let id = conversation(first).unwrap_or_else(|| first.id.clone());
                turns::session(&id, runs, &self.setting, out);
            }
        }
    }

    /// The trace of this id.
    fn trace(&mut self, id: &str, line: u32) -> Option<&mut Trace> {
        self.clock += 1;
        let place = match self.places.get(id) {
            Some(place) => *place,
            None => {
                let continues = self.closed.contains(&digest(id));
                self.places.insert(id.into(), self.open.len());
                self.open.push(Trace { id: id.into(), line, continues, ..Trace::default() });
                self.open.len() - 1
            }
        };
        let trace = self.open.get_mut(place)?;
        trace.touched = self.clock;
        Some(trace)
    }
}

/// Traces of one conversation together, in the order in which they began.
fn grouped(traces: Vec<Trace>) -> Vec<Vec<Trace>> {
    let mut conversations: Vec<Vec<Trace>> = Vec::new();
    let mut places: HashMap<Box<str>, usize> = HashMap::new();
    for trace in traces {
        let name = conversation(&trace);
        let place = name.as_ref().and_then(|name| places.get(name));
        if let Some(traces) = place.and_then(|place| conversations.get_mut(*place)) {
            traces.push(trace);
            continue;
        }
        if let Some(name) = name {
            places.insert(name, conversations.len());
        }
        conversations.push(vec![trace]);
    }
    conversations
}
/// The conversation that a trace belongs to, as the first of its spans says that names one.
fn conversation(trace: &Trace) -> Option<Box<str>> {
    let named = trace.spans.iter().filter_map(|span| Some((span.start, span.conversation()?)));
    named.min_by_key(|(start, _)| *start).map(|(_, name)| name.as_ref().into())
}

fn digest(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}
