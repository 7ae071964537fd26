//! Holds the spans of a file until their traces are complete: they come in any order, and a conversation may be several
//! traces.

use std::collections::{HashMap, HashSet};

use super::ancestry::{Key, Passed};
use super::conversation::Conversation;
use super::{Event, Part, Span, digest};
use crate::diagnostic::{Diagnostic, Severity};
use crate::recording::contract::out::Out;
use crate::recording::contract::setting::Setting;
use crate::session::Damage;
use crate::session::build::Builder;

/// The traces of one file.
pub struct Traces {
    setting: Setting,
    open: Vec<Trace>,
    /// Places in `open`, by trace.
    places: HashMap<Box<str>, usize>,
    /// Bytes of the spans that have come, and of those that are held.
    bytes: usize,
    held: usize,
    /// Bytes at which some are given out.
    most: usize,
    /// A session longer than this many bytes may be handed on in parts.
    parts_beyond: Option<usize>,
    /// Bytes of spans that are to be held before it is tried again.
    patience: usize,
    /// The conversation that is, and the trace that it begins with.
    long: Option<(Conversation, Box<str>)>,
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
    /// Place among those that are open.
    place: usize,
    /// Whether a span of a run has come.
    has_run: bool,
    /// The conversation that it belongs to, as the first span in time says that names one.
    conversation: Option<(Option<i64>, Box<str>)>,
}

#[derive(Default)]
struct Aside {
    count: u64,
    line: u32,
}

/// Bytes of spans that are held for those that may follow.
const MOST_HELD: usize = 8 << 20;

/// An event that stands apart from its span.
pub struct Apart {
    /// Trace and id of the span.
    pub span: Key,
    pub event: Event,
    pub line: u32,
}

impl Traces {
    /// For one file.
    pub fn new(setting: &Setting) -> Traces {
        Traces {
            setting: setting.clone(),
            open: Vec::new(),
            places: HashMap::new(),
            bytes: 0,
            held: 0,
            most: MOST_HELD,
            parts_beyond: None,
            patience: 0,
            long: None,
            clock: 0,
            closed: HashSet::new(),
            aside: Aside::default(),
        }
    }

    /// Adds a span. One that is given twice is read once.
    pub fn add(&mut self, span: Span) {
        let place = self.place(&span.trace, span.line);
        let wrong = span.attributes.wrong().map(Damage::calls);
        let wrong = wrong.map(|damage| self.setting.damaged_line(span.line, damage));
        let Some(trace) = self.open.get_mut(place) else { return };
        trace.diagnostics.extend(wrong);
        if !span.id.is_empty() && !trace.ids.insert(span.id.clone()) {
            trace.repeated += 1;
            return;
        }
        if span.part() != Part::Other
            && let Some(name) = span.conversation()
            && trace.conversation.as_ref().is_none_or(|(start, _)| span.start < *start)
        {
            trace.conversation = Some((span.start, name.as_ref().into()));
        }
        let size = if span.part() == Part::Other {
            let size = span.trace.len() + 2 * span.id.len() + 200;
            trace.passed.insert((span.trace.clone(), span.id.clone()), span.parent.clone());
            size
        } else {
            let size = span.size();
            trace.spans.push(span);
            trace.has_run = true;
            self.held += size;
            size
        };
        if let Some(trace) = self.open.get_mut(place) {
            trace.bytes += size;
        }
        self.bytes += size;
    }

    /// Says what is wrong with a trace.
    pub fn tell(&mut self, trace: &str, line: u32, diagnostic: Diagnostic) {
        let place = self.place(trace, line);
        if let Some(trace) = self.open.get_mut(place) {
            trace.diagnostics.push(diagnostic);
        }
    }

    /// Adds events to their spans, so far as these matter to a run. Gives those back whose span is not there.
    pub fn attach(&mut self, events: Vec<Apart>) -> Vec<Apart> {
        // Where the spans of each trace stand, which is looked at once for all of them.
        let mut known: HashMap<usize, HashMap<Box<str>, usize>> = HashMap::new();
        let mut left = Vec::new();
        for apart in events {
            let (trace, id) = &apart.span;
            if let Some((long, _)) = &mut self.long {
                long.adds_to(trace, id);
            }
            let place = self.places.get(trace).copied();
            let found = place.and_then(|place| {
                let spans = &mut self.open.get_mut(place)?.spans;
                let places = known.entry(place).or_insert_with(|| {
                    spans.iter().enumerate().map(|(at, span)| (span.id.clone(), at)).collect()
                });
                spans.get_mut(*places.get(id)?)
            });
            match found {
                Some(span) => span.events.push(apart.event),
                None => left.push(apart),
            }
        }
        left
    }

    /// Whether so much is held that some of it is about to be told.
    pub fn is_full(&self) -> bool {
        self.most_held().is_some_and(|most| self.held > most.max(self.patience))
    }

    /// Bytes of spans beyond which some are told.
    fn most_held(&self) -> Option<usize> {
        self.parts_beyond.map(|most| most.saturating_mul(2).min(MOST_HELD))
    }

    /// Gives out the conversations that were added to longest ago, where too much is held. The latest one stays.
    pub fn settle(&mut self, out: &mut Out) {
        if self.bytes > self.most {
            self.give_out(out);
        }
        self.tell_some(out);
    }

    /// The conversation that is handed on in parts, where sessions longer than so many bytes may be.
    pub fn long(&mut self, most: usize) -> Option<&mut Builder> {
        self.parts_beyond = Some(most);
        self.long.as_mut().map(|(long, _)| &mut long.builder)
    }

    fn give_out(&mut self, out: &mut Out) {
        let mut conversations = grouped(std::mem::take(&mut self.open));
        let touched = |traces: &Vec<Trace>| traces.iter().map(|trace| trace.touched).max();
        conversations.sort_by_key(touched);
        let mut conversations = conversations.into_iter();
        let mut gone = Vec::new();
        while self.bytes > MOST_HELD / 2
            && conversations.len() > 1
            && let Some(oldest) = conversations.next()
        {
            self.bytes -= oldest.iter().map(|trace| trace.bytes).sum::<usize>();
            gone.push(oldest);
        }
        self.open = conversations.flatten().collect();
        let named = self.open.iter().enumerate().map(|(place, trace)| (trace.id.clone(), place));
        self.places = named.collect();
        self.most = MOST_HELD.max(2 * self.bytes);
        self.close(gone, out);
        self.held = self.open.iter().flat_map(|trace| &trace.spans).map(Span::size).sum();
        self.patience = 0;
    }

    /// Tells the oldest responses of a conversation that is too long to be held.
    fn tell_some(&mut self, out: &Out) {
        let Some(most) = self.most_held().filter(|_| self.is_full()) else { return };
        for (place, trace) in self.open.iter_mut().enumerate() {
            trace.place = place;
        }
        let mut conversations = grouped(std::mem::take(&mut self.open));
        let size =
            |traces: &[Trace]| traces.iter().flat_map(|trace| &trace.spans).map(Span::size).sum::<usize>();
        let largest = match &self.long {
            Some((_, first)) => conversations.iter_mut().find(|traces| is_of(traces, first)),
            None => conversations.iter_mut().max_by_key(|traces| size(traces)),
        };
        let before = largest.as_deref().map_or(0, |traces| size(traces));
        let mut told = false;
        if let Some(traces) = largest.filter(|_| before > most / 2)
            && let Some(first) = traces.first()
        {
            let (long, _) = self.long.get_or_insert_with(|| {
                let line = traces.iter().map(|trace| trace.line).min().unwrap_or(1);
                let id = conversation(first).unwrap_or(&first.id);
                (Conversation::new(self.setting.session_at(id, line, out)), first.id.clone())
            });
            let after = long.settle(traces, before, most / 2, &self.setting);
            told = after < before;
            self.held = self.held.saturating_sub(before) + after;
        }
        self.patience = if told { self.held + most / 2 } else { 2 * self.held };
        let mut open: Vec<Trace> = conversations.into_iter().flatten().collect();
        open.sort_by_key(|trace| trace.place);
        self.open = open;
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
            let (runs, aside): (Vec<_>, Vec<_>) = traces.into_iter().partition(|trace| trace.has_run);
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
            let Some(first) = runs.first() else { continue };
            let id = conversation(first).unwrap_or(&first.id).to_owned();
            let long = match self.long.take_if(|(_, first)| is_of(&runs, first)) {
                Some((long, _)) => long,
                None => {
                    let line = runs.iter().map(|trace| trace.line).min().unwrap_or(1);
                    Conversation::new(self.setting.session_at(&id, line, out))
                }
            };
            long.close(&id, runs, &self.setting, out);
        }
    }

    /// The place of the trace of this id.
    fn place(&mut self, id: &str, line: u32) -> usize {
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
        if let Some(trace) = self.open.get_mut(place) {
            trace.touched = self.clock;
        }
        place
    }
}

/// Traces of one conversation together, in the order in which they began.
fn grouped(traces: Vec<Trace>) -> Vec<Vec<Trace>> {
    let mut conversations: Vec<Vec<Trace>> = Vec::new();
    let mut places: HashMap<Box<str>, usize> = HashMap::new();
    for trace in traces {
        let name: Option<Box<str>> = conversation(&trace).map(Into::into);
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

/// The conversation that a trace belongs to.
fn conversation(trace: &Trace) -> Option<&str> {
    trace.conversation.as_ref().map(|(_, name)| &**name)
}

/// Whether one of these is the trace of this id.
fn is_of(traces: &[Trace], id: &str) -> bool {
    traces.iter().any(|trace| *trace.id == *id)
}
