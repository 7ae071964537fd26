//! One rule's text as a unit.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use regex::Regex;

use super::after::After;
use super::names::{List, MaxCalls};
use super::operand::{Argument, Operand, Side};
use super::order::{Before, ImmediatelyBefore, NeverAfter};
use super::presence::{Eventually, Require};
use super::sequence::Sequence;
use super::unit::{Kind, RuleUnit, When};
use super::{DIALECT, IGNORED, kind_of, lint};
use crate::condition::glob::Glob;
use crate::diagnostic::Diagnostic;
use crate::dialect::Text;
use crate::monitor::order::{Named, Order};
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
        fields.take("id");
        let description = fields.text("description", out).map(Arc::from);
        let id = self.push(written, item.pointer.clone(), item.span(), description);
        let when = self.when(&mut fields, out);
        let mut read = Operands { reading: self, fields: &mut fields, aliases };
        // A rule of which a part cannot be read has been reported; it makes no unit.
        let made = read.kind(kind, out);
        self.unknown_keys(&fields);
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
            let id = self.push("before", then.pointer.clone(), first.span().to(then.span()), None);
            let mut read = Operands { reading: self, fields: &mut fields, aliases };
            let (Some(before), Some(behind)) = (read.by_name(first, out), read.by_name(then, out)) else {
                continue;
            };
            let (order, build) = before_of(before, vec![behind]);
            self.units.push(build(id, Arc::new(order), Vec::new()));
        }
        Some(())
    }

    fn push(
        &mut self,
        kind: &'static str,
        pointer: String,
        span: Span,
        description: Option<Arc<str>>,
    ) -> RuleId {
        let rule = self.text.rule(DIALECT.name, kind, &pointer, span);
        self.rules.push(Rule { description, test: self.test.clone(), ..rule })
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

/// What makes a unit of a rule's kind.
type Build = Box<dyn FnOnce(RuleId, Arc<Order>, Vec<When>) -> Arc<dyn Unit>>;

fn build<K: Kind>(kind: K) -> Build {
    Box::new(move |rule, order, when| Arc::new(RuleUnit { rule: [rule], order, when, kind }))
}

fn before_of(first: Operand, then: Vec<Operand>) -> (Order, Build) {
    let (first, then) = (Side::new(0, vec![first]), Side::new(1, then));
    let order = Order::Before { first: named(&first), then: then.named().cloned().collect() };
    (order, build(Before { first, then }))
}

fn named(side: &Side) -> Named {
    side.named().next().cloned().unwrap_or(Named { tool: "".into(), args_match: Vec::new() })
}

/// Reads the operands of one rule.
struct Operands<'s, 'f, 'a, 'r> {
    reading: &'s mut Reading<'a, 'r>,
    fields: &'f mut Fields<'a>,
    aliases: &'f Aliases<'a>,
}

impl<'a> Operands<'_, '_, 'a, '_> {
    fn kind(&mut self, kind: Type, out: &mut Vec<Problem>) -> Option<(Order, Build)> {
        match kind {
            Type::Require => {
                let tool = self.side(0, "tool", out)?;
                Some((Order::Require { tool: named(&tool) }, build(Require { tool })))
            }
            Type::Before => {
                let (first, then) = (self.one("first", out), self.several("then", out));
                Some(before_of(first?, then?))
            }
            Type::ImmediatelyBefore => {
                let (first, then) = (self.side(0, "first", out), self.several("then", out));
                let (first, then) = (first?, Side::new(1, then?));
                let order =
                    Order::ImmediatelyBefore { first: named(&first), then: then.named().cloned().collect() };
                Some((order, build(ImmediatelyBefore { first, then })))
            }
            Type::Blocklist => {
                let pattern = self.pattern(out);
                let listed = self.fields.has("tools");
                if !listed && !self.fields.has("pattern") {
                    let message = "a blocklist needs `tools` or `pattern`";
                    out.push(Problem::new(ProblemKind::MissingKey, self.fields.head(), message));
                    self.fields.take("tools");
                    return None;
                }
                let globs = self.globs(out);
                if (listed && globs.is_none()) || (self.fields.has("pattern") && pattern.is_none()) {
                    return None;
                }
                let globs = globs.unwrap_or_default();
                let order = Order::Blocklist { pattern: pattern.clone(), tools: texts(&globs) };
                Some((order, build(List { pattern, globs, blocks: true })))
            }
            Type::Allowlist => {
                if !self.fields.has("tools") {
                    out.push(self.fields.missing("tools"));
                }
                let globs = self.globs(out)?;
                let order = Order::Allowlist { tools: texts(&globs) };
                Some((order, build(List { pattern: None, globs, blocks: false })))
            }
            Type::MaxCalls => {
                self.refuse_other_bounds(out);
                let (tool, max) = (self.side(0, "tool", out), self.number("max", None, out));
                let (tool, max) = (tool?, max?);
                Some((Order::MaxCalls { tool: named(&tool), max }, build(MaxCalls { tool, max })))
            }
            Type::Eventually => {
                let (tool, within) = (self.side(0, "tool", out), self.number("within", None, out));
                let (tool, within) = (tool?, within?);
                Some((Order::Eventually { tool: named(&tool), within }, build(Eventually { tool, within })))
            }
            Type::NeverAfter => {
                let (trigger, forbidden) = (self.side(0, "trigger", out), self.side(1, "forbidden", out));
                let (trigger, forbidden) = (trigger?, forbidden?);
                let order = Order::NeverAfter { trigger: named(&trigger), forbidden: named(&forbidden) };
                Some((order, build(NeverAfter { trigger, forbidden })))
            }
            Type::After => {
                let (trigger, then) = (self.side(0, "trigger", out), self.side(1, "then", out));
                let within = self.number("within", Some(1), out);
                let (trigger, then, within) = (trigger?, then?, within?);
                let order = Order::After { trigger: named(&trigger), then: named(&then), within };
                Some((order, build(After { trigger, then, within })))
            }
            Type::Sequence => {
                let steps = self.fields.required("tools", out).and_then(|tools| self.all(&tools, out));
                let strict = match self.fields.optional("strict") {
                    Some(strict) => strict.boolean(out)?,
                    None => false,
                };
                let steps = steps?;
                let tools = steps.iter().map(|step| step.named.clone()).collect();
                Some((Order::Sequence { tools, strict }, build(Sequence::new(steps, strict))))
            }
        }
    }

    fn side(&mut self, place: u32, key: &'a str, out: &mut Vec<Problem>) -> Option<Side> {
        Some(Side::new(place, vec![self.one(key, out)?]))
    }

    fn one(&mut self, key: &'a str, out: &mut Vec<Problem>) -> Option<Operand> {
        let field = self.fields.required(key, out)?;
        self.operand(&field, out)
    }

    /// One operand or a list of them, which may not be empty.
    fn several(&mut self, key: &'a str, out: &mut Vec<Problem>) -> Option<Vec<Operand>> {
        let field = self.fields.required(key, out)?;
        if field.node.as_seq().is_none() {
            return Some(vec![self.operand(&field, out)?]);
        }
        let operands = self.all(&field, out)?;
        if operands.is_empty() {
            field.refuse(format!("`{key}` names no tool"), out);
            return None;
        }
        Some(operands)
    }

    /// A list of operands, all of which can be read.
    fn all(&mut self, field: &Field<'a>, out: &mut Vec<Problem>) -> Option<Vec<Operand>> {
        let items: Vec<Field<'a>> = field.items(out)?.collect();
        let read: Vec<Option<Operand>> = items.iter().map(|item| self.operand(item, out)).collect();
        read.into_iter().collect()
    }

    fn operand(&mut self, field: &Field<'a>, out: &mut Vec<Problem>) -> Option<Operand> {
        if field.node.as_str().is_some() {
            return self.by_name(field, out);
        }
        if field.node.get("tool").is_none() {
            let message = format!(
                "expected a tool's name or `{{tool: NAME, args_match: …}}`, found {}",
                kind_of(field.node)
            );
            out.push(field.problem(ProblemKind::WrongType, message));
            return None;
        }
        let mut fields = field.fields(out)?;
        let operand = fields.required("tool", out).and_then(|tool| self.by_name(&tool, out));
        let patterns = match fields.optional("args_match") {
            Some(patterns) => self.patterns(&patterns, out),
            None => Some(Vec::new()),
        };
        self.reading.unknown_keys(&fields);
        let (mut operand, patterns) = (operand?, patterns?);
        operand.named.args_match =
            patterns.iter().map(|(argument, text)| (Arc::clone(&argument.name), Arc::clone(text))).collect();
        operand.args = patterns.into_iter().map(|(argument, _)| argument).collect();
        Some(operand)
    }

    fn by_name(&mut self, field: &Field<'a>, out: &mut Vec<Problem>) -> Option<Operand> {
        let name = field.name(out)?;
        let alias = self.aliases.all.iter().find(|alias| alias.name == name);
        let tools = match alias {
            Some(alias) => {
                alias.used.set(true);
                alias.members.clone()
            }
            None => {
                if let Some(warning) = lint::star_in_name(name) {
                    self.reading.warn(warning, field.span());
                }
                vec![name.into()]
            }
        };
        Some(Operand { named: Named { tool: name.into(), args_match: Vec::new() }, tools, args: Vec::new() })
    }

    fn patterns(&mut self, field: &Field<'a>, out: &mut Vec<Problem>) -> Option<Vec<(Argument, Arc<str>)>> {
        let mut patterns = Some(Vec::new());
        for (name, value) in field.entries(out)? {
            let Some(text) = value.text(out) else {
                patterns = None;
                continue;
            };
            let pattern = match Regex::new(text) {
                Ok(pattern) => Some(pattern),
                Err(error) => {
                    self.reading.warn(lint::broken_pattern(text, &error), value.span());
                    None
                }
            };
            if let Some(patterns) = &mut patterns {
                patterns.push((Argument { name: name.into(), pattern }, text.into()));
            }
        }
        patterns
    }

    fn pattern(&mut self, out: &mut Vec<Problem>) -> Option<Arc<str>> {
        let field = self.fields.optional("pattern")?;
        let text = field.text(out)?;
        if let Some(warning) = lint::pattern(text) {
            self.reading.warn(warning, field.span());
        }
        self.lint_listed(text, field.span());
        Some(text.into())
    }

    /// The names of a list, all of which can be read; `None` also where there is no list.
    fn globs(&mut self, out: &mut Vec<Problem>) -> Option<Vec<Glob>> {
        let field = self.fields.optional("tools")?;
        let items: Vec<Field<'a>> = field.items(out)?.collect();
        let read: Vec<Option<Glob>> = items
            .iter()
            .map(|item| {
                let name = item.name(out)?;
                self.lint_listed(name, item.span());
                Some(Glob::new(name))
            })
            .collect();
        read.into_iter().collect()
    }

    fn lint_listed(&mut self, name: &str, span: Span) {
        if let Some(alias) = self.aliases.all.iter().find(|alias| alias.name == name) {
            alias.used.set(true);
            self.reading.warn(lint::alias_in_list(name), span);
        }
    }

    fn number(&mut self, key: &'a str, usual: Option<u64>, out: &mut Vec<Problem>) -> Option<u64> {
        match self.fields.optional(key) {
            Some(number) => number.count(out),
            None => {
                if usual.is_none() {
                    out.push(self.fields.missing(key));
                }
                usual
            }
        }
    }

    /// Older documents know `min` and `exact` as well. Ignoring them would leave half a rule.
    fn refuse_other_bounds(&mut self, out: &mut Vec<Problem>) {
        for key in ["min", "exact"] {
            if let Some(entry) = self.fields.take(key) {
                let message = format!("`{key}` is not known: `max` is the only bound there is");
                let problem = Problem::new(ProblemKind::UnknownKey, entry.key_span, message);
                out.push(problem.help("that a tool runs at least once is what `require` says"));
            }
        }
    }
}

fn texts(globs: &[Glob]) -> Vec<Arc<str>> {
    globs.iter().map(|glob| Arc::clone(glob.text())).collect()
}
