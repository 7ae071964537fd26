#![doc = include_str!("contracts/reference.md")]

pub mod codes;
mod edits;
pub mod explain;
mod lint;
mod monitor;
pub mod output;
mod prior;
mod published;
mod unit;

use std::collections::HashMap;
use std::sync::Arc;

use crate::condition::path::Path;
use crate::dialect::question::{Table, facts};
use crate::dialect::{Dialect, Reader, Text, options, rejection_plans};
use crate::monitor::{Rule, RuleId, RuleOptions, Rules, Unit};
use output::{Condition, Conditions, Test};
use prior::{Matching, PriorCalls, PriorRule, Resource, Side};
use published::RunnerKeys;
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::session::value::Bound;
use rulestep_base::source::wildcard::Wildcard;
use rulestep_base::source::{Field, Fields, Node, Problem, ProblemKind, Source, Span, quoted};
use unit::{Contract, Contracts, Precondition, Steps, fewest};

/// The row of the table of dialects.
pub const DIALECT: Dialect = Dialect {
    name: "contract",
    title: "contracts: preconditions of one tool, and what it forbids",
    reference: include_str!("contracts/reference.md"),
    places: &[("requires_prior_tool", "CALL")],
    kinds: &[
        (
            "precondition",
            "{tool: b, preconditions: [{requires_prior_tool: a, resource: {bind_from: arguments, path: $.order_id}, \
         with_output: [{path: $.eligible, equals: true}]}, {requires_step_count: {gte: 1}}]}",
        ),
        ("forbids_after", "{tool: a, forbids_after: [c]}"),
    ],
    schema: include_str!("../../../../schemas/contract.schema.json"),
    edits: edits::EDITS,
    example: include_str!("contracts/example.yaml"),
    codes: codes::PAGES,
    recognises,
    keys: &["tool", "preconditions", "forbids_after", "dialect"],
    rules_only: true,
    reader: || Box::new(ContractReader::default()),
    phrase: explain::phrase,
    references: None,
};

fn recognises(node: &Node) -> bool {
    let has = |key| node.get(key).is_some();
    // A contract whose `tool` is misspelt is a broken contract, and not an unrelated file.
    (has("tool") && !rejection_plans::is_plan_of_tool(node))
        || has("preconditions")
        || has("forbids_after")
        || published::TELLING.iter().any(|key| has(key))
}

#[derive(Default)]
struct ContractReader {
    rules: Vec<RuleId>,
    contracts: Vec<Contract>,
    /// The place of each tool's contract.
    places: HashMap<Arc<str>, (Source, Span)>,
    /// Keys for the publisher's test runner.
    runner: RunnerKeys,
    /// Number of prior calls that have questions about what a call does.
    asking: usize,
}

impl Reader for ContractReader {
    fn read(&mut self, text: Text<'_>, rules: &mut Rules, problems: &mut Vec<Diagnostic>) {
        let mut found = Vec::new();
        let (runner, asking) = (&mut self.runner, &mut self.asking);
        let own = &mut self.rules;
        let mut reading = Reading {
            text,
            rules,
            own,
            tool: None,
            runner,
            asking,
            facts: Table::default(),
            told: Vec::new(),
        };
        let contract = reading.contract(&mut found);
        problems.append(&mut reading.told);
        let whole = found.is_empty();
        problems.extend(found.into_iter().map(|problem| Diagnostic::from_problem(problem, text.source)));
        let Some((contract, span)) = contract else { return };
        if let Some((other, place)) = self.places.get(&contract.tool) {
            let message = format!("a second contract for {}", quoted(&contract.tool));
            problems.push(
                Diagnostic::error(code::DUPLICATE_CONTRACT, message)
                    .at(text.source, span)
                    .related(other, *place, "the first one is here")
                    .help("put the preconditions of both into one contract"),
            );
            return;
        }
        if whole {
            problems.extend(lint::warnings(text, &contract, rules, &self.rules));
        }
        self.places.insert(Arc::clone(&contract.tool), (text.source.clone(), span));
        self.contracts.push(contract);
    }

    fn finish(self: Box<Self>, problems: &mut Vec<Diagnostic>) -> Vec<Arc<dyn Unit>> {
        problems.extend(self.runner.notice());
        if self.contracts.is_empty() {
            return Vec::new();
        }
        vec![Arc::new(Contracts::new(self.rules, self.contracts, self.asking))]
    }
}

/// Reads one document.
struct Reading<'a, 'r> {
    text: Text<'a>,
    rules: &'r mut Rules,
    own: &'r mut Vec<RuleId>,
    tool: Option<Arc<str>>,
    runner: &'r mut RunnerKeys,
    asking: &'r mut usize,
    /// The facts about programs and tools.
    facts: Table,
    /// Diagnostics besides errors.
    told: Vec<Diagnostic>,
}

impl<'a> Reading<'a, '_> {
    /// The contract, and where its tool is named.
    fn contract(&mut self, out: &mut Vec<Problem>) -> Option<(Contract, Span)> {
        let mut fields = Field::document(self.text.node).fields(out)?;
        fields.take("dialect");
        self.facts = facts(&mut fields, out);
        let (name, span) = self.name(&mut fields, out);
        self.tool.clone_from(&name);
        fields.text("description", out);
        let preconditions = fields.list("preconditions", out, |item, out| self.precondition(&item, out));
        let forbids_after = fields.list("forbids_after", out, |item, out| self.forbids(&item, out));
        self.told.extend(published::keys(&mut fields, self.text.source, self.runner, out));
        fields.finish(out);
        let contract = Contract {
            tool: name?,
            preconditions: preconditions.unwrap_or_default(),
            forbids_after: forbids_after.unwrap_or_default(),
        };
        Some((contract, span?))
    }

    /// The tool, and where it is named. Vesanor's contracts may leave the name to their file's.
    fn name(&mut self, fields: &mut Fields<'a>, out: &mut Vec<Problem>) -> (Option<Arc<str>>, Option<Span>) {
        if let Some(tool) = fields.optional("tool") {
            let name = tool.exact_name(out, |_| "write one contract for each tool".to_owned());
            return (name.map(Arc::from), Some(tool.span()));
        }
        let stem = self.text.stem();
        if !self.text.alone || stem.is_empty() {
            let missing = fields.missing("tool");
            out.push(missing.help(
                "a contract takes its file's name only if no `---` separates it from another document",
            ));
            return (None, None);
        }
        let message =
            format!("the contract has no `tool`, so it applies to {}, after its file's name", quoted(stem));
        let told =
            Diagnostic::notice(codes::TOOL_FROM_FILE_NAME, message).at(self.text.source, fields.head());
        let told = told.help(format!("write `tool: {stem}` to say it in the file"));
        self.told.push(told.fix(lint::named(self.text, stem)));
        (Some(stem.into()), Some(fields.head()))
    }

    /// A tool that is forbidden once the contract's has run: its name, or a mapping with it and what is wanted of the rule.
    fn forbids(&mut self, item: &Field<'a>, out: &mut Vec<Problem>) -> Option<(Arc<str>, usize)> {
        let help = |_: &Wildcard<'_>| "list each forbidden tool by its name".to_owned();
        let (tool, description, wanted) = match item.node.as_map() {
            None => (item.exact_name(out, help), None, RuleOptions::default()),
            Some(_) => {
                let mut fields = item.fields(out)?;
                let tool = fields.required("tool", out).and_then(|tool| tool.exact_name(out, help));
                let description = fields.text("description", out).map(Arc::from);
                let wanted = options(&mut fields, out);
                fields.finish(out);
                (tool, description, wanted)
            }
        };
        let tool: Arc<str> = tool?.into();
        let rule = self.rule("forbids_after", item, description, vec![Arc::clone(&tool)], wanted)?;
        Some((tool, rule))
    }

    fn precondition(&mut self, item: &Field<'a>, out: &mut Vec<Problem>) -> Option<Precondition> {
        let mut fields = item.fields(out)?;
        let description = fields.text("description", out).map(Arc::from);
        let wanted = options(&mut fields, out);
        let steps = fields.mapping("requires_step_count", out).map(|steps| read_steps(steps, out));
        let field = fields.optional("requires_prior_tool");
        let calls = field.as_ref().and_then(|field| PriorCalls::read(field, &self.facts, self.asking, out));
        if let (Some(field), Some(calls)) = (&field, &calls) {
            let source = self.text.source;
            self.told.extend(calls.commands_as_text(field.node, source));
        }
        let others = match &calls {
            Some(calls) => calls.named().map(explain::rule_tool).collect(),
            None => Vec::new(),
        };
        let rule = self.rule("precondition", item, description, others, wanted);
        let resource = fields.mapping("resource", out).map(|resource| read_resource(resource, out));
        let outputs = fields.list("with_output", out, |entry, out| {
            self.told.extend(lint::word_for_truth(entry.node, self.text.source));
            output_condition(&entry, out)
        });
        let matching = fields
            .optional("match")
            .and_then(|word| word.one_of(&[("newest", Matching::Newest), ("any", Matching::Any)], out));
        if field.is_none() {
            for key in ["resource", "with_output", "match"] {
                if let Some(entry) = item.node.entry(key) {
                    let message =
                        format!("`{key}` describes a prior call, but there is no `requires_prior_tool`");
                    out.push(Problem::new(ProblemKind::MissingKey, entry.key_span, message));
                }
            }
            if steps.is_none() && !fields.has("requires_step_count") {
                let message = "a precondition needs `requires_prior_tool` or `requires_step_count`";
                out.push(Problem::new(ProblemKind::MissingKey, fields.head(), message));
            }
        }
        fields.finish(out);
        let prior = calls.map(|calls| PriorRule {
            calls,
            outputs: Conditions::new(outputs.unwrap_or_default()),
            // A binding asks for the state of one resource, so its newest check decides; unbound, any check will do.
            matching: matching.unwrap_or(if resource.is_some() { Matching::Newest } else { Matching::Any }),
            resource: resource.flatten(),
        });
        Some(Precondition { rule: rule?, steps: steps.flatten(), prior })
    }

    /// Gives the next rule its id, and returns its number among the contracts' rules; `None` if it is switched off.
    fn rule(
        &mut self,
        kind: &'static str,
        item: &Field<'_>,
        description: Option<Arc<str>>,
        others: Vec<Arc<str>>,
        options: RuleOptions,
    ) -> Option<usize> {
        let rule = self.text.rule(kind, &item.pointer, item.span());
        let tools = self.tool.iter().cloned().chain(others).collect();
        let id = self.rules.push(Rule { description, tool: self.tool.clone(), tools, options, ..rule });
        if self.rules.is_off(id) {
            return None;
        }
        self.own.push(id);
        Some(self.own.len() - 1)
    }
}

fn read_steps(mut fields: Fields<'_>, out: &mut Vec<Problem>) -> Option<Steps> {
    let bound = fields.required("gte", out).and_then(|bound| bound.number(out).cloned());
    fields.finish(out);
    bound.map(|bound| Steps { fewest: fewest(&bound), bound })
}

fn read_resource(mut fields: Fields<'_>, out: &mut Vec<Problem>) -> Option<Resource> {
    let from = fields.required("bind_from", out).and_then(|from| from.one_of(&[("arguments", ())], out));
    let here = fields.required("path", out).and_then(|path| singular_path(&path, out));
    let prior = fields.mapping("prior", out).map(|mut prior| {
        let sides = [("arguments", Side::Arguments), ("output", Side::Output)];
        let side = prior.required("bind_from", out).and_then(|side| side.one_of(&sides, out));
        let path = prior.required("path", out).and_then(|path| singular_path(&path, out));
        prior.finish(out);
        Some((side?, path?))
    });
    fields.finish(out);
    let ((), here) = (from?, here?);
    let (side, there) = match prior {
        Some(prior) => prior?,
        None => (Side::Arguments, here.clone()),
    };
    Some(Resource { here, side, there })
}

fn output_condition(entry: &Field<'_>, out: &mut Vec<Problem>) -> Option<Condition> {
    let mut fields = entry.fields(out)?;
    let path = fields.required("path", out).and_then(|path| any_path(&path, out));
    let mut tests = Vec::new();
    tests.extend(fields.boolean("exists", out).map(Test::Exists));
    tests.extend(fields.take("equals").map(|wanted| Test::Equals(wanted.value.to_json())));
    tests.extend(fields.number("gte", out).cloned().map(Bound::new).map(Test::Gte));
    tests.extend(fields.number("lte", out).cloned().map(Bound::new).map(Test::Lte));
    if tests.is_empty() {
        tests.push(Test::Exists(true));
    }
    fields.finish(out);
    Some(Condition { path: path?, tests })
}

fn any_path(field: &Field<'_>, out: &mut Vec<Problem>) -> Option<Path> {
    match Path::parse(field.text(out)?) {
        Ok(path) => Some(path),
        Err(error) => {
            out.push(field.problem(ProblemKind::BadPath, error.to_string()));
            None
        }
    }
}

fn singular_path(field: &Field<'_>, out: &mut Vec<Problem>) -> Option<Path> {
    let path = any_path(field, out)?;
    if path.is_singular() {
        return Some(path);
    }
    let message = format!("{} can match several values, and a resource is one value", quoted(path.text()));
    out.push(
        field
            .problem(ProblemKind::BadPath, message)
            .help("use only names and indices, as in `$.items[0].id`"),
    );
    None
}
