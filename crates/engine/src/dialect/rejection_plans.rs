#![doc = include_str!("rejection_plans/reference.md")]

pub mod codes;
mod edits;
mod places;

// Evaluates plans. Without it plans are still found, and are errors.
#[cfg(feature = "rejection-plans")]
mod explain;
#[cfg(feature = "rejection-plans")]
pub mod facts;
#[cfg(feature = "rejection-plans")]
mod monitor;
#[cfg(feature = "rejection-plans")]
mod plan;
#[cfg(feature = "rejection-plans")]
mod read;
#[cfg(feature = "rejection-plans")]
mod template;
#[cfg(feature = "rejection-plans")]
mod warn;

use std::sync::Arc;

use crate::dialect::{Dialect, Reader, Text, options};
use crate::monitor::{Rule, RuleId, RuleOptions, Rules, Unit};
use places::{Form, PENDING, Place, Slip};
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::source::nearest::nearest;
use rulestep_base::source::wildcard::Wildcard;
use rulestep_base::source::{Entry, Field, Node, Source, quoted};
use rulestep_base::wording;

/// The row of the table of dialects.
pub const DIALECT: Dialect = Dialect {
    name: "rejection_plan",
    title: "rejection plans: what must or must not have been said before a tool is called",
    reference: include_str!("rejection_plans/reference.md"),
    places: &[],
    kinds: &[(
        "rejection_plan",
        "{tool: b, rejectionPlan: {conditions: [{type: regex, regex: never said, target: {role: user, position: -1}}]}}",
    )],
    schema: include_str!("../../../../schemas/rejection_plan.schema.json"),
    edits: edits::EDITS,
    example: include_str!("rejection_plans/example.yaml"),
    codes: codes::PAGES,
    recognises,
    keys: &["rejectionPlan"],
    rules_only: false,
    reader: || Box::new(PlanReader { built: cfg!(feature = "rejection-plans"), units: Vec::new() }),
    phrase,
    references: None,
};

/// A plan anywhere, something intended as one, or the configuration of an assistant or a squad, which may have one.
fn recognises(node: &Node) -> bool {
    let text = |node: &Node, key: &str| node.get(key).and_then(Node::as_str).is_some();
    let assistant = |node: &Node| {
        node.get("model").is_some_and(|model| {
            text(model, "provider") && (text(model, "model") || model.get("tools").is_some())
        })
    };
    let member = |node: &Node| {
        ["assistant", "assistantId", "assistantOverrides"].iter().any(|key| node.get(key).is_some())
    };
    let squad = |node: &Node| {
        node.get("members").and_then(Node::as_seq).is_some_and(|members| members.iter().any(member))
    };
    assistant(node) || squad(node) || places::is_own_form(node) || places::mentions(node)
}

/// Whether a document with `tool` at its top is a plan for that tool, and no contract.
pub(super) fn is_plan_of_tool(node: &Node) -> bool {
    places::is_own_form(node)
}

/// Whether a list holds conditions of plans.
pub(super) fn holds_conditions(list: &Node) -> bool {
    places::holds_conditions(list)
}

/// A plan in a document that another dialect reads, where it would have no effect.
pub fn misplaced(source: &Source, node: &Node, of: &Dialect) -> Option<Diagnostic> {
    if of.name == DIALECT.name {
        return None;
    }
    let entry = places::first(node)?;
    let message = format!(
        "this {} is in a document of {}, so it would not be enforced",
        quoted(&entry.key),
        of.plural()
    );
    let told = Diagnostic::error(code::NOT_ENFORCED, message).at(source, entry.key_span);
    Some(told.help("write the plan as a document of its own: `{tool: NAME, rejectionPlan: …}`"))
}

struct PlanReader {
    /// Whether this program can evaluate plans.
    built: bool,
    units: Vec<Arc<dyn Unit>>,
}

impl Reader for PlanReader {
    fn read(&mut self, text: Text<'_>, rules: &mut Rules, problems: &mut Vec<Diagnostic>) {
        let found = places::search(text.node);
        for place in &found.places {
            self.plan(text, place, rules, problems);
        }
        problems.extend(found.slips.iter().map(|slip| slipped(text, slip)));
        if !found.places.is_empty() {
            problems.extend(places::merges(text.node).into_iter().map(|entry| {
                let help = "YAML 1.2 has no merge keys: write out what is to be merged";
                unknown(text, entry, None).help(help)
            }));
        }
        // A document in one of our own forms whose plan is at another place than where plans are read.
        let node = text.node;
        let is_read = |place: &Place<'_>| place.tool.pointer.is_empty() && place.form != Form::Published;
        let is_own = node.get("tool").is_some() && node.get("type").is_none();
        if is_own
            && (node.get("dialect").is_some() || places::is_own_form(node))
            && !found.places.iter().any(is_read)
        {
            own_keys(text, node, &[&[places::KEY][..], &BARE].concat(), problems);
        }
    }

    fn finish(self: Box<Self>, _problems: &mut Vec<Diagnostic>) -> Vec<Arc<dyn Unit>> {
        self.units
    }
}

impl PlanReader {
    fn plan(&mut self, text: Text<'_>, place: &Place<'_>, rules: &mut Rules, problems: &mut Vec<Diagnostic>) {
        let field = &place.plan;
        let names = match place.names() {
            Ok(names) => names,
            Err((message, help)) => {
                let told = Diagnostic::error(code::MISSING_KEY, message);
                problems.push(told.at(text.source, field.key_span.unwrap_or(field.span())).help(help));
                return;
            }
        };
        for found in names.iter().filter_map(|name| Wildcard::of(name)) {
            let problem = found.problem(place.name_span(), "write a plan for each tool");
            problems.push(Diagnostic::from_problem(problem, text.source));
        }
        match place.form {
            Form::Published => {}
            Form::Own => own_keys(text, place.tool.node, &[places::KEY], problems),
            Form::Bare => own_keys(text, place.tool.node, &BARE, problems),
        }
        let rule = text.rule("rejection_plan", &field.pointer, field.span());
        let options = wanted(text, place, problems);
        let description = place.description().map(Arc::from);
        let tools: Arc<[Arc<str>]> = names.iter().map(|name| Arc::from(&**name)).collect();
        let governed = tools.first().filter(|_| tools.len() == 1).cloned();
        let id = rules.push(Rule { description, tool: governed, tools: Arc::clone(&tools), options, ..rule });
        if !self.built {
            // A guard that is not evaluated must not look like one that passes.
            let message = "this build cannot evaluate rejection plans";
            let diagnostic = Diagnostic::error(codes::PLANS_NOT_BUILT, message);
            let diagnostic = diagnostic.at(text.source, field.key_span.unwrap_or(field.span()));
            problems.push(diagnostic.help("build with the feature `rejection-plans`"));
            return;
        }
        if let Some(unit) = unit(text, place, (id, tools), problems).filter(|_| !rules.is_off(id)) {
            self.units.push(unit);
        }
    }
}

#[cfg(feature = "rejection-plans")]
fn unit(
    text: Text<'_>,
    place: &Place<'_>,
    (rule, tools): (RuleId, Arc<[Arc<str>]>),
    problems: &mut Vec<Diagnostic>,
) -> Option<Arc<dyn Unit>> {
    let field = &place.plan;
    let pending = pending(text, place, problems);
    let body = match place.form {
        Form::Bare => read::conditions(field, text.source, pending.is_some(), problems),
        Form::Own | Form::Published => read::plan(field, text.source, pending.is_some(), problems),
    };
    let (pointer, counts) = (field.pointer.as_str().into(), pending.unwrap_or_default());
    Some(Arc::new(plan::Plan { rules: vec![rule], tools, pointer, counts, body }))
}

/// Never asked: this build reports every plan.
#[cfg(not(feature = "rejection-plans"))]
fn unit(
    _: Text<'_>,
    _: &Place<'_>,
    _: (RuleId, Arc<[Arc<str>]>),
    _: &mut Vec<Diagnostic>,
) -> Option<Arc<dyn Unit>> {
    None
}

/// Whether it does, if the plan says so.
#[cfg(feature = "rejection-plans")]
fn pending(text: Text<'_>, place: &Place<'_>, problems: &mut Vec<Diagnostic>) -> Option<bool> {
    let node = if place.form == Form::Bare { place.tool.node } else { place.plan.node };
    let mut wrong = Vec::new();
    let mut fields = node.as_map().and_then(|_| Field::document(node).fields(&mut wrong))?.null_is_absent();
    let answers = [("counts", true), ("left_out", false)];
    let counts = fields.optional(PENDING).and_then(|field| field.one_of(&answers, &mut wrong));
    problems.extend(wrong.into_iter().map(|problem| Diagnostic::from_problem(problem, text.source)));
    counts
}

/// The options of a plan, besides its conditions. Published plans have no such keys, so a mistake in one is an error,
/// and not a plan that rejects.
fn wanted(text: Text<'_>, place: &Place<'_>, problems: &mut Vec<Diagnostic>) -> RuleOptions {
    let node = if place.form == Form::Bare { place.tool.node } else { place.plan.node };
    let mut wrong = Vec::new();
    let fields = node.as_map().and_then(|_| Field::document(node).fields(&mut wrong));
    let options = fields.map(|fields| options(&mut fields.null_is_absent(), &mut wrong)).unwrap_or_default();
    problems.extend(wrong.into_iter().map(|problem| Diagnostic::from_problem(problem, text.source)));
    options
}

/// The name of a rule without its own.
fn phrase(rule: &Rule) -> Option<String> {
    match &*rule.tools {
        [] => None,
        tools => Some(format!(
            "rejection plan of {}",
            wording::list(tools.iter().map(|tool| wording::name(tool).into_owned()))
        )),
    }
}

/// Keys of a plan whose conditions are beside its tool.
const BARE: [&str; 5] = ["conditions", PENDING, "effect", "mode", "tell"];

/// Our own forms hold only the plan, so an unknown key is a slip.
fn own_keys(text: Text<'_>, node: &Node, plan: &[&'static str], problems: &mut Vec<Diagnostic>) {
    let known = [&["dialect", "tool", "description"], plan].concat();
    for entry in node.as_map().unwrap_or_default() {
        if !known.contains(&entry.key.as_str()) {
            let known_here = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
            let told = unknown(text, entry, nearest(&entry.key, known.iter().copied()));
            problems.push(told.help(format!("known here: {known_here}")));
        }
    }
    let mut wrong = Vec::new();
    if let Some(mut fields) = Field::document(node).fields(&mut wrong) {
        let description = fields.optional("description").filter(|description| !description.node.is_null());
        let _ = description.and_then(|description| description.text(&mut wrong));
        let _ = fields.optional("tool").and_then(|tool| tool.name(&mut wrong));
    }
    problems.extend(wrong.into_iter().map(|problem| Diagnostic::from_problem(problem, text.source)));
}

/// The problem of something intended as a plan that guards nothing.
fn slipped(text: Text<'_>, slip: &Slip<'_>) -> Diagnostic {
    let (entry, help) = match slip {
        Slip::Misspelt(entry) => return unknown(text, entry, Some(places::KEY)),
        Slip::InFunction(entry) => (entry, "write it on the tool, beside `function`"),
        Slip::OnNoTool(entry) => (
            entry,
            "write it on a tool: beside `type: function` (or another type of tool) and `function: {name: …}`, or as \
             `{tool: NAME, rejectionPlan: …}`",
        ),
        Slip::Unwrapped(entry) => (entry, "write `rejectionPlan: {conditions: […]}`"),
    };
    let message = match slip {
        Slip::Unwrapped(_) => "the conditions are not in a `rejectionPlan`, so they would not be enforced",
        _ => "this `rejectionPlan` does not belong to a tool, so it would not be enforced",
    };
    Diagnostic::error(code::NOT_ENFORCED, message).at(text.source, entry.key_span).help(help)
}

fn unknown(text: Text<'_>, entry: &Entry, known: Option<&str>) -> Diagnostic {
    let mut message = format!("unknown key {}", quoted(&entry.key));
    if let Some(known) = known {
        message.push_str(&format!(", did you mean `{known}`?"));
    }
    Diagnostic::error(code::UNKNOWN_KEY, message).at(text.source, entry.key_span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::beside::Beside;
    use rulestep_base::source::parse;

    /// The diagnostics of a program with plans, or without, for a plan, and the number of units it makes of it.
    fn read(built: bool, text: &str) -> (Vec<Diagnostic>, usize) {
        let source = Source::new("p.yaml", text);
        let parsed = parse(&source);
        let beside = Beside::default();
        let text = Text {
            source: &source,
            node: &parsed.documents[0],
            prefix: "p.yaml#",
            beside: &beside,
            relative: "p.yaml",
            alone: true,
            dialect: &DIALECT,
        };
        let (mut rules, mut problems) = (Rules::default(), Vec::new());
        let mut reader = PlanReader { built, units: Vec::new() };
        reader.read(text, &mut rules, &mut problems);
        let units = Box::new(reader).finish(&mut problems).len();
        (problems, units)
    }

    #[test]
    fn a_plan_that_nobody_evaluates_is_an_error() {
        let text = "{tool: pay, rejectionPlan: {conditions: [{type: regex, regex: no}]}}";
        let (problems, units) = read(false, text);
        assert_eq!((problems[0].code, units), (codes::PLANS_NOT_BUILT, 0));
        assert!(problems[0].place().is_some());
        let (problems, units) = read(cfg!(feature = "rejection-plans"), text);
        assert_eq!(problems.is_empty(), units == 1);
        assert_eq!(units == 1, cfg!(feature = "rejection-plans"));
    }
}
