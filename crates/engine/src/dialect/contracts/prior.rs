//! The calls that may come first: a tool, or conditions on the arguments and the commands of a call.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use regex::Regex;
use serde_json::Value;

use super::output::{Conditions, Sample};
use crate::condition::path::{Path, in_json, in_value};
use crate::dialect::pattern::traps_in;
use crate::dialect::question::{RunsRead, Table, argument_as_path, commands_as_text, never_met, question};
use crate::dialect::sequence_rules::calls::{
    Argument, Look, Match, Operand, Part, Role, ToolName, operand_title,
};
use crate::monitor::enabler::ANY_VALUE;
use crate::monitor::{Choice, Enabler, Enablers, Prospect};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::{Body, Outcome, Session, value};
use rulestep_base::source::wildcard::Wildcard;
use rulestep_base::source::{Field, Node, Problem, ProblemKind, Source, quoted};

/// Most values of an argument that are worth trying.
const VALUES: usize = 8;

/// An earlier call that must have run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PriorRule {
    pub calls: PriorCalls,
    pub resource: Option<Resource>,
    pub outputs: Conditions,
    pub matching: Matching,
}

/// The value that this call and the prior call must share.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Resource {
    /// Its path in this call's arguments.
    pub here: Path,
    /// Its side in the prior call.
    pub side: Side,
    pub there: Path,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Arguments,
    Output,
}

/// Which prior call decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Matching {
    Newest,
    Any,
}

impl Matching {
    pub fn word(self) -> &'static str {
        match self {
            Matching::Newest => "newest",
            Matching::Any => "any",
        }
    }
}

impl PriorRule {
    /// The prior call that a call asks for.
    pub fn enablers(&self, call: Prospect<'_>, out: &mut Enablers) {
        let output = match self.outputs.sample() {
            Sample::Value(output) => output,
            Sample::Impossible => return,
            Sample::Unknown => return out.unsure(),
        };
        let mut calls = Enablers::default();
        self.calls.operands().iter().for_each(|operand| operand.enablers(call, &mut calls));
        if calls.unsure {
            out.unsure();
        }
        let Some(resource) = &self.resource else {
            calls.calls.into_iter().for_each(|help| out.call(Enabler { output: output.clone(), ..help }));
            return;
        };
        let own = |body: &Body| resource.of_call(body).map(Cow::into_owned);
        let value = own(call.arguments);
        let mut others: Vec<Value> = Vec::new();
        let priors = self.calls.tools().flat_map(|tool| call.earlier_of(tool));
        let priors = priors.filter(|prior| prior.outcome == Outcome::Ok);
        let known =
            priors.filter_map(|prior| Some(resource.of_prior(&prior.arguments, &prior.output)?.into_owned()));
        // For an unknown value, any value does: a contract does not depend on what it is.
        for other in own(call.wanted).into_iter().chain(known).chain([Value::from(ANY_VALUE)]) {
            if others.len() < VALUES && !others.iter().any(|known| value::equal(known, &other)) {
                others.push(other);
            }
        }
        out.choice(Choice {
            path: Arc::clone(resource.here.text()),
            missing: value.is_none(),
            values: others.into_iter().filter_map(|value| resource.here.built(value)).collect(),
        });
        let Some(built) = value.and_then(|value| resource.there.built(value)) else { return };
        for Enabler { tool, arguments, .. } in calls.calls {
            let (own, other) = match resource.side {
                Side::Arguments => (&arguments, &output),
                Side::Output => (&output, &arguments),
            };
            let joined = own.as_ref().map_or_else(|| Some(built.clone()), |own| value::join(own, &built));
            let Some(joined) = joined.map(Some) else {
                out.unsure();
                continue;
            };
            let (arguments, output) = match resource.side {
                Side::Arguments => (joined, other.clone()),
                Side::Output => (other.clone(), joined),
            };
            out.call(Enabler { tool, arguments, output });
        }
    }

    /// Whether no prior call at all can match.
    pub fn is_impossible(&self) -> bool {
        self.outputs.sample() == Sample::Impossible
    }
}

impl Resource {
    /// The prior call's value, if there is exactly one.
    pub fn of_prior<'a>(&self, arguments: &'a Body, output: &'a Body) -> Option<Cow<'a, Value>> {
        match self.side {
            Side::Arguments => in_json(&self.there, arguments),
            Side::Output => in_value(&self.there, output),
        }
    }

    /// The value of a call that asks for a prior one, if there is exactly one.
    pub fn of_call<'a>(&self, arguments: &'a Body) -> Option<Cow<'a, Value>> {
        in_json(&self.here, arguments)
    }
}

/// Calls of which one is enough.
#[derive(Debug, Clone)]
pub(super) struct PriorCalls(Arc<[Operand]>);

impl PartialEq for PriorCalls {
    fn eq(&self, other: &PriorCalls) -> bool {
        self.named().eq(other.named())
    }
}

impl PriorCalls {
    /// Reads a tool's name, a mapping with conditions on a call, or a list of them. `asking` numbers those with
    /// questions about what a call does.
    pub fn read(
        field: &Field<'_>,
        facts: &Table,
        asking: &mut usize,
        out: &mut Vec<Problem>,
    ) -> Option<PriorCalls> {
        let mut one = |field: &Field<'_>, out: &mut Vec<Problem>| prior_call(field, facts, asking, out);
        let calls = match field.node.as_seq() {
            Some([]) => {
                field.refuse("an empty list is never met", out);
                return None;
            }
            Some(_) => {
                let read: Vec<Option<Operand>> = field.items(out)?.map(|item| one(&item, out)).collect();
                read.into_iter().collect::<Option<Vec<_>>>()?.into()
            }
            None => [one(field, out)?].into(),
        };
        Some(PriorCalls(calls))
    }

    /// The one tool of which any call matches, as in published contracts.
    pub fn only_tool(&self) -> Option<&Arc<str>> {
        match &*self.0 {
            [only] if !only.looks() => only.tools.first(),
            _ => None,
        }
    }

    pub fn operands(&self) -> &[Operand] {
        &self.0
    }

    pub fn named(&self) -> impl Iterator<Item = &ToolName> {
        self.0.iter().map(|operand| &operand.named)
    }

    /// The tools that are named.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.iter().flat_map(|operand| &operand.tools)
    }

    /// Whether a call of an unnamed tool may match.
    pub fn any_tool(&self) -> bool {
        self.0.iter().any(|operand| operand.any_tool)
    }

    /// Whether calls of a tool may match.
    pub fn names(&self, tool: &str) -> bool {
        self.0.iter().any(|operand| operand.names(tool))
    }

    /// Whether more than the name of a tool decides.
    pub fn looks(&self, tool: &str) -> bool {
        !self.0.iter().any(|operand| operand.names(tool) && !operand.looks())
    }

    /// Whether a call that succeeded certainly matches: an unknown satisfies nothing.
    pub fn mean(&self, look: Look<'_>) -> bool {
        let mut named = self.0.iter().filter(|operand| operand.names(look.tool));
        named.any(|operand| match operand.asks {
            Some(_) => operand.does(look, Role::Permits) == Match::Yes,
            None => operand.means(look) == Match::Yes,
        })
    }

    /// The command of a call that perhaps matches, or of which it is unknown whether it succeeded.
    pub fn doubt(&self, look: Look<'_>) -> Option<Part> {
        self.0.iter().filter(|operand| operand.names(look.tool)).find_map(|operand| operand.doubt(look))
    }

    /// The tools of a session whose calls may match.
    pub fn in_session(&self, session: &Session) -> BTreeSet<Arc<str>> {
        let called = session.calls.iter().map(|call| &call.tool).filter(|tool| self.names(tool));
        self.tools().chain(called).cloned().collect()
    }

    /// Expressions with an unintended meaning, or that a key would express better. `node`: the node that was read.
    pub fn commands_as_text(&self, node: &Node, source: &Source) -> Vec<Diagnostic> {
        let nodes = node.as_seq().unwrap_or(std::slice::from_ref(node));
        let told = self.0.iter().zip(nodes).flat_map(|(operand, node)| {
            let args = &operand.named.args_match;
            let mut told = traps_in(node, args, source);
            if operand.asks.is_none() {
                told.extend(commands_as_text(node, &operand.tools, args, source));
            }
            told
        });
        told.collect()
    }

    /// Their name in a column.
    pub fn title(&self) -> Arc<str> {
        self.named().map(operand_title).collect::<Vec<_>>().join(" or ").into()
    }
}

fn prior_call(
    field: &Field<'_>,
    facts: &Table,
    asking: &mut usize,
    out: &mut Vec<Problem>,
) -> Option<Operand> {
    let exact = |field: &Field<'_>, out: &mut Vec<Problem>| -> Option<Arc<str>> {
        let help = |_: &Wildcard<'_>| "name the one tool that must have run before".to_owned();
        field.exact_name(out, help).map(Arc::from)
    };
    if field.node.as_map().is_none() {
        return Some(Operand::of_tool(exact(field, out)?));
    }
    let mut fields = field.fields(out)?;
    let named = fields.optional("tool").map(|tool| exact(&tool, out));
    let args = fields.optional("args_match").map(|patterns| arguments(&patterns, out));
    let asked = question(&mut fields, facts, &mut RunsRead::default(), out);
    if let Some(ended) = field.node.entry("ended").filter(|ended| ended.value.as_str() == Some("error")) {
        let message = "a prior call must have succeeded, so `ended: error` is never met";
        out.push(Problem::new(ProblemKind::BadValue, ended.value.span, message).help("remove the key"));
    }
    fields.finish(out);
    let asked = asked?;
    if named.is_none() && asked.is_none() {
        let message = "a prior call needs `tool`, or a key that says what the call does";
        out.push(field.problem(ProblemKind::MissingKey, message).help("write `tool: NAME`, or `runs: …`"));
        return None;
    }
    let mut operand = match named {
        Some(named) => Operand::of_tool(named?),
        None => Operand::any_tool(),
    };
    operand.facts.clone_from(facts);
    if let Some(asked) = &asked {
        out.extend(never_met(field, &operand.tools, asked, facts));
        operand.number = *asking;
        *asking += 1;
    }
    let args = args.unwrap_or(Some(Vec::new()))?;
    operand.named.args_match =
        args.iter().map(|(argument, text)| (Arc::clone(&argument.name), Arc::clone(text))).collect();
    operand.args = args.into_iter().map(|(argument, _)| argument).collect();
    operand.named.does.clone_from(&asked);
    operand.asks = asked;
    Some(operand)
}

/// Expressions, each of which must be valid: a broken one would keep the tool from running for ever.
fn arguments(field: &Field<'_>, out: &mut Vec<Problem>) -> Option<Vec<(Argument, Arc<str>)>> {
    let mut read = Some(Vec::new());
    for (name, value) in field.entries(out)? {
        out.extend(argument_as_path(name, &value));
        let pattern = value.text(out).and_then(|text| match Regex::new(text) {
            Ok(pattern) => Some((pattern, text)),
            Err(_) => {
                let message = format!("{} is not a regular expression", quoted(text));
                out.push(value.problem(ProblemKind::BadValue, message));
                None
            }
        });
        match (pattern, &mut read) {
            (Some((pattern, text)), Some(read)) => {
                read.push((Argument::new(name, Some(pattern)), text.into()));
            }
            (None, _) => read = None,
            _ => {}
        }
    }
    read
}
