//! One episode: its steps while they are read, and the session made of them.

use std::collections::HashMap;

use super::call::{Call, at, call, give};
use crate::contract::Unit;
use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::input::shallow::{Members, Node};
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Body, Millis};

/// The prompt of an episode that was made of a log without one.
const NO_PROMPT: &str = "<mcp:session>";

/// Steps whose memory is freed together.
const PAGE: usize = 4096;

/// An episode that is being read.
pub struct Episode {
    /// The session so far.
    pub builder: Builder,
    /// How the episode ended, by its last entry.
    pub output: Option<Body>,
    steps: Vec<Step>,
    /// Places of the steps, by id.
    places: HashMap<Box<str>, usize>,
}

struct Step {
    id: Box<str>,
    order: Option<u64>,
    at: Option<Millis>,
    line: u32,
    /// An answer of the model; `None`: this step is a call.
    said: Option<Body>,
    /// The tool that the step itself names.
    tool: Option<Box<str>>,
    calls: Vec<Call>,
}

impl Episode {
    /// An episode without steps.
    pub fn new(builder: Builder) -> Episode {
        Episode { builder, output: None, steps: Vec::new(), places: HashMap::new() }
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
        // Most steps have one.
        step.calls.reserve_exact(usize::from(step.calls.is_empty()));
        step.calls.push(call);
    }

    /// The step that a line belongs to; a line without an id is a step of its own.
    fn step_of(&mut self, unit: &Unit<'_>) -> Option<&mut Step> {
        let id = unit.members.get("step_id").and_then(Node::id).unwrap_or_default();
        let known = self.places.get(&*id).filter(|_| !id.is_empty()).copied();
        let place = known.unwrap_or_else(|| {
            let (order, at, said, tool, calls) = (None, None, None, None, Vec::new());
            self.steps.push(Step { id: id.as_ref().into(), order, at, line: unit.line, said, tool, calls });
            self.places.insert(id.as_ref().into(), self.steps.len() - 1);
            self.steps.len() - 1
        });
        self.steps.get_mut(place)
    }

    /// The episode is whole.
    pub fn close(self, setting: &Setting, out: &mut Out) {
        let Episode { mut builder, output, mut steps, places } = self;
        drop(places);
        if steps.iter().all(|step| step.order.is_some()) {
            steps.sort_by_key(|step| step.order);
        }
        let calls: usize = steps.iter().map(|step| step.calls.len()).sum();
        builder.expect_messages(steps.len() + calls);
        builder.expect_turns(steps.len(), calls);
        // The last text or the last result of a call.
        let mut last = Body::MISSING;
        // An episode may be as long as its file, so written steps are freed, a page at a time.
        steps.reverse();
        while let Some(mut step) = steps.pop() {
            if steps.len().is_multiple_of(PAGE) {
                steps.shrink_to_fit();
            }
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
            let said = step.said.unwrap_or_default();
            builder.response(None, said.clone(), step.at);
            let many = step.calls.len() > 1;
            let name = |place: usize| if many { format!("{}.{place}", step.id) } else { step.id.to_string() };
            let calls: Vec<_> =
                step.calls.into_iter().enumerate().map(|(place, call)| (name(place), call)).collect();
            let given = calls.iter().rev().map(|(_, call)| call.result.clone());
            let content = given.chain([said]).find(|content| !content.is_missing());
            last = content.unwrap_or(last);
            give(&mut builder, &calls, setting);
        }
        if let Some(output) = output.filter(|output| !output.is_missing() && output.value() != last.value()) {
            builder.response(None, output, None);
        }
        out.session(builder);
    }
}
