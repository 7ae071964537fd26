//! Which calls a rule matches: names, aliases and argument patterns, and whether a call is one of them.

use std::collections::HashSet;
use std::sync::Arc;

use regex::Regex;
use serde_json::{Map, Value};

use super::asks::{Copies, Role, example, learns, looked_at, reading};
use super::explain::operand_words;
use super::facts::ToolName;
use crate::condition::path::{Path, in_json};
use crate::dialect::question::{Question, Table, runs_commands};
use crate::monitor::{self, Cx, Enabler, Enablers, Learns, ProposedCall, Prospect, Read, Says, Slot};
use rulestep_base::session::{Body, CallRef, Facts, Session};
use rulestep_base::source::quoted;

/// A tool as a rule names it, with the tools of an alias.
#[derive(Debug, Default)]
pub(in crate::dialect) struct Operand {
    pub named: ToolName,
    /// The tool's own name, or the members of the alias.
    pub tools: Vec<Arc<str>>,
    /// Whether it names no tool: any may match.
    pub any_tool: bool,
    pub args: Vec<Argument>,
    /// Its question about what a call does.
    pub asks: Option<Arc<Question>>,
    /// Its number among the rule's operands with questions: copies of its files are recorded under it.
    pub number: usize,
    /// The facts about programs and tools.
    pub facts: Table,
}

/// A pattern that one argument must match. A broken one matches nothing.
#[derive(Debug, Clone)]
pub(in crate::dialect) struct Argument {
    pub name: Arc<str>,
    path: Path,
    pattern: Option<Regex>,
}

/// One side of a rule: any of some operands.
#[derive(Debug)]
pub(super) struct Side {
    operands: Vec<Operand>,
    /// Its role in the rule.
    pub role: Role,
    /// Whether one of them looks at arguments; if not, the tool alone decides whether a call matches.
    looks: bool,
    /// Whether one of them has a question about what calls do.
    pub asks: bool,
    /// The facts about programs and tools: the operands of a rule are from one document.
    facts: Table,
    /// The side's bit in the slot of a tool that one of its operands names.
    bit: u64,
}

/// A call that is looked at, or (without arguments) every call of a tool.
#[derive(Debug, Clone, Copy)]
pub(in crate::dialect) struct Look<'a> {
    pub tool: &'a str,
    pub slot: Slot,
    pub arguments: Option<&'a Body>,
    /// The surroundings, for operands that ask what a call does.
    pub facts: Option<&'a Facts>,
    /// The working directory of the call, if it is not the session's.
    pub folder: Option<&'a str>,
    /// The call's place.
    pub at: Option<CallRef>,
    /// Whether it succeeded, once that is known.
    pub ended: Option<bool>,
    /// Whether code that was not read counts as what the rule stops.
    pub opaque: bool,
    /// Whether a sweep counts as a match where it counts against the agent.
    pub sweeps: bool,
    /// Whether a doubt counts for the agent.
    pub unsure: bool,
    /// The copies of the wanted files, by operand.
    pub copies: &'a [Copies],
}

/// Whether a call matches. A call with arguments is certain; of a tool some calls may match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::dialect) enum Match {
    No,
    Perhaps,
    Yes,
}

impl<'a> Look<'a> {
    pub fn call(call: ProposedCall<'a>, cx: &Cx<'a>, copies: &'a [Copies]) -> Look<'a> {
        let look = Look::any(call.tool, call.slot);
        let (arguments, facts) = (Some(call.arguments), Some(cx.facts));
        Look { arguments, facts, folder: cx.folder, at: Some(call.at), copies, ..look }
    }

    pub fn any(tool: &'a str, slot: Slot) -> Look<'a> {
        Look {
            tool,
            slot,
            arguments: None,
            facts: None,
            folder: None,
            at: None,
            ended: None,
            opaque: false,
            sweeps: false,
            unsure: false,
            copies: &[],
        }
    }
}

impl Look<'_> {
    /// Whether it is a call of another session, which is judged there.
    pub fn is_elsewhere(&self) -> bool {
        self.at.is_some_and(|at| at.elsewhere().is_some())
    }
}

impl Operand {
    /// One that names no tool.
    pub fn any_tool() -> Operand {
        Operand { any_tool: true, ..Operand::default() }
    }

    /// Any call of this tool.
    pub fn of_tool(tool: Arc<str>) -> Operand {
        let named = ToolName { tool: Arc::clone(&tool), ..ToolName::default() };
        Operand { named, tools: vec![tool], ..Operand::default() }
    }

    /// Whether it means calls of this tool at all.
    pub fn names(&self, tool: &str) -> bool {
        (self.any_tool || self.tools.iter().any(|name| **name == *tool)) && self.can_mean(tool)
    }

    /// Whether it looks at more than the tool's name.
    pub fn looks(&self) -> bool {
        !self.args.is_empty() || self.asks.is_some()
    }

    /// Whether it matches this call, whose tool it names, by names and arguments.
    pub fn means(&self, look: Look<'_>) -> Match {
        if self.args.is_empty() {
            return Match::Yes;
        }
        if look.arguments.is_none() {
            let possible = self.args.iter().all(|argument| argument.pattern.is_some());
            return if possible { Match::Perhaps } else { Match::No };
        }
        if self.given(look) { Match::Yes } else { Match::No }
    }

    /// Whether a call has the arguments that are wanted.
    pub fn given(&self, look: Look<'_>) -> bool {
        if self.args.is_empty() {
            return true;
        }
        let Some(Value::Object(given)) = look.arguments.and_then(Body::parsed) else { return false };
        self.args
            .iter()
            .all(|argument| given.get(&*argument.name).is_some_and(|value| argument.matches(value)))
    }
}

impl Operand {
    /// Calls that it means, one of each tool.
    pub fn enablers(&self, call: Prospect<'_>, out: &mut Enablers) {
        if let Some(question) = &self.asks {
            // Whether another call would help as well is unknown; one that is spelt out may be tried.
            out.unsure();
            if let Some((tool, arguments)) = reading(question, call)
                && (self.any_tool || self.tools.contains(&tool))
                && self.args.is_empty()
            {
                out.call(Enabler { tool, arguments: Some(arguments), output: None });
            }
            let tool = if self.any_tool {
                let earlier = call.earlier.iter().rev().map(|call| &*call.tool);
                [call.tool]
                    .into_iter()
                    .chain(earlier)
                    .find(|tool| runs_commands(&self.facts, tool))
                    .map(Arc::from)
            } else {
                self.tools.first().cloned()
            };
            if let (Some(tool), Some(line)) = (tool, example(question).filter(|_| self.args.is_empty())) {
                let arguments = Some(serde_json::json!({"command": line}));
                out.call(Enabler { tool, arguments, output: None });
            }
            return;
        }
        for tool in &self.tools {
            let mut arguments = Map::new();
            for argument in &self.args {
                // A broken pattern matches nothing, so no call matches.
                let Some(pattern) = &argument.pattern else { return };
                let recorded =
                    [call.wanted].into_iter().chain(call.earlier_of(tool).map(|call| &call.arguments));
                let recorded = recorded.filter_map(|body| body.parsed()?.get(&*argument.name).cloned());
                // The pattern's own text without its anchors is often what it means.
                let literal =
                    pattern.as_str().trim_start_matches('^').trim_end_matches('$').replace('\\', "");
                let mut values = recorded.chain([Value::String(literal)]);
                let Some(value) = values.find(|value| argument.matches(value)) else { return out.unsure() };
                arguments.insert(argument.name.to_string(), value);
            }
            let arguments = (!arguments.is_empty()).then_some(Value::Object(arguments));
            out.call(Enabler { tool: Arc::clone(tool), arguments, output: None });
        }
    }
}

/// The recorded values that operands may look at, in calls of tools that may match.
pub(in crate::dialect) fn read_arguments(
    operands: &[&Operand],
    means: impl Fn(&str) -> bool,
    session: &Session,
    out: &mut Vec<Read>,
) {
    let operands: Vec<_> = operands.iter().map(|operand| (*operand, operand.learns())).collect();
    let looks = |(operand, learns): &(&Operand, Option<Learns>), tool: &Arc<str>, path: Arc<str>| {
        let tool = Arc::clone(tool);
        match learns.clone() {
            None => Read::Argument { tool, path },
            Some(learns) => {
                let runs_commands = runs_commands(&operand.facts, &tool);
                Read::Does { tool, path, learns, runs_commands }
            }
        }
    };
    let asking = operands.iter().enumerate();
    let asking: Vec<_> =
        asking.filter_map(|(number, asks)| Some((number, asks, asks.0.asks.as_deref()?))).collect();
    if !asking.is_empty() {
        out.extend(["cwd", "project", "home"].map(|key| Read::Context(key.into())));
    }
    // One tool may be called with arguments of several names.
    let mut read: HashSet<(&str, String, usize)> = HashSet::new();
    for call in session.calls.iter().filter(|call| !asking.is_empty() && means(&call.tool)) {
        for (number, asks, question) in &asking {
            let paths = looked_at(question, &call.tool, &call.arguments)
                .map(|names| names.into_iter().map(|name| format!("$[{name:?}]")).collect());
            for path in paths.unwrap_or_else(|| vec!["$".to_owned()]) {
                if read.insert((&call.tool, path.clone(), *number)) {
                    out.push(looks(asks, &call.tool, path.into()));
                }
            }
        }
    }
    let mut seen: HashSet<&str> = HashSet::new();
    for call in session.calls.iter().filter(|call| seen.insert(&call.tool)) {
        if !means(&call.tool) {
            continue;
        }
        // A tool that no operand names is in an alias, which may be any of them.
        let exact = operands.iter().any(|(operand, _)| operand.named.tool == call.tool);
        for asks in operands.iter().filter(|(operand, _)| !exact || operand.named.tool == call.tool) {
            for argument in &asks.0.args {
                out.push(looks(asks, &call.tool, Arc::clone(argument.path.text())));
            }
        }
    }
}

impl Operand {
    /// What is learned of a call by a question about what it does, and which patterns match.
    fn learns(&self) -> Option<Learns> {
        let (does, arguments) = (learns(Arc::clone(self.asks.as_ref()?)), self.args.clone());
        Some(Learns::new(move |call| {
            let looks = arguments.iter().map(|argument| argument.look(call.arguments));
            let matches: Vec<(bool, bool)> = looks.map(|look| (look.present, look.passes)).collect();
            format!("{} {matches:?}", does.of(call))
        }))
    }
}

impl Argument {
    pub fn new(name: &str, pattern: Option<Regex>) -> Argument {
        Argument { name: name.into(), path: Path::member(name), pattern }
    }

    /// Its requirement, in words; `None` for a broken pattern, which is reported where it is read.
    pub fn asks(&self) -> Option<String> {
        self.pattern.as_ref().map(|pattern| format!("matches {}", quoted(pattern.as_str())))
    }

    /// Whether the argument is there, and matches.
    pub fn look(&self, arguments: &Body) -> monitor::Look {
        let value = in_json(&self.path, arguments);
        monitor::Look { present: value.is_some(), passes: value.is_some_and(|value| self.matches(&value)) }
    }

    /// Text is searched as it is, any other value as compact JSON.
    fn matches(&self, value: &Value) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| match value {
            Value::String(text) => pattern.is_match(text),
            other => pattern.is_match(&other.to_string()),
        })
    }
}

impl Side {
    /// The side with this place among the rule's sides, from 0.
    pub fn new(place: u32, role: Role, operands: Vec<Operand>) -> Side {
        let looks = operands.iter().any(|operand| !operand.args.is_empty());
        let asks = operands.iter().any(|operand| operand.asks.is_some());
        let facts = operands.first().map(|operand| operand.facts.clone()).unwrap_or_default();
        Side { operands, role, looks, asks, facts, bit: 1 << place }
    }

    /// Whether only its own names can match.
    pub fn by_name(&self) -> bool {
        !self.operands.iter().any(|operand| operand.any_tool)
    }

    /// The side's part of a tool's slot.
    pub fn slot(&self, tool: &str) -> u64 {
        if self.operands.iter().any(|operand| operand.names(tool)) { self.bit } else { 0 }
    }

    /// Whether the side means the call.
    pub fn means(&self, look: Look<'_>) -> Match {
        if look.slot.0 & self.bit == 0 {
            return Match::No;
        }
        if self.asks {
            return self.does(look);
        }
        if !self.looks {
            return Match::Yes;
        }
        let named = self.operands.iter().filter(|operand| operand.names(look.tool));
        named.map(|operand| operand.means(look)).max().unwrap_or(Match::No)
    }

    /// Whether the side means this very call.
    pub fn is(&self, look: Look<'_>) -> bool {
        self.means(look) == Match::Yes
    }

    /// Whether the side may match a call that is to be enabled. The agent of that call is unknown, so it may be any.
    pub fn concerns(&self, call: Prospect<'_>) -> bool {
        let look = Look::any(call.tool, call.slot);
        let by = |subagent| {
            let facts = Facts { subagent, ..Facts::default() };
            let look = Look { arguments: Some(call.arguments), facts: Some(&facts), ..look };
            [false, true].into_iter().any(|unsure| self.means(Look { unsure, ..look }) != Match::No)
        };
        call.slot.0 & self.bit != 0 && (self.needs_folder() || by(false) || by(true))
    }

    /// Calls that the side means.
    pub fn enablers(&self, call: Prospect<'_>, out: &mut Enablers) {
        self.operands.iter().for_each(|operand| operand.enablers(call, out));
    }

    /// The tools that it names, for sessions that do not record which tools were offered.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<str>> {
        self.operands.iter().flat_map(|operand| &operand.tools)
    }

    /// The tools of which every call matches, whatever its arguments.
    pub fn always(&self) -> impl Iterator<Item = &Arc<str>> {
        self.operands.iter().filter(|operand| !operand.looks()).flat_map(|operand| &operand.tools)
    }

    /// The operands.
    pub fn operands(&self) -> &[Operand] {
        &self.operands
    }

    /// The facts about programs and tools.
    pub fn facts(&self) -> &Table {
        &self.facts
    }

    /// As the rule names them.
    pub fn named(&self) -> impl Iterator<Item = &ToolName> {
        self.operands.iter().map(|operand| &operand.named)
    }

    /// The rule's name for the first of them; if it names no tool, its question about what a call does.
    pub fn name(&self) -> Arc<str> {
        self.named()
            .next()
            .map(|named| match named.tool.is_empty() {
                true => operand_words(named).into(),
                false => Arc::clone(&named.tool),
            })
            .unwrap_or_default()
    }
}

/// The statement that each `then` needs a `first`. A call that may be its own `first` needs none.
pub(super) fn says_needs(first: &Side, then: &Side, directly: bool, out: &mut Vec<Says>) {
    // A name does not say what a call does.
    if !first.by_name() {
        return;
    }
    let any_of: Arc<[Arc<str>]> = first.tools().cloned().collect();
    for tool in then.always().filter(|tool| !first.tools().any(|first| first == *tool)) {
        out.push(Says::Needs { tool: Arc::clone(tool), any_of: Arc::clone(&any_of), directly });
    }
}
