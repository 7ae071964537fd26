//! One rule's text as a unit.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use super::unit::When;
use super::{DIALECT, IGNORED, lint};
use crate::diagnostic::Diagnostic;
use crate::dialect::Text;
use crate::monitor::{Rule, RuleId, Rules, Unit};
use crate::source::{Field, Fields, Problem, ProblemKind, Span};

/// Reads the documents of one text into units.
pub(super) struct Reading<'a, 'r> {
    pub text: Text<'a>,
    pub rules: &'r mut Rules,
    pub units: &'r mut Vec<Arc<dyn Unit>>,
    /// The test that the rules at hand belong to.
    pub test: Option<Arc<str>>,
    /// What is probably not meant.
    pub warnings: Vec<Diagnostic>,
}

/// Names for several tools: those of a mapping, then those around it.
#[derive(Clone, Default)]
pub(super) struct Aliases<'a> {
    own: usize,
    all: Vec<Rc<Alias<'a>>>,
}

pub(super) struct Alias<'a> {
    name: &'a str,
    span: Span,
    members: Vec<Arc<str>>,
    used: Cell<bool>,
}

/// What is known of a rule beside its kind and its place.
#[derive(Default)]
struct Known {
    name: Option<Arc<str>>,
    description: Option<Arc<str>>,
    tools: Arc<[Arc<str>]>,
}

mod operands;

use operands::{Operands, before_of};

#[derive(Clone, Copy)]
enum Type {
    Require,
    Before,
    ImmediatelyBefore,
    Blocklist,
    Allowlist,
    MaxCalls,
    Eventually,
    NeverAfter,
    After,
    Sequence,
}

/// The types by name; `count` is the old name of `max_calls`.
const TYPES: &[(&str, (&str, Type))] = &[
    ("require", ("require", Type::Require)),
    ("before", ("before", Type::Before)),
    ("immediately_before", ("immediately_before", Type::ImmediatelyBefore)),
    ("blocklist", ("blocklist", Type::Blocklist)),
    ("allowlist", ("allowlist", Type::Allowlist)),
    ("max_calls", ("max_calls", Type::MaxCalls)),
    ("count", ("count", Type::MaxCalls)),
    ("eventually", ("eventually", Type::Eventually)),
    ("never_after", ("never_after", Type::NeverAfter)),
    ("after", ("after", Type::After)),
    ("sequence", ("sequence", Type::Sequence)),
];

impl<'a, 'r> Reading<'a, 'r> {
    pub fn new(text: Text<'a>, rules: &'r mut Rules, units: &'r mut Vec<Arc<dyn Unit>>) -> Reading<'a, 'r> {
        Reading { text, rules, units, test: None, warnings: Vec::new() }
    }

    /// Something that is probably not meant.
    pub fn warn(&mut self, warning: Diagnostic, span: Span) {
        self.warnings.push(warning.at(self.text.source, span));
    }

    /// Keys that are ignored.
    pub fn unknown_keys(&mut self, fields: &Fields<'a>) {
        let unknown = fields.unknown().map(|problem| {
            let message = format!("{}: ignored", problem.message);
            Diagnostic::from_problem(Problem { message, ..problem }, self.text.source).severity(IGNORED)
        });
        self.warnings.extend(unknown);
    }

    /// The aliases of a mapping, before those around it.
    pub fn aliases(
        &mut self,
        fields: &mut Fields<'a>,
        outer: &Aliases<'a>,
        out: &mut Vec<Problem>,
    ) -> Aliases<'a> {
        let mut aliases = Aliases { own: 0, all: Vec::new() };
        let entries = fields.optional("aliases").and_then(|aliases| aliases.entries(out));
        for (name, field) in entries.into_iter().flatten() {
            let members = field.list(out, |member, out| member.name(out).map(Arc::from)).unwrap_or_default();
            let span = field.key_span.unwrap_or(field.span());
            aliases.all.push(Rc::new(Alias { name, span, members, used: Cell::new(false) }));
        }
        aliases.own = aliases.all.len();
        aliases.all.extend(outer.all.iter().cloned());
        aliases
    }

    /// Warns of the aliases of this mapping that no rule has named.
    pub fn lint_aliases(&mut self, aliases: &Aliases<'a>) {
        for alias in aliases.all.iter().take(aliases.own).filter(|alias| !alias.used.get()) {
            self.warn(lint::unused_alias(alias.name), alias.span);
        }
    }

    /// Reads one rule.
    pub fn rule(&mut self, item: &Field<'a>, aliases: &Aliases<'a>, out: &mut Vec<Problem>) -> Option<()> {
        let mut fields = item.fields(out)?;
        let (written, kind) = fields.required("type", out)?.one_of(TYPES, out)?;
        let name = fields.take("id").and_then(|id| id.value.as_str()).map(Arc::from);
        let description = fields.text("description", out).map(Arc::from);
        let when = self.when(&mut fields, out);
        let mut read = Operands { reading: self, fields: &mut fields, aliases };
        // A rule of which a part cannot be read has been reported; it makes no unit.
        let made = read.kind(kind, out);
        self.unknown_keys(&fields);
        let tools = made.as_ref().map(|(order, _)| order.tools()).unwrap_or_default();
        let id = self.push(written, item.pointer.clone(), item.span(), Known { name, description, tools });
        let (order, build) = made?;
        if let Some(warning) = lint::order(&order) {
            self.warn(warning, item.span().first_line(self.text.source.text()));
        }
        let unit = build(id, Arc::new(order), when?);
        self.units.push(unit);
        Some(())
    }

    /// Reads one list of the old form: each name before the next.
    pub fn old_sequence(
        &mut self,
        item: &Field<'a>,
        aliases: &Aliases<'a>,
        out: &mut Vec<Problem>,
    ) -> Option<()> {
        let names: Vec<Field<'a>> = item.items(out)?.collect();
        if names.len() < 2 {
            self.warn(lint::short_sequence(), item.span());
        }
        let mut fields = Field::document(self.text.node).fields(out)?;
        for (first, then) in names.iter().zip(names.iter().skip(1)) {
            let tools =
                [first, then].into_iter().filter_map(|name| name.node.as_str().map(Arc::from)).collect();
            let known = Known { tools, ..Known::default() };
            let id = self.push("before", then.pointer.clone(), first.span().to(then.span()), known);
            let mut read = Operands { reading: self, fields: &mut fields, aliases };
            let (Some(before), Some(behind)) = (read.by_name(first, out), read.by_name(then, out)) else {
                continue;
            };
            let (order, build) = before_of(before, vec![behind]);
            self.units.push(build(id, Arc::new(order), Vec::new()));
        }
        Some(())
    }

    fn push(&mut self, kind: &'static str, pointer: String, span: Span, known: Known) -> RuleId {
        let Known { name, description, tools } = known;
        let rule = self.text.rule(DIALECT.name, kind, &pointer, span);
        self.rules.push(Rule { name, description, tools, test: self.test.clone(), ..rule })
    }

    fn when(&mut self, fields: &mut Fields<'a>, out: &mut Vec<Problem>) -> Option<Vec<When>> {
        let Some(field) = fields.optional("when") else { return Some(Vec::new()) };
        let mut conditions = Some(Vec::new());
        for (key, value) in field.entries(out)? {
            let Some(key) = key.strip_prefix("context.").filter(|key| !key.is_empty()) else {
                let span = value.key_span.unwrap_or(value.span());
                let problem =
                    Problem::new(ProblemKind::BadValue, span, "`when` knows only keys of the context");
                out.push(problem.help("write `context.KEY: VALUE`"));
                conditions = None;
                continue;
            };
            if let Some(conditions) = &mut conditions {
                conditions.push(When { key: key.into(), value: value.node.to_json() });
            }
        }
        conditions
    }
}
