//! The operands of a rule, and how they are read.

use std::sync::Arc;

use super::super::after::After;
use super::super::allow::AllowedCalls;
use super::super::asks::{Doubts, Role, asks_end};
use super::super::codes;
use super::super::lint;
use super::super::names::{List, MaxCalls, Never};
use super::super::never_after::NeverAfter;
use super::super::never_until::NeverUntil;
use super::super::operand::{Argument, Operand, Side};
use super::super::order::{Before, ImmediatelyBefore};
use super::super::presence::{Eventually, Require};
use super::super::reading::{Aliases, Reading};
use super::super::same::Same;
use super::super::sequence::Sequence;
use super::super::unit::{Kind, RuleUnit};
use super::super::when::When;
use crate::condition::glob::Glob;
use crate::condition::path::Path;
use crate::dialect::GUARD;
use crate::dialect::pattern::traps_in;
use crate::dialect::question::{argument_as_path, asks, commands_as_text, never_met, question};
use crate::dialect::sequence_rules::facts::{Order, ToolName};
use crate::monitor::{RuleId, RuleOptions, Unit};
use rulestep_base::source::wildcard::List as Names;
use rulestep_base::source::{Field, Fields, Node, NodeValue, Problem, ProblemKind, quoted};

#[derive(Clone, Copy)]
pub enum Type {
    Require,
    Before,
    ImmediatelyBefore,
    Blocklist,
    Allowlist,
    MaxCalls,
    Eventually,
    Never,
    NeverAfter,
    After,
    Sequence,
}

impl Type {
    /// Whether a rule of this type can keep a call from running.
    pub fn stops(self) -> bool {
        !matches!(self, Type::Require | Type::Eventually | Type::After)
    }

    /// Whether it may look at all sessions of a tree.
    pub fn sees_trees(self) -> bool {
        matches!(self, Type::Before | Type::NeverAfter)
    }
}

/// The types by name; `count` is the old name of `max_calls`.
pub const TYPES: &[(&str, (&str, Type))] = &[
    ("require", ("require", Type::Require)),
    ("before", ("before", Type::Before)),
    ("immediately_before", ("immediately_before", Type::ImmediatelyBefore)),
    ("blocklist", ("blocklist", Type::Blocklist)),
    ("allowlist", ("allowlist", Type::Allowlist)),
    ("max_calls", ("max_calls", Type::MaxCalls)),
    ("count", ("count", Type::MaxCalls)),
    ("eventually", ("eventually", Type::Eventually)),
    ("never", ("never", Type::Never)),
    ("never_after", ("never_after", Type::NeverAfter)),
    ("after", ("after", Type::After)),
    ("sequence", ("sequence", Type::Sequence)),
];

/// Whether a value is a rule, or meant as one.
pub fn is_rule(node: &Node) -> bool {
    let word = node.get("type").and_then(Node::as_str);
    word.is_some_and(|word| TYPES.iter().any(|(known, _)| *known == word))
}

/// Makes a unit of a rule's kind.
pub type Build = Box<dyn FnOnce(RuleId, Arc<Order>, Vec<When>, Doubts, &RuleOptions) -> Arc<dyn Unit>>;

pub fn build<K: Kind>(kind: K) -> Build {
    Box::new(move |rule, order, when, doubts, options| {
        let asking = kind.operands().iter().filter(|operand| operand.asks.is_some()).count();
        let facts = kind.operands().first().map(|operand| operand.facts.clone()).unwrap_or_default();
        Arc::new(RuleUnit {
            rule: [rule],
            order,
            when,
            doubts,
            options: options.clone(),
            asking,
            facts,
            kind,
        })
    })
}

/// The parts of a `before` besides its two sides.
#[derive(Default)]
pub struct Binding {
    pub same: Option<Same>,
    pub written: Vec<Arc<str>>,
}

pub fn before_of(first: Vec<Operand>, then: Vec<Operand>, binding: Binding) -> (Order, Build) {
    let (first, then) = (Side::new(0, Role::Permits, first), Side::new(1, Role::Forbids, then));
    let order = Order::Before {
        first: named(&first),
        or: first.named().skip(1).cloned().collect(),
        then: then.named().cloned().collect(),
        same: binding.written,
    };
    (order, build(Before { first, then, same: binding.same.unwrap_or(Same::Nothing) }))
}

fn named(side: &Side) -> ToolName {
    side.named().next().cloned().unwrap_or(ToolName::default())
}

/// Reads the operands of one rule.
pub struct Operands<'s, 'f, 'a, 'r> {
    pub reading: &'s mut Reading<'a, 'r>,
    pub fields: &'f mut Fields<'a>,
    pub aliases: &'f Aliases<'a>,
    /// The number of operands with questions about what calls do.
    pub asking: usize,
}

impl<'a> Operands<'_, '_, 'a, '_> {
    /// The order that a rule of this type requires, and the constructor of its unit.
    pub fn kind(&mut self, kind: Type, out: &mut Vec<Problem>) -> Option<(Order, Build)> {
        match kind {
            Type::Require => {
                let tool = self.side(0, "tool", Role::Permits, out)?;
                Some((Order::Require { tool: named(&tool) }, build(Require { tool })))
            }
            Type::Before => {
                let (first, then) = (self.several("first", out), self.several("then", out));
                let binding = self.same(out);
                Some(before_of(first?, then?, binding?))
            }
            Type::ImmediatelyBefore => {
                let (first, then) = (self.side(0, "first", Role::Permits, out), self.several("then", out));
                let (first, then) = (first?, Side::new(1, Role::Forbids, then?));
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
                let globs = self.globs(Names::Blocks, out);
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
                let (globs, calls) = self.allowed(out)?;
                let named = calls.iter().map(|call| call.named.clone()).collect();
                let order = Order::Allowlist { tools: texts(&globs), calls: named };
                let build = match calls.is_empty() {
                    true => build(List { pattern: None, globs, blocks: false }),
                    false => build(AllowedCalls { globs, calls: calls.into() }),
                };
                Some((order, build))
            }
            Type::MaxCalls => {
                self.refuse_other_bounds(out);
                let (tool, max) = (self.side(0, "tool", Role::Forbids, out), self.number("max", None, out));
                let (tool, max) = (tool?, max?);
                Some((Order::MaxCalls { tool: named(&tool), max }, build(MaxCalls { tool, max })))
            }
            Type::Eventually => {
                let (tool, within) =
                    (self.side(0, "tool", Role::Permits, out), self.number("within", None, out));
                let (tool, within) = (tool?, within?);
                Some((Order::Eventually { tool: named(&tool), within }, build(Eventually { tool, within })))
            }
            Type::NeverAfter => {
                let trigger = self.side(0, "trigger", Role::Triggers, out);
                let forbidden = self.side(1, "forbidden", Role::Forbids, out);
                let lifts = self.fields.has("until");
                let until = lifts.then(|| self.side(2, "until", Role::Permits, out));
                let (trigger, forbidden) = (trigger?, forbidden?);
                let until = match until {
                    Some(until) => Some(until?),
                    None => None,
                };
                let order = Order::NeverAfter {
                    trigger: named(&trigger),
                    forbidden: named(&forbidden),
                    until: until.as_ref().map(named),
                };
                let ends =
                    trigger.operands().iter().flat_map(|operand| &operand.asks).any(|asks| asks_end(asks));
                let build = match until {
                    Some(until) => build(NeverUntil { trigger, forbidden, until, ends }),
                    None => build(NeverAfter { trigger, forbidden, ends }),
                };
                Some((order, build))
            }
            Type::Never => {
                let call = self.side(0, "call", Role::Forbids, out)?;
                let own = self.reading.text.source.name() == GUARD;
                let code = if own { codes::SELF_GUARD } else { codes::FORBIDDEN_CALL };
                Some((Order::Never { call: named(&call) }, build(Never { call, code })))
            }
            Type::After => {
                let trigger = self.side(0, "trigger", Role::Triggers, out);
                let then = self.side(1, "then", Role::Permits, out);
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

    fn side(&mut self, place: u32, key: &'a str, role: Role, out: &mut Vec<Problem>) -> Option<Side> {
        Some(Side::new(place, role, vec![self.one(key, out)?]))
    }

    /// What both calls of a `before` must have in common.
    fn same(&mut self, out: &mut Vec<Problem>) -> Option<Binding> {
        let Some(field) = self.fields.optional("same") else { return Some(Binding::default()) };
        if field.node.as_str() == Some("file") {
            return Some(Binding { same: Some(Same::File), written: vec!["file".into()] });
        }
        if field.node.as_seq().is_none() {
            field.refuse("expected `file`, or a list of paths such as `$.file_path`", out);
            return None;
        }
        let before = out.len();
        let paths = field.list(out, |item, out| {
            let text = item.name(out)?;
            match Path::parse(text) {
                Ok(path) if path.is_singular() => Some(path),
                Ok(_) => {
                    item.refuse(format!("{} may have several values", quoted(text)), out);
                    None
                }
                Err(_) => {
                    item.refuse(format!("{} is not a path; write `$.NAME`", quoted(text)), out);
                    None
                }
            }
        })?;
        if paths.is_empty() && out.len() == before {
            field.refuse("`same` does not name a value", out);
        }
        let written = paths.iter().map(|path| Arc::clone(path.text())).collect();
        (out.len() == before).then_some(Binding { same: Some(Same::Values(paths)), written })
    }

    fn one(&mut self, key: &'a str, out: &mut Vec<Problem>) -> Option<Operand> {
        let field = self.fields.required(key, out)?;
        self.operand(&field, key, out)
    }

    /// One operand or a list of them, which may not be empty.
    fn several(&mut self, key: &'a str, out: &mut Vec<Problem>) -> Option<Vec<Operand>> {
        let field = self.fields.required(key, out)?;
        // The published systems have no list here.
        let listed = field.node.as_seq().is_some_and(|items| key != "first" || items.iter().any(field_asks));
        if !listed {
            return Some(vec![self.operand(&field, key, out)?]);
        }
        let operands = self.all(&field, out)?;
        if operands.is_empty() {
            field.refuse(format!("`{key}` does not name a tool"), out);
            return None;
        }
        Some(operands)
    }

    /// A list of operands, all of which can be read.
    fn all(&mut self, field: &Field<'a>, out: &mut Vec<Problem>) -> Option<Vec<Operand>> {
        let items: Vec<Field<'a>> = field.items(out)?.collect();
        let key = field.pointer.rsplit('/').next().unwrap_or_default().to_owned();
        let read: Vec<Option<Operand>> = items.iter().map(|item| self.operand(item, &key, out)).collect();
        read.into_iter().collect()
    }

    pub fn operand(&mut self, field: &Field<'a>, key: &str, out: &mut Vec<Problem>) -> Option<Operand> {
        if field.node.as_str().is_some() {
            return self.by_name(field, out);
        }
        if field.node.get("tool").is_none() && !field_asks(field.node) {
            let message = format!(
                "expected a tool's name or `{{tool: NAME, args_match: …}}`, found {}",
                kind_of(field.node)
            );
            out.push(field.problem(ProblemKind::WrongType, message));
            return None;
        }
        let mut fields = field.fields(out)?;
        let operand = match fields.optional("tool") {
            Some(tool) => self.by_name(&tool, out),
            None => Some(Operand::any_tool()),
        };
        let patterns = match fields.optional("args_match") {
            Some(patterns) => self.patterns(&patterns, out),
            None => Some(Vec::new()),
        };
        let ended = fields.take("ended");
        let question = question(&mut fields, &self.reading.facts, &mut self.reading.runs, out);
        out.extend(fields.unknown());
        if let Some(ended) = ended.filter(|_| key != "trigger" || !fields_of_never_after(self.fields)) {
            let message = "`ended` is only asked of the `trigger` of `never_after`: what must come first must have succeeded, and how a call ends is not known before it runs";
            out.push(Problem::new(ProblemKind::BadValue, ended.key_span, message));
            return None;
        }
        let (mut operand, patterns, question) = (operand?, patterns?, question?);
        if let Some(question) = &question {
            out.extend(never_met(field, &operand.tools, question, &self.reading.facts));
            self.reading.asks = true;
            operand.number = self.asking;
            self.asking += 1;
        }
        operand.facts.clone_from(&self.reading.facts);
        operand.named.does.clone_from(&question);
        operand.asks = question;
        operand.named.args_match =
            patterns.iter().map(|(argument, text)| (Arc::clone(&argument.name), Arc::clone(text))).collect();
        operand.args = patterns.into_iter().map(|(argument, _)| argument).collect();
        let (args, source) = (&operand.named.args_match, self.reading.text.source);
        self.reading.warnings.extend(traps_in(field.node, args, source));
        if operand.asks.is_none() {
            self.reading.warnings.extend(commands_as_text(field.node, &operand.tools, args, source));
        }
        Some(operand)
    }

    pub fn by_name(&mut self, field: &Field<'a>, out: &mut Vec<Problem>) -> Option<Operand> {
        let name = field.name(out)?;
        let tools = self.aliases.tools(field, name, self.reading, out);
        let is_alias = !matches!(tools.as_slice(), [tool] if **tool == *name);
        let members = if is_alias { tools.clone() } else { Vec::new() };
        Some(Operand {
            named: ToolName { tool: name.into(), members, ..ToolName::default() },
            tools,
            facts: self.reading.facts.clone(),
            ..Operand::default()
        })
    }

    fn patterns(&mut self, field: &Field<'a>, out: &mut Vec<Problem>) -> Option<Vec<(Argument, Arc<str>)>> {
        let mut patterns = Some(Vec::new());
        for (name, value) in field.entries(out)? {
            out.extend(argument_as_path(name, &value));
            let Some(text) = value.text(out) else {
                patterns = None;
                continue;
            };
            let pattern = match self.reading.pattern(text) {
                Ok(pattern) => Some(pattern),
                Err(error) => {
                    self.reading.warn(lint::broken_pattern(text, &error), value.span());
                    None
                }
            };
            if let Some(patterns) = &mut patterns {
                patterns.push((Argument::new(name, pattern), text.into()));
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
        self.aliases.lint_listed(text, field.span(), self.reading);
        Some(text.into())
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
        for key in ["min", "exact"].into_iter().filter(|key| self.fields.has(key)).collect::<Vec<_>>() {
            if let Some(entry) = self.fields.take(key) {
                let message = format!("unknown bound `{key}`: `max` is the only one");
                let problem = Problem::new(ProblemKind::UnknownKey, entry.key_span, message);
                out.push(problem.help("to require at least one call, write a `require` rule"));
            }
        }
    }
}

fn texts(globs: &[Glob]) -> Vec<Arc<str>> {
    globs.iter().map(|glob| Arc::clone(glob.text())).collect()
}

/// Whether a value asks what a call does.
pub fn field_asks(node: &Node) -> bool {
    let mut ignored = Vec::new();
    node.as_map().is_some() && Field::document(node).fields(&mut ignored).is_some_and(|fields| asks(&fields))
}

/// Whether a rule's type forbids one thing after another.
fn fields_of_never_after(fields: &Fields<'_>) -> bool {
    fields.has("forbidden")
}

/// The name for people of a value that is not an operand.
fn kind_of(node: &Node) -> &'static str {
    match node.value {
        NodeValue::Map(_) => "a mapping without `tool`",
        _ => node.kind(),
    }
}
