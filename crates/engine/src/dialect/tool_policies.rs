#![doc = include_str!("tool_policies/reference.md")]

pub mod codes;
mod edits;
pub mod explain;
pub mod files;
mod layered;
mod lint;
mod literal;
mod monitor;
mod path;
pub mod record;
mod unit;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::condition::path::Path;
use crate::dialect::{Dialect, Reader, Text, options};
use crate::monitor::{Rule, RuleId, Rules, Unit};
use path::Locator;
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::source::nearest::nearest;
use rulestep_base::source::wildcard::Wildcard;
use rulestep_base::source::{Field, Fields, Node, Problem, ProblemKind, Span, quoted};
use unit::{Document, FileRule, Kind, Policy, Section, ToolPolicies};

/// The row of the table of dialects.
pub const DIALECT: Dialect = Dialect {
    name: "tool_policy",
    title: "tool policies: tools that need others first, files that are read before they are written",
    reference: include_str!("tool_policies/reference.md"),
    places: &[],
    kinds: &[
        ("sequential_dependency", "policies: [{type: sequential_dependency, dependencies: {b: [a]}}]"),
        ("read_before_write", "policies: [{type: read_before_write, read_tools: [a], write_tools: [b]}]"),
    ],
    schema: include_str!("../../../../schemas/tool_policy.schema.json"),
    edits: edits::EDITS,
    example: include_str!("tool_policies/example.yaml"),
    codes: codes::PAGES,
    recognises,
    keys: &["policies", "sections", "existing_files"],
    rules_only: true,
    reader: || Box::new(Policies::default()),
    phrase: explain::phrase,
    references: None,
};

fn recognises(node: &Node) -> bool {
    (node.get("policies").is_some() || node.get("sections").is_some()) && node.get("tool").is_none()
}

#[derive(Default)]
struct Policies(Vec<Arc<dyn Unit>>);

impl Reader for Policies {
    fn read(&mut self, text: Text<'_>, rules: &mut Rules, problems: &mut Vec<Diagnostic>) {
        let mut found = Vec::new();
        let mut reading = Reading {
            text,
            rules,
            own: Vec::new(),
            policies: Vec::new(),
            homes: HashMap::new(),
            refused: Vec::new(),
        };
        let document = reading.document(&mut found);
        problems.extend(found.into_iter().map(|problem| Diagnostic::from_problem(problem, text.source)));
        problems.append(&mut reading.refused);
        problems.extend(lint::warnings(text));
        if let Some(document) = document {
            self.0.push(Arc::new(ToolPolicies::new(reading.own, document)));
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
    own: Vec<RuleId>,
    policies: Vec<Policy>,
    /// The section that lists a tool, and where.
    homes: HashMap<&'a str, (usize, Span)>,
    refused: Vec<Diagnostic>,
}

impl<'a> Reading<'a, '_> {
    fn document(&mut self, out: &mut Vec<Problem>) -> Option<Document> {
        let mut fields = Field::document(self.text.node).fields(out)?;
        fields.take("dialect");
        let prompt = fields.list("policies", out, |item, out| self.policy(&item, out));
        let existing = fields.list("existing_files", out, |item, out| {
            let path = item.text(out)?;
            out.extend(
                literal::no_file(path)
                    .map(|(message, help)| item.problem(ProblemKind::MatchesNothing, message).help(help)),
            );
            Some(Arc::from(path))
        });
        let mut parents = Vec::new();
        let sections = fields.optional("sections").and_then(|sections| {
            let sections = sections.items(out)?.enumerate();
            Some(
                sections
                    .filter_map(|(number, item)| self.section(number, &item, &mut parents, out))
                    .collect(),
            )
        });
        fields.finish(out);
        self.unknown_parents(&parents);
        Some(Document {
            prefix: self.text.prefix.into(),
            policies: std::mem::take(&mut self.policies),
            prompt: prompt.unwrap_or_default(),
            sections: sections.unwrap_or_default(),
            existing,
        })
    }

    /// `parents` collects each section's id and parent.
    fn section(
        &mut self,
        number: usize,
        item: &Field<'a>,
        parents: &mut Vec<(Option<&'a str>, Option<Field<'a>>)>,
        out: &mut Vec<Problem>,
    ) -> Option<Section> {
        let mut fields = item.fields(out)?.null_is_absent();
        let id = fields.optional("id").and_then(|id| Some((id.span(), id.name(out)?)));
        let parent = fields.optional("parent").filter(|parent| parent.text(out).is_some());
        if let Some((span, id)) = id
            && parents.iter().any(|(known, _)| *known == Some(id))
        {
            let message = format!("a second section {}", quoted(id));
            self.refused.push(
                Diagnostic::error(code::BAD_VALUE, message)
                    .at(self.text.source, span)
                    .help("give each section an id of its own"),
            );
        }
        // A section without an id is known by its place; no other section can name it as a parent.
        parents.push((id.map(|(_, id)| id), parent));
        let tools = fields.list("tools", out, |tool, out| {
            let name = tool.exact_name(out, each_tool)?;
            self.home(name, number, tool.span());
            Some(Arc::from(name))
        });
        let policies = fields.list("policies", out, |policy, out| self.policy(&policy, out));
        fields.finish(out);
        Some(Section { tools: tools.unwrap_or_default(), policies: policies.unwrap_or_default() })
    }

    /// A tool has one section: otherwise the order would decide which policies govern it.
    fn home(&mut self, tool: &'a str, section: usize, span: Span) {
        match self.homes.get(tool) {
            Some((first, place)) if *first != section => {
                let message = format!("{} is in two sections", quoted(tool));
                self.refused.push(
                    Diagnostic::error(codes::TOOL_IN_TWO_SECTIONS, message)
                        .at(self.text.source, span)
                        .related(self.text.source, *place, "the first one lists it here"),
                );
            }
            Some(_) => {}
            None => {
                self.homes.insert(tool, (section, span));
            }
        }
    }

    fn unknown_parents(&mut self, sections: &[(Option<&'a str>, Option<Field<'a>>)]) {
        let ids = || sections.iter().filter_map(|(id, _)| *id);
        for parent in sections.iter().filter_map(|(_, parent)| parent.as_ref()) {
            let Some(name) = parent.node.as_str().filter(|name| !ids().any(|id| id == *name)) else {
                continue;
            };
            let message = format!("there is no section {}", quoted(name));
            let mut unknown =
                Diagnostic::error(codes::UNKNOWN_PARENT, message).at(self.text.source, parent.span());
            unknown.help = Some(match nearest(name, ids()) {
                Some(id) => format!("did you mean `{id}`?"),
                None => "give the section that is meant this `id`, or leave `parent` out".to_owned(),
            });
            self.refused.push(unknown);
        }
    }

    /// Reads a policy and returns its number in the document; nothing if it is switched off.
    fn policy(&mut self, item: &Field<'a>, out: &mut Vec<Problem>) -> Option<usize> {
        let mut fields = item.fields(out)?.null_is_absent();
        let name: Option<Arc<str>> = fields.text("name", out).map(Arc::from);
        let types = [("sequential_dependency", true), ("read_before_write", false)];
        let sequential = fields.required("type", out).and_then(|kind| kind.one_of(&types, out))?;
        let kind =
            if sequential { dependencies(&mut fields, out) } else { Some(file_rule(&mut fields, out)) };
        let options = options(&mut fields, out);
        fields.finish(out);
        let word = if sequential { "sequential_dependency" } else { "read_before_write" };
        let rule = self.text.rule(word, &item.pointer, item.span());
        // Tools that write, or that need others first.
        let tools = match &kind {
            Some(Kind::Dependencies(needs)) => {
                needs.keys().cloned().collect::<BTreeSet<_>>().into_iter().collect()
            }
            Some(Kind::Files(files)) => Arc::clone(&files.write),
            None => Arc::default(),
        };
        let id = self.rules.push(Rule { description: name.clone(), name, tools, options, ..rule });
        if self.rules.is_off(id) {
            return None;
        }
        self.own.push(id);
        self.policies.push(Policy { rule: self.own.len() - 1, kind: kind? });
        Some(self.policies.len() - 1)
    }
}

/// The form that works if several tools are intended.
fn each_tool(_: &Wildcard<'_>) -> String {
    "list each tool by its name".to_owned()
}

fn dependencies<'a>(fields: &mut Fields<'a>, out: &mut Vec<Problem>) -> Option<Kind> {
    let entries = fields.required("dependencies", out)?.entries(out)?;
    let needs = entries.filter_map(|(tool, needs)| {
        if let Some(found) = Wildcard::of(tool) {
            out.push(found.problem(needs.key_span.unwrap_or(needs.span()), each_tool(&found)));
        }
        let mut needs: Vec<Arc<str>> =
            needs.list(out, |need, out| need.exact_name(out, each_tool).map(Arc::from))?;
        needs.sort();
        needs.dedup();
        Some((Arc::from(tool), needs.into()))
    });
    Some(Kind::Dependencies(needs.collect()))
}

fn file_rule<'a>(fields: &mut Fields<'a>, out: &mut Vec<Problem>) -> Kind {
    let mut tools = |key: &'a str, usual: &[&str]| -> Arc<[Arc<str>]> {
        let tools: Option<Vec<Arc<str>>> =
            fields.list(key, out, |tool, out| tool.exact_name(out, each_tool).map(Arc::from));
        tools.unwrap_or_else(|| usual.iter().map(|tool| Arc::from(*tool)).collect()).into()
    };
    let (read, write) = (tools("read_tools", &["read_file"]), tools("write_tools", &FileRule::WRITE_TOOLS));
    let mount = fields.text("mount_point", out).filter(|mount| !mount.is_empty());
    let mount = mount.map(|mount| mount.trim_start_matches('/').into());
    let named = fields.optional("path_argument").and_then(|path| path_argument(&path, out));
    Kind::Files(FileRule { read, write, locator: Locator { named, mount } })
}

/// The place of the argument that holds a path.
fn path_argument(field: &Field<'_>, out: &mut Vec<Problem>) -> Option<Path> {
    let text = field.text(out)?;
    let help = || match text.starts_with('$') {
        true => "use only names and indices, as in `$.target_file`".to_owned(),
        false => format!("write `path_argument: $.{text}`"),
    };
    let path = match Path::parse(text) {
        Ok(path) if path.is_singular() => return Some(path),
        Ok(_) => format!("{} can match several values, and a call has one path", quoted(text)),
        Err(error) => error.to_string(),
    };
    out.push(field.problem(ProblemKind::BadPath, path).help(help()));
    None
}
