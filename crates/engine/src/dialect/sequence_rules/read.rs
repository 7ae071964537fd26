//! The rules of a text as units.

use std::sync::Arc;

use super::asks::{Doubts, OnDoubt, Response};
use super::exact::ExactCalls;
use super::facts::Order;
use super::lint;
use super::names::List;
use super::reading::{Aliases, Reading};
use super::when::When;
use crate::condition::glob::Glob;
use crate::dialect::options;
use crate::dialect::pattern::truth;
use crate::monitor::{Rule, RuleId, RuleOptions};
use rulestep_base::diagnostic::Fix;
use rulestep_base::source::wildcard::Wildcard;
use rulestep_base::source::{Field, Fields, Node, Problem, ProblemKind, Span};

/// A rule's data besides its kind and its place.
#[derive(Default)]
struct RuleHead {
    name: Option<Arc<str>>,
    description: Option<Arc<str>>,
    tools: Arc<[Arc<str>]>,
    options: RuleOptions,
}

mod listed;
mod operands;

pub use operands::TYPES;
pub(super) use operands::is_rule;
use operands::{Binding, Build, Operands, Type, before_of, build};

/// How a rule treats a call whose effects are unknown.
fn doubts(kind: Type, fields: &mut Fields<'_>, out: &mut Vec<Problem>) -> Option<Doubts> {
    let unsure = [("deny", OnDoubt::Deny), ("ask", OnDoubt::Ask), ("allow", OnDoubt::Allow)];
    let responses = [
        ("report", Response::Report),
        ("allow", Response::Allow),
        ("ask", Response::Ask),
        ("deny", Response::Deny),
    ];
    let unsure = match fields.optional("unsure") {
        Some(field) => field.one_of(&unsure, out),
        None => Some(OnDoubt::default()),
    };
    let default = |key| match (key, kind) {
        // Opaque code may run programs that are not on the list.
        ("opaque", Type::Allowlist) => Response::Deny,
        _ => Response::default(),
    };
    let mut response = |key| match fields.optional(key) {
        Some(field) => field.one_of(&responses, out),
        None => Some(default(key)),
    };
    let (opaque, sweeps) = (response("opaque"), response("sweeps"));
    Some(Doubts { unsure: unsure?, opaque: opaque?, sweeps: sweeps? })
}

/// Whether a rule looks at all sessions of a tree.
fn scope(kind: Type, fields: &mut Fields<'_>, out: &mut Vec<Problem>) -> bool {
    let field = if kind.sees_trees() { fields.optional("scope") } else { None };
    let scope = field.and_then(|field| field.one_of(&[("session", false), ("tree", true)], out));
    scope.unwrap_or_default()
}

impl<'a> Reading<'a, '_> {
    /// Reads a list of rules.
    pub fn rules(&mut self, list: &Field<'a>, aliases: &Aliases<'a>, out: &mut Vec<Problem>) -> Option<()> {
        for rule in list.items(out)? {
            self.rule(&rule, aliases, out);
        }
        Some(())
    }

    /// Reads `rules`, and `sequences`: the same, or lists of names in the old form.
    pub fn listed(
        &mut self,
        rules: Option<&Field<'a>>,
        sequences: Option<&Field<'a>>,
        aliases: &Aliases<'a>,
        out: &mut Vec<Problem>,
    ) {
        if let Some(rules) = rules {
            self.rules(rules, aliases, out);
        }
        let Some(sequences) = sequences else { return };
        let is_old = |item: &Node| item.as_seq().is_some();
        if sequences.node.as_seq().is_some_and(|items| items.iter().any(is_old)) {
            self.warn(lint::old_sequences(), sequences.key_span.unwrap_or(sequences.span()));
        }
        for item in sequences.items(out).into_iter().flatten().collect::<Vec<_>>() {
            if is_old(item.node) {
                self.old_sequence(&item, aliases, out);
            } else {
                self.rule(&item, aliases, out);
            }
        }
    }

    /// Reads the names that the whole trace must equal.
    pub fn exact(&mut self, list: &Field<'a>, aliases: &Aliases<'a>, out: &mut Vec<Problem>) -> Option<()> {
        let tools = list.node.as_seq().unwrap_or_default().iter();
        let tools = tools.filter_map(|name| name.as_str().map(Arc::from)).collect();
        let known = RuleHead { tools, ..RuleHead::default() };
        let id = self.push("exact_sequence", list.pointer.clone(), list.span(), known);
        let names: Vec<Field<'a>> = list.items(out)?.collect();
        let read: Vec<Option<Arc<str>>> = names
            .iter()
            .map(|name| {
                let help = |_: &Wildcard<'a>| "write each call's own name".to_owned();
                let text = name.exact_name(out, help)?;
                aliases.lint_listed(text, name.span(), self);
                Some(text.into())
            })
            .collect();
        let tools: Arc<[Arc<str>]> = read.into_iter().collect::<Option<Vec<_>>>()?.into();
        let order = Order::Exact { tools: tools.iter().cloned().collect() };
        self.add(id, build(ExactCalls { tools }), order, Vec::new(), Doubts::default());
        Some(())
    }

    /// Reads the tools that a test of another kind forbids, as a `blocklist` does.
    pub fn blocked(&mut self, list: &Field<'a>, out: &mut Vec<Problem>) -> Option<()> {
        let names = match list.node.as_str() {
            // One tool is named; in a list, stars are allowed.
            Some(_) => vec![list.exact_name(out, |_: &Wildcard<'a>| "use `tool_blocklist`".to_owned())?],
            None => list.list(out, |item, out| item.name(out))?,
        };
        let globs: Vec<Glob> = names.iter().map(|name| Glob::new(*name)).collect();
        let tools: Arc<[Arc<str>]> = names.into_iter().map(Arc::from).collect();
        let known = RuleHead { tools: Arc::clone(&tools), ..RuleHead::default() };
        let id = self.push("blocklist", list.pointer.clone(), list.span(), known);
        let order = Order::Blocklist { pattern: None, tools: tools.iter().cloned().collect() };
        self.add(
            id,
            build(List { pattern: None, globs, blocks: true }),
            order,
            Vec::new(),
            Doubts::default(),
        );
        Some(())
    }

    /// Reads one rule.
    pub fn rule(&mut self, item: &Field<'a>, aliases: &Aliases<'a>, out: &mut Vec<Problem>) -> Option<()> {
        let mut fields = item.fields(out)?;
        let (written, kind) = fields.required("type", out)?.one_of(TYPES, out)?;
        let name = fields.take("id").and_then(|id| id.value.as_str()).map(Arc::from);
        let description = fields.text("description", out).map(Arc::from);
        let tree = scope(kind, &mut fields, out);
        let options = RuleOptions { tree, ..options(&mut fields, out) };
        let wanted = format!("{options:?}");
        let when = self.when(&mut fields, out);
        let doubts = doubts(kind, &mut fields, out);
        let reading = &mut *self;
        let mut read = Operands { reading, fields: &mut fields, aliases, asking: 0 };
        // A rule with an unreadable part has been reported; it makes no unit.
        let made = read.kind(kind, out);
        if read.asking == 0 {
            // An unread session of a tree is an unknown as well.
            for key in ["unsure", "opaque", "sweeps"].into_iter().skip(usize::from(tree)) {
                if let Some(entry) = read.fields.take(key) {
                    read.reading.warn(lint::idle_key(key), entry.key_span);
                }
            }
        } else if !kind.stops() {
            for (key, like) in [("unsure", "deny"), ("opaque", "report"), ("sweeps", "report")] {
                if let Some(entry) = item.node.entry(key).filter(|entry| entry.value.as_str() == Some("ask"))
                {
                    read.reading.warn(lint::nobody_asked(key, like), entry.value.span);
                }
            }
        }
        out.extend(fields.unknown());
        let tools = made.as_ref().map(|(order, _)| order.tools()).unwrap_or_default();
        let id = self.push(
            written,
            item.pointer.clone(),
            item.span(),
            RuleHead { name, description, tools, options },
        );
        let (order, build) = made?;
        let members = |name: &str| {
            aliases.all.iter().find(|alias| alias.name == name).map(|alias| alias.members.as_slice())
        };
        if let Some(warning) = lint::order(&order, &members) {
            let fix = lint::fix(&order, warning.code, item.node, self.text.source);
            self.warn(warning.fix(fix), item.span().first_line(self.text.source.text()));
        }
        let (when, doubts) = (when?, doubts?);
        // Rules of one list have the same aliases, and are of one test.
        let list = item.pointer.rsplit_once('/').map_or("", |(list, _)| list);
        let known = format!("{list} {} {when:?} {wanted} {doubts:?}", order.outline());
        let alike = self.seen.entry(known).or_default();
        match alike.iter().find(|(other, _)| *other == order) {
            Some((_, first)) => {
                let first = *first;
                self.warnings.push(lint::repeated(self.text.source, item.span(), first));
            }
            None => {
                alike.push((order.clone(), item.span()));
                if let Some((what, bound)) = lint::bound(&order) {
                    let known = format!("{list} {} {when:?} {wanted}", what.outline());
                    self.bounded(known, what, (item.span(), bound));
                }
            }
        }
        self.add(id, build, order, when, doubts);
        Some(())
    }

    /// Compares a rule with the tightest of those that bound the same.
    fn bounded(&mut self, known: String, what: Order, own: lint::Bound) {
        let source = self.text.source;
        let alike = self.bounds.entry(known).or_default();
        match alike.iter_mut().find(|(other, _)| *other == what) {
            Some((_, tightest)) if tightest.1 < own.1 => {
                self.warnings.push(lint::looser(source, own, *tightest));
            }
            Some((_, tightest)) => {
                self.warnings.push(lint::looser(source, *tightest, own));
                *tightest = own;
            }
            None => alike.push((what, own)),
        }
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
            let fix = Fix::remove(self.text.source, item.span(), "remove the list, which requires nothing");
            self.warn(lint::short_sequence().fix(fix), item.span());
        }
        let mut fields = Field::document(self.text.node).fields(out)?;
        for (first, then) in names.iter().zip(names.iter().skip(1)) {
            let tools =
                [first, then].into_iter().filter_map(|name| name.node.as_str().map(Arc::from)).collect();
            let known = RuleHead { tools, ..RuleHead::default() };
            let id = self.push("before", then.pointer.clone(), first.span().to(then.span()), known);
            let mut read = Operands { reading: self, fields: &mut fields, aliases, asking: 0 };
            let (Some(before), Some(behind)) = (read.by_name(first, out), read.by_name(then, out)) else {
                continue;
            };
            let (order, build) = before_of(vec![before], vec![behind], Binding::default());
            self.add(id, build, order, Vec::new(), Doubts::default());
        }
        Some(())
    }

    /// Keeps a rule's unit, unless the rule is switched off.
    fn add(&mut self, id: RuleId, build: Build, order: Order, when: Vec<When>, doubts: Doubts) {
        if !self.rules.is_off(id) {
            let options = self.rules.get(id).map(|rule| rule.options.clone()).unwrap_or_default();
            self.units.push(build(id, Arc::new(order), when, doubts, &options));
        }
    }

    fn push(&mut self, kind: &'static str, pointer: String, span: Span, known: RuleHead) -> RuleId {
        let RuleHead { name, description, tools, options } = known;
        let rule = self.text.rule(kind, &pointer, span);
        self.rules.push(Rule { name, description, tools, options, test: self.test.clone(), ..rule })
    }

    fn when(&mut self, fields: &mut Fields<'a>, out: &mut Vec<Problem>) -> Option<Vec<When>> {
        let Some(field) = fields.optional("when") else { return Some(Vec::new()) };
        let mut conditions = Some(Vec::new());
        for (key, value) in field.entries(out)? {
            let Some(key) = key.strip_prefix("context.").filter(|key| !key.is_empty()) else {
                let span = value.key_span.unwrap_or(value.span());
                let problem =
                    Problem::new(ProblemKind::BadValue, span, "`when` accepts only keys of the context");
                out.push(problem.help("write `context.KEY: VALUE`"));
                conditions = None;
                continue;
            };
            let written = self.text.source.slice(value.span());
            if let Some(warning) = lint::when(key, value.node, written) {
                let text = value.node.as_str();
                let plain: Option<serde_json::Value> = text.and_then(|text| serde_json::from_str(text).ok());
                let truth = text.and_then(truth).map(serde_json::Value::from);
                let titled = plain.map(|plain| (format!("write {plain} without quotes"), plain));
                let titled = titled.or_else(|| truth.map(|truth| (format!("write {truth}"), truth)));
                let fix = titled
                    .and_then(|(title, plain)| Fix::rewrite(self.text.source, value.span(), &plain, title));
                self.warn(warning.fix(fix), value.span());
            }
            if let Some(conditions) = &mut conditions {
                conditions.push(When { key: key.into(), value: value.node.to_json() });
            }
        }
        conditions
    }
}
