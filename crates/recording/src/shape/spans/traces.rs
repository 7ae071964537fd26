//! Holds the spans of a file until their traces are complete: they come in any order, and a conversation may be several
//! traces.

use std::collections::{HashMap, HashSet};

use super::ancestry::{Key, Passed};
use super::conversation;
use super::{Event, Part, Span, digest, mlflow};
use crate::contract::out::Out;
use crate::contract::setting::Setting;
use rulestep_base::diagnostic::{Diagnostic, Severity};
use rulestep_base::session::Damage;
use rulestep_base::source::quoted;

/// The traces of one file.
pub struct Traces {
    setting: Setting,
    open: Vec<Trace>,
    /// Places in `open`, by trace.
    places: HashMap<Box<str>, usize>,
    /// Bytes of the spans that are held.
    bytes: usize,
    /// Bytes at which some are given out.
    most: usize,
    /// Spans so far.
    clock: u64,
    /// Digests of the traces that were given out before the file's end.
    closed: HashSet<u64>,
    /// Traces without a span of a model, a tool or an agent.
    aside: Untraced,
}

/// A trace that is being read.
#[derive(Default)]
struct Trace {
    /// Its id.
    id: Box<str>,
    /// Spans that matter to an agent's run.
    spans: Vec<Span>,
    /// Parents of the others.
    passed: Passed,
    /// Line of its first span.
    line: u32,
    /// Its damage.
    diagnostics: Vec<Diagnostic>,
    /// Whether some of its spans were returned before.
    continues: bool,
    /// When it was added to last.
    touched: u64,
    bytes: usize,
    /// Its spans by their ids: the indices of those that matter, and whether they had ended.
    ids: HashMap<Box<str>, (Option<usize>, bool)>,
    repeated: u64,
    /// Whether a span of a run has come.
    has_run: bool,
    /// The conversation that it belongs to, as the first span in time says that names one.
    conversation: Option<(Option<i64>, Box<str>)>,
}

#[derive(Default)]
struct Untraced {
    count: u64,
    line: u32,
}

/// Bytes of spans that are held for those that may follow.
const MOST_HELD: usize = 8 << 20;

/// An event that is recorded separately from its span.
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
            most: MOST_HELD,
            clock: 0,
            closed: HashSet::new(),
            aside: Untraced::default(),
        }
    }

    /// Adds a span. A repeated span is read once, in its ended form if the first had not ended.
    pub fn add(&mut self, mut span: Span) {
        let place = self.place(&span.trace, span.line);
        let unread = mlflow::translate(&mut span);
        let wrong = span.attributes.wrong().map(Damage::calls).into_iter().chain(unread);
        let wrong = wrong.map(|damage| self.setting.damaged_line(span.line, damage));
        let Some(trace) = self.open.get_mut(place) else { return };
        trace.diagnostics.extend(wrong);
        let known = trace.ids.get(&span.id).copied().filter(|_| !span.id.is_empty());
        // Some write a span when it begins, and again with all members at its end.
        let begun = known.filter(|(_, ended)| !ended && span.end.is_some()).map(|(place, _)| place);
        if known.is_some() && begun.is_none() {
            trace.repeated += 1;
            if span.part() == Part::Tool
                && let Some(other) = known.and_then(|(place, _)| trace.spans.get(place?))
                && other.tool() != span.tool()
            {
                let (tool, other) = (quoted(&span.tool()).to_string(), quoted(&other.tool()).to_string());
                let lost = format!("a call of {tool} has the span id of one of {other}; it is left out");
                trace.diagnostics.push(self.setting.damaged_line(span.line, Damage::calls(lost)));
            }
            return;
        }
        if span.part() != Part::Other
            && let Some(name) = span.conversation()
            && trace.conversation.as_ref().is_none_or(|(start, _)| span.start < *start)
        {
            trace.conversation = Some((span.start, name.as_ref().into()));
        }
        let (id, ended) = (span.id.clone(), span.end.is_some());
        let mut stands = begun.flatten();
        let size = match stands.and_then(|at| trace.spans.get_mut(at)) {
            Some(begun) => {
                let size = span.size();
                begun.ends_as(span);
                size
            }
            None if span.part() == Part::Other => {
                let size = span.trace.len() + 2 * span.id.len() + 200;
                trace.passed.insert((span.trace.clone(), span.id.clone()), span.parent.clone());
                size
            }
            None => {
                let size = span.size();
                trace.passed.remove(&(span.trace.clone(), span.id.clone()));
                stands = Some(trace.spans.len());
                trace.spans.push(span);
                trace.has_run = true;
                size
            }
        };
        if !id.is_empty() {
            trace.ids.insert(id, (stands, ended));
        }
        if let Some(trace) = self.open.get_mut(place) {
            trace.bytes += size;
        }
        self.bytes += size;
    }

    /// Reports the problems of a trace.
    pub fn tell(&mut self, trace: &str, line: u32, diagnostic: Diagnostic) {
        let place = self.place(trace, line);
        if let Some(trace) = self.open.get_mut(place) {
            trace.diagnostics.push(diagnostic);
        }
    }

    /// Adds events to their spans, so far as these matter to a run. Returns those whose span is not there.
    pub fn attach(&mut self, events: Vec<Apart>) -> Vec<Apart> {
        // The spans of each trace by id, indexed once for all of them.
        let mut known: HashMap<usize, HashMap<Box<str>, usize>> = HashMap::new();
        let mut left = Vec::new();
        for apart in events {
            let (trace, id) = &apart.span;
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

    /// Returns the conversations that were added to longest ago, if too much is held. The latest one stays.
    pub fn settle(&mut self, out: &mut Out) {
        if self.bytes > self.most {
            self.give_out(out);
        }
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
    }

    /// The file has ended.
    pub fn end(&mut self, out: &mut Out) {
        let conversations = grouped(std::mem::take(&mut self.open));
        self.close(conversations, out);
        let Untraced { count, line } = std::mem::take(&mut self.aside);
        if count > 0 {
            let what = match count {
                1 => "a trace has no span of a model, a tool or an agent, so it is not a session".to_owned(),
                _ => {
                    format!(
                        "{count} traces have no span of a model, a tool or an agent, so they are not sessions"
                    )
                }
            };
            out.diagnostic(self.setting.damaged_line(line, what).severity(Severity::Notice));
        }
    }

    /// Returns conversations, in the order in which they began in the file.
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
                    let message = format!("{} spans are repeated; each is read once", trace.repeated);
                    out.diagnostic(self.setting.damaged_line(trace.line, message));
                }
            }
            let Some(first) = runs.first() else { continue };
            let line = runs.iter().map(|trace| trace.line).min().unwrap_or(1);
            let mut builder = self.setting.session_at(name(first).unwrap_or(&first.id), line, out);
            let (mut spans, mut passed) = (Vec::new(), Passed::new());
            for mut trace in runs {
                builder.at_line(trace.line);
                if trace.continues {
                    builder.starts_in_the_middle(
                        "earlier spans of the same trace are too far before these to be joined with them",
                    );
                }
                trace.diagnostics.into_iter().for_each(|odd| builder.diagnostic(odd));
                spans.append(&mut trace.spans);
                passed.extend(trace.passed.drain());
            }
            conversation::read(spans, &passed, &self.setting, &mut builder);
            out.session(builder);
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

/// Groups traces by conversation, in the order in which they began.
fn grouped(traces: Vec<Trace>) -> Vec<Vec<Trace>> {
    let mut conversations: Vec<Vec<Trace>> = Vec::new();
    let mut places: HashMap<Box<str>, usize> = HashMap::new();
    for trace in traces {
        let named: Option<Box<str>> = name(&trace).map(Into::into);
        let place = named.as_ref().and_then(|name| places.get(name));
        if let Some(traces) = place.and_then(|place| conversations.get_mut(*place)) {
            traces.push(trace);
            continue;
        }
        if let Some(name) = named {
            places.insert(name, conversations.len());
        }
        conversations.push(vec![trace]);
    }
    conversations
}

/// The conversation that a trace belongs to.
fn name(trace: &Trace) -> Option<&str> {
    trace.conversation.as_ref().map(|(_, name)| &**name)
}
