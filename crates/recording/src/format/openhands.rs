//! Events of OpenHands: a list or JSON Lines of them, or an object that has them in `history`.
//!
//! There are two generations, distinguished event by event: the older one has `action` or `observation`, the newer one
//! (its SDK) a `kind`. Both become a [`Run`]. A response with several calls is one event per call, and the older
//! generation runs each before it writes the next: results are held until the response is over, so that its calls are
//! one turn.

mod events;
mod run;
mod sdk;

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::input::time;
use crate::shape::bare::Bare;
use crate::shape::unknown::Unknown;
use rulestep_base::diagnostic::{Diagnostic, Loss};
use run::Run;

pub(crate) const FORMAT: Format = Format {
    name: "openhands",
    title: "events of OpenHands",
    source: "`~/.openhands/conversations/*/events/`, or the trajectory that its interface downloads",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

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

/// State that the program keeps beside the events of a conversation.
fn is_state(object: &Members<'_>) -> bool {
    !object.has("kind") && object.has("id") && object.has("agent") && object.has("persistence_dir")
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(OpenHands { setting: setting.clone(), open: Bare::default(), unknown: Unknown::default() })
}

struct OpenHands {
    setting: Setting,
    /// The session of events that are not in an envelope.
    open: Bare<Run>,
    unknown: Unknown,
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
            // Each pair is a list of its own.
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
        if list.is_none() && is_state(members) {
            return self.state(unit, out);
        }
        if list.is_none() && !is_event(members) {
            return out.diagnostics(self.setting.foreign(unit, "no event"));
        }
        if self.open.is_of_another(unit.list) {
            self.close(out);
        }
        let mut run = self.open.begin(&self.setting, unit, out, Run::new);
        match list {
            Some(pair) => self.events(pair, unit.line, &mut run),
            None => self.event(members, unit.line, &mut run),
        }
        self.open.put(run, unit);
    }

    fn damaged(&mut self, diagnostic: Diagnostic, out: &mut Out) {
        self.open.damaged(diagnostic, out);
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
        self.unknown.tell(&self.setting, out);
    }
}

impl OpenHands {
    /// State that is kept of a conversation before its events.
    fn state(&mut self, unit: &Unit<'_>, out: &mut Out) {
        self.close(out);
        let members = &unit.members;
        let mut run = self.open.begin(&self.setting, unit, out, Run::new);
        run.builder.id(members.get("id").and_then(Node::id).unwrap_or_default().as_ref());
        let inner = |of: &str, key: &str| members.try_get(of)?.tried().members()?.get(key)?.value();
        if let Some(folder) = inner("workspace", "working_dir") {
            run.builder.context("cwd", folder);
        }
        let model =
            members.try_get("agent").and_then(|agent| agent.tried().members()?.try_get("llm")?.members());
        if let Some(model) = model.and_then(|llm| llm.get("model")?.value()) {
            run.builder.context("model", model);
        }
        self.open.put(run, unit);
    }

    fn close(&mut self, out: &mut Out) {
        if let Some(mut run) = self.open.take() {
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
            self.unknown.note_action(&kind, line);
        }
    }
}
