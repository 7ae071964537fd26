//! Rejection plans: conditions on what was said, under which a tool's calls are rejected.
//!
//! ```yaml
//! type: function
//! function: {name: transfer_call}
//! rejectionPlan:
//!   conditions:
//!     - {type: regex, regex: '(?i)\bgoodbye\b', target: {role: user}, negate: true}
//!     - {type: liquid, liquid: '{% if messages.size > 4 %}true{% else %}false{% endif %}'}
//! ```
//!
//! A plan stands on a tool, wherever an assistant's configuration keeps its tools. Each plan is a unit. What cannot be
//! evaluated counts as matched; what each key means is SEMANTICS 6.

mod monitor;
mod places;
mod plan;
mod read;
mod template;
mod warn;

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, code};
use crate::dialect::{Dialect, Reader, Text, no_references};
use crate::monitor::{Rule, Rules, Unit};
use crate::source::nearest::nearest;
use crate::source::wildcard::Wildcard;
use crate::source::{Entry, Field, Node, quoted};
use places::{Place, places};
use plan::Plan;

/// The row of the table of dialects.
pub const DIALECT: Dialect = Dialect {
    name: "rejection_plan",
    title: "rejection plans: what must or must not have been said before a tool is called",
    recognises,
    reader: || Box::new(Planned::default()),
    references: no_references,
};

/// A plan anywhere, or the configuration of an assistant or a squad, which may have one.
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
    assistant(node) || squad(node) || places(node).iter().any(|place| place.plan.is_some())
}

#[derive(Default)]
struct Planned {
    plans: Vec<Plan>,
}

impl Reader for Planned {
    fn read(&mut self, text: Text<'_>, rules: &mut Rules, problems: &mut Vec<Diagnostic>) {
        let places = places(text.node);
        for place in &places {
            match &place.plan {
                Some(field) => self.plan(text, place, field, rules, problems),
                None => misspelt(text, place, problems),
            }
        }
        if places.iter().all(|place| place.plan.is_none()) {
            let message = "no tool of this document has a rejection plan";
            problems
                .push(Diagnostic::notice(code::NO_REJECTION_PLAN, message).at(text.source, text.node.span));
        }
    }

    fn finish(self: Box<Self>, _problems: &mut Vec<Diagnostic>) -> Vec<Arc<dyn Unit>> {
        self.plans.into_iter().map(|plan| Arc::new(plan) as Arc<dyn Unit>).collect()
    }
}

impl Planned {
    fn plan(
        &mut self,
        text: Text<'_>,
        place: &Place<'_>,
        field: &Field<'_>,
        rules: &mut Rules,
        problems: &mut Vec<Diagnostic>,
    ) {
        let Some(tool) = place.name() else {
            let message = "the plan's tool has no name: none of `function.name`, `name` and `type` is text";
            let diagnostic = Diagnostic::error(code::MISSING_KEY, message);
            problems.push(diagnostic.at(text.source, field.key_span.unwrap_or(field.span())));
            return;
        };
        if let Some(found) = Wildcard::of(tool) {
            let problem = found.problem(place.name_span(), "write a plan for each tool");
            problems.push(Diagnostic::from_problem(problem, text.source));
        }
        if place.own_form {
            own_keys(text, place, problems);
        }
        let rule = text.rule(DIALECT.name, "rejection_plan", &field.pointer, field.span());
        let description = place.description().map(Arc::from);
        let governed: Arc<str> = tool.into();
        let tools = Arc::from([Arc::clone(&governed)]);
        let id = rules.push(Rule { description, tool: Some(governed), tools, ..rule });
        let body = read::plan(field, text.source, problems);
        self.plans.push(Plan {
            rules: vec![id],
            tool: tool.into(),
            pointer: field.pointer.as_str().into(),
            body,
        });
    }
}

/// In our own form there is nothing but the plan, so a key nobody reads is a slip.
fn own_keys(text: Text<'_>, place: &Place<'_>, problems: &mut Vec<Diagnostic>) {
    const KNOWN: [&str; 4] = ["dialect", "tool", "description", "rejectionPlan"];
    for entry in place.tool.node.as_map().unwrap_or_default() {
        if !KNOWN.contains(&entry.key.as_str()) {
            problems.push(unread(text, entry, nearest(&entry.key, KNOWN)));
        }
    }
}

/// A tool without a plan may have one under another spelling, and then nothing guards it.
fn misspelt(text: Text<'_>, place: &Place<'_>, problems: &mut Vec<Diagnostic>) {
    for entry in place.tool.node.as_map().unwrap_or_default() {
        if let Some(known) = nearest(&entry.key, ["rejectionPlan"]) {
            problems.push(unread(text, entry, Some(known)));
        }
    }
}

fn unread(text: Text<'_>, entry: &Entry, known: Option<&str>) -> Diagnostic {
    let mut message = format!("unknown key {}", quoted(&entry.key));
    if let Some(known) = known {
        message.push_str(&format!(", did you mean `{known}`?"));
    }
    Diagnostic::warning(code::UNKNOWN_KEY, message).at(text.source, entry.key_span)
}
