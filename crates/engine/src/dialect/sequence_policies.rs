#![doc = include_str!("sequence_policies/reference.md")]

pub mod codes;
pub mod dispatches;
mod edits;
pub mod explain;
mod leak;
mod lint;
mod monitor;
mod unit;

use std::sync::Arc;

use crate::dialect::{Dialect, Reader, Text, options};
use crate::monitor::{Effect, Rule, RuleId, RuleOptions, Rules, Unit};
use explain::NamePattern;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::source::wildcard::Wildcard;
use rulestep_base::source::{Field, Fields, Node, Problem, ProblemKind};
use unit::{Forbidden, Limit, Response, SequencePolicy};

/// The row of the table of dialects.
pub const DIALECT: Dialect = Dialect {
    name: "sequence_policy",
    title: "sequence policies: forbidden orders of calls, and limits on their number",
    reference: include_str!("sequence_policies/reference.md"),
    places: &[],
    kinds: &[
        ("forbidden", "forbidden: [{sequence: [a, {namePrefix: c.}, b], action: deny, reason: security:x}]"),
        ("limit", "limits: {a: {maxPerSession: 100000000, action: deny, reason: cost:x}}"),
    ],
    schema: include_str!("../../../../schemas/sequence_policy.schema.json"),
    edits: edits::EDITS,
    example: include_str!("sequence_policies/example.yaml"),
    codes: codes::PAGES,
    recognises,
    keys: &["forbidden", "limits"],
    rules_only: true,
    reader: || Box::new(Policies::default()),
    phrase: explain::phrase,
    references: None,
};

/// The name of a policy without one.
const UNNAMED: &str = "sequence-policy";

fn recognises(node: &Node) -> bool {
    (node.get("forbidden").is_some() || node.get("limits").is_some()) && node.get("tool").is_none()
}

#[derive(Default)]
struct Policies(Vec<Arc<dyn Unit>>);

impl Reader for Policies {
    fn read(&mut self, text: Text<'_>, rules: &mut Rules, problems: &mut Vec<Diagnostic>) {
        let (mut found, mut own) = (Vec::new(), Vec::new());
        let mut reading = Reading { text, rules, own: &mut own };
        let policy = reading.policy(&mut found);
        problems.extend(found.into_iter().map(|problem| Diagnostic::from_problem(problem, text.source)));
        problems.extend(lint::warnings(text));
        if let Some((id, forbidden, limits)) = policy {
            problems.extend(lint::rules(text, &forbidden, &limits, rules, &own));
            self.0.push(Arc::new(SequencePolicy::new(own, id, forbidden, limits)));
        }
    }

    fn finish(self: Box<Self>, _problems: &mut Vec<Diagnostic>) -> Vec<Arc<dyn Unit>> {
        self.0
    }
}

/// Reads one document.
struct Reading<'a, 'r> {
    text: Text<'a>,
    rules: &'r mut Rules,
    own: &'r mut Vec<RuleId>,
}

impl<'a> Reading<'a, '_> {
    fn policy(&mut self, out: &mut Vec<Problem>) -> Option<(Arc<str>, Vec<Forbidden>, Vec<Limit>)> {
        let mut fields = Field::document(self.text.node).fields(out)?;
        fields.take("dialect");
        let id = fields.text("id", out).unwrap_or(UNNAMED);
        let forbidden = fields.list("forbidden", out, |item, out| self.forbidden(&item, out));
        let limits = fields.optional("limits").and_then(|limits| {
            let entries = limits.entries(out)?;
            Some(entries.filter_map(|(tool, limit)| self.limit(tool, &limit, out)).collect::<Vec<_>>())
        });
        fields.finish(out);
        Some((id.into(), forbidden.unwrap_or_default(), limits.unwrap_or_default()))
    }

    fn forbidden(&mut self, item: &Field<'a>, out: &mut Vec<Problem>) -> Option<Forbidden> {
        let mut fields = item.fields(out)?;
        let sequence = fields.required("sequence", out);
        let sequence = sequence.and_then(|sequence| whole_list(&sequence, out, name_pattern));
        let said = said(&mut fields, out);
        let wanted = wanted(item, &mut fields, out);
        fields.finish(out);
        let sequence: Arc<[NamePattern]> = sequence?.into();
        let tool = match sequence.last() {
            Some(NamePattern::Exact(tool)) => Some(Arc::clone(tool)),
            _ => None,
        };
        let tools = sequence.iter().map(|pattern| match pattern {
            NamePattern::Exact(tool) => Arc::clone(tool),
            NamePattern::Prefix(prefix) => format!("{prefix}…").into(),
        });
        let rule = self.rule("forbidden", item, tool, tools.collect(), wanted);
        Some(Forbidden { rule: rule?, sequence, said: said? })
    }

    fn limit(&mut self, tool: &str, item: &Field<'a>, out: &mut Vec<Problem>) -> Option<Limit> {
        if let Some(found) = Wildcard::of(tool) {
            let span = item.key_span.unwrap_or(item.span());
            out.push(found.problem(span, "write a limit for each tool by its name"));
        }
        let mut fields = item.fields(out)?;
        let allowed = fields.required("maxPerSession", out).and_then(|allowed| allowed.count(out));
        let said = said(&mut fields, out);
        let wanted = wanted(item, &mut fields, out);
        fields.finish(out);
        let tool: Arc<str> = tool.into();
        let rule = self.rule("limit", item, Some(Arc::clone(&tool)), [Arc::clone(&tool)].into(), wanted);
        Some(Limit { rule: rule?, tool, allowed: allowed?, said: said? })
    }

    /// Gives the next rule its id, and returns its number in the document; `None` if it is switched off.
    fn rule(
        &mut self,
        kind: &'static str,
        item: &Field<'_>,
        tool: Option<Arc<str>>,
        tools: Arc<[Arc<str>]>,
        options: RuleOptions,
    ) -> Option<usize> {
        let rule = self.text.rule(kind, &item.pointer, item.span());
        let id = self.rules.push(Rule { tool, tools, options, ..rule });
        if self.rules.is_off(id) {
            return None;
        }
        self.own.push(id);
        Some(self.own.len() - 1)
    }
}

/// The response that both kinds of rules have for a call that they object to.
fn said(fields: &mut Fields<'_>, out: &mut Vec<Problem>) -> Option<Response> {
    let actions = [("deny", Effect::Deny), ("halt", Effect::Halt)];
    let effect = fields.required("action", out).and_then(|action| action.one_of(&actions, out));
    let reason = fields.required("reason", out).and_then(|reason| reason.text(out));
    let tell_llm = fields.text("tellLLM", out).map(Arc::from);
    Some(Response { effect: effect?, reason: reason?.into(), tell_llm })
}

/// The options of the rule. `action` says how it stops a call, and `tellLLM` is its own word for `tell`: a document
/// that gives both contradicts itself, and which one is intended is unknown.
fn wanted(item: &Field<'_>, fields: &mut Fields<'_>, out: &mut Vec<Problem>) -> RuleOptions {
    let word = |key| item.node.get(key).and_then(Node::as_str);
    let mut clash = |key, message, help| {
        if let Some(entry) = item.node.entry(key) {
            out.push(Problem::new(ProblemKind::BadValue, entry.key_span, message).help(help));
        }
    };
    if (word("action"), word("effect")) == (Some("halt"), Some("deny")) {
        let help = "`action` says how the rule stops a call: leave `effect` out";
        clash("effect", "`effect: deny` contradicts `action: halt`", help);
    }
    if item.node.get("tellLLM").is_some() {
        clash("tell", "the rule has both `tell` and `tellLLM`", "keep one of the two texts");
    }
    // It is the author's message to the model, whatever the key is called here.
    let own = word("tellLLM").map(Arc::from);
    let options = options(fields, out);
    RuleOptions { tell: options.tell.clone().or(own), ..options }
}

fn name_pattern(item: &Field<'_>, out: &mut Vec<Problem>) -> Option<NamePattern> {
    if item.node.as_map().is_none() {
        if let Some(prefix) = item.node.as_str().and_then(|text| text.strip_prefix("namePrefix:")) {
            let message = "this is the name of a tool: after the colon of a key comes a blank";
            let help = format!("write `{{namePrefix: {}}}`", prefix.trim());
            out.push(item.problem(ProblemKind::MatchesNothing, message).help(help));
        }
        return item.exact_name(out, prefix_instead).map(|name| NamePattern::Exact(name.into()));
    }
    let mut fields = item.fields(out)?;
    let prefix = fields.required("namePrefix", out).and_then(|prefix| {
        let text = prefix.text(out)?;
        out.extend(Wildcard::of(text).map(|found| found.problem(prefix.span(), prefix_instead(&found))));
        Some(text)
    });
    fields.finish(out);
    prefix.map(|prefix| NamePattern::Prefix(prefix.into()))
}

/// The form that matches several names here.
fn prefix_instead(found: &Wildcard<'_>) -> String {
    match found.prefix {
        Some("") => "`{namePrefix: ''}` matches every tool".to_owned(),
        Some(prefix) => format!("write `{{namePrefix: {prefix}}}` for every tool whose name begins so"),
        None => "write `{namePrefix: …}` with the text that the names begin with, or a rule for each tool"
            .to_owned(),
    }
}

/// A list of which every item can be read: a shorter sequence would be another rule.
fn whole_list<'a, T>(
    list: &Field<'a>,
    out: &mut Vec<Problem>,
    mut read: impl FnMut(&Field<'a>, &mut Vec<Problem>) -> Option<T>,
) -> Option<Vec<T>> {
    let items: Vec<Option<T>> = list.items(out)?.map(|item| read(&item, out)).collect();
    items.into_iter().collect()
}
