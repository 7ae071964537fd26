//! One episode: its steps while they are read, and the session that they come to.
//!
//! Of one that is too long to be held the oldest steps are taken for what they are by then. What comes for one of those
//! afterwards makes the file be read again.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Call, at, call, give};
use crate::diagnostic::{Diagnostic, Loss};
use crate::recording::contract::Unit;
use crate::recording::contract::out::Out;
use crate::recording::contract::setting::Setting;
use crate::recording::input::digest::digest;
use crate::recording::input::shallow::{Members, Node};
use crate::session::build::Builder;
use crate::session::{Body, Millis};

/// What stands for the prompt of an episode that was made of a log without one.
const NO_PROMPT: &str = "<mcp:session>";

/// An episode that is being read.
pub struct Episode {
    /// What is known of it.
    pub builder: Builder,
    /// What the episode came to, as its end says.
    pub output: Option<Body>,
    steps: Vec<Step>,
    /// Places of the steps, by id.
    places: HashMap<Box<str>, usize>,
    /// Bytes of the lines of the steps.
    bytes: usize,
    /// Bytes of steps that are to be held before it is tried again to settle some.
    patience: usize,
    settled: Settled,
    /// The last thing that was said or that a call gave back.
    last: Option<Value>,
}

struct Step {
    id: Box<str>,
    order: Option<u64>,
    at: Option<Millis>,
    line: u32,
    /// Bytes of its lines.
    bytes: usize,
    /// Of an answer of the model; else this is a call.
    said: Option<Body>,
    /// The tool that the step itself names.
    tool: Option<Box<str>>,
    calls: Vec<Call>,
}

/// Steps that are held no longer.
#[derive(Default)]
struct Settled {
    count: usize,
    /// Hashes of their ids.
    ids: HashSet<u64>,
    /// The greatest of their numbers.
    order: Option<u64>,
    /// One of them has no number, so steps stand in the order of the file.
    unordered: bool,
    /// What was told of them.
    told: Vec<Diagnostic>,
}

impl Episode {
    /// An episode without steps.
    pub fn new(builder: Builder) -> Episode {
        Episode {
            builder,
            output: None,
            steps: Vec::new(),
            places: HashMap::new(),
            bytes: 0,
            patience: 0,
            settled: Settled::default(),
            last: None,
        }
    }

    /// Bytes that are held, about.
    pub fn held(&self) -> usize {
        self.bytes + self.builder.held()
    }

    /// The line that it begins with.
    pub fn start(&mut self, line: &Members<'_>) {
        let at = at(line, &mut self.builder);
        let input = line.get("input");
        let prompt = input.and_then(Node::members).and_then(|input| input.get("prompt")).or(input);
        if let Some(prompt) = prompt.filter(|prompt| prompt.text().is_none_or(|text| text != NO_PROMPT)) {
            self.builder.said("user", Body::json(prompt.json()), at);
        }
        for (name, value) in line.get("meta").and_then(Node::members).iter().flat_map(Members::iter) {
            if name != "episode_id"
                && let Some(value) = value.value()
            {
                self.builder.context_once(name, value);
            }
        }
    }

    /// A line that is a step.
    pub fn step(&mut self, unit: &Unit<'_>) {
        let line = &unit.members;
        let at = at(line, &mut self.builder);
        let kind = line.get("kind").and_then(Node::text).unwrap_or_default();
        if kind.is_empty() {
            let message = "a step does not say of which kind it is; it is read as an answer of the model";
            self.builder.lost(Loss::MayHoldCalls, message);
        }
        let order = line.get("idx").and_then(Node::number);
        let content = line.get("content").map_or(Body::MISSING, |content| Body::json(content.json()));
        let is_tool = kind.starts_with("tool");
        let name = line.get("name").and_then(Node::text).filter(|name| is_tool && !name.is_empty());
        let Some(step) = self.step_of(unit) else { return };
        step.order = order;
        step.at = at;
        step.tool = name.map(|name| name.as_ref().into());
        step.said = (!is_tool).then_some(content);
    }

    /// A line that is a call.
    pub fn call(&mut self, unit: &Unit<'_>) {
        let at = at(&unit.members, &mut self.builder);
        let call = call(&unit.members, at, unit.line);
        let Some(step) = self.step_of(unit) else { return };
        step.at = step.at.or(at);
        step.calls.push(call);
    }

    /// The step that a line belongs to; one without an id stands for itself.
    fn step_of(&mut self, unit: &Unit<'_>) -> Option<&mut Step> {
        let id = unit.members.get("step_id").and_then(Node::id).unwrap_or_default();
        let known = self.places.get(&*id).filter(|_| !id.is_empty()).copied();
        let place = known.unwrap_or_else(|| {
            if self.settled.ids.contains(&digest(&id)) {
                self.builder.spoil();
            }
            let place = self.settled.count + self.steps.len();
            let (order, at, said, tool, calls) = (None, None, None, None, Vec::new());
            self.steps.push(Step {
                id: id.as_ref().into(),
                order,
                at,
                line: unit.line,
                bytes: 0,
                said,
                tool,
                calls,
            });
            self.places.insert(id.as_ref().into(), place);
            place
        });
        let bytes = unit.node.json().len() + 128;
        self.bytes += bytes;
        let step = self.steps.get_mut(place.checked_sub(self.settled.count)?)?;
        step.bytes += bytes;
        Some(step)
    }

    /// Takes the oldest steps for what they are by now, where more than so many bytes are held: a quarter of that is left.
    pub fn settle(&mut self, most: usize, setting: &Setting) {
        if self.bytes <= most.max(self.patience) {
            return;
        }
        let Some(count) = self.whole(most / 4) else {
            self.patience = 2 * self.bytes;
            return;
        };
        let held = self.builder.take_diagnostics();
        let steps: Vec<Step> = self.steps.drain(..count).collect();
        let settled = &mut self.settled;
        settled.count += count;
        for step in &steps {
            self.bytes -= step.bytes;
            self.places.remove(&step.id);
            if !step.id.is_empty() {
                settled.ids.insert(digest(&step.id));
            }
            settled.unordered |= step.order.is_none();
            settled.order = settled.order.max(step.order);
        }
        self.patience = 0;
        self.add(steps, setting);
        self.settled.told.extend(self.builder.take_diagnostics());
        held.into_iter().for_each(|told| self.builder.diagnostic(told));
    }

    /// How many of the oldest steps can go: so many bytes are left at least, and none that is left stands before one of
    /// them by its number.
    fn whole(&self, left: usize) -> Option<usize> {
        let mut bytes = self.bytes;
        // What belongs to the latest step is still to come.
        let oldest = self.steps.iter().take(self.steps.len().saturating_sub(1)).take_while(|step| {
            bytes -= step.bytes;
            bytes >= left
        });
        let mut count = oldest.count();
        let unordered = |step: &Step| step.order.is_none();
        if !self.settled.unordered && !self.steps.iter().take(count).any(unordered) {
            // The least number behind each step, from the last one on.
            let mut least = vec![u64::MAX; self.steps.len() + 1];
            for (at, step) in self.steps.iter().enumerate().rev() {
                let behind = least.get(at + 1).copied().unwrap_or(u64::MAX);
                if let Some(least) = least.get_mut(at) {
                    *least = step.order.unwrap_or(u64::MAX).min(behind);
                }
            }
            let (mut greatest, mut best) = (self.settled.order, 0);
            for (at, step) in self.steps.iter().take(count).enumerate() {
                if step.order < greatest {
                    break;
                }
                greatest = step.order;
                if least.get(at + 1).is_some_and(|least| greatest <= Some(*least)) {
                    best = at + 1;
                }
            }
            count = best;
        }
        (count > 0).then_some(count)
    }

    /// The episode is whole.
    pub fn close(mut self, setting: &Setting, out: &mut Out) {
        let mut steps = std::mem::take(&mut self.steps);
        if !self.settled.unordered && steps.iter().all(|step| step.order.is_some()) {
            steps.sort_by_key(|step| step.order);
            if steps.first().is_some_and(|first| first.order < self.settled.order) {
                self.builder.spoil();
            }
        }
        let told = std::mem::take(&mut self.settled.told);
        told.into_iter().for_each(|told| self.builder.diagnostic(told));
        self.add(steps, setting);
        let Episode { mut builder, output, last, .. } = self;
        if let Some(output) = output.filter(|output| output.value() != last.as_ref() && !output.is_missing())
        {
            builder.response(None, output, None);
        }
        out.session(builder);
    }

    /// Adds steps to the session, in their order.
    fn add(&mut self, steps: Vec<Step>, setting: &Setting) {
        let builder = &mut self.builder;
        for mut step in steps {
            builder.at_line(step.line);
            step.calls.sort_by_key(|call| call.order);
            match (step.tool, &step.said) {
                _ if !step.calls.is_empty() => {}
                (Some(tool), _) => {
                    let (arguments, result) = (Body::MISSING, Body::MISSING);
                    let (order, error, at, line) = (None, None, step.at, step.line);
                    step.calls.push(Call { tool, order, arguments, result, error, at, line });
                }
                (None, None) => {
                    builder.lost(
                        Loss::MayHoldCalls,
                        "a step calls a tool and does not say which; it is left out",
                    );
                }
                (None, Some(_)) => {}
            }
            let content = step.said.unwrap_or_default();
            let said = content.value().cloned();
            builder.response(None, content, step.at);
            let many = step.calls.len() > 1;
            let name = |place: usize| if many { format!("{}.{place}", step.id) } else { step.id.to_string() };
            let calls: Vec<_> =
                step.calls.into_iter().enumerate().map(|(place, call)| (name(place), call)).collect();
            let given = calls.iter().rev().find_map(|(_, call)| call.result.value().cloned());
            self.last = given.or(said).or(self.last.take());
            give(builder, &calls, setting);
        }
    }
}
