//! Events of OpenHands: a list or JSON Lines of them, or an object that has them in `history`.
//!
//! Two generations, told apart event by event: the older one has `action` or `observation`, the newer one (its SDK) a
//! `kind`. What both come to is a [`Run`]. A response with several calls stands as one event a call, and the older
//! generation runs each before it writes the next: results are held until the response is over, so that its calls are
//! one turn.

mod events;
mod sdk;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Diagnostic, Loss};
use crate::recording::contract::out::Out;
use crate::recording::contract::setting::Setting;
use crate::recording::contract::{Format, Reader, Sample, Unit};
use crate::recording::input::shallow::{Kind, Members, Node};
use crate::recording::input::time;
use crate::recording::shape::chat::Lines;
use crate::recording::shape::unknown::Unknown;
use crate::session::build::{Builder, Mark};
use crate::session::{Body, Millis};

pub(in crate::recording) const FORMAT: Format =
    Format { name: "openhands", absent_without_results: false, recognise, reader };

/// Keys under which an object holds the events of a session.
const EVENTS: [&str; 3] = ["history", "events", "trajectory"];

fn recognise(sample: &Sample<'_>) -> bool {
    sample
        .objects()
        .any(|value| is_event(value) || EVENTS.iter().any(|key| value.get(key).is_some_and(are_events)))
        || sample.lists().any(are_events)
}

/// A list of events, or of pairs of them.
fn are_events(list: Node<'_>) -> bool {
    let first = list.first_item();
    let event = first.and_then(|first| first.first_item().or(Some(first)));
    event.and_then(Node::members).is_some_and(|event| is_event(&event))
}

fn is_event(event: &Members<'_>) -> bool {
    events::is_event(event) || sdk::is_event(event)
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(OpenHands { setting: setting.clone(), open: None, unknown: Unknown::default() })
}

struct OpenHands {
    setting: Setting,
    /// The session that events by themselves add up to, and the list they stand in.
    open: Option<(Run, Option<u32>)>,
    unknown: Unknown,
}

/// A session that is being read.
struct Run {
    builder: Builder,
    /// The response whose calls are being read.
    response: Option<Box<str>>,
    /// Results that stand before the end of the response.
    held: Vec<Held>,
    /// Ids of calls, by the ids of their events.
    calls: HashMap<Box<str>, Option<Box<str>>>,
    /// Events that are no calls of the agent, though they did something.
    aside: HashSet<Box<str>>,
}

struct Held {
    id: Option<Box<str>>,
    content: Body,
    mark: Mark,
    at: Option<Millis>,
    line: u32,
}

/// A call as either generation writes it.
struct Action<'a> {
    /// The response that proposes it, where it is known.
    response: Option<&'a str>,
    /// What is said beside it.
    content: Body,
    /// Id of the event.
    event: Option<&'a str>,
    id: Option<&'a str>,
    tool: &'a str,
    arguments: Body,
}

impl Reader for OpenHands {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let list = if unit.node.kind() == Kind::List {
            Some(unit.node)
        } else {
            EVENTS.iter().find_map(|key| members.get(key)).filter(|_| !is_event(members))
        };
        if let Some(list) = list {
            // Pairs stand each in a list of its own.
            let pair = unit.list.is_some() && unit.node.kind() == Kind::List;
            if !pair {
                self.close(out);
                let id = members.any(&["instance_id", "conversation_id", "id"]).and_then(Node::id);
                let mut run = Run::new(self.setting.session(&id.unwrap_or_default(), unit, out));
                self.events(list, unit.line, &mut run);
                run.flush();
                return out.session(run.builder);
            }
        }
        if list.is_none() && !is_event(members) {
            return out.diagnostics(self.setting.foreign(unit, "no event"));
        }
        if self.open.as_ref().is_some_and(|(_, list)| *list != unit.list) {
            self.close(out);
        }
        let (mut run, place) = self
            .open
            .take()
            .unwrap_or_else(|| (Run::new(self.setting.session_at("", unit.line, out)), unit.list));
        unit.diagnostics.iter().cloned().for_each(|diagnostic| run.builder.diagnostic(diagnostic));
        match list {
            Some(pair) => self.events(pair, unit.line, &mut run),
            None => self.event(members, unit.line, &mut run),
        }
        self.open = Some((run, place));
    }

    fn damaged(&mut self, diagnostic: Diagnostic, out: &mut Out) {
        match &mut self.open {
            Some((run, _)) => run.builder.diagnostic(diagnostic),
            None => out.diagnostic(diagnostic),
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
        self.unknown.tell(&self.setting, out);
    }
}

impl OpenHands {
    fn close(&mut self, out: &mut Out) {
        if let Some((mut run, _)) = self.open.take() {
            run.flush();
            out.session(run.builder);
        }
    }

    /// The events of a list, or of pairs in it.
    fn events(&mut self, list: Node<'_>, line: u32, run: &mut Run) {
        let mut lines = Lines::new(list, line);
        let Some(items) = list.items() else {
            return run
                .builder
                .lost(Loss::MayHoldCalls, format!("the events are {}, not a list", list.said_kind()));
        };
        for item in items {
            let line = lines.of(item);
            for event in item.items().unwrap_or_else(|| vec![item]) {
                match event.members() {
                    Some(members) => self.event(&members, line, run),
                    None => {
                        let word = event.said_kind();
                        let odd = format!("an event is {word}, not an object; it is left out");
                        run.builder.at_line(line).lost(Loss::MayHoldCalls, odd);
                    }
                }
            }
        }
    }

    fn event(&mut self, event: &Members<'_>, line: u32, run: &mut Run) {
        run.builder.at_line(line);
        let at = time::of(event, &["timestamp"]).unwrap_or_else(|odd| {
            run.builder.damaged(odd);
            None
        });
        let unknown = if event.has("kind") && sdk::is_event(event) {
            sdk::event(event, at, &self.setting, run)
        } else {
            events::event(event, at, &self.setting, run)
        };
        if let Some(kind) = unknown {
            self.unknown.note(&kind, line);
        }
    }
}

impl Run {
    fn new(mut builder: Builder) -> Run {
        // Both generations have a kind of their own for what failed.
        builder.mark_errors();
        Run { builder, response: None, held: Vec::new(), calls: HashMap::new(), aside: HashSet::new() }
    }

    /// A call. Gives whether it is the first of its response.
    fn act(&mut self, action: Action<'_>, at: Option<Millis>) -> bool {
        let Action { response, content, event, id, tool, arguments } = action;
        let begins = response.is_none() || self.response.as_deref() != response;
        if begins {
            self.flush();
            self.builder.response(response, content, at);
            self.response = response.map(Into::into);
        } else if let Some(response) = response {
            self.builder.ensure_response(response, at);
        }
        let id = id.or(event);
        self.builder.call(id, tool, arguments, at);
        if let Some(event) = event {
            self.calls.insert(event.into(), id.map(Box::from));
        }
        begins
    }

    /// A result, for as long as calls of the same response may follow.
    fn answer(&mut self, id: Option<Box<str>>, content: Body, mark: Mark, at: Option<Millis>) {
        let line = self.builder.line();
        self.held.push(Held { id, content, mark, at, line });
    }

    /// Something said by anybody but the model.
    fn said(&mut self, role: &str, content: Body, at: Option<Millis>) {
        self.flush();
        self.builder.said(role, content, at);
    }

    /// Something said by the model alone.
    fn reply(&mut self, content: Body, at: Option<Millis>) {
        self.flush();
        self.builder.response(None, content, at);
    }

    /// The response is over: its results follow.
    fn flush(&mut self) {
        self.response = None;
        let line = self.builder.line();
        for Held { id, content, mark, at, line } in std::mem::take(&mut self.held) {
            self.builder.at_line(line).result(id.as_deref(), content, mark, at);
        }
        self.builder.at_line(line);
    }
}

/// Whether a command ended with a code that says it failed. A negative one is none: it says that the command was still
/// running when the agent looked.
fn failed_with(code: Option<Node<'_>>) -> Option<bool> {
    let code: i64 = code?.number()?;
    Some(code > 0)
}

/// An id that is not empty.
fn id_of<'a>(members: &Members<'a>, key: &str) -> Option<Cow<'a, str>> {
    members.get(key).and_then(Node::id).filter(|id| !id.is_empty())
}
