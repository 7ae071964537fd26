//! The explanations of contracts: what is forbidden and since when, how many turns are completed, which earlier call is
//! missing.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Number, Value, json};

use super::output::{Comparison, Output};
use crate::dialect::contracts::codes;
use crate::dialect::sequence_rules::calls::{Part, ToolName, operand_orders, operand_title, operand_words};
use crate::monitor::explanation::{detail, state};
use crate::monitor::{About, CheckedValue, Explain, Explanation, Line, LineState, Rule};
use rulestep_base::diagnostic::Code;
use rulestep_base::wording::sentence::{field, name, value};
use rulestep_base::wording::{self, Sentence, at, count, list};

/// Number of earlier values that a sentence lists.
const LISTED: usize = 3;

/// A rule that forbids a tool for the rest of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forbidden;

/// The facts of a rule about completed turns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Steps {
    /// Turns completed before this one.
    pub completed: u64,
    /// The fewest that the rule asks for, as it was written.
    pub wanted: Number,
}

/// The facts of a rule about an earlier call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prior {
    /// The tool that must have run, or what the calls are called.
    pub tool: Arc<str>,
    /// The calls of which one must have run, if the rule has more than a tool's name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolName>,
    /// The command of an earlier call that perhaps was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubtful: Option<Arc<Part>>,
    /// Which prior call decides: `newest` or `any`.
    #[serde(rename = "match")]
    pub matching: &'static str,
    /// The other reading of `match` would have decided differently.
    pub other_reading: bool,
    /// The conditions on the deciding call's result, and what the result had there.
    pub outputs: Vec<Output>,
    /// The same conditions if no call's result was looked at: what a call would have to return.
    #[serde(skip)]
    pub required: Vec<Output>,
    /// A path under which the failed condition would hold: the result is wrapped in another object.
    pub hint: Option<Arc<str>>,
}

/// A rule about completed turns, at the start of a turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StepsState {
    pub tool: Arc<str>,
    pub steps: Steps,
}

/// A rule about an earlier call, at the start of a turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PriorState(pub Prior);

/// A prior call in a rule's list of tools: one that names no tool may be of several.
pub(super) fn rule_tool(named: &ToolName) -> Arc<str> {
    if named.tool.is_empty() {
        format!("{}…", operand_title(named)).into()
    } else {
        Arc::clone(&named.tool)
    }
}

/// The name of a rule without its own.
pub(super) fn phrase(rule: &Rule) -> Option<String> {
    match (rule.kind, &*rule.tools) {
        ("precondition", [tool, priors @ ..]) if !priors.is_empty() => {
            let priors: Vec<String> = priors.iter().map(|prior| wording::name(prior).into_owned()).collect();
            Some(format!("{} before {}", priors.join(" or "), wording::name(tool)))
        }
        ("precondition", [tool]) => Some(format!("completed turns before {}", wording::name(tool))),
        ("forbids_after", [trigger, forbidden]) => {
            Some(format!("no {} after {}", wording::name(forbidden), wording::name(trigger)))
        }
        _ => None,
    }
}

impl Explain for Forbidden {
    fn explain(&self, about: &About<'_>) -> Explanation {
        // Nothing here may ask the reader to change the policy: the reader may be the model.
        let way_out = Sentence::new("none in this session: `forbids_after` applies until it ends");
        Explanation { way_out: Some(way_out), ..Explanation::new(about, forbidden(about)) }
    }
}

impl Explain for Steps {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let middle = if about.code.is_some() { about.starts_in_the_middle() } else { "" };
        let way_out = self.missing().filter(|_| about.code.is_some());
        Explanation {
            label: Some(self.label()),
            way_out: way_out
                .map(|turns| Sentence::new(format!("make the call {} later", count(turns, "turn")))),
            telling: true,
            ..Explanation::new(about, self.sentence() + middle)
        }
    }

    fn data(&self) -> Map<String, Value> {
        detail(self)
    }
}

impl Steps {
    fn sentence(&self) -> String {
        format!(
            "{} completed before this one, at least {} required",
            count(self.completed, "turn"),
            self.wanted
        )
    }

    fn label(&self) -> String {
        let Steps { completed, wanted } = self;
        // "steps 5 of 3" would be nonsense.
        match wanted.as_u64() {
            Some(least) if *completed > least => format!("steps {completed}, {wanted} required"),
            _ => format!("steps {completed} of {wanted}"),
        }
    }

    fn missing(&self) -> Option<u64> {
        let wanted =
            self.wanted.as_u64().or_else(|| self.wanted.as_f64().map(|wanted| wanted.ceil() as u64))?;
        Some(wanted.saturating_sub(self.completed))
    }
}

impl Explain for Prior {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let headline = match about.code {
            Some(code) => self.against(code, about).unwrap_or_else(|| code.title().to_owned()),
            None => self.in_favour(about),
        };
        let way_out = about.code.and_then(|code| self.way_out(code, about.checked));
        Explanation {
            label: Some(self.tool.to_string()),
            lines: self.lines(),
            way_out: way_out.map(Sentence::new),
            awaited: (about.code == Some(codes::PRIOR_TOOL_MISSING) && self.calls.is_empty())
                .then(|| Arc::clone(&self.tool)),
            telling: true,
            ..Explanation::new(about, headline)
        }
    }

    fn data(&self) -> Map<String, Value> {
        detail(self)
    }
}

impl Prior {
    /// The calls of which one must have run.
    fn words(&self) -> String {
        match &*self.calls {
            [] => name(&self.tool).into_owned(),
            calls => calls.iter().map(operand_words).collect::<Vec<_>>().join(" or "),
        }
    }

    /// The instruction to make one of its calls.
    fn order(&self) -> String {
        match &*self.calls {
            [] => format!("call {}", name(&self.tool)),
            calls => operand_orders(calls),
        }
    }

    fn against(&self, code: Code, about: &About<'_>) -> Option<String> {
        let tool = self.words();
        Some(match code {
            codes::PRIOR_TOOL_MISSING => {
                let doubt = self.doubtful.as_deref().map(|part| doubt(part, about)).unwrap_or_default();
                format!("{tool} has not succeeded in an earlier turn{doubt}{}", about.starts_in_the_middle())
            }
            codes::RESOURCE_MISSING => format!(
                "this call has no value at `{}` to compare with that of {tool}",
                about.checked.map_or(Cow::Borrowed("$"), |checked| name(&checked.path)),
            ),
            codes::RESOURCE_UNMATCHED => unmatched(self, about) + about.starts_in_the_middle(),
            codes::PRIOR_OUTPUT_UNMATCHED => bad_output(self, about),
            _ => return None,
        })
    }

    fn in_favour(&self, about: &About<'_>) -> String {
        let when = about.earlier().map(|call| format!(" in {}", at(call, about.session)));
        let bound = bound(about.checked);
        let outputs = self.outputs.iter().map(condition).collect::<Vec<_>>();
        let outputs = if outputs.is_empty() { String::new() } else { format!(" with {}", list(outputs)) };
        format!("{} ran{}{bound}{outputs}", self.words(), when.unwrap_or_default())
    }

    fn way_out(&self, code: Code, checked: Option<&CheckedValue>) -> Option<String> {
        Some(match code {
            codes::PRIOR_TOOL_MISSING | codes::RESOURCE_UNMATCHED => {
                let result = match &*self.required {
                    [] => String::new(),
                    required => {
                        format!("; its result must contain {}", list(required.iter().map(condition)))
                    }
                };
                let (order, bound) = (self.order(), bound(checked));
                match &*self.required {
                    [] => format!("{order}{bound} successfully in an earlier turn"),
                    _ => format!("in an earlier turn, {order}{bound}{result}"),
                }
            }
            codes::RESOURCE_MISSING => {
                format!("give the call a value at `{}`", name(&checked?.path))
            }
            codes::PRIOR_OUTPUT_UNMATCHED => match (&self.hint, failed(self)) {
                (Some(hint), Some(failed)) => format!(
                    "the result is wrapped: change the condition's path from `{}` to `{}`",
                    name(&failed.path),
                    name(hint)
                ),
                (_, Some(failed)) => {
                    let (order, bound) = (self.order(), bound(checked));
                    format!("{order}{bound} again; its result must contain {}", condition(failed))
                }
                (_, None) => {
                    format!("{}{} again; its result must be different", self.order(), bound(checked))
                }
            },
            _ => return None,
        })
    }

    fn lines(&self) -> Vec<Line> {
        let note = |text: String| Line { state: LineState::Note, ..Line::new(text) };
        let mut lines: Vec<Line> = self.outputs.iter().map(output).collect();
        lines.extend(self.hint.iter().map(|hint| note(format!("`{}` would match", name(hint)))));
        if self.other_reading {
            lines.push(note(format!("with `match: {}` the decision would be different", other(self))));
        }
        lines
    }
}

impl Explain for StepsState {
    fn explain(&self, about: &About<'_>) -> Explanation {
        Explanation { label: Some(self.steps.label()), ..Explanation::new(about, self.steps.sentence()) }
    }

    fn data(&self) -> Map<String, Value> {
        let StepsState { tool, steps: Steps { completed, wanted } } = self;
        state("step", &json!({"tool": tool, "completed": completed, "wanted": wanted}))
    }
}

impl Explain for PriorState {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let tool = self.0.words();
        let headline = match about.code {
            None => {
                let calls = list(about.found.iter().map(|by| at(by.call, about.session)));
                format!("{tool} ran{}{calls}", if about.found.is_empty() { "" } else { " in " })
            }
            Some(codes::PRIOR_TOOL_MISSING) => format!("{tool} has not succeeded in an earlier turn"),
            Some(codes::RESOURCE_UNMATCHED) => format!("{tool} ran, but without a value to compare"),
            Some(codes::PRIOR_OUTPUT_UNMATCHED) => {
                format!("{tool} ran, but its result does not satisfy the contract")
            }
            Some(other) => other.title().to_owned(),
        };
        Explanation { label: Some(self.0.tool.to_string()), ..Explanation::new(about, headline) }
    }
}

/// Why a call that looks like the one that is needed does not count.
fn doubt(part: &Part, about: &About<'_>) -> String {
    let when = about.found.first().map(|found| format!(" in {}", at(found.call, about.session)));
    let (when, command) = (when.unwrap_or_default(), name(&part.command));
    if let Some(folder) = &part.sweep {
        return format!("; `{command}`{when} only searches `{}`", name(folder));
    }
    match &part.unknown {
        Some(word) => format!("; `{}` in `{command}`{when} is not known", name(word)),
        None => format!("; whether `{command}`{when} succeeded is not known"),
    }
}

fn forbidden(about: &About<'_>) -> String {
    let by = about.rule.tool.as_deref().map_or(Cow::Borrowed("a call"), name);
    match about.found.first() {
        Some(first) => format!("forbidden since {by} ran in {}", at(first.call, about.session)),
        None => format!("forbidden since {by} ran"),
    }
}

fn unmatched(prior: &Prior, about: &About<'_>) -> String {
    let tool = prior.words();
    let path = about.checked.map_or(Cow::Borrowed("$"), |checked| field(&checked.path));
    let wanted = about.checked.and_then(|checked| checked.value.as_ref()).map_or_else(String::new, value);
    let mut values: Vec<String> = Vec::new();
    for found in about.found.iter().filter_map(|found| found.value.as_ref()) {
        let shown = value(found);
        if !values.contains(&shown) {
            values.push(shown);
        }
    }
    if values.is_empty() {
        return format!("{tool} ran without a value for {path}, not for {wanted}");
    }
    let more = values.len() > LISTED;
    values.truncate(LISTED);
    if more {
        values.push("others".to_owned());
    }
    format!("{tool} ran for {path} {}, not {wanted}", list(values))
}

fn bad_output(prior: &Prior, about: &About<'_>) -> String {
    let tool = prior.words();
    let when = about.found.first().map(|found| format!(" in {}", at(found.call, about.session)));
    let when = when.unwrap_or_default();
    let what = failed(prior).map_or_else(|| "another result".to_owned(), got);
    let mut sentence = format!("{tool}{when} returned {what}");
    if let Some(hint) = &prior.hint {
        sentence.push_str(&format!("; `{}` would match", name(hint)));
    } else if prior.other_reading {
        sentence.push_str(&format!("; with `match: {}` it would pass", other(prior)));
    }
    sentence
}

/// ` for order_id "ORD-124"`, or nothing without a value.
fn bound(checked: Option<&CheckedValue>) -> String {
    let bound = checked.and_then(|checked| Some((&checked.path, checked.value.as_ref()?)));
    bound.map_or_else(String::new, |(path, found)| format!(" for {} {}", field(path), value(found)))
}

fn bounded(comparison: Comparison, bound: &str) -> String {
    match comparison {
        Comparison::Gte => format!("at least {bound}"),
        Comparison::Lte => format!("at most {bound}"),
        Comparison::Equals | Comparison::Exists => bound.to_owned(),
    }
}

fn failed(prior: &Prior) -> Option<&Output> {
    prior.outputs.iter().find(|output| !output.holds)
}

fn other(prior: &Prior) -> &'static str {
    if prior.matching == "any" { "newest" } else { "any" }
}

/// The requirement of a condition: `eligible true`, `score at least 5`.
fn condition(output: &Output) -> String {
    let path = field(&output.path);
    match output.comparison {
        Comparison::Exists if output.wanted == Value::Bool(false) => format!("no {path}"),
        Comparison::Exists => format!("some {path}"),
        Comparison::Equals => format!("{path} = {}", value(&output.wanted)),
        Comparison::Gte | Comparison::Lte => {
            format!("{path} {}", bounded(output.comparison, &value(&output.wanted)))
        }
    }
}

/// What the result had instead: `eligible false, not true`.
fn got(output: &Output) -> String {
    let path = field(&output.path);
    let wanted = value(&output.wanted);
    if output.nodes == 0 {
        return format!("nothing at {path}");
    }
    let mut values: Vec<String> = output.got.iter().take(LISTED).map(value).collect();
    if output.nodes > values.len() {
        values.push(format!("{} more", output.nodes - values.len()));
    }
    let values = list(values);
    match output.comparison {
        Comparison::Exists => format!("{path} {values}, where the rule allows no {path}"),
        comparison => {
            let all = if output.nodes > 1 { "all " } else { "" };
            format!("{path} {values}, not {all}{}", bounded(comparison, &wanted))
        }
    }
}

/// A condition, and what the result had there unless the condition itself says it.
fn output(output: &Output) -> Line {
    let asked = format!("{} {} {}", name(&output.path), output.comparison.word(), value(&output.wanted));
    let mut values: Vec<String> = output.got.iter().take(LISTED).map(value).collect();
    if output.nodes > values.len() && !values.is_empty() {
        values.push(format!("{} more", output.nodes - values.len()));
    }
    let found = if values.is_empty() { "nothing".to_owned() } else { list(values) };
    let (label, state) = if output.holds { ("passes", LineState::Good) } else { ("fails", LineState::Bad) };
    let said = output.holds && output.comparison == Comparison::Equals && output.nodes == 1;
    let value = (!said).then(|| Sentence::new(format!("found {found}")));
    Line { label, value, state, ..Line::new(asked) }
}
